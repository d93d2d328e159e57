//! What may change in the middle of a run, and what is refused.

use gridemu::grid::{GridError, changes};
use gridemu::model::{
    ChurnAct, GridSpec, Link, MachineGroup, Machines, PartitionId, PlacementRule, PlannedChurn, ProcSet,
    Reservation, Sharing, SiteSpec,
};
use gridemu::units::{Bandwidth, Price, Rate, Span, Time};

use crate::grid::{build, plain};
use crate::support::{job, through_bytes};

fn base() -> GridSpec {
    plain(&[4, 2], "mct", 1, 10)
}

fn leave(secs: u64) -> PlannedChurn {
    let machines = Machines { partition: PartitionId(0), which: ProcSet::full(1) };
    PlannedChurn { at: Time::from_secs(secs), act: ChurnAct::Leave(machines) }
}

type Edit = fn(&mut GridSpec);

#[test]
fn what_changes_is_told() {
    let cases: [(Edit, &str); 15] = [
        (
            |spec| spec.sites[0].placement = PlacementRule::Fastest,
            "site `site-0`: placement: fastest instead of lowest",
        ),
        (|spec| spec.seed = 7, "seed of later draws: 7 instead of 1"),
        (
            |spec| spec.sites[1].policy = "easy".parse().unwrap(),
            "site `site-1`: local policy: `easy` instead of `fcfs`",
        ),
        (
            |spec| spec.sites[0].partitions[0].groups[0].price = Price::from_nanos(2_000_000_000),
            "site `site-0`, partition `default`: price: 2/core-h instead of 0/core-h",
        ),
        (
            |spec| spec.sites[0].tariff.price_by_hour = Some("0-6=0.5".parse().unwrap()),
            "site `site-0`: price by the hour: `0-6=0.5` instead of flat",
        ),
        (
            |spec| spec.sites[0].churn.script.push(leave(60)),
            "site `site-0`: scripted events of machines: 1 act to come instead of 0 acts to come",
        ),
        (
            |spec| spec.sites[0].churn.attempts = Some(3),
            "site `site-0`: maximum number of attempts: 3 instead of any number",
        ),
        (
            |spec| spec.sites[0].churn.on_failure = gridemu::model::FailureAction::Wait,
            "site `site-0`: failure action: wait instead of requeue",
        ),
        (
            |spec| spec.network.set(0, 2, Link { latency: Span::from_secs(3), bandwidth: None }),
            "latency between the portal and site `site-1`: 3 s instead of 1 s",
        ),
        (|spec| spec.network.sharing = Sharing::Unshared, "links: unshared instead of shared"),
        (
            |spec| spec.network.uplinks = vec![None, Some(Bandwidth::from_bits(8_000_000))],
            "uplink of site `site-0`: 8 Mbit/s instead of any",
        ),
        (
            |spec| spec.broker.as_mut().unwrap().policy = "round-robin".parse().unwrap(),
            "broker: policy: `round-robin` instead of `mct`",
        ),
        (
            |spec| spec.broker.as_mut().unwrap().monitoring_interval = Span::ZERO,
            "broker: sites report: at every change instead of every 10 s",
        ),
        (|spec| spec.broker.as_mut().unwrap().retries = 3, "broker: retries: 3 instead of 10"),
        (
            |spec| spec.broker.as_mut().unwrap().in_flight = Some(5),
            "broker: maximum number of grid jobs at a site: 5 instead of any number",
        ),
    ];
    for (edit, told) in cases {
        let mut new = base();
        edit(&mut new);
        assert_eq!(changes(&base(), &new, Time::from_secs(60)), Ok(vec![told.to_owned()]));
    }
}

#[test]
fn what_cannot_change_is_refused() {
    let cases: [(Edit, &str); 13] = [
        (
            |spec| spec.sites[0].partitions[0].groups.push(MachineGroup::plain("new", 2)),
            "machine classes would be `default`, `new` instead of `default`",
        ),
        (
            |spec| spec.sites[0].name = "other".to_owned(),
            "the sites `other`, `site-1`, not `site-0`, `site-1`",
        ),
        (
            |spec| spec.sites.push(SiteSpec::plain("more", 1, "fcfs".parse().unwrap())),
            "sites cannot be added or removed in the middle of a run",
        ),
        (|spec| spec.sites[0].partitions[0].groups[0].machines = 5, "machines would be 5 instead of 4"),
        (|spec| spec.sites[0].partitions[0].cores = 2, "cores would be 2 instead of 1"),
        (
            |spec| spec.sites[0].partitions[0].groups[0].speed = Rate::ratio(1, 2),
            "speed would be 0.500000 instead of 1.000000",
        ),
        (|spec| spec.sites[0].partitions[0].allocation_unit = 2, "allocation unit would be 2 instead of 1"),
        (
            |spec| spec.sites[0].partitions[0].name = "p".to_owned(),
            "its partitions would be `p` instead of `default`",
        ),
        (
            |spec| spec.sites[0].overrun = true,
            "jobs beyond their estimate would be allowed instead of killed",
        ),
        (|spec| spec.sites[0].pue_ppm = 1_500_000, "its PUE would be 1.5 instead of 1"),
        (
            |spec| {
                let (start, end) = (Time::from_secs(100), Time::from_secs(200));
                let booked = Reservation { name: "r".to_owned(), start, end, procs: 1, job: None };
                spec.sites[0].reservations.push((0, booked));
            },
            "its reservations differ",
        ),
        (
            |spec| spec.sites[0].churn.script.push(leave(59)),
            "scripted events of machines differ before 1 min",
        ),
        (|spec| spec.broker = None, "the broker cannot be removed"),
    ];
    for (edit, told) in cases {
        let mut new = base();
        edit(&mut new);
        let refused = changes(&base(), &new, Time::from_secs(60)).expect_err(told);
        assert!(refused.to_string().contains(told), "{refused}");
        assert!(refused.hint().contains("from its beginning"));
    }
    let mut new = base();
    (new.sites[0].overrun, new.sites[1].pue_ppm) = (true, 1_500_000);
    let refused = changes(&base(), &new, Time::ZERO).expect_err("twice wrong");
    assert_eq!(refused.refused.len(), 2, "all of it at once: {refused}");
}

/// Who only wants to resume does not get a fork by mistake.
#[test]
fn a_state_is_not_taken_back_under_another_description() {
    let edits: [(Edit, &str); 7] = [
        (|spec| spec.seed = 7, "another description"),
        (|spec| spec.sites[0].churn.attempts = Some(3), "another description"),
        (|spec| spec.sites[1].policy = "easy".parse().unwrap(), "under the policy `fcfs`, not `easy`"),
        (
            |spec| spec.sites[0].partitions[0].groups[0].price = Price::from_nanos(5),
            "under other prices, power or checkpoints",
        ),
        (
            |spec| spec.network.set(1, 2, Link { latency: Span::from_secs(2), bandwidth: None }),
            "other connections",
        ),
        (|spec| spec.broker.as_mut().unwrap().retries = 3, "other settings"),
        (|spec| spec.sites[0].name = "other".to_owned(), "other settings"),
    ];
    let jobs = || vec![job(1, 0, 1, 100), job(2, 5, 4, 100), job(3, 50, 1, 10)];
    let mut grid = build(&base(), jobs());
    grid.run_until(Time::from_secs(30), &mut Vec::new()).expect("it runs");
    let saved = grid.snapshot().expect("a state");
    for (edit, told) in edits {
        let mut new = base();
        edit(&mut new);
        let refused = build(&new, jobs()).restore(through_bytes(&saved), false).expect_err(told);
        assert!(refused.to_string().contains(told), "{refused}");
    }
    build(&base(), jobs()).restore(through_bytes(&saved), false).expect("its own");
    let refused = build(&plain(&[4], "mct", 1, 10), jobs()).restore(saved, true).expect_err("one site less");
    assert!(matches!(refused, GridError::BadSave(_)), "{refused}");
}
