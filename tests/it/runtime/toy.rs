//! A toy entity that talks at random, and whose records tell all that it has seen.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use gridemu::entity::{Address, Body, Entity, EntityError, Message, Outbox, Sender, Stamp, ToNetwork};
use gridemu::model::{EventCause, EventKind, EventRecord, JobId, Origin, ProcSet, Record, SiteId};
use gridemu::units::{Bytes, Span, Time};

/// What a toy does wrong, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It panics.
    Panics,
    /// It says something more.
    Babbles,
    /// It answers with an error.
    Breaks,
    /// It sleeps for so many milliseconds.
    Sleeps(u64),
    /// It ends the thread that it runs on.
    Leaves,
}

/// What is due at a moment without a message.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// Whether it may lead to messages.
    loud: bool,
    /// How much more may come of it.
    left: u64,
}

/// An entity that does things of its own and answers messages, as its own small generator tells it; what it draws depends
/// on all that it has seen before.
#[derive(Clone, Debug)]
pub(crate) struct Toy {
    address: Address,
    peers: Vec<(Address, Span)>,
    timers: BTreeMap<(Stamp, u64), Timer>,
    inbox: BTreeMap<(Stamp, Sender, u64), Body>,
    state: u64,
    count: u64,
    passed: Stamp,
    fault: Option<(Time, Fault)>,
    /// Whether it does nothing but write down and answer each message.
    echo: bool,
    /// Times it has been advanced.
    pub(crate) calls: u64,
}

impl Toy {
    /// A toy that knows of nobody and does nothing.
    pub(crate) fn new(address: Address, seed: u64) -> Self {
        Self {
            address,
            peers: Vec::new(),
            timers: BTreeMap::new(),
            inbox: BTreeMap::new(),
            state: seed,
            count: 0,
            passed: Stamp::default(),
            fault: None,
            echo: false,
            calls: 0,
        }
    }

    /// Knows how to reach somebody.
    pub(crate) fn knows(mut self, peer: Address, latency: Span) -> Self {
        self.peers.push((peer, latency));
        self
    }

    /// Does something then, and up to `left` things that come of it.
    pub(crate) fn does(mut self, at: Stamp, loud: bool, left: u64) -> Self {
        self.set(at, Timer { loud, left });
        self
    }

    /// Answers all that comes, for ever.
    pub(crate) fn echoes(mut self) -> Self {
        self.echo = true;
        self
    }

    /// Does something wrong the first time it does anything at or after `at`.
    pub(crate) fn fails(mut self, at: Time, fault: Fault) -> Self {
        self.fault = Some((at, fault));
        self
    }

    fn set(&mut self, at: Stamp, timer: Timer) {
        self.count += 1;
        self.timers.insert((at, self.count), timer);
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % below
    }

    /// Takes in what has happened.
    fn see(&mut self, what: u64, now: Stamp) {
        let moment = now.time.micros() ^ u64::from(now.round) << 48;
        self.state = (self.state ^ what).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ moment;
    }

    fn handle(&mut self, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        if let Some((_, fault)) = self.fault.filter(|(at, _)| *at <= now.time) {
            self.fault = None;
            self.fail(fault, now, outbox)?;
        }
        while let Some(entry) = self.timers.first_entry().filter(|entry| entry.key().0 <= now) {
            let timer = entry.remove();
            self.see(1, now);
            self.act(now, timer.loud, timer.left, outbox);
        }
        while let Some(entry) = self.inbox.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((_, sender, sequence), body) = entry.remove_entry();
            let Body::Network(ToNetwork::Transfer { id, data, .. }) = body else { continue };
            let who = match sender {
                Sender::Outside => 0,
                Sender::Entity(Address::Site(site)) => 6 + u64::from(site.0),
                Sender::Entity(Address::Portal) => 1,
                Sender::Entity(Address::Broker) => 2,
                Sender::Entity(Address::Dispatcher) => 3,
                Sender::Entity(_) => 4,
            };
            self.see(id ^ who << 32 ^ sequence << 40, now);
            self.act(now, true, data.count(), outbox);
        }
        Ok(())
    }
}

impl Toy {
    /// Writes down what it has come to, and lets up to `left` things come of it.
    fn act(&mut self, now: Stamp, loud: bool, left: u64, outbox: &mut dyn Outbox) {
        if self.echo {
            let (peer, latency) = self.peers[0];
            outbox.record(self.note(now));
            return self.say(now.after(latency), peer, 1, outbox);
        }
        for _ in 0..self.draw(3) {
            outbox.record(self.note(now));
        }
        if left == 0 {
            return;
        }
        if self.draw(2) == 0 {
            let at = now.after(Span::from_micros([0, 1, 10, 50][self.draw(4) as usize]));
            let loud = self.draw(2) == 0;
            self.set(at, Timer { loud, left: left - 1 });
        }
        if loud && !self.peers.is_empty() {
            for _ in 0..self.draw(3) {
                let peer = self.draw(self.peers.len() as u64) as usize;
                let (peer, latency) = self.peers[peer];
                let longer = Span::from_micros([0, 0, 0, 7][self.draw(4) as usize]);
                self.say(now.after(latency + longer), peer, left - 1, outbox);
            }
        }
    }

    fn say(&mut self, arrival: Stamp, to: Address, left: u64, outbox: &mut dyn Outbox) {
        self.count += 1;
        let body = ToNetwork::Transfer {
            id: self.state,
            from: 0,
            to: 0,
            data: Bytes::new(left),
            reply: self.address,
        };
        let sender = Sender::Entity(self.address);
        outbox.send(to, Message { arrival, sender, sequence: self.count, body: body.into() });
    }

    fn note(&mut self, now: Stamp) -> Record {
        self.count += 1;
        let site = match self.address {
            Address::Site(site) => site,
            _ => SiteId::GRID,
        };
        Record::Event(EventRecord {
            time: now.time,
            kind: EventKind::Joined,
            cause: EventCause::None,
            site,
            partition: None,
            machines: ProcSet::default(),
            procs: now.round,
            job: Some(JobId(self.state)),
            origin: Origin::Local,
            attempt: 0,
            wasted: u128::from(self.count),
            since_failure: None,
            command: None,
            suspension: None,
            booked: None,
        })
    }

    fn fail(&mut self, fault: Fault, now: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        match fault {
            Fault::Panics => panic!("a toy breaks"),
            Fault::Babbles => {
                let (peer, latency) = self.peers[0];
                self.say(now.after(latency), peer, 0, outbox);
            }
            Fault::Sleeps(millis) => std::thread::sleep(Duration::from_millis(millis)),
            Fault::Leaves => drop(actix::Arbiter::current().stop()),
            Fault::Breaks => {
                let site = self.address.to_string();
                return Err(EntityError::BadSave { who: site, problem: "it is a toy".to_owned() });
            }
        }
        Ok(())
    }
}

impl Entity for Toy {
    fn address(&self) -> Address {
        self.address
    }

    fn next_event(&self) -> Option<Stamp> {
        let timer = self.timers.first_key_value().map(|((at, _), _)| *at);
        let message = self.inbox.first_key_value().map(|((at, _, _), _)| *at);
        timer.into_iter().chain(message).min()
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        self.calls += 1;
        while let Some(now) = self.next_event().filter(|next| *next < until) {
            self.handle(now, outbox)?;
            self.passed = now.next_round();
        }
        self.passed = self.passed.max(until);
        Ok(())
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        let Message { arrival, sender, sequence, body } = message;
        let site = self.address.to_string();
        if arrival < self.passed {
            return Err(EntityError::Late { who: site, now: self.passed, arrival });
        }
        match self.inbox.entry((arrival, sender, sequence)) {
            Entry::Vacant(place) => place.insert(body),
            Entry::Occupied(_) => return Err(EntityError::Repeated { who: site, arrival, sequence }),
        };
        Ok(())
    }
}
