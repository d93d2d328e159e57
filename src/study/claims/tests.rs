mod gains;
mod missing;

use super::*;
use crate::study::StudyTable;
use crate::study::tests::study;

/// `policy` x `load` under `seeds` seeds: waits of `fcfs` are 100, of `easy` 80 at load 0.5 and 99 at load 0.9, all with
/// some noise that differs between the two.
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
        paper: None,
        group: None,
        source: "Table 1".to_owned(),
        says: "so".to_owned(),
        campaign: None,
        not_comparable: None,
        line: 1,
        measures: vec!["mean_wait".to_owned()],
        of: side(&[("policy", "easy")]),
        than: side(&[("policy", "fcfs")]),
        expects,
        along: None,
        best: None,
        no_difference: None,
    }
}

fn verdict(claim: &Claim, table: &StudyTable, drawn: bool) -> Judgement {
    let measured = measure_claim(claim, table, &|_| drawn).unwrap();
    judge(&[(claim, &measured)]).remove(0)
}

/// Measures a claim on a table in which all runs are drawn.
fn measured(claim: &Claim, table: &StudyTable) -> Result<Measured, ClaimError> {
    measure_claim(claim, table, &|_| true)
}

/// The same study, but nothing is drawn in the runs that are `meant`: each seed gives the run of the first.
fn copied(mut table: StudyTable, meant: impl Fn(&[String]) -> bool) -> StudyTable {
    let first: Vec<_> = table.rows.iter().filter(|row| row.seed == 1).cloned().collect();
    for row in table.rows.iter_mut().filter(|row| meant(&row.point)) {
        let of = first.iter().find(|first| first.point == row.point).unwrap();
        row.values.clone_from(&of.values);
        row.fingerprint = row.point.join("/");
    }
    table
}

#[test]
fn a_direction_holds_where_every_point_shows_it() {
    let below = claim(Expects::Below);
    let undecided = verdict(&below, &table(30), true);
    // At load 0.9 the difference is -1 with a standard error of 4 x sqrt(30 / 29) / sqrt(30) = 0.74.
    assert_eq!(undecided.verdict, Verdict::Undecided);
    assert_eq!(
        undecided.measured,
        "load 0.5: -20.0 % (so in 30 of 30 seeds); load 0.9: -1.0 % (so in 15 of 30 seeds)"
    );
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
    // The difference at load 0.9 is significant by itself with more seeds, but not among many tests.
    let at = |load: &str| Claim {
        of: side(&[("policy", "easy"), ("load", load)]),
        than: side(&[("policy", "fcfs"), ("load", load)]),
        ..claim(Expects::Below)
    };
    let table = table(80);
    let weak = at("0.9");
    let measured = measured(&weak, &table).unwrap();
    assert_eq!(judge(&[(&weak, &measured)])[0].verdict, Verdict::Holds);
    let page: Vec<_> = (0..20).map(|_| (&weak, &measured)).collect();
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
    let (of_sign, of_number) = (measured(&sign, &table).unwrap(), measured(&number, &table).unwrap());
    // The p value is 0.0415: below 0.05, but not below half of it.
    let alone = judge(&[(&sign, &of_sign)]).remove(0);
    assert_eq!(alone.verdict, Verdict::Holds);
    let p = alone.points[0].adjusted_p.unwrap();
    assert!(p > 0.025 && p < 0.05, "{p}");
    let both = judge(&[(&sign, &of_sign), (&number, &of_number)]);
    assert_eq!((both[0].verdict, both[1].verdict), (Verdict::Undecided, Verdict::Holds));
    let width = |judged: &Judgement| judged.points[0].interval.map(|(low, high)| high - low).unwrap();
    let by_itself = judge(&[(&number, &of_number)]);
    assert!(width(&both[1]) > width(&by_itself[0]));
    // Where nothing is drawn there is no test, so it does not count.
    let of_log = measured(&number, &copied(table, |_| true)).unwrap();
    let logged = judge(&[(&number, &of_number), (&number, &of_log)]);
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
    // One run of the very log of the paper: the number is exact.
    let mut log = table(1);
    log.rows.iter_mut().for_each(|row| row.values[0] = Some(92.576_539_73));
    assert_eq!(verdict(&number(92.576_539_73, 5e-9), &log, false).verdict, Verdict::Holds);
    let off = verdict(&number(92.6, 0.01), &log, false);
    assert_eq!(
        (off.verdict, off.measured.as_str(), off.reason.as_str()),
        (Verdict::Fails, "92.577", "-0.0235 off")
    );
    // One run of a model allows no conclusion.
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
    // Ends may be open: `by = "10 %"` means at least that. FCFS is 25 % above EASY.
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
    let reason = "one log, one run: no interval; it is so at 2 of 2 points, one run each";
    assert_eq!((open.verdict, open.reason.as_str()), (Verdict::Undecided, reason));
    let not = verdict(&claim(Expects::Above), &table(1), false);
    assert_eq!(not.verdict, Verdict::Undecided);
    assert!(not.reason.ends_with("it is so at 0 of 2 points, one run each"), "{}", not.reason);
    // Thirty seeds of a replay in which nothing is drawn are thirty copies of one run, and not thirty samples.
    let copies = copied(table(30), |_| true);
    let same = verdict(&claim(Expects::Below), &copies, true);
    assert_eq!((same.verdict, same.reason.as_str(), same.points[0].n), (Verdict::Undecided, reason, 1));
    let number = Claim { than: Side::new(), ..claim(Expects::Value { published: 76.0, tolerance: 0.0 }) };
    let number = Claim { of: side(&[("policy", "easy"), ("load", "0.5")]), ..number };
    let exact = verdict(&number, &copies, true);
    assert_eq!((exact.verdict, exact.reason.as_str()), (Verdict::Holds, "one log: exact"));
    let falling = Claim {
        measures: vec!["mean_wait".to_owned(), "class.VS N.mean_wait".to_owned()],
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: Side::new(),
        ..claim(Expects::Falling)
    };
    let row = verdict(&falling, &table(1), false);
    assert_eq!(row.reason, "one log, one run: no interval; it is so in this run");
    assert_eq!(row.measured, "76.00, 38.00");
    // The steps of a row at one point are steps of one run.
    let measures = ["mean_wait", "class.VS N.mean_wait", "mean_wait"].map(str::to_owned).to_vec();
    let row = verdict(&Claim { measures: measures.clone(), ..falling.clone() }, &table(1), false);
    assert!(row.reason.ends_with("it is so at 1 of 2 steps of this run"), "{}", row.reason);
    let rows = Claim { measures, of: side(&[("policy", "easy")]), ..falling };
    let rows = verdict(&rows, &table(1), false);
    assert!(rows.reason.ends_with("it is so at 2 of 4 steps, one run at each point"), "{}", rows.reason);
}

#[test]
fn whether_there_is_chance_is_asked_of_the_runs_that_are_meant() {
    // At load 0.5 nothing is drawn, at 0.9 all is.
    let mixed = copied(table(30), |point| point[1] == "0.5");
    let at = |load: &str, expects| Claim {
        of: side(&[("policy", "easy"), ("load", load)]),
        than: side(&[("policy", "fcfs"), ("load", load)]),
        ..claim(expects)
    };
    let logged = verdict(&at("0.5", Expects::Below), &mixed, true);
    assert_eq!(
        (logged.verdict, logged.reason.as_str()),
        (Verdict::Undecided, "one log, one run: no interval; it is so in this run")
    );
    let drawn = verdict(&at("0.9", Expects::Above), &mixed, false);
    assert_eq!((drawn.verdict, drawn.points[0].n), (Verdict::Undecided, 30));
    assert!(drawn.reason.starts_with("the difference is -2.5192 to +0.5192"), "{}", drawn.reason);
    // Each point of one claim is judged by its own kind of runs.
    let both = verdict(&claim(Expects::Below), &mixed, true);
    assert_eq!(both.points.iter().map(|point| point.n).collect::<Vec<_>>(), [1, 30]);
    assert!(
        both.reason.starts_with(
            "one log, one run: no interval; it is so in this run; load 0.9: the difference is -2.5192"
        ),
        "{}",
        both.reason
    );
    let number = Claim { than: Side::new(), ..claim(Expects::Value { published: 87.0, tolerance: 15.0 }) };
    let number = verdict(&number, &mixed, true);
    assert_eq!(
        (number.verdict, number.reason.as_str()),
        (
            Verdict::Holds,
            "at 1 of 2 points one log: exact; at each of the others, 30 seeds, the interval is inside"
        )
    );
    // One drawn side is sufficient: FCFS replays a log, EASY does not.
    let one_side = copied(table(30), |point| point[0] == "fcfs");
    let tested = verdict(&at("0.5", Expects::Below), &one_side, true);
    assert_eq!((tested.verdict, tested.points[0].n), (Verdict::Holds, 30));
    // With one seed the runs do not show it, so the plan gives it, run by run: those at load 0.5 are 1 and 2.
    let once = table(1);
    let by_plan = |load: &str| {
        let claim = at(load, Expects::Below);
        let measured = measure_claim(&claim, &once, &|run| run > 2).unwrap();
        judge(&[(&claim, &measured)]).remove(0).reason
    };
    assert_eq!(by_plan("0.5"), "one log, one run: no interval; it is so in this run");
    assert_eq!(by_plan("0.9"), "1 seed, and a verdict needs 30");
}

#[test]
fn the_other_side_is_at_the_same_point() {
    // `than` does not name the load: it is that of `of`.
    let at_half = Claim { of: side(&[("policy", "easy"), ("load", "0.5")]), ..claim(Expects::Below) };
    let both = Claim { than: side(&[("policy", "fcfs"), ("load", "0.5")]), ..at_half.clone() };
    let fresh = table(30);
    let mut table = fresh.clone();
    // Runs at the other load that must not be taken for those of this one.
    table.rows.iter_mut().filter(|row| row.point[1] == "0.9").for_each(|row| row.values[0] = Some(10.0));
    assert_eq!(measured(&at_half, &table).unwrap(), measured(&both, &table).unwrap());
    let said = |claim: &Claim, table: &StudyTable| measured(claim, table).unwrap_err().to_string();
    let chooses = Claim { than: side(&[("policy", "fcfs"), ("load", "0.5")]), ..claim(Expects::Below) };
    assert_eq!(
        said(&chooses, &table),
        "claim `claim`: `than` chooses on axis `load`, and `of` leaves it open: there is nothing to pair"
    );
    // One label of `than` for several of `of`: each of them is compared with it.
    let labels = |labels: &[&str]| labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>();
    let against_one = Claim {
        of: [("policy".to_owned(), labels(&["easy"])), ("load".to_owned(), labels(&["0.5", "0.9"]))].into(),
        than: side(&[("policy", "fcfs"), ("load", "0.9")]),
        ..claim(Expects::Below)
    };
    let itself = Claim { than: side(&[("load", "0.9")]), ..against_one.clone() };
    assert!(said(&itself, &fresh).contains("`0.9` of axis `load` would be compared with itself"));
    let Measured::Samples(samples) = measured(&against_one, &fresh).unwrap() else { panic!() };
    let means = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let found: Vec<_> =
        samples.iter().map(|sample| (sample.at.as_str(), means(&sample.of), means(&sample.than))).collect();
    assert_eq!(found, [("load 0.5", 80.0, 100.0), ("load 0.9", 99.0, 100.0)]);
    let mut several = claim(Expects::Below);
    several.than.insert("policy".to_owned(), vec!["fcfs".to_owned(), "easy".to_owned()]);
    assert!(said(&several, &table).contains("several labels of axis `policy` for one of `of`"));
    // Two runs of one seed at a point are ambiguous.
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
    growing.rows.iter_mut().filter(|row| row.point == ["fcfs", "0.9"]).for_each(|row| row.unstable = true);
    let open = verdict(&claim(Expects::Below), &growing, true);
    assert_eq!(open.verdict, Verdict::Undecided);
    assert_eq!(
        open.reason,
        "it holds at 1 of 2 points, and the others have no mean; no mean at load 0.9: 30 of 60 runs are unstable (their backlog grows)"
    );
    growing.rows.iter_mut().for_each(|row| row.unstable = true);
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
        .for_each(|row| row.unstable = true);
    let reason = verdict(&falling, &growing, true).reason;
    assert!(reason.ends_with("2 of 30 runs are unstable (their backlog grows)"), "{reason}");
}
