//! Builders, a way to run a site, and a checker of records that shares no code with what produced them.

use std::collections::{BTreeMap, BTreeSet};

use crate::naps;
use gridemu::entity::ToSite;
use gridemu::grid::{Command, Grid, GridError};
use gridemu::local::{Registry, Tally};
use gridemu::model::{
    Cause, DayRates, Elastic, EventKind, InstantOrder, Job, JobId, JobRecord, JobRef, MachineGroup,
    MachineState, Named, Outcome, PartitionId, PartitionSpec, PlacementRule, Record, RejectReason,
    Reservation, SegmentRecord, SiteId, SiteSpec, Size, SleepSpec, Speedup,
};
use gridemu::platform::Usage;
use gridemu::units::{Power, Rate, Span, Time};
use gridemu::verify::{Checker, JobRequest, Platform, Row, SiteFacts, Verdict};
use gridemu::workload::Jobs;
use proptest::prelude::{Just, ProptestConfig, Strategy};

/// All broker policies by name; one that searches with few evaluations, for the sake of time.
pub(crate) fn quick_brokers() -> Vec<String> {
    let quick = |name: &str| match name {
        "mojs" => "mojs[population=6,generations=3]".to_owned(),
        name => name.to_owned(),
    };
    gridemu::broker::BrokerRegistry::standard().names().map(quick).collect()
}

/// So many random cases, times `GRIDEMU_CASES`. They are the same in every run: `.cargo/config.toml` gives the seed.
#[expect(clippy::disallowed_methods, reason = "whoever wants more cases asks for them")]
pub(crate) fn cases(number: u32) -> ProptestConfig {
    let times =
        std::env::var("GRIDEMU_CASES").map_or(1, |times| times.parse().expect("GRIDEMU_CASES is a number"));
    let plain = ProptestConfig::with_cases(number * times);
    // More cases have more of those that are not tried.
    ProptestConfig { max_global_rejects: plain.max_global_rejects * times, ..plain }
}

/// Factors by the hour, in thousandths.
pub(crate) fn day_rates(thousandths: &[u16]) -> DayRates {
    let hour = |(hour, rate): (usize, &u16)| format!("{hour}-{}={}", hour + 1, f64::from(*rate) / 1e3);
    thousandths.iter().enumerate().map(hour).collect::<Vec<_>>().join(",").parse().expect("24 factors")
}

/// A rigid job; times in seconds.
pub(crate) fn job(id: u64, submit: u64, procs: u32, runtime: u64) -> Job {
    Job::rigid(id, Time::from_secs(submit), procs, Span::from_secs(runtime))
}

/// What builders add to a job.
pub(crate) trait With: Sized {
    /// With this estimate, in seconds.
    fn estimate(self, secs: u64) -> Self;
    /// With this moldable range; its own size is the preferred one.
    fn moldable(self, min: u32, max: u32, speedup: Speedup) -> Self;
    /// With this malleable range; its own size is the preferred one.
    fn malleable(self, min: u32, max: u32, speedup: Speedup) -> Self;
    /// Asking for a partition.
    fn on(self, partition: u32) -> Self;
    /// A dedicated job: asking for this start, in seconds.
    fn from(self, secs: u64) -> Self;
}

impl With for Job {
    fn estimate(self, secs: u64) -> Self {
        self.estimated(Span::from_secs(secs))
    }

    fn moldable(mut self, min: u32, max: u32, speedup: Speedup) -> Self {
        self.size = Size::Moldable { min, preferred: self.size.preferred(), max, speedup };
        self
    }

    fn malleable(mut self, min: u32, max: u32, speedup: Speedup) -> Self {
        self.size = Size::Malleable { min, preferred: self.size.preferred(), max, speedup };
        self
    }

    fn on(mut self, partition: u32) -> Self {
        self.partition = Some(PartitionId(partition));
        self
    }

    fn from(mut self, secs: u64) -> Self {
        self.requested_start = Some(Time::from_secs(secs));
        self
    }
}

/// A plain site of `processors` under `policy`.
pub(crate) fn site(processors: u32, policy: &str) -> SiteSpec {
    SiteSpec::plain("site", processors, policy.parse().expect("a policy's name"))
}

/// A sleep state and a power policy that uses it; often neither.
pub(crate) fn sleep() -> impl Strategy<Value = (Option<SleepSpec>, Named)> {
    let policy = proptest::sample::select(vec!["sleep-idle", "sleep-break-even", "always-on"]);
    let spans = (0_u64..40, 0_u64..8, 0_u64..30);
    let powers = (0_u64..5_000, 0_u64..90_000, 0_u64..50_000);
    let drawn = (policy, 0_u32..4, spans, powers).prop_map(|(policy, reserve, spans, powers)| {
        let (wake, fall, after) = spans;
        let [asleep, waking, falling] = [powers.0, powers.1, powers.2].map(Power::from_milliwatts);
        let (wake, fall) = (Span::from_secs(wake), Span::from_secs(fall));
        let policy = match policy {
            "sleep-idle" => format!("sleep-idle[after={after} s,reserve={reserve}]"),
            "sleep-break-even" => format!("sleep-break-even[reserve={reserve}]"),
            always => always.to_owned(),
        };
        let state = SleepSpec { asleep, wake, waking, fall, falling };
        (Some(state), policy.parse().expect("a policy's name"))
    });
    proptest::prop_oneof![1 => Just((None, Named::bare("always-on"))), 1 => drawn]
}

/// Gives all machines of a site this sleep state, and the site this power policy, unless its jobs share processors.
pub(crate) fn put_to_sleep(spec: &mut SiteSpec, (state, policy): (Option<SleepSpec>, Named)) {
    if Registry::standard().build(&spec.policy).expect("a policy").1.multiprogramming_level > 1 {
        return;
    }
    spec.power = policy;
    spec.record_machines |= state.is_some();
    for group in spec.partitions.iter_mut().flat_map(|part| &mut part.groups) {
        group.sleep = state;
    }
}

/// The same, always on.
pub(crate) fn awake(mut spec: SiteSpec) -> SiteSpec {
    spec.power = "always-on".parse().expect("a power policy");
    // What a cap leaves goes by the power policy.
    if spec.cap_power(spec.power_cap).is_err() || spec.check().is_err() {
        spec.cap_power(None).expect("no cap");
    }
    spec
}

/// A reservation of the first partition; times in seconds.
pub(crate) fn reserve(mut spec: SiteSpec, name: &str, start: u64, end: u64, procs: u32) -> SiteSpec {
    let (start, end) = (Time::from_secs(start), Time::from_secs(end));
    spec.reservations.push((0, Reservation { name: name.to_owned(), start, end, procs, job: None }));
    spec
}

/// The same for a job of the site.
pub(crate) fn reserve_for(job: u64, spec: SiteSpec, start: u64, end: u64, procs: u32) -> SiteSpec {
    let mut spec = reserve(spec, &format!("for-{job}"), start, end, procs);
    spec.reservations.iter_mut().for_each(|(_, booked)| booked.job = booked.job.or(Some(JobId(job))));
    spec
}

/// What a run leaves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ran {
    pub(crate) records: Vec<Record>,
    /// A ledger a partition.
    pub(crate) usage: Vec<Usage>,
    pub(crate) tally: Tally,
}

impl Ran {
    pub(crate) fn of(grid: &Grid, records: Vec<Record>) -> Self {
        let site = grid.sites().next().expect("a site");
        let usage = site.partitions().iter().map(gridemu::local::Partition::usage).collect();
        Self { records, usage, tally: site.tally() }
    }

    pub(crate) fn jobs(&self) -> impl Iterator<Item = &JobRecord> {
        self.records.iter().filter_map(|record| match record {
            Record::Job(job) => Some(job),
            _ => None,
        })
    }

    /// The slices: class, and in seconds when each began, from when on jobs ran in it, and when it was to end.
    pub(crate) fn slices(&self) -> Vec<(&'static str, [f64; 3])> {
        let slices = self.records.iter().filter_map(|record| match record {
            Record::Slice(slice) => {
                let times = [slice.time, slice.runs_from, slice.until].map(Time::as_secs_f64);
                Some((slice.class.name(), times))
            }
            _ => None,
        });
        slices.collect()
    }

    pub(crate) fn segments(&self) -> impl Iterator<Item = &SegmentRecord> {
        self.records.iter().filter_map(|record| match record {
            Record::Segment(segment) => Some(segment),
            _ => None,
        })
    }

    pub(crate) fn job(&self, id: u64) -> &JobRecord {
        self.jobs().find(|job| job.id == JobId(id)).expect("the job has a record")
    }

    /// `(start, end)` of a job in whole seconds; fails if they are none.
    pub(crate) fn times(&self, id: u64) -> (u64, u64) {
        let job = self.job(id);
        let start = job.start.expect("the job started");
        (whole(start), whole(job.end))
    }

    /// Starts in microseconds by job number.
    pub(crate) fn starts(&self) -> BTreeMap<u64, Option<u64>> {
        self.jobs().map(|job| (job.id.0, job.start.map(Time::micros))).collect()
    }
}

fn whole(time: Time) -> u64 {
    assert_eq!(time.micros() % 1_000_000, 0, "{time} is not a whole second");
    time.micros() / 1_000_000
}

/// A grid of one site with its own workload.
pub(crate) fn grid(registry: &Registry, spec: &SiteSpec, jobs: &[Job]) -> Result<Grid, GridError> {
    Grid::new(vec![(spec.clone(), Some(Box::new(Jobs::new(jobs.to_vec()))))], registry)
}

/// Runs to the end, or to the error.
pub(crate) fn try_run(registry: &Registry, spec: &SiteSpec, jobs: &[Job]) -> Result<Ran, GridError> {
    let mut grid = grid(registry, spec, jobs)?;
    let mut records = Vec::new();
    grid.run(&mut records)?;
    Ok(Ran::of(&grid, records))
}

/// What the library's own judge of schedules says of these records; it is told nothing but the description.
pub(crate) fn judged(registry: &Registry, sites: &[SiteSpec], rigid: bool, records: &[Record]) -> Verdict {
    judged_by(registry, sites, (rigid, &[]), records)
}

/// The same where it is told also what workloads request, of jobs that are not rigid.
fn judged_by(
    registry: &Registry,
    sites: &[SiteSpec],
    (rigid, jobs): (bool, &[Job]),
    records: &[Record],
) -> Verdict {
    let ground = |spec: &SiteSpec| SiteFacts {
        spec: spec.clone(),
        abilities: registry.build(&spec.policy).expect("a policy").1,
    };
    let segments = sites.iter().all(|site| site.record_segments);
    let mut checker = Checker::new(Platform {
        sites: sites.iter().map(ground).collect(),
        rigid,
        segments,
        events: true,
        known: true,
        slack: Span::ZERO,
        since: Time::ZERO,
        has_local: true,
    });
    // As the tables of a folder are read: of rows at one time events come first, then segments, then jobs.
    let mut rows: Vec<(Time, u8, u64, &Record)> = (1..)
        .zip(records)
        .filter_map(|(line, record)| match record {
            Record::Event(event) => Some((event.time, 0, line, record)),
            Record::Machine(machine) => Some((machine.time, 0, line, record)),
            Record::Segment(segment) => Some((segment.to, 1, line, record)),
            Record::Job(job) => Some((job.end, 2, line, record)),
            _ => None,
        })
        .collect();
    rows.sort_by_key(|(time, kind, line, _)| (*time, *kind, *line));
    for (_, _, line, record) in rows {
        match record {
            Record::Event(event) => checker.event(event, Row { file: "events", line }),
            Record::Segment(segment) => checker.segment(segment, Row { file: "segments", line }),
            Record::Job(job) => {
                let row = Row { file: "jobs", line };
                let requested = jobs.iter().find(|other| other.id == job.id);
                if let Some(requested) = requested.filter(|_| !rigid) {
                    checker.request(job, &JobRequest::of(requested, false), row);
                }
                checker.job(job, row);
            }
            Record::Machine(machine) => checker.machine(machine, Row { file: "machines", line }),
            _ => {}
        }
    }
    checker.finish()
}

/// The judge finds nothing wrong.
pub(crate) fn assert_legal(registry: &Registry, sites: &[SiteSpec], jobs: &[Job], records: &[Record]) {
    let rigid = jobs.iter().all(|job| matches!(job.size, Size::Rigid(_)));
    let requested = if sites.len() == 1 { jobs } else { &[] };
    let verdict = judged_by(registry, sites, (rigid, requested), records);
    let named: Vec<JobRef> = verdict.broken.values().flat_map(|broken| broken.first.jobs.clone()).collect();
    let of_it = |record: &&Record| match record {
        Record::Job(job) => named.contains(&job.job_ref()),
        Record::Segment(segment) => named.contains(&segment.job_ref()),
        Record::Event(event) => event.job.is_some_and(|job| named.iter().any(|other| other.number == job)),
        _ => false,
    };
    let told: Vec<&Record> = records.iter().filter(of_it).collect();
    assert!(verdict.is_valid(), "{:#?}\n{told:#?}", verdict.broken);
}

/// Runs to the end, which must be reached.
pub(crate) fn run(spec: &SiteSpec, jobs: &[Job]) -> Ran {
    run_with(&Registry::standard(), spec, jobs)
}

/// The same with a registry of one's own.
pub(crate) fn run_with(registry: &Registry, spec: &SiteSpec, jobs: &[Job]) -> Ran {
    match try_run(registry, spec, jobs) {
        Ok(ran) => {
            assert_legal(registry, std::slice::from_ref(spec), jobs, &ran.records);
            ran
        }
        Err(error) => panic!("{error}\n{spec:?}\n{jobs:#?}"),
    }
}

/// A command to the one site; seconds.
pub(crate) fn command(at: Time, body: ToSite) -> Command {
    Command { at, site: SiteId(0), body }
}

/// What the checker cannot know from records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Law {
    /// Jobs that may share a processor; 0 means 1.
    pub(crate) multiprogramming_level: u32,
    /// Whether jobs may be suspended and have gaps.
    pub(crate) gaps: bool,
    /// Whether jobs that share may be slower or faster than their share.
    pub(crate) slows: bool,
    /// Whether the policy may end and refuse jobs of its own accord.
    pub(crate) kills: bool,
}

pub(crate) const SHARE: u128 = 1 << 20;

/// Checks that records and ledger are what a real machine could have done with these jobs.
pub(crate) fn check(spec: &SiteSpec, jobs: &[Job], ran: &Ran, law: Law) {
    let mut segments: BTreeMap<JobId, Vec<&SegmentRecord>> = BTreeMap::new();
    for segment in ran.segments() {
        segments.entry(segment.job).or_default().push(segment);
    }
    check_outcomes(jobs, ran);
    let none = Vec::new();
    for job in jobs {
        let record = ran.job(job.id.0);
        let (job, cut) = after_commands(job, record, &ran.records);
        check_job(spec, &job, record, segments.get(&job.id).unwrap_or(&none), law, cut);
    }
    crate::power_cap::check_cap(spec, ran.records.iter());
    for (at, part) in spec.partitions.iter().enumerate() {
        let here: Vec<&SegmentRecord> = ran.segments().filter(|s| s.partition.index() == at).collect();
        check_processors(part, &here, law);
        check_reservations(spec, at, &here);
        check_ledger(spec, at, &here, jobs, ran);
        if spec.record_machines {
            check_machines(spec, at, &here, ran);
        }
    }
}

/// The job as the elastic commands that were carried out have left it, and whether it ended by one: the twin of what the partition does.
fn after_commands(job: &Job, record: &JobRecord, records: &[Record]) -> (Job, bool) {
    let (mut job, mut cut) = (job.clone(), false);
    for record_of in records {
        let Record::Event(event) = record_of else { continue };
        if event.job != Some(job.id) || !matches!(event.kind, EventKind::Extended | EventKind::Reduced) {
            continue;
        }
        match event.command.expect("it says which") {
            Elastic::ExtendTime(by) => {
                job.runtime = Span::from_micros(job.runtime.micros() + by.micros());
                job.estimate = Span::from_micros(job.estimate.micros() + by.micros());
            }
            Elastic::ReduceTime(by) => {
                assert!(by < job.estimate, "job {}: below zero", job.id);
                job.estimate = Span::from_micros(job.estimate.micros() - by.micros());
                job.runtime = job.runtime.min(job.estimate);
                // It may have run for longer than that: then it has ended, and what it did is what it was given.
                cut |= record.outcome == Outcome::Completed && record.end == event.time;
            }
            Elastic::ExtendProcs(_) | Elastic::ReduceProcs(_) => assert!(job.size.is_malleable()),
        }
    }
    (job, cut)
}

fn check_outcomes(jobs: &[Job], ran: &Ran) {
    let submitted: BTreeSet<JobId> = jobs.iter().map(|job| job.id).collect();
    let recorded: Vec<JobId> = ran.jobs().map(|job| job.id).collect();
    assert_eq!(recorded.len(), submitted.len(), "one record a job");
    assert_eq!(recorded.into_iter().collect::<BTreeSet<_>>(), submitted);
    let mut outcomes = [0; 6];
    ran.jobs().for_each(|job| outcomes[job.outcome.index()] += 1);
    assert_eq!(ran.tally.outcomes, outcomes, "the tally counts what the records say");
    assert_eq!(ran.tally.arrived, jobs.len() as u64);
    let ends: Vec<Time> = ran.jobs().map(|job| job.end).collect();
    assert!(ends.is_sorted(), "records come in order of end");
}

/// Splits the machines of some partitions into groups of other speeds, as a number says; half of the sites stay as they are.
pub(crate) fn regroup(spec: &mut SiteSpec, mut number: u64) {
    let mut below = |most: u64| {
        let drawn = number % most;
        number /= most;
        drawn
    };
    if below(2) == 0 {
        return;
    }
    use PlacementRule::{Cheapest, Fastest, LeastPower, Lowest};
    spec.placement = [Lowest, Fastest, Cheapest, LeastPower][below(4) as usize];
    for part in &mut spec.partitions {
        let (whole, mut groups) = (part.groups[0].clone(), Vec::new());
        let mut left = whole.machines;
        while left > 0 {
            let machines = 1 + below(u64::from(left)) as u32;
            let speed = whole.speed.times(Rate::ratio(1 + below(6), 3));
            groups.push(MachineGroup {
                class: format!("class-{}", groups.len()),
                machines,
                speed: speed.max(Rate::from_units(1_000)),
                ..whole.clone()
            });
            left -= machines;
        }
        part.groups = groups;
    }
}

/// The speed of the machine of a processor, counted through all groups.
pub(crate) fn own_speed(part: &PartitionSpec, proc: u32) -> Rate {
    let of_group = |group: &MachineGroup| std::iter::repeat_n(group.speed, group.machines as usize);
    part.groups.iter().flat_map(of_group).nth((proc / part.cores) as usize).expect("a machine")
}

/// Rate on so many processors of the slowest machines, before sharing, worked out from the description alone.
pub(crate) fn speed_on(part: &PartitionSpec, size: &Size, procs: u32) -> u128 {
    rate_at(part.groups.iter().map(|group| group.speed).min().expect("a group"), size, procs)
}

/// Rate on so many processors of this speed, before sharing.
pub(crate) fn rate_at(speed: Rate, size: &Size, procs: u32) -> u128 {
    let of_size = match size {
        Size::Rigid(_) => SHARE,
        Size::Moldable { preferred, speedup, max, .. } | Size::Malleable { preferred, speedup, max, .. } => {
            let on = |n: u32| u128::from(speedup.on(n).units());
            on(procs.min(*max)) * SHARE / on(*preferred)
        }
    };
    of_size * u128::from(speed.units()) / SHARE
}

fn check_job(
    spec: &SiteSpec,
    job: &Job,
    record: &JobRecord,
    segments: &[&SegmentRecord],
    law: Law,
    cut: bool,
) {
    let id = job.id;
    assert_eq!(record.submit, job.submit, "job {id}");
    assert_eq!(record.requested, job.size.preferred(), "job {id}");
    assert!(record.end >= record.submit, "job {id}");
    assert_eq!(record.start.is_some(), record.attempts > 0, "job {id}");
    if let Outcome::Rejected(reason) = record.outcome {
        assert!(segments.is_empty() && record.start.is_none(), "job {id} was rejected and ran");
        assert_eq!((record.procs, record.energy.nanojoules(), record.cost.nanos()), (0, 0, 0));
        let fits = |part: &PartitionSpec| part.rounded(job.size.min()) <= part.most();
        match reason {
            RejectReason::NoSuchPartition => {
                assert!(job.partition.is_some_and(|p| p.index() >= spec.partitions.len()));
            }
            RejectReason::TooLarge => assert!(!match job.partition {
                Some(partition) => fits(&spec.partitions[partition.index()]),
                None => spec.partitions.iter().any(fits),
            }),
            RejectReason::Malformed => assert!(job.check().is_err()),
            RejectReason::Policy => assert!(law.kills),
            RejectReason::NoPool => panic!("there is no broker here"),
            another => panic!("a new reason: {another:?}"),
        }
        if reason != RejectReason::Policy {
            assert_eq!(record.end, job.submit, "job {id} is refused on arrival");
        }
        return;
    }
    let part = &spec.partitions[record.partition.index()];
    let home = job.partition.map_or_else(
        || spec.partitions.iter().position(|p| p.rounded(job.size.min()) <= p.most()),
        |partition| Some(partition.index()),
    );
    assert_eq!(home, Some(record.partition.index()), "job {id} is in its partition");
    let Some(start) = record.start else {
        assert!(segments.is_empty());
        assert!(matches!(record.outcome, Outcome::Cancelled | Outcome::Unfinished), "job {id}: {record:?}");
        assert_eq!(record.procs, 0);
        return;
    };
    assert!(start >= job.submit, "job {id} started before it was submitted");
    assert!(job.requested_start.is_none_or(|asked| start >= asked), "job {id} started before it asked to");
    assert_eq!(record.requested_start, job.requested_start, "job {id}");
    let allocation_unit = part.allocation_unit;
    let least = part.rounded(job.size.min());
    let most = part.rounded(job.size.max()).min(most_at_once(part));
    assert!(
        (least..=most).contains(&record.procs) && record.procs.is_multiple_of(allocation_unit),
        "job {id}"
    );
    let (mut time, mut work, mut busy, mut priced) = (start, 0_u128, 0_u128, 0_u128);
    for (at, segment) in segments.iter().enumerate() {
        assert!(segment.cause == Cause::Run || law.gaps, "job {id}: {}", segment.cause.name());
        assert_eq!(segment.attempt, 1, "job {id}");
        assert!(segment.from < segment.to, "job {id} has an empty segment");
        if at == 0 && !law.gaps {
            assert_eq!(segment.from, start, "job {id}");
        }
        assert!(segment.from >= time, "job {id}: segments overlap");
        if !law.gaps {
            assert_eq!(segment.from, time, "job {id}: a hole between segments");
        }
        time = segment.to;
        let count = segment.procs.len();
        assert!(
            (least..=most).contains(&count) && count.is_multiple_of(allocation_unit),
            "job {id} on {count}"
        );
        let procs: BTreeSet<u32> = segment.procs.iter().collect();
        assert!(procs.iter().all(|proc| *proc < part.usable()), "job {id} is outside the partition");
        let blocks: BTreeSet<u32> = procs.iter().map(|proc| proc / allocation_unit).collect();
        assert_eq!(blocks.len() as u32 * allocation_unit, count, "job {id} has parts of blocks");
        let share = u128::from(segment.share.units());
        let slowest = procs.iter().map(|proc| own_speed(part, *proc)).min().expect("a processor");
        let rate = rate_at(slowest, &job.size, count) * share / SHARE;
        // In transition it does no work.
        let rate = if segment.cause == Cause::Run { rate } else { 0 };
        let rate = if law.slows { u128::from(segment.rate.units()) } else { rate };
        assert!(rate > 0 || law.gaps, "job {id} does not progress");
        assert_eq!(u128::from(segment.rate.units()), rate, "job {id}: rate");
        let span = u128::from(segment.to.since(segment.from).micros());
        work += rate * span;
        busy += u128::from(count) * share * span;
        priced +=
            u128::from(count) * share * weighed(spec, spec.tariff.price_by_hour, segment.from, segment.to);
    }
    match segments.last() {
        Some(last) if !law.gaps => assert_eq!(last.to, record.end, "job {id}"),
        Some(last) => assert!(last.to <= record.end),
        None => assert!(law.gaps || start == record.end, "job {id} ran without a segment"),
    }
    let full = u128::from(job.runtime.micros()) * SHARE;
    let allowed = u128::from(job.estimate.micros()) * SHARE;
    let target = if spec.overrun { full } else { full.min(allowed) };
    let target = if cut { target.max(work) } else { target };
    let last_rate = segments.last().map_or(0, |segment| u128::from(segment.rate.units()));
    match record.outcome {
        Outcome::Completed | Outcome::Killed => {
            assert!(work >= target, "job {id} did {work} of {target}");
            assert!(work == target || work - target < last_rate, "job {id} did {work}, more than {target}");
            let killed = !spec.overrun && job.runtime > job.estimate;
            assert_eq!(record.outcome == Outcome::Killed, killed, "job {id}");
        }
        Outcome::Failed => assert!(law.kills, "job {id} failed"),
        // Under one pass per event a cancel comes before the ends of its instant.
        _ if spec.order == InstantOrder::Event => assert!(work < target + last_rate.max(1), "job {id}"),
        _ => assert!(work < target || target == 0, "job {id} had done all its work"),
    }
    let given = speed_on(part, &job.size, record.procs);
    assert_eq!(u128::from(record.run.micros()), target.div_ceil(given), "job {id}: run");
    let energy: u128 = segments.iter().map(|segment| segment.energy.nanojoules()).sum();
    assert_eq!(record.energy.nanojoules(), energy, "job {id}: energy is the sum of its segments");
    assert_eq!(energy, busy * u128::from(part.busy().milliwatts()) / SHARE, "job {id}: energy");
    let cost: i128 = segments.iter().map(|segment| segment.cost.nanos()).sum();
    assert_eq!(record.cost.nanos(), cost, "job {id}: cost is the sum of its segments");
    let hour = u128::from(HOUR) * SHARE * 1_000;
    let exact = priced * u128::from(part.price().nanos());
    assert!((cost as u128 * hour).abs_diff(exact) <= hour / 2, "job {id}: cost is the tariff over use");
}

const HOUR: u64 = 3_600_000_000;

/// The integral of a day's factors from hour to hour, in thousandths × microseconds; a flat day has the factor 1.
fn weighed(spec: &SiteSpec, day: Option<DayRates>, from: Time, to: Time) -> u128 {
    let factors: Vec<u64> = day.unwrap_or(DayRates::FLAT).thousandths().collect();
    let origin = spec.tariff.starts_at.micros();
    let (mut now, end, mut sum) = (from.micros() + origin, to.micros() + origin, 0);
    while now < end {
        let next = end.min((now / HOUR + 1) * HOUR);
        sum += u128::from(factors[(now / HOUR % 24) as usize]) * u128::from(next - now);
        now = next;
    }
    sum
}

/// No processor runs more jobs than it has multiprogramming_level, nor gives more than its whole time.
pub(crate) fn check_processors(part: &PartitionSpec, segments: &[&SegmentRecord], law: Law) {
    let mut changes: BTreeMap<u32, Vec<(Time, i64, i64)>> = BTreeMap::new();
    for segment in segments {
        let share = segment.share.units() as i64;
        for proc in segment.procs.iter() {
            assert!(proc < part.usable());
            let changes = changes.entry(proc).or_default();
            changes.push((segment.to, -1, -share));
            changes.push((segment.from, 1, share));
        }
    }
    for (proc, mut changes) in changes {
        changes.sort_unstable(); // ends before starts
        let (mut jobs, mut shares) = (0, 0);
        for (time, job, share) in changes {
            jobs += job;
            shares += share;
            assert!(
                jobs <= i64::from(law.multiprogramming_level.max(1)),
                "processor {proc} has {jobs} jobs at {time}"
            );
            assert!(shares <= SHARE as i64, "processor {proc} gives {shares} at {time}");
        }
    }
}

/// Reserved processors in microseconds of one processor, within `[from, to)`.
fn reserved_time(spec: &SiteSpec, at: usize, from: Time, to: Time) -> u128 {
    let part = &spec.partitions[at];
    spec.reservations
        .iter()
        .filter(|(of, _)| *of == at)
        .map(|(_, r)| {
            u128::from(part.rounded(r.procs)) * u128::from(r.end.min(to).since(r.start.max(from)).micros())
        })
        .sum()
}

/// The most processors that may be in use at once: where watts are counted more may fit at times than surely fits in the end.
fn most_at_once(part: &PartitionSpec) -> u32 {
    if part.power_part.is_some_and(|part| part.in_watts) { part.usable() } else { part.most() }
}

/// While a reservation lasts, the queue's jobs keep off its processors (unless one overran into it).
fn check_reservations(spec: &SiteSpec, at: usize, segments: &[&SegmentRecord]) {
    let part = &spec.partitions[at];
    let booked: Vec<&Reservation> =
        spec.reservations.iter().filter(|(of, r)| *of == at && r.job.is_none()).map(|(_, r)| r).collect();
    if spec.overrun || booked.is_empty() {
        return;
    }
    let mut times: BTreeSet<Time> = segments.iter().map(|segment| segment.from).collect();
    times.extend(booked.iter().map(|r| r.start));
    for time in times {
        let used: u32 =
            segments.iter().filter(|s| s.from <= time && time < s.to).map(|s| s.procs.len()).sum();
        let kept: u32 =
            booked.iter().filter(|r| r.start <= time && time < r.end).map(|r| part.rounded(r.procs)).sum();
        let most = most_at_once(part);
        assert!(used + kept <= most, "{used} in use at {time} beside {kept} reserved of {most}");
    }
}

fn check_ledger(spec: &SiteSpec, at: usize, segments: &[&SegmentRecord], jobs: &[Job], ran: &Ran) {
    let (part, usage) = (&spec.partitions[at], &ran.usage[at]);
    let here = |record: &&JobRecord| {
        record.partition.index() == at && record.outcome != Outcome::Rejected(RejectReason::NoSuchPartition)
    };
    let from = ran.jobs().filter(here).map(|record| record.submit).min();
    let to = ran.jobs().filter(here).filter(|record| record.start.is_some()).map(|record| record.end).max();
    let from = from.unwrap_or(Time::ZERO);
    let to = to.unwrap_or(from);
    assert!(jobs.is_empty() || (usage.from, usage.to) == (from, to), "the account is from {from} to {to}");
    let (mut useful, mut wasted, mut overhead) = (0, 0, 0);
    for segment in segments {
        let span = u128::from(segment.to.since(segment.from).micros());
        let time = u128::from(segment.procs.len()) * u128::from(segment.share.units()) * span;
        let done = ran.job(segment.job.0).outcome == Outcome::Completed;
        let of = if segment.cause != Cause::Run {
            &mut overhead
        } else if done {
            &mut useful
        } else {
            &mut wasted
        };
        *of += time;
    }
    assert_eq!((usage.useful, usage.wasted), (useful, wasted));
    assert_eq!((usage.overhead, usage.down), (overhead, 0));
    let nominal = u128::from(part.processors()) * SHARE * u128::from(to.since(from).micros());
    assert_eq!(usage.nominal(), nominal);
    let reserved = reserved_time(spec, at, from, to) * SHARE;
    // Where watts are counted a reservation may begin short: fewer fit before machines sleep than in the end.
    // One that is kept for a job is used by it, and given up when the job leaves.
    let kept = spec.reservations.iter().any(|(of, booked)| *of == at && booked.job.is_some());
    if spec.overrun || kept || part.power_part.is_some_and(|part| part.in_watts) {
        assert!(usage.reserved <= reserved);
    } else {
        assert_eq!(usage.reserved, reserved, "reserved time from {from} to {to}");
    }
    let busy = useful + wasted + overhead;
    assert!(busy + usage.reserved <= nominal, "more was used than there is");
    assert_eq!(busy + usage.reserved + usage.idle(), nominal, "everything is accounted for");
    let meter =
        busy * u128::from(part.busy().milliwatts()) + (nominal - busy) * u128::from(part.idle().milliwatts());
    let machines = ran.records.iter().filter_map(|record| match record {
        Record::Machine(machine) if machine.partition.index() == at => Some(machine),
        _ => None,
    });
    let naps = naps::naps(machines, part.cores, Time::NEVER);
    naps::check(&naps, part, segments, &spec.churn.script, Time::NEVER);
    let beyond = naps::beyond_idle(&naps, part, from, to) * SHARE as i128;
    let meter = meter as i128 + beyond;
    assert_eq!(
        usage.meter().nanojoules() as i128,
        meter / SHARE as i128,
        "the meter is the integral of power"
    );
    let charged: u128 = ran.jobs().filter(here).map(|record| record.energy.nanojoules()).sum();
    assert_eq!(usage.job_energy().nanojoules(), charged);
    assert!(charged <= usage.meter().nanojoules());
    assert_eq!((usage.meter() - usage.job_energy()).nanojoules() + charged, usage.meter().nanojoules());
    // The facility's bill, of the power in each stretch and the price of its hour, up to what is rounded.
    let day = spec.tariff.electricity_by_hour;
    let whole = u128::from(part.processors()) * SHARE * weighed(spec, day, from, to);
    let used = |s: &&SegmentRecord| {
        u128::from(s.procs.len()) * u128::from(s.share.units()) * weighed(spec, day, s.from, s.to)
    };
    let used: u128 = segments.iter().map(used).sum();
    let power =
        used * u128::from(part.busy().milliwatts()) + (whole - used) * u128::from(part.idle().milliwatts());
    let beyond = naps::beyond_idle_weighed(&naps, part, from, to, |from, to| weighed(spec, day, from, to));
    let power = power as i128 + beyond * SHARE as i128;
    let kwh = power as f64 / SHARE as f64 / 1e3 / 3.6e15 * spec.pue_ppm as f64 / 1e6;
    let bill = spec.tariff.flat_electricity().map(|price| kwh * price.nanos() as f64);
    match (usage.electricity, bill) {
        (Some(got), Some(bill)) => {
            assert!((got.nanos() as f64 - bill).abs() <= 1.0 + bill * 1e-9, "{} is not {bill}", got.nanos());
        }
        (got, bill) => assert!(got.is_none() && bill.is_none(), "{got:?}, {bill:?}"),
    }
    let paid: i128 = ran.jobs().filter(here).map(|record| record.cost.nanos()).sum();
    assert_eq!(usage.cost.nanos(), paid);
}

/// The records of machine states tell the same story: a processor is busy while it has segments, and the reserved
/// time of the ledger is the time in which processors are reserved.
fn check_machines(spec: &SiteSpec, at: usize, segments: &[&SegmentRecord], ran: &Ran) {
    let usage = &ran.usage[at];
    let mut since: BTreeMap<u32, (Time, MachineState)> = BTreeMap::new();
    let (mut busy, mut reserved) = (BTreeMap::<u32, u128>::new(), 0_u128);
    let mut last = Time::ZERO;
    let mut turn = |proc: u32, time: Time, state: MachineState| {
        let (from, old) = since.insert(proc, (time, state)).unwrap_or((Time::ZERO, MachineState::Idle));
        match old {
            MachineState::Busy => *busy.entry(proc).or_default() += u128::from(time.since(from).micros()),
            MachineState::Reserved => {
                let within = time.min(usage.to).since(from.max(usage.from));
                reserved += u128::from(within.micros());
            }
            _ => {}
        }
    };
    let mut ends = BTreeSet::new();
    for record in &ran.records {
        let Record::Machine(machine) = record else { continue };
        assert!(machine.time >= last || machine.partition.index() != at, "states come in order");
        if machine.partition.index() == at {
            last = machine.time;
            machine.procs.iter().for_each(|proc| turn(proc, machine.time, machine.state));
            ends.extend(machine.procs.iter());
        }
    }
    let end = last.max(usage.to);
    ends.into_iter().for_each(|proc| turn(proc, end, MachineState::Idle));
    for proc in 0..spec.partitions[at].processors() {
        let mut on: Vec<(Time, Time)> =
            segments.iter().filter(|s| s.procs.contains(proc)).map(|s| (s.from, s.to)).collect();
        on.sort_unstable();
        let (mut union, mut until) = (0_u128, Time::ZERO);
        for (from, to) in on {
            union += u128::from(to.since(from.max(until)).micros());
            until = until.max(to);
        }
        assert_eq!(busy.get(&proc).copied().unwrap_or(0), union, "busy time of processor {proc}");
    }
    if spec.power.name == "always-on" {
        assert_eq!(reserved * SHARE, usage.reserved, "reserved time");
    }
    // Machines that a reservation gets may have to wake up first.
    assert!(reserved * SHARE <= usage.reserved, "reserved time");
}

/// A site and its jobs in few lines, for failures.
pub(crate) fn show(f: &mut std::fmt::Formatter<'_>, spec: &SiteSpec, jobs: &[Job]) -> std::fmt::Result {
    writeln!(f, "{} {:?}, overrun {}", spec.policy, spec.order, spec.overrun)?;
    for group in spec.partitions.iter().flat_map(|part| &part.groups).filter(|group| group.sleep.is_some()) {
        writeln!(f, "  {}, {:?}", spec.power, group.sleep)?;
    }
    for part in &spec.partitions {
        let PartitionSpec { groups, cores, allocation_unit, .. } = part;
        part.most_in_use
            .map_or(Ok(()), |most| writeln!(f, "  {most} in use at most, under {:?}", spec.power_cap))?;
        for MachineGroup { machines, speed, .. } in groups {
            writeln!(f, "  {machines} × {cores} at {speed} in blocks of {allocation_unit}")?;
        }
    }
    for (partition, Reservation { start, end, procs, job, .. }) in &spec.reservations {
        let kept = job.map(|job| format!(" for job {job}")).unwrap_or_default();
        writeln!(f, "  {partition}: {procs} reserved from {start} to {end}{kept}")?;
    }
    for Job { id, submit, size, runtime, estimate, partition, requested_start, elastic, .. } in jobs {
        write!(f, "  job {id} at {submit}: {size:?} for {runtime} of {estimate}, {partition:?}")?;
        write!(f, "{}", requested_start.map(|start| format!(", from {start}")).unwrap_or_default())?;
        for command in elastic.iter().flatten() {
            write!(f, ", at {} {}", command.at, command.change.written())?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// A save goes through bytes, as it would through a file.
pub(crate) fn through_bytes<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let bytes = postcard::to_stdvec(value).expect("a snapshot can be written");
    postcard::from_bytes(&bytes).expect("and read back")
}
