//! A campaign that has been read and checked: its runs, each with the key of its result.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use super::file::CampaignFile;
use super::key::Contents;
use super::{Shard, about, measures};
use crate::experiment::RunError;
use crate::experiment::workload::Logs;
use crate::grid::Policies;
use crate::scenario::{Engine, Override, Scenario};
use crate::study::MeasureInfo;
use crate::units::counted;

/// The largest number of runs of a campaign.
const MOST_RUNS: u64 = 1_000_000;

/// A campaign that is ready to run.
#[derive(Debug)]
pub struct Campaign {
    pub(super) file: CampaignFile,
    /// The command that was typed.
    pub(super) command: String,
    pub(super) policies: Policies,
    runs: Vec<PlannedRun>,
    /// The logs that its runs read.
    pub(super) logs: Logs,
}

/// A planned run of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// The number of the run, from 1: seeds vary fastest, then the last axis.
    pub run: u64,
    /// Its value on each axis, as shown.
    pub point: Vec<String>,
    /// The seed of its random draws.
    pub seed: u64,
    /// The hash of its resolved scenario.
    pub scenario_hash: u128,
    /// True if anything in it is drawn from its seed; otherwise every seed gives the same run.
    pub drawn: bool,
    /// The hash of everything that its result depends on: the scenario, the logs that it reads, and the version of gridemu.
    pub key: u128,
}

impl Campaign {
    /// Reads the campaign of `file`, with the overrides `sets` of its scenario, and resolves each of its runs.
    ///
    /// # Errors
    /// `RunErrorKind::Request` with all problems of the first invalid run, with their places: an axis with an unknown key,
    /// a value that the key does not accept, an unknown measure, a log that is missing.
    pub fn load(file: &Path, sets: &[Override], policies: &Policies) -> Result<Self, RunError> {
        let campaign = Self::resolved(file, sets, policies)?;
        measures::check(&campaign)?;
        Ok(campaign)
    }

    /// The measures that the campaign of `file` can request, independent of what it requests now: all that its runs have,
    /// as far as they are known beforehand.
    ///
    /// # Errors
    /// As [`Campaign::load`].
    pub fn measures_of(
        file: &Path,
        sets: &[Override],
        policies: &Policies,
    ) -> Result<Vec<MeasureInfo>, RunError> {
        let ids = measures::all(&Self::resolved(file, sets, policies)?)?;
        Ok(ids.iter().map(|id| MeasureInfo::of(id)).collect())
    }

    fn resolved(file: &Path, sets: &[Override], policies: &Policies) -> Result<Self, RunError> {
        let mut read = CampaignFile::load(file)?;
        for set in sets {
            let mut axes = read.axes.iter().chain(&read.by_seed);
            let varied = axes.find(|axis| axis.keys().any(|key| key == set.key()));
            if let Some(axis) = varied {
                let problem =
                    format!("`{}` is what the axis `{}` of {} varies", set.key(), axis.name, file.display());
                return Err(RunError::request(problem).with_hint("change the axis in the file"));
            }
        }
        if let Some(set) = sets.iter().find(|set| set.key() == "seed")
            && let Some((_, place)) = &read.seeds
        {
            let problem = format!("`{}` has no effect: the seeds are those of {place}", set.typed_again());
            let hint = "change `seeds` in the file, such as `seeds = [4]`; without it, `--set seed=4` counts";
            return Err(RunError::request(problem).with_hint(hint));
        }
        read.fixed.extend(sets.iter().cloned());
        let command = about::command(file, sets);
        let (policies, runs, logs) = (policies.clone(), Vec::new(), Logs::default());
        let mut campaign = Self { file: read, command, policies, runs, logs };
        let count = campaign.count()?;
        let contents = Contents::default();
        // All runs are resolved, so that the error is that of the first invalid one, whichever thread finds one first.
        let runs: Vec<Result<PlannedRun, RunError>> =
            (1..=count).into_par_iter().map(|run| campaign.plan(run, &contents)).collect();
        campaign.runs = runs.into_iter().collect::<Result<_, _>>()?;
        measures::begin_with_workflows(&mut campaign)?;
        Ok(campaign)
    }

    /// The same campaign with more measures in its tables: the `wanted` ones, and those of `more` that its runs have. Its results are
    /// the same.
    ///
    /// # Errors
    /// Names a wanted measure that no run has.
    pub fn with_measures(mut self, more: &[&str], wanted: &[String]) -> Result<Self, RunError> {
        measures::add(&mut self, more, wanted)?;
        Ok(self)
    }

    /// Checks that its runs have these measures, in which a `*` stands for any name.
    ///
    /// # Errors
    /// Names one that no run has.
    pub fn check_measures(&self, wanted: &[String]) -> Result<(), RunError> {
        if wanted.is_empty() { Ok(()) } else { measures::check_wanted(self, wanted).map(|_| ()) }
    }

    /// The name of the campaign, under which its results are kept.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// The arguments of gridemu that were typed, as words for a shell: `campaign /home/me/study.toml --set seed=9`.
    pub fn arguments(&self) -> &str {
        self.command.strip_prefix(about::PROGRAM).unwrap_or(&self.command)
    }

    /// The names of the axes, without the seed.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.file.axes.iter().map(|axis| axis.name.as_str())
    }

    /// The requested measures, with `*` for any name.
    pub fn measures(&self) -> impl Iterator<Item = &str> {
        self.file.measures.iter().map(|wanted| wanted.id.as_str())
    }

    /// The labels on an axis, in order.
    pub(crate) fn labels(&self, axis: usize) -> Vec<String> {
        self.file.axes[axis].places.iter().map(|place| place.label.clone()).collect()
    }

    /// Its runs, in order.
    pub fn runs(&self) -> &[PlannedRun] {
        &self.runs
    }

    /// The runs of a part, in order; with `None`, all of them. Points with the same scenario share one result, so all of
    /// them belong to the part of the first one.
    pub fn part(&self, shard: Option<Shard>) -> Vec<&PlannedRun> {
        let mut first: BTreeMap<u128, u64> = BTreeMap::new();
        let runs = self.runs.iter().filter(|run| {
            let first = *first.entry(run.key).or_insert(run.run);
            shard.is_none_or(|shard| shard.has(first))
        });
        runs.collect()
    }

    /// A line with the number of runs and what varies.
    pub fn line(&self) -> String {
        let axes = self.file.axes.iter().map(|axis| format!("{} {}", axis.places.len(), axis.name));
        let seeds = self.file.seeds.iter().map(|(seeds, _)| counted(seeds.len(), "seed"));
        let product: Vec<String> = axes.chain(seeds).collect();
        let each = self
            .file
            .by_seed
            .iter()
            .map(|axis| format!(", each with one of {} {}", axis.places.len(), axis.name));
        let each: String = each.collect();
        let of = if product.is_empty() { String::new() } else { format!(" ({}{each})", product.join(" x ")) };
        format!("{}{of}", counted(self.runs.len(), "run"))
    }

    /// The number of runs.
    fn count(&self) -> Result<u64, RunError> {
        let seeds = self.file.seeds.as_ref().map_or(1, |(seeds, _)| seeds.len());
        let sizes = self.file.axes.iter().map(|axis| axis.places.len()).chain([seeds]);
        let count = sizes.map(|size| size as u64).try_fold(1_u64, u64::checked_mul);
        count.filter(|count| *count <= MOST_RUNS).ok_or_else(|| {
            RunError::request(format!("the campaign has more than {MOST_RUNS} runs"))
                .with_hint("take fewer values or seeds, or split it into several campaigns")
        })
    }

    /// The positions of a run on the axes, and that of its seed.
    fn places(&self, run: u64) -> (Vec<usize>, usize) {
        let mut rest = run - 1;
        let mut next = |size: usize| {
            let place = rest % size as u64;
            rest /= size as u64;
            place as usize
        };
        let seed = next(self.file.seeds.as_ref().map_or(1, |(seeds, _)| seeds.len()));
        let mut places: Vec<usize> =
            self.file.axes.iter().rev().map(|axis| next(axis.places.len())).collect();
        places.reverse();
        (places, seed)
    }

    /// The overrides of a run, in order.
    fn sets(&self, run: u64) -> Vec<Override> {
        let (places, seed) = self.places(run);
        let mut sets = self.file.fixed.clone();
        for (axis, place) in self.file.axes.iter().zip(places) {
            sets.extend(axis.places[place].sets.iter().cloned());
        }
        for axis in &self.file.by_seed {
            sets.extend(axis.places[seed % axis.places.len()].sets.iter().cloned());
        }
        if let Some((seeds, at)) = &self.file.seeds {
            let seed = seeds[seed].to_string();
            sets.push(Override::written(("seed", at.clone()), (&seed, at.clone()), "".into()));
        }
        sets
    }

    /// The scenario of a run in this process: driven by the plain loop, at full speed, without files or snapshots.
    ///
    /// # Errors
    /// All problems of the scenario.
    pub(super) fn scenario(&self, run: u64) -> Result<Scenario, RunError> {
        let mut scenario = self.file.base.read(&self.sets(run), &self.policies)?;
        let resolved = &mut scenario.resolved;
        (resolved.engine, resolved.pace) = (Engine::Direct, None);
        (resolved.output.folder, resolved.checkpoint) = (None, None);
        Ok(scenario)
    }

    fn plan(&self, run: u64, contents: &Contents) -> Result<PlannedRun, RunError> {
        let (places, _) = self.places(run);
        let labels =
            self.file.axes.iter().zip(&places).map(|(axis, place)| axis.places[*place].label.clone());
        let point: Vec<String> = labels.collect();
        let planned = self.scenario(run).and_then(|scenario| {
            let key = contents.key(&scenario)?;
            let seed = scenario.resolved.grid.seed;
            let drawn = scenario.resolved.draws(&self.policies);
            Ok(PlannedRun { run, point: point.clone(), seed, scenario_hash: scenario.hash, drawn, key })
        });
        planned.map_err(|error| {
            let problem = error.to_string();
            // A problem with a value on an axis, or in the base scenario, need not name the point.
            let is_placed =
                problem.contains(", axis `") || problem.contains("\nhint: ") || error.hint().is_some();
            if is_placed || point.is_empty() {
                return error;
            }
            error.with_hint(format!("first in run {run}: {}", self.named(&point)))
        })
    }

    /// `policy=easy, load=0.7`.
    pub(super) fn named(&self, point: &[String]) -> String {
        let named = self.file.axes.iter().zip(point).map(|(axis, label)| format!("{}={label}", axis.name));
        named.collect::<Vec<_>>().join(", ")
    }
}
