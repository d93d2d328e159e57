//! Co-allocated jobs: their parts start together at several sites, on processors that are reserved there.
//!
//! The broker asks sites when they could have the processors, chooses a start that is possible at all of them, and comes to an agreement with these sites
//! ([`crate::agreement`]). When that stands, the parts go to their sites like any other job. If a part does not complete, the others are ended.

mod state;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use self::state::Coallocations;
pub use self::state::Reserving;
use self::state::{Chosen, Live, Part, Phase};
use super::{Broker, record_given_up, task};
use crate::agreement::{Answer, Ask, Coordinator, HoldId, Terms, Verdict, Wanted};
use crate::broker::{Act, CommonStart, Decision, Offered, Pool, Reason, Task, common_start};
use crate::entity::mailbox::Moments;
use crate::entity::{Address, EndedJob, EntityError, Outbox, Stamp, ToBroker, ToDispatcher, ToSite};
use crate::model::{
    Coallocated, CoallocationGoal, CoallocationOutcome, CoallocationSpec, Coupling, EventCause, Holding, Job,
    JobRef, MessageKind, Origin, Outcome, PoolId, Record, Refusal, RejectReason, SiteId, TaskId,
};
use crate::units::{Rate, Span, Time, Work};

/// The most pools that are asked for a part: those with the earliest start estimates.
const MOST_ASKED: usize = 32;

/// What takes so long, and so much longer in millionths, rounded up.
fn slowed(time: Span, by_ppm: u64) -> Span {
    let micros = u128::from(time.micros()) * (1_000_000 + u128::from(by_ppm));
    Span::from_micros(u64::try_from(micros.div_ceil(1_000_000)).unwrap_or(u64::MAX))
}

/// How long at this speed what takes so long at speed 1, rounded up.
fn at_speed(time: Span, speed: Rate) -> Span {
    Work::of_runtime(time).span_at(speed).unwrap_or(Span::MAX)
}

/// How long at speed 1 what takes so long at this speed, rounded down: it takes no longer there.
fn at_speed_one(time: Span, speed: Rate) -> Span {
    let micros = Work::done(speed, time).units() >> Rate::BITS;
    Span::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

impl Broker {
    /// What is done for a job that is a part of one at several sites, until it is sent.
    pub fn reserving(&self, job: JobRef) -> Option<Reserving> {
        self.state.coallocations.reserving(job)
    }

    /// Takes a co-allocated job.
    pub(super) fn coallocate(&mut self, together: Coallocated, now: Stamp, outbox: &mut dyn Outbox) {
        let (request, submit) = (together.first_task.0, together.submit());
        let part = |job: &Job| Part {
            job: JobRef::new(Origin::Grid, SiteId::GRID, job.id),
            procs: job.size.preferred(),
            runtime: job.runtime,
            estimate: job.estimate,
            ended: None,
        };
        let live = Live {
            parts: together.parts.iter().map(part).collect(),
            jobs: together.parts,
            coupling: together.coupling,
            submit,
            phase: Phase::Seeking { asked: BTreeSet::new(), offers: BTreeMap::new(), length: Span::ZERO },
            round: 0,
            picked: 0,
            messages: 0,
            chosen: None,
            refused: None,
            wake: None,
        };
        self.state.coallocations.live.insert(request, live);
        self.seek(request, now, outbox);
    }

    /// The slowest line to any site, and what dispatches take in sum.
    fn travel(&self, parts: usize) -> Span {
        let slowest = self.state.pools.iter().map(|pool| pool.facts.latency).max().unwrap_or_default();
        slowest + self.spec.overhead * parts as u64
    }

    /// How long it takes to agree on a start: offers, holds and commitments go to and fro, then the jobs leave.
    fn agreeing(&self, live: &Live) -> Span {
        self.travel(live.parts.len()) * 7 + Span::SECOND
    }

    /// The earliest start that there is time to agree on.
    fn not_before(&self, live: &Live, now: Time) -> Time {
        (live.submit + live.coupling.notice).max(now + self.agreeing(live))
    }

    /// Asks sites for starts.
    fn seek(&mut self, request: u64, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(live) = self.state.coallocations.live.get(&request) else { return };
        let earliest = self.not_before(live, now.time);
        let latest = live.submit + live.coupling.notice + live.coupling.within;
        if live.round > 0 && latest < earliest {
            return self.refuse_all(request, now, outbox);
        }
        let latest = latest.max(earliest);
        let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
        for (at, part) in (0_u32..).zip(&live.parts) {
            sizes.entry(part.procs).or_insert(at);
        }
        let mut fits_nowhere = false;
        let mut asked: Vec<(usize, u32)> = Vec::new();
        for first in sizes.into_values() {
            let job = Task::new(&live.jobs[first as usize], &[]);
            let able = |pool: &&Pool| pool.open && pool.could_run(&job);
            let when = |pool: &Pool| {
                pool.report.start_estimates.start(job.size().preferred()).unwrap_or(Time::NEVER)
            };
            let pools = self.state.pools.iter().enumerate().filter(|(_, pool)| able(pool));
            let mut pools: Vec<(Time, usize)> = pools.map(|(at, pool)| (when(pool), at)).collect();
            pools.sort_unstable();
            fits_nowhere |= pools.is_empty();
            asked.extend(pools.iter().take(MOST_ASKED).map(|(_, pool)| (*pool, first)));
        }
        let sites: BTreeSet<SiteId> =
            asked.iter().map(|(pool, _)| self.state.pools[*pool].facts.id.site).collect();
        if sites.len() < live.parts.len() || fits_nowhere {
            // Sites that are away may come back; those that are too small grow no more.
            let all = |part: &Job| {
                let job = Task::new(part, &[]);
                let able = self.state.pools.iter().filter(|pool| pool.could_run(&job));
                able.map(|pool| pool.facts.id.site).collect::<BTreeSet<SiteId>>()
            };
            let ever: Vec<BTreeSet<SiteId>> = live.jobs.iter().map(all).collect();
            let sites: BTreeSet<SiteId> = ever.iter().flatten().copied().collect();
            let is_final = sites.len() < live.parts.len() || ever.iter().any(BTreeSet::is_empty);
            return self.rest(request, Refusal::TooFewSites, is_final, now, outbox);
        }
        // Which of them it will be is not known: what it takes on the slowest of them, over the worst link between two.
        let slowest =
            asked.iter().map(|(pool, _)| self.state.pools[*pool].facts.speed).min().unwrap_or(Rate::FULL);
        let worst = self.slowdown(&live.coupling, &sites);
        let estimate = live.parts.iter().map(|part| part.estimate).max().unwrap_or_default();
        let length = slowed(at_speed(estimate, slowest), worst).max(Span::TICK);
        let procs: Vec<u32> = live.parts.iter().map(|part| part.procs).collect();
        let (alternatives, patience) = (self.spec.coallocation.alternatives, self.spec.coallocation.patience);
        let ids: BTreeSet<(PoolId, u32)> =
            asked.iter().map(|(pool, part)| (self.state.pools[*pool].facts.id, *part)).collect();
        let Some(live) = self.state.coallocations.live.get_mut(&request) else { return };
        live.round += 1;
        let round = live.round;
        live.phase = Phase::Seeking { asked: ids.clone(), offers: BTreeMap::new(), length };
        self.state.coallocations.wake_at(request, Some(now.time + patience));
        for (pool, part) in ids {
            let letter = ToSite::Seek {
                request,
                round,
                part,
                partition: pool.partition,
                procs: procs[part as usize],
                length,
                earliest,
                latest,
                alternatives,
            };
            self.tell_site(request, pool, &format!("seek {request} {part} {round}"), letter, now, outbox);
        }
    }

    /// How much longer it takes over the worst link between two of these sites, in millionths.
    fn slowdown(&self, coupling: &Coupling, sites: &BTreeSet<SiteId>) -> u64 {
        let pairs = sites
            .iter()
            .flat_map(|one| sites.range(..one).map(move |other| (one.index() + 1, other.index() + 1)));
        let of = |(one, other): (usize, usize)| {
            coupling.slowdown_ppm(self.network.link(one, other).latency, self.network.bandwidth(one, other))
        };
        pairs.map(of).max().unwrap_or(0)
    }

    fn tell_site(
        &mut self,
        request: u64,
        pool: PoolId,
        name: &str,
        letter: ToSite,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) {
        if let Some(live) = self.state.coallocations.live.get_mut(&request) {
            live.messages += 1;
        }
        let usual = self.pool_at(pool).map_or(Span::ZERO, |at| self.state.pools[at].facts.latency);
        let to = Address::Site(pool.site);
        let Some(Some(faults)) = self.faults.get(pool.site.index()) else {
            return self.send(to, now, usual, letter, outbox);
        };
        for delay in faults.clone().delays(MessageKind::Reservations, name, now.time) {
            self.state.landing = self.state.landing.max(now.time + delay);
            self.send(to, now, delay, letter.clone(), outbox);
        }
    }

    /// A site has offered starts.
    pub(super) fn offered(&mut self, letter: ToBroker, now: Stamp, outbox: &mut dyn Outbox) {
        let ToBroker::Offers { request, round, pool, part, offers: new } = letter else { return };
        let Some(live) = self.state.coallocations.live.get_mut(&request) else { return };
        live.messages += 1;
        let Phase::Seeking { asked, offers, .. } = &mut live.phase else { return };
        if round != live.round || !asked.contains(&(pool, part)) {
            return;
        }
        offers.insert((pool, part), new);
        if offers.len() == asked.len() {
            self.choose_start(request, now, outbox);
        }
    }

    /// Chooses a start of those that were offered, and asks its sites to hold the processors.
    fn choose_start(&mut self, request: u64, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(live) = self.state.coallocations.live.get(&request) else { return };
        let Phase::Seeking { offers, length, .. } = &live.phase else { return };
        let mut offered = Vec::new();
        for ((pool, first), offers) in offers {
            let Some(at) = self.pool_at(*pool) else { continue };
            let procs = live.parts[*first as usize].procs;
            for (part, _) in live.parts.iter().enumerate().filter(|(_, part)| part.procs == procs) {
                offered.push(Offered { part, pool: at, site: pool.site, offers: offers.clone() });
            }
        }
        // What is left of the way: to hold, to commit, and of the jobs.
        let not_before = now.time + self.travel(live.parts.len()) * 5 + Span::TICK;
        let CoallocationSpec { goal, holding, .. } = self.spec.coallocation;
        let sought = |goal| common_start(live.parts.len(), &offered, *length, goal, not_before);
        // A start can be held when there is just the time left that it takes to agree on it.
        let soon = now.time + self.agreeing(live);
        let comes = live.was_picked().then(|| sought(CoallocationGoal::Earliest)).flatten();
        let Some(found) = comes.filter(|found| found.start <= soon).or_else(|| sought(goal)) else {
            let answered: BTreeSet<SiteId> = offered.iter().map(|offered| offered.site).collect();
            let too_few = answered.len() < live.parts.len();
            let why = if too_few { Refusal::TooFewSites } else { Refusal::NoCommonStart };
            return self.rest(request, why, false, now, outbox);
        };
        let CommonStart { start, ref pools } = found;
        if holding == Holding::AtStart && soon < start {
            let Some(live) = self.state.coallocations.live.get_mut(&request) else { return };
            live.phase = Phase::Picked(start);
            live.picked = live.round;
            let due = now.time + start.since(soon);
            return self.state.coallocations.wake_at(request, Some(due));
        }
        let facts = |at: &usize| &self.state.pools[*at].facts;
        let sites: BTreeSet<SiteId> = pools.iter().map(|at| facts(at).id.site).collect();
        let slowdown_ppm = self.slowdown(&live.coupling, &sites);
        let longest = |of: &dyn Fn(&Part) -> Span| {
            let each = live.parts.iter().zip(pools).map(|(part, at)| at_speed(of(part), facts(at).speed));
            slowed(each.max().unwrap_or_default(), slowdown_ppm)
        };
        let length = longest(&|part| part.estimate).max(Span::TICK);
        let run = longest(&|part| part.runtime);
        let (charge, harm) = found.costs(&offered, length);
        let ids: Vec<PoolId> = pools.iter().map(|at| facts(at).id).collect();
        let wanted: Vec<Wanted> = live
            .parts
            .iter()
            .zip(&ids)
            .map(|(part, pool)| Wanted {
                pool: *pool,
                from: start,
                to: start + length,
                procs: part.procs,
                job: part.job,
            })
            .collect();
        let terms = Terms {
            lease: self.spec.coallocation.lease,
            patience: self.spec.coallocation.patience,
            travel: self.travel(live.parts.len()),
        };
        let mut said = Vec::new();
        let begun =
            Coordinator::begin((request, live.round), wanted, terms, now.time, &mut |id, wanted, ask| {
                said.push((id, wanted.pool, ask));
            });
        let next = begun.next();
        let Some(live) = self.state.coallocations.live.get_mut(&request) else { return };
        live.chosen = Some(Chosen { start, length, run, pools: ids, slowdown_ppm, charge, harm });
        live.phase = Phase::Agreeing(begun);
        self.state.coallocations.wake_at(request, next);
        self.say(said, now, outbox);
    }

    /// No start was found: sites are asked again after a lease, if any tries are left.
    fn rest(&mut self, request: u64, why: Refusal, is_final: bool, now: Stamp, outbox: &mut dyn Outbox) {
        let CoallocationSpec { tries, lease, .. } = self.spec.coallocation;
        let Some(live) = self.state.coallocations.live.get_mut(&request) else { return };
        live.refused = Some((SiteId::GRID, why));
        // A round that has asked nobody is one, too.
        if matches!(&live.phase, Phase::Seeking { asked, .. } if asked.is_empty())
            || live.phase == Phase::Resting
        {
            live.round += 1;
        }
        let again = now.time + lease;
        let latest = live.submit + live.coupling.notice + live.coupling.within;
        if is_final || live.failed() >= tries || latest < again {
            return self.refuse_all(request, now, outbox);
        }
        live.phase = Phase::Resting;
        self.state.coallocations.wake_at(request, Some(again));
    }

    fn say(&mut self, said: Vec<(HoldId, PoolId, Ask)>, now: Stamp, outbox: &mut dyn Outbox) {
        for (id, pool, ask) in said {
            let name = format!("{} {id} {}", ask.name(), now.time.micros());
            self.tell_site(id.request, pool, &name, ToSite::Agree { id, ask }, now, outbox);
        }
    }

    /// A site has answered what has become of a hold.
    pub(super) fn answered(
        &mut self,
        id: HoldId,
        answer: Answer,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let mut said = Vec::new();
        let mut send = |id: HoldId, wanted: &Wanted, ask: Ask| said.push((id, wanted.pool, ask));
        let all = &mut self.state.coallocations;
        if let Some(live) = all.live.get_mut(&id.request) {
            live.messages += 1;
        }
        if let Some(mut failed) = all.take_failed((id.request, id.round)) {
            failed.hear(id, answer, now.time, &mut send);
            all.keep_failed((id.request, id.round), failed);
            self.say(said, now, outbox);
            return Ok(());
        }
        let Some(Live { phase: Phase::Agreeing(coordinator), .. }) = all.live.get_mut(&id.request) else {
            return Ok(());
        };
        let verdict = coordinator.hear(id, answer, now.time, &mut send);
        let next = coordinator.next();
        all.wake_at(id.request, next);
        self.say(said, now, outbox);
        self.decided(id.request, verdict, now, outbox)
    }

    /// Does what is due.
    pub(super) fn follow_agreements(
        &mut self,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        let mut said = Vec::new();
        let all = &mut self.state.coallocations;
        while let Some((_, id)) = all.failed_due.first().copied().filter(|(due, _)| *due <= now.time) {
            let Some(mut failed) = all.take_failed(id) else { break };
            failed.wake(now.time, &mut |id, wanted, ask| said.push((id, wanted.pool, ask)));
            all.keep_failed(id, failed);
        }
        self.say(said, now, outbox);
        while let Some((_, request)) =
            self.state.coallocations.due.first().copied().filter(|(due, _)| *due <= now.time)
        {
            let Some(live) = self.state.coallocations.live.get_mut(&request) else { break };
            match &mut live.phase {
                // Who has not answered is left out.
                Phase::Seeking { .. } => {
                    self.state.coallocations.wake_at(request, None);
                    self.choose_start(request, now, outbox);
                }
                Phase::Agreeing(coordinator) => {
                    let mut said = Vec::new();
                    let verdict =
                        coordinator.wake(now.time, &mut |id, wanted, ask| said.push((id, wanted.pool, ask)));
                    let next = coordinator.next();
                    self.state.coallocations.wake_at(request, next);
                    self.say(said, now, outbox);
                    self.decided(request, verdict, now, outbox)?;
                }
                Phase::Resting | Phase::Picked(_) => {
                    self.state.coallocations.wake_at(request, None);
                    self.seek(request, now, outbox);
                }
                Phase::Sent => self.state.coallocations.wake_at(request, None),
            }
        }
        Ok(())
    }

    fn decided(
        &mut self,
        request: u64,
        verdict: Option<Verdict>,
        now: Stamp,
        outbox: &mut dyn Outbox,
    ) -> Result<(), EntityError> {
        match verdict {
            None => Ok(()),
            Some(Verdict::Agreed) => self.send_parts(request, now, outbox),
            Some(Verdict::Failed(why)) => {
                let all = &mut self.state.coallocations;
                all.wake_at(request, None);
                let Some(live) = all.live.get_mut(&request) else { return Ok(()) };
                // Who has not answered is nobody in particular.
                let refused = why.and_then(|(part, why)| {
                    let pool = live.chosen.as_ref().and_then(|chosen| chosen.pools.get(part as usize));
                    pool.map(|pool| (pool.site, why))
                });
                live.refused = Some(refused.unwrap_or((SiteId::GRID, Refusal::TooLate)));
                let seeking =
                    Phase::Seeking { asked: BTreeSet::new(), offers: BTreeMap::new(), length: Span::ZERO };
                if let Phase::Agreeing(failed) = std::mem::replace(&mut live.phase, seeking) {
                    all.keep_failed((request, failed.round()), failed);
                }
                let again = self
                    .state
                    .coallocations
                    .live
                    .get(&request)
                    .is_some_and(|live| live.failed() < self.spec.coallocation.tries);
                if again {
                    self.seek(request, now, outbox);
                } else {
                    self.refuse_all(request, now, outbox);
                }
                Ok(())
            }
        }
    }

    /// All sites have committed: the parts go.
    fn send_parts(&mut self, request: u64, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        self.state.coallocations.wake_at(request, None);
        let Some(live) = self.state.coallocations.live.get_mut(&request) else { return Ok(()) };
        let Some(chosen) = live.chosen.clone() else { return Ok(()) };
        live.phase = Phase::Sent;
        let (jobs, round) = (std::mem::take(&mut live.jobs), live.round);
        self.state.last = now.time;
        for (part, (mut job, pool)) in (0_u32..).zip(jobs.into_iter().zip(&chosen.pools)) {
            let Some(at) = self.pool_at(*pool) else { continue };
            // All parts take as long as the one that takes longest, and as the links between them have it.
            let speed = self.state.pools[at].facts.speed;
            job.runtime = at_speed_one(chosen.run, speed);
            job.estimate = at_speed_one(chosen.length, speed);
            job.grid.get_or_insert_default().part = Some(HoldId { request, round, part });
            let task = task(&job);
            self.state.tasks.enter(Box::new(job), Vec::new());
            let (start, end) = (chosen.start, chosen.start + chosen.length);
            let decision = Decision { task, act: Act::Assign(at), reason: Reason::Reserved, start, end };
            self.carry_out(decision, now, outbox)?;
        }
        Ok(())
    }

    /// No start could be agreed: its parts end as rejected.
    fn refuse_all(&mut self, request: u64, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(live) = self.state.coallocations.live.get_mut(&request) else { return };
        let reason = RejectReason::NoReservation;
        for job in std::mem::take(&mut live.jobs) {
            self.state.done += 1;
            self.state.last = now.time;
            record_given_up(&job, EventCause::Refused(reason), Outcome::Rejected(reason), now.time, outbox);
            let ended = EndedJob::unplaced(&job, Outcome::Rejected(reason), now.time);
            self.notify_portal(&ended, now, outbox);
        }
        if let Some(live) = self.state.coallocations.take(request) {
            let record = live.record(CoallocationOutcome::Refused, now.time);
            outbox.record(Record::Coallocation(Box::new(record)));
        }
    }

    /// A part has returned: it has lost its reservation, or its site.
    pub(super) fn part_returned(&mut self, job: &Job, why: EventCause, now: Stamp, outbox: &mut dyn Outbox) {
        self.state.done += 1;
        self.state.last = now.time;
        if let Some((at, _)) = self.state.tasks.remove(task(job)) {
            self.settle(at, now);
        }
        record_given_up(job, why, Outcome::Failed, now.time, outbox);
        let ended = EndedJob::unplaced(job, Outcome::Failed, now.time);
        self.notify_portal(&ended, now, outbox);
        self.part_ended(&ended, now, outbox);
    }

    /// A part has ended. If it did not complete, the others are ended.
    pub(super) fn part_ended(&mut self, ended: &EndedJob, now: Stamp, outbox: &mut dyn Outbox) {
        let Some((request, part)) = self.state.coallocations.part(ended.task) else { return };
        let Some(live) = self.state.coallocations.live.get_mut(&request) else { return };
        live.parts[part].ended = Some((ended.outcome, ended.start));
        let others = live.parts.iter().enumerate().filter(|(_, part)| part.ended.is_none());
        let others: Vec<TaskId> = others.map(|(at, _)| TaskId(request + at as u64)).collect();
        if ended.outcome != Outcome::Completed {
            for task in &others {
                let abort = ToDispatcher::Abort { task: *task };
                self.send(Address::Dispatcher, now, Span::ZERO, abort, outbox);
            }
        }
        let Some(live) = self.state.coallocations.live.get(&request) else { return };
        if let Some(outcome) = live.outcome() {
            let record = live.record(outcome, now.time);
            self.state.coallocations.take(request);
            outbox.record(Record::Coallocation(Box::new(record)));
        }
    }
}
