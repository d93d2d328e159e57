//! Names of measures: how a name of a site, a class or a cause is written in an id, what a request selects, and what was meant.

use std::collections::BTreeSet;

use crate::model::nearest;

/// A name as a part of an id: in lower case, with `_` for every sign but letters and digits. `taken` has those of the same list, since
/// two names may be written alike.
pub(crate) fn word_of(name: &str, taken: &mut BTreeSet<String>) -> String {
    let word = plain(name);
    let word = if word.is_empty() { "none".to_owned() } else { word };
    let mut unique = word.clone();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{word}_{number}");
        number += 1;
    }
    unique
}

fn plain(name: &str) -> String {
    // A bound is what tells `<=10min` from `>10min`.
    let name = name.replace("<=", " to ").replace('>', " over ");
    let signs = name.to_lowercase();
    let words = signs.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// Words of ids that were called otherwise before, each with the word of today.
const WAS: [(&str, &str); 6] = [
    ("lost_proc_s", "wasted_proc_s"),
    ("nowhere", "no_site"),
    ("picture_age", "information_age"),
    ("away", "down"),
    ("lost", "wasted"),
    ("a_machine_left", "machine_left"),
];

/// How `id`, as an earlier version wrote it, is written today; `*` stays.
pub(crate) fn of_today(id: &str) -> String {
    let word = |word: &str| {
        let word = if word == "*" { word.to_owned() } else { plain(word) };
        WAS.iter().find(|(was, _)| *was == word).map_or(word, |(_, now)| (*now).to_owned())
    };
    id.split('.').map(word).collect::<Vec<_>>().join(".")
}

/// True if `id` matches `wanted`, in which a `*` stands for a name, which may contain dots.
pub fn stands_for(wanted: &str, id: &str) -> bool {
    let mut parts = wanted.split('*');
    let Some(mut rest) = parts.next().and_then(|head| id.strip_prefix(head)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    // The earliest place of each part leaves most for the others; a name has a character at least.
    let after = |rest: &str| rest.chars().next().map(char::len_utf8);
    for part in parts {
        let found = after(rest).and_then(|from| Some(from + rest[from..].find(part)? + part.len()));
        let Some(next) = found else { return false };
        rest = &rest[next..];
    }
    after(rest).is_some_and(|from| rest[from..].ends_with(last))
}

/// The measure that `written` probably means, for a hint: its name of today; else the id with this last word (`outcomes.rejected` for
/// `rejected`; outcomes first, then the shortest); else the most similar id.
pub fn nearest_measure<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let today = of_today(written);
    if let Some(id) = known.iter().find(|id| **id == today) {
        return Some(id);
    }
    let ends = known.iter().copied().filter(|id| id.rsplit('.').next() == Some(written));
    ends.min_by_key(|id| (!id.starts_with("outcomes."), id.len(), *id))
        .or_else(|| nearest(written, known.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to divide an id among the stars.
    fn slow(wanted: &str, id: &str) -> bool {
        match wanted.split_once('*') {
            None => wanted == id,
            Some((head, tail)) => {
                id.strip_prefix(head).is_some_and(|rest| (1..=rest.len()).any(|at| slow(tail, &rest[at..])))
            }
        }
    }

    #[test]
    fn a_star_stands_for_a_name() {
        let mut words = vec![String::new()];
        for _ in 0..6 {
            let longer: Vec<String> =
                words.iter().flat_map(|word| ["a", ".", "*"].map(|sign| format!("{word}{sign}"))).collect();
            words.extend(longer);
            words.sort();
            words.dedup();
        }
        let ids: Vec<&String> = words.iter().filter(|word| !word.contains('*')).collect();
        for wanted in words.iter().filter(|word| word.len() < 6) {
            for id in &ids {
                assert_eq!(stands_for(wanted, id), slow(wanted, id), "`{wanted}` and `{id}`");
            }
        }
        assert!(!stands_for(&format!("{}z", "*".repeat(40)), &"site.a.".repeat(20)));
    }

    #[test]
    fn names_are_written_in_one_style() {
        let mut taken = BTreeSet::new();
        let mut word = |name: &str| word_of(name, &mut taken);
        assert_eq!(word("VS Seq"), "vs_seq");
        assert_eq!(word("killed at the estimate"), "killed_at_the_estimate");
        assert_eq!(
            (word("<=10min <=1p"), word(">8h >32p")),
            ("to_10min_to_1p".into(), "over_8h_over_32p".into())
        );
        assert_eq!((word("not-now"), word("not now")), ("not_now".into(), "not_now_2".into()));
    }

    #[test]
    fn an_old_name_is_told_with_the_new_one() {
        let known = [
            "churn.wasted.machine_left.proc_s",
            "no_site.jobs",
            "site.delft.wasted_proc_s",
            "class.vs_seq.mean_wait",
        ];
        let near = |written: &str| nearest_measure(written, known);
        assert_eq!(near("churn.lost.a machine left.proc_s"), Some(known[0]));
        assert_eq!(near("churn.wasted.machine left.proc_s"), Some(known[0]));
        assert_eq!(near("nowhere.jobs"), Some(known[1]));
        assert_eq!(near("site.delft.lost_proc_s"), Some(known[2]));
        assert_eq!(near("class.VS Seq.mean_wait"), Some(known[3]));
    }

    #[test]
    fn a_star_is_a_name() {
        assert!(stands_for("site.*.mean_wait", "site.delft.mean_wait"));
        assert!(stands_for("site.*.mean_wait", "site.a.b.mean_wait"), "a name may have dots");
        assert!(stands_for("*.mean_wait", "local.mean_wait") && stands_for("class.*", "class.vs_n.jobs"));
        assert!(stands_for("site.*.jobs", "site.größe.jobs"), "and letters of several bytes");
        assert!(
            !stands_for("site.*.mean_wait", "site..mean_wait") && !stands_for("*.mean_wait", "mean_wait")
        );
        assert!(!stands_for("mean_wait", "mean_waits"));
    }

    #[test]
    fn a_last_word_is_enough_for_a_hint() {
        let known = ["mean_wait", "site.a.outcomes.rejected", "outside.rejected", "outcomes.rejected"];
        assert_eq!(nearest_measure("rejected", known), Some("outcomes.rejected"));
        assert_eq!(nearest_measure("mean_wiat", known), Some("mean_wait"));
        assert_eq!(nearest_measure("colour", known), None);
    }
}
