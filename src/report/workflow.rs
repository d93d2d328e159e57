//! What is in a workflow, as text.

use super::figures::{count, decimals, duration, noun, number, size, wrapped};
use super::tables::text_table;
use crate::units::Bandwidth;
use crate::workflow::WorkflowContents;
use crate::workflow::grouping::GroupingContents;
use crate::workload::Quantity;

/// The most tasks of a critical path that are printed.
const PATH: usize = 12;
/// The longest line of them, in characters.
const ROOM: usize = 110;

/// Describes a workflow read from `name`: its size and shape, its critical path, its data, and its tasks by type.
pub fn workflow_table(name: &str, contents: &WorkflowContents) -> String {
    let bandwidth = Bandwidth::from_bits(contents.bandwidth_bits_per_s);
    let mut text = format!(
        "{name}: {} of {} in {}, at most {} at one level, {}\n\n",
        noun(contents.tasks, "task"),
        noun(contents.types.len() as u64, "type"),
        noun(contents.levels, "level"),
        count(contents.width),
        noun(contents.edges, "edge"),
    );
    text += &format!(
        " run time       {} in all, {} on the critical path: no more than {} times as fast as one machine\n",
        duration(contents.runtime_s),
        duration(contents.critical_path_s),
        number(contents.parallelism(), 1),
    );
    text += &format!(
        " with data      {} on the critical path at {bandwidth}; communication to computation {}\n",
        duration(contents.critical_path_with_data_s),
        number(contents.ccr, if contents.ccr < Some(0.1) { 4 } else { 2 }),
    );
    let data = &contents.data;
    text += &format!(
        " data           {}: {} in, {} between tasks, {} out\n",
        noun(data.files, "file"),
        size(data.stage_in_bytes),
        size(data.between_bytes),
        size(data.out_bytes),
    );
    let path = &contents.critical_path;
    let mut shown: Vec<&str> = path.iter().take(PATH).map(String::as_str).collect();
    if path.len() > PATH {
        shown.push("...");
    }
    let path = format!("{}: {}", noun(path.len() as u64, "task"), shown.join(" > "));
    let lines = wrapped(&path, ROOM).join("\n                ");
    text + &format!(" critical path  {lines}\n\n{}", types(contents))
}

fn types(contents: &WorkflowContents) -> String {
    let rows = contents.types.iter().map(|of| {
        let places = decimals([Some(of.runtime_s.mean), Some(of.runtime_s.median)]);
        let secs = |value: f64| number(Some(value), places);
        let (first, last) = of.levels;
        let levels = if first == last { first.to_string() } else { format!("{first}-{last}") };
        let procs = if of.procs.min < of.procs.max {
            format!("{}-{}", of.procs.min, of.procs.max)
        } else {
            of.procs.max.to_string()
        };
        let time = &of.runtime_s;
        let times = [time.min, time.median, time.p90, time.max].map(secs);
        let sizes =
            [&of.read_bytes, &of.written_bytes].map(|of| [of.median, of.max].map(|bytes| size(bytes as u64)));
        [of.kind.clone(), levels, count(of.tasks), procs]
            .into_iter()
            .chain(times)
            .chain(sizes.concat())
            .collect()
    });
    let header = [
        "type",
        "level",
        "tasks",
        "procs",
        "run time (s) min",
        "median",
        "p90",
        "max",
        "reads median",
        "max",
        "writes median",
        "max",
    ];
    text_table(1, &header, rows)
}

/// Describes what a grouping makes of a workflow: before and after.
pub fn grouping_table(before: &WorkflowContents, grouping: &GroupingContents) -> String {
    let (after, tasks) = (&grouping.grouped, &grouping.tasks);
    let head = format!(
        "grouped by {}: {} of {} tasks, {} of one; {} of {} never leave a group\n\n",
        grouping.by,
        noun(after.tasks, "group"),
        match (tasks.min as u64, tasks.max as u64) {
            (least, most) if least == most => count(most),
            (least, most) => format!("{} to {}", count(least), count(most)),
        },
        count(grouping.single),
        size(grouping.internal_bytes),
        noun(grouping.internal_files, "file"),
    );
    let both = |label: &str, value: &dyn Fn(&WorkflowContents) -> String| {
        vec![label.to_owned(), value(before), value(after)]
    };
    let rows = [
        both("tasks or groups", &|of| count(of.tasks)),
        both("processors of the largest", &|of| {
            count(of.types.iter().map(|of| of.procs.max as u64).max().unwrap_or_default())
        }),
        both("levels", &|of| count(of.levels)),
        both("at most at one level", &|of| count(of.width)),
        both("edges", &|of| count(of.edges)),
        both("critical path", &|of| duration(of.critical_path_s)),
        both("with data", &|of| duration(of.critical_path_with_data_s)),
        both("data between them", &|of| size(of.data.between_bytes)),
    ];
    head + &text_table(1, &["", "before", "after"], rows)
}

/// Describes the workflows of one file, each with its submission in seconds from the first.
pub fn workflows_table(name: &str, workflows: &[(f64, WorkflowContents)]) -> String {
    let tasks = workflows.iter().map(|(_, of)| of.tasks).sum();
    let span = workflows.iter().map(|(submit, _)| *submit).fold(0.0, f64::max);
    let quantity = |value: &dyn Fn(&WorkflowContents) -> f64| {
        Quantity::of(workflows.iter().map(|(_, of)| libm::round(value(of) * 1e3) as u64), 1e3)
    };
    let rows = [
        ("tasks", quantity(&|of| of.tasks as f64)),
        ("levels", quantity(&|of| of.levels as f64)),
        ("tasks at the widest level", quantity(&|of| of.width as f64)),
        ("run time in all (s)", quantity(&|of| of.runtime_s)),
        ("critical path (s)", quantity(&|of| of.critical_path_s)),
    ]
    .map(|(label, of)| {
        let places = decimals([Some(of.mean), Some(of.median)]);
        let figures = [of.min, of.mean, of.median, of.p90, of.max].map(|figure| number(Some(figure), places));
        [label.to_owned()].into_iter().chain(figures).collect()
    });
    let head = format!(
        "{name}: {} of {} in {}\n\n",
        noun(workflows.len() as u64, "workflow"),
        noun(tasks, "task"),
        duration(span)
    );
    head + &text_table(1, &["of a workflow", "min", "mean", "median", "p90", "max"], rows)
}
