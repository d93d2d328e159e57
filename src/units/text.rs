//! Exact reading of a number with a unit.

use std::borrow::Cow;

use thiserror::Error;

/// A text that cannot be read exactly as a quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{written}` is not {expected}")]
pub struct UnitError {
    written: String,
    expected: &'static str,
}

impl UnitError {
    pub(crate) fn new(written: &str, expected: &'static str) -> Self {
        Self { written: written.to_owned(), expected }
    }
}

/// The most signs of a message that quotes what it was given.
const LONGEST: usize = 2_000;

/// Whether a sign would act on a terminal, or turn the direction of writing and so hide what is meant.
fn acts(sign: char) -> bool {
    sign.is_control()
        || matches!(sign, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text that may quote input, as a line of a message: signs that would act on a terminal are made visible, and what is too long is cut.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST && !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let (cut, rest) = text.split_at(text.char_indices().nth(LONGEST).map_or(text.len(), |(at, _)| at));
    let mut line = visible(cut).replace('\n', "\\n");
    line.push_str(if rest.is_empty() { "" } else { "…" });
    Cow::Owned(line)
}

/// A text of lines that may quote input, with signs made visible that would act on a terminal.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let acts = |sign: char| sign != '\n' && acts(sign);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::new();
    text.chars()
        .for_each(|sign| if acts(sign) { safe.extend(sign.escape_default()) } else { safe.push(sign) });
    Cow::Owned(safe)
}

/// As [`line`], of each line of a message.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    let safe: Vec<Cow<'_, str>> = text.split('\n').map(line).collect();
    if safe.iter().all(|line| matches!(line, Cow::Borrowed(_))) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(safe.join("\n"))
}

/// A text as a cell of a table: behind an apostrophe if a spreadsheet would take it for a formula. Numbers stay as they are.
pub(crate) fn no_formula(cell: &str) -> Cow<'_, str> {
    if is_formula(cell) && cell.parse::<f64>().is_err() {
        return Cow::Owned(format!("'{cell}"));
    }
    Cow::Borrowed(cell)
}

/// The text of which [`no_formula`] made a cell.
pub(crate) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Whether a text begins as formulas do, behind apostrophes of its own or not.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.len() > 1 && text.starts_with(['=', '+', '-', '@'])
}

/// A written number without its sign if all its digits are zero: a value that rounds to zero is shown as zero.
pub(crate) fn unsigned_zero(written: String) -> String {
    match written.strip_prefix(['-', '+']) {
        Some(rest) if !rest.contains(|sign: char| ('1'..='9').contains(&sign)) => rest.to_owned(),
        _ => written,
    }
}

/// A number with its noun: `1 seed`, `30 seeds`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A number as a message shows it: from 10²¹ on with an exponent.
pub(crate) fn exponential(value: f64) -> String {
    if value.is_finite() && value.abs() >= 1e21 { format!("{value:e}") } else { value.to_string() }
}

/// Reads `<decimal> <unit>` into whole multiples of the base unit (`units` gives the factor of each name).
/// A value that is negative, too large or not a whole multiple is an error.
pub(crate) fn parse(written: &str, expected: &'static str, units: &[(&str, u64)]) -> Result<u64, UnitError> {
    let fail = || UnitError::new(written, expected);
    let trimmed = written.trim();
    let split =
        trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim();
    let factor = units.iter().find(|(name, _)| *name == unit).ok_or_else(fail)?.1;
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(fail());
    }
    let mut value =
        u128::from(if whole.is_empty() { 0 } else { whole.parse::<u64>().map_err(|_| fail())? })
            * u128::from(factor);
    if !fraction.is_empty() {
        let places = u32::try_from(fraction.len()).ok().filter(|n| *n <= 18).ok_or_else(fail)?;
        let scaled = u128::from(fraction.parse::<u64>().map_err(|_| fail())?) * u128::from(factor);
        let unit_of_last = 10_u128.pow(places);
        if scaled % unit_of_last != 0 {
            return Err(fail());
        }
        value += scaled / unit_of_last;
    }
    u64::try_from(value).map_err(|_| fail())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_safe_and_short() {
        assert_eq!(line("straße … \"x\""), "straße … \"x\"");
        assert_eq!(line("a\x1b[31m\tb\nc\u{9b}\u{202e}"), r"a\u{1b}[31m\tb\nc\u{9b}\u{202e}");
        assert_eq!(lines("a\nb\rc"), "a\nb\\rc");
        let cut = line(&"ä".repeat(5_000)).into_owned();
        assert_eq!((cut.chars().count(), cut.chars().last()), (LONGEST + 1, Some('…')));
    }

    #[test]
    fn no_cell_is_a_formula_and_each_is_read_back() {
        for (text, cell) in [
            ("=1+2", "'=1+2"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+cmd|x", "'+cmd|x"),
            ("-a", "'-a"),
            ("'=x", "''=x"),
            ("-5", "-5"),
            ("-", "-"),
            ("+1e3", "+1e3"),
            ("'quoted", "'quoted"),
            ("plain", "plain"),
            ("", ""),
        ] {
            assert_eq!(no_formula(text), cell);
            assert_eq!(unguarded(cell), text);
        }
    }

    #[test]
    fn nothing_has_no_sign() {
        for (value, expected) in
            [(-0.00004, "0.0000"), (0.00004, "0.0000"), (-0.00006, "-0.0001"), (0.0, "0.0000")]
        {
            assert_eq!(unsigned_zero(format!("{value:+.4}")), expected);
        }
        assert_eq!(unsigned_zero(format!("{:+.1} %", -0.04)), "0.0 %");
        assert_eq!(unsigned_zero("+1,000".to_owned()), "+1,000");
    }

    #[test]
    fn numbers_beyond_all_measure_have_an_exponent() {
        for (value, shown) in
            [(-3.5, "-3.5"), (1e15, "1000000000000000"), (1e300, "1e300"), (-2.5e21, "-2.5e21")]
        {
            assert_eq!(exponential(value), shown);
        }
        assert_eq!((exponential(f64::INFINITY), exponential(f64::NAN)), ("inf".to_owned(), "NaN".to_owned()));
    }
}
