use std::path::Path;

use super::line::{FIRST_JOB, read};
use crate::entity::ToSite;
use crate::grid::Policies;
use crate::model::{
    BookAct, ChurnAct, Elastic, Job, JobId, Machines, PartitionId, ProcSet, ReservationRequest, SiteId,
    SiteSpec, Size,
};
use crate::scenario::Scenario;
use crate::units::{Rate, Span, Time};

const SCENARIO: &str = r#"
[[site]]
name     = "delft"
machines = [{ class = "i7", count = 16, cores = 4 }, { class = "xeon", count = 4, cores = 16 }]
policy   = "easy"
workload = { lublin = { jobs = 10, load = 0.5 } }

[[site]]
name     = "windsor"
machines = [{ class = "node", count = 8 }]
policy   = "fcfs"
"#;

fn sites() -> Vec<SiteSpec> {
    let policies = Policies::standard();
    let scenario = Scenario::read(Path::new("here.toml"), SCENARIO, &[], &policies);
    scenario.unwrap_or_else(|error| panic!("{error}")).resolved.grid.sites
}

/// The result of reading a line as command number 7.
fn message(line: &str) -> Option<(SiteId, ToSite)> {
    read(line, &sites(), 7).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn refused(line: &str) -> String {
    match read(line, &sites(), 7) {
        Ok(message) => panic!("{line} is fine: {message:?}"),
        Err(error) => error,
    }
}

fn machines(partition: u32, from: u32, to: u32) -> Machines {
    Machines { partition: PartitionId(partition), which: ProcSet::range(from, to) }
}

#[test]
fn machines_and_sites_leave_join_and_slow_down() {
    let (delft, windsor) = (SiteId(0), SiteId(1));
    let half = Rate::from_f64(0.5).expect("a rate");
    for (line, site, act) in [
        ("leave delft", delft, ChurnAct::LeaveSite),
        ("  join   windsor  # it is repaired", windsor, ChurnAct::JoinSite),
        ("leave delft/i7/0-15", delft, ChurnAct::Leave(machines(0, 0, 16))),
        ("drain delft", delft, ChurnAct::DrainSite),
        ("drain windsor/3", windsor, ChurnAct::Drain(machines(0, 3, 4))),
        ("leave windsor/3", windsor, ChurnAct::Leave(machines(0, 3, 4))),
        ("join delft/xeon", delft, ChurnAct::Join(machines(1, 0, 4))),
        ("slow delft/i7/2-3 0.5", delft, ChurnAct::Slow { machines: machines(0, 2, 4), factor: half }),
        ("slow windsor/node 1", windsor, ChurnAct::Slow { machines: machines(0, 0, 8), factor: Rate::FULL }),
    ] {
        assert_eq!(message(line), Some((site, ToSite::Churn(act))), "{line}");
    }
    for nothing in ["", "   ", "# leave delft", "#"] {
        assert_eq!(message(nothing), None);
    }
}

#[test]
fn jobs_are_cancelled_and_submitted() {
    assert_eq!(message("cancel delft 412"), Some((SiteId(0), ToSite::Cancel(JobId(412)))));
    let elastic = |change| Some((SiteId(0), ToSite::Elastic { job: JobId(412), change }));
    let minutes = Span::from_secs(600);
    assert_eq!(message("extend delft 412 time=10min"), elastic(Elastic::ExtendTime(minutes)));
    assert_eq!(message("reduce delft 412 time=10min"), elastic(Elastic::ReduceTime(minutes)));
    assert_eq!(message("extend delft 412 procs=4"), elastic(Elastic::ExtendProcs(4)));
    assert_eq!(message("reduce delft 412 procs=4"), elastic(Elastic::ReduceProcs(4)));
    let job = |line: &str| match message(line) {
        Some((SiteId(0), ToSite::Submit(job))) => *job,
        other => panic!("{line}: {other:?}"),
    };
    let plain = Job::rigid(FIRST_JOB + 7, Time::NEVER, 1, Span::from_secs(600));
    assert_eq!(job("submit delft run=10min"), plain);
    let whole =
        Job { user: 3, partition: Some(PartitionId(1)), ..plain.clone() }.estimated(Span::from_secs(1_200));
    let whole = Job { size: Size::Rigid(64), ..whole };
    assert_eq!(job("submit delft procs=64 run=10min estimate=20min user=3 class=xeon"), whole);
    assert_eq!(job("submit delft/xeon user=3 estimate=1200s run=600s procs=64"), whole);
    assert_eq!(job("submit delft procs=2 run=0").runtime, Span::ZERO);
}

#[test]
fn processors_are_reserved_and_given_up() {
    let seconds = |secs| Some(Time::from_secs(secs));
    let whole = ReservationRequest {
        name: "demo".to_owned(),
        partition: PartitionId(1),
        procs: 16,
        length: Span::from_secs(7_200),
        from: seconds(28_800),
        until: seconds(72_000),
        job: Some(JobId(412)),
    };
    let reserve = |site, wanted| Some((SiteId(site), ToSite::Book(BookAct::Reserve(Box::new(wanted)))));
    assert_eq!(
        message("reserve delft/xeon procs=16 length=2h from=8h until=20h name=demo job=412"),
        reserve(0, whole.clone())
    );
    let plain = ReservationRequest {
        name: "command-7".to_owned(),
        partition: PartitionId(0),
        procs: 8,
        from: None,
        until: None,
        job: None,
        ..whole
    };
    assert_eq!(message("reserve windsor length=2h procs=8"), reserve(1, plain));
    let release = |partition| {
        let name = "demo".to_owned();
        Some((SiteId(0), ToSite::Book(BookAct::Release { name, partition })))
    };
    assert_eq!(message("release delft demo"), release(None));
    assert_eq!(message("release delft/xeon  demo"), release(Some(PartitionId(1))));
}

#[test]
fn what_is_wrong_is_said_with_what_is_right() {
    let all = [
        "leeve delft",
        "Leave delft",
        "leave",
        "leave delf",
        "leave delft/i8",
        "leave delft/i7/0-16",
        "leave delft/0-3",
        "leave delft now",
        "slow delft 0.5",
        "slow windsor/node",
        "slow windsor/node half",
        "slow windsor/node 0",
        "slow windsor/node 0.5 0.5",
        "cancel delft",
        "cancel delft/i7 3",
        "cancel delft job3",
        "cancel delft 3 4",
        "submit delft",
        "extend delft 412",
        "extend delft 412 10min",
        "reduce delft 412 procs=-1",
        "reduce delft/i7 412 procs=1",
        "extend delft job time=10min",
        "submit delft procs=4",
        "submit delft procs=4 run=10",
        "submit delft procs=4 run=10 min",
        "submit delft procs=four run=10min",
        "submit delft procs=0 run=10min",
        "submit delft procs=65 run=10min",
        "submit windsor/node procs=9 run=10min",
        "submit delft run=10min run=20min",
        "submit delft run=10min usr=3",
        "submit delft run=10min user=me",
        "submit delft run=-1s",
        "submit delft run=10min class=i8",
        "submit delft run=10min class=i7/0-3",
        "submit delft/i7 run=10min class=xeon",
        "reserve windsor",
        "reserve windsor procs=4",
        "reserve windsor procs=9 length=2h",
        "reserve windsor procs=0 length=2h",
        "reserve windsor procs=4 length=0",
        "reserve windsor procs=4 length=2h from=8h until=9h",
        "reserve windsor procs=4 length=2h until=1h",
        "reserve windsor procs=4 length=2h name=grid-4",
        "reserve windsor procs=4 length=2h nmae=demo",
        "reserve windsor/0-3 procs=4 length=2h",
        "reserve delft procs=4 length=2h",
        "release windsor",
        "release windsor/0-3 demo",
        "reserve windsor procs=4 length=2h name=",
    ];
    let told: Vec<String> = all.iter().map(|line| format!("{line}\n    {}", refused(line))).collect();
    insta::assert_snapshot!(told.join("\n"));
}
