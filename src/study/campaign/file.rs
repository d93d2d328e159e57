//! The file of a campaign: a base scenario, and what varies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;

use super::axis::{Axis, AxisKeys};
use super::seeds::Seeds;
use super::sheet::Sheet;
use crate::experiment::RunError;
use crate::model::{did_you_mean, nearest};
use crate::output::files;
use crate::scenario::kind::key::keys;
use crate::scenario::kind::plain::Anything;
use crate::scenario::kind::reading::read;
use crate::scenario::tree::{Node, Path};
use crate::scenario::{Base, Override, Problem, ScenarioError};
use crate::study::StudyTable;

/// The measures of a campaign that names none; of one with workflows, after theirs.
pub(crate) const MEASURES: [&str; 6] =
    ["mean_wait", "p95_wait", "mean_response", "mean_bounded_slowdown", "utilization", "makespan"];

/// The contents of a campaign's file.
#[derive(Clone, Debug)]
pub(super) struct CampaignFile {
    /// The name of the campaign, under which its results are kept.
    pub(super) name: String,
    pub(super) base: Base,
    /// The overrides that are the same in all runs.
    pub(super) fixed: Vec<Override>,
    pub(super) axes: Vec<Axis>,
    /// What each seed has one value of.
    pub(super) by_seed: Vec<Axis>,
    /// The seeds, and their place in the file; `None` for the seed of the scenario.
    pub(super) seeds: Option<(Vec<u64>, String)>,
    pub(super) measures: Vec<Wanted>,
    /// True if each run is complete in itself (a terminating simulation), so that its means do not estimate a steady state.
    pub(super) finite: bool,
    /// The label with which comparisons compare the others of its axis.
    pub(super) baseline: Option<String>,
}

/// A requested measure: an id, with `*` for any name in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) id: String,
    /// File and line; empty for a default measure.
    pub(super) place: String,
}

keys! {
    /// A campaign: a scenario, and what varies.
    CampaignKeys, "a table of the keys of a campaign" {
        /// Name of the campaign.
        name: Option<String> => "the file's name";
        /// The path of a scenario file, or a table with the keys of one.
        scenario: Anything;
        /// Measures of the table.
        measures: Option<Vec<String>> => "common ones; of workflows first, if there are any";
        /// Seeds under which each point is run.
        seeds: Option<Seeds> => "the scenario's seed";
        /// True for terminating simulations: their means do not estimate a steady state.
        finite: bool = false;
        /// The label of an axis with which `gridemu compare` compares the others.
        baseline: Option<String> => "the first label";
        /// Keys that are the same in all runs.
        set: Option<Anything>;
        /// Axes of what varies.
        axis: Option<Vec<AxisKeys>>;
    }
}

impl CampaignFile {
    /// Reads the file, and the file of its scenario.
    ///
    /// # Errors
    /// The first problem with its place.
    pub(super) fn load(file: &FilePath) -> Result<Self, RunError> {
        let text = files::text(file).map_err(|error| {
            RunError::request(format!("cannot read `{}`: {error}", file.display()))
                .with_hint("give the file of a campaign, such as `configs/campaigns/backfilling.toml`")
        })?;
        Ok(Self::read(file, &text)?)
    }

    fn read(file: &FilePath, text: &str) -> Result<Self, ScenarioError> {
        let sheet = Sheet::parse(file, text)?;
        let top = Path::default();
        let root = &sheet.root;
        let keys: CampaignKeys = read(root, &sheet.origins).map_err(|error| match root.get("scenario") {
            None if root.get("site").is_some() => error.first_with_hint(
                "this looks like a scenario; `gridemu run` runs one, a campaign names it as its `scenario`",
            ),
            None => {
                error.first_with_hint("add `scenario = \"one-site.toml\"`, or a `[scenario]` with its keys")
            }
            Some(_) => error,
        })?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let name = keys.name.or(stem).unwrap_or_else(|| "campaign".to_owned());
        let usable = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
        if !usable(&name) {
            let problem = format!("`{name}` cannot be the name of the folder for the results");
            return Err(sheet.problem(&top.key("name"), problem).into());
        }
        let fixed = sheet.sets(&top.key("set"), "`[set]`")?;
        let axes = keys.axis.unwrap_or_default();
        let axes = axes.iter().enumerate().map(|(at, axis)| {
            let path = top.key("axis").item(at);
            let read = Axis::read(&sheet, &path, axis)?;
            check_name(&sheet, &path, &read)?;
            Ok(read)
        });
        let axes: Vec<Axis> = axes.collect::<Result<_, Problem>>()?;
        check_apart(&sheet, &axes, &fixed)?;
        if let (None, Some(at)) = (&keys.seeds, axes.iter().position(|axis| axis.with_seed)) {
            let path = top.key("axis").item(at).key("with_seed");
            let problem = sheet.problem(&path, "the campaign has no `seeds` that its values could go with");
            return Err(problem
                .with_hint("add `seeds = 30` at the top of the file, or a list of seeds")
                .into());
        }
        if let Some(Seeds(seeds)) = &keys.seeds
            && let Some(at) = axes.iter().position(|axis| axis.with_seed && seeds.len() < axis.places.len())
        {
            let (values, seeds) = (axes[at].places.len(), seeds.len());
            let problem = format!("there are {values} values for {seeds} seeds, so that some are never run");
            let path = top.key("axis").item(at);
            return Err(sheet
                .problem(&path, problem)
                .with_hint("give as many seeds as values, or a multiple")
                .into());
        }
        let (by_seed, axes): (Vec<Axis>, Vec<Axis>) = axes.into_iter().partition(|axis| axis.with_seed);
        if let Some(baseline) = &keys.baseline {
            check_baseline(&sheet, &axes, baseline)?;
        }
        let seeds_at = top.key("seeds");
        let seeds = keys.seeds.map(|Seeds(seeds)| {
            (seeds, format!("{}, `seeds`", sheet.origins.words(sheet.root.place_of(&seeds_at))))
        });
        if let (Some((_, place)), true) = (&seeds, fixed.iter().any(|set| set.key() == "seed")) {
            let problem = format!("this has no effect: the seeds are those of {place}");
            let problem = sheet.problem(&top.key("set").key("seed"), problem);
            return Err(problem.with_hint("remove it, or remove `seeds`").into());
        }
        let measures = match keys.measures {
            None => MEASURES.map(|id| Wanted { id: id.to_owned(), place: String::new() }).to_vec(),
            Some(ids) => wanted_measures(&sheet, &top.key("measures"), &ids)?,
        };
        let base = base(&sheet, &top.key("scenario"))?;
        Ok(Self {
            name,
            base,
            fixed,
            axes,
            by_seed,
            seeds,
            measures,
            finite: keys.finite,
            baseline: keys.baseline,
        })
    }
}

/// Reads the scenario: the path of a file, or a table.
fn base(sheet: &Sheet, path: &Path) -> Result<Base, ScenarioError> {
    if let Some(base) = sheet.inline(path) {
        return Ok(base);
    }
    let Some(written) = sheet.node(path).and_then(Node::text) else {
        let problem =
            "this must be the path of a scenario file, in quotes, or a table with the keys of a scenario";
        return Err(sheet.problem(path, problem).into());
    };
    let file = sheet.folder().join(written);
    if !file.is_file() {
        let problem = format!(
            "there is no scenario `{}`; paths are relative to the file that contains them",
            file.display()
        );
        return Err(sheet.problem(path, problem).into());
    }
    Base::load(&file)
}

fn wanted_measures(sheet: &Sheet, path: &Path, ids: &[String]) -> Result<Vec<Wanted>, Problem> {
    if ids.is_empty() {
        return Err(sheet.problem(path, "the list of measures is empty; name one, or remove the key"));
    }
    let mut seen = BTreeSet::new();
    let wanted = ids.iter().enumerate().map(|(at, id)| {
        let path = path.item(at);
        if !seen.insert(id) {
            return Err(sheet.problem(&path, format!("the measure `{id}` is there twice")));
        }
        let place = sheet.node(&path).map(|node| sheet.origins.words(node.at)).unwrap_or_default();
        Ok(Wanted { id: id.clone(), place })
    });
    wanted.collect()
}

/// Checks that the name of an axis differs from the columns that every table has.
fn check_name(sheet: &Sheet, path: &Path, axis: &Axis) -> Result<(), Problem> {
    let at = if sheet.node(&path.key("name")).is_some() { path.key("name") } else { path.key("key") };
    if axis.keys().any(|key| key == "seed") {
        let problem = "seeds cannot be an axis: runs of one seed are paired";
        return Err(sheet
            .problem(path, problem)
            .with_hint("write `seeds = 30` at the top of the file, or a list of seeds"));
    }
    if axis.name.is_empty() {
        return Err(sheet.problem(&at, "an axis needs a name: the column of the table"));
    }
    if StudyTable::has_column(&axis.name) {
        let problem = format!("every table has a column `{}`; give the axis another `name`", axis.name);
        return Err(sheet.problem(&at, problem));
    }
    Ok(())
}

/// Checks that an axis has the label of the baseline.
fn check_baseline(sheet: &Sheet, axes: &[Axis], baseline: &str) -> Result<(), Problem> {
    let labels: Vec<&str> =
        axes.iter().flat_map(|axis| axis.places.iter().map(|place| place.label.as_str())).collect();
    if labels.contains(&baseline) {
        return Ok(());
    }
    let problem = format!("no axis has a label `{baseline}`{}", did_you_mean(nearest(baseline, labels)));
    Err(sheet.problem(&Path::default().key("baseline"), problem))
}

/// Checks that names of axes are unique, and that no key is set twice.
fn check_apart(sheet: &Sheet, axes: &[Axis], fixed: &[Override]) -> Result<(), Problem> {
    let mut names = BTreeSet::new();
    let mut setters: BTreeMap<&str, &str> = BTreeMap::new();
    for (at, axis) in axes.iter().enumerate() {
        let path = Path::default().key("axis").item(at);
        if !names.insert(axis.name.as_str()) {
            let problem = format!("there are two axes `{}`; give one of them another `name`", axis.name);
            return Err(sheet.problem(&path, problem));
        }
        let keys: BTreeSet<&str> = axis.keys().collect();
        for key in keys {
            if let Some(other) = setters.insert(key, &axis.name) {
                let problem = format!("the axes `{other}` and `{}` both set `{key}`", axis.name);
                return Err(sheet.problem(&path, problem));
            }
        }
    }
    for set in fixed {
        if let Some(axis) = setters.get(set.key()) {
            let problem =
                format!("`{}` is what the axis `{axis}` varies; leave it out of `[set]`", set.key());
            return Err(sheet.problem(&Path::default().key("set").key(set.key()), problem));
        }
    }
    Ok(())
}
