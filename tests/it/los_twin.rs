//! A slow reference implementation of Delayed-LOS and Hybrid-LOS: Algorithms 1 to 3 of Kumar, Shae and Jamjoom 2012 line by line,
//! with the tables of the dynamic programs. The policies of the library are compared with it job by job.

use std::collections::BTreeMap;

use gridemu::local::{Abilities, Actions, Change, LocalPolicy, Phase, PolicyInfo, Registry, View};
use gridemu::model::{Job, JobKey, Named, SiteSpec};
use gridemu::units::Time;
use proptest::prelude::*;

use crate::invariants::cases;
use crate::support::{self, run_with};

fn slow() -> PolicyInfo {
    PolicyInfo::new("slow-los", |named| {
        let slow = Slow::new(named);
        let elastic = named.take("commands", "a number")?.unwrap_or_default();
        named.params.clear();
        let able = Abilities { dedicated: slow.hybrid, elastic, ..Abilities::PLAIN };
        Ok((Box::new(slow), able))
    })
    .doc("Algorithms 1 to 3, line by line.")
}

struct Slow {
    most_skips: u32,
    lookahead: usize,
    by: bool,
    hybrid: bool,
    batch: Vec<JobKey>,
    dedicated: Vec<JobKey>,
    scount: BTreeMap<JobKey, u32>,
}

/// One pass.
struct Cycle<'a> {
    view: View<'a>,
    /// `A`: processors and expected end.
    active: Vec<(u32, Time)>,
    m: u32,
}

impl Cycle<'_> {
    fn num(&self, job: JobKey) -> u32 {
        self.view.job(job).procs()
    }

    fn activate(&mut self, job: JobKey, actions: &mut Actions) {
        let (num, end) = (self.num(job), self.view.now() + self.view.job(job).estimate());
        actions.start(job, num);
        self.m -= num;
        // What has no length counts as overdue, as everywhere.
        let end = if end > self.view.now() { end } else { end + gridemu::units::Span::SECOND };
        self.active.push((num, end));
        self.active.sort_by_key(|(_, end)| *end);
    }

    /// `fret` and `frec` for so many processors: all jobs that end at that instant count.
    fn freeze(&self, wanted: u32) -> Option<(Time, u32)> {
        let mut have = self.m;
        let fret = self.active.iter().find_map(|(num, end)| {
            have += num;
            (have >= wanted).then_some(*end)
        })?;
        let then: u32 = self.active.iter().filter(|(_, end)| *end <= fret).map(|(num, _)| num).sum();
        Some((fret, self.m + then - wanted))
    }
}

impl Slow {
    fn new(named: &Named) -> Self {
        let number = |key: &str, default| named.params.get(key).map_or(default, |text| text.parse().unwrap());
        Self {
            most_skips: number("cs", 0),
            lookahead: number("lookahead", 50) as usize,
            by: named.params.contains_key("by"),
            hybrid: named.params.contains_key("hybrid"),
            batch: Vec::new(),
            dedicated: Vec::new(),
            scount: BTreeMap::new(),
        }
    }

    fn scount(&self, job: JobKey) -> u32 {
        self.scount.get(&job).copied().unwrap_or(0)
    }

    /// Basic_DP (without a freeze) and Reservation_DP, again while jobs that fit were not looked at: starts the sets, and says whether the
    /// head is in one of them.
    fn dp(&mut self, cycle: &mut Cycle<'_>, freeze: Option<(Time, u32)>, actions: &mut Actions) -> bool {
        let (head, mut freeze) = (self.batch[0], freeze);
        loop {
            let fitting = self.candidates(cycle, freeze).len();
            let (started, held) = self.best_set(cycle, freeze, actions);
            if let Some((_, frec)) = &mut freeze {
                *frec -= held.min(*frec);
            }
            if started == 0 || fitting < self.lookahead {
                return !self.batch.contains(&head);
            }
        }
    }

    /// Whether it is over at the freeze end.
    fn over(&self, cycle: &Cycle<'_>, freeze: Option<(Time, u32)>, job: JobKey) -> bool {
        let end = cycle.view.now() + cycle.view.job(job).estimate();
        freeze.is_none_or(|(fret, _)| if self.by { end <= fret } else { end < fret })
    }

    /// Those that fit now and, if they are still there then, at the freeze end.
    fn candidates(&self, cycle: &Cycle<'_>, freeze: Option<(Time, u32)>) -> Vec<JobKey> {
        let fits = |job: &JobKey| {
            let num = cycle.num(*job);
            num <= cycle.m && (self.over(cycle, freeze, *job) || freeze.is_none_or(|(_, frec)| num <= frec))
        };
        self.batch.iter().copied().filter(fits).collect()
    }

    /// Starts the best set of the first jobs that fit: how many, and the processors of those that are still there at the freeze end.
    fn best_set(
        &mut self,
        cycle: &mut Cycle<'_>,
        freeze: Option<(Time, u32)>,
        actions: &mut Actions,
    ) -> (usize, u32) {
        let q = cycle.view.allocation_unit().max(1);
        let fits = self.candidates(cycle, freeze);
        let among = &fits[..fits.len().min(self.lookahead)];
        let (n, extra) = (cycle.m / q, freeze.map_or(0, |(_, frec)| frec / q).min(cycle.m / q));
        let (n, extra) = (n as usize, extra as usize);
        let frenum = |job: JobKey| match self.over(cycle, freeze, job) {
            true => 0,
            false => (cycle.num(job) / q) as usize,
        };
        let mut table = vec![vec![vec![0_usize; extra + 1]; n + 1]; among.len() + 1];
        for (i, job) in (1..).zip(among) {
            let (s, f) = ((cycle.num(*job) / q) as usize, frenum(*job));
            for c in 0..=n {
                for e in 0..=extra {
                    table[i][c][e] = table[i - 1][c][e];
                    if s <= c && f <= e {
                        table[i][c][e] = table[i][c][e].max(table[i - 1][c - s][e - f] + s);
                    }
                }
            }
        }
        let (mut c, mut e) = (n, extra);
        let mut chosen = Vec::new();
        for i in (1..=among.len()).rev() {
            if table[i][c][e] != table[i - 1][c][e] {
                chosen.push(among[i - 1]);
                c -= (cycle.num(among[i - 1]) / q) as usize;
                e -= frenum(among[i - 1]);
            }
        }
        let held = chosen.iter().map(|job| frenum(*job) as u32 * q).sum();
        chosen.iter().rev().for_each(|job| cycle.activate(*job, actions));
        self.batch.retain(|job| !chosen.contains(job));
        (chosen.len(), held)
    }

    fn dp_counted(&mut self, cycle: &mut Cycle<'_>, freeze: Option<(Time, u32)>, actions: &mut Actions) {
        let head = self.batch[0];
        if !self.dp(cycle, freeze, actions) {
            *self.scount.entry(head).or_default() += 1;
        }
    }

    /// Lines 13 to 20 of Algorithm 1.
    fn around_head(&mut self, cycle: &mut Cycle<'_>, actions: &mut Actions) {
        if let Some(freeze) = cycle.freeze(cycle.num(self.batch[0])) {
            self.dp(cycle, Some(freeze), actions);
        }
    }

    /// Algorithm 1, again while it starts the head.
    fn delayed(&mut self, cycle: &mut Cycle<'_>, actions: &mut Actions) {
        while cycle.m > 0 && !self.batch.is_empty() {
            let head = self.batch[0];
            if cycle.num(head) > cycle.m {
                return self.around_head(cycle, actions);
            }
            if self.scount(head) < self.most_skips {
                return self.dp_counted(cycle, None, actions);
            }
            cycle.activate(self.batch.remove(0), actions);
        }
    }

    /// Algorithm 3.
    fn move_to_head(&mut self) {
        let job = self.dedicated.remove(0);
        self.scount.insert(job, self.most_skips);
        self.batch.insert(0, job);
    }

    /// Algorithm 2.
    fn hybrid(&mut self, cycle: &mut Cycle<'_>, actions: &mut Actions) {
        let now = cycle.view.now();
        loop {
            let Some(first) = self.dedicated.first().copied() else { return self.delayed(cycle, actions) };
            let start_of = |job: JobKey| cycle.view.job(job).requested_start().expect("it is dedicated");
            let start = start_of(first);
            if cycle.m == 0 || self.batch.is_empty() {
                if start > now {
                    return;
                }
                self.move_to_head();
            } else if self.scount(self.batch[0]) >= self.most_skips {
                if cycle.num(self.batch[0]) > cycle.m {
                    return self.around_head(cycle, actions);
                }
                cycle.activate(self.batch.remove(0), actions);
            } else if start <= now {
                self.move_to_head();
            } else {
                // Lines 10 to 15: what ends at the start or later is still there.
                let still: u32 =
                    cycle.active.iter().filter(|(_, end)| *end >= start).map(|(num, _)| num).sum();
                let all: u32 = cycle.m + cycle.active.iter().map(|(num, _)| num).sum::<u32>();
                let frec = all - still;
                let same = self.dedicated.iter().filter(|job| start_of(**job) == start);
                let mut wanted: Vec<u32> = same.map(|job| cycle.num(*job)).collect();
                let freeze = if wanted.iter().sum::<u32>() <= frec {
                    Some((start, frec - wanted.iter().sum::<u32>()))
                } else {
                    while wanted.iter().sum::<u32>() > all {
                        wanted.pop();
                    }
                    let total: u32 = wanted.iter().sum();
                    match total {
                        0 => None,
                        _ if total <= frec => Some((start, frec - total)),
                        _ => cycle.freeze(total),
                    }
                };
                return self.dp_counted(cycle, freeze, actions);
            }
        }
    }
}

impl LocalPolicy for Slow {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) if self.hybrid && view.job(job).requested_start().is_some() => {
                self.dedicated.push(job);
                self.dedicated.sort_by_key(|job| (view.job(*job).requested_start(), view.job(*job).seq()));
            }
            Change::Arrived(job) => self.batch.push(job),
            Change::Withdrawn(job) => {
                self.batch.retain(|other| *other != job);
                self.dedicated.retain(|other| *other != job);
                self.scount.remove(&job);
            }
            Change::Ended(job) => drop(self.scount.remove(&job)),
            _ => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut active: Vec<(u32, Time)> = view
            .jobs_in(Phase::Running)
            .into_iter()
            .filter(|job| !view.ends_now(*job))
            .map(|job| (view.job(job).held(), view.expected_end(job)))
            .chain(view.jobs_in(Phase::Starting).into_iter().map(|job| {
                let estimate = view.job(job).estimate().max(gridemu::units::Span::TICK);
                let estimate = if view.job(job).estimate().micros() == 0 {
                    gridemu::units::Span::SECOND
                } else {
                    estimate
                };
                (view.job(job).held(), view.now() + estimate)
            }))
            .collect();
        active.sort_by_key(|(_, end)| *end);
        let mut cycle = Cycle { view: *view, active, m: view.free() };
        if self.hybrid {
            self.hybrid(&mut cycle, actions);
        } else {
            self.delayed(&mut cycle, actions);
        }
        for job in &self.dedicated {
            let start = view.job(*job).requested_start().expect("it is dedicated");
            if start > view.now() {
                actions.wake_at(start);
                break;
            }
        }
    }

    fn adopt(&mut self, _view: &View<'_>) {
        unreachable!("the twin is never handed a run");
    }
}

/// The same records under the policy and its twin.
fn same(mut spec: SiteSpec, jobs: &[Job], policy: &str, twin: &str) {
    spec.reservations.clear();
    if twin.starts_with("slow") {
        // It knows no machines that sleep.
        spec = support::awake(spec);
    }
    let registry = Registry::standard().with(slow());
    spec.policy = policy.parse().expect("a policy");
    let fast = run_with(&registry, &spec, jobs);
    spec.policy = twin.parse().expect("a policy");
    let slow = run_with(&registry, &spec, jobs);
    assert_eq!(fast.starts(), slow.starts(), "{policy}");
    assert_eq!(fast.records, slow.records, "{policy}");
}

/// All of them in one queue.
fn packed(jobs: &[Job]) -> Vec<Job> {
    jobs.iter().map(|job| Job { partition: None, ..job.clone() }).collect()
}

proptest! {
    #![proptest_config(crate::support::cases(400))]

    #[test]
    fn delayed_los_is_algorithm_1(case in cases(vec!["los".to_owned()], 40), cs in 0_u32..5) {
        let batch = |job: &Job| Job { requested_start: None, ..job.clone() };
        let jobs: Vec<Job> = packed(&case.jobs).iter().map(batch).collect();
        same(case.spec.clone(), &jobs, &format!("delayed-los[cs={cs}]"), &format!("slow-los[cs={cs}]"));
        same(case.spec.clone(), &jobs, "los", "slow-los[cs=0]");
        same(case.spec.clone(), &jobs, "los[shadow=by]", "slow-los[cs=0,by=1]");
        same(case.spec, &jobs, "delayed-los[cs=3,lookahead=2]", "slow-los[cs=3,lookahead=2]");
    }

    #[test]
    fn hybrid_los_is_algorithms_2_and_3(case in cases(vec!["hybrid-los".to_owned()], 40), cs in 0_u32..5) {
        let (policy, twin) = (format!("hybrid-los[cs={cs}]"), format!("slow-los[cs={cs},hybrid=1]"));
        same(case.spec.clone(), &packed(&case.jobs), &policy, &twin);
        same(case.spec.clone(), &case.jobs, &policy, &twin);
        let (few, twin) = ("hybrid-los[cs=2,lookahead=2]", "slow-los[cs=2,lookahead=2,hybrid=1]");
        same(case.spec, &packed(&case.jobs), few, twin);
    }

    /// Jobs that change while they wait and run; the twin looks at them anew in each pass.
    #[test]
    fn what_a_command_changes_is_seen_by_the_next_pass(
        case in cases(vec!["hybrid-los-e".to_owned()], 40), cs in 0_u32..4,
    ) {
        let batch = |job: &Job| Job { requested_start: None, ..job.clone() };
        let jobs: Vec<Job> = packed(&case.jobs).iter().map(batch).collect();
        let delayed = (format!("delayed-los-e[cs={cs}]"), format!("slow-los[cs={cs},commands=1000]"));
        same(case.spec.clone(), &jobs, &delayed.0, &delayed.1);
        let hybrid = (format!("hybrid-los-e[cs={cs}]"), format!("slow-los[cs={cs},hybrid=1,commands=1000]"));
        same(case.spec, &packed(&case.jobs), &hybrid.0, &hybrid.1);
    }

    /// With `C_s = 0` Delayed-LOS is LOS, and so is Hybrid-LOS where no job is dedicated.
    #[test]
    fn without_skips_it_is_los(case in cases(vec!["los".to_owned()], 40)) {
        let batch: Vec<Job> = case.jobs.iter().map(|job| Job { requested_start: None, ..job.clone() }).collect();
        for policy in ["delayed-los[cs=0]", "hybrid-los[cs=0]", "los-d"] {
            same(case.spec.clone(), &batch, policy, "los");
        }
    }
}
