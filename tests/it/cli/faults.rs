//! Faults of what sites and the broker say to each other, through the whole command.

use super::{argument, gridemu};

#[test]
fn the_example_of_faults_runs_and_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let run = gridemu(&["run", "configs/faults.toml", "--out", &out, "--json"]);
    run.ends(0, &[]);
    let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let counts = &summary["churn"]["faults"];
    for of in ["unheard", "lost", "stale_messages"] {
        assert!(counts[of].as_u64().unwrap() > 0, "{of}: {counts}");
    }
    gridemu(&["validate", &out]).ends(0, &[]);
    let events = std::fs::read_to_string(folder.path().join("out/events.csv")).unwrap();
    for event in [",unheard,silence,delft,", ",heard,silence,delft,", ",left,silence,delft,", ",stale,,lyon,"]
    {
        assert!(events.contains(event), "{event}");
    }
}

/// The first job that was lost, in words.
#[test]
fn an_explanation_says_that_nobody_heard_of_a_job() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    gridemu(&["run", "configs/faults.toml", "--out", &out]).ends(0, &[]);
    let events = std::fs::read_to_string(folder.path().join("out/events.csv")).unwrap();
    let lost = events.lines().find(|line| line.contains(",lost,")).unwrap();
    let told = gridemu(&["explain", &out, "--job", lost.split(',').nth(7).unwrap()]);
    told.ends(0, &[]);
    for words in ["lost at delft", "no word of it comes", "nobody heard of it"] {
        assert!(told.out.contains(words), "{}", told.out);
    }
}

#[test]
fn what_is_wrong_with_a_fault_is_told() {
    let site = "[[site]]\nname = 'delft'\nmachines = [{ class = 'node' }]\n";
    let fault =
        |keys: &str| format!("{site}[broker]\nheartbeat_timeout = '3 min'\n[[fault]]\nfrom = '1 h'\n{keys}");
    for (text, problem) in [
        (
            format!("{site}[[fault]]\nkind = 'silent'\nfrom = '1 h'\nfor = '1 h'\n"),
            "there is none; add `[broker]`",
        ),
        (fault("kind = 'silent'\nfor = '1 h'\nsite = 'delf'\n"), "there is no site `delf`"),
        (fault("kind = 'silent'\nfor = '0 s'\n"), "a fault must last for a time above 0"),
        (fault("kind = 'slow'\nfor = '1 h'\n"), "`slow` is not possible here"),
        (fault("kind = 'late'\nfor = '1 h'\n"), "say how much later"),
        (
            fault("kind = 'silent'\nfor = '1 h'\ndelay = 'exponential[mean=5 s]'\n"),
            "`delay` is for the kinds",
        ),
        (fault("kind = 'silent'\nfor = '1 h'\nafter = '5 s'\n"), "`after` is for the kind `black-hole`"),
        (
            fault("kind = 'late'\nfor = '1 h'\nof = []\ndelay = 'exponential[mean=5 s]'\n"),
            "name a kind of messages",
        ),
        (format!("{site}[broker]\nlease = '1 h'\n"), "add `heartbeat_timeout`"),
        (format!("{site}[broker]\nheartbeat_timeout = '1 min'\n"), "give more than 1 min"),
        (
            format!("{site}[broker]\nheartbeat_timeout = '3 min'\nlease = '1 min'\n"),
            "give at least the `heartbeat_timeout` of 3 min",
        ),
        (
            format!("{site}[broker]\nheartbeat_timeout = '3 min'\nmonitoring_interval = '0 s'\n"),
            "give a `monitoring_interval` above 0 s",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("faults.toml");
        std::fs::write(&file, &text).unwrap();
        gridemu(&["check", &argument(&file)]).ends(2, &[problem, "faults.toml"]);
    }
}
