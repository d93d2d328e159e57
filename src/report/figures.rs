//! Formatting of numbers for people.

use crate::units::{Span, grouped, unsigned_zero};

/// Enough decimals for three digits of the largest of some numbers.
pub(super) fn three_digits(numbers: impl IntoIterator<Item = Option<f64>>) -> usize {
    let largest = numbers.into_iter().flatten().fold(0.0, |most, number| f64::max(most, number.abs()));
    if largest > 0.0 { (2.0 - libm::floor(libm::log10(largest))).clamp(0.0, 9.0) as usize } else { 0 }
}

/// A count with separators between thousands: `28,476`.
pub(super) fn count(value: u64) -> String {
    grouped(value)
}

/// A count with its noun: `1 task`, `2,000 tasks`.
pub(super) fn noun(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A number of jobs: `1 job`, `2 jobs`.
pub(super) fn jobs(number: u64) -> String {
    noun(number, "job")
}

/// A number with `decimals` decimals and separators between thousands; `-` if there is none.
pub(super) fn number(value: Option<f64>, decimals: usize) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return "-".to_owned() };
    let written = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = written.split_at(written.find('.').unwrap_or(written.len()));
    let sign = if value < 0.0 { "-" } else { "" };
    match whole.parse::<u64>() {
        Ok(whole) => unsigned_zero(format!("{sign}{}{fraction}", count(whole))),
        Err(_) => format!("{value:e}"),
    }
}

/// The same as [`number`], with a plus sign if the value is above zero.
pub(super) fn signed(value: f64, decimals: usize) -> String {
    let written = number(Some(value), decimals);
    if value > 0.0 { unsigned_zero(format!("+{written}")) } else { written }
}

/// Number of decimals for a column whose values are `numbers`: its largest value gets four digits, or all its integer digits if
/// there are more.
pub(super) fn decimals(numbers: impl IntoIterator<Item = Option<f64>>) -> usize {
    let largest = numbers.into_iter().flatten().fold(0.0, f64::max);
    match largest {
        _ if largest >= 1_000.0 => 0,
        _ if largest >= 100.0 => 1,
        _ => 2,
    }
}

/// A share as a percentage.
pub(super) fn percent(share: Option<f64>) -> String {
    number(share.map(|share| share * 100.0), 2)
}

/// A duration in its two largest units, as [`Span::told`]: `334 d 6 h`, `4 h 12 min`, `3.2 s`; `-` if there is none.
pub(super) fn duration(secs: f64) -> String {
    let told = Span::from_secs_f64(secs.abs()).map(Span::told);
    let sign = if secs < 0.0 { "-" } else { "" };
    told.map_or_else(|| "-".to_owned(), |told| format!("{sign}{told}"))
}

/// A size in bytes, abbreviated: `1.2 GB`.
pub(super) fn size(bytes: u64) -> String {
    let units = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    match units.iter().find(|(_, unit)| bytes as f64 >= *unit) {
        Some((name, unit)) => format!("{} {name}", number(Some(bytes as f64 / unit), 1)),
        None => format!("{bytes} B"),
    }
}

/// Splits a line between words into lines of at most `room` characters.
pub(super) fn wrapped(line: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= room => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(number(Some(15_696.798), 1), "15,696.8");
        assert_eq!(number(Some(-1_234.5), 0), "-1,234", "halves go to the even");
        assert_eq!(number(None, 1), "-");
        assert_eq!(
            (number(Some(-0.004), 2), signed(0.004, 2), signed(-0.0, 2)),
            ("0.00".into(), "0.00".into(), "0.00".into())
        );
        assert_eq!((signed(0.006, 2), signed(-0.006, 2)), ("+0.01".into(), "-0.01".into()));
        assert_eq!(number(Some(999.96), 1), "1,000.0");
        assert_eq!(percent(Some(0.68719)), "68.72");
        assert_eq!(decimals([Some(3.0), None, Some(250.0)]), 1);
    }

    #[test]
    fn sizes_have_a_unit() {
        for (bytes, shown) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (1_234_000_000, "1.2 GB"),
            (5_000_000_000_000_000, "5,000.0 TB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }

    #[test]
    fn durations_have_two_units() {
        assert_eq!(duration(28_880_000.0), "334 d 6 h");
        assert_eq!(duration(15_120.0), "4 h 12 min");
        assert_eq!(duration(3_600.0), "1 h");
        assert_eq!(duration(61.0), "1 min 1 s");
        assert_eq!(duration(3.25), "3.2 s");
        assert_eq!(duration(0.0), "0 s");
    }
}
