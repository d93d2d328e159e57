//! `gridemu reproduce`

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::{progress, say, say_json, signals, talk};
use crate::experiment::{Control, Progress, RunError};
use crate::grid::Policies;
use crate::output::{files, hint_for};
use crate::report::{
    Against, PageFigure, ShownGains, StudyFigure, claims_page, claims_table, date_figures, gains_figure,
    heat_figures, pareto_figures, study_figures,
};
use crate::scenario::archive::VARIABLE;
use crate::scenario::shell_word;
use crate::study::claims::Expects;
use crate::study::reproduce::{ReproduceOptions, Reproduction, Shows, plain, reproduce};

const EXAMPLES: &str = "\
Examples:
  gridemu reproduce configs/papers/backfilling
  GRIDEMU_DATA=/data/logs gridemu reproduce configs/papers/backfilling     with the published logs in /data/logs
  gridemu reproduce configs/papers/backfilling --json --no-page

Exit code 0: every claim has a verdict, whatever it is. 1: some runs failed. 2: nothing was run, because of an error in the folder,
or because all that its campaigns read is missing; then no page is written.";

/// The folder of pages unless another is given.
const PAGES: &str = "docs/papers";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// The folder of a paper: `claims.toml`, and the campaigns that it names (see docs/papers.md)
    #[arg(value_name = "FOLDER")]
    paper: PathBuf,

    /// Store the results of its campaigns in this folder, and run only what is missing [default: NAME.paper]
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    /// Write its page and its figures to this folder
    #[arg(long, value_name = "DIR", default_value = PAGES)]
    pages: PathBuf,

    /// Write no page
    #[arg(long, conflicts_with = "pages")]
    no_page: bool,

    /// Parallel runs [default: number of cores]
    #[arg(long, value_name = "N", value_parser = super::threads)]
    threads: Option<u16>,

    /// Print the claims and their verdicts as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let store = args.store.clone().unwrap_or_else(|| default_store(&args.paper));
    let control = Control::new();
    signals::stop_campaign(&control);
    let options = ReproduceOptions { store, threads: args.threads.map(usize::from), control };
    let found = reproduce(&args.paper, &options, policies, |campaign, options| {
        talk(&format!("{}: {}", campaign.name(), campaign.line()));
        let progress = Progress::default();
        progress::shown(campaign.name(), &progress, || campaign.run(options, &progress))
    })?;
    for (campaign, why) in &found.missing {
        talk(&format!("note: {campaign} was not run: {why}"));
    }
    let nothing = found.tables.is_empty() && !found.missing.is_empty();
    let page = if args.no_page || nothing { None } else { Some(write_page(args, &found)?) };
    if args.json {
        say_json(&found)?;
    } else {
        say(&claims_table(&found.claims))?;
    }
    if let Some(page) = page {
        talk(&format!("the page is `{}`", page.display()));
    }
    match found.failed {
        _ if nothing => Err(RunError::request(
            "nothing was run, and no page was written: the files that its campaigns read are missing",
        )
        .with_hint(format!("set the environment variable {VARIABLE} to the folder of the archive"))),
        0 => Ok(()),
        failed => {
            Err(RunError::run(format!("{failed} runs failed; the claims that need them are undecided"))
                .with_hint(format!(
                    "their errors are in the tables `results.csv` below `{}`",
                    options.store.display()
                )))
        }
    }
}

/// Default store of the results, in the working directory.
fn default_store(paper: &Path) -> PathBuf {
    let name = paper.file_name().map_or_else(|| "paper".into(), |name| name.to_string_lossy());
    PathBuf::from(format!("{name}.paper"))
}

fn write_page(args: &Args, found: &Reproduction) -> Result<PathBuf, RunError> {
    let command = command(args, found.archive);
    let findings = fs::read_to_string(args.paper.join("findings.md")).ok();
    let figures = write_figures(&args.pages, found)?;
    let page = args.pages.join(format!("{}.md", found.name));
    write(&page, &claims_page(found, &command, &figures, findings.as_deref()))?;
    Ok(page)
}

/// The command that makes the page, as it is printed there.
fn command(args: &Args, archive: bool) -> String {
    let word = |path: &Path| shell_word(&path.display().to_string());
    let folder = if archive { format!("{VARIABLE}=/path/to/archive ") } else { String::new() };
    let pages = match args.pages == Path::new(PAGES) {
        true => String::new(),
        false => format!(" --pages {}", word(&args.pages)),
    };
    format!("{folder}gridemu reproduce {}{pages}", word(&args.paper))
}

/// Draws the figures of the measured results into a folder beside the page. Returns them as they stand on it.
fn write_figures(pages: &Path, found: &Reproduction) -> Result<Vec<PageFigure>, RunError> {
    let mut figures = Vec::new();
    let mut names = BTreeSet::new();
    for figure in &found.paper.figures {
        for StudyFigure { of, title, svg, table } in drawn(found, &figure.shows)? {
            let stem =
                if of.is_empty() { figure.name.clone() } else { format!("{}-{}", figure.name, plain(&of)) };
            // Numbers keep the files apart if one figure has the name of a part of another.
            let numbered = |number: u32| if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
            let free = (1..).map(numbered).find(|name| names.insert(name.to_ascii_lowercase()));
            let name = free.unwrap_or(stem);
            write(&pages.join(&found.name).join(format!("{name}.svg")), &svg)?;
            let also = |text: &str| if of.is_empty() { text.to_owned() } else { format!("{text} ({of})") };
            let (alt, caption) = (also(&title), also(&figure.caption));
            figures.push(PageFigure { path: format!("{}/{name}.svg", found.name), alt, caption, table });
        }
    }
    Ok(figures)
}

/// The charts of a figure; empty if its campaign was not run.
fn drawn(found: &Reproduction, shows: &Shows) -> Result<Vec<StudyFigure>, RunError> {
    let not_there = |campaign: &str, measure: &str, axis: &str| {
        let message = format!(
            "a figure of {campaign} names a measure (`{measure}`) or an axis (`{axis}`) that is not there"
        );
        RunError::request(message).with_hint("a figure names what its campaign has")
    };
    let titles = &found.paper.titles;
    match shows {
        Shows::Curves { campaign, measure, of, along, by, than, share } => {
            let Some(table) = found.tables.get(campaign) else { return Ok(Vec::new()) };
            let against = (!than.is_empty()).then(|| Against { than: than.clone(), share: *share });
            study_figures(table, of, measure, (along, by.as_deref()), against.as_ref(), titles)
                .ok_or_else(|| not_there(campaign, measure, along))
        }
        Shows::HeatMap { campaign, measure, of, by, than } => {
            let measured = found.tables.get(campaign).zip(found.classes.get(campaign));
            let Some((table, classes)) = measured else { return Ok(Vec::new()) };
            heat_figures(table, of, measure, (by, than), classes, titles)
                .ok_or_else(|| not_there(campaign, measure, by))
        }
        Shows::Dates { campaign, measure, of, by, than } => {
            let Some(table) = found.tables.get(campaign) else { return Ok(Vec::new()) };
            date_figures(table, of, measure, (by, than), titles)
                .ok_or_else(|| not_there(campaign, measure, by))
        }
        Shows::Pareto { campaign, measures: [x, y], of, among, than } => {
            let Some(table) = found.tables.get(campaign) else { return Ok(Vec::new()) };
            pareto_figures(table, of, [x, y], among, than, titles)
                .ok_or_else(|| not_there(campaign, &format!("{x}`, `{y}"), &among.join("`, `")))
        }
        Shows::Gains { claims, labels } => {
            let shown = |id: &String| {
                let at = found.claims.iter().position(|(claim, _)| claim.id == *id)?;
                let claim = &found.claims[at].0;
                let Expects::UpTo { published } = claim.expects else { return None };
                let name = labels.get(id).unwrap_or(&claim.id);
                let along = claim.along.as_deref().unwrap_or_default();
                Some(ShownGains { name, published, along, measured: found.measured.get(at)? })
            };
            let shown: Vec<ShownGains<'_>> = claims.iter().filter_map(shown).collect();
            let title = "greatest gains".to_owned();
            let figure = |svg| StudyFigure { of: String::new(), title, svg, table: String::new() };
            Ok(gains_figure(&shown).map(figure).into_iter().collect())
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), RunError> {
    let unwritten = |error: std::io::Error| {
        RunError::run(format!("`{}` cannot be written: {error}", path.display()))
            .with_hint(hint_for(error.kind()))
    };
    fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).map_err(unwritten)?;
    files::write(path, text).map_err(unwritten)
}
