//! Share-based coscheduling [Huang 2004, chapter 5].

mod board;
mod plan;
mod variants;

use std::collections::BTreeMap;

use self::board::{Board, Member};
use self::plan::Plan;
use super::equal_share::Loads;
use super::line::Line;
use crate::local::{Action, Actions, Change, LiveJob, LocalPolicy, Placement, Rule, StartEstimates, View};
use crate::model::{JobKey, ProcSet};
use crate::sharing::{Coscheduling, Priorities, Share};
use crate::units::{Rate, Span, Work};

pub(super) use variants::info;

/// By what SCOJO schedules.
#[derive(Clone, Debug)]
pub struct ScojoOptions {
    /// The multiprogramming level: how many jobs may be on a processor.
    pub level: u32,
    /// What sharing costs, and who may be put together.
    pub coscheduling: Coscheduling,
    /// The share that a job requests.
    pub shares: Shares,
    /// Whether a job gets more than it requests, so that it progresses as if sharing cost nothing: its effective share. Else its share is what it gets.
    pub compensate: bool,
    /// Whether what nobody on a processor requests is given to the jobs there; else it is left, but for a job that is alone.
    pub gives_spare: bool,
    /// Whether jobs in line are put together only if they start at the same time, so that one that runs is joined by backfilled ones alone.
    pub together: bool,
    /// Classes of run times, and their priorities.
    pub priorities: Priorities,
    /// Whether jobs start by priority; else in order of arrival.
    pub by_priority: bool,
    /// Whether jobs may overtake others that cannot start. Not at level 1, where there are no shares to be filled.
    pub backfill: bool,
    /// How many waiting jobs are looked at for that.
    pub lookahead: usize,
}

/// The share that a job requests. The thesis has it from users; workloads do not say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shares {
    /// The same for all.
    Same(Share),
    /// By the class of its run time.
    Classes(Vec<Share>),
    /// By the order in which jobs come together: the first of these that no job on its processors has.
    Slots(Vec<Share>),
}

impl Shares {
    /// The shares that a job of a class may get, the one to be tried first at the beginning.
    fn of(&self, class: usize) -> impl Iterator<Item = (Share, Option<u8>)> {
        let (shares, are_slots) = match self {
            Self::Same(share) => (std::slice::from_ref(share), false),
            Self::Classes(shares) => (shares.get(class..=class).unwrap_or_default(), false),
            Self::Slots(shares) => (&shares[..], true),
        };
        shares.iter().zip(0..).map(move |(share, slot)| (*share, are_slots.then_some(slot)))
    }
}

/// A job that wants to start.
#[derive(Copy, Clone, Debug)]
struct Request {
    job: JobKey,
    procs: u32,
    estimate: Span,
    class: usize,
    priority: u32,
    application: Option<usize>,
}

impl ScojoOptions {
    /// The processors that a job gets now, and how it is there. `None` if there is no room for it.
    fn place(&self, board: &Board, job: &Request, backfilled: bool) -> Option<(Member, ProcSet)> {
        self.members(job).find_map(|member| Some((member, board.room(self, &member, job.procs, backfilled)?)))
    }

    /// The processors whose jobs a job may join now.
    fn open(&self, board: &Board, job: &Request) -> ProcSet {
        self.members(job)
            .map(|member| board.open(self, &member, false))
            .max_by_key(ProcSet::len)
            .unwrap_or_default()
    }

    fn members(&self, job: &Request) -> impl Iterator<Item = Member> {
        let Request { priority, application, class, .. } = *job;
        self.shares.of(class).map(move |(share, slot)| Member { priority, application, share, slot })
    }

    /// What a job needs of a processor beside others, in millionths: its share, or its effective share.
    fn weight(&self, all: &[Member], applications: &[Option<usize>], one: usize) -> u64 {
        let share = all[one].share;
        match self.compensate {
            true => share.effective(self.coscheduling.slowdown(applications, one)),
            false => share.millionths().into(),
        }
    }

    /// How long a job takes at the most for what it does alone in this time: it has its share at any time, and the largest slowdown.
    fn lasts(&self, job: &Member, alone: Span) -> Span {
        let kept = match self.compensate {
            true => Rate::FULL,
            false => self.coscheduling.worst(job.application, self.level).efficiency(),
        };
        Work::of_runtime(alone).span_at(job.share.rate().times(kept)).unwrap_or(Span::MAX)
    }
}

/// Share-based coscheduling. A job that runs alone has all of its processors' time. Others may join it, and it keeps at least the share that it
/// requests; what nobody has requested is divided among the jobs of a processor in the ratio of their shares. Shares are rates: there is no event for
/// a time slice.
#[derive(Debug)]
pub struct Scojo {
    terms: ScojoOptions,
    line: Line,
    /// Jobs on shared processors, in order of arrival. None at level 1.
    running: Vec<Runs>,
}

#[derive(Clone, Debug)]
struct Runs {
    job: JobKey,
    seq: u64,
    member: Member,
}

impl Scojo {
    /// SCOJO on these terms.
    pub fn new(terms: ScojoOptions) -> Self {
        let line = Line::new(terms.priorities.clone(), terms.by_priority);
        Self { terms, line, running: Vec::new() }
    }

    fn request(&self, job: JobKey, live: &LiveJob) -> Request {
        let table = self.terms.coscheduling.pairs.names().len();
        let number = usize::try_from(live.executable()).ok().and_then(|number| number.checked_sub(1));
        Request {
            job,
            procs: live.procs(),
            estimate: live.estimate(),
            class: self.line.class(live),
            priority: self.line.priority(live),
            application: number.filter(|number| *number < table),
        }
    }

    fn insert(&mut self, job: JobKey, seq: u64, member: Member) {
        let at = self.running.partition_point(|other| other.seq < seq);
        self.running.insert(at, Runs { job, seq, member });
    }

    /// Adds a job that runs already. Its slot is the first that no job on its processors has; if there is none, the last one.
    fn take_over(&mut self, job: JobKey, view: &View<'_>) {
        let live = view.job(job);
        let request = self.request(job, live);
        let has = |slot: Option<u8>| {
            let with = |other: &&Runs| {
                other.member.slot == slot && !view.job(other.job).placement().is_disjoint(live.placement())
            };
            slot.is_some() && self.running.iter().any(|other| with(&other))
        };
        let free = self.terms.members(&request).find(|member| !has(member.slot));
        let Some(member) = free.or_else(|| self.terms.members(&request).last()) else { return };
        self.insert(job, live.seq(), member);
    }

    /// At level 1 jobs have processors of their own, and start in order.
    fn schedule_alone(&mut self, view: &View<'_>, actions: &mut Actions) {
        let mut free = view.free();
        while let Some(head) = self.line.first() {
            let procs = view.job(head).procs();
            if procs > free {
                break;
            }
            free -= procs;
            actions.start(head, procs);
            self.line.remove(head);
        }
        if let Some(trace) = actions.trace() {
            (trace.free, trace.rule) = (free, Rule::InOrder { first: self.line.first() });
        }
    }

    /// Chooses jobs that overtake others. Such a job joins none of a higher priority, and nobody before it starts later than planned for it.
    fn backfill(&self, view: &View<'_>, board: &mut Board, started: &mut Vec<(Request, Member, ProcSet)>) {
        let jobs = self.line.jobs().take(self.terms.lookahead.saturating_add(1));
        let mut line: Vec<Request> = jobs.map(|job| self.request(job, view.job(job))).collect();
        // What is there now, and the plan that goes on from there.
        let mut plans: Option<(Plan, Plan)> = None;
        let mut room = Room::default();
        let (now, mut at) = (view.now(), 1);
        while at < line.len() {
            let job = line[at];
            let found = if room.is_for(&self.terms, board, &job) {
                self.terms.place(board, &job, true)
            } else {
                None
            };
            let Some((member, procs)) = found else {
                at += 1;
                continue;
            };
            let (before, plan) = plans.get_or_insert_with(|| {
                let before = self.plan(view, board, started);
                (before.clone(), before)
            });
            let end = now + self.terms.lasts(&member, job.estimate);
            // What is over when the first starts delays nobody.
            let is_over = end <= plan.first(&self.terms, &line);
            if !is_over && plan.delays_first(&self.terms, &line[0], (member, &procs)) {
                at += 1;
                continue;
            }
            let after = before.clone().with(member, &procs, end);
            if !is_over && after.clone().delays(plan, &self.terms, &line[..at], end) {
                at += 1;
                continue;
            }
            board.add(member, &procs);
            started.push((job, member, procs));
            line.remove(at);
            (plans, room) = (Some((after.clone(), after)), Room::default());
        }
    }

    /// What is on processors now, each job until it has ended with no more than is guaranteed.
    fn plan(&self, view: &View<'_>, board: &Board, started: &[(Request, Member, ProcSet)]) -> Plan {
        let now = view.now();
        let ends = self.running.iter().map(|run| {
            let live = view.job(run.job);
            let left = view.expected_end(run.job).since(now);
            let rate = live.share().times(live.efficiency());
            // What it has left, as time alone.
            let alone = left.scale_up(rate.units(), Rate::FULL.units());
            now + self.terms.lasts(&run.member, alone)
        });
        let new = started.iter().map(|(job, member, _)| now + self.terms.lasts(member, job.estimate));
        Plan::new(board.clone(), ends.chain(new), now)
    }
}

/// How many processors jobs of a kind may be backfilled on, as far as it has been asked for: most candidates need more than there are.
#[derive(Debug, Default)]
struct Room {
    known: Vec<(Member, u32)>,
}

impl Room {
    fn is_for(&mut self, terms: &ScojoOptions, board: &Board, job: &Request) -> bool {
        terms.members(job).any(|member| {
            let known = self.known.iter().find(|(other, _)| *other == member).map(|(_, open)| *open);
            let open = known.unwrap_or_else(|| {
                let open = board.open(terms, &member, true).len();
                self.known.push((member, open));
                open
            });
            open >= job.procs
        })
    }
}

impl LocalPolicy for Scojo {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.line.add(job, view.job(job).procs(), view),
            Change::Withdrawn(job) => self.line.remove(job),
            Change::Ended(job) => self.running.retain(|running| running.job != job),
            Change::Continued(job) if self.terms.level > 1 => self.take_over(job, view),
            // Who is on which processors, and until when, is looked up at each pass.
            Change::Continued(_)
            | Change::Left
            | Change::Joined
            | Change::Suspended(_)
            | Change::Reserved
            | Change::Altered { .. }
            | Change::Moved { .. } => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.line.age(view.now());
        if self.terms.level == 1 {
            self.schedule_alone(view, actions);
        } else {
            self.schedule_shared(view, actions);
        }
        if let Some(time) = self.line.grows_at() {
            actions.wake_at(time);
        }
    }

    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        if self.terms.level == 1 {
            return view.start_estimates();
        }
        Loads::of(view).start_estimates(
            view,
            self.terms.level,
            self.running.iter().map(|running| running.job),
        )
    }

    /// The slots of running jobs: nothing else can be seen in another way.
    fn save(&self) -> Vec<u8> {
        let slots: BTreeMap<u64, u8> =
            self.running.iter().filter_map(|running| Some((running.seq, running.member.slot?))).collect();
        postcard::to_stdvec(&slots).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let slots: BTreeMap<u64, u8> =
            postcard::from_bytes(saved).map_err(|error| format!("its shares cannot be read: {error}"))?;
        self.adopt(view);
        let Shares::Slots(shares) = &self.terms.shares else { return Ok(()) };
        for running in &mut self.running {
            let slot = slots.get(&running.seq).copied();
            let share = slot.and_then(|slot| shares.get(usize::from(slot)));
            let Some(share) = share else {
                return Err(format!("job number {} of the partition has no share", running.seq));
            };
            (running.member.slot, running.member.share) = (slot, *share);
        }
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.line.refill(view, LiveJob::procs);
        self.running.clear();
        if self.terms.level > 1 {
            view.holders().into_iter().for_each(|job| self.take_over(job, view));
        }
    }
}

impl Scojo {
    fn schedule_shared(&mut self, view: &View<'_>, actions: &mut Actions) {
        let on = self.running.iter().map(|run| (run.member, view.job(run.job).placement()));
        let mut board = Board::of(view, on);
        let mut started: Vec<(Request, Member, ProcSet)> = Vec::new();
        while let Some(head) = self.line.first() {
            let request = self.request(head, view.job(head));
            let place = |backfilled| self.terms.place(&board, &request, backfilled);
            // Nobody is before it whom it could delay.
            let filled = || if self.terms.together && self.terms.backfill { place(true) } else { None };
            let Some((member, procs)) = place(false).or_else(filled) else { break };
            board.add(member, &procs);
            started.push((request, member, procs));
            self.line.remove(head);
        }
        if self.terms.backfill {
            self.backfill(view, &mut board, &mut started);
        }
        if let Some(trace) = actions.trace() {
            let first = self.line.first();
            let open = first.map(|job| self.terms.open(&board, &self.request(job, view.job(job))));
            let closed = ProcSet::full(view.processors()).difference(&open.unwrap_or_default());
            trace.free = view.processors() - closed.len();
            trace.rule = Rule::Sharing { first, closed, backfills: self.terms.backfill };
        }
        let mut rates = board.rates(&self.terms).into_iter();
        for (run, (share, efficiency)) in self.running.iter().zip(rates.by_ref()) {
            let (job, live) = (run.job, view.job(run.job));
            if share != live.share() {
                actions.push(Action::SetShare { job, share });
            }
            if efficiency != live.efficiency() {
                actions.push(Action::SetEfficiency { job, efficiency });
            }
        }
        for ((request, member, procs), (share, efficiency)) in started.into_iter().zip(rates) {
            let job = request.job;
            actions.push(Action::Start { job, placement: Placement::On(procs), share });
            if efficiency != Rate::FULL {
                actions.push(Action::SetEfficiency { job, efficiency });
            }
            self.line.remove(job);
            self.insert(job, view.job(job).seq(), member);
        }
    }
}
