//! `gridemu report`

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;
use tempfile::TempDir;

use super::figures::{FigureArgs, failed, refused};
use super::{runs_in, say, talk};
use crate::experiment::{RunError, network_of_workflows, scratch, submitted_workflows};
use crate::grid::Policies;
use crate::model::JobClasses;
use crate::output::RunFolder;
use crate::report::charts::Theme;
use crate::report::page::{Report, ReportError, ReportOptions};
use crate::scenario::listed;
use crate::study::{is_study, read_study, study_note};

const EXAMPLES: &str = "\
Examples:
  gridemu run configs/quickstart.toml --out results && gridemu report results
  gridemu report results --out results.html --svg figures --png figures
  gridemu report backfilling.campaign --pdf figures --width single       for a column of a paper
  gridemu report results/easy results/conservative";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Folders of runs (of replays, of Batsim), the store of a campaign, or its table results.csv; several runs are shown side by side
    #[arg(value_name = "DIR|STORE|results.csv", required = true)]
    paths: Vec<PathBuf>,

    /// The page [default: report.html in the first folder; for a table, its name with .html in the working directory]
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,

    #[command(flatten)]
    figures: FigureArgs,

    /// Measures of a campaign to draw, by their columns; may be repeated [default: the first six]
    #[arg(long = "measure", value_name = "ID")]
    measures: Vec<String>,

    /// The axis of a campaign along which curves run [default: the one with the most numbers]
    #[arg(long, value_name = "AXIS")]
    along: Option<String>,

    /// The two measures of a campaign's Pareto front, such as `mean_wait,cost`
    #[arg(long, value_name = "ID,ID", value_parser = pair)]
    pareto: Option<(String, String)>,

    /// The axis of a campaign within each of whose values Pareto fronts are drawn [default: `load`, if there is one]
    #[arg(long, value_name = "AXIS")]
    within: Option<String>,

    /// Job classes, instead of those of the run: none, kettimuthu-16, kettimuthu-32, kettimuthu-4, kettimuthu-estimates, kanavallil, huang-1, huang-2, or own ones such as
    /// `cuts[run=10 min/1 h/8 h,size=1/8/32]`
    #[arg(long, value_name = "CLASSES")]
    classes: Option<JobClasses>,

    /// The planning of a run whose front is drawn, by its number in fronts.csv [default: the one with most schedules]
    #[arg(long, value_name = "K")]
    planning: Option<u64>,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    args.figures.check()?;
    let options = ReportOptions {
        classes: args.classes.clone(),
        theme: args.figures.theme.map(Theme::from),
        measures: args.measures.clone(),
        along: args.along.clone(),
        pareto: args.pareto.clone(),
        within: args.within.clone(),
        planning: args.planning,
        ..ReportOptions::default()
    };
    let report = match &args.paths[..] {
        [only] if is_study(only) => {
            check_options(args, true)?;
            let options = ReportOptions { notes: study_note(only).into_iter().collect(), ..options };
            Report::of_study(&read_study(only)?, &options).map_err(refused)?
        }
        paths => {
            if let Some(study) = paths.iter().find(|path| is_study(path)) {
                return Err(RunError::request(format!(
                    "`{}` is a campaign: it has its own page",
                    study.display()
                ))
                .with_hint("give it alone, or give folders of runs"));
            }
            let mut folders = Vec::new();
            for path in paths {
                folders.extend(runs_in(path).map_err(ReportError::from).map_err(refused)?);
            }
            check_options(args, false)?;
            if args.planning.is_some() && folders.len() > 1 {
                return Err(RunError::request("`--planning` is for one run, and these are several")
                    .with_hint("give one folder"));
            }
            let options = with_workflows(options, &folders, policies);
            Report::of_runs(&folders, &options).map_err(refused)?
        }
    };
    let out = args.out.clone().unwrap_or_else(|| default_page(&args.paths[0]));
    report.write_html(&out).map_err(failed)?;
    say(&format!("{}\n", out.display()))?;
    args.figures.write(|folder, how| report.write_figures(folder, how))
}

/// `--report` of a run: the path of the page, and a temporary folder for the files of the run if it has no output folder.
pub(super) struct PageOfRun {
    page: PathBuf,
    scratch: Option<TempDir>,
}

impl PageOfRun {
    /// Parses `--report` or `--report=FILE`, if it is given, of a run with the output folder `out`.
    pub(super) fn requested(
        report: Option<&Option<PathBuf>>,
        out: Option<&Path>,
    ) -> Result<Option<Self>, RunError> {
        let Some(file) = report else { return Ok(None) };
        let default = out.map_or_else(|| PathBuf::from("report.html"), |out| out.join("report.html"));
        let page = file.clone().unwrap_or(default);
        check_page(&page)?;
        if out.is_some() {
            return Ok(Some(Self { page, scratch: None }));
        }
        Ok(Some(Self { page, scratch: Some(scratch("report")?) }))
    }

    /// The page at this path, of files that are kept.
    pub(super) const fn at(page: PathBuf) -> Self {
        Self { page, scratch: None }
    }

    /// Its path, if it is made of files that are kept.
    pub(super) fn of_kept_files(&self) -> Option<&PathBuf> {
        self.scratch.is_none().then_some(&self.page)
    }

    /// The temporary folder for the files of the run, if it has no output folder.
    pub(super) fn scratch(&self) -> Option<&Path> {
        self.scratch.as_ref().map(TempDir::path)
    }

    /// The error of a run that failed or was stopped, without what it left in the temporary folder, which is removed.
    pub(super) fn without_scratch(page: Option<&Self>, error: RunError) -> RunError {
        let left = error.left.filter(|_| page.and_then(Self::scratch).is_none());
        RunError { left, ..error }
    }

    /// Writes the page of the runs in these folders.
    pub(super) fn write(&self, folders: &[PathBuf], policies: &Policies) -> Result<(), RunError> {
        let opened: Result<Vec<RunFolder>, _> =
            folders.iter().map(|folder| RunFolder::open(folder)).collect();
        let opened = opened.map_err(ReportError::from).map_err(failed)?;
        let beside = self.page.parent().map(Path::to_owned);
        let options = ReportOptions { unkept: self.scratch.is_some(), beside, ..ReportOptions::default() };
        let options = with_workflows(options, &opened, policies);
        Report::of_runs(&opened, &options).map_err(failed)?.write_html(&self.page).map_err(failed)?;
        talk(&format!("the report is in {}", self.page.display()));
        Ok(())
    }
}

/// The same with the workflows of the run, if there is only one, and its network: a page draws some of them. If they cannot be read once more, a note
/// and the page say why.
fn with_workflows(options: ReportOptions, folders: &[RunFolder], policies: &Policies) -> ReportOptions {
    let [only] = folders else { return options };
    let (workflows, undrawn) = match submitted_workflows(only, policies) {
        Ok(workflows) => (workflows, None),
        Err(error) => {
            talk(&format!("note: workflows are not drawn: {error}"));
            (Vec::new(), Some(error.to_string()))
        }
    };
    let network = network_of_workflows(only, policies).unwrap_or_default();
    ReportOptions { workflows, undrawn, network, ..options }
}

/// Rejects a page that cannot be written, before the run starts.
fn check_page(page: &Path) -> Result<(), RunError> {
    if page.is_dir() {
        let hint = format!("give a file, such as `--report={}`", page.join("report.html").display());
        let message = format!("cannot write the page `{}`: it is a folder", page.display());
        return Err(RunError::request(message).with_hint(hint));
    }
    // Missing folders are made.
    match page.ancestors().skip(1).find(|folder| folder.exists()).filter(|folder| !folder.is_dir()) {
        Some(file) => Err(RunError::request(format!(
            "cannot write the page `{}`: `{}` is not a folder",
            page.display(),
            file.display()
        ))),
        None => Ok(()),
    }
}

fn pair(written: &str) -> Result<(String, String), String> {
    let (x, y) = written.split_once(',').ok_or("give two measures, such as `mean_wait,cost`")?;
    Ok((x.trim().to_owned(), y.trim().to_owned()))
}

/// Default path of the page: in the folder of a run or a campaign, but in the working directory for a table file, which may be
/// among unrelated files.
fn default_page(path: &Path) -> PathBuf {
    match path.file_stem().filter(|_| !path.is_dir()) {
        Some(stem) => PathBuf::from(stem).with_added_extension("html"),
        None => path.join("report.html"),
    }
}

/// Rejects options that only apply to the other kind of report.
fn check_options(args: &Args, of_study: bool) -> Result<(), RunError> {
    let of_studies = [
        ("--measure", !args.measures.is_empty()),
        ("--along", args.along.is_some()),
        ("--pareto", args.pareto.is_some()),
        ("--within", args.within.is_some()),
    ];
    let given: Vec<&str> = of_studies.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let first = args.paths[0].display();
    if of_study && args.classes.is_some() {
        let message =
            format!("`{first}` is a campaign, and `--classes` is for runs: a campaign's table has no jobs");
        return Err(RunError::request(message).with_hint(
            "set `classes` in the campaign's scenario and ask for measures such as `class.*.mean_wait`",
        ));
    }
    if of_study && args.planning.is_some() {
        let message =
            format!("`{first}` is a campaign, and `--planning` is for a run: a campaign keeps no fronts");
        return Err(RunError::request(message)
            .with_hint("run a variant of it with `gridemu run --out`, and report that folder"));
    }
    if !of_study && !given.is_empty() {
        let verb = if given.len() > 1 { "are" } else { "is" };
        let message =
            format!("`{first}` is a run, and {} {verb} for campaigns", listed(given.iter().copied()));
        return Err(RunError::request(message).with_hint(
            "leave it out, or give the store of a campaign or its results.csv; of a run there are `--classes`, `--planning`, `--svg`, `--png`, `--pdf`, `--width` and `--theme`",
        ));
    }
    Ok(())
}
