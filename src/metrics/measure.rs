//! What a measure is called, what it is counted in, which of two values is the better one, and which measures are asked for.

use serde::Serialize;

use crate::model::nearest;

/// Which of two values of a measure one would rather have.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// The lower one: a wait, a cost.
    Lower,
    /// The higher one: utilization, completed jobs.
    Higher,
    /// Neither: it describes, and does not judge.
    Neither,
}

/// A measure as it is shown: its id is one of [`super::flat_measures`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeasureInfo {
    /// Such as `class.VS Seq.mean_wait`.
    pub id: String,
    /// For people, such as `mean wait, VS Seq`.
    pub title: String,
    /// What it is counted in, such as `s`; empty for a plain number.
    pub unit: &'static str,
    /// Which of two values is the better one.
    pub better: Better,
}

/// What stands before the dot of an id, and how many names follow it.
const GROUPS: [(&str, bool); 7] = [
    ("class", true),
    ("site", true),
    ("local", false),
    ("grid", false),
    ("nowhere", false),
    ("outside", false),
    ("dedicated", false),
];

/// The last word of an id: its title, unit and direction. What is not here is shown by its id.
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
        ("slowdown_of_means", "mean response time over mean time from start to end", "", Lower),
        ("accepted", "elastic commands that were carried out", "", Neither),
        ("on_time", "jobs that started when they asked to", "", Higher),
        ("delayed", "jobs that started later than they asked to", "", Lower),
        ("mean_delay", "mean delay", "s", Lower),
        ("max_delay", "longest delay", "s", Lower),
        ("makespan", "makespan", "s", Lower),
        ("utilization", "utilization", "", Higher),
        ("utilization_available", "utilization of what was available", "", Higher),
        ("away", "share of the capacity that was away", "", Neither),
        ("cost", "what jobs paid", "", Lower),
        ("charged", "charged", "", Lower),
        ("charged_kwh", "energy charged", "kWh", Lower),
        ("jobs_kwh", "energy of jobs", "kWh", Lower),
        ("idle_kwh", "energy of idle processors", "kWh", Lower),
        ("meter_kwh", "energy", "kWh", Lower),
        ("facility_kwh", "energy of the facility", "kWh", Lower),
        ("lost_proc_s", "processor time of lost attempts", "s", Lower),
        ("nominal", "nominal processor time", "s", Neither),
        ("useful", "useful processor time", "s", Neither),
        ("wasted", "wasted processor time", "s", Lower),
        ("overhead", "processor time of overhead", "s", Lower),
        ("reserved", "reserved processor time", "s", Neither),
        ("idle", "idle processor time", "s", Neither),
        ("longest_queue", "longest queue", "jobs", Lower),
        ("at_end", "jobs in the system at the end of the window", "jobs", Lower),
    ]
};

impl MeasureInfo {
    /// What is known of the measure `id`; of one that is not known, its id is its title.
    pub fn of(id: &str) -> Self {
        let (of, last) = Self::parts(id);
        let known = KNOWN.iter().find(|(name, ..)| *name == last);
        let (title, unit, better) =
            known.map_or((last, "", Better::Neither), |(_, title, unit, better)| (*title, *unit, *better));
        let title = if of.is_empty() { title.to_owned() } else { format!("{title}, {}", of.join(", ")) };
        Self { id: id.to_owned(), title, unit, better }
    }

    /// Whether it is a figure of each job that is in it, such as a wait, and not of the whole run.
    pub fn of_jobs(&self) -> bool {
        let last = Self::parts(&self.id).1;
        ["_wait", "_response", "_slowdown", "_delay"].iter().any(|end| last.ends_with(end))
            || last == "slowdown_of_means"
    }

    /// Whose measure it is (`VS Seq`, `delft`, `local jobs`), and its own name.
    fn parts(id: &str) -> (Vec<String>, &str) {
        let (mut of, mut rest) = (Vec::new(), id);
        while let Some((head, tail)) = rest.split_once('.') {
            match GROUPS.iter().find(|(group, _)| *group == head) {
                // A class or a site may have a dot in its name: its measures are known, so the rest of it is looked for.
                Some((_, true)) => {
                    let end = name_end(tail);
                    of.push(tail[..end].to_owned());
                    rest = tail.get(end + 1..).unwrap_or("");
                }
                Some((group, false)) => {
                    of.push(format!("{group} jobs"));
                    rest = tail;
                }
                // Sections of the summary, such as `outcomes` and `energy`, say nothing that the last word does not.
                None => rest = tail,
            }
        }
        (of, rest)
    }
}

/// Where the name that `text` begins with is over: before the longest end that is a measure or a section.
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

/// Whether `id` is what is asked for, in which a `*` stands for a name, which may have dots in it.
pub fn stands_for(asked: &str, id: &str) -> bool {
    match asked.split_once('*') {
        None => asked == id,
        Some((head, tail)) => id.strip_prefix(head).is_some_and(|rest| {
            (1..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| stands_for(tail, rest)))
        }),
    }
}

/// The measure that was meant by `written`, for a hint: the id that ends with this word (`outcomes.rejected` for `rejected`; how jobs ended first, then the shortest), else the
/// one that is written most alike.
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
