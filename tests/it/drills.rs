//! `gridemu drill`: sane brokers hold, and each drill is failed by a broker that is broken in the way that it is about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use gridemu::broker::{BrokerAbilities, BrokerPolicyInfo, Choose, GridView, OneByOne, Pick, Reason, Task};
use gridemu::experiment::Progress;
use gridemu::grid::Policies;
use gridemu::model::TaskId;
use gridemu::report::failure_words;
use gridemu::scenario::{DRILLS, Drill, Override};
use gridemu::study::{Contender, DrillFile, DrillRan, drill};

use crate::cli::gridemu;
use crate::programs::has;

/// A way to be broken.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum How {
    /// All jobs go to the first site.
    OneSite,
    /// A site from which a job came back never gets another.
    Blames,
    /// Jobs are dealt out in turn to all sites, also to those that have left.
    DeadToo,
    /// A job that comes back is forgotten.
    Forgets,
    /// Nothing is sent where jobs wait.
    ByQueue,
    /// Jobs are dealt out in turn, whatever the reports say.
    Blind,
    /// All jobs go where most was free by the last report.
    Herd,
}

const BROKEN: [(&str, How); 7] = [
    ("one-site", How::OneSite),
    ("blames", How::Blames),
    ("dead-too", How::DeadToo),
    ("forgets", How::Forgets),
    ("by-queue", How::ByQueue),
    ("blind", How::Blind),
    ("herd", How::Herd),
];

struct Broken {
    how: How,
    /// Where it sent each task last.
    sent: BTreeMap<TaskId, usize>,
    blamed: BTreeSet<usize>,
    next: usize,
}

impl Broken {
    fn info(name: &'static str, how: How) -> BrokerPolicyInfo {
        BrokerPolicyInfo::new(name, move |_, _| {
            let (sent, blamed) = (BTreeMap::new(), BTreeSet::new());
            let policy = Self { how, sent, blamed, next: 0 };
            Ok((Box::new(OneByOne(policy)), BrokerAbilities::PLAIN))
        })
    }

    fn pool(&mut self, view: &GridView<'_>, task: Task<'_>) -> Option<usize> {
        let pools = view.pools();
        let in_turn = |from: usize| (0..pools.len()).map(move |at| (from + at) % pools.len());
        let best = |but: &dyn Fn(usize) -> bool| {
            view.least(task, true, |at| view.completion(task, at).filter(|_| !but(at)))
        };
        match self.how {
            How::OneSite => view.fits(task, 0, true).then_some(0),
            How::Blames => {
                self.blamed.extend(self.sent.get(&task.id()));
                best(&|at| self.blamed.contains(&at))
            }
            How::DeadToo => {
                let found = in_turn(self.next).find(|at| pools[*at].could_run(&task));
                self.next = found.map_or(self.next, |at| at + 1);
                found
            }
            How::Forgets => best(&|_| false).filter(|_| !self.sent.contains_key(&task.id())),
            How::ByQueue => best(&|at| pools[at].report.waiting > 0),
            How::Blind => {
                let found = in_turn(self.next).find(|at| view.fits(task, *at, true));
                self.next = found.map_or(self.next, |at| at + 1);
                found
            }
            How::Herd => view.least(task, true, |at| Some(u32::MAX - pools[at].report.free)),
        }
    }
}

impl Choose for Broken {
    fn choose(&mut self, view: &GridView<'_>, task: Task<'_>) -> Pick {
        let pool = self.pool(view, task);
        if let Some(pool) = pool {
            self.sent.insert(task.id(), pool);
        }
        Pick::found(pool, Reason::Policy)
    }
}

fn policies() -> Policies {
    BROKEN
        .into_iter()
        .fold(Policies::standard(), |policies, (name, how)| policies.with_broker(Broken::info(name, how)))
}

fn contender(name: &str) -> Contender {
    Contender { name: name.to_owned(), sets: vec![Override::option("--broker", "broker.policy", name)] }
}

/// Drills with brokers, which are policies.
fn drilled(drills: &[&str], brokers: &[&str]) -> Vec<DrillRan> {
    let folder = tempfile::tempdir().unwrap();
    let drills: Vec<DrillFile> = drills.iter().map(|name| DrillFile::find(name).unwrap()).collect();
    let brokers: Vec<Contender> = brokers.iter().map(|name| contender(name)).collect();
    drill(&drills, &brokers, folder.path(), Some(2), &policies(), &Progress::default()).unwrap()
}

fn words(ran: &DrillRan) -> String {
    ran.failures.iter().map(failure_words).collect::<Vec<_>>().join("; ")
}

#[test]
fn sane_brokers_hold() {
    let names: Vec<&str> = Drill::names().collect();
    // A search of a few generations, for the sake of time.
    for ran in drilled(&names, &["mct", "pull", "mojs[population=10,generations=5]"]) {
        assert!(ran.held(), "{} under {}: {}", ran.drill, ran.broker, words(&ran));
        assert!(ran.lasted_s.is_some_and(|lasted| lasted > 3_600.0) && ran.wall_s.is_some());
    }
}

#[test]
fn the_program_on_the_page_holds() {
    if !has("python3") {
        return;
    }
    let ran = gridemu(&["drill", "--broker", "python3 examples/brokers/mct.py", "--json"]);
    let found = ran.well().json();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), DRILLS.len());
    assert!(found.iter().all(|ran| ran["failures"] == serde_json::json!([]) && ran["wall_s"].is_number()));
}

#[test]
fn each_drill_is_failed_by_the_broker_that_it_is_about() {
    let mut others = Vec::new();
    for (drill, broker, says) in [
        ("lost-site", "dead-too", "events(\"refused\", at=\"strasbourg\", after=\"130 min\") is "),
        ("lost-site", "forgets", "3 jobs are left"),
        ("flapping-machine", "one-site", "expected completed == submitted"),
        ("flapping-machine", "forgets", "jobs are left"),
        ("mass-departure", "blames", "jobs are left"),
        ("mass-departure", "one-site", "jobs_at(\"leiden\", after=\"6 h\") is 0"),
        ("mass-departure", "forgets", "jobs are left"),
        ("slow-site", "blind", "expected jobs_at(\"slow\", after=\"3 h\", before=\"8 h\") <"),
        ("slow-site", "one-site", "expected makespan <= 12 h: makespan is "),
        ("stale-directory", "herd", "expected mean_wait <= 15 min: mean_wait is "),
        ("month-in-a-minute", "one-site", "jobs_at(\"fast\") is 0"),
        ("month-in-a-minute", "one-site", "expected makespan <= 36 h: makespan is "),
        ("silence-while-staging", "one-site", "expected makespan <= 4.5 h: makespan is "),
        ("held-jobs", "by-queue", "jobs_at(\"held\", after=\"1 h\", before=\"10 h\") is 0"),
        ("poison-job", "blames", "401 jobs are left"),
        ("poison-job", "one-site", "jobs_at(\"leiden\", after=\"3 h\") is 0"),
        ("black-hole", "blames", "jobs_at(\"hole\", after=\"2 h\") is 0"),
        ("partition", "blames", "jobs_at(\"cut\", after=\"4 h\") is 0"),
        ("silent-site", "forgets", "jobs are left"),
        ("invisible-jobs", "forgets", "jobs are left"),
        ("late-end", "forgets", "jobs are left"),
        ("late-command", "forgets", "jobs are left"),
        ("empty-directory", "one-site", "jobs_at(\"north\", after=\"2 h\", before=\"3 h\") is 0"),
        ("reports-out-of-order", "one-site", "jobs_at(\"north\") is 0"),
        ("refuses-all", "blames", "jobs_at(\"shut\", after=\"5 h\") is 0"),
    ] {
        let ran = drilled(&[drill], &[broker]).remove(0);
        if !words(&ran).contains(says) {
            others.push(format!("{drill} under {broker}: no `{says}` in: {}", words(&ran)));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

#[test]
fn all_drills_are_built_in() {
    let mut files: Vec<String> = fs::read_dir("configs/drills")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut built_in: Vec<&str> = DRILLS.iter().map(|drill| drill.path).collect();
    files.sort_unstable();
    built_in.sort_unstable();
    assert_eq!(files, built_in);
    let listed = gridemu(&["drill", "--list"]);
    let page = fs::read_to_string("docs/drills.md").unwrap();
    for name in Drill::names() {
        assert!(listed.well().out.contains(name) && page.contains(&format!("`{name}`")), "{name}");
    }
    let json = gridemu(&["drill", "poison-job", "--list", "--json"]).json();
    assert_eq!(json[0]["drill"], "poison-job");
}

/// The cells of the table of a page, by broker and drill.
fn cells(table: &str) -> BTreeMap<(String, String), String> {
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let mut cells = BTreeMap::new();
    for row in &rows[1..] {
        for (drill, cell) in rows[0].iter().zip(row).skip(1) {
            cells.insert((row[0].to_owned(), (*drill).to_owned()), (*cell).to_owned());
        }
    }
    cells
}

#[test]
fn the_table_of_the_page_is_what_the_command_prints() {
    let page = fs::read_to_string("docs/drills.md").unwrap();
    let table =
        page.split_once("<!-- drills:begin -->\n").unwrap().1.split_once("<!-- drills:end -->").unwrap().0;
    let on_page = cells(table);
    let mut args = vec!["drill", "slow-site", "silence-while-staging", "--markdown"];
    let brokers = ["mct", "pull", "random", "round-robin", "met", "sufferage"];
    args.extend(brokers.iter().flat_map(|broker| ["--broker", broker]));
    let ran = gridemu(&args);
    let printed = cells(&ran.ends(1, &["drills failed"]).out);
    assert_eq!(printed.len(), 12);
    for (place, cell) in &printed {
        assert_eq!(on_page.get(place), Some(cell), "{place:?}");
    }
    // What did not hold is on the page in the same words.
    for line in ran.out.lines().filter(|line| line.starts_with("- ")) {
        assert!(table.lines().any(|other| other == line), "{line}");
    }
    assert_eq!(on_page.len() % DRILLS.len(), 0);
}

fn written(folder: &Path, name: &str, drill: &str) -> String {
    let text = format!(
        "{drill}\n[[site]]\nname = 'a'\nmachines = [{{ class = 'node', count = 8 }}]\n[broker]\n[[workload]]\n\
         poisson = {{ jobs = 10, every = '1 min' }}\n"
    );
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_file_of_ones_own_is_a_drill() {
    let folder = tempfile::tempdir().unwrap();
    let good = "[drill]\nabout = 'Nothing happens.'\nexpect = ['completed == 10', 'churn.refusals.anything.count == 0', \
                'ended(at=\"a\") == jobs_at(\"a\")']\n";
    let file = written(folder.path(), "mine.toml", good);
    let out = folder.path().join("out");
    let ran = gridemu(&["drill", &file, "--out", out.to_str().unwrap()]);
    assert!(ran.well().out.contains("mine") && ran.out.contains("held"), "{}", ran.out);
    assert!(out.join("mine/summary.json").is_file());
    // It is a scenario as well, whose hash it does not change.
    gridemu(&["run", &file]).well();
    let plain = written(folder.path(), "plain.toml", "");
    let hash = |file: &str| gridemu(&["run", file, "--json"]).json()["scenario_hash"].clone();
    assert_eq!(hash(&file), hash(&plain));

    let bad =
        good.replace("completed == 10", "completed == 11").replace("jobs_at(\"a\")", "3 * jobs_at(\"a\")");
    let file = written(folder.path(), "bad.toml", &bad);
    let ran = gridemu(&["drill", &file, "--seed", "7"]);
    ran.ends(1, &["1 of 1 drills failed", "hint: `--out DIR` keeps the files of the runs"]);
    for line in
        ["- expected completed == 11: completed is 10", "- expected ended(at=\"a\") == 3 * jobs_at(\"a\"): "]
    {
        assert!(ran.out.contains(line), "{}", ran.out);
    }
}

#[test]
fn what_is_wrong_with_a_drill_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let told = |name: &str, drill: &str, says: &[&str]| {
        let file = written(folder.path(), name, drill);
        let ran = gridemu(&["drill", "lost-site", &file]);
        assert!(ran.ends(2, says).out.is_empty(), "{}", ran.out);
    };
    let of = |expect: &str| format!("[drill]\nabout = 'x'\nexpect = [\n  {expect}\n]\n");
    told("none.toml", "", &["none.toml` has no `[drill]`", "hint: docs/drills.md"]);
    told(
        "empty.toml",
        "[drill]\nabout = ' '\nexpect = []\n",
        &[
            "empty.toml, line 2, `drill.about`: say in a sentence",
            "empty.toml, line 3, `drill.expect`: a drill expects something",
        ],
    );
    told(
        "key.toml",
        "[drill]\nabouts = 'x'\nexpect = ['1 < 2']\n",
        &["`drill.abouts`: there is no such key (did you mean `about`?)"],
    );
    told("form.toml", &of("'completed = 3'"), &["form.toml, line 4, `drill.expect[0]`: `=` is written `==`"]);
    told(
        "two.toml",
        &of("'completed == 3',\n  'complete == 3', 'mean_wiat < 3', 'site.b.jobs > 0'"),
        &[
            "two.toml, line 5, `drill.expect[1]`: there is no measure `complete` (did you mean ",
            "`drill.expect[2]`: there is no measure `mean_wiat` (did you mean `mean_wait`?)",
            "`drill.expect[3]`: there is no measure `site.b.jobs` (did you mean `site.a.jobs`?)",
            "hint: docs/output.md has all measures",
        ],
    );
    told(
        "site.toml",
        &of("'jobs_at(\"b\") > 0'"),
        &["site.toml, line 4, `drill.expect[0]`: there is no site `b`", "there are `a`"],
    );
    gridemu(&["drill", "lost-sight"])
        .ends(2, &["there is no drill `lost-sight` (did you mean `lost-site`?)"]);
    gridemu(&["drill", "--broker", "mct[x=1]"]).ends(2, &["`--broker mct[x=1]`", "has no parameter `x`"]);
    gridemu(&["drill", "--broker", "mtc"]).ends(2, &["mtc"]);
    gridemu(&["drill", "--broker", "no-such-program at all"]).ends(2, &["no-such-program"]);
}

#[test]
fn a_program_that_dies_fails_its_drill() {
    if !has("python3") {
        return;
    }
    let never = gridemu(&["drill", "lost-site", "--broker", "python3 -c 'pass'"]);
    never.ends(2, &["it has ended"]);
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("dies.py");
    fs::write(&script, "input()\nprint('{\"hello\":{\"version\":1,\"mode\":\"immediate\"}}', flush=True)\n")
        .unwrap();
    let ran = gridemu(&["drill", "lost-site", "--broker", &format!("python3 {}", script.display())]);
    ran.ends(1, &["1 of 1 drills failed"]);
    assert!(ran.out.contains("the run does not end well: "), "{}", ran.out);
}
