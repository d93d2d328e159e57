//! `gridemu inspect`

use std::path::Path;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::figures::FigureArgs;
use super::replay::ShapingArgs;
use super::{progress, say, say_json, talk};
use crate::experiment::{Progress, RunError, is_workflow, open_workflows};
use crate::model::{JobClasses, Named};
use crate::report::{self, charts::Chart};
use crate::scenario::{Shaping, Workload};
use crate::units::{Bandwidth, Time};
use crate::workflow::grouping::{Group, Grouping, GroupingContents, GroupingRegistry};
use crate::workflow::{Workflow, WorkflowContents};
use crate::workload::{Census, Contents};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A log in SWF or CWF (plain or gzipped), a Batsim workload (.json), `-` for a log on standard input, or a generator:
    /// `lublin[jobs=N,...]`, `poisson[...]`, `cwf[...]`. Or workflows: a file in WfFormat (.json), DAX (.xml) or GWF (.gwf), plain or
    /// gzipped, or a generator: `montage[tasks=N]`, `epigenomics[...]`, `bag[...]`, `fork-join[...]`, `pipeline[...]`, `layered[...]`
    #[arg(value_name = "FILE|MODEL[...]")]
    workload: Workload,

    #[command(flatten)]
    shaping: ShapingArgs,

    /// Job classes: none, kettimuthu-16, kettimuthu-32, kettimuthu-4, kettimuthu-estimates, kanavallil, huang-1 or huang-2
    #[arg(long, value_name = "CLASSES", default_value = "kettimuthu-4")]
    classes: JobClasses,

    /// The bandwidth at which a workflow's data moves between tasks, such as `100 Mbit/s`
    #[arg(long, value_name = "RATE", default_value = "1 Gbit/s")]
    bandwidth: Bandwidth,

    /// Also say what grouping a workflow's tasks would give: horizontal[size=N], vertical, paul[fine=SPAN], level or pilot[procs=N]
    #[arg(long, value_name = "GROUPING")]
    group: Option<Named>,

    #[command(flatten)]
    figures: FigureArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The most workflows of a file that are drawn.
const DRAWN: usize = 100;

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    args.figures.check()?;
    if let Workload::File(path) = &args.workload
        && is_workflow(path)
    {
        return workflows(args, path);
    }
    let of_workflows = [("--group", args.group.is_some()), ("--svg`, `--png` or `--pdf", args.figures.any())];
    if let Some((key, _)) = of_workflows.iter().find(|(_, given)| *given) {
        let problem = format!("`{key}` is for workflows, and this is a log of jobs");
        return Err(RunError::request(problem).with_hint("leave it out"));
    }
    let progress = Progress::default();
    let (contents, name, notes) = progress::shown("reading", &progress, || count(args, &progress))?;
    notes.iter().for_each(|note| talk(&format!("note: {note}")));
    if args.json {
        return say_json(&contents);
    }
    say(&report::contents_table(&name, &contents))
}

fn count(args: &Args, progress: &Progress) -> Result<(Contents, String, Vec<String>), RunError> {
    let mut opened = args.workload.open(&args.shaping.shaping(), progress)?;
    let start = opened.header.as_ref().and_then(|header| header.unix_start());
    let mut census = Census::new(opened.procs, args.classes.clone(), start);
    // An invalid log is an error that names the place; jobs before it are not printed, since they are not the whole file.
    while let Some(job) = opened.source.next_job().map_err(RunError::from_reading)? {
        census.add(&job);
    }
    let contents =
        census.contents().ok_or_else(|| RunError::request(format!("`{}` has no jobs", opened.name)))?;
    Ok((contents, opened.name, opened.source.notes()))
}

/// A workflow, and what grouping makes of it.
#[derive(Serialize)]
struct Inspected {
    /// When it is submitted, if it is one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    submit_s: Option<f64>,
    #[serde(flatten)]
    contents: WorkflowContents,
    #[serde(skip_serializing_if = "Option::is_none")]
    grouping: Option<GroupingContents>,
}

/// What comes of `workflow` if `by`, as it was written, groups it.
fn grouped(
    workflow: &Workflow,
    by: &(Named, Box<dyn Group>),
    bandwidth: Bandwidth,
) -> Result<GroupingContents, RunError> {
    let (written, by) = by;
    let grouping = Grouping::of(workflow, &**by).map_err(RunError::request)?;
    Ok(GroupingContents::of(written.to_string(), workflow, &grouping, bandwidth))
}

fn workflows(args: &Args, path: &Path) -> Result<(), RunError> {
    let shaping = args.shaping.shaping();
    let seed = shaping.seed;
    if (Shaping { seed: Shaping::default().seed, ..shaping }) != Shaping::default() {
        let problem = "`--procs`, `--estimates`, `--clean`, `--cap`, `--load`, `--load-factor`, `--skip` and `--first` change jobs, not workflows";
        return Err(RunError::request(problem).with_hint("leave them out"));
    }
    if args.bandwidth == Bandwidth::ZERO {
        return Err(
            RunError::request("at a `--bandwidth` of 0 no data arrives").with_hint("give one above 0")
        );
    }
    let registry = GroupingRegistry::standard();
    let build = |written: &Named| registry.build(written).map(|by| (written.clone(), by));
    let by = args.group.as_ref().map(build).transpose().map_err(RunError::request)?;
    let opened = open_workflows(path, seed)?;
    opened.notes.iter().for_each(|note| talk(&format!("note: {note}")));
    draw(&args.figures, &opened.workflows)?;
    let several = opened.workflows.len() > 1;
    let inspect = |(submit, workflow): &(Time, Workflow)| {
        Ok(Inspected {
            submit_s: several.then(|| submit.as_secs_f64()),
            contents: WorkflowContents::of(workflow, args.bandwidth),
            grouping: by.as_ref().map(|by| grouped(workflow, by, args.bandwidth)).transpose()?,
        })
    };
    let all = opened.workflows.iter().map(inspect).collect::<Result<Vec<_>, RunError>>()?;
    match &all[..] {
        [one] if args.json => say_json(one),
        all if args.json => say_json(&all),
        [Inspected { contents, grouping, .. }] => {
            let text = report::workflow_table(&opened.name, contents);
            say(&match grouping {
                Some(grouping) => format!("{text}\n\n{}", report::grouping_table(contents, grouping)),
                None => text,
            })
        }
        all => {
            let table = |name: &str, of: &dyn Fn(&Inspected) -> Option<WorkflowContents>| {
                let rows = all.iter().filter_map(|one| Some((one.submit_s.unwrap_or(0.0), of(one)?)));
                report::workflows_table(name, &rows.collect::<Vec<_>>())
            };
            let mut text = table(&opened.name, &|one| Some(one.contents.clone()));
            if let Some((written, _)) = &by {
                let after = &|one: &Inspected| one.grouping.as_ref().map(|grouping| grouping.grouped.clone());
                text += &format!("\n\n{}", table(&format!("grouped by {written}"), after));
            }
            say(&text)
        }
    }
}

/// Draws each workflow, if figures are asked for.
fn draw(figures: &FigureArgs, workflows: &[(Time, Workflow)]) -> Result<(), RunError> {
    if !figures.any() {
        return Ok(());
    }
    if workflows.len() > DRAWN {
        let problem = format!("the file has {} workflows, and at most {DRAWN} are drawn", workflows.len());
        return Err(RunError::request(problem).with_hint("take some of them into a file of their own"));
    }
    let mut charts = Vec::with_capacity(workflows.len());
    for (number, (_, workflow)) in (1..).zip(workflows) {
        let name = if workflows.len() > 1 { format!("workflow-{number}") } else { "workflow".to_owned() };
        let Some(chart) = report::workflow_figure(workflow, None) else {
            let problem =
                format!("`{}` has too many tasks and too many types of task to draw it", workflow.name());
            return Err(
                RunError::request(problem).with_hint("draw a workflow of at most 300 tasks or 300 types")
            );
        };
        charts.push((name, chart));
    }
    figures.write(|folder, how| {
        how.write(folder, charts.iter().map(|(name, chart)| (&**name, chart as &dyn Chart)))
    })
}
