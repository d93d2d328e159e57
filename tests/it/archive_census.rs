//! Statistics of KTH-SP2, if the log is available (see `archive_swf`), compared with counts from other tools.

use gridemu::formats::swf::Clean;
use gridemu::model::JobClasses;
use gridemu::workload::{Census, Contents, Factor, Scaled, Source};

use crate::archive_swf::{data, open};

fn census(source: &mut dyn Source, unix_start: Option<i64>) -> Contents {
    let mut census = Census::new(100, "kettimuthu-4".parse::<JobClasses>().unwrap(), unix_start);
    while let Some(job) = source.next_job().unwrap() {
        census.add(&job);
    }
    census.contents().unwrap()
}

#[test]
fn kth_sp2_is_what_the_archive_says() {
    let Some(data) = data() else { return };
    let kth = || open(data.join("swf/KTH-SP2-1996-2.1-cln.swf.gz"), Clean::None).unwrap();
    let mut log = kth();
    let unix_start = log.header().unix_start();
    let found = census(&mut log, unix_start);
    assert_eq!((found.jobs, found.users, found.sizes.processors.max), (28_467, 214, 100.0));
    assert_eq!(found.by_class.iter().map(|class| class.jobs).sum::<u64>(), found.jobs);
    // Counted by a script of its own.
    assert_eq!((found.work, found.span, found.runtimes.median), (2_011_271_357.0, 28_763_768.0, 847.0));
    assert!((found.offered_load.unwrap() - 0.699_237_790_055_878_6).abs() < 1e-12);
    assert!((found.sizes.serial - 0.329_082_797_625_320_56).abs() < 1e-12);
    assert!((found.interarrivals.cv - 3.297_320_791_342_508).abs() < 1e-9);
    let factor = Factor::from_f64(found.offered_load.unwrap() / 0.9).unwrap();
    let loaded = census(&mut Scaled::new(Box::new(kth()), factor), unix_start);
    assert!((loaded.offered_load.unwrap() - 0.9).abs() < 1e-6);
    assert_eq!((loaded.work, loaded.runtimes), (found.work, found.runtimes));
}
