//! Measures: their titles, units, which of two values is the better one, and which of them a request selects.

use serde::Serialize;

mod known;
mod names;

pub(crate) use names::word_of;
pub use names::{nearest_measure, stands_for};

/// Which of two values of a measure is preferable.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The lower one, as of a wait or a cost.
    Lower,
    /// The higher one, as of utilization or completed jobs.
    Higher,
    /// Neither: the measure is descriptive.
    Neither,
}

/// A measure as it is shown: its id is one of [`super::flat_measures`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeasureInfo {
    /// The id, such as `class.vs_seq.mean_wait`.
    pub id: String,
    /// The title, such as `mean wait, vs seq`.
    pub title: String,
    /// The unit, such as `s`; empty for a plain number.
    pub unit: &'static str,
    /// Which of two values is the better one.
    pub better: Better,
    /// The meaning, in a sentence; empty for an unknown measure.
    pub meaning: &'static str,
}

/// A word that stands before the measures of a group of jobs, and the title of the group; `None` if the word is followed by its name.
const GROUPS: [(&str, Option<&str>); 9] = [
    ("class", None),
    ("kind", None),
    ("site", None),
    ("local", Some("local jobs")),
    ("grid", Some("grid jobs")),
    ("no_site", Some("jobs at no site")),
    ("outside", Some("jobs outside the window")),
    ("dedicated", Some("dedicated jobs")),
    (TO_THE_END, Some("unended jobs charged to the end")),
];

/// The measures that each job has: wait, response and bounded slowdown.
pub const JOB_MEASURES: [&str; 3] = ["mean_wait", "mean_response", "mean_bounded_slowdown"];

/// The measures that are shown first where there are workflows, unless others are requested.
pub const WORKFLOW_MEASURES: [&str; 8] = [
    "workflows.mean_makespan",
    "workflows.mean_slr",
    "workflows.mean_slowdown",
    "workflows.share.run",
    "workflows.share.data",
    "workflows.share.dispatch",
    "workflows.share.queue",
    "workflows.share.lost",
];

/// What a measure of each job class begins with.
pub(crate) const OF_CLASSES: &str = "class.*.";

/// Words before the measures of some jobs of a group: they count as part of the measure.
const PARTS: [&str; 2] = ["dedicated", TO_THE_END];

/// The word before means in which jobs that did not run to their end are charged.
const TO_THE_END: &str = "to_the_end";

/// The measure in which jobs that did not run to their end are charged to the end of the run, of a mean over the jobs that did.
pub(crate) fn charged(id: &str) -> Option<String> {
    let (of, last) = id.rsplit_once('.').map_or(("", id), |(of, last)| (of, last));
    let dot = if of.is_empty() { "" } else { "." };
    let has_one = JOB_MEASURES.contains(&last) && !of.ends_with(TO_THE_END);
    has_one.then(|| format!("{of}{dot}{TO_THE_END}.{last}"))
}

impl MeasureInfo {
    /// The description of the measure `id`; the title of an unknown one is its id.
    pub fn of(id: &str) -> Self {
        let (of, last) = Self::parts(id);
        let (title, unit, better, meaning) = match known::find(id) {
            Some(known) => (known.title, known.unit, known.better, known.meaning),
            None => (last, "", Better::Neither, ""),
        };
        let title = if of.is_empty() { title.to_owned() } else { format!("{title}, {}", of.join(", ")) };
        Self { id: id.to_owned(), title, unit, better, meaning }
    }

    /// True if the pattern matches the id (with `*` for any name), or, without any `*` around it, is a part of the id, title or
    /// meaning.
    pub fn matches(&self, pattern: &str) -> bool {
        let bare = pattern.trim_matches('*').to_lowercase();
        let part = |text: &str| text.to_lowercase().contains(&bare);
        stands_for(pattern, &self.id) || part(&self.id) || part(&self.title) || part(self.meaning)
    }

    /// The group of jobs of the measure, with `*` for names (`site.*.local`; empty for all jobs), and the rest of its id.
    pub fn split(&self) -> (String, &str) {
        let (mut group, mut rest) = (Vec::new(), self.id.as_str());
        while let Some((head, tail)) = rest.split_once('.')
            && let Some((_, title)) = GROUPS.iter().find(|(group, _)| *group == head)
            && !PARTS.contains(&head)
        {
            group.push(head);
            rest = tail;
            if title.is_none() {
                group.push("*");
                rest = tail.split_once('.').map_or("", |(_, rest)| rest);
            }
        }
        (group.join("."), rest)
    }

    /// True for a figure of each job, such as a wait, and false for one of the whole run.
    pub fn of_jobs(&self) -> bool {
        let last = Self::parts(&self.id).1;
        ["_wait", "_response", "_slowdown", "_delay"].iter().any(|end| last.ends_with(end))
            || last == "slowdown_of_means"
    }

    /// The owner of a measure (`vs seq`, `delft`, `local jobs`, `machine left`), and the last word of its id.
    fn parts(id: &str) -> (Vec<String>, &str) {
        let (mut of, mut rest) = (Vec::new(), id);
        while let Some((head, tail)) = rest.split_once('.') {
            rest = tail;
            match GROUPS.iter().find(|(group, _)| *group == head) {
                Some((_, Some(title))) => of.push((*title).to_owned()),
                Some((_, None)) => {
                    let (name, tail) = tail.split_once('.').unwrap_or((tail, ""));
                    of.push(name.replace('_', " "));
                    rest = tail;
                }
                // Sections of the summary, such as `outcomes` and `energy`, add nothing to the last word.
                None => {}
            }
        }
        // The names in lists of causes and reasons, and the purposes of a ledger.
        let words: Vec<&str> = id.split('.').collect();
        let name = match words.as_slice() {
            ["churn", "wasted" | "attempts" | "refusals", name, _] | ["elastic", "refused", name] => {
                Some(name)
            }
            [.., "ledger", _, name] => Some(name),
            _ => None,
        };
        of.extend(name.map(|name| name.replace('_', " ")));
        (of, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_of_ids_or_parts_of_what_is_known() {
        let info = MeasureInfo::of("energy.facility_kwh");
        for pattern in ["energy.*", "*kwh*", "kwh*", "*.facility_kwh", "KWH", "facility"] {
            assert!(info.matches(pattern), "{pattern}");
        }
        for pattern in ["cost", "energy.*.kwh", "*watt*"] {
            assert!(!info.matches(pattern), "{pattern}");
        }
    }

    #[test]
    fn titles_say_whose_measure_it_is() {
        let title = |id: &str| MeasureInfo::of(id).title;
        assert_eq!(title("mean_wait"), "mean wait");
        assert_eq!(title("class.vs_seq.mean_wait"), "mean wait, vs seq");
        assert_eq!(title("site.delft.local.mean_wait"), "mean wait, delft, local jobs");
        assert_eq!(title("churn.wasted.machine_left.proc_s"), "wasted work, machine left");
        assert_eq!(title("outcomes.failed"), "failed jobs");
        assert_eq!(title("site.delft.ledger.carbon_kg.idle"), "carbon caused, delft, idle");
        assert_eq!(title("something_new"), "something_new");
    }

    #[test]
    fn groups_are_told_from_measures() {
        let split = |id: &str| {
            let info = MeasureInfo::of(id);
            let (group, rest) = info.split();
            (group, rest.to_owned())
        };
        assert_eq!(split("site.delft.local.mean_wait"), ("site.*.local".to_owned(), "mean_wait".to_owned()));
        assert_eq!(split("energy.meter_kwh"), (String::new(), "energy.meter_kwh".to_owned()));
        assert_eq!(split("outside.failed"), ("outside".to_owned(), "failed".to_owned()));
    }

    #[test]
    fn units_and_directions_are_those_of_the_last_word() {
        let info = MeasureInfo::of("site.delft.energy.meter_kwh");
        assert_eq!((info.unit, info.better), ("kWh", Better::Lower));
        assert_eq!(MeasureInfo::of("utilization").better, Better::Higher);
        assert_eq!(MeasureInfo::of("jobs").better, Better::Neither);
    }
}
