use super::*;
use crate::units::Span;

fn submitted(source: &mut WorkflowSource) -> Vec<WorkflowSubmission> {
    let mut all = Vec::new();
    while let Some(time) = source.peek_time().unwrap() {
        let Some(Submission::Workflow(workflow)) = source.next_submission().unwrap() else { panic!() };
        assert_eq!(workflow.submit, time);
        all.push(workflow);
    }
    assert_eq!(source.next_submission(), Ok(None));
    all
}

fn layered(written: &str) -> WorkflowSource {
    let every = Some("exponential[mean=1 h]".parse().unwrap());
    WorkflowSource::drawn(written.parse().unwrap(), Rescaled::default(), 3, "portal").repeated(4, every)
}

#[test]
fn each_workflow_of_a_generator_is_another_one_and_jobs_are_numbered_on() {
    let all = submitted(&mut layered("layered[tasks=20,runtime=1 s..1 h,seed=7]"));
    let firsts: Vec<u64> = all.iter().map(|workflow| workflow.first_job.0).collect();
    assert_eq!(firsts, [1, 21, 41, 61]);
    assert_eq!(all[0].submit, Time::ZERO);
    assert!(all.windows(2).all(|pair| pair[0].submit < pair[1].submit));
    assert!(all.windows(2).all(|pair| pair[0].spec.tasks != pair[1].spec.tasks));
    let alone = "layered[tasks=20,runtime=1 s..1 h,seed=7]".parse::<ShapeSpec>().unwrap();
    assert_eq!(all[0].spec, alone.workflow(99).unwrap().spec());
    let jobs: Vec<Job> = all[1].jobs(None).collect();
    assert_eq!((jobs[0].id, jobs[19].id, jobs[0].submit), (JobId(21), JobId(40), all[1].submit));
}

#[test]
fn a_source_goes_on_from_its_mark() {
    let whole = submitted(&mut layered("layered[tasks=5]"));
    let mut first = layered("layered[tasks=5]");
    first.next_submission().unwrap();
    first.next_submission().unwrap();
    let mark = first.mark().unwrap();
    let mut second = layered("layered[tasks=5]");
    second.seek(&mark).unwrap();
    assert_eq!(submitted(&mut second), whole[2..]);
    assert!(layered("layered[tasks=6]").seek(&mark).is_err());
    assert!(second.next_job().is_err());
}

#[test]
fn a_file_is_submitted_as_it_is_written_each_time() {
    let one = |tasks: &str| tasks.parse::<ShapeSpec>().unwrap().workflow(1).unwrap().spec();
    let two = vec![(Time::ZERO, one("pipeline[tasks=2]")), (Time::from_secs(5), one("pipeline[tasks=3]"))];
    let every = Some(Lengths::Fixed(Span::from_secs(100)));
    let mut source = WorkflowSource::given("two.gwf", two, 1, "portal").repeated(2, every);
    let times: Vec<(u64, u64)> = submitted(&mut source)
        .iter()
        .map(|workflow| (workflow.submit.micros() / 1_000_000, workflow.first_job.0))
        .collect();
    assert_eq!(times, [(0, 1), (5, 3), (100, 6), (105, 8)]);
}

#[test]
fn versions_are_made_of_each_workflow() {
    let rescaled = Rescaled { runtime: Some(2.0), data: None, ccr: Some(0.5) };
    let shape: ShapeSpec = "layered[tasks=50]".parse().unwrap();
    let mut source = WorkflowSource::drawn(shape, rescaled, 1, "portal");
    let workflow = Workflow::from_spec(submitted(&mut source).remove(0).spec).unwrap();
    assert_eq!(workflow.tasks().next().unwrap().runtime, Span::from_secs(120));
    let costs = crate::workflow::Costs::at_reference(&workflow, Some(Rescaled::BANDWIDTH));
    assert!((workflow.ccr(&costs).unwrap() - 0.5).abs() < 1e-6);
}
