//! What a claim says when it cannot be judged.

use super::*;

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
        "1 of 32 runs have no such jobs; 3 jobs were rejected or never finished, and are not in it"
    );
}

#[test]
fn what_is_missing_is_named() {
    let claim = claim(Expects::Below);
    let measured = Measured::Missing("`x.swf.gz` is not at hand".to_owned());
    let judged = judge(&claim, &measured);
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
        let error = measured(claim, &table(1)).unwrap_err();
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
