//! Discrepancy search over the orders of the waiting jobs.

mod schedule;
#[cfg(test)]
mod tests;
mod variants;

use std::collections::BTreeSet;

pub(super) use variants::info;
pub use variants::{DiscrepancyOptions, WaitBound};

use self::schedule::{Candidate, Cost, Placed, Schedule};
use crate::local::{
    Actions, Awake, BackfillWindow, Change, Entry, FactorQueue, LocalPolicy, Phase, PlannedJob, Profile,
    ProfileAhead, Queue, Rule, SearchEffort, SearchFacts, Searched, View,
};
use crate::model::JobKey;
use crate::search::discrepancy::{DiscrepancySearch, Found, Options, OrderProblem};
use crate::units::{Span, Time};

/// A search for the best order in which waiting jobs are planned, at each pass anew [S. Vasupongayya, S.-H. Chiang, B. Massey, *Search-based job
/// scheduling for parallel computer workloads*, IEEE Cluster 2005].
///
/// In an order each job is planned at its earliest start beside running jobs, reservations and the jobs before it. Schedules are compared by the sum
/// of excessive waits, those beyond a bound, and then by the mean slowdown (wait + estimate) / estimate. Jobs that the best one starts now start.
#[derive(Debug)]
pub struct Discrepancy {
    options: DiscrepancyOptions,
    /// Waiting jobs by since when they wait.
    waiting: BTreeSet<(Time, u64, JobKey)>,
    /// The same in the order of the heuristic, if that is fixed.
    queue: Queue,
    /// The same otherwise.
    by_factor: FactorQueue,
    effort: SearchEffort,
    search: DiscrepancySearch,
    jobs: Vec<Candidate>,
    placed: Vec<Placed>,
}

impl Discrepancy {
    /// A policy with these parameters.
    pub fn new(options: DiscrepancyOptions) -> Self {
        Self {
            options,
            waiting: BTreeSet::new(),
            queue: Queue::new(),
            by_factor: FactorQueue::default(),
            effort: SearchEffort::default(),
            search: DiscrepancySearch::default(),
            jobs: Vec::new(),
            placed: Vec::new(),
        }
    }

    fn entry(&self, view: &View<'_>, job: JobKey) -> Entry {
        let live = view.job(job);
        let rank = self.options.order.rank(live);
        Entry { rank, seq: live.seq(), job, procs: live.procs(), estimate: live.estimate() }
    }

    fn insert(&mut self, view: &View<'_>, job: JobKey) {
        let (entry, since) = (self.entry(view, job), view.job(job).ready());
        self.waiting.insert((since, entry.seq, job));
        if self.options.order.is_fixed() {
            self.queue.insert(entry);
        } else {
            self.by_factor.insert(entry, since);
        }
    }

    fn remove(&mut self, view: &View<'_>, entry: &Entry) {
        self.waiting.remove(&(view.job(entry.job).ready(), entry.seq, entry.job));
        if self.options.order.is_fixed() {
            self.queue.remove(entry.place());
        } else {
            self.by_factor.remove(entry);
        }
    }

    /// The first jobs in the order of the heuristic.
    fn first(&mut self, view: &View<'_>) -> Vec<Entry> {
        let DiscrepancyOptions { order, lookahead, .. } = self.options;
        let most = lookahead as usize;
        if order.is_fixed() {
            return self.queue.iter().take(most).copied().collect();
        }
        if self.waiting.len() <= most {
            let mut entries: Vec<Entry> = self.by_factor.iter().copied().collect();
            order.sort(view, &mut entries);
            return entries;
        }
        // Of a long queue the others are not looked at.
        let entries: Vec<Entry> = std::iter::from_fn(|| {
            let first = self.by_factor.find(view.now(), BackfillWindow::ANY)?;
            self.by_factor.remove(&first)
        })
        .take(most)
        .collect();
        entries.iter().for_each(|entry| self.by_factor.insert(*entry, view.job(entry.job).ready()));
        entries
    }

    /// How long a job may wait before that is excessive.
    fn bound(&self, now: Time) -> Span {
        match self.options.bound {
            WaitBound::Fixed(bound) => bound,
            WaitBound::Dynamic => self.waiting.first().map_or(Span::ZERO, |(since, ..)| now.since(*since)),
        }
    }

    /// Looks for the best order of the first jobs, unless none of them can start, and starts those that it starts now. If that is all of them, the
    /// next ones are to be looked at: returns what they find.
    fn plan<'a>(
        &mut self,
        view: &View<'a>,
        (profile, awake): (ProfileAhead<'a>, Awake),
        free: &mut u32,
        actions: &mut Actions,
    ) -> Option<(ProfileAhead<'a>, Awake)> {
        let (now, bound) = (view.now(), self.bound(view.now()));
        let candidate = |entry: Entry| Candidate::new(entry, view.job(entry.job).ready(), bound, now);
        let first = self.first(view);
        if let Some(facts) = searched(actions) {
            (facts.found, facts.first) = (None, first.first().map(|first| first.job));
        }
        self.jobs.clear();
        self.jobs.extend(first.into_iter().map(candidate));
        if self.jobs.iter().all(|job| job.entry.procs > *free) {
            return None;
        }
        let Self { options, search, jobs, placed, .. } = self;
        let mut schedule = Schedule::new((profile, now, awake), jobs, placed);
        let searches = options.searches(schedule.items());
        let found = search.run(&mut schedule, searches).ok()?;
        let mut started = Vec::new();
        for (place, item) in (1..).zip(search.best()) {
            schedule.place(*item);
            let (entry, start) = (schedule.job(*item).entry, schedule.last_start());
            // The plan may count on processors that a reservation still waits for.
            if start == now && entry.procs <= *free {
                *free -= entry.procs;
                started.push(entry);
            } else if let Some(facts) = searched(actions) {
                facts.plan.push(PlannedJob { job: entry.job, start, place, in_heuristic: item + 1 });
            }
        }
        let is_all = started.len() == search.best().len();
        let room = schedule.into_room();
        placed.clear();
        for entry in started {
            self.remove(view, &entry);
            actions.start(entry.job, entry.procs);
        }
        self.note(&found, actions);
        is_all.then_some(room)
    }

    /// Takes note of what a search has found.
    fn note(&mut self, found: &Found<Cost>, actions: &mut Actions) {
        self.effort = self.effort.and(effort(found));
        let Found { nodes, leaves, discrepancies, is_proven, .. } = *found;
        let is_better = found.cost < found.heuristic;
        if let Some(facts) = searched(actions) {
            let orders = leaves;
            facts.found = Some(SearchFacts { nodes, orders, discrepancies, is_better, is_proven });
            facts.first = facts.plan.first().map(|first| first.job);
        }
    }
}

impl DiscrepancyOptions {
    /// The best order of these jobs that a search finds in which to plan them beside the profile, and what it took.
    pub(super) fn best_order(
        &self,
        view: &View<'_>,
        profile: Profile,
        entries: &[Entry],
    ) -> Option<(Vec<Entry>, SearchEffort)> {
        let now = view.now();
        let longest = entries.iter().map(|entry| now.since(view.job(entry.job).ready())).max()?;
        let bound = if let WaitBound::Fixed(bound) = self.bound { bound } else { longest };
        let candidate = |entry: &Entry| Candidate::new(*entry, view.job(entry.job).ready(), bound, now);
        let mut jobs: Vec<Candidate> = entries.iter().map(candidate).collect();
        let (room, mut placed) = ((view.ahead_of(profile), now, Awake::ALL), Vec::new());
        let mut schedule = Schedule::new(room, &mut jobs, &mut placed);
        let mut search = DiscrepancySearch::default();
        let searches = self.searches(schedule.items());
        let found = search.run(&mut schedule, searches).ok()?;
        Some((search.best().iter().map(|item| entries[*item as usize]).collect(), effort(&found)))
    }

    /// How a search goes for so many jobs.
    fn searches(&self, jobs: u32) -> Options {
        let nodes = self.nodes.max(u64::from(jobs));
        Options { strategy: self.search, nodes, prunes: self.prunes, ..Options::default() }
    }
}

/// What a search took.
fn effort(found: &Found<Cost>) -> SearchEffort {
    let Found { nodes, pruned, is_proven, .. } = *found;
    let (proven, improved) = (is_proven.into(), (found.cost < found.heuristic).into());
    SearchEffort {
        decisions: 1,
        nodes,
        most_nodes: nodes,
        pruned,
        proven,
        improved,
        ..SearchEffort::default()
    }
}

/// The facts of the search, if they were requested.
fn searched(actions: &mut Actions) -> Option<&mut Searched> {
    match &mut actions.trace()?.rule {
        Rule::Search(facts) => Some(facts),
        _ => None,
    }
}

impl LocalPolicy for Discrepancy {
    fn on(&mut self, change: Change, view: &View<'_>) {
        match change {
            Change::Arrived(job) => self.insert(view, job),
            Change::Withdrawn(job) => {
                let entry = self.entry(view, job);
                self.remove(view, &entry);
            }
            // Everything but the queue is looked at anew in each pass, and there is no ECC processor.
            _ => {}
        }
    }

    fn schedule(&mut self, view: &View<'_>, actions: &mut Actions) {
        if let Some(trace) = actions.trace() {
            trace.rule = Rule::Search(Searched { lookahead: self.options.lookahead, ..Searched::default() });
        }
        let mut free = view.free();
        let mut room = (free > 0).then(|| (view.profile_ahead(), view.awake()));
        while let Some(left) = room.take() {
            room = self.plan(view, left, &mut free, actions).filter(|_| free > 0);
        }
        if let Some(trace) = actions.trace() {
            trace.free = free;
        }
    }

    fn effort(&self) -> Option<SearchEffort> {
        Some(self.effort)
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_stdvec(&self.effort).unwrap_or_default()
    }

    fn restore(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let effort = postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        self.adopt(view);
        self.effort = effort;
        Ok(())
    }

    fn adopt(&mut self, view: &View<'_>) {
        *self = Self::new(self.options);
        view.jobs_in(Phase::Waiting).into_iter().for_each(|job| self.insert(view, job));
    }
}
