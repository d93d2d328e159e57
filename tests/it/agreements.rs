//! Reservations at several sites, as two state machines over lines that lose, delay and repeat what is said: every interleaving.

use std::collections::BTreeMap;
use std::rc::Rc;

use gridemu::agreement::{Answer, Ask, Coordinator, HoldId, Holder, Refusal, Room, Terms, Verdict, Wanted};
use gridemu::model::{JobId, JobRef, Origin, PartitionId, PoolId, SiteId};
use gridemu::units::{Span, Time};
use rustc_hash::FxHashSet;

/// What a site has reserved, counted the slow way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Counted {
    procs: u32,
    taken: BTreeMap<HoldId, Wanted>,
}

impl Counted {
    /// The most processors that are reserved at once.
    fn most(&self) -> u32 {
        let at = |time: Time| {
            let there = self.taken.values().filter(|one| one.from <= time && time < one.to);
            there.map(|one| one.procs).sum()
        };
        self.taken.values().map(|one| at(one.from)).max().unwrap_or(0)
    }
}

impl Room for Counted {
    fn take(&mut self, id: HoldId, wanted: &Wanted) -> Result<(), Refusal> {
        let mut more = self.clone();
        more.taken.insert(id, *wanted);
        if more.most() > self.procs {
            return Err(Refusal::NoRoom);
        }
        *self = more;
        Ok(())
    }

    fn give(&mut self, id: HoldId, wanted: &Wanted) {
        assert_eq!(self.taken.remove(&id), Some(*wanted), "what was not taken is given back");
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Word {
    Ask(usize, HoldId, Ask2),
    Answer(HoldId, Answer2),
    /// The job of a part, on its way to its site.
    Job(usize, HoldId),
}

/// The same, in an order.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Ask2 {
    Hold(Time),
    Commit(Time),
    Release(Time),
    Query,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Answer2 {
    Held,
    Committed,
    Gone(Refusal),
}

/// Two sites, the coordinators of two requests, and what is on its way: each message with how often it may still arrive. One that never does is lost.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    now: u64,
    holders: [Rc<(Holder, Counted)>; 2],
    requests: Vec<Rc<Coordinator>>,
    agreed: [bool; 2],
    failed: [bool; 2],
    /// Parts whose release a site has heard.
    released: [[bool; 2]; 2],
    line: BTreeMap<Word, u8>,
    /// Sites that may still fail, and messages of the first request with the first site that may still come twice.
    crashes: u8,
    repeats: u8,
}

/// What is explored.
#[derive(Copy, Clone, Debug)]
struct Rules {
    requests: u64,
    /// How often each message may arrive.
    copies: u8,
    /// How many messages may arrive twice beside that. Requests and sites can be interchanged, so it is one of the first request with the first site.
    repeats: u8,
    /// How often a site may fail.
    crashes: u8,
    lease: u64,
    patience: u64,
    start: u64,
}

fn at(secs: u64) -> Time {
    Time::from_secs(secs)
}

fn wanted(request: u64, site: u32, start: u64) -> Wanted {
    Wanted {
        pool: PoolId { site: SiteId(site), partition: PartitionId(0) },
        from: at(start),
        to: at(start + 2),
        procs: 1,
        job: JobRef::new(Origin::Grid, SiteId(site), JobId(2 * request + u64::from(site))),
    }
}

impl World {
    fn new(rules: Rules) -> Self {
        let mut line = BTreeMap::new();
        let terms = Terms {
            lease: Span::from_secs(rules.lease),
            patience: Span::from_secs(rules.patience),
            travel: Span::ZERO,
        };
        let mut request = |number: u64| {
            let parts = [wanted(number, 0, rules.start), wanted(number, 1, rules.start)];
            let mut said = Vec::new();
            let begun =
                Coordinator::begin((number, 0), parts, terms, at(0), &mut |id, _, ask| said.push((id, ask)));
            put(&mut line, said, rules);
            Rc::new(begun)
        };
        let requests = (0..rules.requests).map(&mut request).collect();
        let site = Rc::new((Holder::default(), Counted { procs: 1, taken: BTreeMap::new() }));
        Self {
            now: 0,
            holders: [site.clone(), site],
            requests,
            agreed: [false; 2],
            failed: [false; 2],
            released: [[false; 2]; 2],
            line,
            crashes: rules.crashes,
            repeats: rules.repeats,
        }
    }

    /// A message arrives.
    fn deliver(&self, word: Word, rules: Rules) -> Self {
        let mut next = self.clone();
        match next.line.get_mut(&word) {
            Some(left) if *left > 1 => *left -= 1,
            _ => {
                next.line.remove(&word);
            }
        }
        let now = at(next.now);
        match word {
            Word::Ask(site, id, ask) => {
                let ask = match ask {
                    Ask2::Hold(lease) => {
                        Ask::Hold { wanted: wanted(id.request, site as u32, rules.start), lease }
                    }
                    Ask2::Commit(claim_by) => Ask::Commit { claim_by },
                    Ask2::Release(until) => Ask::Release { until },
                    Ask2::Query => Ask::Query,
                };
                let (holder, room) = Rc::make_mut(&mut next.holders[site]);
                let answer = match holder.hear(id, ask, now, room) {
                    Answer::Held => Answer2::Held,
                    Answer::Committed => Answer2::Committed,
                    Answer::Gone(why) => Answer2::Gone(why),
                };
                next.released[id.request as usize][site] |= matches!(ask, Ask::Release { .. });
                next.line.insert(Word::Answer(id, answer), rules.copies);
            }
            Word::Answer(id, answer) => {
                let answer = match answer {
                    Answer2::Held => Answer::Held,
                    Answer2::Committed => Answer::Committed,
                    Answer2::Gone(why) => Answer::Gone(why),
                };
                let mut said = Vec::new();
                let request = id.request as usize;
                let verdict =
                    Rc::make_mut(&mut next.requests[request])
                        .hear(id, answer, now, &mut |id, _, ask| said.push((id, ask)));
                put(&mut next.line, said, rules);
                next.decided(request, verdict, rules);
            }
            Word::Job(site, id) => {
                Rc::make_mut(&mut next.holders[site]).0.claim(id, now);
            }
        }
        next
    }

    fn decided(&mut self, request: usize, verdict: Option<Verdict>, rules: Rules) {
        self.failed[request] |= matches!(verdict, Some(Verdict::Failed(_)));
        if verdict != Some(Verdict::Agreed) {
            return;
        }
        assert!(!self.agreed[request], "agreed twice");
        self.agreed[request] = true;
        for site in 0..2 {
            let id = HoldId { request: request as u64, round: 0, part: site as u32 };
            let committed = self.holders[site].0.holds().any(|(held, _, committed)| held == id && committed);
            assert!(committed, "agreed, and site {site} has not committed: {self:#?}");
            self.line.insert(Word::Job(site, id), rules.copies);
        }
    }

    /// A second passes.
    fn tick(&self, rules: Rules) -> Self {
        let mut next = self.clone();
        next.now += 1;
        let now = at(next.now);
        for site in &mut next.holders {
            let (holder, room) = Rc::make_mut(site);
            holder.lapse(now, room);
        }
        for request in 0..next.requests.len() {
            let mut said = Vec::new();
            let verdict =
                Rc::make_mut(&mut next.requests[request]).wake(now, &mut |id, _, ask| said.push((id, ask)));
            put(&mut next.line, said, rules);
            next.decided(request, verdict, rules);
        }
        next
    }

    /// A message arrives, and will arrive once more.
    fn deliver_twice(&self, word: Word, rules: Rules) -> Option<Self> {
        let mut next = self.clone();
        next.repeats = next.repeats.checked_sub(1)?;
        let (Word::Ask(_, id, _) | Word::Answer(id, _) | Word::Job(_, id)) = word;
        *next.line.get_mut(&word)? += 1;
        (id.request == 0 && id.part == 0).then(|| next.deliver(word, rules))
    }

    /// A site fails, and is back at once.
    fn crash(&self, site: usize) -> Option<Self> {
        let mut next = self.clone();
        next.crashes = next.crashes.checked_sub(1)?;
        let (holder, room) = Rc::make_mut(&mut next.holders[site]);
        holder.crash(room);
        Some(next)
    }

    /// Leaves out what nobody listens to any more.
    fn without_the_unheard(mut self) -> Self {
        let (agreed, failed) = (self.agreed, self.failed);
        self.line.retain(|word, _| match word {
            Word::Answer(id, answer) => {
                let request = id.request as usize;
                !agreed[request] && (!failed[request] || matches!(answer, Answer2::Gone(_)))
            }
            _ => true,
        });
        self
    }

    fn check(&self, rules: Rules) {
        for site in &self.holders {
            let (holder, room) = &**site;
            assert!(room.most() <= room.procs, "booked twice: {self:#?}");
            let held: Vec<HoldId> = holder.holds().map(|(id, ..)| id).collect();
            assert_eq!(held, room.taken.keys().copied().collect::<Vec<_>>());
            for id in held {
                let released = self.released[id.request as usize][id.part as usize];
                assert!(!released, "what was released is held again: {self:#?}");
                let claimed = holder.is_claimed(id);
                assert!(!claimed || self.agreed[id.request as usize], "claimed, and not agreed: {self:#?}");
                // Nothing lives for two leases without its job, or reaches its start without it.
                let bound = (2 * rules.lease).min(rules.start);
                assert!(claimed || self.now < bound, "a half outlives the bound: {self:#?}");
            }
        }
    }

    /// Whether both parts have a job at their start, one has, or none.
    fn starts(&self, request: u64) -> usize {
        (0..2)
            .filter(|part| {
                self.holders[*part as usize].0.is_claimed(HoldId { request, round: 0, part: *part })
            })
            .count()
    }
}

fn put(line: &mut BTreeMap<Word, u8>, said: Vec<(HoldId, Ask)>, rules: Rules) {
    for (id, ask) in said {
        let ask = match ask {
            Ask::Hold { lease, .. } => Ask2::Hold(lease),
            Ask::Commit { claim_by } => Ask2::Commit(claim_by),
            Ask::Release { until } => Ask2::Release(until),
            Ask::Query => Ask2::Query,
        };
        line.insert(Word::Ask(id.part as usize, id, ask), rules.copies);
    }
}

/// What was found in all states that can be reached.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    states: usize,
    /// States at the start by how many parts of the first request and of the second have their jobs.
    starts: BTreeMap<(usize, usize), usize>,
}

fn explore(rules: Rules) -> Found {
    let first = World::new(rules);
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    let hash = |world: &World| std::hash::BuildHasher::hash_one(&rustc_hash::FxBuildHasher, world);
    seen.insert(hash(&first));
    let mut open = vec![first];
    let mut starts = BTreeMap::new();
    while let Some(world) = open.pop() {
        world.check(rules);
        let words: Vec<Word> = world.line.keys().copied().collect();
        let twice = words.iter().filter_map(|word| world.deliver_twice(*word, rules));
        let delivered = words.iter().map(|word| world.deliver(*word, rules)).chain(twice);
        let failed = (0..2).filter_map(|site| world.crash(site));
        let later = world.tick(rules);
        let later = if later.now < rules.start {
            Some(later)
        } else {
            later.check(rules);
            *starts.entry((later.starts(0), later.starts(1))).or_default() += 1;
            None
        };
        for next in delivered.chain(failed).chain(later).map(World::without_the_unheard) {
            if seen.insert(hash(&next)) {
                open.push(next);
            }
        }
    }
    Found { states: seen.len(), starts }
}

const PLAIN: Rules =
    Rules { requests: 2, copies: 1, repeats: 0, crashes: 0, lease: 1, patience: 9, start: 2 };

/// Two requests want the same processors. A job that is lost on its way leaves a part alone at its start: no protocol can make sure that both sides know.
#[test]
fn every_interleaving_of_two_requests_with_a_site_that_fails() {
    let found = explore(Rules { crashes: 1, ..PLAIN });
    let starts = [((0, 0), 392_612), ((0, 1), 3_416), ((0, 2), 854), ((1, 0), 3_416), ((2, 0), 854)];
    assert_eq!(found, Found { states: 407_110, starts: BTreeMap::from(starts) });
}

#[test]
fn every_interleaving_of_two_requests_with_a_message_that_comes_twice() {
    let found = explore(Rules { repeats: 1, ..PLAIN });
    let starts = [((0, 0), 770_980), ((0, 1), 6_400), ((0, 2), 1_600), ((1, 0), 6_516), ((2, 0), 1_810)];
    assert_eq!(found, Found { states: 791_585, starts: BTreeMap::from(starts) });
}

#[test]
fn every_interleaving_of_a_request_all_of_whose_messages_come_twice() {
    let found = explore(Rules { requests: 1, copies: 2, crashes: 2, ..PLAIN });
    let starts = [((0, 0), 210_570), ((1, 0), 1_296), ((2, 0), 432)];
    assert_eq!(found, Found { states: 228_646, starts: BTreeMap::from(starts) });
}

/// The sites are asked again each second.
#[test]
fn every_interleaving_of_a_request_that_is_said_again() {
    let found = explore(Rules { requests: 1, crashes: 1, lease: 2, patience: 1, start: 3, ..PLAIN });
    let starts = [((0, 0), 13_992), ((1, 0), 260), ((2, 0), 110)];
    assert_eq!(found, Found { states: 15_904, starts: BTreeMap::from(starts) });
}
