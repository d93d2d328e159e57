//! `gridemu reproduce`

use std::fs;
use std::path::Path;

use super::gridemu;

const CAMPAIGN: &str = "\
measures = [\"mean_wait\", \"utilization\"]
seeds = 3

[scenario]
engine = \"direct\"

[[scenario.site]]
name = \"here\"
machines = [{ class = \"node\", count = 8 }]
workload = { lublin = { jobs = 60, load = 0.2 } }

[[axis]]
key = \"site.here.policy\"
values = [\"fcfs\", \"easy\"]
";

const LOGGED: &str = "\
[scenario]
[[scenario.site]]
name = \"here\"
machines = [{ class = \"node\", count = 8 }]
workload = { log = \"archive:no-such-log-anywhere.swf.gz\" }

[[axis]]
key = \"site.here.policy\"
values = [\"easy\"]
";

fn paper(folder: &Path, claims: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.toml"), CAMPAIGN).unwrap();
    fs::write(folder.join("log.toml"), LOGGED).unwrap();
    let head = "title = \"A paper\"\n[paper.who-2001]\ncite = \"Who, 2001\"\n";
    fs::write(folder.join("claims.toml"), format!("{head}{claims}")).unwrap();
}

const CLAIMS: &str = "\
[[claim]]
id = \"easy-below\"
paper = \"who-2001\"
source = \"Table 1\"
says = \"jobs wait less under EASY\"
campaign = \"model.toml\"
measure = \"mean_wait\"
of = { policy = \"easy\" }
than = { policy = \"fcfs\" }
relation = \"below\"

[[claim]]
id = \"on-a-log\"
paper = \"who-2001\"
source = \"Table 2\"
says = \"a mean wait of 12 s\"
campaign = \"log.toml\"
measure = \"mean_wait\"
of = { policy = \"easy\" }
published = 12
tolerance = 0.5

[[claim]]
id = \"gangs\"
source = \"Figure 3\"
says = \"gangs are better\"
not_comparable = \"needs gang scheduling\"
";

#[test]
fn every_claim_has_a_verdict_and_a_line_on_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, pages, store) = (dir.path().join("who"), dir.path().join("pages"), dir.path().join("store"));
    paper(&folder, CLAIMS);
    fs::write(folder.join("findings.md"), "Nothing was found.\n").unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let args = ["reproduce", &path(&folder), "--store", &path(&store), "--pages", &path(&pages)];
    let ran = gridemu(&args);
    let out = &ran.well().out;
    assert!(out.contains("3 claims: 1 is undecided, 2 are not comparable (0 % decided)"), "{out}");
    assert!(out.contains("easy-below: 3 seeds, and a verdict needs 30"), "{out}");
    assert!(out.contains("on-a-log: `no-such-log-anywhere.swf.gz`"), "{out}");
    assert!(out.contains("gangs: needs gang scheduling"), "{out}");
    let page = fs::read_to_string(pages.join("who.md")).unwrap();
    let found = "(0 % decided).**\n\n**Not measured here: `log.toml`, of which a file is missing.** What is said below about it was measured \
                 elsewhere.\n\nNothing was found.\n\n## How it was measured\n";
    assert!(page.starts_with("# A paper\n\n**3 claims: ") && page.contains(found), "{page}");
    assert!(page.contains("|`easy-below` jobs wait less under EASY (Table 1)|below|"), "{page}");
    // Nothing is left to run the second time, and nothing changes.
    let again = gridemu(&args);
    assert_eq!(&again.well().out, out);
    assert_eq!(fs::read_to_string(pages.join("who.md")).unwrap(), page);
    let mut json: Vec<&str> = args[..4].to_vec();
    json.extend(["--no-page", "--json"]);
    let json = gridemu(&json).json();
    assert_eq!(json["claims"][0][1]["verdict"], "undecided");
    assert_eq!(json["claims"][1][1]["verdict"], "not-comparable");
}

/// Without the logs of any of its campaigns there is nothing to say, and no page with findings that were not measured.
#[test]
fn a_page_of_which_nothing_was_measured_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, pages, store) = (dir.path().join("who"), dir.path().join("pages"), dir.path().join("store"));
    let (from, to) =
        (CLAIMS.find("[[claim]]").unwrap(), CLAIMS.find("[[claim]]\nid = \"on-a-log\"").unwrap());
    paper(&folder, &format!("{}{}", &CLAIMS[..from], &CLAIMS[to..]));
    fs::write(folder.join("findings.md"), "All of it was found.\n").unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let ran = gridemu(&["reproduce", &path(&folder), "--store", &path(&store), "--pages", &path(&pages)]);
    ran.ends(2, &["nothing was run, and no page was written", "GRIDEMU_DATA"]);
    assert!(!pages.exists());
}

/// A log of 40 weeks: each day two jobs that fill the machine one after the other, and one that fits beside the second.
fn weeks() -> String {
    let day = |day: u64| {
        let line = |job: u64, at: u64, run: u64, procs: u64| {
            let (job, at) = (3 * day + job, 86_400 * day + at);
            format!("{job} {at} -1 {run} {procs} -1 -1 {procs} {run} -1 1 1 1 1 1 1 -1 -1\n")
        };
        let long = 600 + 10 * (day % 11);
        [line(1, 0, long, 6), line(2, 10, 300, 6), line(3, 20, 200, 2)].concat()
    };
    (0..280).map(day).collect()
}

#[test]
fn an_order_on_one_log_is_judged_by_its_weeks() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("who");
    let claims =
        CLAIMS.replace("of = { policy = \"easy\" }\npublished", "of = { policy = \"fcfs\" }\npublished");
    paper(&folder, &format!("{claims}\n[no_difference]\nmean_wait = \"2 %\"\n"));
    fs::write(folder.join("weeks.swf"), weeks()).unwrap();
    let logged = CAMPAIGN.replace("seeds = 3\n", "").replace("count = 8", "count = 8, cores = 1");
    let logged = logged.replace("{ lublin = { jobs = 60, load = 0.2 } }", "{ log = \"weeks.swf\" }");
    fs::write(folder.join("model.toml"), logged).unwrap();
    let store = dir.path().join("store");
    let args = ["reproduce", folder.to_str().unwrap(), "--no-page", "--store", store.to_str().unwrap()];
    let judged = || gridemu(&[&args[..], &["--json"]].concat()).json()["claims"][0][1].clone();
    let first = judged();
    assert_eq!((&first["verdict"], &first["points"][0]["weeks"]), (&"holds".into(), &40.into()), "{first}");
    // The jobs are in the store, so that the second time gives the same without a run.
    assert_eq!(judged(), first);
    // Without the jobs of the runs they are run again.
    fs::remove_dir_all(store.join("model.runs")).unwrap();
    assert_eq!(judged(), first);
}

#[test]
fn claims_that_do_not_fit_are_refused_before_anything_is_run() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("who");
    let refused = |from: &str, to: &str, says: &[&str]| {
        assert!(CLAIMS.contains(from));
        paper(&folder, &CLAIMS.replace(from, to));
        let ran = gridemu(&["reproduce", folder.to_str().unwrap(), "--no-page", "--store", "never"]);
        ran.ends(2, says);
        assert!(!Path::new("never").exists());
    };
    refused(
        "source = \"Table 1\"\n",
        "",
        &["claims.toml:4: claim `easy-below`: it has no `source`", "Table 2.3"],
    );
    refused(
        "{ policy = \"easy\" }\nthan",
        "{ polcy = \"easy\" }\nthan",
        &["no axis `polcy`", "did you mean `policy`?"],
    );
    refused(
        "\"fcfs\"",
        "\"fcsf\"",
        &["claims.toml:4: claim `easy-below`: axis `policy` has no `fcsf`; it has fcfs, easy"],
    );
    refused(
        "model.toml",
        "modell.toml",
        &["modell.toml` cannot be read", "a file in the folder of the claims"],
    );
    refused("\"below\"", "\"lower\"", &["there is no relation `lower`"]);
    gridemu(&["reproduce", dir.path().join("nobody").to_str().unwrap()])
        .ends(2, &["claims.toml` cannot be read", "the folder of a paper"]);
}

#[test]
fn a_measure_that_no_run_has_is_told_with_the_nearest() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("who");
    paper(&folder, &CLAIMS.replacen("\"mean_wait\"", "\"mean_wiat\"", 1));
    let store = dir.path().join("store");
    let ran =
        gridemu(&["reproduce", folder.to_str().unwrap(), "--no-page", "--store", store.to_str().unwrap()]);
    ran.ends(
        2,
        &["claim `easy-below`: the campaign does not measure `mean_wiat`", "did you mean `mean_wait`?"],
    );
    assert!(!store.exists(), "nothing was run");
}

/// Curves of some labels, and the gains of the seeds; a part of one figure has the name of another.
#[test]
fn a_page_has_figures_with_names_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, pages, store) = (dir.path().join("who"), dir.path().join("pages"), dir.path().join("store"));
    let axes = "\n[[axis]]\nname = \"load\"\nkey = \"site.here.workload.lublin.load\"\nvalues = [0.2, 0.9]\n";
    let figures = "\
[[claim]]
id = \"gain\"
source = \"Table 3\"
says = \"up to a tenth less\"
campaign = \"model.toml\"
measure = \"mean_wait\"
of = { policy = \"easy\" }
than = { policy = \"fcfs\" }
relation = \"gains-up-to\"
by = \"10 %\"
along = \"load\"

[[figure]]
kind = \"gains\"
claims = \"gain*\"
labels = { gain = \"mean wait, over FCFS\" }
caption = \"Gains.\"

[[figure]]
name = \"wait-count-9\"
campaign = \"model.toml\"
measure = \"mean_wait\"
along = \"load\"
of = { policy = \"easy\", count = [9, 8] }
by = \"count\"
caption = \"EASY.\"

[[figure]]
name = \"wait\"
campaign = \"model.toml\"
measure = \"mean_wait\"
along = \"load\"
by = \"policy\"
of = { policy = [\"easy\", \"fcfs\"] }
caption = \"Both.\"
";
    paper(&folder, &format!("{CLAIMS}\n{figures}"));
    let counts = "\n[[axis]]\nkey = \"site.here.machines.node.count\"\nvalues = [8, 9]\n";
    fs::write(folder.join("model.toml"), format!("{CAMPAIGN}{axes}{counts}")).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let args = ["reproduce", &path(&folder), "--store", &path(&store), "--pages", &path(&pages), "--json"];
    let found = gridemu(&args).json();
    let figures = &found["paper"]["figures"];
    assert_eq!((&figures[0]["kind"], &figures[0]["claims"][0]), (&"gains".into(), &"gain".into()));
    assert_eq!((&figures[1]["kind"], &figures[1]["name"]), (&"curves".into(), &"wait-count-9".into()));
    let page = fs::read_to_string(pages.join("who.md")).unwrap();
    let shown: Vec<&str> = page.lines().filter(|line| line.starts_with("![")).collect();
    assert_eq!(
        shown,
        [
            "![greatest gains](who/gains.svg)",
            "![mean wait by load](who/wait-count-9.svg)",
            "![mean wait by load (count 8)](who/wait-count-8.svg)",
            "![mean wait by load (count 9)](who/wait-count-9-2.svg)",
        ]
    );
    let svg = |name: &str| fs::read_to_string(pages.join("who").join(name)).unwrap();
    let gains = svg("gains.svg");
    // A claim without `count` is one at each count.
    for row in ["mean wait, over FCFS, count 8", "mean wait, over FCFS, count 9", "greatest gain by load (%)"]
    {
        assert!(gains.contains(&format!(">{row}</text>")), "{row}: {gains}");
    }
    let both = svg("wait-count-8.svg");
    assert!(both.find(">easy<").unwrap() < both.find(">fcfs<").unwrap(), "in the order of `of`: {both}");
    assert!(!svg("wait-count-9.svg").contains("fcfs"));
}

/// A table of the classes for each policy, and the changes from one to the other.
#[test]
fn a_page_has_heat_maps_of_classes() {
    let dir = tempfile::tempdir().unwrap();
    let (folder, pages, store) = (dir.path().join("who"), dir.path().join("pages"), dir.path().join("store"));
    let figures = "\
[[figure]]
kind = \"heat-map\"
campaign = \"model.toml\"
measure = \"class.*.mean_bounded_slowdown\"
by = \"policy\"
caption = \"Slowdowns.\"

[[figure]]
kind = \"heat-map\"
name = \"change\"
campaign = \"model.toml\"
measure = \"class.*.max_bounded_slowdown\"
by = \"policy\"
than = { policy = \"fcfs\" }
caption = \"Worst cases.\"
";
    paper(&folder, &format!("{CLAIMS}\n{figures}"));
    let measured =
        "measures = [\"class.*.mean_bounded_slowdown\", \"class.*.max_bounded_slowdown\", \"class.*.jobs\", ";
    let campaign = CAMPAIGN
        .replace("measures = [", measured)
        .replace("engine =", "classes = \"cuts[run=10 min,run-names=S/L,size=2,size-names=N/W,estimates=1,estimate-names=well/badly]\"\nengine =");
    fs::write(folder.join("model.toml"), campaign).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let args = ["reproduce", &path(&folder), "--store", &path(&store), "--pages", &path(&pages), "--json"];
    let found = gridemu(&args).json();
    assert_eq!(found["paper"]["figures"][0]["kind"], "heat-map");
    let page = fs::read_to_string(pages.join("who.md")).unwrap();
    let shown: Vec<&str> = page.lines().filter(|line| line.starts_with("![")).collect();
    assert_eq!(
        shown,
        [
            "![mean bounded slowdown (well)](who/model-mean-bounded-slowdown-classes-well.svg)",
            "![mean bounded slowdown (badly)](who/model-mean-bounded-slowdown-classes-badly.svg)",
            "![largest bounded slowdown, change from fcfs (well)](who/change-well.svg)",
            "![largest bounded slowdown, change from fcfs (badly)](who/change-badly.svg)",
        ]
    );
    let svg = |name: &str| fs::read_to_string(pages.join("who").join(name)).unwrap();
    let values = svg("model-mean-bounded-slowdown-classes-well.svg");
    for text in ["fcfs", "easy", "S", "L", "N", "W"] {
        assert!(values.contains(&format!(">{text}</text>")), "{text}: {values}");
    }
    assert!(values.contains(" jobs</text>"), "{values}");
    // The model has exact estimates: no job is badly estimated.
    assert!(!svg("model-mean-bounded-slowdown-classes-badly.svg").contains(" jobs</text>"));
    let change = svg("change-well.svg");
    assert!(change.contains(" %</text>") && change.contains(">better</text>"), "{change}");
    assert!(!change.contains(">fcfs</text>"), "what is compared with is left out: {change}");
}
