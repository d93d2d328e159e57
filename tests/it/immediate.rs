//! Immediate service: schedules worked by hand, and a twin that sorts plain vectors at each pass.

use gridemu::local::{
    Abilities, Action, Actions, Change, LocalPolicy, Placement, PolicyInfo, Preempted, Registry, View,
    XFactor,
};
use gridemu::model::{Job, JobKey, Outcome, ProcSet};
use gridemu::units::{Rate, Span, Time};
use proptest::prelude::*;

use crate::selective::{jobs, stretch, stretches};
use crate::support::{self, job, run_with, site};

/// A job, as the twin keeps it.
#[derive(Clone, Debug)]
struct Task {
    job: JobKey,
    seq: u64,
    ready: Time,
    estimate: u128,
    /// Microseconds.
    ran: u128,
    since: Time,
    first: Option<Time>,
    runs: bool,
    procs: ProcSet,
    count: u32,
}

impl Task {
    fn ran(&self, now: Time) -> u128 {
        self.ran + if self.runs { u128::from(now.since(self.since).micros()) } else { 0 }
    }

    /// (wait + run, run), or (wait + estimate, estimate).
    fn factor(&self, now: Time) -> (u128, u128) {
        let (ran, passed) = (self.ran(now), u128::from(now.since(self.ready).micros()));
        if self.first.is_some() { (passed, ran) } else { (passed + self.estimate, self.estimate) }
    }
}

fn less(a: (u128, u128), b: (u128, u128)) -> std::cmp::Ordering {
    (a.0 * b.1).cmp(&(b.0 * a.1))
}

struct Slow {
    quantum: u64,
    drop: &'static str,
    anywhere: bool,
    tasks: Vec<Task>,
    fresh: Vec<JobKey>,
}

impl Slow {
    fn task(&mut self, job: JobKey) -> &mut Task {
        self.tasks.iter_mut().find(|task| task.job == job).expect("it is here")
    }

    fn put(&mut self, job: JobKey, procs: ProcSet, free: &mut ProcSet, now: Time, actions: &mut Actions) {
        free.remove_all(&procs);
        let (placement, share) = (Placement::On(procs.clone()), Rate::FULL);
        let task = self.task(job);
        actions.push(match task.first {
            None => Action::Start { job, placement, share },
            Some(_) => Action::Resume { job, placement, share },
        });
        (task.runs, task.since, task.procs) = (true, now, procs);
        task.first.get_or_insert(now);
    }

    fn victims(&self, count: u32, free: &ProcSet, now: Time) -> Option<Vec<Task>> {
        let in_quantum =
            |task: &Task| task.first.is_some_and(|first| now.since(first).micros() < self.quantum);
        let may = |task: &&Task| task.runs && !in_quantum(task) && task.ran(now) > 0;
        let mut candidates: Vec<Task> = self.tasks.iter().filter(may).cloned().collect();
        candidates.sort_by(|a, b| less(a.factor(now), b.factor(now)).then(b.seq.cmp(&a.seq)));
        let enough =
            |victims: &[Task]| free.len() + victims.iter().map(|task| task.count).sum::<u32>() >= count;
        let first = (0..=candidates.len()).find(|first| enough(&candidates[..*first]))?;
        let mut victims = candidates[..first].to_vec();
        loop {
            let is_enough = |at: &usize| {
                let mut rest = victims.clone();
                rest.remove(*at);
                enough(&rest)
            };
            let superfluous = (0..victims.len()).filter(is_enough);
            let dropped = match self.drop {
                "largest" => superfluous.max_by_key(|at| (victims[*at].count, *at)),
                _ => superfluous.max(),
            };
            let Some(dropped) = dropped else { return Some(victims) };
            victims.remove(dropped);
        }
    }
}

impl LocalPolicy for Slow {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => {
                let live = view.job(job);
                self.fresh.push(job);
                self.tasks.push(Task {
                    job,
                    seq: live.seq(),
                    ready: live.ready(),
                    estimate: u128::from(live.estimate().micros().max(1)),
                    ran: 0,
                    since: view.now(),
                    first: None,
                    runs: false,
                    procs: ProcSet::new(),
                    count: live.procs(),
                });
            }
            Change::Ended(job) | Change::Withdrawn(job) => self.tasks.retain(|task| task.job != job),
            _ => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let (now, mut free) = (view.now(), view.free_set().clone());
        for job in std::mem::take(&mut self.fresh) {
            let count = self.task(job).count;
            let Some(victims) = self.victims(count, &free, now) else { continue };
            for victim in victims {
                let (waited, ran) =
                    (view.job(victim.job).waited(now), Span::from_micros(victim.ran(now) as u64));
                let (ours, theirs) = (XFactor::new(waited, ran), view.job(job).xfactor(now));
                actions.preempt(victim.job, Preempted { by: job, ours, theirs });
                free.insert_all(&victim.procs);
                let task = self.task(victim.job);
                (task.ran, task.runs) = (task.ran(now), false);
            }
            let procs = view.pick(&free, count).expect("they are enough");
            self.put(job, procs, &mut free, now, actions);
        }
        loop {
            let mut idle: Vec<Task> = self.tasks.iter().filter(|task| !task.runs).cloned().collect();
            idle.sort_by(|a, b| less(b.factor(now), a.factor(now)).then(a.seq.cmp(&b.seq)));
            let fits = |task: &&Task| match task.first {
                Some(_) if !self.anywhere => free.contains_all(&task.procs),
                _ => free.len() >= task.count,
            };
            let Some(next) = idle.iter().find(fits) else { break };
            let own = next.first.filter(|_| !self.anywhere).map(|_| next.procs.clone());
            let procs = own.or_else(|| view.pick(&free, next.count)).expect("it fits");
            self.put(next.job, procs, &mut free, now, actions);
        }
    }

    fn adopt(&mut self, _: &View<'_>) {
        unreachable!("the twin is not restored");
    }
}

proptest! {
    #![proptest_config(support::cases(64))]

    /// The policy and the twin leave the same records.
    #[test]
    fn it_is_as_its_twin(
        quantum in proptest::sample::select(vec![0_u64, 1, 60, 600]),
        drop in proptest::sample::select(vec!["largest", "last"]),
        anywhere in any::<bool>(),
        jobs in jobs(40),
    ) {
        let twin = PolicyInfo::new("slow-is", move |_| {
            let slow = Slow { quantum: quantum * 1_000_000, drop, anywhere, tasks: Vec::new(), fresh: Vec::new() };
            let able =
                Abilities { preempts: true, same_processors: !anywhere, picks_processors: true, ..Abilities::PLAIN };
            Ok((Box::new(slow), able))
        });
        let registry = Registry::standard().with(twin.doc("Immediate service with plain vectors."));
        let ran = |policy: &str| run_with(&registry, &site(12, policy), &jobs);
        let restart = if anywhere { "anywhere" } else { "same" };
        let fast = ran(&format!("is[quantum={quantum} s,drop={drop},restart={restart}]"));
        let slow = ran("slow-is");
        prop_assert_eq!(&fast.records, &slow.records);
        prop_assert_eq!(fast.jobs().filter(|job| job.outcome == Outcome::Completed).count(), jobs.len());
    }
}

fn ran(policy: &str, jobs: &[Job]) -> support::Ran {
    support::run(&site(4, policy), jobs)
}

#[test]
fn an_arriving_job_is_served_at_once() {
    // At 700 job 1 has run for 700, and its factor is 1. Job 3 comes within the quantum of job 2 and waits for it.
    let jobs = [job(1, 0, 4, 2_000), job(2, 700, 2, 900), job(3, 800, 4, 100)];
    let is = ran("is", &jobs);
    assert_eq!(stretches(&is, 1), [stretch(0, 700, "0-3"), stretch(1_700, 3_000, "0-3")]);
    assert_eq!(stretches(&is, 2), [stretch(700, 1_600, "0-1")]);
    // At 1,600 job 3 has (800 + 100) / 100 = 9, and job 1 1,600 / 700.
    assert_eq!(stretches(&is, 3), [stretch(1_600, 1_700, "0-3")]);
    // With a shorter quantum job 2 is suspended at 800. At 900 all fit but job 1.
    let is = ran("is[quantum=1 min]", &jobs);
    assert_eq!(stretches(&is, 3), [stretch(800, 900, "0-3")]);
    assert_eq!(stretches(&is, 2), [stretch(700, 800, "0-1"), stretch(900, 1_700, "0-1")]);
    assert_eq!(stretches(&is, 1), [stretch(0, 700, "0-3"), stretch(1_700, 3_000, "0-3")]);
}

#[test]
fn the_victims_are_those_with_the_lowest_factor() {
    // At 1,000 neither job 1 nor job 2 has waited: the last to come goes first. At 1,020 job 3 is within its quantum, and job 1 is the one
    // victim. Job 2 comes back when job 3 has ended, and job 1 when job 4 has.
    let jobs = [job(1, 0, 2, 3_000), job(2, 100, 2, 3_000), job(3, 1_000, 1, 50), job(4, 1_020, 2, 50)];
    let is = ran("is", &jobs);
    assert_eq!(stretches(&is, 2)[0], stretch(100, 1_000, "2-3"));
    assert_eq!(stretches(&is, 3), [stretch(1_000, 1_050, "2")]);
    assert_eq!(stretches(&is, 1)[0], stretch(0, 1_020, "0-1"));
    assert_eq!(stretches(&is, 4), [stretch(1_020, 1_070, "0-1")]);
    assert_eq!(stretches(&is, 2)[1], stretch(1_050, 3_150, "2-3"));
    assert_eq!(stretches(&is, 1)[1], stretch(1_070, 3_050, "0-1"));
}

#[test]
fn a_suspended_job_may_resume_anywhere() {
    // At 1,000 job 3 takes the place of job 2, the last to come. At 1,100 job 1 has ended, and its processors are free.
    let jobs = [job(1, 0, 2, 1_100), job(2, 100, 2, 3_000), job(3, 1_000, 2, 500)];
    assert_eq!(stretches(&ran("is", &jobs), 2), [stretch(100, 1_000, "2-3"), stretch(1_500, 3_600, "2-3")]);
    let anywhere = ran("is[restart=anywhere]", &jobs);
    assert_eq!(stretches(&anywhere, 2), [stretch(100, 1_000, "2-3"), stretch(1_100, 3_200, "0-1")]);
    // It gets no new quantum: at 1,200 its factor is 1,100 / 1,000, and job 3 is within its own.
    let more = [&jobs[..], &[job(4, 1_200, 2, 100)]].concat();
    assert_eq!(stretches(&ran("is[restart=anywhere]", &more), 2)[1], stretch(1_100, 1_200, "0-1"));
}
