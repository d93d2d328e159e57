//! Claims on the greatest gain along an axis.

use super::*;

/// Gains of `easy` over `fcfs`: 20 % at load 0.5 (with the noise 16 or 24 %), 1 % at load 0.9 (5 or -3 %). The greatest
/// is 16 % for even seeds and 24 % for odd ones.
#[test]
fn the_greatest_gain_along_an_axis_is_one_of_the_kind_of_the_seeds() {
    let up_to = |published| Claim { along: Some("load".to_owned()), ..claim(Expects::UpTo { published }) };
    let holds = verdict(&up_to(0.2), &table(100), true);
    assert_eq!(holds.verdict, Verdict::Holds, "{}", holds.reason);
    let measured = "+20.00 % on average, +16.0 to +24.0 % in 95 of 100 seeds; as high in 50 of 100";
    assert_eq!(holds.measured, measured);
    assert_eq!(holds.reason, "100 seeds, one of their kind");
    let fails = verdict(&up_to(0.3), &table(100), true);
    assert_eq!(fails.verdict, Verdict::Fails);
    assert_eq!(fails.reason, "it is +16.0 % to +24.0 %");
    // With 2 (0 + 1) / 31 = 0.065 thirty seeds cannot rule it out.
    let open = verdict(&up_to(0.3), &table(30), true);
    assert_eq!(open.verdict, Verdict::Undecided);
    assert_eq!(open.reason, "it is beyond all 30 seeds, too few to rule it out");
    assert_eq!(verdict(&up_to(0.2), &table(29), true).verdict, Verdict::Undecided, "a verdict needs 30");
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
    let chosen = verdict(&best, &table(100), true);
    assert!(chosen.measured.starts_with("+20.00 % on average, +16.0 to +24.0 %"), "{}", chosen.measured);
    let at_high = Claim { along: None, expects: Expects::Below, ..best.clone() };
    // 95 or 100 compared with 100: 2.5 % less on average.
    assert!(
        verdict(&at_high, &table(100), true).measured.ends_with("load 0.9: -2.5 % (so in 50 of 100 seeds)")
    );
    let nothing_to_choose = Claim { of: side(&[("policy", "easy")]), ..best.clone() };
    let refused = measure_claim(&nothing_to_choose, &table(30), &|_| true).unwrap_err();
    assert!(
        refused.to_string().contains("`best = \"policy\"`: `of` leaves nothing to choose there"),
        "{refused}"
    );
    let no_axis = Claim { along: Some("laod".to_owned()), ..best };
    assert_eq!(
        measure_claim(&no_axis, &table(30), &|_| true).unwrap_err().hint(),
        Some("did you mean `load`?")
    );
}

#[test]
fn whether_a_gain_is_one_of_the_kind_of_the_seeds_is_not_up_to_other_claims() {
    let gains: Vec<f64> = (0..200).map(f64::from).collect();
    let holds = |published, alpha| super::judge::gain_among(&gains, published, alpha).unwrap().1;
    // Three of 200 are as high: 2 (3 + 1) / 201 = 0.04. Six: 0.07.
    assert_eq!(holds(197.0, 0.05), Some(false));
    assert_eq!(holds(197.0, 0.001), None);
    assert_eq!(holds(194.0, 0.001), Some(true));
    // As low: 2 (3 + 1) / 201.
    assert_eq!(holds(2.0, 0.001), None);
    assert_eq!(holds(900.0, 0.001), None, "200 seeds cannot say so at this level");
    assert_eq!(holds(900.0, 0.01), Some(false));
}
