mod gains;
mod missing;
mod several;

use super::*;
use crate::study::StudyTable;
use crate::study::statistics::{Draws, Week};
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
        than_measures: Vec::new(),
        at_least: None,
        values: Vec::new(),
        gain_over: Side::new(),
        on_this_log: false,
    }
}

fn verdict(claim: &Claim, table: &StudyTable, drawn: bool) -> Judgement {
    let measured = measure_claim(claim, table, Runs { drawn: &|_| drawn, jobs: &|_| None }).unwrap();
    judge(claim, &measured)
}

/// Measures a claim on a table in which all runs are drawn.
fn measured(claim: &Claim, table: &StudyTable) -> Result<Measured, ClaimError> {
    measure_claim(claim, table, Runs { drawn: &|_| true, jobs: &|_| None })
}

/// Verdict, evidence and reason.
fn told(judged: &Judgement) -> (Verdict, &str, &str) {
    (judged.verdict, &judged.evidence, &judged.reason)
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
fn an_order_holds_where_every_point_shows_it() {
    let below = claim(Expects::Below);
    // At load 0.9 the difference is -1 with a standard error of 4 x sqrt(30 / 29) / sqrt(30) = 0.74, times 2.76.
    let open = verdict(&below, &table(30), true);
    assert_eq!(open.measured, "-20.0 to -1.0 % at 2 points (50 to 100 % of seeds)");
    let missing = "at load 0.9; missing: about 130 seeds";
    assert_eq!(told(&open), (Verdict::Undecided, "-3.0 to +1.0 % (load 0.9)", missing));
    let holds = verdict(&below, &table(200), true);
    assert_eq!(told(&holds), (Verdict::Holds, "-1.7 to -0.3 % (load 0.9)", ""));
    let fails = verdict(&Claim { expects: Expects::Above, ..below.clone() }, &table(30), true);
    assert_eq!(told(&fails), (Verdict::Fails, "-22.0 to -18.0 % (load 0.5)", "at load 0.5"));
    let few = verdict(&below, &table(29), true);
    assert_eq!(told(&few), (Verdict::Undecided, "", "at all 2 points 29 seeds, and a verdict needs 30"));
}

#[test]
fn each_point_of_an_order_is_tested_at_its_own_level() {
    // The verdict on a claim does not depend on the other claims of its page, and that on a point not on the other points: at load
    // 0.9 it is the same by itself and beside load 0.5.
    let both = verdict(&claim(Expects::Below), &table(200), true);
    let at = Claim { of: side(&[("policy", "easy"), ("load", "0.9")]), ..claim(Expects::Below) };
    let alone = verdict(&at, &table(200), true);
    assert_eq!((alone.verdict, both.verdict), (Verdict::Holds, Verdict::Holds));
    assert_eq!(alone.points[0].interval, both.points[1].interval);
    // Against a claim, a point counts at a level for all of them: with p = 0.0063 it fails by itself, and not as one of two.
    let mut slight = table(120);
    slight
        .rows
        .iter_mut()
        .filter(|row| row.point == ["easy", "0.5"])
        .for_each(|row| row.values[0] = Some(100.0));
    let alone = verdict(&Claim { expects: Expects::Above, ..at }, &slight, true);
    assert_eq!(alone.verdict, Verdict::Fails);
    let both = verdict(&claim(Expects::Above), &slight, true);
    assert_eq!((both.verdict, both.points[1].says), (Verdict::Undecided, Says::Open));
}

#[test]
fn no_difference_beyond_what_is_stated_is_a_verdict() {
    let order = |d| Claim { no_difference: d, ..claim(Expects::Below) };
    let at = |load: &str, d| Claim { of: side(&[("policy", "easy"), ("load", load)]), ..order(d) };
    // -3.0 to +1.0 % at load 0.9: within 4 %, and not within 2 %.
    assert_eq!(verdict(&at("0.9", Some(0.02)), &table(30), true).verdict, Verdict::Undecided);
    let same = verdict(&at("0.9", Some(0.04)), &table(30), true);
    assert_eq!(told(&same), (Verdict::NoDifference, "-3.0 to +1.0 %", ""));
    // An order that is shown is one, however small it is, and a difference of 20 % is none below 4 %.
    assert_eq!(verdict(&at("0.9", Some(0.04)), &table(200), true).verdict, Verdict::Holds);
    assert_eq!(verdict(&at("0.5", Some(0.04)), &table(30), true).verdict, Verdict::Holds);
    let turned = Claim { expects: Expects::Above, ..at("0.5", Some(0.04)) };
    assert_eq!(verdict(&turned, &table(30), true).verdict, Verdict::Fails);
    // It holds at load 0.5, so there is no difference at 0.9 only.
    let both = verdict(&order(Some(0.04)), &table(30), true);
    assert_eq!(told(&both), (Verdict::NoDifference, "-3.0 to +1.0 % (load 0.9)", "at load 0.9"));
    // Sides that are equal in every seed are no order.
    let mut equal = table(30);
    equal.rows.iter_mut().for_each(|row| row.values[0] = Some(7.0));
    assert_eq!(verdict(&order(Some(0.04)), &equal, true).verdict, Verdict::NoDifference);
    assert_eq!(verdict(&order(None), &equal, true).verdict, Verdict::Undecided);
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
    assert_eq!((off.verdict, off.measured.as_str()), (Verdict::Fails, "92.577"));
    // One run of a model allows no conclusion.
    assert_eq!(verdict(&number(76.0, 5.0), &table(1), true).verdict, Verdict::Undecided);
    // 30 runs: 80 with an interval of 2.05 to each side.
    assert_eq!(verdict(&number(81.0, 3.1), &table(30), true).verdict, Verdict::Holds);
    assert_eq!(verdict(&number(81.0, 2.0), &table(30), true).verdict, Verdict::Undecided);
    assert_eq!(verdict(&number(85.0, 2.0), &table(30), true).verdict, Verdict::Fails);
}

#[test]
fn bounds_are_judged_on_one_side() {
    let of = |expects| Claim {
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: Side::new(),
        ..claim(expects)
    };
    let least = |published, tolerance| of(Expects::AtLeast { published, tolerance });
    let most = |published, tolerance| of(Expects::AtMost { published, tolerance });
    // 80 with an interval of 2.05 to each side.
    for (claim, verdict_of) in [
        (least(60.0, 0.0), Verdict::Holds),
        (least(79.0, 0.0), Verdict::Undecided),
        (least(79.0, 1.1), Verdict::Holds),
        (least(83.0, 0.0), Verdict::Fails),
        (most(100.0, 0.0), Verdict::Holds),
        (most(81.0, 0.0), Verdict::Undecided),
        (most(77.0, 0.5), Verdict::Fails),
    ] {
        assert_eq!(verdict(&claim, &table(30), true).verdict, verdict_of, "{:?}", claim.expects);
    }
    // One run of one log is exact, and has its value at the bound.
    let mut log = table(1);
    log.rows.iter_mut().for_each(|row| row.values[0] = Some(80.0));
    assert_eq!(verdict(&least(80.0, 0.0), &log, false).verdict, Verdict::Holds);
    assert_eq!(verdict(&most(79.9, 0.05), &log, false).verdict, Verdict::Fails);
}

#[test]
fn changes_are_judged_as_shares() {
    let at_half = |from, to| Claim {
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: side(&[("policy", "fcfs"), ("load", "0.5")]),
        ..claim(Expects::Change { from: Some(from), to: Some(to) })
    };
    // -20 %, with an interval of 2 % to each side.
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
        (verdict(claim, &table(30), true).verdict, one_run.verdict, one_run.points[0].says)
    };
    let holds = (Verdict::Holds, Verdict::Undecided, Says::OneRun(true));
    let fails = (Verdict::Fails, Verdict::Undecided, Says::OneRun(false));
    assert_eq!(judged(&open(true, Some(0.1), None)), holds);
    assert_eq!(judged(&open(true, Some(0.5), None)), fails);
    assert_eq!(judged(&open(false, None, Some(-0.1))), holds);
    assert_eq!(judged(&open(false, None, Some(-0.5))), fails);
}

#[test]
fn an_order_in_one_run_of_one_log_is_no_verdict() {
    // In the one run, jobs wait 76 s and not 100 s at load 0.5, 95 s and not 100 s at 0.9.
    let open = verdict(&claim(Expects::Below), &table(1), false);
    let reason = "one log, one run; missing: an interval; it is so at 2 of 2 points";
    assert_eq!((open.verdict, open.reason.as_str()), (Verdict::Undecided, reason));
    let not = verdict(&claim(Expects::Above), &table(1), false);
    assert_eq!(not.verdict, Verdict::Undecided);
    assert!(not.reason.ends_with("it is so at 0 of 2 points"), "{}", not.reason);
    // Thirty seeds of a replay in which nothing is drawn are thirty copies of one run, and not thirty samples.
    let copies = copied(table(30), |_| true);
    let same = verdict(&claim(Expects::Below), &copies, true);
    assert_eq!((same.verdict, same.reason.as_str(), same.points[0].n), (Verdict::Undecided, reason, 1));
    let number = Claim { than: Side::new(), ..claim(Expects::Value { published: 76.0, tolerance: 0.0 }) };
    let number = Claim { of: side(&[("policy", "easy"), ("load", "0.5")]), ..number };
    let exact = verdict(&number, &copies, true);
    assert_eq!(told(&exact), (Verdict::Holds, "exact", ""));
    let falling = Claim {
        measures: vec!["mean_wait".to_owned(), "class.VS N.mean_wait".to_owned()],
        of: side(&[("policy", "easy"), ("load", "0.5")]),
        than: Side::new(),
        ..claim(Expects::Falling)
    };
    let row = verdict(&falling, &table(1), false);
    assert_eq!(row.reason, "one log, one run; missing: an interval; it is so in this run");
    assert_eq!(row.measured, "76.00, 38.00");
    // The steps of a row at one point are points of their own.
    let measures = ["mean_wait", "class.VS N.mean_wait", "mean_wait"].map(str::to_owned).to_vec();
    let row = verdict(&Claim { measures, ..falling }, &table(1), false);
    assert!(row.reason.ends_with("it is so at 1 of 2 points"), "{}", row.reason);
}

#[test]
fn an_order_in_one_run_of_one_log_is_judged_by_its_weeks() {
    // Forty weeks of ten jobs each, which wait 60 or 100 s less, of 1,000 s; in `spread` 900 s less, or 700 s more.
    let weeks = |less: [f64; 2]| -> Vec<Week> {
        let week =
            |at: usize| Week { jobs: [10; 2], sum_a: 10_000.0, sum_b: 10_000.0 - 10.0 * less[at / 4 % 2] };
        (0..40).map(week).collect()
    };
    let judged = |expects, weeks: Vec<Week>, d| {
        let claim = Claim { no_difference: d, ..claim(expects) };
        let mean = weeks.iter().map(|week| week.sum_b).sum::<f64>() / (10 * weeks.len()) as f64;
        let sample = Sample {
            at: String::new(),
            measure: 0,
            of_measure: String::new(),
            of: vec![mean],
            than: vec![1_000.0],
            note: None,
            seeds: 1,
            one_run: true,
            draws: Draws::Independent,
            weeks: Some(weeks),
        };
        judge(&claim, &Measured::Samples(vec![sample]))
    };
    let clear = judged(Expects::Below, weeks([60.0, 100.0]), None);
    assert_eq!((clear.verdict, clear.measured.as_str()), (Verdict::Holds, "-8.0 %"));
    assert!(
        clear.evidence.starts_with('-') && clear.evidence.ends_with(" % of 40 weeks"),
        "{}",
        clear.evidence
    );
    assert_eq!(judged(Expects::Above, weeks([60.0, 100.0]), None).verdict, Verdict::Fails);
    assert_eq!(
        judged(Expects::Change { from: Some(-0.1), to: Some(0.1) }, weeks([60.0, 100.0]), None).verdict,
        Verdict::Holds
    );
    let spread = judged(Expects::Below, weeks([900.0, -700.0]), None);
    assert_eq!(spread.verdict, Verdict::Undecided);
    assert!(spread.reason.contains("weeks of such a log"), "{}", spread.reason);
    assert_eq!(judged(Expects::Below, weeks([0.1, -0.1]), Some(0.02)).verdict, Verdict::NoDifference);
    let short = judged(Expects::Below, weeks([60.0, 100.0])[..29].to_vec(), None);
    assert_eq!(told(&short), (Verdict::Undecided, "", "29 weeks, and a verdict needs 30"));
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
        (Verdict::Undecided, "one log, one run; missing: an interval; it is so in this run")
    );
    let drawn = verdict(&at("0.9", Expects::Above), &mixed, false);
    assert_eq!((drawn.verdict, drawn.points[0].n), (Verdict::Undecided, 30));
    assert_eq!(drawn.evidence, "-3.0 to +1.0 %");
    // Each point of one claim is judged by its own kind of runs.
    let both = verdict(&claim(Expects::Below), &mixed, true);
    assert_eq!(both.points.iter().map(|point| point.n).collect::<Vec<_>>(), [1, 30]);
    let reason =
        "at load 0.9; missing: about 130 seeds; one log, one run; missing: an interval; it is so in this run";
    assert_eq!(both.reason, reason);
    let number = Claim { than: Side::new(), ..claim(Expects::Value { published: 87.0, tolerance: 15.0 }) };
    let number = verdict(&number, &mixed, true);
    assert_eq!(number.verdict, Verdict::Holds);
    // One drawn side is sufficient: FCFS replays a log, EASY does not.
    let one_side = copied(table(30), |point| point[0] == "fcfs");
    let tested = verdict(&at("0.5", Expects::Below), &one_side, true);
    assert_eq!((tested.verdict, tested.points[0].n), (Verdict::Holds, 30));
    // With one seed the runs do not show it, so the plan gives it, run by run: those at load 0.5 are 1 and 2.
    let once = table(1);
    let by_plan = |load: &str| {
        let claim = at(load, Expects::Below);
        let measured = measure_claim(&claim, &once, Runs { drawn: &|run| run > 2, jobs: &|_| None }).unwrap();
        judge(&claim, &measured).reason
    };
    assert_eq!(by_plan("0.5"), "one log, one run; missing: an interval; it is so in this run");
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
    assert_eq!(holds.measured, "-50.0 % at 2 points");
    let rising = Claim { expects: Expects::Rising, ..falling };
    assert_eq!(verdict(&rising, &table(30), true).verdict, Verdict::Fails);
}

#[test]
fn points_whose_backlog_grows_are_named_and_left_out() {
    let mut growing = table(30);
    growing.rows.iter_mut().filter(|row| row.point == ["fcfs", "0.9"]).for_each(|row| row.unstable = true);
    let open = verdict(&claim(Expects::Below), &growing, true);
    assert_eq!(open.verdict, Verdict::Undecided);
    assert_eq!(open.reason, "missing: a mean at load 0.9 (30 of 60 runs are unstable (their backlog grows))");
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
    assert!(reason.ends_with("(2 of 30 runs are unstable (their backlog grows))"), "{reason}");
}
