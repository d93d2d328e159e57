use super::*;

/// The table with a job of `easy` in each run at load 0.9 that failed, and the means with that job charged: 400 s more.
fn with_a_failed_job() -> StudyTable {
    let mut table = table(30, 1.0);
    table.measures.push("to_the_end.mean_wait".to_owned());
    for row in &mut table.rows {
        let failed = row.point == ["easy", "0.9"];
        let counts = if failed { (999, 1) } else { (1_000, 0) };
        row.outcomes = Outcomes { completed: counts.0, failed: counts.1, ..Outcomes::default() };
        row.values.push(row.values[0].filter(|_| failed).map(|wait| wait + 400.0));
    }
    table
}

#[test]
fn a_few_jobs_that_ended_otherwise_are_tolerated_and_both_ends_are_shown() {
    let table = with_a_failed_job();
    let tolerant = |tolerance| CompareOptions { tolerance, baseline: Some("same".to_owned()), ..question() };
    let found = compare_study(&table, &tolerant(0.01)).unwrap();
    assert!(
        found.cells.iter().all(|cell| cell.measure != "to_the_end.mean_wait"),
        "it is no measure of its own"
    );
    let easy = cell(&found, "0.9", "easy", "mean_wait");
    assert!((easy.difference.unwrap() + 1.0).abs() < 1e-9);
    assert_eq!((easy.pairs, easy.charged), (30, Some(399.0)));
    // The difference is -1 s with an interval of 6 s around it: the sign is open, and nothing is said.
    assert_eq!(easy.says, Conclusion::NoDifference);
    let fcfs = compare_study(&table, &CompareOptions { tolerance: 0.01, ..question() }).unwrap();
    let easy = cell(&fcfs, "0.9", "easy", "mean_wait");
    assert_eq!((easy.difference, easy.charged, easy.says), (Some(-1.0), Some(399.0), Conclusion::Nothing));
    assert_eq!(
        easy.note.as_deref(),
        Some(
            "no verdict: charged, the difference has the other sign; outcomes differ in 30 of 30 pairs, for at most 0.1 % of the jobs (seeds 1, 2, 3, 4, 5 and 25 more: completed 1000 and 999, failed 0 and 1)"
        )
    );
    assert_eq!(cell(&fcfs, "0.5", "easy", "mean_wait").charged, None, "all jobs ran to their end");
    let refused = compare_study(&table, &tolerant(0.0005)).unwrap();
    let note = cell(&refused, "0.9", "easy", "mean_wait").note.clone().unwrap();
    assert!(note.contains("for 0.1 % of its jobs, more than the tolerance of 0.05 %"), "{note}");
    assert!(note.ends_with("`--tolerance 1` accepts them; with larger `churn.attempts` and `broker.retries` in the scenario fewer jobs fail"));
}

#[test]
fn jobs_are_charged_in_a_campaign() {
    let options = CompareOptions { charge: Some(Charge::ToTheEnd), ..question() };
    let found = compare_study(&with_a_failed_job(), &options).unwrap();
    let easy = cell(&found, "0.9", "easy", "mean_wait");
    assert_eq!((easy.pairs, easy.difference, easy.says), (30, Some(399.0), Conclusion::Worse));
    assert_eq!(easy.note.as_deref(), Some("30 jobs charged to the end of their run"));
    assert_eq!(cell(&found, "0.5", "easy", "mean_wait").difference, Some(-1.0), "nothing to charge");
}

#[test]
fn a_group_whose_jobs_all_ran_to_their_end_has_nothing_to_charge() {
    // The failed job is of the class `large`; the run says nothing of charges in the class `small`.
    let mut table = with_a_failed_job();
    let classes = ["class.large.mean_wait", "class.large.to_the_end.mean_wait", "class.small.mean_wait"];
    table.measures.extend(classes.map(str::to_owned));
    for row in &mut table.rows {
        let [wait, _, charged] = row.values[..] else { panic!("three columns") };
        row.values.extend([wait, charged, wait]);
    }
    let asked = ["class.large.mean_wait", "class.small.mean_wait"].map(str::to_owned).to_vec();
    let asking = |charge| CompareOptions { charge, measures: asked.clone(), tolerance: 0.01, ..question() };
    let charged = compare_study(&table, &asking(Some(Charge::ToTheEnd))).unwrap();
    let note = |measure| {
        let easy = cell(&charged, "0.9", "easy", measure);
        (easy.difference, easy.note.as_deref())
    };
    let large = Some("jobs that did not run to their end charged to the end of their run");
    assert_eq!(note("class.large.mean_wait"), (Some(399.0), large));
    assert_eq!(note("class.small.mean_wait"), (Some(-1.0), None));
    let tolerated = compare_study(&table, &asking(None)).unwrap();
    let small = cell(&tolerated, "0.9", "easy", "class.small.mean_wait");
    assert_eq!((small.charged, small.says), (Some(-1.0), Conclusion::Better));
    // Without any such column it is not known which jobs did not run to their end.
    for at in [2, 4] {
        table.measures[at].insert_str(0, "no.");
    }
    let unknown = compare_study(&table, &asking(Some(Charge::ToTheEnd))).unwrap();
    let refused = cell(&unknown, "0.9", "easy", "class.small.mean_wait").note.clone();
    assert!(refused.is_some_and(|note| note.starts_with("refused: jobs that did not run to their end")));
}
