//! What records say of the time of workflows: the parts of the response, what bounds it, and what jobs.csv says of tasks.

use std::collections::BTreeMap;

use gridemu::grid::{Grid, Policies};
use gridemu::metrics::{Window, WorkflowMeasures, WorkflowRatios};
use gridemu::model::{
    ChurnAct, FailureAction, JobId, Machines, Outcome, PartitionId, PlannedChurn, ProcSet, Record,
    ResponseParts, TaskRecord, WorkflowSpec,
};
use gridemu::units::{Span, Time};
use gridemu::workflow::WorkflowSource;
use gridemu::workload::{Jobs, Source};
use proptest::prelude::*;

use crate::enactment::{run, secs, submissions, tasks, workflow, workflows};
use crate::grid::{jobs_of, plain};
use crate::grids::{GridCase, grids};
use crate::support::cases;

/// The case with these workflows in place of the jobs of the grid.
fn enacted(case: &GridCase, submitted: &[(u64, WorkflowSpec)]) -> Vec<Record> {
    let local = case.local.iter().map(|jobs| -> Option<Box<dyn Source>> {
        (!jobs.is_empty()).then(|| Box::new(Jobs::new(jobs.clone())) as Box<dyn Source>)
    });
    let given = submitted.iter().map(|(at, workflow)| (Time::from_secs(*at), workflow.clone())).collect();
    let source = WorkflowSource::given("test", given, 1, "portal");
    let policies = Policies::standard();
    let mut grid =
        Grid::build(&case.spec, local.collect(), Some(Box::new(source)), &policies).expect("a grid");
    let mut records = Vec::new();
    // A grid that loses its machines for good leaves tasks behind.
    let _ = grid.run_to(case.until, Default::default(), &mut records);
    records
}

proptest! {
    #![proptest_config(cases(150))]

    /// Over any grid, with churn, delays, caps and local load: the parts sum to the makespan to a microsecond, and are what one finds on the
    /// way back from the task that ended last.
    #[test]
    fn the_parts_sum_to_the_makespan(case in grids(), submitted in submissions()) {
        let records = enacted(&case, &submitted);
        let by_job: BTreeMap<JobId, &TaskRecord> = tasks(&records).into_iter().map(|task| (task.job, task)).collect();
        for task in by_job.values() {
            let marks = [task.ready, task.decided, task.sent, task.queued, task.start, task.last_start];
            prop_assert!(marks.iter().flatten().is_sorted(), "{task:?}");
            let Some(parts) = task.parts() else { continue };
            prop_assert_eq!(parts.total(), task.known.since(task.ready.expect("it was ready")), "{:?}", task);
        }
        for record in workflows(&records) {
            let Some(parts) = record.parts else {
                prop_assert_eq!((record.outcome, record.last), (Outcome::Unfinished, None));
                continue;
            };
            prop_assert_eq!(parts.total(), record.makespan());
            let (mut sum, mut at, mut end) = (ResponseParts::default(), record.last, record.end);
            while let Some(task) = at.map(|job| by_job[&job]) {
                prop_assert_eq!(task.known, end);
                (sum, at, end) = (sum + task.parts().expect("it ended"), task.after, task.ready.expect("it was ready"));
            }
            prop_assert_eq!((sum, end), (parts, record.submit));
            if record.outcome == Outcome::Completed {
                prop_assert!(record.makespan() >= record.bounds.alone, "{record:?}");
            }
        }
        // A task is a job that was submitted when it was ready.
        for job in jobs_of(&records).into_iter().filter(|job| job.origin == gridemu::model::Origin::Grid) {
            if let Some(ready) = by_job.get(&job.id).and_then(|task| task.ready) {
                prop_assert_eq!(job.submit, ready);
            }
        }
    }
}

/// The diamond of `enactment.rs`: t0 10 s, t1 20 s, t2 30 s, t3 5 s, on one site of two processors, 1 s away. Along t0, t2, t3 messages take
/// 1 s there and 1 s back for each, and nothing waits at the site: 51 = 45 run + 6 dispatch. Its work is 65 processor-seconds, which two
/// processors could do in 32.5 s, less than its longest way of 45 s. t1 and t2 run at once.
#[test]
fn a_diamond_by_hand() {
    let diamond = workflow(&[10, 20, 30, 5], &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let records = run(&plain(&[2], "mct", 1, 10), &[(0, diamond)]);
    let told: Vec<_> = tasks(&records)
        .iter()
        .map(|task| {
            let at = |time: Option<Time>| secs(time.expect("it came so far"));
            (task.after.map(|job| job.0), at(task.decided), at(task.queued), at(task.last_start))
        })
        .collect();
    assert_eq!(told, [(None, 0, 1, 1), (Some(1), 12, 13, 13), (Some(1), 12, 13, 13), (Some(3), 44, 45, 45)]);
    let [whole] = workflows(&records)[..] else { panic!("one workflow") };
    let span = Span::from_secs;
    let parts = ResponseParts { run: span(45), dispatch: span(6), ..ResponseParts::default() };
    assert_eq!((whole.parts, whole.last), (Some(parts), Some(JobId(4))));
    let bounds = whole.bounds;
    assert_eq!(
        (bounds.fastest_path, bounds.work, bounds.alone, whole.peak),
        (span(45), span(65), span(45), 2)
    );
    let ratios = WorkflowRatios::of(whole).each().map(|ratio| ratio.expect("a ratio").as_f64());
    for (ratio, wanted) in ratios.into_iter().zip([51.0 / 45.0, 51.0 / 45.0, 65.0 / 51.0, 65.0 / 102.0]) {
        assert!((ratio - wanted).abs() < 1e-9, "{ratio} {wanted}");
    }
    // Each task waited 1 s from when it was ready to its start, as a job too.
    assert_eq!(jobs_of(&records).iter().map(|job| job.wait()).collect::<Vec<_>>(), [span(1); 4]);
    let mut measures = WorkflowMeasures::default();
    measures.add(whole, Window::ALL);
    let summary = measures.summary().expect("a workflow");
    assert_eq!((summary.count, summary.completed, summary.mean_makespan), (1, 1, Some(51.0)));
    let shares = summary.share.each().map(|share| (share.expect("a share") * 51.0).round() as u64);
    assert_eq!(shares, [45, 0, 6, 0, 0]);
}

/// Two tasks of 10 s wait for the one processor: t1 queues 10 s, t2, which waits for both, starts at 20. The machine leaves at 25 and is back
/// at 30: t2, of 8 s, has lost 20 to 30 and runs again from there. 38 = 10 + 8 run + 10 in the queue + 10 lost.
#[test]
fn what_a_failure_costs_is_told() {
    let mut spec = plain(&[1], "mct", 0, 10);
    let machine = || Machines { partition: PartitionId(0), which: ProcSet::range(0, 1) };
    spec.sites[0].churn.on_failure = FailureAction::Requeue;
    spec.sites[0].churn.script = vec![
        PlannedChurn { at: Time::from_secs(25), act: ChurnAct::Leave(machine()) },
        PlannedChurn { at: Time::from_secs(30), act: ChurnAct::Join(machine()) },
    ];
    let records = run(&spec, &[(0, workflow(&[10, 10, 8], &[(0, 2), (1, 2)]))]);
    let [whole] = workflows(&records)[..] else { panic!("one workflow") };
    let span = Span::from_secs;
    let parts = ResponseParts { run: span(18), queue: span(10), lost: span(10), ..ResponseParts::default() };
    assert_eq!((whole.parts, whole.attempts, secs(whole.end)), (Some(parts), 4, 38));
}
