//! A slow reference implementation of the slices of SCOJO-PECT, as docs/scojo-pect.md tells them after Kanavallil 2007 (chapters 4 and 6): second by second, with free processors counted for each
//! second to come. The policy of the library is compared with it job by job. Groups, machines that leave and what preemption costs are left out.

use gridemu::model::{Job, SiteSpec};
use gridemu::units::Span;
use proptest::prelude::*;

use crate::support::{With as _, job, run, site};

const PROCS: u32 = 10;
/// From which estimate on a job is a medium one, and a long one, in seconds.
const BOUNDS: [u64; 2] = [10, 70];
const NAMES: [&str; 3] = ["short", "medium", "long"];
/// Whose slice comes after that of short, medium and long jobs.
const NEXT: [usize; 3] = [1, 2, 0];
/// Further ahead than all plans, and the longest estimate.
const AHEAD: usize = 6_000;
const LONGEST: usize = 400;

/// What is chosen of the policy.
#[derive(Clone, Debug)]
struct Chosen {
    /// In per cent, by class.
    shares: [u64; 3],
    /// Other shares in the first minute of the run, which is the last one of a day.
    by_night: Option<[u64; 3]>,
    cycle: u64,
    floor: u64,
    switch: u64,
    smart: bool,
    easy: bool,
}

impl Chosen {
    fn site(&self) -> SiteSpec {
        let Self { cycle, floor, switch, smart, .. } = self;
        let written = |[short, medium, long]: [u64; 3]| format!("{short}%/{medium}%/{long}%");
        let backfill = if self.easy { "easy" } else { "conservative" };
        let night = self.by_night.map(|night| format!(",shares_by_hour=23-24={}", written(night)));
        let mut spec = site(
            PROCS,
            &format!(
                "scojo-pect[classes=10 s/70 s,shares={},cycle={cycle} s,floor={floor} s,switch={switch} s,smart={smart},backfill={backfill}{}]",
                written(self.shares),
                night.unwrap_or_default()
            ),
        );
        spec.tariff.starts_at = Span::from_secs(86_400 - 60);
        spec
    }

    /// How long a slice is that begins now, in seconds.
    fn length(&self, now: u64, class: usize, there: [bool; 3]) -> u64 {
        let shares = self.by_night.filter(|_| now < 60).unwrap_or(self.shares);
        let total: u64 = (0..3).filter(|class| there[*class]).map(|class| shares[class]).sum();
        let number = there.iter().filter(|there| **there).count() as u64;
        let part = |class: usize| match (there[class], total) {
            (false, _) => 0,
            (true, 0) => whole(self.cycle, number),
            (true, _) => whole(self.cycle * shares[class], total),
        };
        let floor = self.floor;
        let lacking: u64 =
            (0..3).filter(|class| there[*class]).map(|class| floor.saturating_sub(part(class))).sum();
        let mut longest = 0;
        for class in 1..3 {
            if part(class) >= part(longest) {
                longest = class;
            }
        }
        let lent = if longest == class { lacking } else { 0 };
        part(class).saturating_sub(lent).max(floor)
    }
}

/// A quotient: cycles and shares are such that slices have whole seconds.
fn whole(a: u64, b: u64) -> u64 {
    assert_eq!(a % b, 0, "{a} / {b}");
    a / b
}

/// What a job does.
#[derive(Clone, Debug, PartialEq)]
enum Doing {
    ToCome,
    Waits,
    /// On these processors.
    Runs(Vec<u32>),
    /// It had these processors.
    Preempted(Vec<u32>),
    Over,
}

#[derive(Clone, Debug)]
struct Member {
    submit: u64,
    procs: u32,
    runtime: u64,
    estimate: u64,
    /// How long it has run.
    ran: u64,
    doing: Doing,
    start: u64,
    end: u64,
}

impl Member {
    fn class(&self) -> usize {
        BOUNDS.iter().filter(|bound| self.estimate >= **bound).count()
    }

    fn left(&self) -> u64 {
        self.estimate - self.ran
    }

    fn is_idle(&self) -> bool {
        matches!(self.doing, Doing::Waits | Doing::Preempted(_))
    }

    fn is_there(&self) -> bool {
        self.is_idle() || matches!(self.doing, Doing::Runs(_))
    }
}

#[derive(Copy, Clone, Debug)]
struct Slice {
    class: usize,
    runs_from: u64,
    until: u64,
}

/// A slice as it is told: its class, and when it began, from when on jobs ran in it, and when it was to end.
type Told = (&'static str, [f64; 3]);

/// The machine at a second.
#[derive(Clone)]
struct Twin<'a> {
    chosen: &'a Chosen,
    now: u64,
    jobs: Vec<Member>,
    slice: Option<Slice>,
}

/// Free processors in each second from now on.
struct Ahead(Vec<i64>);

impl Ahead {
    fn fits(&self, from: usize, seconds: u64, procs: u32) -> bool {
        (from..from + seconds as usize).all(|second| self.0[second] >= i64::from(procs))
    }

    fn take(&mut self, from: usize, seconds: u64, procs: u32) {
        (from..from + seconds as usize).for_each(|second| self.0[second] -= i64::from(procs));
    }

    fn earliest(&self, seconds: u64, procs: u32) -> usize {
        (0..AHEAD).find(|from| self.fits(*from, seconds, procs)).expect("it fits at the end of all")
    }
}

impl Twin<'_> {
    fn of(&self, class: usize) -> Vec<usize> {
        (0..self.jobs.len()).filter(|at| self.jobs[*at].class() == class).collect()
    }

    fn free(&self) -> Vec<u32> {
        let is_taken = |proc: &u32| {
            self.jobs.iter().any(|job| matches!(&job.doing, Doing::Runs(procs) if procs.contains(proc)))
        };
        (0..PROCS).filter(|proc| !is_taken(proc)).collect()
    }

    /// The lowest free processors for a job to start on: those that no preempted job has, or else no preempted one of its class.
    fn place(&self, job: usize, preempted: &[usize]) -> Option<Vec<u32>> {
        let has = |of: usize, proc: u32| matches!(&self.jobs[of].doing, Doing::Preempted(procs) | Doing::Runs(procs) if procs.contains(&proc));
        let among = |own: bool| -> Vec<u32> {
            let counts = |of: &&usize| !own || self.jobs[**of].class() == self.jobs[job].class();
            let owned = |proc: u32| preempted.iter().filter(counts).any(|of| has(*of, proc));
            self.free().into_iter().filter(|proc| !owned(*proc)).collect()
        };
        let count = self.jobs[job].procs as usize;
        [among(false), among(true)]
            .into_iter()
            .find(|free| free.len() >= count)
            .map(|free| free[..count].to_vec())
    }

    /// For how long a job holds its processors: one of another class until the end of the slice at most.
    fn holds(&self, job: usize, slice: Slice) -> u64 {
        let left = self.jobs[job].left();
        if self.jobs[job].class() == slice.class { left } else { left.min(slice.until - self.now) }
    }

    /// Resumes and starts what runs in a slice.
    fn fill(&mut self, slice: Slice) {
        let mut ahead = Ahead(vec![i64::from(PROCS); AHEAD + LONGEST]);
        for job in 0..self.jobs.len() {
            if let Doing::Runs(procs) = &self.jobs[job].doing {
                ahead.take(0, self.holds(job, slice), procs.len() as u32);
            }
        }
        let preempted: Vec<usize> =
            (0..self.jobs.len()).filter(|job| matches!(self.jobs[*job].doing, Doing::Preempted(_))).collect();
        // Others count by what they need; those of the class have their processors in any case.
        let resume = |twin: &mut Self, ahead: &mut Ahead, job: usize| {
            let Doing::Preempted(procs) = twin.jobs[job].doing.clone() else { return };
            let holds = twin.holds(job, slice);
            let free = twin.free();
            let is_own = twin.jobs[job].class() == slice.class;
            if procs.iter().all(|proc| free.contains(proc))
                && (is_own || ahead.fits(0, holds, procs.len() as u32))
            {
                ahead.take(0, holds, procs.len() as u32);
                twin.jobs[job].doing = Doing::Runs(procs);
            }
        };
        let start = |twin: &mut Self, ahead: &mut Ahead, job: usize| -> bool {
            let (procs, holds) = (twin.jobs[job].procs, twin.holds(job, slice));
            let place = twin.place(job, &preempted).filter(|_| ahead.fits(0, holds, procs));
            let Some(place) = place else { return false };
            ahead.take(0, holds, procs);
            twin.jobs[job].doing = Doing::Runs(place);
            twin.jobs[job].start = twin.jobs[job].start.min(twin.now);
            true
        };
        let waits = |twin: &Self, job: usize| twin.jobs[job].doing == Doing::Waits;
        for job in self.of(slice.class) {
            resume(self, &mut ahead, job);
        }
        let mut planned = 0;
        for job in self.of(slice.class) {
            if waits(self, job) && !start(self, &mut ahead, job) {
                if !self.chosen.easy || planned == 0 {
                    let (seconds, procs) = (self.jobs[job].left(), self.jobs[job].procs);
                    let from = ahead.earliest(seconds, procs);
                    ahead.take(from, seconds, procs);
                }
                planned += 1;
            }
        }
        if !self.chosen.smart {
            return;
        }
        for class in (0..3).filter(|class| *class != slice.class) {
            for job in self.of(class) {
                resume(self, &mut ahead, job);
            }
        }
        for class in (0..3).filter(|class| *class != slice.class) {
            for job in self.of(class) {
                if waits(self, job) {
                    start(self, &mut ahead, job);
                }
            }
        }
    }

    fn suspend(&mut self, stays: impl Fn(usize) -> bool) {
        for at in 0..self.jobs.len() {
            if let Doing::Runs(procs) = self.jobs[at].doing.clone()
                && !stays(at)
            {
                self.jobs[at].doing = Doing::Preempted(procs);
            }
        }
    }

    /// The class that has the next slice, if this one is over. It is only looked at when something happens.
    fn turn(&mut self, told: &mut Vec<Told>) {
        let there: [bool; 3] =
            [0, 1, 2].map(|class| self.of(class).iter().any(|job| self.jobs[*job].is_there()));
        let is_over = self.slice.is_none_or(|slice| slice.until <= self.now || !there[slice.class]);
        if !is_over || !self.jobs.iter().any(Member::is_idle) {
            return;
        }
        // Long, short, medium.
        let mut class = self.slice.map_or(2, |slice| NEXT[slice.class]);
        while !there[class] {
            class = NEXT[class];
        }
        let until = self.now + self.chosen.length(self.now, class, there);
        let runs_from = self.slice.map_or(self.now, |slice| slice.runs_from.max(self.now));
        let mut slice = Slice { class, runs_from, until };
        if self.slice.is_none_or(|last| last.class != class) {
            // What would run in it if all jobs were suspended.
            let mut fresh = self.clone();
            fresh.suspend(|_| false);
            fresh.fill(slice);
            let runs = |twin: &Self, at: usize| matches!(twin.jobs[at].doing, Doing::Runs(_));
            let all = 0..self.jobs.len();
            let goes = all.clone().any(|at| runs(self, at) && !runs(&fresh, at));
            let comes = all.clone().any(|at| {
                let job = &self.jobs[at];
                matches!(job.doing, Doing::Preempted(_)) && job.class() == class && runs(&fresh, at)
            });
            if goes || comes {
                slice.runs_from = self.now + self.chosen.switch;
                let is_free = self.chosen.switch == 0;
                self.suspend(|at| is_free && runs(&fresh, at));
            }
        }
        self.slice = Some(slice);
        told.push((NAMES[class], [self.now, slice.runs_from, slice.until].map(|second| second as f64)));
    }

    /// Runs all jobs: their first starts and ends, and the slices.
    fn run(mut self) -> (Vec<(u64, u64)>, Vec<Told>) {
        let mut told = Vec::new();
        // When the slice is to be looked at, even if no job comes or ends.
        let mut looks = None;
        while self.jobs.iter().any(|job| job.doing != Doing::Over) {
            let mut happens = looks == Some(self.now);
            for job in &mut self.jobs {
                if matches!(job.doing, Doing::Runs(_)) && job.ran == job.runtime {
                    (job.doing, job.end, happens) = (Doing::Over, self.now, true);
                }
                if job.submit == self.now {
                    (job.doing, happens) = (Doing::Waits, true);
                }
            }
            if happens {
                looks = None;
                // While no job waits or is preempted, nothing is to be done.
                if self.jobs.iter().any(Member::is_idle) {
                    self.turn(&mut told);
                    let slice = self.slice.expect("there is one now");
                    if slice.runs_from > self.now {
                        looks = Some(slice.runs_from);
                    } else if slice.until > self.now {
                        self.fill(slice);
                        let others = self.jobs.iter().any(|job| job.is_there() && job.class() != slice.class);
                        let is_idle = self.jobs.iter().any(Member::is_idle);
                        looks = (others && is_idle).then_some(slice.until);
                    }
                }
            }
            for job in &mut self.jobs {
                job.ran += u64::from(matches!(job.doing, Doing::Runs(_)));
            }
            self.now += 1;
            assert!(self.now < AHEAD as u64, "it does not end");
        }
        (self.jobs.iter().map(|job| (job.start, job.end)).collect(), told)
    }
}

fn any_chosen() -> impl Strategy<Value = Chosen> {
    let shares = || {
        proptest::sample::select(vec![
            [20, 40, 40],
            [20, 60, 20],
            [25, 25, 50],
            [0, 0, 100],
            [0, 50, 50],
            [100, 0, 0],
        ])
    };
    let times = proptest::sample::select(vec![
        (60, 10, 2),
        (60, 12, 0),
        (60, 20, 5),
        (120, 1, 0),
        (120, 30, 7),
        (240, 5, 2),
    ]);
    (shares(), proptest::option::of(shares()), times, any::<bool>(), any::<bool>()).prop_map(
        |(shares, by_night, (cycle, floor, switch), smart, easy)| Chosen {
            shares,
            by_night,
            cycle,
            floor,
            switch,
            smart,
            easy,
        },
    )
}

/// Jobs with estimates up to twice their run times.
fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
    let run = prop_oneof![1_u64..10, 10_u64..60, 40_u64..200];
    let one = (0_u64..200, 1..=PROCS, run, prop_oneof![Just(0), 0_u64..=100]);
    proptest::collection::vec(one, 1..14).prop_map(|mut all| {
        all.sort_by_key(|(submit, ..)| *submit);
        let jobs = (1..).zip(all).map(|(id, (submit, procs, run, over))| {
            job(id, submit, procs, run).estimate(run + run * over / 100)
        });
        jobs.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_slices_are_those_of_the_twin(chosen in any_chosen(), jobs in any_jobs()) {
        let members = jobs.iter().map(|job| Member {
            submit: job.submit.micros() / 1_000_000,
            procs: job.size.preferred(),
            runtime: job.runtime.micros() / 1_000_000,
            estimate: job.estimate.micros() / 1_000_000,
            ran: 0,
            doing: Doing::ToCome,
            start: u64::MAX,
            end: 0,
        });
        let twin = Twin { chosen: &chosen, now: 0, jobs: members.collect(), slice: None };
        let (times, slices) = twin.run();
        let ran = run(&chosen.site(), &jobs);
        let theirs: Vec<(u64, u64)> = jobs.iter().map(|job| ran.times(job.id.0)).collect();
        prop_assert_eq!(&theirs, &times, "slices {:?} and {:?}", ran.slices(), slices);
        prop_assert_eq!(ran.slices(), slices);
    }
}
