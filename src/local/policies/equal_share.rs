//! Time sharing at equal rates.

use std::collections::VecDeque;

use crate::local::explanation::processors;
use crate::local::{
    Abilities, Action, Actions, Blocker, Change, Explanation, LocalPolicy, Outlook, Phase, Place, PolicyInfo,
    Reason, View,
};
use crate::model::{JobKey, NamedError, ParamInfo, ProcSet};
use crate::units::{Rate, Time};

const DEFAULT_MPL: u32 = 2;

pub(super) const INFO: PolicyInfo = PolicyInfo {
    name: "equal-share",
    doc: "Puts up to `mpl` jobs on a processor, in order of arrival, on the least loaded ones; the jobs on a processor share its time equally, and a parallel job runs at the pace of its most loaded processor.",
    source: "processor sharing with a multiprogramming level; compare gang scheduling in Huang 2004, chapter 6",
    params: &[ParamInfo {
        key: "mpl",
        values: "1 to 1000",
        default: "2",
        doc: "most jobs on a processor (multiprogramming level)",
    }],
    abilities: |named| {
        let mpl = named.params.get("mpl").and_then(|mpl| mpl.parse().ok()).unwrap_or(DEFAULT_MPL);
        Abilities { slots: mpl, picks_processors: true, ..Abilities::PLAIN }
    },
    build: |mut named| {
        let mpl: u32 = named.take("mpl", "a number from 1 to 1000")?.unwrap_or(DEFAULT_MPL);
        if !(1..=1000).contains(&mpl) {
            return Err(NamedError::BadValue {
                name: named.name,
                key: "mpl".to_owned(),
                value: mpl.to_string(),
                expected: "a number from 1 to 1000".to_owned(),
            });
        }
        named.finish(&["mpl"])?;
        Ok(Box::new(EqualShare::new(mpl)))
    },
};

/// Time sharing at equal rates. No event a time slice: a job's rate changes only when the load of its processors does.
#[derive(Debug)]
pub struct EqualShare {
    mpl: u32,
    queue: VecDeque<JobKey>,
    running: Vec<JobKey>,
    /// Jobs on each processor, those that stand still among them; as many as may be where nobody can be put.
    load: Vec<u32>,
}

impl EqualShare {
    /// Up to `mpl` jobs on a processor.
    pub fn new(mpl: u32) -> Self {
        Self { mpl, queue: VecDeque::new(), running: Vec::new(), load: Vec::new() }
    }

    /// The `count` least loaded processors with a free slot, lowest numbers first among equals.
    fn place(&self, count: u32) -> Option<ProcSet> {
        let mut open: Vec<(u32, u32)> = (0..)
            .zip(&self.load)
            .filter(|(_, load)| **load < self.mpl)
            .map(|(proc, load)| (*load, proc))
            .collect();
        if open.len() < count as usize {
            return None;
        }
        open.sort_unstable();
        Some(open[..count as usize].iter().map(|(_, proc)| *proc).collect())
    }

    fn share(&self, place: &ProcSet) -> Rate {
        let most = place.iter().map(|proc| self.load[proc as usize]).max().unwrap_or(1);
        Rate::ratio(1, u64::from(most.max(1)))
    }

    fn count(&mut self, view: &View<'_>) {
        self.load = (0..view.processors()).map(|proc| view.load(proc)).collect();
    }

    fn add(&mut self, place: &ProcSet) {
        for proc in place.iter() {
            self.load[proc as usize] += 1;
        }
    }
}

impl LocalPolicy for EqualShare {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.queue.push_back(job),
            Change::Withdrawn(job) => self.queue.retain(|waiting| *waiting != job),
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
            // Nothing is expected of estimates, and sizes are looked up.
            Change::Reserved | Change::Altered { .. } | Change::Moved { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        if self.load.is_empty() {
            self.count(view);
        }
        let mut started: Vec<(JobKey, ProcSet)> = Vec::new();
        while let Some(head) = self.queue.front().copied() {
            let Some(place) = self.place(view.job(head).procs()) else { break };
            self.add(&place);
            started.push((head, place));
            self.queue.pop_front();
        }
        for job in &self.running {
            let live = view.job(*job);
            let share = self.share(live.place());
            if share != live.share() {
                actions.push(Action::SetShare { job: *job, share });
            }
        }
        for (job, place) in started {
            let share = self.share(&place);
            self.running.push(job);
            actions.push(Action::Start { job, place: Place::On(place), share });
        }
    }

    /// A size can start where so many processors have a place for one more, now or when running jobs are expected to end; behind
    /// those that wait, as in [`View::outlook`].
    fn outlook(&self, view: &View<'_>) -> Outlook {
        let mut load = self.load.clone();
        let mut open = match load.len() {
            0 => view.capacity(),
            _ => load.iter().filter(|load| **load < self.mpl).count() as u32,
        };
        let mut ends: Vec<(Time, JobKey)> =
            self.running.iter().map(|job| (view.expected_end(*job), *job)).collect();
        ends.sort_unstable();
        let (mut ends, mut time, turn) = (ends.into_iter(), view.now(), view.turn());
        Outlook::of_sizes(view.capacity(), |procs| {
            while open < procs {
                let Some((end, job)) = ends.next() else { return Time::NEVER };
                time = end;
                for proc in view.job(job).place().iter() {
                    let load = &mut load[proc as usize];
                    open += u32::from(*load == self.mpl);
                    *load -= 1;
                }
            }
            turn.max(time)
        })
    }

    fn explain(&self, view: &View<'_>, job: JobKey) -> Explanation {
        let mut twin =
            Self { mpl: self.mpl, queue: self.queue.clone(), running: Vec::new(), load: self.load.clone() };
        if twin.load.is_empty() {
            twin.count(view);
        }
        let (needs, mpl) = (view.job(job).procs(), self.mpl);
        // Those that start before it in a pass now.
        let mut started = Vec::new();
        // What stands still on machines that are away keeps its place on the others.
        let missing = view.processors().saturating_sub(view.here().len());
        let away = (missing > 0).then_some(Blocker::Away { procs: missing });
        let open = |twin: &Self| twin.load.iter().filter(|load| **load < mpl).count() as u32;
        for waiting in &self.queue {
            let (procs, free) = (view.job(*waiting).procs(), open(&twin));
            if let Some(place) = twin.place(procs) {
                twin.add(&place);
                if *waiting == job {
                    return Explanation::new(
                        Reason::Starts,
                        "it is its turn, and there are places",
                        needs,
                        free,
                    );
                }
                started.push(view.waits(*waiting, Some(view.now())));
                continue;
            }
            let full = |blocker: &JobKey| {
                view.job(*blocker).place().iter().any(|proc| twin.load[proc as usize] >= mpl)
            };
            let mut ends: Vec<(Time, JobKey)> = self
                .running
                .iter()
                .filter(|job| full(job))
                .map(|job| (view.expected_end(*job), *job))
                .collect();
            ends.sort_unstable();
            let ends = ends.into_iter().map(|(_, job)| view.runs(job));
            let level = format!(
                "{} with fewer than {mpl} jobs, and {}",
                processors(procs),
                match free {
                    0 => "there is none".to_owned(),
                    1 => "there is 1".to_owned(),
                    many => format!("there are {many}"),
                }
            );
            if *waiting == job {
                let rule = format!("it is the first in line and needs {level}");
                return Explanation::new(Reason::Level, rule, needs, free)
                    .blocked_by(ends)
                    .blocked_by(started)
                    .blocked_by(away);
            }
            let head = view.who(*waiting);
            let rule = format!("nobody overtakes: {head} is the first in line and needs {level}");
            return Explanation::new(Reason::Behind, rule, needs, free)
                .blocked_by([view.waits(*waiting, None)])
                .blocked_by(ends)
                .blocked_by(started)
                .blocked_by(away);
        }
        view.explanation(job)
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.queue = view.jobs_in(Phase::Waiting).into();
        self.running = view.jobs_in(Phase::Running);
        self.count(view);
    }
}
