//! Whole logs, written and read back, and logs with errors.

use std::io::Cursor;

use proptest::prelude::*;

use super::{Commands, Writer, write_header};
use crate::formats::swf::{Heading, SwfOptions, SwfSource};
use crate::model::{Elastic, ElasticCommand, Job};
use crate::units::{Span, Time};
use crate::workload::cwf::{Cwf, CwfSpec};
use crate::workload::{Source, SourceError};

fn options() -> SwfOptions {
    SwfOptions { name: "test.cwf".to_owned(), cwf: true, ..SwfOptions::default() }
}

fn input(text: &[u8]) -> Box<Cursor<Vec<u8>>> {
    Box::new(Cursor::new(text.to_vec()))
}

/// Opens a log as a file is read: once for the commands and once for the jobs.
fn open(text: &[u8], options: SwfOptions) -> Result<SwfSource, SourceError> {
    let commands = SwfSource::gather_commands(input(text), options.clone())?;
    Ok(SwfSource::open(input(text), options)?.with_commands(commands))
}

fn drain(source: &mut dyn Source) -> Vec<Job> {
    let mut jobs = Vec::new();
    while let Some(time) = source.peek_time().unwrap() {
        let job = source.next_job().unwrap().unwrap();
        assert_eq!(job.submit, time);
        jobs.push(job);
    }
    jobs
}

fn read(text: &str) -> (Vec<Job>, Vec<String>) {
    let mut source = open(text.as_bytes(), options()).unwrap();
    (drain(&mut source), source.notes())
}

fn written(jobs: &[Job]) -> Vec<u8> {
    let (mut out, mut writer) = (Vec::new(), Writer::default());
    write_header(&mut out, &Heading { max_procs: Some(320), ..Heading::default() });
    jobs.iter().for_each(|job| writer.write_job(&mut out, job));
    writer.finish(&mut out);
    out
}

/// The row of job `number`, on 4 processors for 60 s, followed by `behind` after column 18.
fn row(number: i64, submit: i64, behind: &str) -> String {
    format!("{number} {submit} -1 60 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1 {behind}\n")
}

fn command(number: i64, at: i64, behind: &str) -> String {
    format!("{number} {at} -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 {behind}\n")
}

#[test]
fn a_log_by_hand_is_spelled_as_the_format_has_it() {
    let at = Time::from_secs;
    let mut first = Job::rigid(1, at(0), 4, Span::from_secs(60));
    first.requested_start = Some(at(30));
    first.elastic = Some(
        [
            ElasticCommand { at: at(5), change: Elastic::ExtendTime(Span::from_secs(20)) },
            ElasticCommand { at: at(10), change: Elastic::ReduceProcs(2) },
        ]
        .into(),
    );
    let second = Job::rigid(2, at(10), 8, Span::from_micros(1_500_000));
    let text = String::from_utf8(written(&[first, second])).unwrap();
    let rows: Vec<_> = text.lines().filter(|line| !line.starts_with(';')).collect();
    assert_eq!(
        rows,
        [
            "1 0 -1 60 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1 30 S -1",
            "1 5 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 ET 20",
            "2 10 -1 1.5 8 -1 -1 8 1.5 -1 1 -1 -1 -1 -1 -1 -1 -1 -1 S -1",
            "1 10 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 RP 2",
        ]
    );
}

/// Jobs that the format can express: in order of submission, numbered, commands in order of time and not before the
/// submission.
fn any_jobs() -> impl Strategy<Value = Vec<Job>> {
    let micros = 0..200_000_000_u64;
    let change = (micros.clone(), 0..4_u32).prop_map(|(by, kind)| match kind {
        0 => Elastic::ExtendTime(Span::from_micros(by)),
        1 => Elastic::ReduceTime(Span::from_micros(by)),
        2 => Elastic::ExtendProcs(by as u32),
        _ => Elastic::ReduceProcs(by as u32),
    });
    let commands = prop::collection::vec((prop_oneof![Just(0), micros.clone()], change), 0..4);
    let job = (0..3_000_000_u64, 1..400_u32, 1..90_000_000_u64, prop::option::of(micros), commands);
    prop::collection::vec(job, 1..60).prop_map(|rows| {
        let mut submit = Time::ZERO;
        let mut jobs = Vec::new();
        for (number, (gap, procs, run, lead, mut commands)) in (1..).zip(rows) {
            submit += Span::from_micros(gap / 2_000_000 * gap);
            let mut job = Job::rigid(number, submit, procs, Span::from_micros(run));
            job.requested_start = lead.map(|lead| submit + Span::from_micros(lead));
            commands.sort_by_key(|(after, _)| *after);
            let at = |after: u64| submit + Span::from_micros(after);
            let elastic =
                commands.into_iter().map(|(after, change)| ElasticCommand { at: at(after), change });
            let elastic: Vec<_> = elastic.collect();
            job.elastic = (!elastic.is_empty()).then(|| elastic.into());
            jobs.push(job);
        }
        jobs
    })
}

proptest! {
    #[test]
    fn a_log_is_read_as_it_was_written(jobs in any_jobs(), place in 0_usize..60) {
        let text = written(&jobs);
        let mut source = open(&text, options()).unwrap();
        prop_assert_eq!(drain(&mut source), &jobs[..]);
        prop_assert_eq!(source.notes(), Vec::<String>::new());
        // An input that can be read only once gives the same jobs.
        let once = SwfSource::open(input(&text), SwfOptions { once: true, ..options() }).unwrap();
        let mut whole = once.into_jobs().unwrap();
        prop_assert_eq!(drain(&mut whole), &jobs[..]);
        prop_assert!(whole.mark().is_none());
        // So does a source that continues from a mark.
        let mut straight = open(&text, options()).unwrap();
        for _ in 0..place {
            straight.next_job().unwrap();
        }
        let mark = straight.mark().unwrap();
        let mut resumed = open(&text, options()).unwrap();
        resumed.seek(&mark).unwrap();
        prop_assert_eq!(drain(&mut resumed), &jobs[place.min(jobs.len())..]);
    }
}

#[test]
fn generated_jobs_are_read_back() {
    let spec: CwfSpec = "cwf[jobs=400,load=0.9,pd=0.5,pe=0.3,pr=0.3,seed=3]".parse().unwrap();
    let jobs = drain(&mut Cwf::new(spec, 1, "").unwrap());
    let text = written(&jobs);
    let mut source = open(&text, SwfOptions { cwf: false, ..options() }).unwrap();
    assert!(source.is_cwf(), "its first row tells");
    assert_eq!((drain(&mut source), source.notes()), (jobs, vec![]));
    let text = String::from_utf8(text).unwrap();
    let times = text.lines().filter(|line| !line.starts_with(';'));
    let times = times.map(|line| line.split(' ').nth(1).unwrap().parse::<f64>().unwrap());
    assert!(times.is_sorted(), "rows stand in order of time");
}

#[test]
fn mistakes_are_counted_and_told_once() {
    let text = [
        "; MaxProcs: 8\n".to_owned(),
        command(1, 0, "-1 ET 5"),  // Line 2: before its job.
        row(1, 10, "-1 S -1"),     // Line 3.
        row(2, 20, "-1"),          // Line 4: 19 columns.
        row(3, 20, "-1 S"),        // Line 5: 20 columns.
        row(4, 20, ""),            // Line 6: a batch job.
        row(5, 20, "5 S -1"),      // Line 7: a start before the submission.
        command(1, 30, "-1 XT 5"), // Line 8: an unknown type.
        command(1, 30, "-1 ET -5"),
        command(1, 30, "-1 EP half"),
        command(9, 40, "-1 ET 5"), // Line 11: no such job.
        command(3, 40, "-1 ET 5"), // Line 12: of a job that was skipped.
        command(-1, 40, "-1 ET 5"),
        command(4, -1, "-1 RT 5"), // Line 14: without a time.
        command(4, 15, "-1 RT 5"), // Line 15: before the submission.
        command(4, 90, "-1 RP 1"),
        command(4, 50, "-1 EP 2"),
        row(6, 95, "120 S -1"),
        command(1, 100, "-1 RP -5"), // Line 19.
        command(1, 100, "-1 ET nan"),
        command(1, 100, "-1 ET 1e300"),
        command(1, 100, "-1 RT 99999999999999999999"),
        command(1, 100, "-1 EP 1.5 7"),
        row(7, 100, "nan S -1"), // Line 24.
        row(7, 100, "inf S -1"),
        row(7, 100, "-1 S -1 4"), // Line 26: 22 columns.
        command(7, 101, "-1 EP 99999999999"),
    ];
    let (jobs, notes) = read(&text.concat());
    assert_eq!(
        notes,
        [
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 4: 19 columns instead of 18 or 21)",
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 5: 20 columns instead of 18 or 21)",
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 8: column 20 is none of S, ET, RT, EP and RP)",
            "skipped 8 rows whose columns 19 to 21 cannot be read (first at line 9: column 21 is not an amount of 0 or more (seconds for ET and RT, whole processors for EP and RP))",
            "skipped 2 rows whose columns 19 to 21 cannot be read (first at line 24: column 19 is not a number)",
            "skipped 4 commands to a job without an earlier row (first at line 2)",
            "skipped 1 command without a time (first at line 14)",
            "moved 1 command to the submission of the job: its time is before it (first at line 15)",
            "moved the requested start of 1 job to the submission: that is before it (first at line 7)",
            "ignored columns after 21 of 1 row (first at line 26)",
        ]
    );
    let at = Time::from_secs;
    assert_eq!(jobs.iter().map(|job| job.id.0).collect::<Vec<_>>(), [1, 4, 5, 6, 7]);
    assert_eq!(
        jobs.iter().map(|job| job.requested_start).collect::<Vec<_>>(),
        [None, None, Some(at(20)), Some(at(120)), None]
    );
    let commands: Vec<_> =
        jobs.iter().map(|job| job.elastic.as_deref().unwrap_or_default().to_vec()).collect();
    let expected = [
        ElasticCommand { at: at(20), change: Elastic::ReduceTime(Span::from_secs(5)) },
        ElasticCommand { at: at(50), change: Elastic::ExtendProcs(2) },
        ElasticCommand { at: at(90), change: Elastic::ReduceProcs(1) },
    ];
    assert_eq!(commands, [vec![], expected.to_vec(), vec![], vec![], vec![]]);
}

#[test]
fn other_logs_of_many_columns_are_swf() {
    // Alea's logs have 21 columns of numbers.
    let text = [row(1, 0, "3 4 5"), row(2, 5, "3"), row(3, 9, "")].concat();
    let mut source = open(text.as_bytes(), SwfOptions { cwf: false, ..options() }).unwrap();
    assert!(!source.is_cwf());
    assert_eq!((drain(&mut source).len(), source.notes()), (3, vec![]));
}

#[test]
fn a_log_that_becomes_another_is_refused_with_what_to_do() {
    let text = [row(1, 0, ""), row(2, 5, "-1 S -1")].concat();
    let plain = SwfOptions { cwf: false, ..options() };
    let mut source = SwfSource::open(input(text.as_bytes()), plain).unwrap();
    assert!(source.next_job().unwrap().is_some(), "what stands before is given");
    let error = source.next_job().unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    assert!(error.hint().unwrap().contains("`.cwf`"));
    // With the option for the format, the file is valid.
    assert_eq!(read(&text).0.len(), 2);
}

#[test]
fn commands_that_nobody_gathered_are_told() {
    let text = [row(1, 0, "-1 S -1"), command(1, 5, "-1 ET 5"), command(1, 6, "-1 ET 5")].concat();
    let mut source = SwfSource::open(input(text.as_bytes()), options()).unwrap();
    assert!(drain(&mut source)[0].elastic.is_none());
    let told = ["left out 2 commands: they were not gathered beforehand (first at line 2)"];
    assert_eq!(source.notes(), told);
    assert_eq!(SwfSource::gather_commands(input(text.as_bytes()), options()).unwrap().count(), 2);
}

#[test]
fn a_mark_is_of_the_commands_too() {
    let with = |amount: &str| {
        [row(1, 0, "9 S -1"), row(2, 3, "-1 S -1"), command(1, 50, &format!("-1 ET {amount}"))].concat()
    };
    let mut first = open(with("5").as_bytes(), options()).unwrap();
    first.next_job().unwrap();
    let mark = first.mark().unwrap();
    assert!(open(with("5").as_bytes(), options()).unwrap().seek(&mark).is_ok());
    assert!(open(with("6").as_bytes(), options()).unwrap().seek(&mark).is_err());
}

/// Any rows: jobs and commands in any order, with valid and invalid last columns.
fn any_log() -> impl Strategy<Value = String> {
    let behind = prop::sample::select(vec![
        "",
        "-1",
        "-1 S",
        "-1 S -1",
        "40 S -1",
        "3.5 S 9",
        "x S -1",
        "-1 ET 5",
        "-1 RT 900",
        "-1 EP 1",
        "-1 RP 1.5",
        "-1 ET -3",
        "-1 XX 3",
        "-1 RT",
        "é",
        "-1 S -1 more",
    ]);
    let line = (1..9_i64, -1..60_i64, behind, any::<bool>());
    let row = |(number, at, behind, job): (i64, i64, &str, bool)| {
        if job { row(number, at, behind) } else { command(number, at, behind) }
    };
    prop::collection::vec(line.prop_map(row), 1..40).prop_map(|rows| rows.concat())
}

proptest! {
    /// `fuzz/fuzz_targets/cwf.rs` checks the same for any bytes.
    #[test]
    fn whatever_is_read_is_legal_and_read_alike_by_all_ways(text in any_log(), place in 0_usize..40) {
        let Ok(mut source) = open(text.as_bytes(), options()) else { return Ok(()) };
        let jobs = drain(&mut source);
        for job in &jobs {
            let commands = job.elastic.as_deref().unwrap_or_default();
            prop_assert!(job.check().is_ok() && job.requested_start.is_none_or(|start| start >= job.submit));
            prop_assert!(commands.is_sorted_by_key(|command| command.at));
            prop_assert!(commands.first().is_none_or(|command| command.at >= job.submit));
        }
        let once = SwfSource::open(input(text.as_bytes()), SwfOptions { once: true, ..options() }).unwrap();
        let mut whole = once.into_jobs().unwrap();
        prop_assert_eq!(drain(&mut whole), &jobs[..]);
        prop_assert_eq!(whole.notes(), source.notes());
        let mut straight = open(text.as_bytes(), options()).unwrap();
        (0..place).for_each(|_| drop(straight.next_job()));
        let mut resumed = open(text.as_bytes(), options()).unwrap();
        resumed.seek(&straight.mark().unwrap()).unwrap();
        prop_assert_eq!(drain(&mut resumed), &jobs[place.min(jobs.len())..]);
        prop_assert_eq!(resumed.notes(), source.notes());
    }
}

/// What a log keeps besides its window: nothing without commands, otherwise the commands of jobs that are still to
/// come.
#[test]
fn commands_are_let_go_with_their_jobs() {
    let mut commands = Commands::default();
    let by = Elastic::ExtendProcs(1);
    commands.add(7, Time::from_secs(9), by, 3);
    commands.add(7, Time::from_secs(2), by, 4);
    commands.add(8, Time::from_secs(1), by, 5);
    let mut early = Vec::new();
    let taken = commands.take(7, Time::from_secs(5), |line| early.push(line)).unwrap();
    assert_eq!(taken.iter().map(|command| command.at).collect::<Vec<_>>(), [5, 9].map(Time::from_secs));
    assert_eq!((early, commands.count(), commands.is_empty()), (vec![4], 1, false));
    assert!(commands.take(7, Time::ZERO, |_| {}).is_none());
}
