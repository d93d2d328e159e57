//! Who shares which processors, and whom a job may join.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::ScojoOptions;
use crate::local::View;
use crate::model::ProcSet;
use crate::sharing::Share;
use crate::units::Rate;

/// A job on processors, or one that is to be put there.
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

/// What processors have in common that have the same jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Crowd {
    /// The numbers of the jobs, ascending.
    members: SmallVec<[u32; 4]>,
    /// Stalled jobs, which keep their places.
    stalled: u32,
    /// No other job gets these processors: they are down, or drain.
    closed: bool,
}

/// The processors of a partition by the jobs that they have.
#[derive(Clone, Debug)]
pub(super) struct Board {
    members: Vec<Option<Member>>,
    crowds: BTreeMap<Crowd, ProcSet>,
    /// Jobs with lower numbers have started before.
    started: u32,
}

impl Board {
    /// The partition as it is, with its running jobs numbered from 0.
    pub(super) fn of<'a>(view: &View<'_>, running: impl Iterator<Item = (Member, &'a ProcSet)>) -> Self {
        let mut on = vec![SmallVec::<[u32; 4]>::new(); view.processors() as usize];
        let mut members = Vec::new();
        for (number, (member, procs)) in (0_u32..).zip(running) {
            members.push(Some(member));
            for proc in procs.iter() {
                on[proc as usize].push(number);
            }
        }
        let mut crowds: BTreeMap<Crowd, ProcSet> = BTreeMap::new();
        for (proc, members) in (0_u32..).zip(on) {
            let closed = !view.here().contains(proc);
            let jobs = members.len() as u32;
            let stalled = if closed { 0 } else { view.load(proc).saturating_sub(jobs) };
            crowds.entry(Crowd { members, stalled, closed }).or_default().insert(proc);
        }
        let started = members.len() as u32;
        Self { members, crowds, started }
    }

    /// Time goes on: all that are there have started before.
    pub(super) fn settle(&mut self) {
        self.started = self.members.len() as u32;
    }

    /// Adds a job on these processors, and says its number.
    pub(super) fn add(&mut self, member: Member, procs: &ProcSet) -> u32 {
        let number = self.members.len() as u32;
        self.members.push(Some(member));
        let joined: Vec<(Crowd, ProcSet)> = self
            .crowds
            .iter()
            .filter(|(_, of)| !of.is_disjoint(procs))
            .map(|(crowd, of)| (crowd.clone(), of.intersection(procs)))
            .collect();
        for (mut crowd, common) in joined {
            self.take(&crowd, &common);
            crowd.members.push(number);
            self.crowds.entry(crowd).or_default().insert_all(&common);
        }
        number
    }

    /// Removes a job.
    pub(super) fn remove(&mut self, number: u32) {
        let left: Vec<Crowd> =
            self.crowds.keys().filter(|crowd| crowd.members.contains(&number)).cloned().collect();
        for mut crowd in left {
            let Some(procs) = self.crowds.remove(&crowd) else { continue };
            crowd.members.retain(|member| *member != number);
            self.crowds.entry(crowd).or_default().insert_all(&procs);
        }
        if let Some(member) = self.members.get_mut(number as usize) {
            *member = None;
        }
    }

    fn take(&mut self, crowd: &Crowd, procs: &ProcSet) {
        if let Some(of) = self.crowds.get_mut(crowd) {
            of.remove_all(procs);
            if of.is_empty() {
                self.crowds.remove(crowd);
            }
        }
    }

    fn members<'a>(&'a self, crowd: &'a Crowd) -> impl Iterator<Item = &'a Member> {
        crowd.members.iter().filter_map(|number| self.members.get(*number as usize)?.as_ref())
    }

    /// So many processors whose jobs this one may join: those with the fewest jobs, of equal ones the lowest numbers. `None` if there are too few.
    pub(super) fn room(
        &self,
        terms: &ScojoOptions,
        job: &Member,
        procs: u32,
        backfilled: bool,
    ) -> Option<ProcSet> {
        let mut by_load: BTreeMap<usize, ProcSet> = BTreeMap::new();
        for (crowd, of) in &self.crowds {
            if self.takes(terms, crowd, job, backfilled) {
                by_load.entry(crowd.members.len() + crowd.stalled as usize).or_default().insert_all(of);
            }
        }
        let mut chosen = ProcSet::new();
        for of in by_load.values() {
            let lacks = procs - chosen.len();
            match of.lowest(lacks) {
                Some(enough) => {
                    chosen.insert_all(&enough);
                    return Some(chosen);
                }
                None => chosen.insert_all(of),
            }
        }
        None
    }

    /// All processors whose jobs this one may join.
    pub(super) fn open(&self, terms: &ScojoOptions, job: &Member, backfilled: bool) -> ProcSet {
        let mut open = ProcSet::new();
        let takes = self.crowds.iter().filter(|(crowd, _)| self.takes(terms, crowd, job, backfilled));
        takes.for_each(|(_, of)| open.insert_all(of));
        open
    }

    /// Whether a job may join these. One that is backfilled joins none of a higher priority.
    fn takes(&self, terms: &ScojoOptions, crowd: &Crowd, job: &Member, backfilled: bool) -> bool {
        let jobs = crowd.members.len() + crowd.stalled as usize;
        if crowd.closed || jobs >= terms.level as usize {
            return false;
        }
        if crowd.members.is_empty() {
            return true;
        }
        if terms.together && !backfilled && crowd.members.iter().any(|number| *number < self.started) {
            return false;
        }
        let may_join = |other: &Member| {
            (!backfilled || other.priority <= job.priority) && (job.slot.is_none() || other.slot != job.slot)
        };
        if !self.members(crowd).all(may_join) {
            return false;
        }
        let all: SmallVec<[Member; 4]> = self.members(crowd).chain([job]).copied().collect();
        let applications: SmallVec<[Option<usize>; 4]> =
            all.iter().map(|member| member.application).collect();
        let needed: u64 = (0..all.len()).map(|one| terms.weight(&all, &applications, one)).sum();
        needed <= u64::from(Share::WHOLE) && terms.coscheduling.allows(&applications)
    }

    /// The share of each job and what it keeps of its rate: a parallel job progresses as it does where it has least.
    pub(super) fn rates(&self, terms: &ScojoOptions) -> Vec<(Rate, Rate)> {
        let mut rates = vec![(Rate::FULL, None::<Rate>); self.members.len()];
        for crowd in self.crowds.keys() {
            let all: SmallVec<[Member; 4]> = self.members(crowd).copied().collect();
            let applications: SmallVec<[Option<usize>; 4]> =
                all.iter().map(|member| member.application).collect();
            let weights: SmallVec<[u64; 4]> =
                (0..all.len()).map(|one| terms.weight(&all, &applications, one)).collect();
            let sum = match terms.gives_spare || all.len() == 1 {
                true => weights.iter().sum(),
                false => Share::WHOLE.into(),
            };
            for (one, (number, weight)) in crowd.members.iter().zip(&weights).enumerate() {
                let (share, efficiency) = &mut rates[*number as usize];
                *share = (*share).min(Rate::ratio(*weight, sum));
                let kept = terms.coscheduling.slowdown(&applications, one).efficiency();
                *efficiency = Some(efficiency.map_or(kept, |least| least.min(kept)));
            }
        }
        rates.into_iter().map(|(share, efficiency)| (share, efficiency.unwrap_or(Rate::FULL))).collect()
    }
}
