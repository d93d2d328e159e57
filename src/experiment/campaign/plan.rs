//! A campaign that has been read and checked: its runs, each with the key of its result.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use super::axis::Axis;
use super::file::{CampaignFile, Wanted};
use super::key::Contents;
use super::{Shard, about, measures};
use crate::broker::BrokerRegistry;
use crate::experiment::RunError;
use crate::experiment::scenario::{Base, Clock, Engine, Override, Scenario};
use crate::experiment::workload::Logs;
use crate::local::Registry;
use crate::metrics::MeasureInfo;

/// Runs that a campaign may have.
const MOST_RUNS: u64 = 1_000_000;

/// A campaign that can be run.
#[derive(Debug)]
pub struct Campaign {
    name: String,
    /// What was typed to have it.
    pub(super) command: String,
    base: Base,
    /// What is the same in all runs.
    fixed: Vec<Override>,
    axes: Vec<Axis>,
    seeds: Option<(Vec<u64>, String)>,
    pub(super) wanted: Vec<Wanted>,
    pub(super) registry: Registry,
    pub(super) brokers: BrokerRegistry,
    runs: Vec<PlannedRun>,
    /// What its runs read.
    pub(super) logs: Logs,
}

/// A run of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedRun {
    /// Its number, from 1 on: the last axis moves first, and seeds before it.
    pub run: u64,
    /// Its place on each axis, as it is shown.
    pub point: Vec<String>,
    /// The seed of all that it draws.
    pub seed: u64,
    /// The hash of its resolved scenario.
    pub scenario_hash: u128,
    /// Whether anything in it is drawn by chance; if not, it replays logs, and every seed gives the same.
    pub drawn: bool,
    /// The hash of all that its result depends on: the scenario, the logs that it reads, and what of gridemu counts.
    pub key: u128,
}

impl Campaign {
    /// Reads the campaign of `file`, with values of the scenario said instead by `sets`, and resolves each of its runs.
    ///
    /// # Errors
    /// [`RunError::Request`] with all that is wrong with the first run that cannot be, and with its place: an axis that names no key, a
    /// value that the key does not take, a measure that there is not, a log that is not there.
    pub fn load(
        file: &Path,
        sets: &[Override],
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Self, RunError> {
        let campaign = Self::resolved(file, sets, registry, brokers)?;
        measures::check(&campaign)?;
        Ok(campaign)
    }

    /// The measures that the campaign of `file` can ask for, whatever it asks for now: all that its runs have, as far as that is known
    /// before they are run.
    ///
    /// # Errors
    /// As [`Campaign::load`].
    pub fn measures_of(
        file: &Path,
        sets: &[Override],
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Vec<MeasureInfo>, RunError> {
        let ids = measures::all(&Self::resolved(file, sets, registry, brokers)?)?;
        Ok(ids.iter().map(|id| MeasureInfo::of(id)).collect())
    }

    fn resolved(
        file: &Path,
        sets: &[Override],
        registry: &Registry,
        brokers: &BrokerRegistry,
    ) -> Result<Self, RunError> {
        let CampaignFile { name, base, mut fixed, axes, seeds, measures } = CampaignFile::load(file)?;
        for set in sets {
            let varied = axes.iter().find(|axis| axis.keys().any(|key| key == set.key()));
            if let Some(axis) = varied {
                let said =
                    format!("`{}` is what the axis `{}` of {} varies", set.key(), axis.name, file.display());
                return Err(RunError::request(said).with_hint("change the axis in the file"));
            }
        }
        if let Some(set) = sets.iter().find(|set| set.key() == "seed")
            && let Some((_, place)) = &seeds
        {
            let said =
                format!("`{}` would change nothing: the seeds are those of {place}", set.typed_again());
            let hint = "change `seeds` in the file, such as `seeds = [4]`; without it, `--set seed=4` counts";
            return Err(RunError::request(said).with_hint(hint));
        }
        fixed.extend(sets.iter().cloned());
        let command = about::command(file, sets);
        let (registry, brokers) = (registry.clone(), brokers.clone());
        let (wanted, runs, logs) = (measures, Vec::new(), Logs::default());
        let mut campaign =
            Self { name, command, base, fixed, axes, seeds, wanted, registry, brokers, runs, logs };
        let count = campaign.count()?;
        let contents = Contents::default();
        // All are looked at, so that the first that is wrong is told, whichever thread comes first.
        let runs: Vec<Result<PlannedRun, RunError>> =
            (1..=count).into_par_iter().map(|run| campaign.plan(run, &contents)).collect();
        campaign.runs = runs.into_iter().collect::<Result<_, _>>()?;
        Ok(campaign)
    }

    /// What it is called: its results are kept under this name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What varies, but for the seed: the names of the axes.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|axis| axis.name.as_str())
    }

    /// Its runs, in order.
    pub fn runs(&self) -> &[PlannedRun] {
        &self.runs
    }

    /// The runs of a part, in order; of `None`, all of them. Places that mean the same scenario have one result, so all of them are in
    /// the part of the first one.
    pub fn part(&self, shard: Option<Shard>) -> Vec<&PlannedRun> {
        let mut first: BTreeMap<u128, u64> = BTreeMap::new();
        let runs = self.runs.iter().filter(|run| {
            let first = *first.entry(run.key).or_insert(run.run);
            shard.is_none_or(|shard| shard.has(first))
        });
        runs.collect()
    }

    /// A line: how many runs of what.
    pub fn line(&self) -> String {
        let counted = |count: usize, noun: &str| match count {
            1 => format!("1 {noun}"),
            _ => format!("{count} {noun}s"),
        };
        let axes = self.axes.iter().map(|axis| format!("{} {}", axis.places.len(), axis.name));
        let seeds = self.seeds.iter().map(|(seeds, _)| counted(seeds.len(), "seed"));
        let product: Vec<String> = axes.chain(seeds).collect();
        let of = if product.is_empty() { String::new() } else { format!(" ({})", product.join(" x ")) };
        format!("{}{of}", counted(self.runs.len(), "run"))
    }

    /// How many runs there are.
    fn count(&self) -> Result<u64, RunError> {
        let seeds = self.seeds.as_ref().map_or(1, |(seeds, _)| seeds.len());
        let sizes = self.axes.iter().map(|axis| axis.places.len()).chain([seeds]);
        let count = sizes.map(|size| size as u64).try_fold(1_u64, u64::checked_mul);
        count.filter(|count| *count <= MOST_RUNS).ok_or_else(|| {
            RunError::request(format!("the campaign has more than {MOST_RUNS} runs"))
                .with_hint("take fewer values or seeds, or split it into several campaigns")
        })
    }

    /// The places of a run on the axes, and that of its seed.
    fn places(&self, run: u64) -> (Vec<usize>, usize) {
        let mut rest = run - 1;
        let mut next = |size: usize| {
            let place = rest % size as u64;
            rest /= size as u64;
            place as usize
        };
        let seed = next(self.seeds.as_ref().map_or(1, |(seeds, _)| seeds.len()));
        let mut places: Vec<usize> = self.axes.iter().rev().map(|axis| next(axis.places.len())).collect();
        places.reverse();
        (places, seed)
    }

    /// What a run sets in the scenario, in order.
    fn sets(&self, run: u64) -> Vec<Override> {
        let (places, seed) = self.places(run);
        let mut sets = self.fixed.clone();
        for (axis, place) in self.axes.iter().zip(places) {
            sets.extend(axis.places[place].sets.iter().cloned());
        }
        if let Some((seeds, at)) = &self.seeds {
            let seed = seeds[seed].to_string();
            sets.push(Override::written(("seed", at.clone()), (&seed, at.clone()), "".into()));
        }
        sets
    }

    /// The scenario of a run, to be run in this process: by the plain loop, as fast as it goes, without files or snapshots.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(super) fn scenario(&self, run: u64) -> Result<Scenario, RunError> {
        let mut scenario = self.base.read(&self.sets(run), &self.registry, &self.brokers)?;
        let meaning = &mut scenario.meaning;
        (meaning.engine, meaning.clock) = (Engine::Direct, Clock::Virtual);
        (meaning.output.folder, meaning.checkpoint) = (None, None);
        Ok(scenario)
    }

    fn plan(&self, run: u64, contents: &Contents) -> Result<PlannedRun, RunError> {
        let (places, _) = self.places(run);
        let labels = self.axes.iter().zip(&places).map(|(axis, place)| axis.places[*place].label.clone());
        let point: Vec<String> = labels.collect();
        let planned = self.scenario(run).and_then(|scenario| {
            let key = contents.key(&scenario)?;
            let seed = scenario.meaning.grid.seed;
            let drawn = scenario.meaning.draws();
            Ok(PlannedRun { run, point: point.clone(), seed, scenario_hash: scenario.hash, drawn, key })
        });
        planned.map_err(|error| {
            let said = error.to_string();
            // What stands on an axis, or at the base of all, needs no place in the product.
            let is_placed = said.contains(", axis `") || said.contains("\nhint: ") || error.hint().is_some();
            if is_placed || point.is_empty() {
                return error;
            }
            error.with_hint(format!("run {run} is the first that is so: {}", self.named(&point)))
        })
    }

    /// `policy=easy, load=0.7`.
    pub(super) fn named(&self, point: &[String]) -> String {
        let named = self.axes.iter().zip(point).map(|(axis, label)| format!("{}={label}", axis.name));
        named.collect::<Vec<_>>().join(", ")
    }
}
