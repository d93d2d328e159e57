//! Time sharing at equal rates.

use crate::local::{
    Abilities, Action, Actions, Arrivals, Change, LocalPolicy, Placement, PolicyInfo, Rule, StartEstimates,
    View,
};
use crate::model::{JobKey, ParamInfo, ProcSet};
use crate::units::{Rate, Time};

const MPL: ParamInfo = ParamInfo {
    key: "mpl",
    values: "1 to 1000",
    default: "2",
    doc: "multiprogramming level: maximum number of jobs on a processor",
};

pub(super) fn info() -> PolicyInfo {
    PolicyInfo::new("equal-share", |named| {
        named.refuse_former("slots", MPL.key)?;
        let mpl = named.take_within(MPL.key, 1..=1000, "a number from 1 to 1000")?.unwrap_or(2);
        let able = Abilities { multiprogramming_level: mpl, picks_processors: true, ..Abilities::PLAIN };
        Ok((Box::new(EqualShare::new(mpl)), able))
    })
    .doc("Time sharing: runs up to `mpl` jobs on a processor, in order of arrival, on the least loaded processors; the jobs on a processor share its time equally, and a parallel job runs at the pace of its most loaded processor.")
    .source("processor sharing with a multiprogramming level; compare gang scheduling in Huang 2004, chapter 6")
    .params(&[MPL])
}

/// Time sharing at equal rates. There is no event per time slice: a job's rate changes only when the load of its processors does.
#[derive(Debug)]
pub struct EqualShare {
    mpl: u32,
    queue: Arrivals,
    running: Vec<JobKey>,
    /// Jobs on each processor, including stalled ones; the multiprogramming level where no job can be placed.
    load: Vec<u32>,
    /// Processors of machines that drain: their jobs go on, and no other is placed there.
    drained: ProcSet,
}

impl EqualShare {
    /// Up to `mpl` jobs on a processor.
    pub fn new(mpl: u32) -> Self {
        Self {
            mpl,
            queue: Arrivals::default(),
            running: Vec::new(),
            load: Vec::new(),
            drained: ProcSet::new(),
        }
    }

    /// The `count` least loaded processors that can take another job, lowest numbers first among equals.
    fn placement(&self, count: u32) -> Option<ProcSet> {
        let mut open: Vec<(u32, u32)> = (0..)
            .zip(&self.load)
            .filter(|(proc, load)| **load < self.mpl && !self.drained.contains(*proc))
            .map(|(proc, load)| (*load, proc))
            .collect();
        if open.len() < count as usize {
            return None;
        }
        open.sort_unstable();
        Some(open[..count as usize].iter().map(|(_, proc)| *proc).collect())
    }

    fn share(&self, placement: &ProcSet) -> Rate {
        let most = placement.iter().map(|proc| self.load[proc as usize]).max().unwrap_or(1);
        Rate::ratio(1, u64::from(most.max(1)))
    }

    fn count(&mut self, view: &View<'_>) {
        let loads = Loads::of(view);
        (self.load, self.drained) = (loads.jobs, loads.drained);
    }

    fn add(&mut self, placement: &ProcSet) {
        for proc in placement.iter() {
            self.load[proc as usize] += 1;
        }
    }
}

/// The jobs on each processor.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// How many there are, including stalled ones; the multiprogramming level where no job can be placed.
    jobs: Vec<u32>,
    /// Processors of machines that drain: their jobs go on, and no other is placed there.
    drained: ProcSet,
}

impl Loads {
    pub(super) fn of(view: &View<'_>) -> Self {
        let drained = view.drained();
        let jobs = |proc| if drained.contains(proc) { view.jobs_on(proc) } else { view.load(proc) };
        Self { jobs: (0..view.processors()).map(jobs).collect(), drained }
    }

    /// On how many processors there may be another job.
    pub(super) fn open(&self, mpl: u32) -> u32 {
        let is_open = |(proc, load): &(u32, &u32)| **load < mpl && !self.drained.contains(*proc);
        (0..).zip(&self.jobs).filter(is_open).count() as u32
    }

    /// A job leaves processors; says on how many of them there may be another one only since.
    pub(super) fn leave(&mut self, procs: &ProcSet, mpl: u32) -> u32 {
        let mut open = 0;
        for proc in procs.iter() {
            let load = &mut self.jobs[proc as usize];
            open += u32::from(*load == mpl && !self.drained.contains(proc));
            *load -= 1;
        }
        open
    }

    /// When sizes could start where so many jobs may be on a processor: see [`EqualShare`].
    pub(super) fn start_estimates(
        self,
        view: &View<'_>,
        mpl: u32,
        running: impl Iterator<Item = JobKey>,
    ) -> StartEstimates {
        let mut loads = self;
        let mut open = loads.open(mpl);
        let mut ends: Vec<(Time, JobKey)> = running.map(|job| (view.expected_end(job), job)).collect();
        ends.sort_unstable();
        let (mut ends, mut time, turn) = (ends.into_iter(), view.now(), view.turn());
        StartEstimates::of_sizes(view.capacity(), |procs| {
            while open < procs {
                let Some((end, job)) = ends.next() else { return Time::NEVER };
                time = end;
                open += loads.leave(view.job(job).placement(), mpl);
            }
            turn.max(time)
        })
    }
}

impl LocalPolicy for EqualShare {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.queue.push(view.job(job).seq(), job),
            Change::Ended(job) => {
                self.running.retain(|running| *running != job);
                // The site has already taken the job off its processors.
                self.count(view);
            }
            Change::Left | Change::Joined => self.count(view),
            Change::Continued(job) => {
                // In order of arrival, as they were started.
                let seq = view.job(job).seq();
                let at = self.running.partition_point(|other| view.job(*other).seq() < seq);
                self.running.insert(at, job);
                self.count(view);
            }
            // Estimates are not used, sizes are looked up, and the queue passes over jobs that do not wait any more.
            Change::Withdrawn(_)
            | Change::Suspended(_)
            | Change::Reserved
            | Change::Altered { .. }
            | Change::Moved { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        if self.load.is_empty() {
            self.count(view);
        }
        let mut started: Vec<(JobKey, ProcSet)> = Vec::new();
        while let Some(head) = self.queue.first(view) {
            let Some(placement) = self.placement(view.job(head).procs()) else { break };
            self.add(&placement);
            started.push((head, placement));
            self.queue.pop();
        }
        if let Some(trace) = actions.trace() {
            let full = |(proc, load): &(u32, &u32)| **load >= self.mpl || self.drained.contains(*proc);
            let full: ProcSet = (0..).zip(&self.load).filter(full).map(|(proc, _)| proc).collect();
            trace.free = view.processors() - full.len();
            trace.rule = Rule::Level { first: self.queue.first(view), full, most: self.mpl };
        }
        for job in &self.running {
            let live = view.job(*job);
            let share = self.share(live.placement());
            if share != live.share() {
                actions.push(Action::SetShare { job: *job, share });
            }
        }
        for (job, placement) in started {
            let share = self.share(&placement);
            self.running.push(job);
            actions.push(Action::Start { job, placement: Placement::On(placement), share });
        }
    }

    /// A size can start where so many processors can take another job, now or when running jobs are expected to end; and after
    /// the waiting jobs, as in [`View::start_estimates`].
    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        Loads::of(view).start_estimates(view, self.mpl, self.running.iter().copied())
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.queue = Arrivals::of(view);
        self.running = view.holders();
        self.count(view);
    }
}
