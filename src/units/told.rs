//! Quantities as people read them in messages, tables and figures. Files for programs have exact seconds.

use super::{Span, Time};

/// The units of a duration of a second or more, each with its length in microseconds.
const UNITS: [(&str, u64); 4] =
    [("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000)];

impl Span {
    /// The duration as it is written in a scenario, with at most one decimal: `10 min`, `1.5 h`, `61000001 us`. It reads back exactly.
    pub fn written(self) -> String {
        const UNITS: [(&str, u64); 5] = [
            ("d", 86_400_000_000),
            ("h", 3_600_000_000),
            ("min", 60_000_000),
            ("s", 1_000_000),
            ("ms", 1_000),
        ];
        let micros = self.micros();
        let short = |unit: u64| micros >= unit && (u128::from(micros) * 10).is_multiple_of(u128::from(unit));
        match UNITS.iter().find(|(_, unit)| short(*unit)) {
            Some((name, unit)) => {
                let tenths = u128::from(micros) * 10 / u128::from(*unit);
                let fraction = if tenths % 10 == 0 { String::new() } else { format!(".{}", tenths % 10) };
                format!("{}{fraction} {name}", tenths / 10)
            }
            None if micros == 0 => "0 s".to_owned(),
            None => format!("{micros} us"),
        }
    }

    /// The duration as people read it, in its two largest units: `1,225 d 19 h`, `4 h 12 min`, `3.2 s`, `20 ms`. Smaller ones are cut
    /// off.
    pub fn told(self) -> String {
        let micros = self.micros();
        match micros {
            0 => return "0 s".to_owned(),
            1..1_000 => return format!("{micros} us"),
            1_000..100_000 => return format!("{} ms", tenths(micros, 1_000)),
            // Rounding would reach a minute.
            100_000..59_950_000 => return format!("{} s", tenths(micros, 1_000_000)),
            _ => {}
        }
        // What rounds to a minute is one.
        let micros = micros.max(60_000_000);
        let largest = UNITS.iter().position(|(_, unit)| micros >= *unit).unwrap_or(UNITS.len() - 1);
        let (name, unit) = UNITS[largest];
        let first = format!("{} {name}", grouped(micros / unit));
        match UNITS.get(largest + 1) {
            Some((name, smaller)) if micros % unit >= *smaller => {
                format!("{first} {} {name}", micros % unit / smaller)
            }
            _ => first,
        }
    }
}

impl Time {
    /// The time since the origin as people read it, as [`Span::told`]; `never` for [`Time::NEVER`].
    pub fn told(self) -> String {
        if self == Self::NEVER { "never".to_owned() } else { self.since(Self::ZERO).told() }
    }

    /// The same, followed from a minute on by the exact seconds: for errors that are looked up in files, `3 d (259200.5 s)`.
    pub fn told_exactly(self) -> String {
        if self < Self::from_secs(60) { format!("{self} s") } else { format!("{} ({self} s)", self.told()) }
    }
}

/// `micros` in units of `unit`, rounded to a tenth, halves to the even one.
fn tenths(micros: u64, unit: u64) -> String {
    let (cut, rest) = (micros * 10 / unit, micros * 10 % unit * 2);
    let tenths = cut + u64::from(rest > unit || (rest == unit && cut % 2 == 1));
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        tenth => format!("{}.{tenth}", tenths / 10),
    }
}

/// A count with separators between thousands: `28,476`.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_in_two_units() {
        for (micros, told) in [
            (0, "0 s"),
            (1, "1 us"),
            (999, "999 us"),
            (20_000, "20 ms"),
            (1_500, "1.5 ms"),
            (250_000, "0.2 s"),
            (260_000, "0.3 s"),
            (3_200_000, "3.2 s"),
            (59_940_000, "59.9 s"),
            (59_999_999, "1 min"),
            (61_000_000, "1 min 1 s"),
            (3_600_000_000, "1 h"),
            (15_120_000_000, "4 h 12 min"),
            (604_800_000_000, "7 d"),
            (105_911_100_000_001, "1,225 d 19 h"),
            (u64::MAX - 1, "213,503,982 d 8 h"),
        ] {
            assert_eq!(Span::from_micros(micros).told(), told);
            assert_eq!(Time::from_micros(micros).told(), told);
        }
        assert_eq!(Time::NEVER.told(), "never");
        assert_eq!(
            Time::from_micros(105_911_100_000_001).told_exactly(),
            "1,225 d 19 h (105911100.000001 s)"
        );
        assert_eq!(Time::from_micros(59_999_999).told_exactly(), "59.999999 s");
    }
}
