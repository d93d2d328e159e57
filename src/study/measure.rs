//! Measures: their titles, units, which of two values is the better one, and which of them a request selects.

use serde::Serialize;

use crate::model::nearest;

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
    /// The id, such as `class.VS Seq.mean_wait`.
    pub id: String,
    /// The title, such as `mean wait, VS Seq`.
    pub title: String,
    /// The unit, such as `s`; empty for a plain number.
    pub unit: &'static str,
    /// Which of two values is the better one.
    pub better: Better,
}

/// The first word of an id, and whether a name follows it.
const GROUPS: [(&str, bool); 7] = [
    ("class", true),
    ("site", true),
    ("local", false),
    ("grid", false),
    ("no_site", false),
    ("outside", false),
    ("dedicated", false),
];

/// The last word of an id with its title, unit and direction. Other measures are shown by their ids.
const KNOWN: [(&str, &str, &str, Better); 47] = {
    use Better::{Higher, Lower, Neither};
    [
        ("jobs", "jobs", "", Neither),
        ("measured", "measured jobs", "", Neither),
        ("submitted", "submitted jobs", "", Neither),
        ("completed", "completed jobs", "", Higher),
        ("killed", "jobs killed at their estimate", "", Lower),
        ("failed", "failed jobs", "", Lower),
        ("rejected", "rejected jobs", "", Lower),
        ("cancelled", "cancelled jobs", "", Neither),
        ("unfinished", "unfinished jobs", "", Lower),
        ("mean_wait", "mean wait", "s", Lower),
        ("median_wait", "median wait", "s", Lower),
        ("p95_wait", "95th percentile of the wait", "s", Lower),
        ("max_wait", "longest wait", "s", Lower),
        ("mean_response", "mean response time", "s", Lower),
        ("median_response", "median response time", "s", Lower),
        ("p95_response", "95th percentile of the response time", "s", Lower),
        ("max_response", "longest response time", "s", Lower),
        ("mean_bounded_slowdown", "mean bounded slowdown", "", Lower),
        ("median_bounded_slowdown", "median bounded slowdown", "", Lower),
        ("p95_bounded_slowdown", "95th percentile of the bounded slowdown", "", Lower),
        ("max_bounded_slowdown", "largest bounded slowdown", "", Lower),
        ("slowdown_of_means", "slowdown of means (response over time from start to end)", "", Lower),
        ("accepted", "elastic commands that were carried out", "", Neither),
        ("on_time", "dedicated jobs that started on time", "", Higher),
        ("delayed", "dedicated jobs that started late", "", Lower),
        ("mean_delay", "mean delay", "s", Lower),
        ("max_delay", "longest delay", "s", Lower),
        ("makespan", "makespan", "s", Lower),
        ("utilization", "utilization", "", Higher),
        ("utilization_available", "utilization of the available capacity", "", Higher),
        ("down", "share of the capacity that was down", "", Neither),
        ("cost", "cost to users", "", Lower),
        ("charged", "cost charged to these jobs", "", Lower),
        ("charged_kwh", "energy charged to these jobs", "kWh", Lower),
        ("jobs_kwh", "energy of jobs", "kWh", Lower),
        ("idle_kwh", "energy of idle processors", "kWh", Lower),
        ("meter_kwh", "IT energy", "kWh", Lower),
        ("facility_kwh", "facility energy", "kWh", Lower),
        ("wasted_proc_s", "processor time wasted by failed attempts", "s", Lower),
        ("nominal", "nominal processor time", "s", Neither),
        ("useful", "useful processor time", "s", Neither),
        ("wasted", "wasted processor time", "s", Lower),
        ("overhead", "processor time of overhead", "s", Lower),
        ("reserved", "reserved processor time", "s", Neither),
        ("idle", "idle processor time", "s", Neither),
        ("longest_queue", "longest queue", "jobs", Lower),
        ("at_end", "jobs in the system at the end of the measured submissions", "jobs", Lower),
    ]
};

impl MeasureInfo {
    /// The description of the measure `id`; the title of an unknown one is its id.
    pub fn of(id: &str) -> Self {
        let (of, last) = Self::parts(id);
        let known = KNOWN.iter().find(|(name, ..)| *name == last);
        let (title, unit, better) =
            known.map_or((last, "", Better::Neither), |(_, title, unit, better)| (*title, *unit, *better));
        let title = if of.is_empty() { title.to_owned() } else { format!("{title}, {}", of.join(", ")) };
        Self { id: id.to_owned(), title, unit, better }
    }

    /// True for a figure of each job, such as a wait, and false for one of the whole run.
    pub fn of_jobs(&self) -> bool {
        let last = Self::parts(&self.id).1;
        ["_wait", "_response", "_slowdown", "_delay"].iter().any(|end| last.ends_with(end))
            || last == "slowdown_of_means"
    }

    /// The owner of a measure (`VS Seq`, `delft`, `local jobs`), and its own name.
    fn parts(id: &str) -> (Vec<String>, &str) {
        let (mut of, mut rest) = (Vec::new(), id);
        while let Some((head, tail)) = rest.split_once('.') {
            match GROUPS.iter().find(|(group, _)| *group == head) {
                // A class or a site may have a dot in its name. Its measures are known, so the rest of the id is searched for.
                Some((_, true)) => {
                    let end = name_end(tail);
                    of.push(tail[..end].to_owned());
                    rest = tail.get(end + 1..).unwrap_or("");
                }
                Some((group, false)) => {
                    of.push(format!("{group} jobs"));
                    rest = tail;
                }
                // Sections of the summary, such as `outcomes` and `energy`, add nothing to the last word.
                None => rest = tail,
            }
        }
        (of, rest)
    }
}

/// The end of the name with which `text` begins: before the longest suffix that is a measure or a section.
fn name_end(text: &str) -> usize {
    const SECTIONS: [&str; 7] = ["outcomes", "usage", "energy", "local", "grid", "churn", "dedicated"];
    let dots = text.char_indices().filter(|(_, sign)| *sign == '.').map(|(at, _)| at);
    let begins = |rest: &str| {
        let word = rest.split('.').next().unwrap_or(rest);
        SECTIONS.contains(&word) || KNOWN.iter().any(|(name, ..)| *name == word)
    };
    let mut last = None;
    for dot in dots {
        if begins(&text[dot + 1..]) {
            return dot;
        }
        last = Some(dot);
    }
    last.unwrap_or(text.len())
}

/// True if `id` matches `wanted`, in which a `*` stands for a name, which may contain dots.
pub fn stands_for(wanted: &str, id: &str) -> bool {
    match wanted.split_once('*') {
        None => wanted == id,
        Some((head, tail)) => id.strip_prefix(head).is_some_and(|rest| {
            (1..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| stands_for(tail, rest)))
        }),
    }
}

/// The measure that `written` probably means, for a hint: the id with this last word (`outcomes.rejected` for `rejected`;
/// outcomes first, then the shortest), else the most similar id.
pub fn nearest_measure<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let ends = known.iter().copied().filter(|id| id.rsplit('.').next() == Some(written));
    ends.min_by_key(|id| (!id.starts_with("outcomes."), id.len(), *id))
        .or_else(|| nearest(written, known.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_a_name() {
        assert!(stands_for("site.*.mean_wait", "site.delft.mean_wait"));
        assert!(stands_for("site.*.mean_wait", "site.a.b.mean_wait"), "a name may have dots");
        assert!(stands_for("*.mean_wait", "local.mean_wait") && stands_for("class.*", "class.VS N.jobs"));
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

    #[test]
    fn titles_say_whose_measure_it_is() {
        let title = |id: &str| MeasureInfo::of(id).title;
        assert_eq!(title("mean_wait"), "mean wait");
        assert_eq!(title("class.VS Seq.mean_wait"), "mean wait, VS Seq");
        assert_eq!(title("site.delft.local.mean_wait"), "mean wait, delft, local jobs");
        assert_eq!(title("site.a.b.p95_response"), "95th percentile of the response time, a.b");
        assert_eq!(title("outcomes.failed"), "failed jobs");
        assert_eq!(title("something_new"), "something_new");
    }

    #[test]
    fn units_and_directions_are_those_of_the_last_word() {
        let info = MeasureInfo::of("site.delft.energy.meter_kwh");
        assert_eq!((info.unit, info.better), ("kWh", Better::Lower));
        assert_eq!(MeasureInfo::of("utilization").better, Better::Higher);
        assert_eq!(MeasureInfo::of("jobs").better, Better::Neither);
    }
}
