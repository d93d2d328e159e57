//! The tables of a study as text.

use super::figures::{count, decimals, number};
use super::tables::text_table;
use crate::study::campaign::ListedRun;
use crate::study::{Better, MeasureInfo, RunStatus, StudyTable};

/// A row for each point of the axes: the number of runs, and the mean of each measure over them.
pub fn study_table(table: &StudyTable) -> String {
    let points = table.points();
    let failed: usize = table.rows.iter().filter(|row| row.status != RunStatus::Done).count();
    let growing: usize = points.iter().filter(|point| point.growing() > 0).count();
    let mut header: Vec<String> = table.axes.clone();
    header.push("runs".to_owned());
    header.extend((failed > 0).then(|| "failed".to_owned()));
    header.extend((growing > 0).then(|| "unstable".to_owned()));
    header.extend(table.measures.iter().map(|id| heading(id)));
    let columns: Vec<Vec<String>> = (0..table.measures.len())
        .map(|measure| {
            let means: Vec<Option<f64>> = points.iter().map(|point| point.mean(measure)).collect();
            let places = if means.iter().flatten().all(|mean| mean.abs() <= 1.0) {
                4
            } else {
                decimals(means.iter().copied())
            };
            means.into_iter().map(|mean| number(mean, places)).collect()
        })
        .collect();
    let rows = points.iter().enumerate().map(|(at, point)| {
        let mut row: Vec<String> = point.labels.to_vec();
        row.push(count(point.runs.len() as u64));
        row.extend((failed > 0).then(|| count((point.runs.len() - point.done().count()) as u64)));
        row.extend((growing > 0).then(|| count(point.growing() as u64)));
        row.extend(columns.iter().map(|column| column[at].clone()));
        row
    });
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut out = text_table(table.axes.len(), &header, rows);
    out.push('\n');
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
    let info = MeasureInfo::of(id);
    let unit = if info.unit.is_empty() { String::new() } else { format!(" ({})", info.unit) };
    let (of, name) = id.rsplit_once('.').map_or(("", id), |(of, name)| (of, name));
    let mut lines: Vec<String> = Vec::new();
    if !of.is_empty() {
        lines.push(of.to_owned());
    }
    lines.extend(name.split('_').map(str::to_owned));
    lines.join("\n") + &unit
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
    let mut out = text_table(4, &["measure", "description", "unit", "better"], rows);
    out.push_str("\n\nA `*` stands for any name, as in `site.*.mean_wait`.\n");
    out
}

/// A row for each run.
pub fn study_list(runs: &[ListedRun]) -> String {
    let axes: Vec<&str> =
        runs.first().map(|run| run.point.iter().map(|(axis, _)| axis.as_str()).collect()).unwrap_or_default();
    let mut header = vec!["run"];
    header.extend(&axes);
    header.extend(["seed", "state"]);
    let rows = runs.iter().map(|run| {
        let mut row = vec![run.run.to_string()];
        row.extend(run.point.iter().map(|(_, label)| label.clone()));
        row.extend([run.seed.to_string(), run.state.to_owned()]);
        row
    });
    text_table(axes.len() + 3, &header, rows)
}
