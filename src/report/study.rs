//! The tables of a study as text.

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
    for (measure, id) in table.measures.iter().enumerate() {
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

/// A row for each measure: its id, title, unit, and whether lower or higher values are better.
pub fn measure_list(measures: &[MeasureInfo]) -> String {
    let rows = measures.iter().map(|info| {
        let better = match info.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
            Better::Neither => "",
        };
        // The title is left out if it only repeats the id.
        let title = if info.id.ends_with(&info.title) { "" } else { &info.title };
        [&info.id, title, info.unit, better].map(str::to_owned).to_vec()
    });
    let table = text_table(4, &["measure", "description", "unit", "better"], rows);
    table + "\n\nA `*` stands for any name, as in `site.*.mean_wait`.\n"
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
