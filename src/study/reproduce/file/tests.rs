use std::fs;

use super::*;
use crate::study::claims::Expects;

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

#[test]
fn braces_stand_for_each_of_their_words() {
    let more = "campaign = \"a.toml\"\npublished = 1\ntolerance = 0\nmeasures = [\"class.{vs, s}_{seq,n}.mean_wait\", \"mean_wait\"]\n";
    let text = GOOD.replace("measure = \"mean_wait\"\n", "").replace("campaign = \"a.toml\"\n", more);
    let (_, claims) = read_text(&text).unwrap();
    let ids = [
        "class.vs_seq.mean_wait",
        "class.vs_n.mean_wait",
        "class.s_seq.mean_wait",
        "class.s_n.mean_wait",
        "mean_wait",
    ];
    assert_eq!(claims[0].measures, ids);
    for (wrong, why) in
        [("{vs,s", "not closed"), ("{vs,,s}_seq", "empty word"), ("vs}_seq", "closes a brace")]
    {
        let error = read_text(&text.replace("{vs, s}_{seq,n}", wrong)).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn claims_about_several_measures_are_read() {
    let several = |more: &str| {
        let measures = "measures = [\"class.{a,b,c}.mean_wait\"]\nof = { policy = \"easy\" }\n";
        read_text(&GOOD.replace("measure = \"mean_wait\"\n", &format!("{measures}{more}\n")))
    };
    let claim = |more: &str| several(more).unwrap().1.remove(0);
    let than = "than = { policy = \"fcfs\" }\n";
    let some = claim(&format!("{than}relation = \"below\"\nat_least = 2\non_this_log = true"));
    assert_eq!((some.measures.len(), some.at_least, some.on_this_log), (3, Some(2), true));
    assert_eq!((some.expects, some.no_difference), (Expects::Below, None));
    let worse = claim(&format!("{than}relation = \"not-above\"\nby = \"10 %\""));
    assert_eq!(worse.expects, Expects::Change { from: None, to: Some(0.1) });
    let worse = claim(&format!("{than}relation = \"not-below\""));
    assert_eq!(worse.expects, Expects::Change { from: Some(0.0), to: None });
    let table = claim("published = [10, 20, 30]\ntolerance = \"5 %\"");
    assert_eq!((table.expects, table.values), (Expects::Table, vec![(10.0, 0.5), (20.0, 1.0), (30.0, 1.5)]));
    let gains = claim(
        "than_measures = [\"class.{c,c,c}.mean_wait\"]\nrelation = \"above\"\ngain_over = { policy = \"fcfs\" }",
    );
    assert_eq!(
        (gains.than_measures.len(), gains.gain_over["policy"].as_slice()),
        (3, &["fcfs".to_owned()][..])
    );
    let steps = claim("along = \"policy\"\nrelation = \"rising\"");
    assert_eq!((steps.expects, steps.along.as_deref()), (Expects::Rising, Some("policy")));
    let said = |more: &str| {
        let error = several(more).unwrap_err().to_string();
        error.rsplit_once("claim `c`: ").unwrap().1.to_owned()
    };
    assert_eq!(said("published = [10, 20]\ntolerance = 1"), "2 published numbers for 3 measures");
    assert_eq!(said(&format!("{than}relation = \"below\"\nat_least = 3")), "`at_least = 3` of 3 measures");
    assert_eq!(
        said("relation = \"below\"\nthan_measures = [\"mean_wait\"]"),
        "1 `than_measures` for 3 measures"
    );
    assert_eq!(said("published = 3\ntolerance = 1\non_this_log = true"), "`on_this_log` without an order");
    assert_eq!(
        said("published = 3\ntolerance = 1\ngain_over = { a = 1 }"),
        "`gain_over` without an order of gains"
    );
    assert_eq!(said(&format!("{than}relation = \"not-above\"\nby = \"1..10 %\"")), "`not-above` by a range");
    assert_eq!(said(&format!("{than}relation = \"below\"\nbest = \"policy\"")), "`best` of several measures");
}

#[test]
fn the_claims_of_the_folders_here_are_read() {
    for folder in fs::read_dir("configs/papers").unwrap().chain(fs::read_dir("configs/studies").unwrap()) {
        let folder = folder.unwrap().path();
        if folder.join(NAME).is_file() {
            let (_, claims) = read(&folder).unwrap_or_else(|error| panic!("{error}"));
            let missing = claims.iter().filter_map(|claim| claim.campaign.as_ref());
            let missing = missing.map(|name| folder.join(name)).find(|path| !path.is_file());
            assert_eq!(missing, None);
        }
    }
}
