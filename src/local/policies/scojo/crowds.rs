//! Who may be together on a processor: each set of kinds of jobs is looked at once.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::ScojoOptions;
use crate::sharing::Share;
use crate::units::{Rate, Span, Work};

/// What counts of a job for others on its processors.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The priority of its class.
    pub(super) priority: u32,
    /// The place of its application in the table of slowdowns.
    pub(super) application: Option<usize>,
    /// The share that it requests.
    pub(super) share: Share,
    /// The number of this share, if shares go by slots: no other job on its processors has it.
    pub(super) slot: Option<u8>,
}

/// The number of a kind of jobs: of those that have the same [`Member`].
pub(super) type Kind = u32;

/// The number of a crowd: of what processors have in common that have jobs of the same kinds.
pub(super) type Crowd = u32;

const UNKNOWN: u32 = u32::MAX;

/// The kinds and crowds that have been seen, with what follows from them.
#[derive(Debug)]
pub(super) struct Crowds {
    pub(super) terms: ScojoOptions,
    kinds: Vec<Known>,
    /// The first kind of jobs by class and application.
    firsts: Vec<Kind>,
    crowds: Vec<Seen>,
    numbers: BTreeMap<Jobs, Crowd>,
}

#[derive(Debug)]
struct Known {
    member: Member,
    /// The same without a priority.
    blind: Kind,
    /// The rate that a job has at any time.
    guaranteed: Rate,
}

/// The jobs of a processor.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Jobs {
    /// Their kinds, ascending.
    kinds: SmallVec<[Kind; 4]>,
    /// Stalled jobs, which keep their places.
    stalled: u32,
    /// No other job gets the processor: it is down, or drains.
    closed: bool,
    /// One of them has started before. Told only where that matters.
    old: bool,
}

#[derive(Debug)]
struct Seen {
    jobs: Jobs,
    /// By kind: the crowd with another job of it, that starts now or has started before.
    more: Vec<[Crowd; 2]>,
    /// By kind: the crowd without one job of it.
    less: Vec<Crowd>,
    /// By kind: whether such a job may join, in order or backfilled, as far as it is known.
    takes: Vec<[Option<bool>; 2]>,
    settled: Crowd,
    blind: Crowd,
    /// The share of a job of each kind, and what it keeps of its rate.
    rates: Option<SmallVec<[(Kind, Rate, Rate); 4]>>,
}

impl Crowds {
    /// More of them are not kept from one pass to the next.
    const MOST: usize = 1 << 14;

    pub(super) fn new(terms: ScojoOptions) -> Self {
        Self { terms, kinds: Vec::new(), firsts: Vec::new(), crowds: Vec::new(), numbers: BTreeMap::new() }
    }

    /// Whether there are so many that those of before are to be dropped.
    pub(super) fn are_many(&self) -> bool {
        self.crowds.len() > Self::MOST
    }

    /// Drops all crowds; kinds stay.
    pub(super) fn clear(&mut self) {
        self.crowds.clear();
        self.numbers.clear();
    }

    // ---- kinds ----

    /// How many kinds a job may be of: it has the first for which there is room.
    pub(super) fn choices(&self) -> u32 {
        match &self.terms.shares {
            super::Shares::Slots(slots) => slots.len() as u32,
            super::Shares::Same(_) | super::Shares::Classes(_) => 1,
        }
    }

    /// The first kind of a job of a class, which has this priority; the others follow it.
    pub(super) fn kind(
        &mut self,
        class: usize,
        application: Option<usize>,
        priority: impl FnOnce() -> u32,
    ) -> Kind {
        let applications = self.terms.coscheduling.pairs.names().len() + 1;
        let at = class * applications + application.map_or(0, |application| application + 1);
        if let Some(known) = self.firsts.get(at).copied().filter(|kind| *kind != UNKNOWN) {
            return known;
        }
        let blind = self.kinds_of(class, 0, application, None);
        let first = self.kinds_of(class, priority(), application, Some(blind));
        if self.firsts.len() <= at {
            self.firsts.resize(at + 1, UNKNOWN);
        }
        self.firsts[at] = first;
        first
    }

    fn kinds_of(
        &mut self,
        class: usize,
        priority: u32,
        application: Option<usize>,
        blind: Option<Kind>,
    ) -> Kind {
        let shares: SmallVec<[(Share, Option<u8>); 4]> = self.terms.shares.of(class).collect();
        let of = |(share, slot)| Member { priority, application, share, slot };
        let next = self.kinds.len() as Kind;
        let known = shares.first().and_then(|first| {
            self.kinds.iter().position(|known| known.member == of(*first)).map(|at| at as Kind)
        });
        if let Some(first) = known {
            return first;
        }
        for (number, share) in (0..).zip(shares) {
            let (member, blind) = (of(share), blind.unwrap_or(next) + number);
            let kept = match self.terms.compensate {
                true => Rate::FULL,
                false => self.terms.coscheduling.worst(application, self.terms.level).efficiency(),
            };
            let guaranteed = member.share.rate().times(kept);
            self.kinds.push(Known { member, blind, guaranteed });
        }
        next
    }

    pub(super) fn member(&self, kind: Kind) -> &Member {
        &self.kinds[kind as usize].member
    }

    /// The same kind without a priority.
    pub(super) fn blind_kind(&self, kind: Kind) -> Kind {
        self.kinds[kind as usize].blind
    }

    /// How long a job takes at the most for what it does alone in this time: it has its share at any time, and the largest slowdown.
    pub(super) fn lasts(&self, kind: Kind, alone: Span) -> Span {
        Work::of_runtime(alone).span_at(self.kinds[kind as usize].guaranteed).unwrap_or(Span::MAX)
    }

    // ---- crowds ----

    /// A crowd without jobs that run.
    pub(super) fn without_jobs(&mut self, stalled: u32, closed: bool) -> Crowd {
        self.number(Jobs { stalled, closed, ..Jobs::default() })
    }

    fn number(&mut self, jobs: Jobs) -> Crowd {
        if let Some(known) = self.numbers.get(&jobs) {
            return *known;
        }
        let number = self.crowds.len() as Crowd;
        self.numbers.insert(jobs.clone(), number);
        self.crowds.push(Seen {
            jobs,
            more: Vec::new(),
            less: Vec::new(),
            takes: Vec::new(),
            settled: UNKNOWN,
            blind: UNKNOWN,
            rates: None,
        });
        number
    }

    /// How many jobs are there.
    pub(super) fn load(&self, crowd: Crowd) -> u32 {
        let jobs = &self.crowds[crowd as usize].jobs;
        jobs.kinds.len() as u32 + jobs.stalled
    }

    /// Whether all jobs are known here, and others may come.
    pub(super) fn is_plain(&self, crowd: Crowd) -> bool {
        let jobs = &self.crowds[crowd as usize].jobs;
        jobs.stalled == 0 && !jobs.closed
    }

    /// Whether anybody may come.
    pub(super) fn is_open(&self, crowd: Crowd) -> bool {
        !self.crowds[crowd as usize].jobs.closed && self.load(crowd) < self.terms.level
    }

    /// The crowd with another job, which starts now or has started before.
    #[inline]
    pub(super) fn more(&mut self, crowd: Crowd, kind: Kind, is_old: bool) -> Crowd {
        let is_old = is_old && self.terms.together;
        match self.crowds[crowd as usize].more.get(kind as usize) {
            Some(more) if more[usize::from(is_old)] != UNKNOWN => more[usize::from(is_old)],
            _ => self.find_more(crowd, kind, is_old),
        }
    }

    fn find_more(&mut self, crowd: Crowd, kind: Kind, is_old: bool) -> Crowd {
        let mut jobs = self.crowds[crowd as usize].jobs.clone();
        let at = jobs.kinds.partition_point(|other| *other <= kind);
        jobs.kinds.insert(at, kind);
        jobs.old |= is_old;
        let found = self.number(jobs);
        let more = &mut self.crowds[crowd as usize].more;
        if more.len() <= kind as usize {
            more.resize(kind as usize + 1, [UNKNOWN; 2]);
        }
        more[kind as usize][usize::from(is_old)] = found;
        found
    }

    /// The crowd without one job of this kind. All others have started before.
    #[inline]
    pub(super) fn less(&mut self, crowd: Crowd, kind: Kind) -> Crowd {
        match self.crowds[crowd as usize].less.get(kind as usize) {
            Some(less) if *less != UNKNOWN => *less,
            _ => self.find_less(crowd, kind),
        }
    }

    fn find_less(&mut self, crowd: Crowd, kind: Kind) -> Crowd {
        let mut jobs = self.crowds[crowd as usize].jobs.clone();
        if let Some(at) = jobs.kinds.iter().position(|other| *other == kind) {
            jobs.kinds.remove(at);
        }
        jobs.old &= !jobs.kinds.is_empty();
        let found = self.number(jobs);
        let less = &mut self.crowds[crowd as usize].less;
        if less.len() <= kind as usize {
            less.resize(kind as usize + 1, UNKNOWN);
        }
        less[kind as usize] = found;
        found
    }

    /// The crowd when time has gone on: all that are there have started before.
    pub(super) fn settled(&mut self, crowd: Crowd) -> Crowd {
        if self.crowds[crowd as usize].settled == UNKNOWN {
            let mut jobs = self.crowds[crowd as usize].jobs.clone();
            jobs.old = self.terms.together && !jobs.kinds.is_empty();
            self.crowds[crowd as usize].settled = self.number(jobs);
        }
        self.crowds[crowd as usize].settled
    }

    /// The same crowd of jobs without priorities.
    pub(super) fn blind(&mut self, crowd: Crowd) -> Crowd {
        if self.crowds[crowd as usize].blind == UNKNOWN {
            let mut jobs = self.crowds[crowd as usize].jobs.clone();
            jobs.kinds.iter_mut().for_each(|kind| *kind = self.kinds[*kind as usize].blind);
            jobs.kinds.sort_unstable();
            self.crowds[crowd as usize].blind = self.number(jobs);
        }
        self.crowds[crowd as usize].blind
    }

    /// Whether a job may join these. One that is backfilled joins none of a higher priority.
    #[inline]
    pub(super) fn takes(&mut self, crowd: Crowd, kind: Kind, backfilled: bool) -> bool {
        let known = self.crowds[crowd as usize].takes.get(kind as usize);
        match known.and_then(|takes| takes[usize::from(backfilled)]) {
            Some(takes) => takes,
            None => self.find_takes(crowd, kind, backfilled),
        }
    }

    fn find_takes(&mut self, crowd: Crowd, kind: Kind, backfilled: bool) -> bool {
        let found = self.may_join(crowd, kind, backfilled);
        let takes = &mut self.crowds[crowd as usize].takes;
        if takes.len() <= kind as usize {
            takes.resize(kind as usize + 1, [None; 2]);
        }
        takes[kind as usize][usize::from(backfilled)] = Some(found);
        found
    }

    fn may_join(&self, crowd: Crowd, kind: Kind, backfilled: bool) -> bool {
        if !self.is_open(crowd) {
            return false;
        }
        let jobs = &self.crowds[crowd as usize].jobs;
        if jobs.kinds.is_empty() {
            return true;
        }
        if self.terms.together && !backfilled && jobs.old {
            return false;
        }
        let job = self.member(kind);
        let may_join = |other: &Kind| {
            let other = self.member(*other);
            (!backfilled || other.priority <= job.priority) && (job.slot.is_none() || other.slot != job.slot)
        };
        if !jobs.kinds.iter().all(may_join) {
            return false;
        }
        let all: SmallVec<[Member; 4]> =
            jobs.kinds.iter().chain([&kind]).map(|kind| *self.member(*kind)).collect();
        let applications: SmallVec<[Option<usize>; 4]> =
            all.iter().map(|member| member.application).collect();
        let needed: u64 = (0..all.len()).map(|one| self.terms.weight(&all, &applications, one)).sum();
        needed <= u64::from(Share::WHOLE) && self.terms.coscheduling.allows(&applications)
    }

    /// The share of a job of this kind in a crowd, and what it keeps of its rate.
    pub(super) fn rate(&mut self, crowd: Crowd, kind: Kind) -> (Rate, Rate) {
        if self.crowds[crowd as usize].rates.is_none() {
            self.crowds[crowd as usize].rates = Some(self.rates(crowd));
        }
        let rates = self.crowds[crowd as usize].rates.iter().flatten();
        let found = rates.into_iter().find(|(of, ..)| *of == kind);
        found.map_or((Rate::FULL, Rate::FULL), |(_, share, kept)| (*share, *kept))
    }

    fn rates(&self, crowd: Crowd) -> SmallVec<[(Kind, Rate, Rate); 4]> {
        let kinds = &self.crowds[crowd as usize].jobs.kinds;
        let all: SmallVec<[Member; 4]> = kinds.iter().map(|kind| *self.member(*kind)).collect();
        let applications: SmallVec<[Option<usize>; 4]> =
            all.iter().map(|member| member.application).collect();
        let weights: SmallVec<[u64; 4]> =
            (0..all.len()).map(|one| self.terms.weight(&all, &applications, one)).collect();
        let sum = match self.terms.gives_spare || all.len() == 1 {
            true => weights.iter().sum(),
            false => Share::WHOLE.into(),
        };
        let rates = kinds.iter().zip(&weights).enumerate().map(|(one, (kind, weight))| {
            let kept = self.terms.coscheduling.slowdown(&applications, one).efficiency();
            (*kind, Rate::ratio(*weight, sum), kept)
        });
        rates.collect()
    }
}
