//! The books of a preemptive policy: idle and running jobs, and who holds which processor.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Choice, Placing, Suspended};
use crate::local::{Contestant, Line, Quotient, Tournament, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Span, Time};

/// A running job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::local::policies) struct Run {
    pub(in crate::local::policies) job: JobKey,
    pub(in crate::local::policies) seq: u64,
    /// Its expansion factor less 1 as it began to work: what it has waited, by its estimate.
    pub(in crate::local::policies) waited: Quotient,
    /// From when on it works, since it started or resumed last: after its machines have woken up and it has read its memory.
    pub(in crate::local::policies) began: Time,
    /// When it first started.
    pub(in crate::local::policies) first: Time,
    pub(in crate::local::policies) procs: ProcSet,
    pub(in crate::local::policies) count: u32,
    /// Machines of it drain: it could not resume there, and is not suspended.
    pub(in crate::local::policies) drains: bool,
    /// Its expansion factor is past its limit, if it has one: it is not suspended.
    pub(in crate::local::policies) past_limit: bool,
    /// Its job class, where that matters.
    pub(in crate::local::policies) class: usize,
}

/// A suspended job, or one that is about to start for the first time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::local::policies) struct Idle {
    pub(in crate::local::policies) job: JobKey,
    pub(in crate::local::policies) seq: u64,
    pub(in crate::local::policies) line: Line,
    /// When it first started, if it has.
    pub(in crate::local::policies) first: Option<Time>,
    /// The processors that it had.
    pub(in crate::local::policies) procs: ProcSet,
    pub(in crate::local::policies) count: u32,
}

impl Idle {
    /// When a job first started that can resume: it has, or had, processors.
    fn first_start(view: &View<'_>, job: JobKey) -> Option<Time> {
        let live = view.job(job);
        live.first_start().filter(|_| !live.placement().is_empty())
    }

    /// A job that is there, in whatever phase: what it has waited grows from now on, and counts by this span.
    pub(in crate::local::policies) fn of(view: &View<'_>, job: JobKey, span: Span) -> Self {
        let live = view.job(job);
        let procs = live.placement().clone();
        Self {
            job,
            seq: live.seq(),
            line: line(view, job, span),
            first: Self::first_start(view, job),
            count: if procs.is_empty() { live.procs() } else { procs.len() },
            procs,
        }
    }
}

/// What a job has waited, by this span, if it waits from now on.
fn line(view: &View<'_>, job: JobKey, span: Span) -> Line {
    let waited = view.job(job).waited(view.now());
    Line::new(Time::from_micros(view.now().micros().saturating_sub(waited.micros())), span)
}

/// A job for which running jobs are being suspended, and processors that it alone gets, when all of them are free.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) idle: Idle,
    pub(super) procs: ProcSet,
}

/// Whether a running job of this expansion factor (less 1), size and estimate is past its limit, and its category.
pub(in crate::local::policies) type Judged = (bool, usize);

/// Waiting jobs of one size, and a bound on what it takes for one of them to preempt, which holds as long as nothing changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::local::policies) struct Width {
    pub(in crate::local::policies) jobs: Tournament<JobKey>,
    pub(in crate::local::policies) need: Need,
    /// The change of the books as of which `need` is known; none has this number as long as it is not.
    pub(in crate::local::policies) known: u64,
}

/// What it takes for an idle job to preempt.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::local::policies) enum Need {
    /// It cannot, whatever its expansion factor.
    Never,
    /// An expansion factor by the margin above this one (given less 1), at least.
    Above(Quotient),
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Place {
    #[default]
    Absent,
    Waiting {
        procs: u32,
        slot: usize,
    },
    Suspended {
        slot: usize,
    },
    Running,
    /// It is being suspended.
    Leaving,
    /// Others are being suspended for it.
    Claiming,
}

/// A running job in the order of victims.
#[derive(Copy, Clone, Debug, Serialize, Deserialize)]
pub(in crate::local::policies) struct Ranked {
    pub(in crate::local::policies) waited: Quotient,
    pub(in crate::local::policies) seq: u64,
    pub(in crate::local::policies) job: JobKey,
}

/// Idle and running jobs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::local::policies) struct Books {
    /// Jobs that can start on any processors, by size.
    pub(in crate::local::policies) waiting: BTreeMap<u32, Width>,
    pub(in crate::local::policies) suspended: Suspended,
    /// If suspended jobs resume anywhere, they are among those that wait.
    pub(super) placing: Placing,
    /// Jobs that are being suspended, and hold their processors until then.
    pub(super) leaving: Vec<Idle>,
    /// In the order in which they were made.
    pub(super) claims: Vec<Claim>,
    /// By key.
    runs: Vec<Option<Run>>,
    /// Ascending by expansion factor; among equals the last to arrive first.
    order: Vec<Ranked>,
    /// By key.
    places: Vec<Place>,
    /// By processor.
    owners: Vec<Option<JobKey>>,
    /// Raised with each change that may let an idle job start or preempt.
    pub(in crate::local::policies) changes: u64,
    /// From when on the last of all works.
    pub(in crate::local::policies) newest: Time,
}

impl Books {
    /// Without jobs.
    pub(in crate::local::policies) fn new(placing: Placing) -> Self {
        Self { placing, ..Self::default() }
    }

    /// Whether no job is idle.
    pub(in crate::local::policies) fn none_idle(&self) -> bool {
        self.waiting.is_empty() && self.suspended.is_empty()
    }

    /// Running jobs in the order of victims: ascending by expansion factor, the last to arrive first.
    pub(in crate::local::policies) fn order(&self) -> &[Ranked] {
        &self.order
    }

    /// A running job.
    pub(in crate::local::policies) fn run(&self, job: JobKey) -> Option<&Run> {
        self.runs.get(job.index()).and_then(Option::as_ref)
    }

    /// All jobs in the books.
    pub(in crate::local::policies) fn jobs(&self) -> impl Iterator<Item = JobKey> {
        let waiting = self.waiting.values().flat_map(|width| width.jobs.iter()).map(|one| one.item);
        let suspended = self.suspended.iter().map(|idle| idle.job);
        let transit =
            self.leaving.iter().chain(self.claims.iter().map(|claim| &claim.idle)).map(|idle| idle.job);
        waiting.chain(suspended).chain(transit).chain(self.order.iter().map(|ranked| ranked.job))
    }

    /// Judges all running jobs anew: whether they are past their limits.
    pub(in crate::local::policies) fn judge_again(&mut self, is_past: impl Fn(&Run) -> bool) {
        for run in self.runs.iter_mut().flatten() {
            let is_past = is_past(run);
            if is_past != run.past_limit {
                run.past_limit = is_past;
                self.suspended.loosen_behind(run.job);
                self.changes += 1;
            }
        }
    }

    /// Running jobs.
    pub(in crate::local::policies) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.order.iter().filter_map(|ranked| self.run(ranked.job))
    }

    /// The running job on a processor.
    pub(in crate::local::policies) fn owner(&self, proc: u32) -> Option<&Run> {
        self.owners.get(proc as usize).copied().flatten().and_then(|job| self.run(job))
    }

    /// A job comes that has not started.
    pub(in crate::local::policies) fn arrive(
        &mut self,
        now: Time,
        job: JobKey,
        seq: u64,
        procs: u32,
        line: Line,
    ) {
        let width = self.waiting.entry(procs).or_insert_with(|| Width {
            jobs: Tournament::new(),
            need: Need::Never,
            known: u64::MAX,
        });
        let slot = width.jobs.insert(now, line, seq, job);
        self.set(job, Place::Waiting { procs, slot });
    }

    /// A job that waits for any processors leaves. Returns it, if it was there.
    pub(in crate::local::policies) fn withdraw(&mut self, now: Time, job: JobKey) -> Option<Idle> {
        let Place::Waiting { procs, slot } = self.place(job) else { return self.take_claim(job) };
        self.set(job, Place::Absent);
        let width = self.waiting.get_mut(&procs)?;
        let Contestant { line, seq, item } = width.jobs.remove(now, slot)?;
        if width.jobs.is_empty() {
            self.waiting.remove(&procs);
        }
        Some(Idle { job: item, seq, line, first: None, procs: ProcSet::new(), count: procs })
    }

    /// The job that has been chosen leaves the books. `None` if it is not there.
    pub(in crate::local::policies) fn take(&mut self, view: &View<'_>, choice: &Choice) -> Option<Idle> {
        if choice.suspended.is_some() {
            return self.take_suspended(choice.job);
        }
        let idle = self.withdraw(view.now(), choice.job)?;
        Some(Idle { first: Idle::first_start(view, choice.job), ..idle })
    }

    /// A suspended job leaves, or one that is being suspended. Returns it, if it was there.
    pub(in crate::local::policies) fn take_suspended(&mut self, job: JobKey) -> Option<Idle> {
        let idle = match self.place(job) {
            Place::Suspended { slot } => self.suspended.remove(slot),
            Place::Leaving => {
                let at = self.leaving.iter().position(|idle| idle.job == job);
                at.map(|at| self.leaving.remove(at))
            }
            _ => return self.take_claim(job),
        };
        self.set(job, Place::Absent);
        idle
    }

    /// A job leaves for which others are being suspended. Returns it, if it was there.
    fn take_claim(&mut self, job: JobKey) -> Option<Idle> {
        let at = self.claims.iter().position(|claim| claim.idle.job == job)?;
        self.set(job, Place::Absent);
        self.changes += 1;
        Some(self.claims.remove(at).idle)
    }

    /// Adds a suspended job.
    pub(in crate::local::policies) fn add_suspended(&mut self, now: Time, idle: Idle) {
        if self.placing.anywhere {
            self.changes += 1;
            return self.arrive(now, idle.job, idle.seq, idle.count, idle.line);
        }
        let job = idle.job;
        let slot = self.suspended.insert(idle);
        self.set(job, Place::Suspended { slot });
        self.changes += 1;
    }

    /// An idle job, which is in the books no more, has started or resumed on these processors, and works from an instant on: it waits up to then.
    pub(in crate::local::policies) fn begin(
        &mut self,
        view: &View<'_>,
        began: Time,
        idle: &Idle,
        procs: ProcSet,
        judge: impl Fn(Quotient, &Idle) -> Judged,
    ) {
        self.newest = self.newest.max(began);
        let waited = idle.line.at(began.max(view.now()));
        let (past_limit, class) = judge(waited, idle);
        let drains = !view.here().contains_all(&procs);
        self.add_run(Run {
            job: idle.job,
            seq: idle.seq,
            waited,
            began,
            first: idle.first.unwrap_or(began),
            count: procs.len(),
            procs,
            drains,
            past_limit,
            class,
        });
    }

    /// A running job is expected to end at another time. One that does not work yet may begin at another one than thought, when its machines are awake;
    /// `is_past` says whether it is past its limit then.
    pub(in crate::local::policies) fn moved(
        &mut self,
        view: &View<'_>,
        job: JobKey,
        is_past: impl Fn(&Run) -> bool,
    ) {
        let (now, began) = (view.now(), view.job(job).works_from());
        if self.run(job).is_none_or(|run| run.began < now || began < now || began == run.began) {
            return;
        }
        let Some(mut run) = self.end(job) else { return };
        if run.first == run.began {
            run.first = began;
        }
        // What it has waited is far less than the time of day.
        let waited = run.waited.num.saturating_add(began.micros()).saturating_sub(run.began.micros());
        (run.began, run.waited.num) = (began, waited);
        run.past_limit = is_past(&run);
        self.newest = self.newest.max(began);
        self.add_run(run);
    }

    /// Adds a running job.
    pub(in crate::local::policies) fn add_run(&mut self, run: Run) {
        let ranked = Ranked { waited: run.waited, seq: run.seq, job: run.job };
        let at = self.rank(ranked);
        self.order.insert(at, ranked);
        self.own(&run.procs, Some(run.job));
        self.set(run.job, Place::Running);
        self.suspended.loosen_behind(run.job);
        let index = run.job.index();
        if self.runs.len() <= index {
            self.runs.resize_with(index + 1, || None);
        }
        self.runs[index] = Some(run);
        self.changes += 1;
    }

    /// A running job runs no more. Returns it, if it was there.
    pub(in crate::local::policies) fn end(&mut self, job: JobKey) -> Option<Run> {
        if self.place(job) != Place::Running {
            return None;
        }
        self.set(job, Place::Absent);
        let run = self.runs.get_mut(job.index())?.take()?;
        let at = self.rank(Ranked { waited: run.waited, seq: run.seq, job });
        self.order.remove(at);
        self.own(&run.procs, None);
        self.suspended.loosen_behind(job);
        self.changes += 1;
        Some(run)
    }

    /// Takes note of which running jobs are on machines that drain: they could not resume there.
    pub(in crate::local::policies) fn note_drained(&mut self, view: &View<'_>) {
        let here = view.here();
        for run in self.runs.iter_mut().flatten() {
            let was = std::mem::replace(&mut run.drains, !here.contains_all(&run.procs));
            if was != run.drains {
                self.suspended.loosen_behind(run.job);
            }
        }
        self.changes += 1;
    }

    /// The place of a job in the order of victims.
    fn rank(&self, ranked: Ranked) -> usize {
        let strength = |ranked: &Ranked| (ranked.waited, Reverse(ranked.seq));
        self.order.partition_point(|other| strength(other) < strength(&ranked))
    }

    fn own(&mut self, procs: &ProcSet, owner: Option<JobKey>) {
        let most = procs.last().map_or(0, |last| last as usize + 1);
        if self.owners.len() < most {
            self.owners.resize(most, None);
        }
        for proc in procs.iter() {
            self.owners[proc as usize] = owner;
        }
    }

    fn place(&self, job: JobKey) -> Place {
        self.places.get(job.index()).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, job: JobKey, place: Place) {
        if self.places.len() <= job.index() {
            self.places.resize(job.index() + 1, Place::Absent);
        }
        self.places[job.index()] = place;
    }
}
