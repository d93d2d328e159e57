//! Share-based coscheduling [Huang 2004, chapter 5].

mod board;
mod crowds;
mod plan;
#[cfg(test)]
mod tests;
mod variants;

use std::collections::BTreeMap;

use self::board::{Board, Procs};
use self::crowds::{Crowd, Crowds, Kind, Member};
use self::plan::{Delay, Plan};
use super::equal_share::Loads;
use super::line::{self, Line};
use crate::local::{Action, Actions, Change, LiveJob, LocalPolicy, Placement, Rule, StartEstimates, View};
use crate::model::{JobKey, ProcSet};
use crate::sharing::{Coscheduling, Priorities, Share};
use crate::units::{Rate, Span, Time};

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
    /// The first kind that it may be of, and the same without a priority.
    kind: Kind,
    blind: Kind,
}

impl ScojoOptions {
    /// What a job needs of a processor beside others, in millionths: its share, or its effective share.
    fn weight(&self, all: &[Member], applications: &[Option<usize>], one: usize) -> u64 {
        let share = all[one].share;
        match self.compensate {
            true => share.effective(self.coscheduling.slowdown(applications, one)),
            false => share.millionths().into(),
        }
    }
}

/// Share-based coscheduling. A job that runs alone has all of its processors' time. Others may join it, and it keeps at least the share that it
/// requests; what nobody has requested is divided among the jobs of a processor in the ratio of their shares. Shares are rates: there is no event for
/// a time slice.
#[derive(Debug)]
pub struct Scojo {
    crowds: Crowds,
    line: Line,
    /// Jobs on shared processors, in order of arrival. None at level 1.
    running: Vec<Runs>,
    /// Where these are.
    board: Board,
    /// Whether the board is to be made anew.
    is_stale: bool,
    /// Whether jobs have come or left since shares were given.
    has_changed: bool,
    plan: Plan,
    room: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Runs {
    job: JobKey,
    seq: u64,
    kind: Kind,
    procs: ProcSet,
}

/// A job that starts now.
#[derive(Debug)]
struct Starts {
    job: JobKey,
    estimate: Span,
    kind: Kind,
    procs: ProcSet,
}

impl Scojo {
    /// SCOJO on these terms.
    pub fn new(terms: ScojoOptions) -> Self {
        let line = Line::new(terms.priorities.clone(), terms.by_priority, 1);
        Self {
            crowds: Crowds::new(terms),
            line,
            running: Vec::new(),
            board: Board::default(),
            is_stale: true,
            has_changed: true,
            plan: Plan::default(),
            room: Vec::new(),
        }
    }

    fn terms(&self) -> &ScojoOptions {
        &self.crowds.terms
    }

    fn request(&mut self, job: JobKey, live: &LiveJob) -> Request {
        request(&mut self.crowds, &self.line, job, live)
    }

    /// The kinds that a job may be of, the one to be tried first at the beginning.
    fn kinds(&self, job: &Request) -> std::ops::Range<Kind> {
        job.kind..job.kind + self.crowds.choices()
    }

    fn insert(&mut self, runs: Runs) {
        let at = self.running.partition_point(|other| other.seq < runs.seq);
        self.running.insert(at, runs);
    }

    /// Adds a job that runs already. Its slot is the first that no job on its processors has; if there is none, the last one.
    fn take_over(&mut self, job: JobKey, view: &View<'_>) {
        let live = view.job(job);
        let request = self.request(job, live);
        let has = |slot: Option<u8>| {
            let with = |other: &&Runs| {
                self.crowds.member(other.kind).slot == slot
                    && !view.job(other.job).placement().is_disjoint(live.placement())
            };
            slot.is_some() && self.running.iter().any(|other| with(&other))
        };
        let free = self.kinds(&request).find(|kind| !has(self.crowds.member(*kind).slot));
        let Some(kind) = free.or_else(|| self.kinds(&request).last()) else { return };
        self.insert(Runs { job, seq: live.seq(), kind, procs: live.placement().clone() });
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

    /// The processors that a job gets now, and of which kind it is there. `None` if there is no room for it. The processors are in `room`.
    fn place(&mut self, job: &Request, backfilled: bool) -> Option<Kind> {
        let mut kinds = self.kinds(job);
        kinds.find(|kind| self.board.room(&mut self.crowds, *kind, job.procs, backfilled, &mut self.room))
    }

    /// Starts a job on the processors in `room`.
    fn start(&mut self, job: &Request, kind: Kind) -> Starts {
        let procs = Procs::trimmed(&self.room);
        self.board.add(&mut self.crowds, kind, procs, false);
        Starts { job: job.job, estimate: job.estimate, kind, procs: procs.to_set() }
    }

    /// Chooses jobs that overtake others. Such a job joins none of a higher priority, and nobody before it starts later than planned for it.
    fn backfill(&mut self, view: &View<'_>, started: &mut Vec<Starts>) {
        let mut most = self.board.not_full(&self.crowds);
        if most == 0 {
            return;
        }
        let lookahead = self.terms().lookahead.saturating_add(1);
        let jobs: Vec<JobKey> = self.line.jobs().take(lookahead).collect();
        // Those that others pass, and what the plan needs to know of the first of them.
        let (mut passed, mut line): (Vec<JobKey>, Vec<Request>) = (Vec::new(), Vec::new());
        let (mut room, mut rejected) = (Room::default(), Rejected::default());
        let mut has_plan = false;
        for key in jobs {
            let live = view.job(key);
            if passed.is_empty() || live.procs() > most {
                passed.push(key);
                continue;
            }
            let job = self.request(key, live);
            let is_room = room.is_for(&mut self.crowds, &self.board, &job);
            let Some(kind) = is_room.then(|| self.place(&job, true)).flatten() else {
                passed.push(key);
                continue;
            };
            for key in &passed[line.len()..] {
                line.push(self.request(*key, view.job(*key)));
            }
            if !has_plan {
                self.make_plan(view, started);
                has_plan = true;
            }
            let end = view.now() + self.crowds.lasts(kind, job.estimate);
            if self.delays(&line, &mut rejected, (kind, job.procs, end)) {
                passed.push(key);
                continue;
            }
            self.plan.add(&mut self.crowds, kind, Procs::trimmed(&self.room), end);
            started.push(self.start(&job, kind));
            most = self.board.not_full(&self.crowds);
            (room, rejected) = (Room::default(), Rejected::default());
        }
    }

    /// Plans what is on processors now, each job until it has ended with no more than is guaranteed.
    fn make_plan(&mut self, view: &View<'_>, started: &[Starts]) {
        let now = view.now();
        self.plan.reset(now, &self.board, &mut self.crowds);
        for run in &self.running {
            let end = now + self.crowds.lasts(run.kind, alone(view, run.job));
            self.plan.push(&self.crowds, run.kind, Procs::of(&run.procs), end);
        }
        for new in started {
            let end = now + self.crowds.lasts(new.kind, new.estimate);
            self.plan.push(&self.crowds, new.kind, Procs::of(&new.procs), end);
        }
        self.plan.begin();
    }

    /// Whether one of these jobs in line would start later for a candidate on the processors in `room`.
    fn delays(
        &mut self,
        line: &[Request],
        rejected: &mut Rejected,
        (kind, procs, end): (Kind, u32, Time),
    ) -> bool {
        // What is over when the first starts delays nobody.
        if end <= self.plan.first(&mut self.crowds, line) {
            return false;
        }
        if rejected.has(kind, procs, end) {
            return true;
        }
        let on = Procs::trimmed(&self.room);
        let delay = self.plan.delay(&mut self.crowds, line, (kind, on, end));
        if let Some(delay) = delay {
            rejected.add(kind, procs, end, delay);
        }
        delay.is_some()
    }
}

/// What a running job has left, as time alone.
fn alone(view: &View<'_>, job: JobKey) -> Span {
    let live = view.job(job);
    let rate = live.share().times(live.efficiency());
    view.expected_end(job).since(view.now()).scale_up(rate.units(), Rate::FULL.units())
}

fn request(crowds: &mut Crowds, line: &Line, job: JobKey, live: &LiveJob) -> Request {
    let table = crowds.terms.coscheduling.pairs.names().len();
    let number = usize::try_from(live.executable()).ok().and_then(|number| number.checked_sub(1));
    let application = number.filter(|number| *number < table);
    let kind = crowds.kind(line.class(live), application, || line.priority(live));
    Request { job, procs: live.procs(), estimate: live.estimate(), kind, blind: crowds.blind_kind(kind) }
}

/// Candidates that would delay others, as the board is now.
#[derive(Debug, Default)]
struct Rejected {
    /// By kind: the fewest processors of those that delay the first in line.
    first: Vec<(Kind, u32)>,
    /// Kinds, processors and ends of all others.
    others: Vec<(Kind, u32, Time)>,
}

impl Rejected {
    /// Whether a candidate, which is not over when the first starts, is known to delay one of them. What it gets has all that one of its kind with fewer
    /// processors gets.
    fn has(&self, kind: Kind, procs: u32, end: Time) -> bool {
        self.first.iter().any(|(other, least)| *other == kind && *least <= procs)
            || self.others.contains(&(kind, procs, end))
    }

    fn add(&mut self, kind: Kind, procs: u32, end: Time, delay: Delay) {
        match delay {
            Delay::First => match self.first.iter_mut().find(|(other, _)| *other == kind) {
                Some((_, least)) => *least = procs,
                None => self.first.push((kind, procs)),
            },
            Delay::Other => self.others.push((kind, procs, end)),
        }
    }
}

/// How many processors jobs of a kind may be backfilled on, as far as it has been asked for: most candidates need more than there are.
#[derive(Debug, Default)]
struct Room {
    known: Vec<(Kind, u32)>,
}

impl Room {
    fn is_for(&mut self, crowds: &mut Crowds, board: &Board, job: &Request) -> bool {
        (job.kind..job.kind + crowds.choices()).any(|kind| {
            let known = self.known.iter().find(|(other, _)| *other == kind).map(|(_, open)| *open);
            let open = known.unwrap_or_else(|| {
                let open = board.open(crowds, kind, true);
                self.known.push((kind, open));
                open
            });
            open >= job.procs
        })
    }
}

impl LocalPolicy for Scojo {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.line.add(job, &line::Request::own(view.job(job)), view),
            Change::Withdrawn(job) => self.line.remove(job),
            Change::Ended(job) => self.end(job),
            Change::Continued(job) => {
                self.is_stale = true;
                if self.terms().level > 1 {
                    self.take_over(job, view);
                }
            }
            // Until when jobs are on their processors is looked up at each pass.
            Change::Left
            | Change::Joined
            | Change::Suspended(_)
            | Change::Reserved
            | Change::Altered { .. }
            | Change::Moved { .. } => self.is_stale = true,
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.line.age(view.now());
        if self.terms().level == 1 {
            self.schedule_alone(view, actions);
        } else {
            self.schedule_shared(view, actions);
        }
        if let Some(time) = self.line.grows_at() {
            actions.wake_at(time);
        }
    }

    fn start_estimates(&self, view: &View<'_>) -> StartEstimates {
        if self.terms().level == 1 {
            return view.start_estimates();
        }
        Loads::of(view).start_estimates(
            view,
            self.terms().level,
            self.running.iter().map(|running| running.job),
        )
    }

    /// The slots of running jobs: nothing else can be seen in another way.
    fn save(&self) -> Vec<u8> {
        let slots: BTreeMap<u64, u8> = self
            .running
            .iter()
            .filter_map(|running| Some((running.seq, self.crowds.member(running.kind).slot?)))
            .collect();
        postcard::to_stdvec(&slots).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let slots: BTreeMap<u64, u8> =
            postcard::from_bytes(saved).map_err(|error| format!("its shares cannot be read: {error}"))?;
        self.adopt(view);
        let Shares::Slots(shares) = &self.terms().shares else { return Ok(()) };
        let count = shares.len();
        for at in 0..self.running.len() {
            let Runs { job, seq, .. } = self.running[at];
            let slot = slots.get(&seq).copied().filter(|slot| usize::from(*slot) < count);
            let Some(slot) = slot else {
                return Err(format!("job number {seq} of the partition has no share"));
            };
            self.running[at].kind = self.request(job, view.job(job)).kind + Kind::from(slot);
        }
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        self.line.refill(view, line::Request::own);
        self.running.clear();
        self.is_stale = true;
        if self.terms().level > 1 {
            view.holders().into_iter().for_each(|job| self.take_over(job, view));
        }
    }
}

impl Scojo {
    fn end(&mut self, job: JobKey) {
        let Some(at) = self.running.iter().position(|running| running.job == job) else { return };
        let ended = self.running.remove(at);
        self.has_changed = true;
        if !self.is_stale {
            self.board.remove(&mut self.crowds, ended.kind, Procs::of(&ended.procs));
        }
    }

    /// Who is where, once it is not known any more: machines may have come or left, and there may be stalled jobs.
    fn look_around(&mut self, view: &View<'_>) {
        if self.crowds.are_many() {
            self.crowds.clear();
        }
        let mut jobs = vec![0_u32; view.processors() as usize];
        for run in &mut self.running {
            run.procs = view.job(run.job).placement().clone();
            run.procs.iter().for_each(|proc| jobs[proc as usize] += 1);
        }
        let mut bare: Vec<Crowd> = Vec::with_capacity(jobs.len());
        for (proc, jobs) in (0_u32..).zip(&jobs) {
            let is_closed = !view.here().contains(proc);
            let stalled = if is_closed { 0 } else { view.load(proc).saturating_sub(*jobs) };
            bare.push(self.crowds.without_jobs(stalled, is_closed));
        }
        self.board = Board::new(view.processors(), &self.crowds, bare.into_iter());
        for run in &self.running {
            self.board.add(&mut self.crowds, run.kind, Procs::of(&run.procs), true);
        }
    }

    fn schedule_shared(&mut self, view: &View<'_>, actions: &mut Actions) {
        if self.is_stale || self.crowds.are_many() {
            self.look_around(view);
            self.has_changed = true;
        } else {
            self.board.settle(&mut self.crowds);
        }
        let (together, backfills) = (self.terms().together, self.terms().backfill);
        let mut started: Vec<Starts> = Vec::new();
        while let Some(head) = self.line.first() {
            let request = self.request(head, view.job(head));
            // Nobody is before it whom it could delay.
            let place = self.place(&request, false);
            let place = match place {
                None if together && backfills => self.place(&request, true),
                place => place,
            };
            let Some(kind) = place else { break };
            started.push(self.start(&request, kind));
            self.line.remove(head);
        }
        if backfills {
            self.backfill(view, &mut started);
        }
        if let Some(trace) = actions.trace() {
            let first = self.line.first();
            let open = first.map(|job| self.open(job, view));
            let closed = ProcSet::full(view.processors()).difference(&open.unwrap_or_default());
            trace.free = view.processors() - closed.len();
            trace.rule = Rule::Sharing { first, closed, backfills };
        }
        if self.has_changed || !started.is_empty() {
            self.share(view, started, actions);
        }
        // As long as all machines are here, and no stalled job keeps its place, nothing changes but by what is told.
        self.is_stale = self.board.crowds().any(|crowd| !self.crowds.is_plain(crowd));
        self.has_changed = false;
    }

    /// The processors whose jobs a job may join now.
    fn open(&mut self, job: JobKey, view: &View<'_>) -> ProcSet {
        let request = self.request(job, view.job(job));
        let open = self.kinds(&request).map(|kind| self.board.open_set(&mut self.crowds, kind));
        open.max_by_key(ProcSet::len).unwrap_or_default()
    }

    /// Gives all jobs their shares, and starts those that start.
    fn share(&mut self, view: &View<'_>, started: Vec<Starts>, actions: &mut Actions) {
        for run in &self.running {
            let (share, efficiency) = rate(&self.board, &mut self.crowds, run.kind, &run.procs);
            let (job, live) = (run.job, view.job(run.job));
            if share != live.share() {
                actions.push(Action::SetShare { job, share });
            }
            if efficiency != live.efficiency() {
                actions.push(Action::SetEfficiency { job, efficiency });
            }
        }
        for Starts { job, kind, procs, .. } in started {
            let (share, efficiency) = rate(&self.board, &mut self.crowds, kind, &procs);
            actions.push(Action::Start { job, placement: Placement::On(procs.clone()), share });
            if efficiency != Rate::FULL {
                actions.push(Action::SetEfficiency { job, efficiency });
            }
            self.line.remove(job);
            self.insert(Runs { job, seq: view.job(job).seq(), kind, procs });
        }
    }
}

/// The share of a job and what it keeps of its rate: a parallel job progresses as it does where it has least.
fn rate(board: &Board, crowds: &mut Crowds, kind: Kind, procs: &ProcSet) -> (Rate, Rate) {
    let mut least: Option<(Rate, Rate)> = None;
    for crowd in board.crowds_of(Procs::of(procs)) {
        let (share, kept) = crowds.rate(crowd, kind);
        least = Some(
            least.map_or((share.min(Rate::FULL), kept), |least| (least.0.min(share), least.1.min(kept))),
        );
    }
    least.unwrap_or((Rate::FULL, Rate::FULL))
}
