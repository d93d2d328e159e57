//! Claims on the greatest gain along an axis.

use super::*;

/// Gains of `easy` over `fcfs`: 20 % at load 0.5 (with the noise 16 or 24 %), 1 % at load 0.9 (5 or -3 %). The greatest
/// is 16 % for even seeds and 24 % for odd ones.
#[test]
fn the_greatest_gain_along_an_axis_is_one_of_the_kind_of_the_seeds() {
    let up_to = |published| Claim { along: Some("load".to_owned()), ..claim(Expects::UpTo { published }) };
    let holds = verdict(&up_to(0.2), &table(200), true);
    assert_eq!(holds.measured, "+16.0 to +24.0 % in 95 of 100 seeds");
    assert_eq!(told(&holds), (Verdict::Holds, "p = 1.00: 100 of 200 as high", ""));
    // It can fail: 2 (0 + 1) / 201 is below 0.01.
    let fails = verdict(&up_to(0.3), &table(200), true);
    assert_eq!(told(&fails), (Verdict::Fails, "p = 0.00995: 0 of 200 as high", ""));
    // Where it could not, it cannot hold either.
    let few = verdict(&up_to(0.2), &table(199), true);
    assert_eq!(
        (few.verdict, few.reason.as_str()),
        (Verdict::Undecided, "199 seeds, and a verdict needs 200")
    );
}

#[test]
fn the_best_of_several_is_chosen_seed_by_seed() {
    // Of `fcfs` (100) and `easy` (96 or 104 less 20) `easy` is always the better one at load 0.5; at 0.9 it is for odd seeds (95) only.
    let best = Claim {
        of: [("policy".to_owned(), vec!["fcfs".to_owned(), "easy".to_owned()])].into(),
        best: Some("policy".to_owned()),
        along: Some("load".to_owned()),
        ..claim(Expects::UpTo { published: 0.2 })
    };
    // What is chosen by its result is shown with its numbers, and never judged.
    let chosen = verdict(&best, &table(200), true);
    assert_eq!(chosen.measured, "+16.0 to +24.0 % in 95 of 100 seeds");
    let reason = "the best of 2 is chosen afterwards";
    assert_eq!(told(&chosen), (Verdict::Shown, "p = 1.00: 100 of 200 as high", reason));
    let at_high = Claim { along: None, expects: Expects::Below, ..best.clone() };
    // 95 or 100 compared with 100: 2.5 % less on average.
    let at_high = verdict(&at_high, &table(100), true);
    assert_eq!(
        (at_high.verdict, at_high.points[1].of, at_high.points[1].than),
        (Verdict::Shown, Some(97.5), Some(100.0))
    );
    let nothing_to_choose = Claim { of: side(&[("policy", "easy")]), ..best.clone() };
    let refused = measured(&nothing_to_choose, &table(30)).unwrap_err();
    assert!(
        refused.to_string().contains("`best = \"policy\"`: `of` leaves nothing to choose there"),
        "{refused}"
    );
    let no_axis = Claim { along: Some("laod".to_owned()), ..best };
    assert_eq!(measured(&no_axis, &table(30)).unwrap_err().hint(), Some("did you mean `load`?"));
}

#[test]
fn a_printed_gain_is_judged_by_its_tail_probability() {
    let gains: Vec<f64> = (0..2_000).map(f64::from).collect();
    let tail = |published| super::judge::tail(&gains, published);
    // Nine of 2,000 are as high: 2 (9 + 1) / 2,001. On the other side alike.
    assert!((tail(1_991.0) - 20.0 / 2_001.0).abs() < 1e-12);
    assert!((tail(8.0) - 20.0 / 2_001.0).abs() < 1e-12);
    assert!((tail(9_000.0) - 2.0 / 2_001.0).abs() < 1e-12);
    assert_eq!(tail(1_000.0), 1.0);
    let sample = Sample {
        measure: 0,
        of_measure: String::new(),
        at: String::new(),
        of: gains.clone(),
        than: Vec::new(),
        note: None,
        seeds: 2_000,
        one_run: false,
        draws: Draws::Independent,
        weeks: None,
    };
    let measured = Measured::Samples(vec![sample]);
    let says = |published| judge(&claim(Expects::UpTo { published }), &measured).verdict;
    assert_eq!(says(1_991.0), Verdict::Fails);
    assert_eq!(says(1_990.0), Verdict::Undecided, "p is 0.011");
    assert_eq!(says(1_952.0), Verdict::Undecided, "p is 0.049");
    assert_eq!(says(1_950.0), Verdict::Holds, "p is 0.051");
    assert_eq!((says(8.0), says(49.0)), (Verdict::Fails, Verdict::Holds));
}

#[test]
fn runs_of_their_kind_are_seldom_called_others() {
    // The printed gain is one more draw of the same distribution: it is ruled out in at most 1 of 100 papers.
    let mut stream = crate::workload::random::Stream::new(3, "test", "gains");
    let (mut failed, mut held) = (0, 0);
    for _ in 0..2_000 {
        let gains: Vec<f64> = (0..400).map(|_| stream.uniform()).collect();
        let p = super::judge::tail(&gains, stream.uniform());
        failed += i32::from(p < ERROR);
        held += i32::from(p >= ORDINARY);
    }
    assert!(failed <= 32 && held > 1_860, "{failed} ruled out, {held} held");
}
