//! Whole logs, small enough to check by hand.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::*;
use crate::model::{Job, JobId, PartitionId, Predecessor};
use crate::units::{Span, Time};
use crate::workload::{Source, SourceError};

const HEADER: &str = "; Version: 2.2\n; MaxProcs: 100 (60, 40)\n;\n";

fn options() -> SwfOptions {
    SwfOptions { name: "a.swf".to_owned(), ..SwfOptions::default() }
}

fn open_bytes(bytes: Vec<u8>, options: SwfOptions) -> Result<SwfSource, SourceError> {
    SwfSource::open(Box::new(Cursor::new(bytes)), options)
}

fn open(text: &str) -> Result<SwfSource, SourceError> {
    open_bytes(text.as_bytes().to_vec(), options())
}

/// A row of `number submit run procs`, otherwise plain.
fn row(number: i64, submit: i64, run: i64, procs: i64) -> String {
    format!("{number} {submit} 3 {run} {procs} -1 -1 -1 60 -1 1 2 3 4 0 2 -1 -1\n")
}

fn jobs(source: &mut SwfSource) -> Vec<Job> {
    std::iter::from_fn(|| source.next_job().unwrap()).collect()
}

/// Number and submission in seconds of each job.
fn order(source: &mut SwfSource) -> Vec<(u64, u64)> {
    jobs(source).iter().map(|job| (job.id.0, job.submit.micros() / 1_000_000)).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_row_becomes_a_job() {
    let mut source = open(&format!("{HEADER}{}", row(5, 7, 20, 4))).unwrap();
    assert_eq!(source.peek_time(), Ok(Some(Time::from_secs(7))));
    let expected = Job {
        user: 2,
        group: 3,
        executable: 4,
        queue: 0,
        recorded_wait: Some(Span::from_secs(3)),
        grid: None,
        ..Job::rigid(5, Time::from_secs(7), 4, Span::from_secs(20)).estimated(Span::from_secs(60))
    };
    assert_eq!(source.next_job(), Ok(Some(expected)));
    assert_eq!((source.peek_time(), source.next_job()), (Ok(None), Ok(None)));
    assert_eq!((source.machine(), source.notes()), (Some(100), Vec::new()));
}

#[test]
fn packed_marked_and_dos_files_are_read_alike() {
    let rows: String = (1..50).map(|n| row(n, n, 10, 1)).collect();
    let text = format!("{HEADER}{rows}");
    let expected = jobs(&mut open(&text).unwrap());
    let mut two_members = gzip(HEADER);
    two_members.extend(gzip(&rows));
    let dos = text.replace('\n', "\r\n").into_bytes();
    let marked = format!("\u{feff}{}", text.replace("\n3 ", "\n\n; Note: in between\n  \t3\t")).into_bytes();
    for bytes in [gzip(&text), two_members, dos, marked] {
        let mut source = open_bytes(bytes, options()).unwrap();
        assert_eq!(source.header().max_procs(), Some(100));
        assert_eq!(jobs(&mut source), expected);
        assert_eq!(source.notes(), Vec::<String>::new());
    }
}

#[test]
fn a_packed_file_that_is_cut_gives_its_jobs_and_then_an_error() {
    let rows: String = (1..5_000).map(|n| row(n, n * n % 97 + 100 * n, 10 + n % 7, 1 + n % 5)).collect();
    let mut bytes = gzip(&rows);
    bytes.truncate(bytes.len() / 2);
    let mut source = open_bytes(bytes, options()).unwrap();
    let mut count = 0;
    let error = loop {
        match source.next_job() {
            Ok(Some(job)) => {
                count += 1;
                assert_eq!(job.id, JobId(count));
            }
            Ok(None) => panic!("the end was not reached, but told"),
            Err(error) => break error,
        }
    };
    assert!(count > 1_000);
    assert!(error.to_string().starts_with(&format!("`a.swf`, line {}: ", count + 1)), "{error}");
    assert_eq!(error.hint(), Some("the file is cut short; fetch it again"));
    assert_eq!(source.peek_time(), Err(error.clone()));
    assert_eq!(source.next_job(), Err(error));
}

#[test]
fn what_is_no_log_is_refused_with_a_hint() {
    let message = |bytes: &[u8]| {
        let error = open_bytes(bytes.to_vec(), options()).err().unwrap();
        format!("{error} / {}", error.hint().unwrap_or_default())
    };
    assert_eq!(message(b""), "`a.swf`: the file is empty / fetch it again");
    assert!(message(b"<!DOCTYPE html>\n<html>\n").starts_with(
        "`a.swf`: no row is a job in SWF: skipped 2 rows that are not 18 numbers (first at line 1: column 1 is not a number)"
    ));
    assert!(message(HEADER.as_bytes()).starts_with("`a.swf`: no row is a job in SWF / a row has 18 numbers"));
    assert!(message(&[0; 300_000]).contains("column 1 is not a number"));
    assert_eq!(
        message(b"BZh91AY...."),
        "`a.swf`, line 1: it is compressed with bzip2, which is not read here / unpack it, or pack it with gzip"
    );
    assert!(message(b"\x1f\x8b\x08").ends_with("cut short; fetch it again"));
    let told = message(row(1, 0, -1, 1).as_bytes());
    assert!(told.contains("no row is a job that can be run: skipped 1 job without a run time"), "{told}");
}

#[test]
fn rows_that_cannot_be_used_are_skipped_and_counted() {
    let long = "9 ".repeat(60_000);
    let text = [
        HEADER,
        &row(1, 0, 10, 1),
        "2 0 0\n",
        "3 0 0 x 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
        &row(4, 20_000_000_000, 10, 1),
        &long,
        "\n",
        &row(5, 1, 0, 1),
        &row(6, 1, 5, 0),
        &row(7, -1, 5, 1),
        &row(8, 1, 5, 1).replace("-1\n", "-1 {1,2} queue spec\n"),
    ]
    .concat();
    let mut source = open(&text).unwrap();
    assert_eq!(order(&mut source), [(1, 0), (8, 1)]);
    assert_eq!(
        source.notes(),
        [
            "skipped 4 rows that are not 18 numbers (first at line 5: 3 columns instead of 18)",
            "skipped 1 job without a submission time (first at line 11)",
            "skipped 1 job with a run time of zero (first at line 9)",
            "skipped 1 job without processors (first at line 10)",
        ]
    );
}

#[test]
fn parts_are_told_from_exit_codes_by_their_number() {
    let status = |row: String, status: &str| row.replace(" -1 1 2 ", &format!(" -1 {status} 2 "));
    let text = [
        row(1, 0, 10, 1),
        status(row(1, 0, 4, 1), "2"),
        status(row(1, 6, 6, 1), "3"),
        status(row(2, 7, 5, 1), "2"),
        status(row(3, 8, 5, 1), "2"),
        status(row(3, 9, 5, 1), "4"),
    ]
    .concat();
    let mut source = open(&text).unwrap();
    assert_eq!(order(&mut source), [(1, 0), (2, 7), (3, 8)]);
    assert_eq!(
        source.notes(),
        [
            "skipped 3 rows of parts of the job before (first at line 2)",
            "used its first part of 1 job: the log has only parts (first at line 6)",
        ]
    );
}

#[test]
fn numbers_are_unique() {
    let text: String = [-1, -1, 7, 2, 7].into_iter().map(|number| row(number, 0, 1, 1)).collect();
    let mut source = open(&text).unwrap();
    let ids: Vec<_> = order(&mut source).into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, [1, 2, 7, 1_000_000_000_004, 1_000_000_000_005]);
    assert_eq!(source.notes(), ["renumbered 2 jobs: their number was taken (first at line 4)"]);
}

#[test]
fn rows_out_of_order_are_sorted_or_come_late() {
    let text: String = [(1, 5), (2, 3), (3, 5), (4, 3)].into_iter().map(|(n, at)| row(n, at, 1, 1)).collect();
    let mut source = open(&text).unwrap();
    assert_eq!(order(&mut source), [(2, 3), (4, 3), (1, 5), (3, 5)]);
    assert_eq!(source.notes(), ["sorted 2 jobs that were out of order (first at line 2)"]);
    // The last row belongs to the beginning, but is 2999 rows behind its place.
    let mut text: String = (1..3_000).map(|n| row(n, n, 1, 1)).collect();
    text.push_str(&row(3_000, 0, 1, 1));
    let mut source = open(&text).unwrap();
    let order = order(&mut source);
    let place = order.iter().position(|(id, _)| *id == 3_000).unwrap();
    assert_eq!(order[place].1, order[place - 1].1);
    assert!(order.is_sorted_by_key(|(_, at)| *at));
    assert_eq!(
        source.notes(),
        ["submitted 1 job later than logged: too far out of order (first at line 3000)"]
    );
}

#[test]
fn options_do_what_they_say() {
    let followed = row(2, 1, 10, 150).replace("2 -1 -1\n", "2 1 30\n");
    let text = format!("{HEADER}{}{followed}{}", row(1, 0, 90, 1), row(3, 2, 10, 1));
    let with = |change: &dyn Fn(&mut SwfOptions)| {
        let mut options = options();
        change(&mut options);
        let mut source = open_bytes(text.clone().into_bytes(), options).unwrap();
        let jobs = jobs(&mut source);
        (jobs, source.notes())
    };
    let (plain, notes) = with(&|_| {});
    assert_eq!((plain.len(), notes.len()), (3, 0));
    assert_eq!((plain[1].size.preferred(), plain[1].after, plain[1].partition), (150, None, None));
    assert_eq!(with(&|options| options.first = Some(2)).0, plain[..2]);
    let (capped, notes) = with(&|options| options.cap = true);
    assert_eq!(capped[1].size.preferred(), 100);
    assert_eq!(notes, ["cut 1 job to the machine's processors (first at line 5)"]);
    let (strict, notes) = with(&|options| options.clean = Clean::Strict);
    assert_eq!((strict.len(), strict[0].runtime), (2, Span::from_secs(60)));
    assert_eq!(notes.len(), 2);
    assert_eq!(
        with(&|options| (options.clean, options.machine) = (Clean::Strict, Some(150))).0.len(),
        3,
        "the options' machine goes before the header's"
    );
    let (bound, _) = with(&|options| (options.feedback, options.partitions) = (true, true));
    assert_eq!(bound[1].after, Some(Predecessor { job: JobId(1), think: Span::from_secs(30) }));
    assert_eq!(bound[0].partition, Some(PartitionId(1)));
    let error =
        open_bytes(row(1, 0, 1, 1).into_bytes(), SwfOptions { cap: true, ..options() }).err().unwrap();
    assert_eq!(error.hint(), Some("give the number of processors"));
}

#[test]
fn a_heading_is_read_back() {
    let heading = Heading {
        computer: "model".to_owned(),
        max_procs: Some(64),
        max_jobs: Some(1),
        max_records: Some(1),
        notes: vec!["lublin[seed=1]\nsecond line".to_owned()],
        unix_start: 0,
    };
    let mut text = Vec::new();
    write_header(&mut text, &heading);
    write_job(&mut text, &Job::rigid(1, Time::from_micros(500_000), 4, Span::from_secs(9)));
    let text = String::from_utf8(text).unwrap();
    assert!(text.ends_with("\n;\n1 0.5 -1 9 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n"), "{text}");
    let mut source = open(&text).unwrap();
    let header = source.header();
    assert_eq!((header.max_procs(), header.max_jobs(), header.unix_start()), (Some(64), Some(1), Some(0)));
    assert_eq!(header.all("Note").collect::<Vec<_>>(), ["lublin[seed=1]", "second line"]);
    assert_eq!(jobs(&mut source).len(), 1);
}

prop_compose! {
    fn any_job()(
        gap in 0_u64..3_000_000_000, procs in 1_u32..5_000, run in 1_u64..100_000_000_000, estimate in 1_u64..1_000_000_000_000,
        ids in prop::array::uniform4(-1_i32..1_000), partition in prop::option::of(0_u32..5), wait in prop::option::of(0_u64..1 << 40),
        after in prop::option::of((1_u64..100, 0_u64..1 << 40)),
    ) -> (u64, Job) {
        let mut job = Job::rigid(0, Time::ZERO, procs, Span::from_micros(run)).estimated(Span::from_micros(estimate));
        [job.user, job.group, job.executable, job.queue] = ids;
        job.partition = partition.map(PartitionId);
        job.recorded_wait = wait.map(Span::from_micros);
        job.after = after.map(|(id, think)| Predecessor { job: JobId(id), think: Span::from_micros(think) });
        (gap, job)
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(drawn in prop::collection::vec(any_job(), 1..50)) {
        let (mut text, mut written, mut now) = (Vec::new(), Vec::new(), Time::ZERO);
        write_header(&mut text, &Heading::default());
        for ((gap, job), id) in drawn.into_iter().zip(1..) {
            now += Span::from_micros(gap);
            let job = Job { id: JobId(id), submit: now, ..job };
            write_job(&mut text, &job);
            written.push(job);
        }
        let options = SwfOptions { feedback: true, partitions: true, ..options() };
        prop_assert_eq!(jobs(&mut open_bytes(text, options).unwrap()), written);
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..2_000), magic in prop::sample::select(vec![&b""[..], b"\x1f\x8b\x08\0\0\0\0\0\0\0"])) {
        let bytes = [magic, &bytes].concat();
        if let Ok(mut source) = open_bytes(bytes, options()) {
            while let Ok(Some(_)) = source.next_job() {}
        }
    }

    #[test]
    fn a_cut_packed_log_never_ends_quietly(rows in 1_i64..200, cut in 0.0_f64..1.0) {
        let text: String = (1..=rows).map(|n| row(n, n, n * 37 % 101 + 1, 1)).collect();
        let mut bytes = gzip(&text);
        bytes.truncate((bytes.len() as f64 * cut) as usize);
        if let Ok(mut source) = open_bytes(bytes, options()) {
            let error = loop {
                match source.next_job() {
                    Ok(Some(_)) => {}
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            };
            prop_assert!(error.is_some());
        }
    }
}
