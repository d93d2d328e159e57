//! Prices by hour of the day under churn.

use gridemu::local::{Partition, Registry, Settings, Step};
use gridemu::model::{
    DayRates, EventCause, FailureAction, InstantOrder, Job, JobRecord, MachineGroup, Named, Origin,
    PartitionId, PartitionSpec, Payer, PerKwh, PlacementRule, ProcSet, Record, SegmentRecord, SiteId,
    SiteTariff,
};
use gridemu::platform::Usage;
use gridemu::units::{EnergyPrice, Money, Power, Price, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{day_rates, job, through_bytes};

const HOUR: u64 = 3_600_000_000;

/// One core a machine, 0.40 a core-hour, 500 W idle and 1 kW busy.
fn part(machines: u32) -> PartitionSpec {
    PartitionSpec::of(MachineGroup {
        idle: Power::from_milliwatts(500_000),
        busy: Power::from_milliwatts(1_000_000),
        price: Price::from_nanos(400_000_000),
        ..MachineGroup::plain("default", machines)
    })
}

fn partition(machines: u32, on_failure: FailureAction, tariff: SiteTariff) -> Partition {
    let written: Named = "fcfs".parse().expect("a policy");
    let (built, abilities) = Registry::standard().build(&written).expect("a policy");
    let settings = Settings {
        placement: PlacementRule::default(),
        site: SiteId(0),
        site_name: "site".to_owned(),
        partition: PartitionId(0),
        order: InstantOrder::Instant,
        overrun: false,
        tariff,
        pue_ppm: 1_250_000,
        record_segments: true,
        record_machines: false,
        on_failure,
        return_queued: false,
        attempts: None,
        checkpoint: None,
        mean_up: None,
        sleep: Vec::new(),
        seed: 0,
        preemption: gridemu::model::Preemption::default(),
        failed_attempts: Payer::User,
    };
    Partition::new(settings, part(machines), built, "fcfs".to_owned(), abilities, &[])
}

/// A machine leaves or comes.
type Turn = (Time, bool, u32);

/// Lets jobs arrive and machines come and go until nothing is left to do; the partition goes through a snapshot at every
/// turn. Machines that are away at the end come back.
fn run(new: impl Fn() -> Partition, jobs: &[Job], turns: &[Turn]) -> (Usage, Vec<Record>) {
    let mut partition = new();
    let (mut records, mut gone) = (Vec::new(), Vec::new());
    let (mut jobs, mut turns) = (jobs.to_vec(), turns.to_vec());
    jobs.sort_by_key(|job| std::cmp::Reverse(job.submit));
    turns.sort_unstable();
    turns.reverse();
    loop {
        let times =
            [partition.next_event(), jobs.last().map(|job| job.submit), turns.last().map(|turn| turn.0)];
        let Some(now) = times.into_iter().flatten().min() else { break };
        let mut step = Step::new(now, &mut records, &mut gone);
        while partition.end_next(&mut step) {}
        while let Some((_, leaves, machine)) = turns.pop_if(|turn| turn.0 == now) {
            let which: ProcSet = [machine].into_iter().collect();
            if leaves {
                partition.leave(&which, EventCause::Script, &mut step);
            } else {
                partition.join(&which, EventCause::Script, &mut step).expect("times are short");
            }
            let saved = through_bytes(&partition.save());
            partition = new();
            partition.restore(saved, false, &mut step).expect("it fits");
        }
        while let Some(job) = jobs.pop_if(|job| job.submit == now) {
            partition.arrive(job, Origin::Local, &mut step);
        }
        partition.pass(&mut step).expect("a lawful pass");
    }
    assert_eq!(partition.live(), 0, "everything has ended");
    (partition.usage(), records)
}

fn job_records(records: &[Record]) -> Vec<&JobRecord> {
    records.iter().filter_map(|r| if let Record::Job(job) = r { Some(job) } else { None }).collect()
}

fn segments(records: &[Record]) -> Vec<&SegmentRecord> {
    records
        .iter()
        .filter_map(|r| if let Record::Segment(segment) = r { Some(segment) } else { None })
        .collect()
}

fn minutes(count: u64) -> Time {
    Time::from_secs(60 * count)
}

/// The run begins at 21 h; from 22 h on core-hours cost a quarter of 0.40 and electricity half of 0.20.
fn evening() -> SiteTariff {
    SiteTariff {
        price_by_hour: Some("22-6=0.25".parse().unwrap()),
        electricity: Some(PerKwh::Flat(200_000_000)),
        electricity_by_hour: Some("22-6=0.5".parse().unwrap()),
        starts_at: Span::from_secs(21 * 3_600),
        ..SiteTariff::default()
    }
}

#[test]
fn what_is_away_draws_nothing_and_what_was_lost_was_paid() {
    // Machine 0 leaves at 21:30 with the job, which begins anew on machine 1 and ends at 23:30. Its first attempt costs half an
    // hour at 0.40, its second half an hour at 0.40 and one and a half at 0.10: 0.20 + 0.20 + 0.15.
    let turns = [(minutes(30), true, 0), (minutes(90), false, 0)];
    let (usage, records) =
        run(|| partition(2, FailureAction::Requeue, evening()), &[job(1, 0, 1, 7_200)], &turns);
    let jobs = job_records(&records);
    assert_eq!((jobs[0].end, jobs[0].cost), (minutes(150), Money::from_nanos(550_000_000)));
    assert_eq!(usage.cost, Money::from_nanos(550_000_000));
    // At 0.20 a kWh, half an hour of 1 kW and 0.5 kW and half an hour of 1 kW; at 0.10, half an hour of 1 kW and one hour of
    // 1 kW and 0.5 kW: 1.25 × 0.20 + 2 × 0.10 = 0.45, and a quarter more with the facility.
    assert_eq!(usage.electricity, Some(Money::from_nanos(562_500_000)));
    assert_eq!(usage.meter().as_kwh_f64(), 3.25);
}

/// The integral of a day's factors from hour to hour, in thousandths × microseconds.
fn weighed(tariff: &SiteTariff, day: Option<DayRates>, from: Time, to: Time) -> u128 {
    let factors: Vec<u64> = day.unwrap_or(DayRates::FLAT).thousandths().collect();
    let origin = tariff.starts_at.micros();
    let (mut now, end, mut sum) = (from.micros() + origin, to.micros() + origin, 0);
    while now < end {
        let next = end.min((now / HOUR + 1) * HOUR);
        sum += u128::from(factors[(now / HOUR % 24) as usize]) * u128::from(next - now);
        now = next;
    }
    sum
}

proptest! {
    /// The slow twin: bills of what the records say, hour by hour.
    #[test]
    fn bills_are_integrals_while_machines_come_and_go(
        on_failure in prop_oneof![Just(FailureAction::Requeue), Just(FailureAction::Wait), Just(FailureAction::Fail)],
        drawn in vec((0_u64..8 * HOUR, 1_u32..4, 0_u64..4 * HOUR), 1..8),
        away in vec((0_u64..12 * HOUR, 1_u64..5 * HOUR, 0_u32..3), 0..6),
        days in vec(vec(0_u16..=10_000, 24), 2),
        (starts_at, electricity) in (0_u64..24 * HOUR, 0_u64..3_000_000_000),
    ) {
        let day = |rates: &[u16]| Some(day_rates(rates));
        let tariff = SiteTariff {
            price_by_hour: day(&days[0]),
            electricity: Some(EnergyPrice::from_nanos(electricity).into()),
            electricity_by_hour: day(&days[1]),
            starts_at: Span::from_micros(starts_at),
            ..SiteTariff::default()
        };
        let jobs: Vec<Job> = drawn
            .into_iter()
            .zip(1..)
            .map(|((submit, procs, runtime), id)| {
                let mut job = job(id, 0, procs, 0).estimated(Span::from_micros(runtime));
                (job.submit, job.runtime) = (Time::from_micros(submit), Span::from_micros(runtime));
                job
            })
            .collect();
        // A machine leaves again only once it is back.
        let mut outages: Vec<(u64, u64, u32)> = Vec::new();
        for (from, length, machine) in away {
            let (from, to) = (from, from + length);
            if outages.iter().all(|(a, b, other)| *other != machine || to < *a || *b < from) {
                outages.push((from, to, machine));
            }
        }
        let time = Time::from_micros;
        let turns: Vec<Turn> = outages
            .iter()
            .flat_map(|(from, to, machine)| [(time(*from), true, *machine), (time(*to), false, *machine)])
            .collect();
        let (usage, records) = run(|| partition(3, on_failure, tariff.clone()), &jobs, &turns);
        let segments = segments(&records);
        let hour = u128::from(HOUR) * 1_000;
        let mut paid = Money::ZERO;
        for record in job_records(&records) {
            let own = segments.iter().filter(|segment| segment.job == record.id);
            let (mut exact, mut attempts) = (0, 1);
            for segment in own.clone() {
                attempts = attempts.max(u128::from(segment.attempt));
                exact += u128::from(segment.procs.len())
                    * weighed(&tariff, tariff.price_by_hour, segment.from, segment.to)
                    * 400_000_000;
            }
            prop_assert_eq!(record.cost, own.map(|segment| segment.cost).sum::<Money>());
            // Each attempt rounds once.
            prop_assert!((record.cost.nanos() as u128 * hour).abs_diff(exact) <= attempts * hour / 2);
            paid += record.cost;
        }
        prop_assert_eq!(usage.cost, paid);
        // In processors × thousandths × microseconds.
        let by_hour = |from: Time, to: Time| weighed(&tariff, tariff.electricity_by_hour, from, to);
        let busy: u128 =
            segments.iter().map(|s| u128::from(s.procs.len()) * by_hour(s.from, s.to)).sum();
        let gone = |(from, to, _): &(u64, u64, u32)| by_hour(time(*from).max(usage.from), time(*to).min(usage.to));
        let powered = 3 * by_hour(usage.from, usage.to) - outages.iter().map(gone).sum::<u128>();
        let power = busy as f64 * 1e6 + (powered - busy) as f64 * 0.5e6;
        let bill = power / 1e3 / 3.6e15 * 1.25 * electricity as f64;
        let got = usage.electricity.unwrap().nanos() as f64;
        prop_assert!((got - bill).abs() <= 1.0 + bill * 1e-9, "{got} is not {bill}");
    }
}
