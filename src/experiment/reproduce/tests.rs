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

#[test]
fn a_measure_that_the_campaign_leaves_out_is_to_be_added() {
    let other = CLAIMS.replacen("\"mean_wait\"", "\"utilization\"", 1);
    let (said_so, hint) = said(&other, MODEL);
    assert_eq!(said_so, "2: claim `c`: the campaign does not measure `utilization`");
    assert!(hint.ends_with("add `utilization` to the `measures` of model.toml"), "{hint}");
    // A campaign that names no measures has some all the same.
    let none = MODEL.replace("measures = [\"mean_wait\", \"site.*.mean_wait\"]\n", "");
    let figure = CLAIMS.replace("site.here.mean_wait", "makespan");
    assert_eq!(said(&figure, &none).0, "it runs");
    assert_eq!(said(CLAIMS, &none).0, "10: a figure: the campaign does not measure `site.here.mean_wait`");
}

#[test]
fn only_a_replay_of_a_log_is_the_same_with_every_seed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("jobs.swf"), "1 0 -1 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n").unwrap();
    let drawn = |workload: &str, more: &str| {
        let text = MODEL
            .replace("{ lublin = { jobs = 60, load = 0.2 } }", workload)
            .replace("[[axis]]", &format!("{more}\n[[axis]]"));
        let file = folder.path().join("c.toml");
        fs::write(&file, text).unwrap();
        let campaign =
            Campaign::load(&file, &[], &Registry::standard(), &BrokerRegistry::standard()).unwrap();
        campaign.runs().iter().map(|run| run.drawn).collect::<Vec<_>>()
    };
    assert_eq!(drawn("{ log = \"jobs.swf\" }", ""), [false; 6]);
    assert_eq!(drawn("{ log = \"jobs.swf\", estimates = \"exact\" }", ""), [false; 6]);
    assert_eq!(drawn("{ log = \"jobs.swf\", estimates = \"tsafrir\" }", ""), [true; 6]);
    let churn =
        "churn = { up = \"exponential[mean=2 d]\", down = \"exponential[mean=1 h]\", running = \"requeue\" }";
    assert_eq!(drawn("{ log = \"jobs.swf\" }", churn), [true; 6]);
    assert_eq!(drawn("{ lublin = { jobs = 60, load = 0.2 } }", ""), [true; 6]);
}
