//! Logs of the Parallel Workloads Archive, if they are available: `GRIDEMU_DATA` names the folder that contains
//! `swf/<name>.swf.gz`. Without it these tests print that they were skipped.

use std::fs::File;
use std::path::PathBuf;

use gridemu::formats::swf::{Clean, SwfOptions, SwfSource};
use gridemu::workload::{Source, SourceError};

/// Name, rows, jobs by default, jobs of the strict filter (0 where it cannot be used), processors of the header.
/// The counts were made by a separate script that splits the rows at blanks.
const LOGS: [(&str, u64, u64, u64, Option<u32>); 21] = [
    ("CEA-Curie-2011-2.1-cln", 312_826, 295_540, 295_540, Some(93_312)),
    ("CTC-SP2-1996-3.1-cln", 77_222, 77_205, 77_199, Some(338)),
    ("HPC2N-2002-2.2-cln", 202_871, 202_871, 202_871, Some(240)),
    ("KTH-SP2-1996-2.1-cln", 28_476, 28_467, 28_467, Some(100)),
    ("LANL-CM5-1994-4.1-cln", 122_060, 122_055, 110_769, Some(1_024)),
    ("LCG", 188_041, 187_520, 187_520, Some(24_515)),
    ("LLNL-Atlas-2006-2.1-cln", 43_778, 36_600, 31_248, Some(9_216)),
    ("LLNL-Thunder-2007-1.1-cln", 121_039, 113_613, 33_416, Some(4_008)),
    ("LPC-EGEE-2004-1.2-cln", 234_889, 214_322, 214_322, Some(140)),
    ("METACENTRUM-2009-2", 103_656, 99_944, 0, None),
    ("NASA-iPSC-1993-3", 42_264, 42_049, 0, Some(128)),
    ("NASA-iPSC-1993-3.1-cln", 18_239, 18_066, 0, Some(128)),
    ("OSC-Clust-2000-3.1-cln", 36_097, 35_592, 0, Some(178)),
    ("RICC-2010-2", 447_794, 447_784, 447_782, Some(8_192)),
    ("SDSC-BLUE-2000-4.1-cln", 243_314, 232_542, 232_542, Some(1_152)),
    ("SDSC-BLUE-2000-4.2-cln", 243_306, 232_536, 232_536, Some(1_152)),
    ("SDSC-DS-2004-2.1-cln", 96_069, 84_893, 84_893, Some(1_664)),
    ("SDSC-Par-1996-3.1-cln", 32_135, 32_128, 0, Some(400)),
    ("SDSC-SP2-1998-4.2-cln", 59_715, 54_034, 53_999, Some(128)),
    ("Sandia-Ross-2001-1.1-cln", 57_882, 55_595, 55_512, Some(1_524)),
    ("wagap-2013.alea-extended", 17_900, 17_898, 0, None),
];

/// The data folder, or `None` after telling that there is none.
#[expect(clippy::disallowed_methods, clippy::print_stderr)]
pub(crate) fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("GRIDEMU_DATA").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("not run: GRIDEMU_DATA is not set");
    }
    folder
}

pub(crate) fn open(path: PathBuf, clean: Clean) -> Result<SwfSource, SourceError> {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    SwfSource::open(Box::new(file), SwfOptions { name, clean, ..SwfOptions::default() })
}

/// Jobs of a source, which must come in order.
fn count(source: &mut SwfSource) -> u64 {
    let (mut jobs, mut last) = (0, Default::default());
    while let Some(job) = source.next_job().unwrap() {
        assert!(job.submit >= last, "job {} goes back", job.id);
        last = job.submit;
        jobs += 1;
    }
    jobs
}

#[test]
fn every_log_has_its_rows_and_jobs() {
    let Some(data) = data() else { return };
    for (name, rows, jobs, strict_jobs, machine) in LOGS {
        let path = data.join(format!("swf/{name}.swf.gz"));
        let mut log = open(path.clone(), Clean::None).unwrap();
        assert_eq!(log.machine(), machine, "{name}");
        assert_eq!(count(&mut log), jobs, "{name}");
        assert_eq!(log.rows(), rows, "{name}");
        match open(path, Clean::Strict) {
            Ok(mut strict) => assert_eq!(count(&mut strict), strict_jobs, "{name}"),
            Err(error) => assert_eq!(strict_jobs, 0, "{name}: {error}"),
        }
    }
}

#[test]
fn the_log_of_the_studies_on_predicted_run_times_keeps_28481_jobs() {
    let Some(data) = data() else { return };
    let path = data.join("reference/predictsim-KTH-SP2-input-log.swf.gz");
    assert_eq!(count(&mut open(path, Clean::Strict).unwrap()), 28_481);
}

#[test]
fn status_two_of_sandia_ross_is_an_exit_code() {
    let Some(data) = data() else { return };
    let mut log = open(data.join("swf/Sandia-Ross-2001-1.1-cln.swf.gz"), Clean::None).unwrap();
    count(&mut log);
    assert!(log.notes().iter().all(|note| !note.contains("part")), "{:?}", log.notes());
}

#[test]
fn a_mark_in_a_log_is_found_again_in_it_alone() {
    let Some(data) = data() else { return };
    let kth = || open(data.join("swf/KTH-SP2-1996-2.1-cln.swf.gz"), Clean::None).unwrap();
    let mut first = kth();
    (0..12_345).for_each(|_| assert!(first.next_job().unwrap().is_some()));
    let mark = first.mark().unwrap();
    let mut second = kth();
    second.seek(&mark).unwrap();
    loop {
        let job = first.next_job().unwrap();
        assert_eq!(job, second.next_job().unwrap());
        if job.is_none() {
            break;
        }
    }
    assert_eq!(first.notes(), second.notes());
    let mut other = open(data.join("swf/CTC-SP2-1996-3.1-cln.swf.gz"), Clean::None).unwrap();
    assert!(matches!(other.seek(&mark), Err(SourceError::Mark { .. })));
}
