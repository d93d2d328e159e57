use super::*;
use crate::metrics::{Outcomes, RunStatus, StudyRow, StudyTable};

/// `policy` x `load` under `seeds` seeds: waits of `fcfs` are 100, of `easy` 80 at load 0.5 and 99 at load 0.9, all with a bit of noise that
/// is not the same in both.
fn table(seeds: u64) -> StudyTable {
    let mut rows = Vec::new();
    for load in ["0.5", "0.9"] {
        for policy in ["fcfs", "easy"] {
            for seed in 1..=seeds {
                let noise = if seed % 2 == 0 { 4.0 } else { -4.0 };
                let wait = match (policy, load) {
                    ("easy", "0.5") => 80.0 + noise,
                    ("easy", _) => 99.0 + noise,
                    _ => 100.0,
                };
                rows.push(StudyRow {
                    run: rows.len() as u64 + 1,
                    point: vec![policy.to_owned(), load.to_owned()],
                    seed,
                    status: RunStatus::Done,
                    jobs: 10,
                    outcomes: Outcomes { completed: 10, ..Outcomes::default() },
                    grows: false,
                    scenario_hash: String::new(),
                    fingerprint: String::new(),
                    values: vec![Some(wait), Some(wait / 2.0)],
                });
            }
        }
    }
    StudyTable {
        name: "study".to_owned(),
        axes: vec!["policy".to_owned(), "load".to_owned()],
        measures: vec!["mean_wait".to_owned(), "class.VS N.mean_wait".to_owned()],
        rows,
    }
}

fn side(labels: &[(&str, &str)]) -> Side {
    labels.iter().map(|(axis, label)| ((*axis).to_owned(), vec![(*label).to_owned()])).collect()
}

fn claim(expects: Expects) -> Claim {
    Claim {
        id: "claim".to_owned(),
        source: "Table 1".to_owned(),
        says: "so".to_owned(),
        measures: vec!["mean_wait".to_owned()],
        of: side(&[("policy", "easy")]),
        than: side(&[("policy", "fcfs")]),
        expects,
    }
}

fn verdict(claim: &Claim, table: &StudyTable, single: bool) -> Judgement {
    let measured = measure_claim(claim, table).unwrap();
    judge(&[(claim, &measured, single)]).remove(0)
}

#[test]
fn a_direction_holds_where_every_point_shows_it() {
    let below = claim(Expects::Below);
    let undecided = verdict(&below, &table(30), false);
    // At load 0.9 the difference is -1 with a standard error of 4 x sqrt(30 / 29) / sqrt(30) = 0.74.
    assert_eq!(undecided.verdict, Verdict::Undecided);
    assert_eq!(undecided.measured, "load 0.5: -20.0 %; load 0.9: -1.0 %");
    assert!(
        undecided.reason.starts_with("load 0.9: the difference is -2.5192 to +0.5192"),
        "{}",
        undecided.reason
    );
    let at_half = Claim { of: side(&[("policy", "easy"), ("load", "0.5")]), ..below.clone() };
    let at_half = Claim { than: side(&[("policy", "fcfs"), ("load", "0.5")]), ..at_half };
    let holds = verdict(&at_half, &table(30), false);
    assert_eq!(holds.verdict, Verdict::Holds);
    assert_eq!(holds.reason, "30 seeds, p < 0.05 after Holm over 1 tests");
    let fails = verdict(&Claim { expects: Expects::Above, ..at_half.clone() }, &table(30), false);
    assert_eq!(fails.verdict, Verdict::Fails);
    assert!(fails.reason.starts_with("it is -21.5"), "{}", fails.reason);
    let few = verdict(&at_half, &table(29), false);
    assert_eq!((few.verdict, few.reason.as_str()), (Verdict::Undecided, "29 seeds, and a verdict needs 30"));
}

#[test]
fn tests_of_one_page_are_corrected_for_their_number() {
    // The difference at load 0.9 becomes significant by itself with more seeds, and is not any more among many.
    let at = |load: &str| Claim {
        of: side(&[("policy", "easy"), ("load", load)]),
        than: side(&[("policy", "fcfs"), ("load", load)]),
        ..claim(Expects::Below)
    };
    let table = table(80);
    let weak = at("0.9");
    let measured = measure_claim(&weak, &table).unwrap();
    assert_eq!(judge(&[(&weak, &measured, false)])[0].verdict, Verdict::Holds);
    let page: Vec<_> = (0..20).map(|_| (&weak, &measured, false)).collect();
    assert!(judge(&page).iter().all(|judged| judged.verdict == Verdict::Undecided));
}

#[test]
fn a_page_with_tests_of_both_kinds_splits_its_error() {
    let sign = Claim {
        of: side(&[("policy", "easy"), ("load", "0.9")]),
        than: side(&[("policy", "fcfs"), ("load", "0.9")]),
        ..claim(Expects::Below)
    };
    let number = Claim {
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: Side::new(),
        ..claim(Expects::Value { published: 80.0, tolerance: 5.0 })
    };
    let table = table(70);
    let (of_sign, of_number) =
        (measure_claim(&sign, &table).unwrap(), measure_claim(&number, &table).unwrap());
    // The p value is 0.0415: below 0.05, and not below the half of it.
    let alone = judge(&[(&sign, &of_sign, false)]).remove(0);
    assert_eq!(alone.verdict, Verdict::Holds);
    let p = alone.points[0].adjusted_p.unwrap();
    assert!(p > 0.025 && p < 0.05, "{p}");
    let both = judge(&[(&sign, &of_sign, false), (&number, &of_number, false)]);
    assert_eq!((both[0].verdict, both[1].verdict), (Verdict::Undecided, Verdict::Holds));
    let width = |judged: &Judgement| judged.points[0].interval.map(|(low, high)| high - low).unwrap();
    let by_itself = judge(&[(&number, &of_number, false)]);
    assert!(width(&both[1]) > width(&by_itself[0]));
    // Several runs of a claim on a log are drawn by chance too, and count.
    let logged = judge(&[(&number, &of_number, true), (&number, &of_number, true)]);
    assert!(width(&logged[0]) > width(&by_itself[0]));
}

#[test]
fn numbers_are_judged_by_their_tolerance() {
    let number = |published, tolerance| Claim {
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: Side::new(),
        ..claim(Expects::Value { published, tolerance })
    };
    // One run of the very log: exact.
    let mut log = table(1);
    log.rows.iter_mut().for_each(|row| row.values[0] = Some(92.576_539_73));
    assert_eq!(verdict(&number(92.576_539_73, 5e-9), &log, true).verdict, Verdict::Holds);
    let off = verdict(&number(92.6, 0.01), &log, true);
    assert_eq!(
        (off.verdict, off.measured.as_str(), off.reason.as_str()),
        (Verdict::Fails, "92.577", "-0.0235 off")
    );
    // One run of a model says nothing.
    assert_eq!(verdict(&number(76.0, 5.0), &table(1), false).verdict, Verdict::Undecided);
    // 30 runs: 80 with an interval of 1.52 to each side.
    assert_eq!(verdict(&number(81.0, 3.0), &table(30), false).verdict, Verdict::Holds);
    assert_eq!(verdict(&number(81.0, 2.0), &table(30), false).verdict, Verdict::Undecided);
    assert_eq!(verdict(&number(85.0, 2.0), &table(30), false).verdict, Verdict::Fails);
}

#[test]
fn changes_are_judged_as_shares() {
    let at_half = |from, to| Claim {
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: side(&[("policy", "fcfs"), ("load", "0.5")]),
        ..claim(Expects::Change { from: Some(from), to: Some(to) })
    };
    // -20 %, with an interval of 1.5 % to each side.
    assert_eq!(verdict(&at_half(-0.3, -0.1), &table(30), false).verdict, Verdict::Holds);
    assert_eq!(verdict(&at_half(-0.3, -0.19), &table(30), false).verdict, Verdict::Undecided);
    assert_eq!(verdict(&at_half(-0.1, 0.1), &table(30), false).verdict, Verdict::Fails);
    // Ends may be open: `by = "10 %"` is at least that. FCFS is 25 % above EASY.
    let open = |turned: bool, from, to| {
        let claim = at_half(0.0, 0.0);
        let (of, than) = if turned { (claim.than, claim.of) } else { (claim.of, claim.than) };
        Claim { of, than, expects: Expects::Change { from, to }, ..claim }
    };
    for seeds in [1, 30] {
        let judged = |claim: &Claim| verdict(claim, &table(seeds), seeds == 1).verdict;
        assert_eq!(judged(&open(true, Some(0.1), None)), Verdict::Holds);
        assert_eq!(judged(&open(true, Some(0.5), None)), Verdict::Fails);
        assert_eq!(judged(&open(false, None, Some(-0.1))), Verdict::Holds);
        assert_eq!(judged(&open(false, None, Some(-0.5))), Verdict::Fails);
    }
}

#[test]
fn the_other_side_is_at_the_same_point() {
    // `than` says nothing of the load: it is that of `of`.
    let at_half = Claim { of: side(&[("policy", "easy"), ("load", "0.5")]), ..claim(Expects::Below) };
    let both = Claim { than: side(&[("policy", "fcfs"), ("load", "0.5")]), ..at_half.clone() };
    let mut table = table(30);
    // Runs at the other load that would be taken for those of this one.
    table.rows.iter_mut().filter(|row| row.point[1] == "0.9").for_each(|row| row.values[0] = Some(10.0));
    assert_eq!(measure_claim(&at_half, &table).unwrap(), measure_claim(&both, &table).unwrap());
    let said = |claim: &Claim, table: &StudyTable| measure_claim(claim, table).unwrap_err().to_string();
    let chooses = Claim { than: side(&[("policy", "fcfs"), ("load", "0.5")]), ..claim(Expects::Below) };
    assert_eq!(
        said(&chooses, &table),
        "claim `claim`: `than` chooses on axis `load`, and `of` leaves it open: there is nothing to pair"
    );
    let mut several = claim(Expects::Below);
    several.than.insert("policy".to_owned(), vec!["fcfs".to_owned(), "easy".to_owned()]);
    assert!(said(&several, &table).contains("several labels of axis `policy` for one of `of`"));
    // Two runs of one seed at a point: which one is meant?
    let again = table.rows[0].clone();
    table.rows.push(again);
    assert_eq!(
        said(&claim(Expects::Below), &table),
        "claim `claim`: there are 31 runs of 30 seeds at `load 0.5`"
    );
}

#[test]
fn rows_fall_step_by_step() {
    let falling = Claim {
        measures: vec!["mean_wait".to_owned(), "class.VS N.mean_wait".to_owned()],
        than: Side::new(),
        ..claim(Expects::Falling)
    };
    let holds = verdict(&falling, &table(30), false);
    assert_eq!(holds.verdict, Verdict::Holds);
    assert_eq!(holds.measured, "load 0.5: 80.00, 40.00; load 0.9: 99.00, 49.50");
    let rising = Claim { expects: Expects::Rising, ..falling };
    assert_eq!(verdict(&rising, &table(30), false).verdict, Verdict::Fails);
}

#[test]
fn points_whose_backlog_grows_are_named_and_left_out() {
    let mut growing = table(30);
    growing.rows.iter_mut().filter(|row| row.point == ["fcfs", "0.9"]).for_each(|row| row.grows = true);
    let open = verdict(&claim(Expects::Below), &growing, false);
    assert_eq!(open.verdict, Verdict::Undecided);
    assert_eq!(
        open.reason,
        "it holds at 1 of 2 points, and the others have no mean; no mean at load 0.9: the backlog still grows in 30 of 60 runs"
    );
    growing.rows.iter_mut().for_each(|row| row.grows = true);
    assert_eq!(verdict(&claim(Expects::Below), &growing, false).verdict, Verdict::Undecided);
}

#[test]
fn the_runs_of_a_row_are_counted_once() {
    let falling = Claim {
        measures: vec!["mean_wait".to_owned(), "class.VS N.mean_wait".to_owned()],
        than: Side::new(),
        ..claim(Expects::Falling)
    };
    let mut growing = table(30);
    growing
        .rows
        .iter_mut()
        .filter(|row| row.point[1] == "0.9" && row.seed < 3)
        .for_each(|row| row.grows = true);
    let reason = verdict(&falling, &growing, false).reason;
    assert!(reason.ends_with("the backlog still grows in 2 of 30 runs"), "{reason}");
}

#[test]
fn what_is_not_in_a_number_is_told_with_it() {
    let number = Claim {
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: Side::new(),
        ..claim(Expects::Value { published: 80.0, tolerance: 5.0 })
    };
    let mut table = table(32);
    let mut rows = table.rows.iter_mut().filter(|row| row.point == ["easy", "0.5"]);
    rows.next().unwrap().values[0] = None;
    rows.next().unwrap().outcomes.rejected = 3;
    let judged = verdict(&number, &table, false);
    assert_eq!(judged.verdict, Verdict::Holds);
    assert_eq!(
        judged.reason,
        "31 seeds, the interval is inside; 1 of 32 runs have no such jobs; 3 jobs were rejected or never finished, and are not in it"
    );
}

#[test]
fn what_is_missing_is_named() {
    let claim = claim(Expects::Below);
    let measured = Measured::Missing("`x.swf.gz` is not at hand".to_owned());
    let judged = judge(&[(&claim, &measured, true)]).remove(0);
    assert_eq!(
        (judged.verdict, judged.reason.as_str()),
        (Verdict::NotComparable, "`x.swf.gz` is not at hand")
    );
    let shown = Claim { expects: Expects::Shown { published: Some(3.58) }, ..claim };
    let shown = verdict(&shown, &table(1), true);
    assert_eq!(
        (shown.verdict, shown.measured.as_str()),
        (Verdict::NotComparable, "load 0.5: 76.00; load 0.9: 95.00")
    );
}

#[test]
fn wrong_names_are_told_with_the_nearest() {
    let said = |claim: &Claim| {
        let error = measure_claim(claim, &table(1)).unwrap_err();
        (error.to_string(), error.hint().map(str::to_owned))
    };
    let wrong = Claim { of: side(&[("polcy", "easy")]), ..claim(Expects::Below) };
    let hint = Some("did you mean `policy`?".to_owned());
    assert_eq!(
        said(&wrong),
        ("claim `claim`: the campaign has no axis `polcy`; its axes are policy, load".to_owned(), hint)
    );
    let wrong = Claim { measures: vec!["mean_wiat".to_owned()], ..claim(Expects::Below) };
    assert_eq!(said(&wrong).1, Some("did you mean `mean_wait`?".to_owned()));
    let wrong = Claim { than: side(&[("policy", "fcsf")]), ..claim(Expects::Below) };
    assert_eq!(said(&wrong).0, "claim `claim`: axis `policy` has no `fcsf`; it has fcfs, easy");
}
