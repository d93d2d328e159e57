//! The tables of a study as text.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::{count, decimals, number};
use super::tables::{Columns, text_table};
use crate::study::campaign::ListedRun;
use crate::study::{Better, MeasureInfo, StudyPoint, StudyTable};

/// A row for each point of the axes: the number of runs, and the mean of each measure over them.
pub fn study_table(table: &StudyTable) -> String {
    let points = table.points();
    let failed: usize = points.iter().map(StudyPoint::failed).sum();
    let growing: usize = points.iter().filter(|point| point.growing() > 0).count();
    let mut columns = Columns::default();
    for (at, axis) in table.axes.iter().enumerate() {
        columns = columns.text(axis, points.iter().map(|point| point.labels[at].clone()));
    }
    let counts = |of: fn(&StudyPoint<'_>) -> usize| points.iter().map(move |point| count(of(point) as u64));
    columns = columns.numbers("runs", counts(|point| point.runs.len()));
    if failed > 0 {
        columns = columns.numbers("failed", counts(|point| point.failed()));
    }
    if growing > 0 {
        columns = columns.numbers("unstable", counts(|point| point.growing()));
    }
    for (measure, id) in table.shown().into_iter().map(|at| (at, &table.measures[at])) {
        let means: Vec<Option<f64>> = points.iter().map(|point| point.mean(measure)).collect();
        let small = means.iter().flatten().all(|mean| mean.abs() <= 1.0);
        let places = if small { 4 } else { decimals(means.iter().copied()) };
        columns = columns.numbers(&heading(id), means.into_iter().map(|mean| number(mean, places)));
    }
    let mut out = columns.finish() + "\n";
    if failed > 0 {
        out.push_str(
            "\nfailed: runs without a result. A point with such runs has no mean, because a mean over the other runs would be biased.\n",
        );
    }
    if growing > 0 {
        out.push_str(
            "\nunstable: runs whose backlog grows until the end. Their means depend on the length of the run. A point with such\n\
             runs has no mean, because a mean over the other runs would be biased.\n",
        );
    }
    out
}

/// Heading of a column: the words of the measure's id on separate lines, and its unit.
fn heading(id: &str) -> String {
    let unit = MeasureInfo::of(id).unit;
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let (of, name) = id.rsplit_once('.').map_or(("", id), |(of, name)| (of, name));
    let of = if of.is_empty() { String::new() } else { format!("{of}\n") };
    of + &name.replace('_', "\n") + &unit
}

/// A row for each measure: its id, unit, whether lower or higher values are better, and its meaning.
pub fn measure_list(measures: &[MeasureInfo]) -> String {
    measure_rows(measures.iter().map(|info| (info.id.clone(), info)))
}

/// The measures of all jobs and of the whole run, then those that only groups of jobs have, and the groups for which there are the
/// others too.
pub fn measure_overview(measures: &[MeasureInfo]) -> String {
    let whole: BTreeSet<&str> = measures
        .iter()
        .map(MeasureInfo::split)
        .filter(|(group, _)| group.is_empty())
        .map(|(_, rest)| rest)
        .collect();
    let (mut groups, mut shown) = (BTreeSet::new(), BTreeMap::new());
    for info in measures {
        let (group, rest) = info.split();
        if group.is_empty() {
            shown.insert((false, rest.to_owned()), info);
        } else if whole.contains(rest) || whole.contains(format!("outcomes.{rest}").as_str()) {
            groups.insert(group);
        } else {
            shown.insert((true, format!("{group}.{rest}")), info);
        }
    }
    let groups: Vec<String> = groups.into_iter().map(|group| format!("`{group}.`")).collect();
    measure_rows(shown.into_iter().map(|((_, id), info)| (id, info)))
        + &format!(
            "\nMeasures of jobs are there for groups of jobs too, with these words before them: {}.\n`*` stands for any name; \
             `--list-measures 'site.*.mean_wait'` and `--list-measures energy` list those that match.\n",
            groups.join(", ")
        )
}

fn measure_rows<'a>(measures: impl Iterator<Item = (String, &'a MeasureInfo)>) -> String {
    let rows = measures.map(|(id, info)| {
        let better = match info.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "",
        };
        vec![id, info.unit.to_owned(), better.to_owned(), info.meaning.to_owned()]
    });
    text_table(4, &["measure", "unit", "better", "meaning"], rows) + "\n"
}

/// A row for each run.
pub fn study_list(runs: &[ListedRun]) -> String {
    let axes = runs.first().map_or(0, |run| run.point.len());
    let mut columns = Columns::default().text("run", runs.iter().map(|run| run.run.to_string()));
    for at in 0..axes {
        columns = columns.text(&runs[0].point[at].0, runs.iter().map(|run| run.point[at].1.clone()));
    }
    let seeds = runs.iter().map(|run| run.seed.to_string());
    columns.text("seed", seeds).text("state", runs.iter().map(|run| run.state.to_owned())).finish()
}
