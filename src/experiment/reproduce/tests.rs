use super::*;

const MODEL: &str = "\
measures = [\"mean_wait\", \"site.*.mean_wait\"]
seeds = 3

[scenario]
[[scenario.site]]
name = \"here\"
machines = [{ class = \"node\", count = 8 }]
workload = { lublin = { jobs = 60, load = 0.2 } }

[[axis]]
key = \"site.here.policy\"
values = [\"fcfs\", \"easy\"]
";

/// A claim at line 2 and a figure at line 10.
const CLAIMS: &str = "\
title = \"A paper\"
[[claim]]
id = \"c\"
source = \"Table 1\"
says = \"so\"
campaign = \"model.toml\"
measure = \"mean_wait\"
not_comparable = \"of another machine\"

[[figure]]
campaign = \"model.toml\"
measure = \"site.here.mean_wait\"
along = \"policy\"
caption = \"Waits.\"
";

/// What is said and hinted of these claims on this campaign, before anything is run.
fn said(claims: &str, campaign: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("claims.toml"), claims).unwrap();
    fs::write(folder.path().join("model.toml"), campaign).unwrap();
    let options =
        ReproduceOptions { store: folder.path().join("store"), threads: Some(1), control: Control::new() };
    let ran = reproduce(folder.path(), &options, |_, _| Err(RunError::run("it runs")));
    let error = ran.err().unwrap_or_else(|| RunError::run("nothing is wrong"));
    let text = error.to_string();
    let after = text.split_once("claims.toml:").map_or(text.as_str(), |(_, after)| after);
    (after.to_owned(), error.hint().unwrap_or_default().to_owned())
}

#[test]
fn measures_are_looked_at_before_anything_is_run() {
    assert_eq!(said(CLAIMS, MODEL).0, "it runs");
    let wrong = CLAIMS.replacen("\"mean_wait\"", "\"mean_wiat\"", 1);
    let expected = (
        "2: claim `c`: the campaign does not measure `mean_wiat`".to_owned(),
        "did you mean `mean_wait`? If not, add `mean_wiat` to the `measures` of model.toml".to_owned(),
    );
    assert_eq!(said(&wrong, MODEL), expected);
    // Also where the log is not at hand, so that nothing would be run here.
    let logged =
        MODEL.replace("{ lublin = { jobs = 60, load = 0.2 } }", "{ log = \"archive:no-such-log.swf\" }");
    assert_eq!(said(CLAIMS, &logged).0, "nothing is wrong");
    assert_eq!(said(&wrong, &logged), expected);
}

#[test]
fn figures_are_looked_at_before_anything_is_run() {
    let figure = |from: &str, to: &str| {
        let at = CLAIMS.find("[[figure]]").unwrap();
        said(&format!("{}{}", &CLAIMS[..at], CLAIMS[at..].replace(from, to)), MODEL)
    };
    assert_eq!(
        figure("here.mean_wait", "here.mean_wiat").0,
        "10: a figure: the campaign does not measure `site.here.mean_wiat`"
    );
    assert_eq!(
        figure("\"policy\"", "\"polcy\""),
        (
            "10: a figure: the campaign has no axis `polcy`; its axes are policy".to_owned(),
            "did you mean `policy`?".to_owned()
        )
    );
    assert_eq!(
        figure("model.toml", "modell.toml"),
        ("10: no claim names the campaign `modell.toml`".to_owned(), "did you mean `model.toml`?".to_owned())
    );
    assert_eq!(
        figure("caption", "by = \"load\"\ncaption").0,
        "10: a figure: the campaign has no axis `load`; its axes are policy"
    );
}
