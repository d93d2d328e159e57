//! Positions of the labels of a study's axis when curves are drawn along it.

use std::collections::BTreeMap;

use crate::report::charts::Axis;
use crate::report::lists::distinct;
use crate::study::StudyTable;

/// The axis of a study, laid out for curves along it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisLayout<'a> {
    /// The curves and level lines, in the order of their labels.
    pub(crate) tracks: Vec<Track<'a>>,
    /// The axis as drawn.
    pub(crate) axis: Axis,
    /// Whether the positions have no order, so that no line joins them.
    pub(crate) apart: bool,
}

/// Labels of an axis that form one curve, or one level line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Track<'a> {
    /// The common part of the labels; empty if all labels are one curve.
    pub(crate) name: String,
    /// The labels and their positions.
    pub(crate) places: Vec<(&'a str, f64)>,
    /// Whether the only label has no position and is drawn across the whole width.
    pub(crate) level: bool,
}

impl<'a> AxisLayout<'a> {
    /// Lays out the labels of an axis of a study: numbers at their values; labels that differ only in the number of one parameter,
    /// such as `p[k=1]` and `p[k=2]`, along that number, with all others as level lines; any other labels side by side.
    pub(super) fn of(table: &'a StudyTable, axis: usize) -> Self {
        let title = table.axes.get(axis).map_or("", String::as_str);
        let labels = table.labels(axis);
        let one = |places| vec![Track { name: String::new(), places, level: false }];
        if let Some(numbers) = places(&labels) {
            // A unit that all labels have is that of the axis.
            let unit = labels.first().map_or("", |label| unit_of(label));
            let short = |label: &str| label.trim_end_matches(unit).trim_end().to_owned();
            let ticks = numbers.iter().map(|(label, place)| (*place, short(label))).collect();
            return Self {
                axis: numeric_axis(&with_unit(title, unit), ticks),
                tracks: one(numbers),
                apart: false,
            };
        }
        if let Some((tracks, title)) = patterns(&labels) {
            let curves = tracks.iter().filter(|track| !track.level);
            let numbers = distinct(curves.flat_map(|track| &track.places).map(|(_, place)| *place));
            let ticks = numbers.into_iter().map(|place| (place, place.to_string())).collect();
            return Self { tracks, axis: numeric_axis(&title, ticks), apart: false };
        }
        let axis = Axis::places(title, labels.iter().map(|label| (*label).to_owned()));
        let places = labels.into_iter().zip((0..).map(f64::from)).collect();
        Self { tracks: one(places), axis, apart: true }
    }
}

/// The unit of a label that is a number: `s` of `10 s`, `%` of `5%`, nothing of `0.7`.
fn unit_of(label: &str) -> &str {
    let number =
        label.find(|sign: char| !(sign.is_ascii_digit() || matches!(sign, '.' | '-' | '+' | 'e' | 'E')));
    number.map_or("", |end| label[end..].trim())
}

/// The title of an axis with its unit, if it has one.
fn with_unit(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.to_owned() } else { format!("{title} ({unit})") }
}

/// The labels as numbers, if all of them are.
pub(super) fn places<'a>(labels: &[&'a str]) -> Option<Vec<(&'a str, f64)>> {
    let parts =
        |label: &'a str| label.split_once(' ').map_or((label, None), |(word, unit)| (word, Some(unit)));
    let (_, first) = parts(labels.first()?);
    let place = |label: &&'a str| {
        let (word, unit) = parts(label);
        let number = word.trim_end_matches('%').parse::<f64>().ok().filter(|number| number.is_finite())?;
        // Units after the number must be the same: "10 s" and "1 min" are not positions on one axis.
        (unit == first).then_some((*label, number))
    };
    labels.iter().map(place).collect()
}

/// A number of a parameter in a label with the text before and after it: for `p[k=7]` the texts are `p[k=` and `]`.
type Parameter<'a> = (&'a str, f64, &'a str);

/// The parameters of a label: numbers after an equals sign, possibly followed by a unit.
fn parameters(label: &str) -> Vec<Parameter<'_>> {
    let mut found = Vec::new();
    for (equals, _) in label.match_indices('=') {
        let (before, after) = label.split_at(equals + 1);
        let length = after.find(|sign: char| !(sign.is_ascii_digit() || sign == '.' || sign == '-'));
        let (number, rest) = after.split_at(length.unwrap_or(after.len()));
        let ends = rest.is_empty() || rest.starts_with([',', ']', ')', ' ', '%']);
        if let (Ok(number), true) = (number.parse::<f64>(), ends) {
            found.push((before, number, rest));
        }
    }
    found
}

/// The name of the parameter at the end of a text such as `p[k=`.
fn key_of(before: &str) -> &str {
    let before = before.trim_end_matches('=').trim_end();
    let from = before.rfind(|sign: char| !(sign.is_alphanumeric() || sign == '_' || sign == '-'));
    from.map_or(before, |at| before[at..].trim_start_matches(|sign: char| !sign.is_alphanumeric()))
}

/// Curves of the labels that differ only in the number of a parameter, level lines of the others, and the title of the axis. `None`
/// if no two labels form a curve.
fn patterns<'a>(labels: &[&'a str]) -> Option<(Vec<Track<'a>>, String)> {
    let mut left: Vec<usize> = (0..labels.len()).collect();
    // Each track with the index of its first label, by which tracks are ordered.
    let mut tracks: Vec<(usize, Track<'_>)> = Vec::new();
    let mut titles: Vec<String> = Vec::new();
    loop {
        let mut alike: BTreeMap<(&str, &str), Vec<(usize, f64)>> = BTreeMap::new();
        for at in &left {
            for (before, number, after) in parameters(labels[*at]) {
                alike.entry((before, after)).or_default().push((*at, number));
            }
        }
        // Prefers the pattern with the most labels, then one whose parameter is already on the axis, then the first.
        let rank = |(before, after): &(&str, &str), of: &[(usize, f64)]| {
            let known = titles.contains(&title_of(before, after));
            (of.len(), known, usize::MAX - of[0].0)
        };
        let longest =
            alike.into_iter().filter(|(_, of)| of.len() > 1).max_by_key(|(text, of)| rank(text, of));
        let Some(((before, after), mut of)) = longest else { break };
        left.retain(|at| of.iter().all(|(taken, _)| taken != at));
        let key = key_of(before).to_owned();
        let (first, name) = (of[0].0, without_parameter(before, &key, after));
        if !titles.contains(&title_of(before, after)) {
            titles.push(title_of(before, after));
        }
        of.sort_by(|a, b| a.1.total_cmp(&b.1));
        let places = of.into_iter().map(|(at, number)| (labels[at], number)).collect();
        tracks.push((first, Track { name, places, level: false }));
    }
    if tracks.is_empty() {
        return None;
    }
    for at in left {
        let places = vec![(labels[at], 0.0)];
        tracks.push((at, Track { name: labels[at].to_owned(), places, level: true }));
    }
    tracks.sort_by_key(|(first, _)| *first);
    Some((tracks.into_iter().map(|(_, track)| track).collect(), titles.join(", ")))
}

/// The name of the parameter between two texts, with the unit of its numbers: `mean (h)` between `up[mean=` and ` h]`.
fn title_of(before: &str, after: &str) -> String {
    let unit = &after[..after.find([',', ']', ')']).unwrap_or(after.len())];
    with_unit(key_of(before), unit.trim())
}

/// A label without one of its parameters: `p[a=1]` for `p[a=1,k=7]`, `p` for `p[k=7]`.
fn without_parameter(before: &str, key: &str, after: &str) -> String {
    let head = before.trim_end_matches('=').trim_end();
    let head = head[..head.len() - key.len()].trim_end();
    // The unit is removed with its number.
    let tail = &after[after.find([',', ']', ')']).unwrap_or(after.len())..];
    let (head, tail) = match (head.strip_suffix(','), tail.strip_prefix(',')) {
        (Some(head), _) => (head, tail),
        (None, Some(tail)) => (head, tail.trim_start()),
        (None, None) => (head, tail),
    };
    let text = format!("{head}{tail}");
    text.replace("[]", "").replace("()", "").trim().to_owned()
}

/// An axis with a tick at each of a study's values, if they are few.
fn numeric_axis(title: &str, ticks: Vec<(f64, String)>) -> Axis {
    let low = ticks.iter().map(|(place, _)| *place).fold(f64::INFINITY, f64::min);
    let high = ticks.iter().map(|(place, _)| *place).fold(f64::NEG_INFINITY, f64::max);
    if are_powers(&ticks) {
        return Axis::titled(title, low / 1.2, high * 1.2, ticks, true);
    }
    // The labels and the gaps between them, in characters.
    let length: usize = ticks.iter().map(|(_, label)| label.chars().count() + 1).sum();
    if ticks.len() > 9 && !(are_even(&ticks) && length <= 64) {
        return Axis::linear(title, low, high, false);
    }
    let room = if high > low { (high - low) * 0.04 } else { 0.5 };
    Axis::titled(title, low - room, high + room, ticks, false)
}

/// Whether the ticks grow by one factor, over more than a decade: on a linear axis the first of them would be in a heap.
fn are_powers(ticks: &[(f64, String)]) -> bool {
    let mut sorted: Vec<f64> = ticks.iter().map(|(place, _)| *place).collect();
    sorted.sort_by(f64::total_cmp);
    let [first, second, .., last] = sorted[..] else { return false };
    let factor = second / first;
    let same = |pair: &[f64]| (pair[1] / pair[0] - factor).abs() <= factor * 1e-6;
    first > 0.0 && last / first > 10.0 && sorted.windows(2).all(same)
}

/// Whether the ticks are equally spaced.
fn are_even(ticks: &[(f64, String)]) -> bool {
    let mut sorted: Vec<f64> = ticks.iter().map(|(place, _)| *place).collect();
    sorted.sort_by(f64::total_cmp);
    let [first, .., last] = sorted[..] else { return true };
    let step = (last - first) / (sorted.len() - 1) as f64;
    sorted.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() <= step * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(labels: &[&str]) -> Option<(Vec<String>, String)> {
        let (tracks, title) = patterns(labels)?;
        let described = tracks.iter().map(|track| {
            let places =
                track.places.iter().map(|(_, place)| place.to_string()).collect::<Vec<_>>().join(" ");
            if track.level { format!("{} -", track.name) } else { format!("{}: {places}", track.name) }
        });
        Some((described.collect(), title))
    }

    #[test]
    fn labels_that_are_the_same_but_for_a_number_are_a_curve() {
        let expected = |tracks: &[&str], title: &str| {
            Some((tracks.iter().map(|track| (*track).to_owned()).collect::<Vec<_>>(), title.to_owned()))
        };
        assert_eq!(
            described(&["easy", "d-los[cs=10]", "los", "d-los[cs=2]", "d-los[cs=1]"]),
            expected(&["easy -", "d-los: 1 2 10", "los -"], "cs")
        );
        // Several patterns, and a label with a number that matches none.
        assert_eq!(
            described(&["a[cs=1]", "b[cs=1]", "a[cs=2]", "b[cs=2]", "c[cs=1]"]),
            expected(&["a: 1 2", "b: 1 2", "c[cs=1] -"], "cs")
        );
        assert_eq!(
            described(&["a[x=1]", "b[y=1]", "a[x=2]", "b[y=2]"]),
            expected(&["a: 1 2", "b: 1 2"], "x, y")
        );
        // Of two parameters, the one shared by the most labels, wherever it stands.
        assert_eq!(
            described(&["p[a=1,k=0.5]", "p[a=1,k=1]", "p[a=1,k=2]", "p[a=2,k=2]"]),
            expected(&["p[a=1]: 0.5 1 2", "p[a=2,k=2] -"], "k")
        );
        assert_eq!(described(&["p[k=1, a=x]", "p[k=3, a=x]"]), expected(&["p[a=x]: 1 3"], "k"));
        assert_eq!(
            described(&["p[a=1,k=1]", "p[a=1,k=2]", "p[a=2,k=1]", "p[a=2,k=2]"]).unwrap().1.len(),
            1,
            "along one of both"
        );
        // With a unit.
        assert_eq!(described(&["up[mean=1 h]", "up[mean=2 h]"]), expected(&["up: 1 2"], "mean (h)"));
        assert_eq!(described(&["up[mean=1 h]", "up[mean=2 d]"]), None);
    }

    #[test]
    fn a_unit_that_all_labels_have_is_in_the_title() {
        assert_eq!(["10 s", "5%", "0.7", "-1e3 kW"].map(unit_of), ["s", "%", "", "kW"]);
        assert_eq!((with_unit("wait", "s"), with_unit("load", "")), ("wait (s)".into(), "load".into()));
    }

    #[test]
    fn each_of_some_even_steps_has_a_tick() {
        let mut numbers: Vec<(f64, String)> =
            (1..=20).map(|number| (f64::from(number), number.to_string())).collect();
        assert_eq!(numeric_axis("cs", numbers.clone()).ticks.len(), 20);
        let powers = [1.0, 4.0, 16.0, 64.0].map(|number: f64| (number, number.to_string()));
        let axis = numeric_axis("mpl", powers.to_vec());
        assert!(axis.log && axis.from > 0.0 && axis.ticks.len() == 4, "{axis:?}");
        assert!(
            !numeric_axis("load", [0.5, 0.7, 0.9].map(|number: f64| (number, number.to_string())).to_vec())
                .log
        );
        numbers[19].0 = 1000.0;
        let axis = numeric_axis("cs", numbers);
        assert_eq!((axis.ticks.len(), axis.to), (6, 1000.0), "{axis:?}");
    }

    #[test]
    fn names_with_numbers_in_them_are_names() {
        assert_eq!(described(&["das2-32", "das2-72"]), None);
        assert_eq!(described(&["easy", "los", "d-los[cs=7]"]), None);
        assert_eq!(described(&["p[order=1st]", "p[order=2nd]"]), None);
        assert_eq!(described(&["p[k=1-2]", "p[k=..]", "p[k=]", "="]), None);
        assert_eq!(described(&[]), None);
    }
}
