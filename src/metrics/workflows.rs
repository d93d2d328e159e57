//! Workflows: how long they took, against what they would take alone, and what their time went to.

use serde::{Deserialize, Serialize};

use super::limits::{LimitMeasures, Limited};
use super::{Definition, Penalty, Ratio, Window};
use crate::model::{Outcome, ResponseParts, TransferOutcome, TransferRecord, WorkflowRecord};
use crate::units::{Energy, Money, Span};

/// Ratios of a workflow that compare its makespan with what it would take on an empty grid; each is `None` if it would divide by no time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkflowRatios {
    /// The schedule length ratio: the makespan over the fastest path (Topcuoglu, Hariri and Wu 2002).
    pub slr: Option<Ratio>,
    /// The makespan over the time below which no schedule can finish it alone.
    pub slowdown: Option<Ratio>,
    /// Its work over its makespan.
    pub speedup: Option<Ratio>,
    /// The speedup over the most processors that its tasks held at once.
    pub efficiency: Option<Ratio>,
}

impl WorkflowRatios {
    /// The ratios of a workflow; none unless it has completed.
    pub fn of(workflow: &WorkflowRecord) -> Self {
        if workflow.outcome != Outcome::Completed {
            return Self { slr: None, slowdown: None, speedup: None, efficiency: None };
        }
        let (makespan, bounds) = (workflow.makespan(), workflow.bounds);
        let ratio = |above: Span, below: u64| (below > 0).then(|| Ratio::of(above.micros(), below));
        Self {
            slr: ratio(makespan, bounds.fastest_path.micros()),
            slowdown: ratio(makespan, bounds.alone.micros()),
            speedup: ratio(bounds.work, makespan.micros()),
            efficiency: ratio(bounds.work, makespan.micros().saturating_mul(u64::from(workflow.peak))),
        }
    }

    /// All four, in this order.
    pub const fn each(&self) -> [Option<Ratio>; 4] {
        [self.slr, self.slowdown, self.speedup, self.efficiency]
    }
}

/// Collects workflows, one at a time, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkflowMeasures {
    count: u64,
    completed: u64,
    failed: u64,
    tasks: u64,
    attempts: u64,
    /// Sum and most, of those that completed.
    makespans: (u128, u64),
    /// Sums and numbers of the ratios of those that completed.
    ratios: [(u128, u64); 4],
    /// Sums of the parts of the makespans of those that completed.
    parts: [u128; 5],
    /// Sums over those that completed.
    moved: u128,
    energy: Energy,
    cost: Money,
    /// The sizes of all copies of files that arrived, of the whole run.
    copied: u64,
    limited: Limited,
    /// What a missed deadline counts, if anything has one.
    penalty: Option<Penalty>,
}

/// The workflows of a run. Means are over those that completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkflowSummary {
    /// Number of workflows.
    pub count: u64,
    /// Number of those of which all tasks completed.
    pub completed: u64,
    /// Number of those of which a task did not complete.
    pub failed: u64,
    /// Number of those that had not ended with the run.
    pub unfinished: u64,
    /// Number of their tasks.
    pub tasks: u64,
    /// Number of attempts of their tasks.
    pub attempts: u64,
    /// Mean time from submission to end, in seconds.
    pub mean_makespan: Option<f64>,
    /// Longest time from submission to end, in seconds.
    pub max_makespan: Option<f64>,
    /// Mean schedule length ratio.
    pub mean_slr: Option<f64>,
    /// Mean slowdown against running alone.
    pub mean_slowdown: Option<f64>,
    /// Mean speedup.
    pub mean_speedup: Option<f64>,
    /// Mean efficiency.
    pub mean_efficiency: Option<f64>,
    /// Mean of the sizes of all copies of the files of a workflow that had arrived when it ended, in bytes.
    #[serde(default)]
    pub mean_moved_bytes: Option<f64>,
    /// Mean energy charged to the jobs of a workflow, in kilowatt-hours.
    #[serde(default)]
    pub mean_energy_kwh: Option<f64>,
    /// Mean money charged to them.
    #[serde(default)]
    pub mean_cost: Option<f64>,
    /// The sizes of all copies of files that arrived in the whole run, those of results that came home after the end of their workflow among them.
    #[serde(default)]
    pub moved_bytes: u64,
    /// What the makespans went to.
    pub share: ShareSummary,
    /// Number of tasks that started before one that was sent before them to the same pool, as planned: what local policies had overtake. Only of
    /// broker policies that plan tasks before they are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overtakes: Option<u64>,
    /// Number of times in the whole run that a task, or a group, which had completed was run again for what it had written. Only where lost data is computed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
    /// How those with a deadline or a budget kept it. Only if any had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<LimitMeasures>,
}

/// Shares of the sum of all makespans, along the paths that determined the ends of the workflows. They sum to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShareSummary {
    /// Attempts that completed.
    pub run: Option<f64>,
    /// Waiting for files.
    pub data: Option<f64>,
    /// At the broker and on the way.
    pub dispatch: Option<f64>,
    /// In the queue of a site.
    pub queue: Option<f64>,
    /// From a first start to the start of the attempt that completed.
    pub lost: Option<f64>,
}

impl WorkflowMeasures {
    /// An empty collector; this is what a missed deadline counts, if anything has one.
    pub fn new(penalty: Option<Penalty>) -> Self {
        Self { penalty, ..Self::default() }
    }

    /// Adds a workflow, if it was submitted in the window.
    pub fn add(&mut self, workflow: &WorkflowRecord, window: Window) {
        if !window.contains(workflow.submit) {
            return;
        }
        self.count += 1;
        self.tasks += u64::from(workflow.tasks);
        self.attempts += workflow.attempts;
        self.failed += u64::from(workflow.outcome == Outcome::Failed);
        if let Some(limits) = &workflow.limits {
            let ended = (workflow.outcome, workflow.end, workflow.cost);
            self.limited.add(limits, ended, self.penalty.unwrap_or(Penalty::DEFAULT));
        }
        if workflow.outcome != Outcome::Completed {
            return;
        }
        self.completed += 1;
        let makespan = workflow.makespan().micros();
        self.makespans = (self.makespans.0 + u128::from(makespan), self.makespans.1.max(makespan));
        for ((sum, count), ratio) in self.ratios.iter_mut().zip(WorkflowRatios::of(workflow).each()) {
            *sum += ratio.map_or(0, Ratio::units);
            *count += u64::from(ratio.is_some());
        }
        self.moved += u128::from(workflow.moved.count());
        self.energy += workflow.energy;
        self.cost += workflow.cost;
        let parts = workflow.parts.unwrap_or_default();
        for (sum, part) in self.parts.iter_mut().zip(parts.each()) {
            *sum += u128::from(part.micros());
        }
    }

    /// Adds a copy of a file.
    pub fn add_transfer(&mut self, copy: &TransferRecord) {
        if copy.outcome == TransferOutcome::Arrived {
            self.copied = self.copied.saturating_add(copy.bytes.count());
        }
    }

    /// The summary; `None` if there was no workflow.
    pub fn summary(&self) -> Option<WorkflowSummary> {
        let mean = |sum: f64| (self.completed > 0).then(|| sum / self.completed as f64);
        let seconds = |micros: f64| (self.completed > 0).then(|| micros / 1e6);
        let [mean_slr, mean_slowdown, mean_speedup, mean_efficiency] = self
            .ratios
            .map(|(sum, count)| (count > 0).then(|| sum as f64 / Ratio::ONE.units() as f64 / count as f64));
        let whole = self.makespans.0;
        let [run, data, dispatch, queue, lost] =
            self.parts.map(|part| (whole > 0).then(|| part as f64 / whole as f64));
        (self.count > 0).then(|| WorkflowSummary {
            count: self.count,
            completed: self.completed,
            failed: self.failed,
            unfinished: self.count - self.completed - self.failed,
            tasks: self.tasks,
            attempts: self.attempts,
            mean_makespan: seconds(whole as f64 / self.completed as f64),
            max_makespan: seconds(self.makespans.1 as f64),
            mean_slr,
            mean_slowdown,
            mean_speedup,
            mean_efficiency,
            mean_moved_bytes: mean(self.moved as f64),
            mean_energy_kwh: mean(self.energy.as_kwh_f64()),
            mean_cost: mean(self.cost.as_f64()),
            moved_bytes: self.copied,
            share: ShareSummary { run, data, dispatch, queue, lost },
            overtakes: None,
            repeated: None,
            limits: self.limited.measures(),
        })
    }
}

impl WorkflowSummary {
    /// What its measures mean.
    pub(super) fn definitions() -> impl Iterator<Item = Definition> {
        let meanings = [
            (
                "slr",
                "makespan of a workflow / the longest way through it, each task on the fastest processors that fit it",
            ),
            (
                "slowdown",
                "makespan of a workflow / max(that way, its work / all processors at their speeds): alone it cannot end sooner",
            ),
            (
                "parts",
                "of the makespan, from the task that ended last back to the one that it waited for last, and so on",
            ),
        ];
        meanings.into_iter().map(|(id, meaning)| Definition::new(id, meaning))
    }
}

impl ShareSummary {
    /// The shares, in the order of [`ResponseParts::NAMES`].
    pub const fn each(&self) -> [Option<f64>; ResponseParts::NAMES.len()] {
        [self.run, self.data, self.dispatch, self.queue, self.lost]
    }
}
