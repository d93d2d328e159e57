mod charges;

use super::super::{Conclusion, tests_of};
use super::*;
use crate::metrics::Outcomes;
use crate::study::tests::study;
use crate::study::{RunStatus, StudyRow};

/// A table of `policy` x `load` with the seeds 1 to `seeds`: waits of `fcfs` are 100 + seed, those of `easy` are lower by
/// `gain` with a small variation by seed, those of `same` are scattered around those of `fcfs`.
fn table(seeds: u64, gain: f64) -> StudyTable {
    study(&["fcfs", "easy", "same"], seeds, ["mean_wait", "utilization"], |policy, _, seed| {
        let base = 100.0 * seed as f64;
        let bit = if seed % 2 == 0 { 1.0 } else { -1.0 };
        let wait = match policy {
            "easy" => base - gain + 0.25 * bit,
            "same" => base + 3.0 * bit,
            _ => base,
        };
        [wait, 1.0 - wait / 10_000.0]
    })
}

fn question() -> CompareOptions {
    CompareOptions { level: 0.95, ..CompareOptions::default() }
}

fn cell<'a>(found: &'a StudyComparison, load: &str, variant: &str, measure: &str) -> &'a Contrast {
    let wanted = |cell: &&Contrast| cell.of == [load] && cell.variant == variant && cell.measure == measure;
    found.cells.iter().find(wanted).unwrap()
}

#[test]
fn pairs_by_seed_find_what_means_alone_would_not() {
    // The waits of a policy scatter from 100 to 3,000 s; the difference of a second is the same in every seed.
    let found = compare_study(&table(30, 1.0), &question()).unwrap();
    assert_eq!((found.by.as_str(), found.baseline.as_str()), ("policy", "fcfs"));
    assert_eq!(found.variants, ["easy", "same"]);
    assert_eq!((found.seeds, found.evidence), (Some((30, 30)), Evidence::Verdict));
    assert_eq!(found.cells.len(), 2 * 2 * 2);
    let easy = cell(&found, "0.5", "easy", "mean_wait");
    assert_eq!((easy.pairs, easy.baseline_mean, easy.difference), (30, Some(1_550.0), Some(-1.0)));
    // The differences are -0.75 and -1.25, 15 times each: their standard error is 0.25 x sqrt(30 / 29) / sqrt(30).
    let half = 2.045229642132703 * 0.25 / 29.0_f64.sqrt();
    assert!(
        (easy.low.unwrap() - (-1.0 - half)).abs() < 1e-9 && (easy.high.unwrap() - (-1.0 + half)).abs() < 1e-9
    );
    assert_eq!(easy.says, Conclusion::Better);
    let same = cell(&found, "0.9", "same", "mean_wait");
    assert!(same.difference.unwrap().abs() < 1e-9);
    assert_eq!(same.says, Conclusion::NoDifference);
    // A higher utilization is better.
    assert_eq!(cell(&found, "0.5", "easy", "utilization").says, Conclusion::Better);
    // There are eight cells, so the corrected p value is larger.
    let p = easy.p_value.unwrap();
    assert!(easy.adjusted_p.unwrap() >= 5.0 * p && easy.adjusted_p.unwrap() <= 8.0 * p);
}

#[test]
fn one_test_under_several_names_is_corrected_for_once() {
    // With one site, the mean wait of its users and that of all jobs are the same number.
    let mut table = table(30, 1.0);
    let narrow = CompareOptions { measures: vec!["mean_wait".to_owned()], ..question() };
    let alone = compare_study(&table, &narrow).unwrap();
    table.measures.extend(["local.mean_wait", "site.here.mean_wait"].map(str::to_owned));
    for row in &mut table.rows {
        let wait = row.values[0];
        row.values.extend([wait, wait]);
    }
    let names = ["mean_wait", "local.mean_wait", "site.here.mean_wait"].map(str::to_owned).to_vec();
    let all = compare_study(&table, &CompareOptions { measures: names.clone(), ..question() }).unwrap();
    assert_eq!((alone.cells.len(), all.cells.len()), (4, 12));
    let tests = |found: &StudyComparison| tests_of(&found.cells.iter().collect::<Vec<_>>());
    assert_eq!((tests(&alone), tests(&all)), (4, 4));
    for name in &names {
        let p = |found: &StudyComparison, name: &str| cell(found, "0.9", "easy", name).adjusted_p.unwrap();
        assert_eq!(p(&all, name), p(&alone, "mean_wait"));
    }
}

#[test]
fn waits_and_responses_are_one_test_where_jobs_run_as_long() {
    let mut table = table(30, 1.0);
    let narrow = CompareOptions { measures: vec!["mean_wait".to_owned()], ..question() };
    let alone = compare_study(&table, &narrow).unwrap();
    table.measures.push("mean_response".to_owned());
    let of = |table: &StudyTable| {
        let measures = ["mean_wait", "mean_response"].map(str::to_owned).to_vec();
        compare_study(table, &CompareOptions { measures, ..question() }).unwrap()
    };
    let tests = |found: &StudyComparison| tests_of(&found.cells.iter().collect::<Vec<_>>());
    // A third has no exact binary fraction: the differences agree except for rounding.
    let mut long = table.clone();
    for (row, long) in table.rows.iter_mut().zip(&mut long.rows) {
        let wait = row.values[0].unwrap();
        row.values.push(Some(wait + 1_000.0 / 3.0 + row.seed as f64 / 7.0));
        // Here the jobs of EASY run on slower machines in every second seed.
        let more = if row.point[0] == "fcfs" { 0.0 } else { (row.seed % 2) as f64 };
        long.values.push(Some(wait + 1_000.0 + more));
    }
    let (both, long) = (of(&table), of(&long));
    assert_eq!((tests(&alone), tests(&both), tests(&long)), (4, 4, 8));
    for measure in ["mean_wait", "mean_response"] {
        let p =
            |found: &StudyComparison, measure: &str| cell(found, "0.9", "easy", measure).adjusted_p.unwrap();
        assert!((p(&both, measure) / p(&alone, "mean_wait") - 1.0).abs() < 1e-6);
    }
}

#[test]
fn copies_of_one_run_are_one_pair() {
    // Thirty seeds of a log in which nothing is drawn at load 0.5; at 0.9 something is.
    let mut table = table(30, 1.0);
    for row in &mut table.rows {
        row.fingerprint = format!("{}/{}", row.point.join("/"), row.seed);
        if row.point[1] == "0.5" {
            let wait = if row.point[0] == "easy" { 131.25 } else { 100.0 };
            (row.values, row.fingerprint) = (vec![Some(wait), Some(0.5)], row.point[0].clone());
        }
    }
    let found = compare_study(&table, &question()).unwrap();
    let copies = cell(&found, "0.5", "easy", "mean_wait");
    assert_eq!((copies.pairs, copies.one_run, copies.difference), (1, true, Some(31.25)));
    assert_eq!((copies.low, copies.p_value, copies.adjusted_p), (None, None, None));
    assert_eq!(
        (copies.evidence, copies.says, copies.leans),
        (Evidence::Nothing, Conclusion::Nothing, Conclusion::Nothing)
    );
    assert_eq!(copies.note.as_deref(), Some("every seed gave the same run: one log"));
    // A single pair with equal values is not "the same in every pair" either.
    assert_eq!(cell(&found, "0.5", "easy", "utilization").says, Conclusion::Nothing);
    let drawn = cell(&found, "0.9", "easy", "mean_wait");
    assert_eq!((drawn.pairs, drawn.one_run, drawn.says), (30, false, Conclusion::Better));
    assert_eq!((found.seeds, found.evidence), (Some((30, 30)), Evidence::Verdict));
    let only = vec![("load".to_owned(), "0.5".to_owned())];
    let found = compare_study(&table, &CompareOptions { only, ..question() }).unwrap();
    assert_eq!((found.seeds, found.evidence), (None, Evidence::Nothing));
    // The other side is drawn, so the difference is random.
    for row in table.rows.iter_mut().filter(|row| row.point[0] == "easy") {
        row.fingerprint = row.seed.to_string();
        row.values[0] = Some(90.0 + (row.seed % 2) as f64);
    }
    let found = compare_study(&table, &question()).unwrap();
    assert_eq!(cell(&found, "0.5", "easy", "mean_wait").pairs, 30);
}

#[test]
fn what_is_the_same_has_the_evidence_of_its_pairs() {
    for (seeds, evidence) in [(2, Evidence::Nothing), (5, Evidence::SmokeTest), (30, Evidence::Verdict)] {
        let mut table = table(seeds, 1.0);
        table.rows.iter_mut().for_each(|row| row.values[1] = Some(0.5));
        let found = compare_study(&table, &question()).unwrap();
        let same = cell(&found, "0.5", "easy", "utilization");
        assert_eq!((same.says, same.leans, same.evidence), (Conclusion::Same, Conclusion::Same, evidence));
    }
}

#[test]
fn few_seeds_give_a_smoke_test_or_nothing() {
    let smoke = compare_study(&table(5, 1.0), &question()).unwrap();
    assert_eq!(smoke.evidence, Evidence::SmokeTest);
    // A reader of the JSON must not take it for a verdict.
    let seen = cell(&smoke, "0.5", "easy", "mean_wait");
    assert_eq!((seen.says, seen.leans), (Conclusion::Nothing, Conclusion::Better));
    let nothing = compare_study(&table(4, 1.0), &question()).unwrap();
    assert_eq!(nothing.evidence, Evidence::Nothing);
    assert_eq!(cell(&nothing, "0.5", "easy", "mean_wait").says, Conclusion::Nothing);
    let one = compare_study(&table(1, 1.0), &question()).unwrap();
    let one = cell(&one, "0.5", "easy", "mean_wait");
    assert_eq!((one.difference, one.low, one.p_value), (Some(-1.25), None, None));
}

#[test]
fn no_ranking_where_jobs_did_not_end_alike_unless_it_is_said_how() {
    let mut unlike = table(30, 1.0);
    let row = unlike.rows.iter_mut().find(|row| row.point == ["easy", "0.9"] && row.seed == 7).unwrap();
    row.outcomes = Outcomes { completed: 8, rejected: 2, ..Outcomes::default() };
    let found = compare_study(&unlike, &question()).unwrap();
    let refused = cell(&found, "0.9", "easy", "mean_wait");
    assert_eq!((refused.difference, refused.says), (None, Conclusion::Nothing));
    assert_eq!(
        refused.note.as_deref(),
        Some(
            "refused: outcomes differ in 1 of 30 pairs, in one for 20 % of its jobs, more than the tolerance of 0 % (seed 7: completed 10 and 8, rejected 0 and 2); \
             `--charge to-the-end` charges such jobs, `--charge leave-out` leaves such pairs out, `--tolerance 20` accepts them"
        )
    );
    assert_eq!(
        cell(&found, "0.5", "easy", "mean_wait").says,
        Conclusion::Better,
        "the other load is not concerned"
    );
    let leave_out = CompareOptions { charge: Some(Charge::LeaveOut), ..question() };
    let found = compare_study(&unlike, &leave_out).unwrap();
    let left = cell(&found, "0.9", "easy", "mean_wait");
    assert_eq!((left.pairs, left.evidence, left.leans), (29, Evidence::SmokeTest, Conclusion::Better));
    let to_the_end = CompareOptions { charge: Some(Charge::ToTheEnd), ..question() };
    let found = compare_study(&unlike, &to_the_end).unwrap();
    let note = cell(&found, "0.9", "easy", "mean_wait").note.clone().unwrap();
    assert!(note.starts_with("refused: ") && note.contains("a column `to_the_end.`"), "{note}");
    // The whole run is the same amount of work, however jobs ended.
    let whole = cell(&compare_study(&unlike, &question()).unwrap(), "0.9", "easy", "utilization").clone();
    assert_eq!((whole.pairs, whole.says), (30, Conclusion::Better));
    assert_eq!(
        whole.note.as_deref(),
        Some("of the whole run, with all of its jobs: outcomes differ in 1 of 30 pairs")
    );
}

#[test]
fn the_baseline_of_the_campaign_is_that_of_the_comparison() {
    let mut table = table(5, 1.0);
    table.baseline = Some("easy".to_owned());
    assert_eq!(compare_study(&table, &question()).unwrap().baseline, "easy");
    let other = CompareOptions { baseline: Some("same".to_owned()), ..question() };
    assert_eq!(compare_study(&table, &other).unwrap().baseline, "same");
    // It is a label of another axis than the one that is compared.
    let by = CompareOptions { by: Some("load".to_owned()), ..question() };
    assert_eq!(compare_study(&table, &by).unwrap().baseline, "0.5");
}

#[test]
fn runs_whose_backlog_grows_are_left_out_with_their_number() {
    let mut growing = table(30, 1.0);
    growing
        .rows
        .iter_mut()
        .filter(|row| row.point == ["fcfs", "0.9"] && row.seed < 3)
        .for_each(|row| row.unstable = true);
    let found = compare_study(&growing, &question()).unwrap();
    let some = cell(&found, "0.9", "same", "mean_wait");
    assert_eq!((some.pairs, some.evidence), (28, Evidence::SmokeTest));
    let note =
        "2 pairs left out: the backlog grows (unstable) in 2 of 30 runs of the baseline, 0 of the variant";
    assert_eq!(some.note.as_deref(), Some(note));
    assert_eq!(cell(&found, "0.9", "same", "utilization").pairs, 30, "a measure of the whole run");
    let finite = CompareOptions { finite: true, ..question() };
    assert_eq!(cell(&compare_study(&growing, &finite).unwrap(), "0.9", "same", "mean_wait").pairs, 30);
    // More than a tenth: what is left is no sample of the runs.
    let more = |row: &&mut StudyRow| row.point == ["fcfs", "0.9"] && row.seed < 5;
    growing.rows.iter_mut().filter(more).for_each(|row| row.unstable = true);
    let found = compare_study(&growing, &question()).unwrap();
    let none = cell(&found, "0.9", "same", "mean_wait");
    assert_eq!((none.pairs, none.difference, none.says), (0, None, Conclusion::Nothing));
    assert!(
        none.note.as_deref().unwrap().starts_with("no mean: the backlog grows (unstable) in 4 of 30 runs")
    );
    growing.rows.iter_mut().filter(|row| row.point[0] == "fcfs").for_each(|row| row.unstable = true);
    let found = compare_study(&growing, &question()).unwrap();
    let none = cell(&found, "0.9", "same", "mean_wait");
    assert_eq!((none.baseline_mean, none.says), (None, Conclusion::Nothing));
    let note = none.note.as_deref().unwrap();
    assert!(
        note.starts_with("no mean: the backlog grows (unstable) in 30 of 30 runs")
            && note.contains("`--finite`"),
        "{note}"
    );
}

#[test]
fn failed_runs_and_lost_partners_are_counted() {
    let mut table = table(10, 1.0);
    let row = table.rows.iter_mut().find(|row| row.point == ["easy", "0.5"] && row.seed == 4).unwrap();
    row.status = RunStatus::Failed("no".to_owned());
    let found = compare_study(&table, &question()).unwrap();
    assert_eq!(found.failed, 1);
    // The policy may be the cause of the failure: the other nine runs do not answer the question.
    let refused = cell(&found, "0.5", "easy", "mean_wait");
    assert_eq!((refused.pairs, refused.difference), (0, None));
    assert_eq!(
        refused.note.as_deref(),
        Some("refused: a run failed in 1 of 10 pairs (seed 4); `--charge leave-out` leaves such pairs out")
    );
    assert_eq!(cell(&found, "0.5", "same", "mean_wait").pairs, 10);
    let leave_out = CompareOptions { charge: Some(Charge::LeaveOut), ..question() };
    let found = compare_study(&table, &leave_out).unwrap();
    let short = cell(&found, "0.5", "easy", "mean_wait");
    assert_eq!((short.pairs, short.note.as_deref()), (9, Some("1 pair left out: a run failed (seed 4)")));
    // A missing run is a different case.
    table.rows.retain(|row| row.status == RunStatus::Done);
    let found = compare_study(&table, &question()).unwrap();
    let short = cell(&found, "0.5", "easy", "mean_wait");
    assert_eq!((short.pairs, short.note.as_deref()), (9, Some("1 runs have no partner with their seed")));
}

#[test]
fn what_is_no_number_has_no_mean() {
    for odd in [f64::NAN, f64::INFINITY] {
        let mut table = table(30, 1.0);
        let row = table.rows.iter_mut().find(|row| row.point == ["easy", "0.5"] && row.seed == 4).unwrap();
        row.values[0] = Some(odd);
        let found = compare_study(&table, &question()).unwrap();
        let none = cell(&found, "0.5", "easy", "mean_wait");
        assert_eq!(
            (none.pairs, none.baseline_mean, none.variant_mean, none.difference),
            (0, None, None, None)
        );
        assert_eq!(none.note.as_deref(), Some("no mean: a value in 1 of 30 pairs is not a finite number"));
        assert_eq!(cell(&found, "0.5", "easy", "utilization").pairs, 30);
    }
}

#[test]
fn what_is_asked_can_be_narrowed() {
    let narrow = CompareOptions {
        baseline: Some("easy".to_owned()),
        only: vec![("load".to_owned(), "0.9".to_owned())],
        measures: vec!["mean_wait".to_owned()],
        ..question()
    };
    let found = compare_study(&table(30, 1.0), &narrow).unwrap();
    assert_eq!(found.variants, ["fcfs", "same"]);
    assert_eq!(found.cells.len(), 2);
    assert_eq!(found.cells[0].says, Conclusion::Worse);
    let by_load = CompareOptions { by: Some("load".to_owned()), ..question() };
    let found = compare_study(&table(30, 1.0), &by_load).unwrap();
    assert_eq!((found.axes, found.variants), (vec!["policy".to_owned()], vec!["0.9".to_owned()]));
    assert!(found.cells.iter().all(|cell| cell.difference == Some(0.0)));
    // A difference that is the same in every pair is not a test.
    assert!(found.cells.iter().all(|cell| cell.p_value.is_none() && cell.says == Conclusion::Same));
}

#[test]
fn what_the_study_does_not_have_is_told_with_the_nearest_name() {
    let said = |question: CompareOptions| {
        let error = compare_study(&table(5, 1.0), &question).unwrap_err();
        (error.to_string(), error.hint().map(str::to_owned))
    };
    let name = |text: &str| Some(text.to_owned());
    assert_eq!(
        said(CompareOptions { by: name("polcy"), ..question() }),
        (
            "the campaign has no axis `polcy`; its axes are `policy`, `load`".to_owned(),
            name("did you mean `policy`?")
        )
    );
    assert_eq!(
        said(CompareOptions { measures: vec!["mean_wiat".to_owned()], ..question() }),
        (
            "the table has no measure `mean_wiat` (did you mean `mean_wait`?); it has `mean_wait`, `utilization`".to_owned(),
            name("a campaign keeps all measures of its runs: `gridemu compare FILE` of the campaign's file takes any of them")
        )
    );
    let (error, _) = said(CompareOptions { only: vec![("load".to_owned(), "0.7".to_owned())], ..question() });
    assert_eq!(error, "axis `load` has no `0.7`; it has `0.5`, `0.9`");
    let (error, _) = said(CompareOptions { baseline: name("EASY"), ..question() });
    assert!(error.starts_with("axis `policy` has no `EASY`"));
}
