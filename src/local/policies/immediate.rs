//! Immediate service [Chiang and Vernon 2002; as Kettimuthu 2003, section 2.3, describes and evaluates it].

use serde::{Deserialize, Serialize};

use super::preemptive::{Books, Dropped, Idle, Run, Victim};
use crate::local::{
    Abilities, Action, Actions, Change, Line, LocalPolicy, Phase, Placement, PolicyInfo, Quotient, View,
};
use crate::model::{JobKey, ParamInfo, ProcSet};
use crate::units::{Rate, Span, Time};

const QUANTUM: ParamInfo = ParamInfo {
    key: "quantum",
    values: "a time",
    default: "10 min",
    doc: "for so long after its start a job is not suspended",
};

const DROP: ParamInfo = ParamInfo {
    key: "drop",
    values: "largest, smallest or last",
    default: "largest",
    doc: "victims are taken in ascending order of instantaneous expansion factor until they are enough; of superfluous ones these go on running first",
};

pub(super) fn info() -> PolicyInfo {
    PolicyInfo::new("is", |named| {
        let quantum = named.take(QUANTUM.key, "a time, such as `10 min`")?;
        let dropped = named.take_choice(DROP.key, &Dropped::NAMES)?.unwrap_or_default();
        let policy = Immediate::new(quantum.unwrap_or(Immediate::QUANTUM), dropped);
        let able = Abilities { preempts: true, same_processors: true, picks_processors: true, ..Abilities::PLAIN };
        Ok((Box::new(policy), able))
    })
    .doc("Immediate service: an arriving job starts at once, by suspending running jobs with the lowest instantaneous expansion factor (wait + run) / run, and keeps its processors for a quantum. Other idle jobs start when they fit, the largest factor first. A suspended job resumes on the processors that it had.")
    .source("Chiang and Vernon 2002, as described in Kettimuthu 2003, section 2.3")
    .params(&[QUANTUM, DROP])
}

/// Immediate service (IS).
///
/// Each arriving job starts at once: on free processors, or in the place of running jobs with the lowest instantaneous expansion factor
/// (wait + run) / run. A job that has not run yet has an infinite factor, and one within its quantum is not suspended either; a job that
/// resumes gets no new quantum. An arriving job for which there are not enough victims waits, as suspended jobs do, until it fits: those with
/// the largest instantaneous factor first; that of a job that has never run is (wait + estimate) / estimate.
#[derive(Clone, Debug)]
pub struct Immediate {
    quantum: Span,
    dropped: Dropped,
    kept: Kept,
}

/// What is saved.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// The line of a suspended job has its run time for its estimate.
    books: Books,
    /// Jobs that have arrived since the last pass.
    fresh: Vec<JobKey>,
}

impl Immediate {
    /// The quantum of the thesis.
    pub const QUANTUM: Span = Span::from_secs(600);

    /// Immediate service with this quantum; `dropped` says which of superfluous victims go on running.
    pub fn new(quantum: Span, dropped: Dropped) -> Self {
        Self { quantum, dropped, kept: Kept::default() }
    }

    /// The victims for a job that lacks so many processors: those with the lowest instantaneous expansion factors, among equals the last to
    /// arrive first.
    fn victims(&self, now: Time, lacking: u32) -> Option<Vec<Victim>> {
        let ran = |run: &Run| run.ran_by(now).micros();
        let may = |run: &&Run| !run.drains && ran(run) > 0 && now.since(run.first) >= self.quantum;
        let factor = |run: &Run| Quotient { num: run.wait().micros(), den: ran(run) };
        let mut order: Vec<(Quotient, &Run)> =
            self.kept.books.runs().filter(may).map(|run| (factor(run), run)).collect();
        order.sort_unstable_by(|(a, one), (b, other)| a.cmp(b).then(other.seq.cmp(&one.seq)));
        let (mut victims, mut freed) = (Vec::new(), 0);
        for (_, run) in order {
            freed += run.count;
            victims.push(Victim { job: run.job, procs: run.count });
            if freed >= lacking {
                self.dropped.reduce(&mut victims, lacking);
                return Some(victims);
            }
        }
        None
    }

    /// Serves a job that has arrived, if that is possible.
    fn serve(&mut self, view: &View<'_>, job: JobKey, free: &mut ProcSet, actions: &mut Actions) {
        let (now, idle) = (view.now(), waits(view, job));
        if let Some(lacking) = idle.count.checked_sub(free.len()).filter(|lacking| *lacking > 0) {
            let Some(victims) = self.victims(now, lacking) else {
                let Idle { seq, count, line, .. } = idle;
                return self.kept.books.arrive(now, job, seq, count, line);
            };
            for victim in victims {
                self.suspend(now, victim.job, free, actions);
            }
        }
        self.start(view, &idle, free, actions);
    }

    fn start(&mut self, view: &View<'_>, idle: &Idle, free: &mut ProcSet, actions: &mut Actions) {
        let Some(procs) = view.pick(free, idle.count) else { return };
        free.remove_all(&procs);
        let placement = Placement::On(procs.clone());
        actions.push(Action::Start { job: idle.job, placement, share: Rate::FULL });
        self.kept.books.begin(view.now(), idle, procs, 0);
    }

    fn suspend(&mut self, now: Time, job: JobKey, free: &mut ProcSet, actions: &mut Actions) {
        let Some(run) = self.kept.books.end(job) else { return };
        free.insert_all(&run.procs);
        actions.push(Action::Suspend { job });
        let (ran, first) = (run.ran_by(now), Some(run.first));
        let since = Time::from_micros(now.micros().saturating_sub(run.wait().micros()));
        let hindrance = run.procs.first().unwrap_or_default();
        let Run { seq, count, procs, .. } = run;
        let line = Line::new(since, ran);
        self.kept.books.add_suspended(Idle { job, seq, line, ran, first, procs, count, hindrance });
    }

    /// Starts and resumes idle jobs as long as one fits.
    fn backfill(&mut self, view: &View<'_>, free: &mut ProcSet, actions: &mut Actions) {
        let now = view.now();
        while let Some(choice) = self.kept.books.best_fit(now, free) {
            let books = &mut self.kept.books;
            if let Some(idle) = books.take_suspended(choice.job) {
                let (job, procs) = (idle.job, idle.procs.clone());
                free.remove_all(&procs);
                actions.push(Action::Resume { job, placement: Placement::On(procs.clone()), share: Rate::FULL });
                books.begin(now, &idle, procs, 0);
            } else if let Some(idle) = books.withdraw(now, choice.job) {
                self.start(view, &idle, free, actions);
            }
        }
    }

    /// A job runs that the policy has not started.
    fn follow(&mut self, view: &View<'_>, job: JobKey) {
        let (live, idle) = (view.job(job), waits(view, job));
        let began = live.first_start().unwrap_or(view.now()).min(view.now());
        self.kept.books.begin(began, &idle, live.placement().clone(), 0);
    }
}

/// A job that waits for its first start.
fn waits(view: &View<'_>, job: JobKey) -> Idle {
    let live = view.job(job);
    Idle {
        job,
        seq: live.seq(),
        line: Line::new(live.ready().min(view.now()), live.estimate()),
        ran: Span::ZERO,
        first: None,
        procs: ProcSet::new(),
        count: live.procs(),
        hindrance: 0,
    }
}

impl LocalPolicy for Immediate {
    fn on(&mut self, change: Change, view: &View<'_>) {
        let Kept { books, fresh } = &mut self.kept;
        match change {
            Change::Arrived(job) => fresh.push(job),
            Change::Withdrawn(job) => {
                fresh.retain(|other| *other != job);
                books.withdraw(view.now(), job);
            }
            Change::Ended(job) => {
                books.take_suspended(job);
                books.end(job);
            }
            Change::Continued(job) => self.follow(view, job),
            Change::Left | Change::Joined => books.note_drained(view),
            Change::Moved { job, .. } => {
                // Its machines wake up first: the quantum begins when it does.
                let begins = view.job(job).since();
                if let Some(run) = books.run_mut(job).filter(|run| run.began == view.now() && begins > run.began) {
                    run.first = if run.first == run.began { begins } else { run.first };
                    run.began = begins;
                }
            }
            Change::Reserved | Change::Altered { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free_set().clone();
        for job in std::mem::take(&mut self.kept.fresh) {
            self.serve(view, job, &mut free, actions);
        }
        self.backfill(view, &mut free, actions);
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.kept).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let kept: Kept = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        if let Some(job) = kept.books.jobs().chain(kept.fresh.iter().copied()).find(|job| view.get(*job).is_none()) {
            return Err(format!("it knows a job with key {job} that is not there"));
        }
        self.kept = kept;
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.kept = Kept::default();
        for job in view.jobs_in(Phase::Waiting) {
            let Idle { seq, count, line, .. } = waits(view, job);
            self.kept.books.arrive(view.now(), job, seq, count, line);
        }
        for job in view.jobs_in(Phase::Running) {
            self.follow(view, job);
        }
        for job in view.jobs_in(Phase::Suspended) {
            let (live, idle) = (view.job(job), waits(view, job));
            let procs = live.placement().clone();
            self.kept.books.add_suspended(Idle {
                first: live.first_start(),
                count: procs.len(),
                hindrance: procs.first().unwrap_or_default(),
                procs,
                ..idle
            });
        }
        self.kept.books.note_drained(view);
    }
}
