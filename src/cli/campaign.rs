//! `gridemu campaign`

mod slurm;

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use self::slurm::{SlurmArgs, Typed};
use super::check::SetArgs;
use super::{progress, say, say_json, signals, talk};
use crate::experiment::{Progress, RunError};
use crate::grid::Policies;
use crate::model::did_you_mean;
use crate::output::files;
use crate::report::{measure_list, measure_overview, study_list, study_table};
use crate::study::campaign::{Campaign, CampaignOptions, CampaignRan, Shard};
use crate::study::{MeasureInfo, StudyTable, nearest_measure};
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  gridemu campaign configs/campaigns/backfilling.toml
  gridemu campaign configs/campaigns/backfilling.toml --list
  gridemu campaign configs/campaigns/backfilling.toml --list-measures
  gridemu campaign configs/campaigns/backfilling.toml --list-measures 'site.*.mean_*'
  gridemu campaign configs/campaigns/backfilling.toml --out results.csv --folders runs
  gridemu campaign configs/campaigns/backfilling.toml --shard 1/2 --store part-1
  gridemu campaign configs/campaigns/backfilling.toml --merge part-1 part-2
  gridemu campaign configs/campaigns/backfilling.toml --slurm --time-per-task '2 h'

Exit code 0: every run has a result. 1: some runs failed (their errors are in the table), or are missing after a merge. 2: nothing was run.";

/// Maximum number of failed runs that are listed individually.
const LISTED: usize = 5;

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The file of the campaign (see docs/campaigns.md)
    #[arg(value_name = "FILE")]
    campaign: PathBuf,

    #[command(flatten)]
    sets: SetArgs,

    /// Store the results in this folder, and do only the missing runs [default: NAME.campaign]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    /// Also write the table of all runs to this file: .csv, or .parquet
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Also write the files of each run (jobs.csv, summary.json, ...) to its own folder inside this one
    #[arg(long, value_name = "DIR", conflicts_with = "merge")]
    folders: Option<PathBuf>,

    /// Do only part I of N, in its own store; `--merge` joins the parts
    #[arg(long, value_name = "I/N", conflicts_with = "merge")]
    shard: Option<Shard>,

    /// Take over the results of these stores; runs nothing
    #[arg(long, value_name = "STORE", num_args = 1..)]
    merge: Vec<PathBuf>,

    /// Parallel runs [default: number of cores]
    #[arg(long, value_name = "N", conflicts_with = "merge", value_parser = super::threads)]
    threads: Option<u16>,

    /// List the runs and which of them have a result; runs nothing
    #[arg(long, visible_alias = "dry-run", conflicts_with = "merge")]
    list: bool,

    /// List the measures that `measures` can name, or those with PATTERN in their names or descriptions (`*` for any name); runs
    /// nothing
    #[arg(long, value_name = "PATTERN", num_args = 0..=1, conflicts_with_all = ["merge", "list", "shard", "out", "folders"])]
    list_measures: Option<Option<String>>,

    /// Print the table of all runs as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    slurm: SlurmArgs,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    if let Some(out) = &args.out {
        check_out(out)?;
    }
    if let Some(pattern) = &args.list_measures {
        let found = Campaign::measures_of(&args.campaign, &args.sets.overrides(), policies)?;
        return list_measures(found, pattern.as_deref(), args.json);
    }
    let campaign = Campaign::load(&args.campaign, &args.sets.overrides(), policies)?;
    let store = args.store.clone().unwrap_or_else(|| default_store(campaign.name(), args.shard));
    if !args.json {
        talk(&format!("{}: {}", args.campaign.display(), campaign.line()));
    }
    if args.list {
        return list(args, &campaign, &store);
    }
    if args.slurm.slurm {
        let (folders, out) = (args.folders.as_deref(), args.out.as_deref());
        let typed = Typed { store: &store, folders, out, threads: args.threads };
        return slurm::write(&args.slurm, &campaign, &typed);
    }
    let options = CampaignOptions {
        threads: args.threads.map(usize::from),
        shard: args.shard,
        folders: args.folders.clone(),
        ..CampaignOptions::new(store)
    };
    let ran = if args.merge.is_empty() {
        carry_out(&campaign, &options)?
    } else {
        let merged = campaign.merge(&args.merge, &options)?;
        talk(&merged.line());
        merged.campaign
    };
    if let Some(out) = &args.out {
        write(&ran.table, out)?;
    }
    if args.json {
        say_json(&ran.table)?;
    } else {
        say(&study_table(&ran.table))?;
        talk(&summary(&ran, &options));
    }
    failed(&ran)?;
    match (args.merge.is_empty(), ran.missing) {
        (false, 1..) => {
            let problem =
                format!("{} of {} have no result", ran.missing, counted(campaign.runs().len(), "run"));
            Err(RunError::run(problem)
                .with_hint("merge the other parts, too, or do these runs without `--merge`"))
        }
        _ => Ok(()),
    }
}

/// Lists measures: all of them, or those that match a pattern.
fn list_measures(all: Vec<MeasureInfo>, pattern: Option<&str>, json: bool) -> Result<(), RunError> {
    let matches = |info: &MeasureInfo| pattern.is_none_or(|pattern| info.matches(pattern));
    let (found, others): (Vec<_>, Vec<_>) = all.into_iter().partition(matches);
    if let (Some(pattern), []) = (pattern, &found[..]) {
        let near = did_you_mean(nearest_measure(pattern, others.iter().map(|info| info.id.as_str())));
        return Err(RunError::request(format!("no measure matches `{pattern}`{near}"))
            .with_hint("`--list-measures` alone lists all of them; `*` stands for any name"));
    }
    match (json, pattern) {
        (true, _) => say_json(&found),
        (_, Some(_)) => say(&measure_list(&found)),
        (_, None) => say(&measure_overview(&found)),
    }
}

/// Carries out the runs that have no result yet, with their progress on the terminal.
pub(super) fn carry_out(campaign: &Campaign, options: &CampaignOptions) -> Result<CampaignRan, RunError> {
    signals::stop_campaign(&options.control);
    let progress = Progress::default();
    progress::shown(campaign.name(), &progress, || campaign.run(options, &progress))
}

/// Default store of the results, in the working directory.
pub(super) fn default_store(name: &str, shard: Option<Shard>) -> PathBuf {
    let part = shard.map(|shard| format!("-{}", shard.to_string().replace('/', "-of-"))).unwrap_or_default();
    PathBuf::from(format!("{name}.campaign{part}"))
}

fn list(args: &Args, campaign: &Campaign, store: &Path) -> Result<(), RunError> {
    let there = if store.exists() { Some(campaign.table(store)?) } else { None };
    let listed = campaign.listed(campaign.part(args.shard).into_iter(), there.as_ref());
    if args.json { say_json(&listed) } else { say(&study_list(&listed)) }
}

/// Summary of what was done, with the path of the table.
fn summary(ran: &CampaignRan, options: &CampaignOptions) -> String {
    let mut line = format!("{} runs done", ran.ran);
    if ran.kept > 0 {
        line += &format!(", {} kept from before", ran.kept);
    }
    if let Some(shard) = options.shard {
        line = format!(
            "part {shard}: {line}; of the other parts {} runs have a result in this store",
            ran.others
        );
        if ran.missing > 0 {
            line += &format!(", and {} have none", ran.missing);
        }
    } else if ran.missing > 0 {
        line += &format!(", {} without a result", ran.missing);
    }
    let what = match ran.table.rows.len() {
        all if ran.missing == 0 => format!("the table of all {all} runs"),
        some => format!("the table of the {some} runs that have one"),
    };
    format!("{line}; {what} is `{}`", options.store.join("results.csv").display())
}

/// Reports failed runs as an error of the command, after all others are done.
pub(super) fn failed(ran: &CampaignRan) -> Result<(), RunError> {
    let failed: Vec<(u64, &str)> = ran.failed().collect();
    if failed.is_empty() {
        return Ok(());
    }
    let mut message = format!("{} of {} runs failed", failed.len(), ran.table.rows.len());
    for (run, why) in failed.iter().take(LISTED) {
        message += &format!("\n  run {run}: {why}");
    }
    if failed.len() > LISTED {
        message += &format!("\n  and {} more", failed.len() - LISTED);
    }
    Err(RunError::run(message).with_hint("the others are in the table; the same command tries these again"))
}

/// Rejects a table file that cannot be written, before any run starts.
fn check_out(out: &Path) -> Result<(), RunError> {
    let message = |message: String| Err(RunError::request(message));
    match out.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => {}
        Some("parquet") if cfg!(feature = "parquet") => {}
        Some("parquet") => {
            let message = "this gridemu was built without Parquet";
            return Err(RunError::request(message)
                .with_hint("write a .csv, or build it with `cargo build --release --features parquet`"));
        }
        _ => {
            return message(format!(
                "the name of the table `{}` must end in .csv or .parquet",
                out.display()
            ));
        }
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.filter(|folder| !folder.is_dir()) {
        Some(folder) => message(format!("there is no folder `{}` for `{}`", folder.display(), out.display())),
        None => Ok(()),
    }
}

fn write(table: &StudyTable, out: &Path) -> Result<(), RunError> {
    let fail =
        |error: &dyn std::fmt::Display| RunError::run(format!("cannot write `{}`: {error}", out.display()));
    let file = files::create(out).map_err(|error| fail(&error))?;
    #[cfg(feature = "parquet")]
    if out.extension().is_some_and(|ending| ending == "parquet") {
        return crate::study::write_parquet(table, file).map_err(|error| fail(&error));
    }
    table.write_csv(BufWriter::new(file)).map_err(|error| fail(&error))
}
