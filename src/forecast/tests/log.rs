//! Series of a real log, if it is available: `GRIDEMU_DATA` names the folder of published logs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// Of a job that ran: when it started, how long it waited and ran, in seconds, and its processors.
struct Ran {
    start: u64,
    wait: u64,
    runtime: u64,
    processors: u64,
}

/// Series of KTH-SP2: the processors in use at each full hour, and how long each job has waited, in the order of starts.
pub(super) struct Kth {
    pub(super) in_use: Vec<f64>,
    pub(super) waits: Vec<f64>,
}

impl Kth {
    /// `None` if the data are not there.
    #[expect(clippy::disallowed_methods, reason = "a test that needs data says where these are")]
    pub(super) fn read() -> Option<Self> {
        let folder = std::env::var_os("GRIDEMU_DATA")?;
        let name = "KTH-SP2-1996-2.1-cln.swf.gz";
        let path = [Path::new(&folder).join("swf").join(name), Path::new(&folder).join(name)];
        let path = path.iter().find(|path| path.exists())?;
        let mut text = String::new();
        MultiGzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
        Some(Self::of(&mut text.lines().filter_map(ran).collect::<Vec<_>>()))
    }

    fn of(jobs: &mut [Ran]) -> Self {
        jobs.sort_by_key(|job| job.start);
        let hours = |second: u64| second.div_ceil(3_600);
        let first = hours(jobs[0].start);
        let last = jobs.iter().map(|job| hours(job.start + job.runtime)).max().unwrap();
        let mut in_use = vec![0.0; (last - first) as usize];
        for job in jobs.iter() {
            for hour in hours(job.start)..hours(job.start + job.runtime) {
                in_use[(hour - first) as usize] += job.processors as f64;
            }
        }
        Self { in_use, waits: jobs.iter().map(|job| job.wait as f64).collect() }
    }
}

/// A line of the log, if it is of a job that ran: columns 2 to 5 are submit time, wait, run time and processors, −1 if unknown.
fn ran(line: &str) -> Option<Ran> {
    let mut columns = line.split_whitespace().skip(1).map_while(|column| column.parse::<u64>().ok());
    let mut next = || columns.next();
    let (submit, wait, runtime, processors) = (next()?, next()?, next()?, next()?);
    Some(Ran { start: submit + wait, wait, runtime, processors })
}

#[test]
fn series_of_a_log_are_as_counted_by_hand() {
    // 4 processors from 3,600 to 7,200 s, which are free at that instant, and 2 from 3,601 to 10,801 s.
    let log = "; a comment\n1 3000 600 3600 4 -1\n2 3601 0 7200 2 -1\n3 3700 -1 -1 -1 -1\n";
    let kth = Kth::of(&mut log.lines().filter_map(ran).collect::<Vec<_>>());
    assert_eq!((kth.in_use, kth.waits), (vec![4.0, 2.0, 2.0], vec![600.0, 0.0]));
}
