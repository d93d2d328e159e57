//! `gridemu report`

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

use super::{say, talk};
use crate::experiment::RunError;
use crate::metrics::StudyTable;
use crate::model::JobClasses;
use crate::report::RunFolder;
use crate::report::charts::Theme;
use crate::report::page::{Report, ReportError, ReportOptions};

const EXAMPLES: &str = "\
Examples:
  gridemu run configs/quickstart.toml --out results && gridemu report results
  gridemu report results --out results.html --svg figures --png figures
  gridemu report results/easy results/conservative";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Folders of runs (of replays, of Batsim), the store of a campaign, or its table results.csv; several runs are shown side by side
    #[arg(value_name = "DIR|STORE|results.csv", required = true)]
    paths: Vec<PathBuf>,

    /// The page [default: report.html in the first folder]
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,

    /// Also write each picture as SVG to this folder
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,

    /// Also write each picture as PNG to this folder
    #[arg(long, value_name = "DIR")]
    png: Option<PathBuf>,

    /// Light or dark [default: the page follows the reader's system, pictures are light]
    #[arg(long, value_enum)]
    theme: Option<ThemeArg>,

    /// Measures of a campaign that are drawn, by their columns; may be repeated [default: the first six]
    #[arg(long = "measure", value_name = "ID")]
    measures: Vec<String>,

    /// The axis of a campaign that curves go along [default: the one with the most numbers]
    #[arg(long, value_name = "AXIS")]
    along: Option<String>,

    /// The two measures of a campaign's Pareto front, such as `mean_wait,cost`
    #[arg(long, value_name = "ID,ID", value_parser = pair)]
    pareto: Option<(String, String)>,

    /// The axis of a campaign within each of whose values Pareto fronts are drawn [default: `load`, if there is one]
    #[arg(long, value_name = "AXIS")]
    within: Option<String>,

    /// Job classes, instead of those of the run: none, kettimuthu-16, kettimuthu-4, kanavallil, huang-1 or huang-2
    #[arg(long, value_name = "PRESET")]
    classes: Option<JobClasses>,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum ThemeArg {
    Light,
    Dark,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let options = ReportOptions {
        classes: args.classes.clone(),
        theme: args.theme.map(|theme| match theme {
            ThemeArg::Light => Theme::Light,
            ThemeArg::Dark => Theme::Dark,
        }),
        measures: args.measures.clone(),
        along: args.along.clone(),
        pareto: args.pareto.clone(),
        within: args.within.clone(),
        unkept: false,
    };
    let report = match &args.paths[..] {
        [only] if study(only).is_some() => {
            let table = read_study(&study(only).unwrap_or_default())?;
            Report::of_study(&table, &options).map_err(refused)?
        }
        paths => {
            if let Some(study) = paths.iter().find(|path| study(path).is_some()) {
                return Err(RunError::request(format!(
                    "`{}` is a campaign: its report has a page of its own",
                    study.display()
                ))
                .with_hint("give it alone, or give folders of runs"));
            }
            let mut folders = Vec::new();
            for path in paths {
                folders.extend(RunFolder::all_in(path).map_err(ReportError::from).map_err(refused)?);
            }
            Report::of_runs(&folders, &options).map_err(refused)?
        }
    };
    let out = args.out.clone().unwrap_or_else(|| beside(&args.paths[0]));
    report.write_html(&out).map_err(failed)?;
    say(&format!("{}\n", out.display()))?;
    for (folder, written) in [
        (&args.svg, args.svg.as_deref().map(|folder| report.write_svg(folder))),
        (&args.png, args.png.as_deref().map(|folder| report.write_png(folder))),
    ] {
        if let (Some(folder), Some(written)) = (folder, written) {
            let written = written.map_err(failed)?;
            talk(&format!("{} pictures in {}", written.len(), folder.display()));
        }
    }
    Ok(())
}

/// `--report` of a run: where the page goes, and a folder for the files of the run if it keeps none.
pub(super) struct Asked {
    page: PathBuf,
    scratch: Option<Scratch>,
}

/// A folder that is removed in the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nobody is told of a folder that nobody was told of.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Asked {
    /// What `--report` or `--report=FILE` of a run with the output folder `out` asks for.
    pub(super) fn of(asked: Option<&Path>, out: Option<&Path>) -> Result<Self, RunError> {
        let named = |default: PathBuf| asked.map_or(default, Path::to_owned);
        if let Some(out) = out {
            return Ok(Self { page: named(out.join("report.html")), scratch: None });
        }
        let folder = std::env::temp_dir().join(format!("gridemu-report-{}", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| {
            RunError::request(format!("cannot create the folder `{}`: {error}", folder.display()))
                .with_hint("say where the files of the run go: `--out DIR`")
        })?;
        Ok(Self { page: named(PathBuf::from("report.html")), scratch: Some(Scratch(folder)) })
    }

    /// The folder for the files of the run, if it keeps none itself.
    pub(super) fn scratch(&self) -> Option<&Path> {
        self.scratch.as_ref().map(|scratch| scratch.0.as_path())
    }

    /// Writes the page of the runs in these folders.
    pub(super) fn write(&self, folders: &[PathBuf]) -> Result<(), RunError> {
        let opened: Result<Vec<RunFolder>, _> =
            folders.iter().map(|folder| RunFolder::open(folder)).collect();
        let opened = opened.map_err(ReportError::from).map_err(failed)?;
        let options = ReportOptions { unkept: self.scratch.is_some(), ..ReportOptions::default() };
        Report::of_runs(&opened, &options).map_err(failed)?.write_html(&self.page).map_err(failed)?;
        talk(&format!("the report is in {}", self.page.display()));
        Ok(())
    }
}

/// The table of a study: the file itself, or the one that a campaign keeps in its store.
fn study(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        let table = path.join("results.csv");
        return (table.is_file() && !path.join("summary.json").is_file()).then_some(table);
    }
    let mut first = String::new();
    let file = File::open(path).ok()?;
    BufReader::new(file).take(10).read_line(&mut first).ok()?;
    first.starts_with("run,").then(|| path.to_owned())
}

fn read_study(path: &Path) -> Result<StudyTable, RunError> {
    let fail = |problem: String| {
        RunError::request(format!("`{}`: {problem}", path.display()))
            .with_hint("give the store of a campaign, or the table that `gridemu campaign --out` has written")
    };
    let file = File::open(path).map_err(|error| fail(format!("cannot be read: {error}")))?;
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // The table of a store is called `results`: the store says what it is of.
    let folder = path.parent().and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
    let name = if name == "results" { folder.filter(|name| !name.is_empty()).unwrap_or(name) } else { name };
    StudyTable::read_csv(&name, BufReader::new(file)).map_err(|error| fail(error.to_string()))
}

fn pair(written: &str) -> Result<(String, String), String> {
    let (x, y) = written.split_once(',').ok_or("two measures are wanted, such as `mean_wait,cost`")?;
    Ok((x.trim().to_owned(), y.trim().to_owned()))
}

/// Where the page goes if nobody says it: into the folder, or beside the file.
fn beside(path: &Path) -> PathBuf {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    folder.join("report.html")
}

fn refused(error: ReportError) -> RunError {
    RunError::request(&error).with_maybe_hint(error.hint())
}

fn failed(error: ReportError) -> RunError {
    RunError::run(&error).with_maybe_hint(error.hint())
}
