//! A partition driven by hand, as a site and a broker with a single pool would drive it: jobs, machines that leave and join,
//! cancellations, jobs of the grid that are recalled or return to the broker.

use std::collections::BTreeMap;

use gridemu::local::{Exit, ExitKind, LiveJob, Partition, PartitionSave, Phase, Registry, Settings, Step};
use gridemu::model::{
    EventCause, GridContext, InstantOrder, Job, JobId, JobRef, Origin, PartitionId, Payer, PlacementRule,
    ProcSet, Record, Reservation, SiteId, SiteSpec, WorkloadId,
};
use gridemu::units::{Rate, Span, Time};

use crate::support::{Ran, through_bytes};

/// Something that is done to the partition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    Leave(ProcSet),
    LeaveSite,
    Join(ProcSet),
    Drain(ProcSet),
    /// Machines drain no longer.
    Stay(ProcSet),
    Slow(ProcSet, Rate),
    Cancel(u64),
    /// The job of the grid goes back if it waits.
    Withdraw(u64),
}

/// What is done to a partition in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    /// Acts in order of time.
    pub(crate) acts: Vec<(Time, Act)>,
    /// Away before anything has happened.
    pub(crate) down: ProcSet,
    pub(crate) failed_attempts: Payer,
    pub(crate) mean_up: Option<Span>,
    /// How long a job that came back stays down, if it is sent again, and how often it is.
    pub(crate) again: Option<(Span, u32)>,
    /// Under one pass per event: acts come after what arrives at their instant, not before.
    pub(crate) acts_late: bool,
    /// When the run is closed, for policies that never rest.
    pub(crate) close: Option<Time>,
}

/// A job of the grid: `job` with a portal's number that is the same.
pub(crate) fn of_grid(mut job: Job) -> Job {
    job.grid = Some(Box::new(GridContext { number: job.id.0, assignment: 1, ..GridContext::default() }));
    job
}

pub(crate) struct Driver {
    spec: SiteSpec,
    script: Script,
    registry: Registry,
    pub(crate) partition: Partition,
    pub(crate) now: Time,
    pub(crate) records: Vec<Record>,
    /// Who left, and when.
    pub(crate) gone: Vec<(Time, Exit)>,
    /// Jobs to come, in order of time and then of whoever was here first.
    arrivals: BTreeMap<(Time, u64), Job>,
    order: u64,
    pub(crate) acted: usize,
    touched: bool,
}

impl Driver {
    pub(crate) fn new(registry: &Registry, spec: &SiteSpec, jobs: &[Job], script: &Script) -> Self {
        let arrivals = (0..).zip(jobs).map(|(at, job)| ((job.submit, at), job.clone()));
        Self {
            spec: spec.clone(),
            script: script.clone(),
            registry: registry.clone(),
            partition: partition(registry, spec, script),
            now: Time::ZERO,
            records: Vec::new(),
            gone: Vec::new(),
            arrivals: arrivals.collect(),
            order: jobs.len() as u64,
            acted: 0,
            touched: false,
        }
    }

    /// Runs to the end; whatever waits for machines that never come ends as unfinished.
    pub(crate) fn run(mut self) -> (Ran, Vec<(Time, Exit)>) {
        while self.script.close.is_none_or(|close| self.now < close) && self.step() {}
        self.close()
    }

    pub(crate) fn close(mut self) -> (Ran, Vec<(Time, Exit)>) {
        self.partition.close(&mut Step::new(self.now, &mut self.records, &mut Vec::new()));
        assert_eq!(self.partition.live(), 0);
        let tally = self.partition.tally();
        assert_eq!(tally.arrived, tally.ended() + tally.returned, "each has ended or gone back");
        (Ran { records: self.records, usage: vec![self.partition.usage()], tally }, self.gone)
    }

    /// Runs up to and including an instant, in seconds.
    pub(crate) fn until(&mut self, secs: u64) -> &mut Self {
        while self.next().is_some_and(|next| next <= Time::from_secs(secs)) {
            self.step();
        }
        self
    }

    fn next(&mut self) -> Option<Time> {
        let arrival = self.arrivals.first_key_value().map(|((time, _), _)| *time);
        let act = self.script.acts.get(self.acted).map(|(time, _)| *time);
        let own = self.partition.next_event().filter(|time| *time < Time::NEVER);
        own.into_iter().chain(arrival).chain(act).min()
    }

    /// Handles the next instant (or the next round of this one). False if nothing happens any more.
    pub(crate) fn step(&mut self) -> bool {
        let Some(now) = self.next() else { return false };
        assert!(now >= self.now, "time does not go back");
        self.now = now;
        if now == Time::ZERO && self.spec.record_machines {
            self.with(|partition, step| partition.record_absent(step));
        }
        match self.spec.order {
            InstantOrder::Instant => self.at_once(),
            InstantOrder::Event => self.one_by_one(),
        }
        self.check_sums();
        assert!(self.records.len() < 1_000_000, "the run does not end: {:?}", self.records.last());
        true
    }

    /// What the grid is told of the queue is what a walk over the jobs finds.
    fn check_sums(&self) {
        let mut waiting = jobs(&self.partition, &[Phase::Waiting, Phase::Ineligible], self.now);
        waiting.retain(|job| !job.has_reservation());
        let area = |job: &&LiveJob| u128::from(job.procs()) * u128::from(job.estimate().micros());
        let found = (waiting.len() as u32, waiting.iter().map(area).sum::<u128>());
        assert_eq!(self.partition.waiting(), found.0, "at {}", self.now);
        // What is left of suspended jobs counts too, and of those that are being suspended.
        if jobs(&self.partition, &[Phase::Suspended, Phase::Suspending], self.now).is_empty() {
            assert_eq!(self.partition.backlog(), found.1, "at {}", self.now);
        }
    }

    /// Saves the partition, and goes on with a new one that has taken the state back.
    pub(crate) fn resume(&mut self) {
        let saved: PartitionSave = through_bytes(&self.partition.save());
        self.partition = partition(&self.registry, &self.spec, &self.script);
        self.with(|partition, step| partition.restore(saved.clone(), false, step)).expect("it fits");
        assert_eq!(saved, self.partition.save(), "a state taken back saves the same");
    }

    /// The same under another policy.
    pub(crate) fn resume_under(&mut self, policy: &str) {
        let saved = self.partition.save();
        self.spec.policy = policy.parse().expect("a policy");
        self.partition = partition(&self.registry, &self.spec, &self.script);
        self.with(|partition, step| partition.restore(saved, true, step)).expect("it fits");
    }

    fn at_once(&mut self) {
        self.end();
        self.touched |= self.with(Partition::end_bookings);
        self.touched |= self.with(Partition::begin_bookings);
        self.touched |= self.partition.wake(self.now);
        while self.act() {}
        while self.arrive_early() {}
        while self.arrive() {}
        self.obey();
        self.pass();
        while self.with(Partition::settle_power).expect("it ends on the axis") {
            self.touched = true;
            self.pass();
        }
    }

    fn one_by_one(&mut self) {
        let now = self.now;
        self.partition.begin_instant(now);
        self.touched |= self.with(Partition::end_bookings);
        self.pass();
        while !self.script.acts_late && self.act() {
            self.pass();
        }
        while self.arrive_early() || self.arrive() {
            self.pass();
        }
        while self.act() {
            self.pass();
        }
        while self.with(Partition::end_next) {
            self.touched = true;
            self.pass();
        }
        self.touched |= self.with(Partition::begin_bookings);
        self.pass();
        self.touched |= self.partition.wake(self.now);
        self.pass();
        self.with(Partition::end_instant).expect("lawful starts");
        self.obey();
        while self.with(Partition::settle_power).expect("it ends on the axis") {
            self.touched = true;
            self.pass();
            self.with(Partition::end_instant).expect("lawful starts");
        }
    }

    /// One that was kept back joins the queue.
    fn arrive_early(&mut self) -> bool {
        let arrived = self.partition.arrive_early(self.now);
        self.touched |= arrived;
        arrived
    }

    /// Does something with the partition, and handles the jobs that leave by it.
    fn with<T>(&mut self, act: impl FnOnce(&mut Partition, &mut Step<'_>) -> T) -> T {
        let mut exits = Vec::new();
        let done = act(&mut self.partition, &mut Step::new(self.now, &mut self.records, &mut exits));
        exits.into_iter().for_each(|gone| self.leaves(gone));
        done
    }

    /// Elastic commands of the workload.
    fn obey(&mut self) {
        self.touched |= self.with(Partition::execute_due).expect("it ends on the axis");
    }

    fn end(&mut self) {
        while self.with(Partition::end_next) {
            self.touched = true;
        }
    }

    fn pass(&mut self) {
        if std::mem::take(&mut self.touched) {
            self.with(Partition::pass).expect("a lawful pass");
        }
    }

    fn arrive(&mut self) -> bool {
        let Some(first) = self.arrivals.first_entry().filter(|first| first.key().0 <= self.now) else {
            return false;
        };
        let job = first.remove();
        let origin = if job.grid.is_some() { Origin::Grid } else { Origin::Local };
        self.touched |= self.with(|partition, step| partition.arrive(job, origin, step));
        true
    }

    fn act(&mut self) -> bool {
        let Some((_, act)) = self.script.acts.get(self.acted).filter(|(time, _)| *time <= self.now) else {
            return false;
        };
        let act = act.clone();
        self.with(|partition, step| match act {
            Act::Leave(machines) => partition.leave(&machines, EventCause::Script, step),
            Act::LeaveSite => {
                let all = ProcSet::full(partition.spec().machines());
                partition.leave(&all, EventCause::SiteLeft, step);
            }
            Act::Join(machines) => {
                partition.join(&machines, EventCause::Script, step).expect("within the time axis");
            }
            Act::Drain(machines) => partition.drain(&machines, EventCause::Script, step),
            Act::Stay(machines) => partition.stay(&machines, EventCause::Script, step),
            Act::Slow(machines, factor) => {
                partition.slow(&machines, factor, EventCause::Script, step).expect("within the time axis");
            }
            Act::Cancel(id) => {
                let named = jobs(partition, &PHASES, step.now);
                let named = named.into_iter().filter(|job| job.id() == JobId(id));
                let first = named.min_by_key(|job| job.seq()).map(LiveJob::submit);
                assert_eq!(partition.submitted(JobId(id)), first, "the first to come of job {id}");
                assert_eq!(partition.cancel(JobId(id), step), first.is_some());
            }
            Act::Withdraw(number) => {
                let job = partition.withdraw(number, step);
                step.exits.extend(job.map(|job| returned(job, EventCause::Replanned)));
            }
        });
        self.acted += 1;
        self.touched = true;
        true
    }

    /// A job has left; if it came back and may be tried again, it is sent once more.
    fn leaves(&mut self, gone: Exit) {
        if let (ExitKind::Returned { job, why }, Some((pause, most))) = (&gone.how, self.script.again) {
            let part = job.grid.as_ref().expect("only jobs of the grid come back");
            if part.assignment <= most && !matches!(why, EventCause::Refused(_)) {
                let mut job = (**job).clone();
                if let Some(part) = &mut job.grid {
                    part.assignment += 1;
                }
                self.arrivals.insert((self.now + pause, self.order), job);
                self.order += 1;
            }
        }
        self.gone.push((self.now, gone));
    }
}

pub(crate) const PHASES: [Phase; 9] = [
    Phase::Waiting,
    Phase::Starting,
    Phase::Running,
    Phase::Suspending,
    Phase::Suspended,
    Phase::Resuming,
    Phase::Reconfiguring,
    Phase::Stalled,
    Phase::Ineligible,
];

fn jobs<'a>(partition: &'a Partition, phases: &[Phase], now: Time) -> Vec<&'a LiveJob> {
    let view = partition.view(now);
    let queued = phases.iter().flat_map(|phase| view.jobs_in(*phase)).map(|key| view.job(key));
    let claim = view.jobs_with_reservations().into_iter().map(|key| view.job(key));
    queued.chain(claim.filter(|job| phases.contains(&job.phase()))).collect()
}

fn returned(job: Box<Job>, why: EventCause) -> Exit {
    Exit {
        job: JobRef { workload: WorkloadId::GRID, number: job.id },
        number: job.grid.as_ref().map(|grid| grid.number),
        start: job.grid.as_ref().and_then(|grid| grid.first_start),
        last_start: None,
        attempts: job.grid.as_ref().map_or(0, |grid| grid.attempts),
        energy: gridemu::units::Energy::ZERO,
        cost: gridemu::units::Money::ZERO,
        output: gridemu::units::Bytes::ZERO,
        passed: Box::default(),
        how: ExitKind::Returned { job, why },
        assignment: 0,
    }
}

fn partition(registry: &Registry, spec: &SiteSpec, script: &Script) -> Partition {
    let (policy, abilities) = registry.build(&spec.policy).expect("a policy");
    let settings = Settings {
        placement: PlacementRule::default(),
        site: SiteId(0),
        site_name: spec.name.clone(),
        partition: PartitionId(0),
        order: spec.order,
        overrun: spec.overrun,
        tariff: spec.tariff.clone(),
        pue_ppm: spec.pue_ppm,
        record_segments: spec.record_segments,
        record_machines: spec.record_machines,
        on_failure: spec.churn.on_failure,
        return_queued: spec.churn.return_queued,
        attempts: spec.churn.attempts,
        checkpoint: spec.churn.checkpoint,
        mean_up: script.mean_up,
        sleep: Vec::new(),
        seed: 0,
        preemption: spec.preemption.clone(),
        failed_attempts: script.failed_attempts,
    };
    let booked: Vec<Reservation> = spec.reservations.iter().map(|(_, booked)| booked.clone()).collect();
    let part = spec.partitions[0].clone();
    let mut partition = Partition::new(settings, part, policy, spec.policy.to_string(), abilities, &booked);
    partition.absent(&script.down);
    partition
}
