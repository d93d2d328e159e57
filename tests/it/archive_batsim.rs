//! The reference workload of Batsim, if it is at hand (see `archive_swf`).

use std::fs::File;

use gridemu::formats::batsim;
use gridemu::units::{Span, Time};

use crate::archive_swf::data;

#[test]
fn medium_late_has_801_jobs_on_32_machines() {
    let Some(data) = data() else { return };
    let file = File::open(data.join("reference/batsim-medium_late.json")).unwrap();
    let workload = batsim::read("medium_late.json", Box::new(file)).unwrap();
    assert_eq!((workload.nb_res, workload.jobs.len()), (32, 801));
    // The file begins with its last job; the third is the first that is not at a whole second.
    assert_eq!(workload.jobs[0].submit, Time::from_secs(16_000));
    let job = &workload.jobs[2];
    assert_eq!((job.id.0, job.submit, job.size.preferred()), (1, Time::from_micros(4_709_164), 2));
    assert_eq!(job.estimate, Span::from_secs(399));
}
