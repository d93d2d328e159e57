//! Heat maps of the classes of runs.

use super::runs::Run;
use super::{Figure, Section, stem};
use crate::report::series::{Statistic, changes, values as heat_values};

/// Heat maps of the classes of a run; `None` if all its jobs are one class.
pub(super) fn values(run: &Run<'_>) -> Option<Section> {
    let jobs = &run.series.jobs;
    if jobs.groups.names().len() < 2 || jobs.measured.count() == 0 {
        return None;
    }
    let caption = "The value of each class, with its number of measured jobs. The fuller the orange, the larger and worse.";
    let of_names = |(criteria, meaning): &(String, String)| format!("Classes by {criteria}: {meaning}.");
    let charts = heat_values("Values by class", &jobs.groups, &jobs.measured);
    let figures = charts.into_iter().map(|(map, chart)| {
        let (name, caption) = of_map("classes", &map, caption);
        Figure::new(name, caption, chart, 1)
    });
    let lead = jobs.meaning.iter().map(of_names).collect();
    Some(Section { lead, figures: figures.collect(), ..Section::new("Classes") })
}

/// The name and the caption of a figure of one map.
fn of_map(name: &str, map: &str, caption: &str) -> (String, String) {
    if map.is_empty() {
        (name.to_owned(), caption.to_owned())
    } else {
        (format!("{name}-{}", stem(map)), format!("Group {map}. {caption}"))
    }
}

/// Heat maps of each further run against the first, where the two are comparable: runs that `gridemu compare` does not rank are not
/// ranked here either.
pub(super) fn gains(first: &Run<'_>, others: &[Run<'_>]) -> Section {
    let mut section = Section::new("Gain and loss");
    for run in others {
        let (from, to) = (&first.name, &run.name);
        if let Some(why) = apart(first, run) {
            section.lead.push(format!(
                "Gain and loss from {from} to {to} are not drawn: {why}. See `gridemu compare`."
            ));
            continue;
        }
        let both = (&first.series.jobs.measured, &run.series.jobs.measured);
        for (statistic, name, what) in
            [(Statistic::Mean, "gain", "means"), (Statistic::Largest, "worst", "worst cases")]
        {
            let title = format!("{to} against {from}: {what}");
            let name = format!("{name}-{}-against-{}", stem(to), stem(from));
            let caption = format!(
                "Class by class, how the {what} change from {from} to {to}. Blue is better, orange worse; the two values are below, the number of jobs on hover."
            );
            for (map, chart) in changes(&title, &first.series.jobs.groups, statistic, both) {
                let (name, caption) = of_map(&name, &map, &caption);
                section.figures.push(Figure::new(name, caption, chart, 1));
            }
        }
    }
    section
}

/// Why the means of two runs are not comparable; `None` if they are.
fn apart(first: &Run<'_>, run: &Run<'_>) -> Option<String> {
    let (a, b) = (&first.series.jobs, &run.series.jobs);
    let both = first.folder.summary().zip(run.folder.summary());
    let differs = |key| {
        let values = both.and_then(|(one, other)| one.get(key).zip(other.get(key)));
        values.is_some_and(|(one, other)| one != other)
    };
    if a.comparability.asked != b.comparability.asked {
        return Some("they are not runs of the same jobs".to_owned());
    }
    if let Some(growing) = [first, run].into_iter().find(|run| run.series.jobs.comparability.unstable) {
        return Some(format!("{} is unstable, so its means depend on its length", growing.name));
    }
    if a.comparability.ended != b.comparability.ended {
        return Some("the outcomes of some jobs differ, so the means are not of the same jobs".to_owned());
    }
    if differs("tau") || differs("measure") {
        let why = "they were measured in different windows, or with different bounds of the slowdown";
        return Some(why.to_owned());
    }
    (a.groups.names() != b.groups.names()).then(|| "their jobs are in different classes".to_owned())
}
