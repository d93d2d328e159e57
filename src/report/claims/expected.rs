//! What a paper states, in a few words.

use crate::study::claims::{Claim, Expects};

/// The value or relation that the paper reports, in a few words.
pub(super) fn expected(claim: &Claim) -> String {
    let several = match (claim.at_least, &claim.gain_over.is_empty()) {
        (Some(least), _) => format!(", in at least {least} of {}", claim.measures.len()),
        (None, _) => String::new(),
    };
    let gain = if claim.gain_over.is_empty() { "" } else { "gain " };
    format!("{gain}{}{several}", relation(claim))
}

/// The value or relation of one measure.
fn relation(claim: &Claim) -> String {
    // As it was written: a share times a hundred has digits that nobody published.
    let percent = |share: f64| ((share * 1e8).round() / 1e6).to_string();
    // What still counts beside the published value.
    let less = |tolerance: f64, sign: char| match tolerance {
        0.0 => String::new(),
        _ => format!(" {sign} {}", (tolerance * 1e9).round() / 1e9),
    };
    match claim.expects {
        Expects::Table => table(&claim.values),
        Expects::Value { published, tolerance } => format!("{published} ± {}", digits(tolerance)),
        Expects::AtLeast { published, tolerance } => {
            format!("{published}, at least{}", less(tolerance, '−'))
        }
        Expects::AtMost { published, tolerance } => {
            format!("{published}, at most{}", less(tolerance, '+'))
        }
        Expects::Shown { published: Some(published) } => published.to_string(),
        Expects::Shown { published: None } => "(no number)".to_owned(),
        Expects::Below => "below".to_owned(),
        Expects::Above => "above".to_owned(),
        Expects::UpTo { published } => format!("up to {} %", percent(published)),
        Expects::Falling => "falling".to_owned(),
        Expects::Rising => "rising".to_owned(),
        Expects::Change { from, to } => match (from, to) {
            (None, None) => "any change".to_owned(),
            (None, Some(0.0)) => "not above".to_owned(),
            (Some(0.0), None) => "not below".to_owned(),
            (None, Some(to)) if to > 0.0 => format!("not above by more than {} %", percent(to)),
            (Some(from), None) if from < 0.0 => format!("not below by more than {} %", percent(-from)),
            (None, Some(to)) => format!("below by {} % or more", percent(-to)),
            (Some(from), None) => format!("above by {} % or more", percent(from)),
            (Some(from), Some(to)) if from == -to => format!("within {} %", percent(to)),
            (Some(from), Some(to)) if to <= 0.0 => {
                format!("below by {} to {} %", percent(-to), percent(-from))
            }
            (Some(from), Some(to)) => format!("above by {} to {} %", percent(from), percent(to)),
        },
    }
}

/// A tolerance as it was written: a share of a number has digits that nobody published.
fn digits(tolerance: f64) -> String {
    let rounded = (tolerance * 1e9).round() / 1e9;
    if tolerance == 0.0 || rounded >= 1e-4 { rounded.to_string() } else { format!("{tolerance:?}") }
}

/// Published values with their tolerances, which are one number or one share.
fn table(values: &[(f64, f64)]) -> String {
    let numbers: Vec<String> = values.iter().map(|(published, _)| published.to_string()).collect();
    let first = values.first().map_or(0.0, |(_, tolerance)| *tolerance);
    let shares: Vec<f64> =
        values.iter().map(|(published, tolerance)| (tolerance / published * 1e8).round() / 1e6).collect();
    let tolerance = match shares.first() {
        _ if values.iter().all(|(_, tolerance)| tolerance.total_cmp(&first).is_eq()) => digits(first),
        Some(share) => format!("{share} %"),
        None => String::new(),
    };
    format!("{} ± {tolerance}", numbers.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::tests::claim;
    use super::*;
    use crate::study::claims::Verdict;

    #[test]
    fn ranges_read_as_they_were_written() {
        let of = |expects| expected(&claim("x", expects, Verdict::Holds, "").0);
        assert_eq!(of(Expects::Value { published: 3.58, tolerance: 3.58 * 0.05 }), "3.58 ± 0.179");
        assert_eq!(of(Expects::Value { published: 0.0, tolerance: 0.0 }), "0 ± 0");
        assert_eq!(of(Expects::AtLeast { published: 0.91, tolerance: 0.0 }), "0.91, at least");
        assert_eq!(of(Expects::AtMost { published: 1.92, tolerance: 0.1 }), "1.92, at most + 0.1");
        let change = |from, to| of(Expects::Change { from, to });
        assert_eq!(change(None, Some(0.1)), "not above by more than 10 %");
        assert_eq!(change(Some(-0.1), None), "not below by more than 10 %");
        assert_eq!(
            (change(None, Some(0.0)), change(Some(0.0), None)),
            ("not above".to_owned(), "not below".to_owned())
        );
        assert_eq!(change(Some(-0.1), Some(0.1)), "within 10 %");
        assert_eq!(change(None, Some(-0.125)), "below by 12.5 % or more");
        assert_eq!(change(Some(0.2), None), "above by 20 % or more");
        assert_eq!(change(Some(0.1), Some(0.3)), "above by 10 to 30 %");
    }

    #[test]
    fn several_measures_are_counted_and_tables_have_one_tolerance() {
        let of = |values: &[(f64, f64)], at_least| {
            let claim = claim("x", Expects::Table, Verdict::Holds, "").0;
            expected(&Claim { values: values.to_vec(), at_least, measures: vec![String::new(); 2], ..claim })
        };
        assert_eq!(of(&[(700.0, 25.0), (400.0, 25.0)], None), "700, 400 ± 25");
        assert_eq!(of(&[(2.6, 0.13), (34.0, 1.7)], Some(1)), "2.6, 34 ± 5 %, in at least 1 of 2");
        let gain = claim("x", Expects::Below, Verdict::Holds, "").0;
        let over = [("policy".to_owned(), vec!["easy".to_owned()])].into();
        assert_eq!(expected(&Claim { gain_over: over, ..gain }), "gain below");
    }
}
