use super::*;
use crate::metrics::StudyTable;
use crate::metrics::samples::study;

/// `policy` x `load` under `seeds` seeds: waits of `fcfs` are 100, of `easy` 80 at load 0.5 and 99 at load 0.9, all with a bit of noise that
/// is not the same in both.
fn table(seeds: u64) -> StudyTable {
    study(&["fcfs", "easy"], seeds, ["mean_wait", "class.VS N.mean_wait"], |policy, load, seed| {
        let noise = if seed % 2 == 0 { 4.0 } else { -4.0 };
        let wait = match (policy, load) {
            ("easy", "0.5") => 80.0 + noise,
            ("easy", _) => 99.0 + noise,
            _ => 100.0,
        };
        [wait, wait / 2.0]
    })
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

fn verdict(claim: &Claim, table: &StudyTable, drawn: bool) -> Judgement {
    let measured = measure_claim(claim, table).unwrap();
    judge(&[(claim, &measured, drawn)]).remove(0)
}

#[test]
fn a_direction_holds_where_every_point_shows_it() {
    let below = claim(Expects::Below);
    let undecided = verdict(&below, &table(30), true);
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
    let holds = verdict(&at_half, &table(30), true);
    assert_eq!(holds.verdict, Verdict::Holds);
    assert_eq!(holds.reason, "30 seeds, p < 0.05 after Holm over 1 test");
    let fails = verdict(&Claim { expects: Expects::Above, ..at_half.clone() }, &table(30), true);
    assert_eq!(fails.verdict, Verdict::Fails);
    assert!(fails.reason.starts_with("it is -21.5"), "{}", fails.reason);
    let few = verdict(&at_half, &table(29), true);
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
    assert_eq!(judge(&[(&weak, &measured, true)])[0].verdict, Verdict::Holds);
    let page: Vec<_> = (0..20).map(|_| (&weak, &measured, true)).collect();
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
    let alone = judge(&[(&sign, &of_sign, true)]).remove(0);
    assert_eq!(alone.verdict, Verdict::Holds);
    let p = alone.points[0].adjusted_p.unwrap();
    assert!(p > 0.025 && p < 0.05, "{p}");
    let both = judge(&[(&sign, &of_sign, true), (&number, &of_number, true)]);
    assert_eq!((both[0].verdict, both[1].verdict), (Verdict::Undecided, Verdict::Holds));
    let width = |judged: &Judgement| judged.points[0].interval.map(|(low, high)| high - low).unwrap();
    let by_itself = judge(&[(&number, &of_number, true)]);
    assert!(width(&both[1]) > width(&by_itself[0]));
    // Where nothing is drawn there is no test, so that it does not count.
    let logged = judge(&[(&number, &of_number, true), (&number, &of_number, false)]);
    assert_eq!(width(&logged[0]), width(&by_itself[0]));
    assert_eq!((logged[1].points[0].interval, logged[1].points[0].n), (None, 1));
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
    assert_eq!(verdict(&number(92.576_539_73, 5e-9), &log, false).verdict, Verdict::Holds);
    let off = verdict(&number(92.6, 0.01), &log, false);
    assert_eq!(
        (off.verdict, off.measured.as_str(), off.reason.as_str()),
        (Verdict::Fails, "92.577", "-0.0235 off")
    );
    // One run of a model says nothing.
    assert_eq!(verdict(&number(76.0, 5.0), &table(1), true).verdict, Verdict::Undecided);
    // 30 runs: 80 with an interval of 1.52 to each side.
    assert_eq!(verdict(&number(81.0, 3.0), &table(30), true).verdict, Verdict::Holds);
    assert_eq!(verdict(&number(81.0, 2.0), &table(30), true).verdict, Verdict::Undecided);
    assert_eq!(verdict(&number(85.0, 2.0), &table(30), true).verdict, Verdict::Fails);
}

#[test]
fn changes_are_judged_as_shares() {
    let at_half = |from, to| Claim {
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: side(&[("policy", "fcfs"), ("load", "0.5")]),
        ..claim(Expects::Change { from: Some(from), to: Some(to) })
    };
    // -20 %, with an interval of 1.5 % to each side.
    assert_eq!(verdict(&at_half(-0.3, -0.1), &table(30), true).verdict, Verdict::Holds);
    assert_eq!(verdict(&at_half(-0.3, -0.19), &table(30), true).verdict, Verdict::Undecided);
    assert_eq!(verdict(&at_half(-0.1, 0.1), &table(30), true).verdict, Verdict::Fails);
    // Ends may be open: `by = "10 %"` is at least that. FCFS is 25 % above EASY.
    let open = |turned: bool, from, to| {
        let claim = at_half(0.0, 0.0);
        let (of, than) = if turned { (claim.than, claim.of) } else { (claim.of, claim.than) };
        Claim { of, than, expects: Expects::Change { from, to }, ..claim }
    };
    let judged = |claim: &Claim| {
        let one_run = verdict(claim, &table(1), false);
        (verdict(claim, &table(30), true).verdict, one_run.verdict, one_run.points[0].in_this_run)
    };
    let (holds, fails) =
        ((Verdict::Holds, Verdict::Undecided, Some(true)), (Verdict::Fails, Verdict::Undecided, Some(false)));
    assert_eq!(judged(&open(true, Some(0.1), None)), holds);
    assert_eq!(judged(&open(true, Some(0.5), None)), fails);
    assert_eq!(judged(&open(false, None, Some(-0.1))), holds);
    assert_eq!(judged(&open(false, None, Some(-0.5))), fails);
}

#[test]
fn an_order_in_one_run_of_one_log_is_no_verdict() {
    // In the one run, jobs wait 76 s and not 100 s at load 0.5, 95 s and not 100 s at 0.9.
    let open = verdict(&claim(Expects::Below), &table(1), false);
    let reason = "one log, one run: no interval; it is so at 2 of 2 points of this run";
    assert_eq!((open.verdict, open.reason.as_str()), (Verdict::Undecided, reason));
    let not = verdict(&claim(Expects::Above), &table(1), false);
    assert_eq!(not.verdict, Verdict::Undecided);
    assert!(not.reason.ends_with("it is so at 0 of 2 points of this run"), "{}", not.reason);
    // Thirty seeds of a replay in which nothing is drawn are one run thirty times, and not thirty samples.
    let mut copies = table(30);
    copies.rows.iter_mut().filter(|row| row.point[0] == "easy").for_each(|row| row.values[0] = Some(80.0));
    let same = verdict(&claim(Expects::Below), &copies, false);
    assert_eq!((same.verdict, same.reason.as_str(), same.points[0].n), (Verdict::Undecided, reason, 1));
    let falling = Claim {
        measures: vec!["mean_wait".to_owned(), "class.VS N.mean_wait".to_owned()],
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: Side::new(),
        ..claim(Expects::Falling)
    };
    let row = verdict(&falling, &table(1), false);
    assert_eq!(row.reason, "one log, one run: no interval; it is so in this run");
    assert_eq!(row.measured, "76.00, 38.00");
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
    let holds = verdict(&falling, &table(30), true);
    assert_eq!(holds.verdict, Verdict::Holds);
    assert_eq!(holds.measured, "load 0.5: 80.00, 40.00; load 0.9: 99.00, 49.50");
    let rising = Claim { expects: Expects::Rising, ..falling };
    assert_eq!(verdict(&rising, &table(30), true).verdict, Verdict::Fails);
}

#[test]
fn points_whose_backlog_grows_are_named_and_left_out() {
    let mut growing = table(30);
    growing.rows.iter_mut().filter(|row| row.point == ["fcfs", "0.9"]).for_each(|row| row.grows = true);
    let open = verdict(&claim(Expects::Below), &growing, true);
    assert_eq!(open.verdict, Verdict::Undecided);
    assert_eq!(
        open.reason,
        "it holds at 1 of 2 points, and the others have no mean; no mean at load 0.9: the backlog still grows in 30 of 60 runs"
    );
    growing.rows.iter_mut().for_each(|row| row.grows = true);
    assert_eq!(verdict(&claim(Expects::Below), &growing, true).verdict, Verdict::Undecided);
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
    let reason = verdict(&falling, &growing, true).reason;
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
    let judged = verdict(&number, &table, true);
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
    let judged = judge(&[(&claim, &measured, false)]).remove(0);
    assert_eq!(
        (judged.verdict, judged.reason.as_str()),
        (Verdict::NotComparable, "`x.swf.gz` is not at hand")
    );
    let shown = Claim { expects: Expects::Shown { published: Some(3.58) }, ..claim };
    let shown = verdict(&shown, &table(1), false);
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
