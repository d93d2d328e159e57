//! The natural order of names: `node2` before `node10`.

use std::cmp::Ordering;

/// Compares two names piece by piece: digits by their number, other signs one by one.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    while !left.is_empty() && !right.is_empty() {
        let (digits, others) = (split(left), split(right));
        let order = if digits.0.is_empty() || others.0.is_empty() {
            let (x, y) = (left.chars().next(), right.chars().next());
            (left, right) = (rest(left), rest(right));
            x.cmp(&y)
        } else {
            let (x, y) = (digits.0.trim_start_matches('0'), others.0.trim_start_matches('0'));
            (left, right) = (digits.1, others.1);
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    // Names that differ in zeros alone are told apart by these.
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The digits at the beginning, and what follows.
fn split(text: &str) -> (&str, &str) {
    text.split_at(text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len()))
}

fn rest(text: &str) -> &str {
    let mut signs = text.chars();
    signs.next();
    signs.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_count_as_numbers() {
        let mut names = ["c2/n1", "c10/n1", "c1/n10", "c1/n9", "c1/n09", "c1", "", "é", "c1/nx", "10", "9"];
        names.sort_by(|a, b| compare(a, b));
        assert_eq!(
            names,
            ["", "9", "10", "c1", "c1/n09", "c1/n9", "c1/n10", "c1/nx", "c2/n1", "c10/n1", "é"]
        );
    }
}
