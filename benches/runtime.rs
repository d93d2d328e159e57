//! Cost of driving entities that do almost nothing, by the plain loop and as actors, for each call, window, event and run segment;
//! and the gain from a second thread. `cargo bench --bench runtime`.

use std::collections::BTreeMap;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use gridemu::entity::{Address, Body, Entity, EntityError, Message, Outbox, Sender, Stamp, ToNetwork};
use gridemu::grid::{Group, Merge, WindowOptions, Windows, drive};
use gridemu::model::{
    EventCause, EventKind, EventRecord, JobId, Origin, ProcSet, Record, RecordSink, SiteId,
};
use gridemu::runtime::{RuntimeOptions, run};
use gridemu::units::{Bytes, Span, Time};

const LATENCY: Span = Span::from_micros(50_000);

/// An entity of a grid whose jobs all take the same time.
struct Relay {
    address: Address,
    /// Jobs that have not been submitted yet (only the portal).
    jobs: u64,
    sites: u32,
    sequence: u64,
    /// Time of the next job, or of the next report.
    tick: Option<Time>,
    /// Ends of the jobs that run here.
    ends: BTreeMap<(Time, u64), ()>,
    inbox: Vec<Message>,
}

impl Relay {
    fn send(&mut self, arrival: Stamp, to: Address, id: u64, outbox: &mut dyn Outbox) {
        self.sequence += 1;
        let body = ToNetwork::Transfer { id, from: 0, to: 0, data: Bytes::ZERO, reply: Address::Network };
        let sender = Sender::Entity(self.address);
        outbox.send(to, Message { arrival, sender, sequence: self.sequence, body: body.into() });
    }

    fn take(&mut self, now: Stamp, message: &Message, outbox: &mut dyn Outbox) {
        let Body::Network(ToNetwork::Transfer { id, .. }) = message.body else { return };
        let back = message.sender != Sender::Entity(Address::Portal)
            && message.sender != Sender::Entity(Address::Broker);
        match self.address {
            Address::Broker if back => {}
            Address::Broker => self.send(now.next_round(), Address::Dispatcher, id, outbox),
            Address::Dispatcher if back => self.send(now.next_round(), Address::Broker, id, outbox),
            Address::Dispatcher => {
                let site = Address::Site(SiteId(id as u32 % self.sites));
                self.send(now.after(LATENCY), site, id, outbox);
            }
            Address::Site(_) => {
                self.ends.insert((now.time + Span::from_secs(100), id), ());
            }
            _ => {}
        }
    }
}

fn record(time: Time, site: SiteId, job: u64) -> Record {
    Record::Event(EventRecord {
        time,
        kind: EventKind::Joined,
        cause: EventCause::None,
        site,
        partition: None,
        machines: ProcSet::default(),
        procs: 1,
        job: Some(JobId(job)),
        origin: Origin::Grid,
        attempt: 1,
        wasted: 0,
        since_failure: None,
        suspension: None,
        booked: None,
        command: None,
    })
}

impl Entity for Relay {
    fn address(&self) -> Address {
        self.address
    }

    fn next_event(&self) -> Option<Stamp> {
        let end = self.ends.first_key_value().map(|((end, _), ())| *end);
        let own = self.tick.into_iter().chain(end).min().map(Stamp::at);
        own.into_iter().chain(self.inbox.iter().map(|message| message.arrival)).min()
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some(now) = self.next_event().filter(|next| *next < until) {
            while let Some(entry) = self.ends.first_entry().filter(|entry| entry.key().0 <= now.time) {
                let ((_, id), ()) = entry.remove_entry();
                if let Address::Site(site) = self.address {
                    outbox.record(record(now.time, site, id));
                }
                self.send(now.after(LATENCY), Address::Dispatcher, id, outbox);
            }
            if self.tick == Some(now.time) && self.address == Address::Portal {
                self.jobs -= 1;
                self.tick = (self.jobs > 0).then(|| now.time + Span::from_secs(2));
                self.send(now.next_round(), Address::Broker, self.jobs, outbox);
            }
            while let Some(at) = self.inbox.iter().position(|message| message.arrival <= now) {
                let message = self.inbox.swap_remove(at);
                self.take(now, &message, outbox);
            }
        }
        Ok(())
    }

    fn deliver(&mut self, message: Message) -> Result<(), EntityError> {
        self.inbox.push(message);
        Ok(())
    }
}

/// A portal, a broker, a dispatcher and sites. Each job causes six calls and four messages.
fn grid(sites: u32, jobs: u64) -> (Vec<Relay>, Vec<Group>) {
    let central = [Address::Portal, Address::Broker, Address::Dispatcher];
    let addresses = central.into_iter().chain((0..sites).map(|site| Address::Site(SiteId(site))));
    let relays = addresses.map(|address| Relay {
        address,
        jobs,
        sites,
        sequence: 0,
        tick: (address == Address::Portal).then_some(Time::ZERO),
        ends: BTreeMap::new(),
        inbox: Vec::new(),
    });
    let mut groups = vec![Group { members: central.len(), latency: LATENCY }];
    groups.resize(1 + sites as usize, Group { members: 1, latency: LATENCY });
    (relays.collect(), groups)
}

/// Counts records.
#[derive(Default)]
struct Count(u64);

impl RecordSink for Count {
    fn record(&mut self, _: Record) {
        self.0 += 1;
    }
}

/// An entity that only ticks: `ticks` times at a fixed interval in microseconds, each time with a record and `work` units of
/// computation.
struct Clock {
    site: u32,
    ticks: u64,
    every: Span,
    work: u64,
    next: Option<Time>,
    sum: u64,
}

impl Entity for Clock {
    fn address(&self) -> Address {
        Address::Site(SiteId(self.site))
    }

    fn next_event(&self) -> Option<Stamp> {
        self.next.map(Stamp::at)
    }

    fn advance(&mut self, until: Stamp, outbox: &mut dyn Outbox) -> Result<(), EntityError> {
        while let Some(now) = self.next.filter(|now| Stamp::at(*now) < until) {
            for step in 0..self.work {
                self.sum = (self.sum ^ step).wrapping_mul(6_364_136_223_846_793_005);
            }
            outbox.record(record(now, SiteId(self.site), self.sum));
            self.ticks -= 1;
            self.next = (self.ticks > 0).then(|| now + self.every);
        }
        Ok(())
    }

    fn deliver(&mut self, _: Message) -> Result<(), EntityError> {
        Ok(())
    }
}

/// Clocks that tick together, or `between` microseconds after each other; windows are as long as one tick, or as `between`.
fn clocks(count: u32, ticks: u64, work: u64, between: u64) -> (Vec<Clock>, Vec<Group>) {
    let every = Span::from_micros(1_000);
    let clock = |site: u32| {
        let next = Some(Time::from_micros(u64::from(site) * between));
        Clock { site, ticks, every, work, next, sum: 1 }
    };
    let latency = if between == 0 { every } else { Span::from_micros(between) };
    ((0..count).map(clock).collect(), vec![Group { members: 1, latency }; count as usize])
}

fn plain<E: Entity>((mut entities, groups): (Vec<E>, Vec<Group>)) -> u64 {
    let starts = entities.iter().map(|entity| (entity.address(), entity.next_event()));
    let mut windows =
        Windows::new(starts, &groups, WindowOptions::default()).expect("groups of all entities");
    let (mut merge, mut sink) = (Merge::new(entities.len()), Count::default());
    drive(&mut entities, &mut windows, &mut merge, &mut sink).expect("it runs");
    merge.finish(&mut sink);
    sink.0
}

fn actors<E: Entity + Send + 'static>((entities, groups): (Vec<E>, Vec<Group>), threads: usize) -> u64 {
    let threads = threads.try_into().expect("a thread");
    let options = RuntimeOptions { threads, ..RuntimeOptions::default() };
    let (mut merge, mut sink) = (Merge::new(entities.len()), Count::default());
    run(entities, &groups, options, &mut merge, &mut sink).result.expect("it runs");
    merge.finish(&mut sink);
    sink.0
}

/// Runs the entities in segments that end at each full minute; returns the number of segments.
fn in_legs<E: Entity + Send + 'static>(engine: usize, (mut entities, groups): (Vec<E>, Vec<Group>)) -> u64 {
    let (mut merge, mut sink) = (Merge::new(entities.len()), Count::default());
    let mut legs = 0;
    while let Some(next) = entities.iter().filter_map(E::next_event).min() {
        let minute = Time::from_secs((next.time.micros() / 60_000_000 + 1) * 60);
        let windows = WindowOptions { until: Stamp::at(minute), ..WindowOptions::default() };
        if let Some(threads) = std::num::NonZeroUsize::new(engine) {
            let options = RuntimeOptions { windows, threads, ..RuntimeOptions::default() };
            let ended = run(entities, &groups, options, &mut merge, &mut sink);
            ended.result.expect("it runs");
            entities = ended.entities;
        } else {
            let starts = entities.iter().map(|entity| (entity.address(), entity.next_event()));
            let mut windows = Windows::new(starts, &groups, windows).expect("groups of all entities");
            drive(&mut entities, &mut windows, &mut merge, &mut sink).expect("it runs");
        }
        legs += 1;
    }
    merge.finish(&mut sink);
    legs
}

/// Runs the entities in the plain loop if `engine` is `0`, otherwise on that number of threads.
fn by<E: Entity + Send + 'static>(engine: usize, of: (Vec<E>, Vec<Group>)) -> u64 {
    if engine == 0 { plain(of) } else { actors(of, engine) }
}

fn name(engine: usize) -> String {
    match engine {
        0 => "plain".to_owned(),
        1 => "actors".to_owned(),
        more => format!("actors on {more} threads"),
    }
}

/// Seven calls for each job, in four windows: portal, broker, dispatcher; the site; the site again; dispatcher, broker.
fn a_call(c: &mut Criterion) {
    const JOBS: u64 = 10_000;
    let mut group = c.benchmark_group("a call");
    group.throughput(Throughput::Elements(7 * JOBS)).sample_size(20);
    for engine in [0, 1, 2] {
        for sites in [20, 200] {
            group.bench_with_input(BenchmarkId::new(name(engine), sites), &sites, |timer, sites| {
                timer.iter(|| by(engine, grid(*sites, JOBS)));
            });
        }
    }
    group.finish();
}

/// Run segments of a virtual minute with thirty jobs each: the overhead of a segment is its time less that of 210 calls of `a
/// call`.
fn a_leg(c: &mut Criterion) {
    const JOBS: u64 = 3_000;
    let mut group = c.benchmark_group("a leg");
    group.sample_size(10);
    for engine in [0, 1, 2] {
        for sites in [20, 200] {
            group.throughput(Throughput::Elements(in_legs(0, grid(sites, JOBS))));
            group.bench_with_input(BenchmarkId::new(name(engine), sites), &sites, |timer, sites| {
                timer.iter(|| in_legs(engine, grid(*sites, JOBS)));
            });
            group.bench_with_input(
                BenchmarkId::new(name(engine) + ", in one", sites),
                &sites,
                |timer, sites| {
                    timer.iter(|| by(engine, grid(*sites, JOBS)));
                },
            );
        }
    }
    group.finish();
}

/// A window with one entity that has nothing to do.
fn a_window(c: &mut Criterion) {
    const TICKS: u64 = 2_000;
    let mut group = c.benchmark_group("a window");
    group.throughput(Throughput::Elements(20 * TICKS)).sample_size(20);
    for engine in [0, 1, 2] {
        group.bench_function(name(engine), |timer| timer.iter(|| by(engine, clocks(20, TICKS, 0, 50))));
    }
    group.finish();
}

/// One call for all events: the event itself, its record, and the merge of twenty.
fn an_event(c: &mut Criterion) {
    const TICKS: u64 = 5_000;
    let mut group = c.benchmark_group("an event");
    group.throughput(Throughput::Elements(20 * TICKS)).sample_size(20);
    for engine in [0, 1] {
        group.bench_function(name(engine), |timer| {
            timer.iter(|| {
                let (clocks, mut groups) = clocks(20, TICKS, 0, 0);
                groups.fill(Group { members: 1, latency: Span::MAX });
                by(engine, (clocks, groups))
            });
        });
    }
    group.finish();
}

/// Eight entities at the same time, each with some computation: whether a second thread pays for its hand-overs.
fn at_once(c: &mut Criterion) {
    const TICKS: u64 = 500;
    let mut group = c.benchmark_group("eight at once, work a call");
    group.throughput(Throughput::Elements(8 * TICKS)).sample_size(10);
    for work in [0, 1_000, 10_000, 100_000] {
        for engine in [0, 1, 2] {
            group.bench_with_input(BenchmarkId::new(name(engine), work), &work, |timer, work| {
                timer.iter(|| by(engine, clocks(8, TICKS, *work, 0)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, a_call, a_leg, a_window, an_event, at_once);
criterion_main!(benches);
