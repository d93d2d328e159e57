//! Axes: the range of the data and the positions of ticks.

/// One axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Title: the quantity, with the unit of the labels.
    pub title: String,
    /// The quantity, with the unit of the data: the name of its column in the [numbers](super::Numbers) of a chart.
    pub data: String,
    /// Lower end, in the units of the data.
    pub from: f64,
    /// Upper end, in the units of the data.
    pub to: f64,
    /// Positions and texts of the labels.
    pub ticks: Vec<(f64, String)>,
    /// Whether the axis is logarithmic; both ends are positive then.
    pub log: bool,
}

/// Units of time: name, length in seconds, and steps between ticks that are easy to read.
const TIME_UNITS: [(&str, f64, &[f64]); 4] = [
    ("s", 1.0, &[1.0, 2.0, 5.0, 10.0, 20.0, 30.0]),
    ("min", 60.0, &[1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0]),
    ("h", 3_600.0, &[1.0, 2.0, 3.0, 4.0, 6.0, 12.0, 24.0]),
    ("d", 86_400.0, &[0.25, 0.5, 1.0, 2.0, 5.0, 7.0, 14.0, 30.0, 50.0, 100.0, 200.0, 500.0, 1_000.0]),
];

impl Axis {
    /// The units of time as JSON, for the script of a page: name, length in seconds, and steps between ticks in that unit.
    pub(crate) fn time_units() -> String {
        serde_json::json!(TIME_UNITS).to_string()
    }

    /// An axis for the time of a run in seconds, labelled in the unit that suits its length.
    pub fn time(from: f64, to: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        // An axis whose data begins soon after the origin starts at the origin.
        let from = if (0.0..to * 0.05).contains(&from) { 0.0 } else { from };
        let span = to - from;
        let unit = match span {
            span if span <= 300.0 && to <= 86_400.0 => 0,
            span if span <= 3.0 * 3_600.0 && to <= 86_400.0 => 1,
            // Many hours are hard to read, so a late part of a long run is labelled in days.
            span if span <= 4.0 * 86_400.0 && to <= 10.0 * 86_400.0 => 2,
            _ => 3,
        };
        let (name, length, steps) = TIME_UNITS[unit];
        let step = steps.iter().map(|step| step * length).find(|step| span / step <= 12.0);
        let step = step.unwrap_or_else(|| nice(span / length / 8.0) * length);
        // If the axis is shorter than four of the smallest steps, fractions of them are used.
        let step = if span < 4.0 * steps[0] * length { nice(span / length / 8.0) * length } else { step };
        let decimals = decimals(step / length);
        let ticks = multiples(from, to, step).map(|at| (at, number(at / length, decimals))).collect();
        Self { title: format!("time ({name})"), data: "time (s)".to_owned(), from, to, ticks, log: false }
    }

    /// A linear axis of durations in seconds from `low` to `high`, both extended to the next tick, labelled in the unit that suits
    /// them: `quantity` is its title without a unit.
    pub fn duration(quantity: &str, low: f64, high: f64) -> Self {
        let most = low.abs().max(high.abs());
        let (name, length, _) = TIME_UNITS[match most {
            most if most.is_nan() || most <= 600.0 => 0,
            most if most <= 3.0 * 3_600.0 => 1,
            most if most <= 4.0 * 86_400.0 => 2,
            _ => 3,
        }];
        let axis = Self::linear(format!("{quantity} ({name})"), low / length, high / length, false);
        let ticks = axis.ticks.into_iter().map(|(at, label)| (at * length, label)).collect();
        Self {
            data: format!("{quantity} (s)"),
            from: axis.from * length,
            to: axis.to * length,
            ticks,
            ..axis
        }
    }

    /// A linear axis from `low` to `high`, both extended to the next tick. `whole` restricts ticks to whole numbers.
    pub fn linear(title: impl Into<String>, low: f64, high: f64, whole: bool) -> Self {
        let (low, high) =
            if low.is_finite() && high.is_finite() && high > low { (low, high) } else { (0.0, 1.0) };
        let step = nice((high - low) / 5.0);
        let step = if whole { step.max(1.0) } else { step };
        // Tolerates rounding errors at ticks.
        let (from, to) = (libm::floor(low / step + 1e-9) * step, libm::ceil(high / step - 1e-9) * step);
        // All labels have the same suffix.
        let (scale, suffix) = suffix(from.abs().max(to.abs()));
        let decimals = decimals(step / scale);
        let label = |at: f64| match suffix {
            "" => number(at, decimals),
            _ if libm::fabs(at) < step / 2.0 => "0".to_owned(),
            _ => number(at / scale, decimals) + suffix,
        };
        let ticks = multiples(from, to, step).map(|at| (at, label(at))).collect();
        Self::titled(title, from, to, ticks, false)
    }

    /// A logarithmic axis of positive numbers from `low` to `high`.
    pub fn log(title: impl Into<String>, low: f64, high: f64) -> Self {
        let low = if low.is_finite() && low > 0.0 { low } else { 1.0 };
        let high = if high.is_finite() && high > low { high } else { low * 10.0 };
        let (first, last) = (libm::floor(libm::log10(low) + 1e-9), libm::ceil(libm::log10(high) - 1e-9));
        let last = last.max(first + 1.0);
        let every = libm::ceil((last - first) / 8.0).max(1.0);
        let mut ticks = Vec::new();
        let mut power = first;
        while power <= last {
            ticks.push((libm::pow(10.0, power), power_of_ten(power as i32)));
            if last - first <= 1.5 && power < last {
                let between = [2.0, 5.0].map(|times| times * libm::pow(10.0, power));
                ticks.extend(between.map(|at| (at, number(at, (-power).max(0.0) as usize))));
            }
            power += every;
        }
        Self::titled(title, libm::pow(10.0, first), libm::pow(10.0, last), ticks, true)
    }

    /// A logarithmic axis of times in seconds, with ticks at a second, a minute, an hour and a day: each label has its unit, and the
    /// title has none.
    pub fn log_time(title: &str, low: f64, high: f64) -> Self {
        const MARKS: [(f64, &str); 14] = [
            (0.001, "1 ms"),
            (0.01, "10 ms"),
            (0.1, "0.1 s"),
            (1.0, "1 s"),
            (10.0, "10 s"),
            (60.0, "1 min"),
            (600.0, "10 min"),
            (3_600.0, "1 h"),
            (21_600.0, "6 h"),
            (86_400.0, "1 d"),
            (604_800.0, "7 d"),
            (2_592_000.0, "30 d"),
            (31_536_000.0, "1 y"),
            (315_360_000.0, "10 y"),
        ];
        let first = MARKS.iter().rev().find(|(at, _)| *at <= low).unwrap_or(&MARKS[0]).0;
        let last = MARKS.iter().find(|(at, _)| *at >= high && *at > first).unwrap_or(&MARKS[13]).0;
        let ticks = MARKS.iter().filter(|(at, _)| (first..=last).contains(at));
        let ticks = ticks.map(|(at, label)| (*at, (*label).to_owned())).collect();
        Self { data: format!("{title} (s)"), ..Self::titled(title, first, last, ticks, true) }
    }

    /// An axis of named positions 0, 1, 2, ... with a margin of half a position on both sides.
    pub fn places(title: impl Into<String>, names: impl IntoIterator<Item = String>) -> Self {
        let ticks: Vec<_> = (0..).map(f64::from).zip(names).collect();
        let to = ticks.len() as f64 - 0.5;
        Self::titled(title, -0.5, to, ticks, false)
    }

    /// An axis whose labels have the unit of the data.
    pub fn titled(
        title: impl Into<String>,
        from: f64,
        to: f64,
        ticks: Vec<(f64, String)>,
        log: bool,
    ) -> Self {
        let title = title.into();
        Self { data: title.clone(), title, from, to, ticks, log }
    }

    /// The label at a position; the number itself where there is none.
    pub(super) fn label(&self, value: f64) -> String {
        let at = self.ticks.iter().find(|(tick, _)| *tick == value);
        at.map_or_else(|| value.to_string(), |(_, label)| label.clone())
    }

    /// The same range without ticks.
    pub(super) fn without_ticks(&self) -> Self {
        Self { title: String::new(), data: self.data.clone(), ticks: Vec::new(), ..*self }
    }

    /// The same axis without its title.
    pub(super) fn untitled(&self) -> Self {
        Self { title: String::new(), ..self.clone() }
    }

    /// The same axis with neither title nor labels, but with its ticks.
    pub(super) fn unlabelled(&self) -> Self {
        let ticks = self.ticks.iter().map(|(at, _)| (*at, String::new()));
        Self { title: String::new(), data: self.data.clone(), ticks: ticks.collect(), ..*self }
    }

    /// The position of a value between the ends of the axis; values beyond an end are clamped to it.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = value.clamp(self.from, self.to);
        if self.log { libm::log10(value) } else { value }
    }
}

/// The smallest of 1, 2, 5 × a power of ten that is at least `rough`.
fn nice(rough: f64) -> f64 {
    if !(rough.is_finite() && rough > 0.0) {
        return 1.0;
    }
    let decade = libm::pow(10.0, libm::floor(libm::log10(rough)));
    let steps = [1.0, 2.0, 5.0].map(|times| times * decade);
    steps.into_iter().find(|step| *step >= rough * 0.999).unwrap_or(10.0 * decade)
}

fn multiples(from: f64, to: f64, step: f64) -> impl Iterator<Item = f64> {
    let first = libm::ceil(from / step - 1e-9);
    (0..200).map(move |count| (first + f64::from(count)) * step).take_while(move |at| *at <= to + step * 1e-9)
}

/// Number of decimals that a step needs.
fn decimals(step: f64) -> usize {
    let scaled = |places: u32| step * libm::pow(10.0, f64::from(places));
    let whole = |places: &u32| (scaled(*places) - libm::round(scaled(*places))).abs() < 1e-6;
    (0..9).find(whole).unwrap_or(9) as usize
}

/// The factor and the suffix of the labels of an axis whose largest number is `most`.
fn suffix(most: f64) -> (f64, &'static str) {
    match most {
        most if most >= 1e12 => (1.0, ""),
        most if most >= 1e9 => (1e9, "G"),
        most if most >= 1e6 => (1e6, "M"),
        most if most >= 2e4 => (1e3, "k"),
        _ => (1.0, ""),
    }
}

/// Formats a number for people.
fn number(value: f64, decimals: usize) -> String {
    let value = if value == 0.0 { 0.0 } else { value };
    if value.abs() >= 1e12 {
        return format!("{value:.1e}");
    }
    format!("{value:.decimals$}").replace('-', "−")
}

fn power_of_ten(power: i32) -> String {
    match power {
        0..=3 => format!("{}", 10_u32.pow(power as u32)),
        -3..=-1 => format!("{:.*}", -power as usize, libm::pow(10.0, f64::from(power))),
        _ => {
            let digits = power.to_string();
            let raised = digits.chars().map(|sign| match sign {
                '-' => '⁻',
                '1' => '¹',
                '2' => '²',
                '3' => '³',
                digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
            });
            format!("10{}", raised.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn time_is_in_the_unit_that_suits_it() {
        let axis = Axis::time(0.0, 50.0);
        assert_eq!(
            (axis.title.as_str(), labels(&axis)),
            ("time (s)", vec!["0", "5", "10", "15", "20", "25", "30", "35", "40", "45", "50"])
        );
        let axis = Axis::time(0.0, 86_400.0);
        assert_eq!((axis.title.as_str(), labels(&axis).len()), ("time (h)", 13));
        let axis = Axis::time(0.0, 330.0 * 86_400.0);
        assert_eq!((axis.title.as_str(), labels(&axis)[1]), ("time (d)", "30"));
        assert_eq!(labels(&Axis::time(0.0, 2.0)).len(), 5);
        assert!(Axis::time(7.0, 7.0).to > 7.0, "an axis has a length");
    }

    #[test]
    fn durations_are_in_the_unit_that_suits_them() {
        let axis = Axis::duration("mean wait", 0.0, 9.5 * 3_600.0);
        assert_eq!((axis.title.as_str(), axis.data.as_str()), ("mean wait (h)", "mean wait (s)"));
        assert_eq!((labels(&axis), axis.to), (vec!["0", "2", "4", "6", "8", "10"], 36_000.0));
        assert_eq!(Axis::duration("wait", -1_800.0, 60.0).title, "wait (min)");
        assert_eq!(Axis::duration("wait", f64::NAN, f64::NAN).title, "wait (s)");
    }

    #[test]
    fn numbers_end_at_ticks() {
        let axis = Axis::linear("n", 0.0, 93.0, true);
        assert_eq!((axis.to, labels(&axis)), (100.0, vec!["0", "20", "40", "60", "80", "100"]));
        let axis = Axis::linear("n", 0.0, 1.0, false);
        assert_eq!(labels(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::linear("n", 0.0, 3.0, true)), ["0", "1", "2", "3"]);
        assert_eq!(Axis::linear("n", 5.0, 5.0, false).to, 1.0);
        assert_eq!(Axis::linear("n", f64::NAN, 5.0, false).to, 1.0);
    }

    #[test]
    fn logarithms_have_a_tick_a_decade() {
        let axis = Axis::log("n", 0.5, 4e5);
        assert_eq!(labels(&axis), ["0.1", "1", "10", "100", "1000", "10⁴", "10⁵", "10⁶"]);
        let axis = Axis::log_time("wait", 0.5, 90_000.0);
        assert_eq!((axis.from, axis.to), (0.1, 604_800.0));
        assert!(axis.place(0.0).is_finite());
    }

    #[test]
    fn large_numbers_are_short() {
        // All labels of an axis have the same suffix.
        assert_eq!(
            labels(&Axis::linear("n", 0.0, 250_000.0, false)),
            ["0", "50k", "100k", "150k", "200k", "250k"]
        );
        assert_eq!(labels(&Axis::linear("n", 0.0, 1_200_000.0, false)), ["0", "0.5M", "1.0M", "1.5M"]);
        assert_eq!(labels(&Axis::linear("n", 9_500.0, 10_500.0, false))[0..3], ["9400", "9600", "9800"]);
        assert_eq!(number(-2.5, 1), "−2.5");
    }
}
