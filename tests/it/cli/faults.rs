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

/// A site that is back says so once, also where nothing takes time; a run is not over while a directory is still to tell the truth again; a black hole keeps no
/// job beyond the deadline at which it is ended, and fails none that is over.
#[test]
fn faults_end_where_nothing_else_happens() {
    let grid = |latency: &str, broker: &str, rest: &str| {
        format!(
            "[network]\nlatency = '{latency}'\nbandwidth = '100 Mbit/s'\n[broker]\n{broker}\n\
             [[site]]\nnames = ['a', 'b']\nmachines = [{{ class = 'node', count = 3 }}]\n[[workload]]\n{rest}"
        )
    };
    for (text, completed) in [
        (
            grid(
                "0 s",
                "replan = 'every-report'",
                "poisson = { jobs = 30, every = '1 min', size = '1', runtime = '30 min' }\n\
                 [[fault]]\nkind = 'silent'\nsite = 'a'\nfrom = '10 min'\nfor = '1801 s'\n",
            ),
            30,
        ),
        (
            grid(
                "10 s",
                "retries = 50",
                "poisson = { jobs = 5, every = '1 min', size = '1', runtime = '10 min' }\n\
                 [[fault]]\nkind = 'empty-directory'\nfrom = '0 s'\nfor = '5 h'\n\
                 [[event]]\nat = '0 s'\nleave = 'a'\n[[event]]\nat = '0 s'\nleave = 'b'\n\
                 [[event]]\nat = '10 min'\njoin = 'a'\n",
            ),
            5,
        ),
        (
            grid(
                "1 s",
                "",
                "poisson = { jobs = 5, every = '1 min', size = '1', runtime = '10 s' }\nestimates = 'exact'\n\
                 deadline = 'submit + 1.5 x estimate'\nat_deadline = 'kill'\ninput = '300 MB'\n\
                 [[fault]]\nkind = 'black-hole'\nfrom = '0 s'\nfor = '5 h'\n",
            ),
            0,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (file, out) = (folder.path().join("run.toml"), argument(&folder.path().join("out")));
        std::fs::write(&file, &text).unwrap();
        let run = gridemu(&["run", &argument(&file), "--out", &out, "--json"]);
        run.ends(0, &[]);
        let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(summary["outcomes"]["completed"], completed, "{text}");
        gridemu(&["validate", &out]).ends(0, &[]);
    }
}
