//! The board and the plan against a twin that has a list of jobs for each processor and plans everything anew.

use proptest::collection::vec;
use proptest::prelude::*;

use super::board::{Board, Procs};
use super::crowds::{Crowds, Kind, Member};
use super::plan::Plan;
use super::{Request, ScojoOptions, Shares};
use crate::model::{JobKey, ProcSet};
use crate::sharing::{Aging, Coscheduling, Priorities, Share};
use crate::units::{Rate, Span, Time, Work};

fn share(percent: u32) -> Share {
    format!("{percent}%").parse().unwrap()
}

fn terms() -> impl Strategy<Value = ScojoOptions> {
    let shares = prop_oneof![
        Just(Shares::Same(share(20))),
        (10_u32..60).prop_map(|percent| Shares::Same(share(percent))),
        vec(10_u32..70, 3).prop_map(|all| Shares::Classes(all.into_iter().map(share).collect())),
        Just(Shares::Slots([40, 40, 20].map(share).to_vec())),
    ];
    let models = ["", "", "a b; a 1.2 1.4/0.8; b - 2"];
    let most = prop_oneof![Just(None), (10_u32..20).prop_map(Some)];
    let how = (any::<bool>(), any::<bool>(), any::<bool>());
    (2_u32..5, shares, prop::sample::select(models.to_vec()), most, how).prop_map(
        |(level, shares, table, most, (compensate, gives_spare, together))| {
            let mut coscheduling = Coscheduling::same("1.2".parse().unwrap());
            if !table.is_empty() {
                coscheduling.pairs = table.parse().unwrap();
            }
            coscheduling.most = most.map(|most| format!("{}.{}", most / 10, most % 10).parse().unwrap());
            let bounds = [5, 15].map(Span::from_secs).to_vec();
            ScojoOptions {
                level,
                coscheduling,
                shares,
                compensate,
                gives_spare,
                together,
                priorities: Priorities::new(bounds, Aging::default()).unwrap(),
                by_priority: true,
                backfill: true,
                lookahead: 50,
            }
        },
    )
}

#[derive(Clone, Debug)]
struct Slow<'a> {
    terms: &'a ScojoOptions,
    /// The jobs of each processor, and whether they have started before.
    on: Vec<Vec<(usize, Member, bool)>>,
    stalled: Vec<u32>,
    closed: Vec<bool>,
    jobs: usize,
}

impl Slow<'_> {
    fn takes(&self, proc: usize, job: &Member, backfilled: bool) -> bool {
        let on = &self.on[proc];
        if self.closed[proc] || on.len() + self.stalled[proc] as usize >= self.terms.level as usize {
            return false;
        }
        if on.is_empty() {
            return true;
        }
        let mut all: Vec<Member> = on.iter().map(|(_, member, _)| *member).collect();
        let over = backfilled && all.iter().any(|other| other.priority > job.priority);
        let same_slot = job.slot.is_some() && all.iter().any(|other| other.slot == job.slot);
        let apart = self.terms.together && !backfilled && on.iter().any(|(.., is_old)| *is_old);
        all.push(*job);
        let applications: Vec<Option<usize>> = all.iter().map(|member| member.application).collect();
        let needed: u64 = (0..all.len()).map(|one| self.terms.weight(&all, &applications, one)).sum();
        !over && !same_slot && !apart && needed <= 1_000_000 && self.terms.coscheduling.allows(&applications)
    }

    fn room(&self, job: &Member, procs: usize, backfilled: bool) -> Option<Vec<usize>> {
        let open = (0..self.on.len()).filter(|proc| self.takes(*proc, job, backfilled));
        let mut open: Vec<usize> = open.collect();
        open.sort_by_key(|proc| (self.on[*proc].len() as u32 + self.stalled[*proc], *proc));
        (open.len() >= procs).then(|| {
            open.truncate(procs);
            open.sort_unstable();
            open
        })
    }

    fn add(&mut self, member: Member, procs: &[usize], is_old: bool) -> usize {
        procs.iter().for_each(|proc| self.on[*proc].push((self.jobs, member, is_old)));
        self.jobs += 1;
        self.jobs - 1
    }

    fn rate(&self, number: usize) -> (Rate, Rate) {
        let (mut share, mut kept) = (Rate::FULL, None::<Rate>);
        for on in &self.on {
            let Some(one) = on.iter().position(|(job, ..)| *job == number) else { continue };
            let all: Vec<Member> = on.iter().map(|(_, member, _)| *member).collect();
            let applications: Vec<Option<usize>> = all.iter().map(|member| member.application).collect();
            let weight = |one: usize| self.terms.weight(&all, &applications, one);
            let is_kept = !self.terms.gives_spare && all.len() > 1;
            let sum = if is_kept { 1_000_000 } else { (0..all.len()).map(weight).sum() };
            share = share.min(Rate::ratio(weight(one), sum));
            let here = self.terms.coscheduling.slowdown(&applications, one).efficiency();
            kept = Some(kept.map_or(here, |least| least.min(here)));
        }
        (share, kept.unwrap_or(Rate::FULL))
    }

    /// The starts of these jobs in line, each of which may be of one of several kinds.
    fn planned(
        mut self,
        now: Time,
        mut ends: Vec<(Time, usize)>,
        line: &[(Vec<Member>, usize, Span)],
    ) -> Vec<Time> {
        let (mut time, mut starts) = (now, Vec::new());
        'line: for (members, procs, estimate) in line {
            let (member, procs) = loop {
                let room = |member: &Member| Some((*member, self.room(member, *procs, false)?));
                if let Some(found) = members.iter().find_map(room) {
                    break found;
                }
                let Some(end) = ends.iter().map(|(end, _)| *end).min() else { break 'line };
                time = time.max(end);
                self.on.iter_mut().flatten().for_each(|(.., is_old)| *is_old = true);
                for (_, number) in ends.extract_if(.., |(also, _)| *also == end) {
                    self.on.iter_mut().for_each(|on| on.retain(|(job, ..)| *job != number));
                }
            };
            starts.push(time);
            let number = self.add(member, &procs, false);
            ends.push((time + lasts(self.terms, &member, *estimate), number));
        }
        starts.resize(line.len(), Time::NEVER);
        starts
    }
}

fn lasts(terms: &ScojoOptions, job: &Member, alone: Span) -> Span {
    let kept = match terms.compensate {
        true => Rate::FULL,
        false => terms.coscheduling.worst(job.application, terms.level).efficiency(),
    };
    Work::of_runtime(alone).span_at(job.share.rate().times(kept)).unwrap_or(Span::MAX)
}

/// A job: its class, application, processors and estimate.
type Raw = (usize, usize, u32, u64);

fn raw() -> impl Strategy<Value = Raw> {
    (0_usize..3, 0_usize..3, 1_u32..200, 0_u64..40)
}

/// The first kind of a job.
fn kind(crowds: &mut Crowds, (class, application, ..): Raw) -> Kind {
    let known = application.checked_sub(1).filter(|at| *at < crowds.terms.coscheduling.pairs.names().len());
    crowds.kind(class, known, || 10 - 5 * class as u32)
}

fn numbers(procs: &[u64]) -> Vec<usize> {
    Procs::trimmed(procs).to_set().iter().map(|proc| proc as usize).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn answers_are_those_of_a_twin_that_plans_anew(
        terms in terms(),
        processors in prop_oneof![1_u32..8, 60_u32..140],
        running in vec((raw(), any::<u64>()), 0..20),
        unusual in vec((0_u32..140, 0_u32..3), 0..3),
        line in vec(raw(), 1..8),
        candidates in vec(raw(), 1..8),
    ) {
        let mut crowds = Crowds::new(terms.clone());
        let (count, most, now) = (processors as usize, processors.div_ceil(3), Time::from_secs(100));
        let mut slow = Slow {
            terms: &terms, on: vec![Vec::new(); count], stalled: vec![0; count], closed: vec![false; count], jobs: 0,
        };
        for (proc, how) in unusual {
            let proc = (proc % processors) as usize;
            (slow.stalled[proc], slow.closed[proc]) = if how == 0 { (0, true) } else { (how, false) };
        }
        let bare: Vec<_> =
            slow.stalled.iter().zip(&slow.closed).map(|(stalled, closed)| crowds.without_jobs(*stalled, *closed)).collect();
        let mut board = Board::new(processors, &crowds, bare.into_iter());
        let choices = crowds.choices();
        let (mut jobs, mut room): (Vec<(Kind, ProcSet, Time)>, _) = (Vec::new(), Vec::new());
        for (number, (raw, bits)) in running.into_iter().enumerate() {
            // Somewhere: where one may join in any order, or on processors that have been drawn.
            let kind = kind(&mut crowds, raw) + bits as u32 % choices;
            let drawn = (0..processors).filter(|proc| bits.rotate_left(*proc) & 3 == 0).collect::<ProcSet>();
            let found = board.room(&mut crowds, kind, raw.2 % most + 1, true, &mut room);
            let procs = if found { Procs::trimmed(&room).to_set() } else { drawn };
            if procs.is_empty() {
                continue;
            }
            let is_old = number % 3 != 0;
            board.add(&mut crowds, kind, Procs::of(&procs), is_old);
            let list: Vec<usize> = procs.iter().map(|proc| proc as usize).collect();
            slow.add(*crowds.member(kind), &list, is_old);
            jobs.push((kind, procs, now + Span::from_secs(raw.3)));
        }
        let mut requests: Vec<Request> = Vec::new();
        let mut members: Vec<(Vec<Member>, usize, Span)> = Vec::new();
        for raw in line {
            let first = kind(&mut crowds, raw);
            // The first in line is large, and does not start now.
            let procs = if requests.is_empty() { processors - raw.2 % processors.div_ceil(3) } else { raw.2 % most + 1 };
            let all: Vec<Member> = (first..first + choices).map(|kind| *crowds.member(kind)).collect();
            if requests.is_empty() && all.iter().any(|member| slow.room(member, procs as usize, false).is_some()) {
                continue;
            }
            let (job, estimate) = (JobKey(0), Span::from_secs(raw.3));
            requests.push(Request { job, procs, estimate, kind: first, blind: crowds.blind_kind(first) });
            members.push((all, procs as usize, estimate));
        }
        let mut plan = Plan::default();
        plan.reset(now, &board, &mut crowds);
        jobs.iter().for_each(|(kind, procs, end)| plan.push(&crowds, *kind, Procs::of(procs), *end));
        plan.begin();
        for (at, raw) in candidates.into_iter().enumerate() {
            let ends: Vec<(Time, usize)> = jobs.iter().zip(0..).map(|((.., end), number)| (*end, number)).collect();
            for (number, (kind, procs, _)) in jobs.iter().enumerate() {
                let mut least = (Rate::FULL, Rate::FULL);
                for (at, crowd) in board.crowds_of(Procs::of(procs)).enumerate() {
                    let (share, kept) = crowds.rate(crowd, *kind);
                    least = (least.0.min(share), if at == 0 { kept } else { least.1.min(kept) });
                }
                prop_assert_eq!(least, slow.rate(number));
            }
            let first = kind(&mut crowds, raw);
            let (procs, estimate) = (raw.2 % most + 1, Span::from_secs(raw.3));
            let mut found = None;
            for kind in first..first + choices {
                for backfilled in [false, true] {
                    let is_room = board.room(&mut crowds, kind, procs, backfilled, &mut room);
                    let expected = slow.room(crowds.member(kind), procs as usize, backfilled);
                    prop_assert_eq!(is_room.then(|| numbers(&room)), expected.clone());
                    let open = (0..count).filter(|proc| slow.takes(*proc, crowds.member(kind), backfilled)).count();
                    prop_assert_eq!(board.open(&mut crowds, kind, backfilled) as usize, open);
                    if backfilled && found.is_none() {
                        found = expected.map(|procs| (kind, procs));
                    }
                }
            }
            let Some((kind, list)) = found.filter(|_| !requests.is_empty()) else { continue };
            let set: ProcSet = list.iter().map(|proc| *proc as u32).collect();
            let member = *crowds.member(kind);
            let end = now + crowds.lasts(kind, estimate);
            prop_assert_eq!(end, now + lasts(&terms, &member, estimate));
            // As many of those in line are before it.
            let before = 1 + at % requests.len();
            let without = slow.clone().planned(now, ends.clone(), &members[..before]);
            prop_assert_eq!(plan.first(&mut crowds, &requests), without[0]);
            let mut with = slow.clone();
            let number = with.add(member, &list, false);
            let mut longer = ends.clone();
            longer.push((end, number));
            let with_it = with.clone().planned(now, longer, &members[..before]);
            let delays = with_it.iter().zip(&without).any(|(later, planned)| later > planned);
            let is_over = end <= without[0];
            let told = !is_over && plan.delay(&mut crowds, &requests[..before], (kind, Procs::of(&set), end)).is_some();
            prop_assert_eq!(told, delays, "with {:?} for {:?}", with_it, without);
            if !delays {
                plan.add(&mut crowds, kind, Procs::of(&set), end);
                board.add(&mut crowds, kind, Procs::of(&set), false);
                (slow, _) = (with, jobs.push((kind, set, end)));
            }
        }
        // Jobs end in another order than they came.
        board.settle(&mut crowds);
        slow.on.iter_mut().flatten().for_each(|(.., is_old)| *is_old = true);
        for (number, (kind, procs, _)) in jobs.iter().enumerate().rev().step_by(2) {
            board.remove(&mut crowds, *kind, Procs::of(procs));
            slow.on.iter_mut().for_each(|on| on.retain(|(job, ..)| *job != number));
            for backfilled in [false, true] {
                let is_room = board.room(&mut crowds, *kind, 1, backfilled, &mut room);
                let expected = slow.room(crowds.member(*kind), 1, backfilled);
                prop_assert_eq!(is_room.then(|| numbers(&room)), expected);
            }
        }
    }
}
