//! `gridemu compare`

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::campaign::{carry_out, default_store, failed};
use super::check::SetArgs;
use super::figures::FigureArgs;
use super::{say, say_json, talk};
use crate::experiment::RunError;
use crate::grid::Policies;
use crate::report::charts::Chart;
use crate::report::{comparison_figures, runs_contrasts, study_contrasts};
use crate::study::campaign::{Campaign, CampaignOptions};
use crate::study::comparison::Charge;
use crate::study::{
    CompareOptions, Comparison, check_question, compare, compare_campaign, is_campaign_file, study_note,
};

const EXAMPLES: &str = "\
Examples:
  gridemu replay log.swf.gz --policy fcfs --policy easy --out two
  gridemu compare two                                    two runs of one log, job by job
  gridemu compare before after --charge leave-out        two folders of `gridemu run --out`
  gridemu compare results.csv --by policy --where load=0.7 --baseline easy
  gridemu compare results.csv --measure mean_wait --json
  gridemu compare configs/campaigns/backfilling.toml     does what is missing of a campaign, and compares
  gridemu compare results.csv --baseline easy --pdf figures --width single";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Folders of runs, the first of them the baseline; or a campaign (its file, store or table)
    #[arg(value_name = "FOLDER|CAMPAIGN", required = true)]
    paths: Vec<PathBuf>,

    /// For a campaign: the axis to compare [default: the only one, or `policy`]
    #[arg(long, value_name = "AXIS")]
    by: Option<String>,

    /// The baseline: a label on the axis, or the name of a folder [default: `baseline` of the campaign, or the first]
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,

    /// For a campaign: only runs with this label on another axis; may be repeated
    #[arg(long = "where", value_name = "AXIS=LABEL", value_parser = axis_label)]
    only: Vec<(String, String)>,

    /// Only this measure; may be repeated
    #[arg(long = "measure", value_name = "MEASURE")]
    measures: Vec<String>,

    /// How to count jobs with different outcomes on the two sides; without it, there is no verdict where more than `--tolerance` have
    #[arg(long, value_enum, value_name = "HOW")]
    charge: Option<ChargeArg>,

    /// How many jobs of a pair may have different outcomes, in percent; the effect is then shown without and with them
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = share, conflicts_with = "charge")]
    tolerance: f64,

    /// Compare unstable runs (whose backlog grows) like others: each run is a whole piece of work
    #[arg(long)]
    finite: bool,

    /// For the file of a campaign: the folder of its results [default: NAME.campaign]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    #[command(flatten)]
    sets: SetArgs,

    /// Level of the intervals, in percent
    #[arg(long, value_name = "PERCENT", default_value = "95", value_parser = percent)]
    level: f64,

    /// Number of jobs with the largest differences to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,

    /// Seed of the draws of the bootstrap
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    figures: FigureArgs,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum ChargeArg {
    /// Leave them out of both sides; for a campaign, leave out the seeds with such jobs
    LeaveOut,
    /// On the side where a job did not run to its end, as if it had started at the end of the longer run
    ToTheEnd,
}

fn axis_label(text: &str) -> Result<(String, String), String> {
    let (axis, label) =
        text.split_once('=').ok_or("give an axis and one of its labels, such as `load=0.7`")?;
    Ok((axis.trim().to_owned(), label.trim().to_owned()))
}

fn percent(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "this is not a number")?;
    if percent > 0.0 && percent < 100.0 { Ok(percent / 100.0) } else { Err("between 0 and 100".to_owned()) }
}

fn share(text: &str) -> Result<f64, String> {
    let percent: f64 = text.parse().map_err(|_| "this is not a number")?;
    if (0.0..=100.0).contains(&percent) { Ok(percent / 100.0) } else { Err("from 0 to 100".to_owned()) }
}

pub(super) fn run(args: Args, policies: &Policies) -> Result<(), RunError> {
    args.figures.check()?;
    let sets = args.sets.overrides();
    let charge = args.charge.map(|charge| match charge {
        ChargeArg::LeaveOut => Charge::LeaveOut,
        ChargeArg::ToTheEnd => Charge::ToTheEnd,
    });
    let options = CompareOptions {
        by: args.by,
        baseline: args.baseline,
        only: args.only,
        measures: args.measures,
        charge,
        tolerance: args.tolerance,
        finite: args.finite,
        level: args.level,
        top: args.top,
        seed: args.seed,
    };
    let mut problem = Ok(());
    let found = match &args.paths[..] {
        [file] if is_campaign_file(file) => {
            let campaign = Campaign::load(file, &sets, policies)?;
            check_question(&campaign, &options)?;
            let store = args.store.unwrap_or_else(|| default_store(campaign.name(), None));
            let ran = carry_out(&campaign, &CampaignOptions::new(store.clone()))?;
            talk(&format!("{}: {}, {} done now", file.display(), campaign.line(), ran.ran));
            problem = failed(&ran);
            compare_campaign(campaign, &store, &options)?
        }
        _ if args.store.is_some() || !sets.is_empty() => {
            return Err(RunError::request("`--store` and `--set` are for the file of a campaign")
                .with_hint("give that file, such as `gridemu compare configs/campaigns/backfilling.toml`"));
        }
        paths => compare(paths, &options)?,
    };
    if let [only] = &args.paths[..]
        && let Some(note) = study_note(only)
    {
        talk(&format!("note: {note}"));
    }
    match &found {
        _ if args.json => say_json(&found)?,
        Comparison::Study(found) => say(&study_contrasts(found))?,
        Comparison::Runs(found) => say(&runs_contrasts(found))?,
    }
    args.figures.write(|folder, how| {
        let figures = comparison_figures(&found);
        how.write(folder, figures.iter().map(|(name, chart)| (name.as_str(), chart as &dyn Chart)))
    })?;
    problem
}
