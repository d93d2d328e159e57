use super::*;

fn read_text(claims: &str) -> Result<(Paper, Vec<Claim>), RunError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(NAME), format!("title = \"T\"\n[paper.who]\ncite = \"Who\"\n{claims}"))
        .unwrap();
    read(folder.path())
}

const GOOD: &str = "[[claim]]\nid = \"c\"\nsource = \"Table 1\"\nsays = \"so\"\ncampaign = \"a.toml\"\nmeasure = \"mean_wait\"\n";

/// The error message without its place, and the hint, of a claim with these keys beside the valid ones.
fn said(more: &str) -> (String, String) {
    let error = read_text(&format!("{GOOD}{more}")).unwrap_err();
    let text = error.to_string();
    let after = text.split_once("claims.toml:").map_or(text.as_str(), |(_, after)| after);
    (after.to_owned(), error.hint().unwrap_or_default().to_owned())
}

#[test]
fn claims_are_read_with_their_lines() {
    let (paper, claims) = read_text(&format!(
        "{GOOD}paper = \"who\"\npublished = 3.58\ntolerance = \"5 %\"\nof = {{ policy = \"easy\", load = [0.5, 0.7], procs = 64 }}\n"
    ))
    .unwrap();
    assert_eq!((paper.title.as_str(), paper.papers["who"].as_str()), ("T", "Who"));
    let claim = &claims[0];
    assert_eq!(claim.expects, Expects::Value { published: 3.58, tolerance: 0.05 * 3.58 });
    assert_eq!(claim.line, 4);
    assert_eq!(claim.of["load"], ["0.5", "0.7"]);
    assert_eq!(claim.of["procs"], ["64"]);
}

#[test]
fn relations_are_read_as_they_sound() {
    let expects = |more: &str| {
        let sides = "of = { policy = \"easy\" }\nthan = { policy = \"fcfs\" }\n";
        read_text(&format!("{GOOD}{sides}{more}")).unwrap().1[0].expects
    };
    assert_eq!(expects("relation = \"below\""), Expects::Below);
    assert_eq!(expects("relation = \"above\""), Expects::Above);
    assert_eq!(
        expects("relation = \"below\"\nby = \"10..30 %\""),
        Expects::Change { from: Some(-0.3), to: Some(-0.1) }
    );
    assert_eq!(
        expects("relation = \"below\"\nby = \"10 %\""),
        Expects::Change { from: None, to: Some(-0.1) }
    );
    assert_eq!(
        expects("relation = \"above\"\nby = \"10 %..30 %\""),
        Expects::Change { from: Some(0.1), to: Some(0.3) }
    );
    assert_eq!(expects("relation = \"above\"\nby = \"10 %\""), Expects::Change { from: Some(0.1), to: None });
    assert_eq!(
        expects("relation = \"within\"\nby = \"10 %\""),
        Expects::Change { from: Some(-0.1), to: Some(0.1) }
    );
    let bound = |more: &str| read_text(&format!("{GOOD}{more}")).unwrap().1[0].expects;
    assert_eq!(
        bound("relation = \"at-least\"\npublished = 0.5\ntolerance = \"10 %\""),
        Expects::AtLeast { published: 0.5, tolerance: 0.05 }
    );
    assert_eq!(
        bound("relation = \"at-most\"\npublished = 180"),
        Expects::AtMost { published: 180.0, tolerance: 0.0 }
    );
}

#[test]
fn a_claim_without_a_source_is_refused_with_its_place() {
    let text = GOOD.replace("source = \"Table 1\"\n", "") + "published = 1\ntolerance = 0\n";
    let error = read_text(&text).unwrap_err();
    assert!(error.to_string().ends_with("claims.toml:4: claim `c`: it has no `source`"), "{error}");
    assert!(error.hint().unwrap().contains("source = "));
    let empty = text.replace("says", "source = \" \"\nsays");
    assert!(read_text(&empty).unwrap_err().to_string().ends_with("it has no `source`"));
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_the_nearest_name() {
    let (error, _) = said("published = 1\ntolerence = 0\n");
    assert!(error.starts_with("11: unknown field `tolerence`"), "{error}");
    assert_eq!(said("").0, "4: claim `c`: neither `published` nor `relation`");
    assert_eq!(said("published = 1\n").0, "4: claim `c`: `published` without a `tolerance`");
    assert_eq!(said("relation = \"at-least\"\n").0, "4: claim `c`: a bound without its number");
    let both = said("published = 1\nrelation = \"below\"\n").0;
    assert_eq!(both, "4: claim `c`: both `published` and `relation`");
    let (error, hint) = said("relation = \"bellow\"\n");
    assert_eq!(
        (error.as_str(), hint.as_str()),
        ("4: claim `c`: there is no relation `bellow`", "did you mean `below`?")
    );
    let (error, hint) = said("paper = \"whom\"\npublished = 1\ntolerance = 0\n");
    assert_eq!(
        (error.as_str(), hint.as_str()),
        ("4: claim `c`: there is no paper `whom`", "did you mean `who`?")
    );
    assert!(said("relation = \"falling\"\n").1.contains("two `measures` or more"));
    assert!(said("relation = \"below\"\n").1.contains("both `of` and `than`"));
    let (error, _) = said("of = { p = 1 }\nthan = { p = 2 }\nrelation = \"within\"\nby = \"much\"\n");
    assert_eq!(error, "4: claim `c`: `by = \"much\"` is neither a share nor a range of shares");
    let twice =
        read_text(&format!("{GOOD}published = 1\ntolerance = 0\n{GOOD}published = 1\ntolerance = 0\n"));
    assert!(twice.unwrap_err().to_string().ends_with(":12: there is another claim `c`"));
}

#[test]
fn what_cannot_be_measured_says_why() {
    let bare = "[[claim]]\nid = \"c\"\nsource = \"Table 1\"\nsays = \"so\"\n";
    let (_, claims) =
        read_text(&format!("{bare}not_comparable = \"no gang scheduling\"\npublished = 3\n")).unwrap();
    assert_eq!(claims[0].expects, Expects::Shown { published: Some(3.0) });
    assert!(
        read_text(&format!("{bare}published = 3\ntolerance = 1\n"))
            .unwrap_err()
            .to_string()
            .ends_with("nothing measures it")
    );
}
