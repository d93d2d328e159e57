//! `gridemu report`

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, ValueEnum};

use super::{say, talk};
use crate::experiment::RunError;
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
        ..ReportOptions::default()
    };
    let mut folders = Vec::new();
    for path in &args.paths {
        folders.extend(RunFolder::all_in(path).map_err(ReportError::from).map_err(refused)?);
    }
    let report = Report::of_runs(&folders, &options).map_err(refused)?;
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

/// Where the page goes if nobody says it: into the folder, or beside the file.
fn beside(path: &Path) -> PathBuf {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    folder.join("report.html")
}

fn refused(error: ReportError) -> RunError {
    told(RunError::request(&error), &error)
}

fn failed(error: ReportError) -> RunError {
    told(RunError::run(&error), &error)
}

fn told(run: RunError, error: &ReportError) -> RunError {
    match error.hint() {
        Some(hint) => run.with_hint(hint),
        None => run,
    }
}
