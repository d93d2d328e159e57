//! The files of a run, read back by an independent CSV reader.

use std::fs;

use insta::assert_snapshot;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::metrics::tests::samples::{
    any_event, any_job, any_segment, happened, job, machines, rejected, segment,
};
use crate::metrics::{Ages, Definitions, Fingerprint, GridFacts, GridMeasures, GridSummary, Summary, Window};
use crate::model::{
    EventCause, EventKind, EventRecord, FrontPoint, FrontRecord, GroupRecord, GroupedJob, JobClasses, JobId,
    JobKind, JobRecord, MachineRecord, MachineState, Objective, Origin, Outcome, PartitionId, PartitionSpec,
    ProcSet, Record, RejectReason, SegmentRecord, SiteId, SiteSpec, SliceClass, SliceRecord, TaskRecord,
    TransferOutcome, TransferRecord, WorkflowBounds, WorkflowId, WorkflowRecord,
};
use crate::output::{OutputDir, OutputOptions, RunFolder, rows};
use crate::platform::Usage;
use crate::units::{Bytes, Energy, Money, Power, Rate, Span, Time};

pub(super) fn sites() -> Vec<SiteSpec> {
    let mut first = SiteSpec::plain("kth", 100, "easy".parse().unwrap());
    first.partitions[0].groups[0].busy = Power::from_milliwatts(10_000);
    let mut second = SiteSpec::plain("delft, \"i7\"", 8, "fcfs".parse().unwrap());
    second.partitions.push(PartitionSpec { name: "fat".to_owned(), ..PartitionSpec::plain(64) });
    vec![first, second]
}

const OBJECTIVES: [Objective; 2] = [
    Objective { name: "makespan", unit: "s", column: "makespan_s" },
    Objective { name: "lateness", unit: "", column: "lateness" },
];

/// Options that write every file.
pub(super) fn everything() -> OutputOptions {
    OutputOptions {
        segments: true,
        machines: true,
        events: true,
        workflows: true,
        fronts: &OBJECTIVES,
        coallocations: true,
        slices: true,
        groups: true,
        scenario: Some("seed = 7\n".to_owned()),
        batsim: Some("w".to_owned()),
    }
}

/// A job of the grid whose first attempt fails, which restarts elsewhere and is given up there; written by hand.
pub(super) fn events() -> Vec<Record> {
    let first = JobRecord { origin: Origin::Grid, ..job(5, 40, 0, 10, 4) };
    let second = JobRecord { site: SiteId(1), partition: PartitionId(1), ..first.clone() };
    let lost = 4 * Usage::PROC_SECOND / 3;
    let left = machines(EventKind::Left, 50, 3);
    let back = EventRecord { wasted: lost, ..happened(EventKind::Returned, &first) };
    let again = EventRecord {
        cause: EventCause::None,
        site: SiteId::GRID,
        partition: None,
        since_failure: Some(Span::from_micros(1_500_000)),
        command: None,
        ..happened(EventKind::Reassigned, &first)
    };
    let refused = EventRecord {
        cause: EventCause::Refused(RejectReason::TooLarge),
        ..happened(EventKind::Refused, &second)
    };
    let ended = JobRecord { site: SiteId::GRID, attempts: 2, outcome: Outcome::Failed, ..first.clone() };
    vec![
        Record::Segment(segment(&first, ProcSet::range(8, 12))),
        Record::Event(left),
        Record::Event(back),
        Record::Event(again),
        Record::Segment(SegmentRecord { attempt: 2, ..segment(&second, ProcSet::full(4)) }),
        Record::Event(refused),
        Record::Event(EventRecord {
            procs: 64,
            machines: ProcSet::full(64),
            ..machines(EventKind::Joined, 55, 0)
        }),
        Record::Job(ended),
    ]
}

#[test]
fn the_files_of_a_grid_by_hand() {
    let folder = write(&events(), &everything());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_snapshot!(read("events.csv"), @r#"
    time,event,cause,site,partition,machines,procs,job,origin,attempt,wasted_proc_s,since_failure_s,command
    50,left,chance,kth,default,0-2,12,,,,,,
    50,returned,machine-left,kth,default,,4,5,grid,1,1.333333,,
    50,reassigned,,grid,,,4,5,grid,1,0,1.5,
    50,refused,needs more processors than the partition has,"delft, ""i7""",fat,,4,5,grid,1,0,,
    55,joined,chance,kth,default,0-63,64,,,,,,
    "#);
    assert_snapshot!(read("jobs.csv"), @r#"
    job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin,requested_start,dynamic_j
    5,40,40,50,4,grid,failed,4,10,10,0,10,,7,all,2,0,0,,,grid,,0
    "#);
    assert_snapshot!(read("segments.csv"), @r#"
    job,attempt,site,partition,procs,from,to,rate,share,cause,energy_j,cost,processors,origin,dynamic_j
    5,1,kth,default,4,40,50,1,1,run,0,0,8-11,grid,0
    5,2,"delft, ""i7""",fat,4,40,50,1,1,run,0,0,0-3,grid,0
    "#);
    assert_eq!(read("scenario.toml"), "seed = 7\n");
    let batsim = read("batsim/out_jobs.csv");
    assert!(batsim.contains(",108-111,"), "of the last attempt, at the other site: {batsim}");
}

/// A workflow of which a task is killed, and the other cancelled; written by hand.
pub(super) fn workflow() -> Vec<Record> {
    let first = TaskRecord {
        workflow: WorkflowId(3),
        name: "mProject, 1".to_owned(),
        kind: "mProject".to_owned(),
        job: JobId(17),
        site: SiteId(0),
        partition: PartitionId(0),
        after: None,
        ready: Some(Time::from_secs(5)),
        decided: Some(Time::from_secs(5)),
        sent: Some(Time::from_secs(5)),
        queued: Some(Time::from_micros(5_250_000)),
        start: Some(Time::from_micros(6_500_000)),
        last_start: Some(Time::from_secs(8)),
        end: Time::from_secs(9),
        known: Time::from_secs(10),
        outcome: Outcome::Killed,
        attempts: 2,
    };
    let second = TaskRecord {
        name: "mAdd".to_owned(),
        kind: "mAdd".to_owned(),
        job: JobId(18),
        site: SiteId::GRID,
        ready: None,
        decided: None,
        sent: None,
        queued: None,
        start: None,
        last_start: None,
        end: Time::from_secs(10),
        outcome: Outcome::Cancelled,
        attempts: 0,
        ..first.clone()
    };
    let whole = WorkflowRecord {
        workflow: WorkflowId(3),
        name: "montage".to_owned(),
        submit: Time::from_secs(4),
        end: Time::from_secs(10),
        outcome: Outcome::Failed,
        tasks: 2,
        completed: 0,
        attempts: 2,
        critical_path: Span::from_micros(3_250_000),
        bounds: WorkflowBounds {
            fastest_path: Span::from_secs(3),
            work: Span::from_secs(4),
            alone: Span::from_secs(3),
        },
        peak: 2,
        last: Some(JobId(17)),
        parts: first.parts(),
        moved: Bytes::new(1_500_000),
        energy: Energy::from_nanojoules(90_500_000_000),
        cost: Money::from_nanos(250_000_000),
        limits: None,
    };
    let copy = TransferRecord {
        workflow: WorkflowId(3),
        file: "2mass, 1.fits".to_owned(),
        bytes: Bytes::new(1_500_000),
        from: SiteId::GRID,
        to: SiteId(0),
        job: JobId(17),
        asked: Time::from_secs(5),
        began: Some(Time::from_secs(5)),
        end: Time::from_micros(6_250_000),
        outcome: TransferOutcome::Arrived,
    };
    vec![Record::Transfer(copy), Record::Task(first), Record::Task(second), Record::Workflow(whole)]
}

#[test]
fn the_files_of_a_workflow_by_hand() {
    let folder = write(&workflow(), &everything());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_snapshot!(read("tasks.csv"), @r#"
    workflow,task,type,job,site,partition,after,ready,decided,sent,queued,started,last_start,ended,known,outcome,attempts,run,data,dispatch,queue,lost
    3,"mProject, 1",mProject,17,kth,default,,5,5,5,5.25,6.5,8,9,10,killed,2,0,0,1.25,1.25,2.5
    3,mAdd,mAdd,18,grid,,,,,,,,,10,10,cancelled,0,,,,,
    "#);
    assert_snapshot!(read("workflows.csv"), @"
    workflow,name,submitted,ended,makespan,critical_path,outcome,tasks,completed,attempts,fastest_path,work,alone,peak_procs,slr,slowdown,speedup,efficiency,last,run,data,dispatch,queue,lost,moved_bytes,energy_j,cost
    3,montage,4,10,6,3.25,failed,2,0,2,3,4,3,2,,,,,17,0,0,1.25,1.25,2.5,1500000,90.5,0.25
    ");
    assert_snapshot!(read("transfers.csv"), @r#"
    workflow,file,bytes,from,to,job,asked,began,ended,outcome
    3,"2mass, 1.fits",1500000,portal,kth,17,5,5,6.25,arrived
    "#);
}

/// The fronts of two plannings, written by hand.
pub(super) fn fronts() -> Vec<Record> {
    let point = |value, makespan, lateness| FrontPoint { value, objectives: vec![makespan, lateness] };
    let first = FrontRecord {
        at: Time::from_micros(1_500_000),
        planning: 1,
        tasks: 3,
        evaluations: 36,
        points: vec![point(1.5, 90.25, 0.1 + 0.2), point(2.0, 80.0, 1e-7)],
        reference: vec![100.0, 1.0],
    };
    let second = FrontRecord { at: Time::from_secs(600), planning: 2, ..first.clone() };
    vec![Record::Front(Box::new(first)), Record::Front(Box::new(second))]
}

#[test]
fn the_file_of_fronts_by_hand() {
    let folder = write(&fronts(), &everything());
    assert_snapshot!(fs::read_to_string(folder.path().join("fronts.csv")).unwrap(), @"
    planning,at,tasks,evaluations,point,chosen,value,makespan_s,lateness
    1,1.5,3,36,1,yes,1.5,90.25,0.30000000000000004
    1,1.5,3,36,2,,2,80,0.0000001
    2,600,3,36,1,yes,1.5,90.25,0.30000000000000004
    2,600,3,36,2,,2,80,0.0000001
    ");
    // Without objectives there is no such file, and an old one goes.
    let options = OutputOptions { fronts: &[], ..everything() };
    let mut out = OutputDir::create(folder.path(), &sites(), Definitions::default(), &options).unwrap();
    out.write(&fronts()).unwrap();
    assert!(!folder.path().join("fronts.csv").exists() && !out.tables().contains(&"fronts.csv"));
}

/// Two slices and a group, written by hand.
pub(super) fn sliced() -> Vec<Record> {
    let (site, partition) = (SiteId(0), PartitionId(0));
    let slice = |time, class, runs_from, until| {
        let [time, runs_from, until] = [time, runs_from, until].map(Time::from_secs);
        Record::Slice(SliceRecord { time, site, partition, class, runs_from, until })
    };
    let planned = |job, origin, start, end| GroupedJob {
        job: JobId(job),
        origin,
        start: Time::from_secs(start),
        end: Time::from_secs(end),
    };
    let group = GroupRecord {
        time: Time::from_secs(660),
        site,
        partition,
        class: SliceClass::Medium,
        formed: Time::from_secs(660),
        ready: Time::from_micros(660_500_000),
        until: Time::from_secs(3_000),
        jobs: vec![planned(7, Origin::Local, 660, 1_000), planned(5, Origin::Grid, 1_000, 1_250)],
    };
    vec![
        slice(0, SliceClass::Long, 0, 600),
        slice(600, SliceClass::Medium, 660, 1_200),
        Record::Group(Box::new(group)),
    ]
}

#[test]
fn the_files_of_slices_and_groups_by_hand() {
    let folder = write(&sliced(), &everything());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_snapshot!(read("slices.csv"), @"
    time,site,partition,class,runs_from,until
    0,kth,default,long,0,600
    600,kth,default,medium,660,1200
    ");
    assert_snapshot!(read("groups.csv"), @"
    time,site,partition,class,formed,ready,until,job,origin,start,end
    660,kth,default,medium,660,660.5,3000,7,local,660,1000
    660,kth,default,medium,660,660.5,3000,5,grid,1000,1250
    ");
}

/// Four jobs, written by hand.
pub(super) fn records() -> Vec<Record> {
    let mut priced = job(1, 0, 5, 10, 4);
    priced.energy = Energy::from_nanojoules(400_500_000_000);
    priced.cost = Money::from_nanos(1_250_000_000);
    let mut killed = job(2, 10, 90, 3, 12);
    killed.outcome = Outcome::Killed;
    killed.estimate = Span::from_micros(3_500_000);
    let down = JobRecord { site: SiteId(1), partition: PartitionId(1), attempts: 2, ..job(3, 20, 0, 0, 1) };
    let odd: ProcSet = [0, 1, 2, 3, 7, 9, 10, 11, 12].into_iter().collect();
    vec![
        Record::Machine(MachineRecord {
            time: Time::from_micros(5_500_000),
            site: SiteId(0),
            partition: PartitionId(0),
            procs: ProcSet::range(0, 4),
            state: MachineState::Busy,
        }),
        Record::Segment(segment(&priced, ProcSet::full(4))),
        Record::Job(priced),
        Record::Segment(SegmentRecord { rate: Rate::ratio(1, 2), ..segment(&killed, odd) }),
        Record::Job(killed),
        Record::Segment(SegmentRecord { attempt: 1, ..segment(&down, ProcSet::range(1, 2)) }),
        Record::Segment(SegmentRecord { attempt: 2, ..segment(&down, ProcSet::range(5, 6)) }),
        Record::Job(down),
        Record::Job(rejected(4, 30, 101)),
    ]
}

pub(super) fn write(records: &[Record], options: &OutputOptions) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut out = OutputDir::create(folder.path(), &sites(), Definitions::default(), options).unwrap();
    out.write(records).unwrap();
    let measures = GridMeasures::new(Definitions::default(), Window::ALL, &sites());
    let facts = GridFacts::default();
    let summary = GridSummary::new(facts, None, &measures, &[], &Ages::default(), Fingerprint::new());
    out.finish(&summary).unwrap();
    folder
}

#[test]
fn every_file_by_hand() {
    let options =
        OutputOptions { machines: true, batsim: Some("kth,sp2".to_owned()), ..OutputOptions::default() };
    let folder = write(&records(), &options);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_snapshot!(read("jobs.csv"), @r#"
    job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin,requested_start,dynamic_j
    1,0,5,15,4,kth,completed,4,10,10,5,15,1.5,7,all,1,400.5,1.25,,default,local,,0
    2,10,100,103,12,kth,killed,12,3,3.5,90,93,9.3,7,all,1,0,0,,default,local,,0
    3,20,20,20,1,"delft, ""i7""",completed,1,0,0,0,0,1,7,all,2,0,0,,fat,local,,0
    4,30,,30,0,kth,rejected,101,100,100,,,,7,all,0,0,0,needs more processors than the partition has,default,local,,0
    "#);
    assert_snapshot!(read("segments.csv"), @r#"
    job,attempt,site,partition,procs,from,to,rate,share,cause,energy_j,cost,processors,origin,dynamic_j
    1,1,kth,default,4,5,15,1,1,run,400.5,1.25,0-3,local,0
    2,1,kth,default,9,100,103,0.5,1,run,0,0,0-3 7 9-12,local,0
    3,1,"delft, ""i7""",fat,1,20,20,1,1,run,0,0,1,local,0
    3,2,"delft, ""i7""",fat,1,20,20,1,1,run,0,0,5,local,0
    "#);
    assert_snapshot!(read("machines.csv"), @r"
    time,site,partition,state,processors
    5.5,kth,default,busy,0-3
    ");
    assert_snapshot!(read("batsim/out_jobs.csv"), @r#"
    job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,consumed_energy,metadata
    1,"kth,sp2",1,0.000000,4,10.000000,1,COMPLETED_SUCCESSFULLY,5.000000,10.000000,15.000000,5.000000,15.000000,1.500000,0-3,400.500000,""
    2,"kth,sp2",2,10.000000,12,3.500000,0,COMPLETED_WALLTIME_REACHED,100.000000,3.000000,103.000000,90.000000,93.000000,31.000000,0-3 7 9-12,0.000000,""
    3,"kth,sp2",3,20.000000,1,0.000000,1,COMPLETED_SUCCESSFULLY,20.000000,0.000000,20.000000,0.000000,0.000000,0.000000,113,0.000000,""
    4,"kth,sp2",4,30.000000,101,100.000000,0,REJECTED,,,,,,,,0.000000,""
    "#);
    let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(summary["jobs"], 0);
    assert!(!folder.path().join("summary.json.part").exists());
}

#[test]
fn without_power_the_energy_is_minus_one() {
    let folder = tempfile::tempdir().unwrap();
    let plain = [SiteSpec::plain("kth", 100, "easy".parse().unwrap())];
    let options = OutputOptions { batsim: Some("w0".to_owned()), ..OutputOptions::default() };
    let mut out = OutputDir::create(folder.path(), &plain, Definitions::default(), &options).unwrap();
    out.write(&[Record::Job(job(1, 0, 5, 10, 4))]).unwrap();
    out.flush().unwrap();
    let text = fs::read_to_string(folder.path().join("batsim/out_jobs.csv")).unwrap();
    assert!(text.ends_with(",-1.000000,\"\"\n"), "{text}");
}

fn seconds(cell: &str) -> u64 {
    let (whole, fraction) = cell.split_once('.').unwrap_or((cell, "0"));
    whole.parse::<u64>().unwrap() * 1_000_000 + format!("{fraction:0<6}").parse::<u64>().unwrap()
}

/// The rows of `jobs.csv`, by column name.
fn jobs(text: &str) -> Vec<std::collections::BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn jobs_read_back_and_give_the_same_means(records in prop::collection::vec(any_job(), 1..50)) {
        let mut summary = Summary::new(Definitions::default());
        records.iter().for_each(|record| summary.add(record));
        let whole = summary.whole();
        let as_records: Vec<_> = records.iter().cloned().map(Record::Job).collect();
        let folder = write(&as_records, &OutputOptions::default());
        let rows = jobs(&fs::read_to_string(folder.path().join("jobs.csv")).unwrap());
        prop_assert_eq!(rows.len(), records.len());
        for (row, record) in rows.iter().zip(&records) {
            prop_assert_eq!(&row["job"], &record.id.to_string());
            prop_assert_eq!(seconds(&row["submit"]), record.submit.micros());
            prop_assert_eq!(seconds(&row["end"]), record.end.micros());
            prop_assert_eq!((!row["start"].is_empty()).then(|| seconds(&row["start"])), record.start.map(|t| t.micros()));
            prop_assert_eq!(&row["procs"], &record.procs.to_string());
            prop_assert_eq!(&row["outcome"], record.outcome.name());
            prop_assert_eq!(seconds(&row["run"]), record.run.micros());
            prop_assert_eq!(row["reason"].is_empty(), !matches!(record.outcome, Outcome::Rejected(_)));
        }
        let measured: Vec<_> =
            rows.iter().filter(|row| ["completed", "killed"].contains(&row["outcome"].as_str())).collect();
        prop_assert_eq!(measured.len() as u64, whole.measured);
        if let (Some(wait), Some(slowdown)) = (whole.mean_wait, whole.mean_bounded_slowdown) {
            let count = measured.len() as f64;
            let waits: u128 = measured.iter().map(|row| u128::from(seconds(&row["wait"]))).sum();
            prop_assert_eq!(waits as f64 / (count * 1e6), wait);
            let slowdowns: f64 = measured.iter().map(|row| row["bsld"].parse::<f64>().unwrap()).sum();
            prop_assert!((slowdowns / count - slowdown).abs() <= 1e-9 * slowdown);
        }
    }

    #[test]
    fn segments_read_back(segments in prop::collection::vec(any_segment(), 1..30)) {
        let records: Vec<_> = segments.iter().cloned().map(Record::Segment).collect();
        let folder = write(&records, &OutputOptions::default());
        let rows = jobs(&fs::read_to_string(folder.path().join("segments.csv")).unwrap());
        prop_assert_eq!(rows.len(), segments.len());
        for (row, segment) in rows.iter().zip(&segments) {
            let nanos = |cell: &str| {
                let (whole, fraction) = cell.split_once('.').unwrap_or((cell, "0"));
                whole.parse::<u128>().unwrap() * 1_000_000_000 + format!("{fraction:0<9}").parse::<u128>().unwrap()
            };
            let rate = |cell: &str| Rate::from_f64(cell.parse().unwrap()).unwrap();
            prop_assert_eq!(seconds(&row["from"]), segment.from.micros());
            prop_assert_eq!(seconds(&row["to"]), segment.to.micros());
            prop_assert_eq!(rate(&row["rate"]), segment.rate, "to the last digit");
            prop_assert_eq!(rate(&row["share"]), segment.share);
            prop_assert_eq!(nanos(&row["energy_j"]), segment.energy.nanojoules());
            prop_assert_eq!(nanos(row["cost"].trim_start_matches('-')), segment.cost.nanos().unsigned_abs());
            prop_assert_eq!(&row["procs"], &segment.procs.len().to_string());
            let procs = row["processors"].split_whitespace().flat_map(|interval| {
                let (first, last) = interval.split_once('-').unwrap_or((interval, interval));
                first.parse::<u32>().unwrap()..=last.parse().unwrap()
            });
            prop_assert!(procs.eq(segment.procs.iter()));
        }
    }
}

#[test]
fn every_row_has_a_cell_for_every_column() {
    let reasons = any_job();
    let options = everything();
    let [mut runner, mut others] =
        std::array::from_fn(|_| proptest::test_runner::TestRunner::deterministic());
    let records: Vec<_> = (0..200)
        .map(|_| reasons.new_tree(&mut runner).unwrap().current())
        .map(Record::Job)
        .chain((0..200).map(|_| Record::Event(any_event().new_tree(&mut others).unwrap().current())))
        .chain(records())
        .chain(events())
        .collect();
    let folder = write(&records, &options);
    for name in ["jobs.csv", "segments.csv", "machines.csv", "events.csv", "batsim/out_jobs.csv"] {
        // The reader rejects rows of unequal length.
        let mut reader = csv::Reader::from_path(folder.path().join(name)).unwrap();
        assert!(reader.records().map(Result::unwrap).count() > 0, "{name}");
    }
    let labelled = Definitions::new(Definitions::TAU, "kettimuthu-16".parse::<JobClasses>().unwrap(), 100);
    let mut out = OutputDir::create(folder.path(), &sites(), labelled, &options).unwrap();
    out.write(&records).unwrap();
    out.flush().unwrap();
    let rows = jobs(&fs::read_to_string(folder.path().join("jobs.csv")).unwrap());
    assert_eq!(rows[200]["class"], "VS N");
}

/// The column is there only if jobs may be moldable or malleable.
#[test]
fn kinds_of_jobs_read_back() {
    let kinds = [JobKind::Malleable, JobKind::Rigid, JobKind::Moldable];
    let records: Vec<_> =
        (1..).zip(kinds).map(|(id, kind)| Record::Job(JobRecord { kind, ..job(id, 0, 5, 20, 4) })).collect();
    for (definitions, header, read) in [
        (Definitions::default().with_kinds(true), ",dynamic_j,kind", kinds.map(Some)),
        (Definitions::default(), ",dynamic_j", [None; 3]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut out =
            OutputDir::create(folder.path(), &sites(), definitions, &OutputOptions::default()).unwrap();
        out.write(&records).unwrap();
        out.flush().unwrap();
        drop(out);
        let text = fs::read_to_string(folder.path().join("jobs.csv")).unwrap();
        assert!(text.lines().next().unwrap().ends_with(header), "{text}");
        let rows = RunFolder::open(&folder.path().join("jobs.csv")).unwrap().jobs().unwrap();
        assert_eq!(rows.map(|row| row.unwrap().kind).collect::<Vec<_>>(), read);
    }
}

#[test]
fn the_page_of_the_files_lists_every_column_in_order() {
    let page = include_str!("../../../docs/output.md");
    let folder = write(&records(), &everything());
    for name in ["jobs.csv", "segments.csv", "machines.csv", "events.csv"] {
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        let section = page.split("\n## ").find(|section| section.starts_with(name)).unwrap();
        let listed: Vec<_> =
            section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        // The last columns of jobs are there if they may be of several kinds, and if they have limits.
        let more = if name == "jobs.csv" { rows::KIND.to_owned() + rows::LIMITS } else { String::new() };
        assert_eq!(listed.join(","), text.lines().next().unwrap().to_owned() + &more, "{name}");
    }
    let text = fs::read_to_string(folder.path().join("summary.json")).unwrap();
    let summary: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    for key in summary.keys() {
        let measure = ["wait", "response", "bounded_slowdown"].iter().find(|of| {
            ["mean", "median", "p95", "max"].iter().any(|figure| *key == format!("{figure}_{of}"))
        });
        let written = match measure {
            Some(of) => format!("`{{mean,median,p95,max}}_{of}`"),
            None => format!("`{key}`"),
        };
        assert!(page.contains(&written), "{written} is not on the page");
    }
}
