//! `gridemu inspect`

use clap::Args as ClapArgs;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::replay::ShapingArgs;
use super::{progress, say, talk};
use crate::experiment::{Progress, RunError, Workload};
use crate::model::JobClasses;
use crate::workload::{Census, Contents, HourReference, Quantity};

/// Characters of the longest bar.
const BAR: f64 = 40.0;

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// A log, `-` for standard input, or a generator: `lublin[jobs=N,...]`
    #[arg(value_name = "FILE|lublin[...]")]
    workload: Workload,

    #[command(flatten)]
    shaping: ShapingArgs,

    /// Job classes: none, kettimuthu-16, kettimuthu-4, kanavallil, huang-1 or huang-2
    #[arg(long, value_name = "PRESET", default_value = "kettimuthu-4")]
    classes: JobClasses,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let progress = Progress::default();
    let (contents, name, notes) = progress::shown("reading", &progress, || count(args, &progress))?;
    notes.iter().for_each(|note| talk(&format!("note: {note}")));
    if args.json {
        let text = serde_json::to_string_pretty(&contents).map_err(RunError::run)?;
        return say(&text);
    }
    say(&table(&name, &contents))
}

fn count(args: &Args, progress: &Progress) -> Result<(Contents, String, Vec<String>), RunError> {
    let mut opened = args.workload.open(&args.shaping.shaping(), progress)?;
    let start = opened.header.as_ref().and_then(|header| header.unix_start());
    let mut census = Census::new(opened.procs, args.classes.clone(), start);
    // A broken log is told, with its place; what came before it is not shown, since it is not what is in the file.
    while let Some(job) = opened.source.next_job().map_err(|error| RunError::from_reading(&error))? {
        census.add(&job);
    }
    let contents =
        census.contents().ok_or_else(|| RunError::request(format!("`{}` has no jobs", opened.name)))?;
    Ok((contents, opened.name, opened.source.notes()))
}

fn table(name: &str, contents: &Contents) -> String {
    let mut text = format!(
        "{name}: {} jobs of {} users in {:.1} days, on {} processors\n",
        contents.jobs,
        contents.users,
        contents.span / 86_400.0,
        contents.machine
    );
    if let Some(load) = contents.offered_load {
        text += &format!(
            "Offered load {load:.3} (processors × run time, over {} processors × the span of submissions)\n",
            contents.machine
        );
    }
    text += &format!(
        "Serial jobs {:.1} %, powers of two {:.1} %; exact estimates {:.1} %, exceeded {:.1} %\n\n",
        contents.sizes.serial * 100.0,
        contents.sizes.power_of_two * 100.0,
        contents.exact_estimates * 100.0,
        contents.exceeded_estimates * 100.0
    );
    text += &quantities(contents);
    if contents.by_class.len() > 1 {
        text += "\n\n";
        text += &classes(contents);
    }
    text + "\n\n" + &hours(contents)
}

fn quantities(contents: &Contents) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "min", "mean", "median", "p90", "max", "cv"]);
    let rows: [(&str, &Quantity); 5] = [
        ("processors", &contents.sizes.processors),
        ("run time (s)", &contents.runtimes),
        ("estimate (s)", &contents.estimates),
        ("run time / estimate", &contents.accuracy),
        ("inter-arrival (s)", &contents.interarrivals),
    ];
    for (label, quantity) in rows {
        let numbers = [quantity.min, quantity.mean, quantity.median, quantity.p90, quantity.max, quantity.cv];
        let mut row = vec![label.to_owned()];
        row.extend(numbers.iter().map(|number| figure(*number)));
        table.add_row(row);
    }
    right_but_first(&mut table);
    table.to_string()
}

fn classes(contents: &Contents) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header([contents.classes.as_str(), "jobs", "% of jobs", "% of work"]);
    for class in &contents.by_class {
        table.add_row([
            class.class.clone(),
            class.jobs.to_string(),
            format!("{:.2}", class.share * 100.0),
            format!("{:.2}", class.work_share * 100.0),
        ]);
    }
    right_but_first(&mut table);
    table.to_string()
}

fn hours(contents: &Contents) -> String {
    let from = match contents.arrivals.reference {
        HourReference::Utc => "UTC",
        HourReference::LogStart => "since the start of the log, modulo a day",
    };
    let most = contents.arrivals.shares.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let mut text = format!("Arrivals by hour ({from}), % of jobs\n");
    for (hour, share) in contents.arrivals.shares.iter().enumerate() {
        let bar = "█".repeat((share / most * BAR).round() as usize);
        text += &format!("  {hour:02} {:5.2} {bar}\n", share * 100.0);
    }
    text
}

fn right_but_first(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// Whole numbers as such, others with about four significant digits.
fn figure(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format!("{number:.0}")
    } else if number.abs() >= 100.0 {
        format!("{number:.1}")
    } else {
        format!("{number:.3}")
    }
}
