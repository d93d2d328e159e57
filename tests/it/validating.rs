//! `gridemu validate` on whole folders: valid ones, and ones broken by hand, each of which is found with the right message.

use std::fs;
use std::path::Path;

use gridemu::experiment::{GridFrom, validate};
use gridemu::grid::Policies;
use gridemu::output::RunFolder;
use gridemu::verify::{Rule, Validation};

use crate::archive_swf::data;
use crate::cli::gridemu;

/// Four jobs on ten processors; under EASY job 4 overtakes job 3, and job 2 waits for job 1.
const LOG: &str = "; MaxProcs: 10
1 0 -1 100 6 -1 -1 6 100 -1 1 1 1 1 1 1 -1 -1
2 10 -1 50 8 -1 -1 8 50 -1 1 1 1 1 1 1 -1 -1
3 20 -1 200 4 -1 -1 4 200 -1 1 1 1 1 1 1 1 10
4 25 -1 60 4 -1 -1 4 75 -1 1 1 1 1 1 1 -1 -1
";

/// What is found in a folder, which is held against its own grid.
pub(crate) fn judged(folder: &Path) -> Vec<Validation> {
    let policies = Policies::standard();
    let (folders, unfinished) = RunFolder::all_in(folder).expect("a folder of a run");
    assert!(unfinished.is_empty(), "{unfinished:?}");
    let found = folders.iter().map(|folder| validate(folder, &GridFrom::Folder, &policies));
    found.map(|found| found.expect("it can be judged")).collect()
}

/// Every run in the folder is legal.
#[track_caller]
pub(crate) fn legal(folder: &Path) {
    for found in judged(folder) {
        assert!(found.is_valid(), "{}: {:#?}", folder.display(), found.verdict.broken);
    }
}

fn replayed(options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("four.swf");
    fs::write(&log, LOG).unwrap();
    let (log, out) = (log.to_str().unwrap(), folder.path().join("out"));
    let fixed = ["replay", log, "--policy", "easy", "--out", out.to_str().unwrap()];
    gridemu(&[&fixed[..], options].concat()).well();
    folder
}

/// Replaces a piece of a file of the run, which must be in it once.
fn edit(folder: &tempfile::TempDir, file: &str, from: &str, to: &str) {
    let path = folder.path().join("out").join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(from).count(), 1, "`{from}` in\n{text}");
    fs::write(&path, text.replace(from, to)).unwrap();
}

/// The command says that the folder is not legal, and why.
#[track_caller]
fn caught(folder: &tempfile::TempDir, rule: Rule, secs: u64, says: &str) {
    let out = folder.path().join("out");
    let found = judged(&out).pop().unwrap();
    let first = found.verdict.first().expect("a violation");
    let at = gridemu::units::Time::from_secs(secs);
    assert_eq!((first.rule, first.time), (rule, at), "{:#?}", found.verdict.broken);
    let ran = gridemu(&["validate", out.to_str().unwrap()]);
    ran.ends(1, &["the schedule is not valid"]);
    assert!(ran.out.contains("NOT VALID") && ran.out.contains(says), "no `{says}` in\n{}", ran.out);
    let json = gridemu(&["validate", out.to_str().unwrap(), "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&json["valid"], &json["first"]["at_s"]), (&false.into(), &(secs as f64).into()));
}

#[test]
fn a_replay_as_it_was_left_is_legal() {
    let folder = replayed(&[]);
    legal(&folder.path().join("out"));
    let ran = gridemu(&["validate", folder.path().join("out").to_str().unwrap()]);
    ran.well();
    assert!(ran.out.contains("easy on four.swf: valid"), "{}", ran.out);
}

#[test]
fn two_jobs_on_one_processor() {
    let folder = replayed(&[]);
    edit(&folder, "segments.csv", ",6-9,local", ",5-8,local");
    caught(&folder, Rule::Capacity, 25, "job 1 has processor 5 of site from 0 s to 100 s, and so has job 4");
}

#[test]
fn a_processor_that_is_not_there() {
    let folder = replayed(&[]);
    edit(&folder, "segments.csv", ",6-9,local", ",7-10,local");
    caught(&folder, Rule::Place, 25, "job 4 has processor 10 of the 10 (from 0) of site (segments.csv:2)");
}

#[test]
fn a_start_before_the_submission() {
    let folder = replayed(&[]);
    edit(&folder, "jobs.csv", "4,25,25,85,", "4,25,15,85,");
    caught(&folder, Rule::Arrival, 15, "job 4 starts at 15 s, before its submission at 25 s (jobs.csv:2)");
}

#[test]
fn a_job_that_does_not_do_its_work() {
    let folder = replayed(&[]);
    edit(&folder, "segments.csv", ",25,85,", ",25,80,");
    edit(&folder, "jobs.csv", "4,25,25,85,", "4,25,25,80,");
    caught(&folder, Rule::Work, 80, "its run is 60 s, its segments do 55 s");
}

#[test]
fn a_job_that_has_two_rows_or_none() {
    let folder = replayed(&[]);
    let path = folder.path().join("out/jobs.csv");
    let text = fs::read_to_string(&path).unwrap();
    let second = text.lines().nth(1).unwrap().to_owned() + "\n";
    fs::write(&path, text.replacen(&second, &(second.clone() + &second), 1)).unwrap();
    caught(&folder, Rule::Once, 85, "job 4 has a second row (jobs.csv:3)");
    fs::write(&path, text.replacen(&second, "", 1)).unwrap();
    caught(&folder, Rule::Rows, 85, "job 4 ran until 85 s and has no row among the jobs");
}

/// Two sites run the same log: a message says whose job it means.
#[test]
fn a_job_of_one_of_two_workloads() {
    let folder = tempfile::tempdir().unwrap();
    let wide = "5 30 -1 60 20 -1 -1 20 75 -1 1 1 1 1 1 1 -1 -1\n";
    fs::write(folder.path().join("five.swf"), format!("{LOG}{wide}")).unwrap();
    let site = |name: &str| {
        let machines = "machines = [{ class = \"node\", count = 10 }]\nworkload = \"five.swf\"";
        format!("[[site]]\nname = \"{name}\"\n{machines}\n")
    };
    let scenario = folder.path().join("two.toml");
    fs::write(&scenario, site("windsor") + &site("delft")).unwrap();
    let out = folder.path().join("out");
    gridemu(&["run", scenario.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    let path = out.join("jobs.csv");
    let text = fs::read_to_string(&path).unwrap();
    let row =
        text.lines().find(|row| row.starts_with("5,") && row.contains(",delft,")).expect("job 5 of delft");
    let found = |jobs: &str| {
        fs::write(&path, jobs).unwrap();
        let found = judged(&out).pop().unwrap();
        found.verdict.broken[&Rule::Rows].first.message.clone()
    };
    assert_eq!(found(&text.replace(&format!("{row}\n"), "")), "job 5 of delft's workload has no row");
    let other = text.replace(row, &row.replacen("5,", "9,", 1));
    assert_eq!(found(&other), "no workload of the run has local job 9 of delft");
    fs::write(&path, &text).unwrap();
    let segments = fs::read_to_string(out.join("segments.csv")).unwrap();
    let row = segments
        .lines()
        .find(|row| row.starts_with("1,") && row.contains(",delft,"))
        .expect("job 1 of delft");
    assert!(row.contains(",6,"), "the processors of job 1 in {row}");
    fs::write(out.join("segments.csv"), segments.replace(row, &row.replacen(",6,", ",7,", 1))).unwrap();
    let said = judged(&out).pop().unwrap().verdict.broken[&Rule::Columns].first.message.clone();
    assert_eq!(said, "local job 1 of delft: `procs` is 7, and there are 6 processors");
    // A job of a site that the grid does not have is not one of the grid.
    fs::write(out.join("segments.csv"), &segments).unwrap();
    let row =
        text.lines().find(|row| row.starts_with("5,") && row.contains(",delft,")).expect("job 5 of delft");
    fs::write(&path, text.replace(row, &row.replace(",delft,", ",delf,"))).unwrap();
    let said = gridemu(&["validate", out.to_str().unwrap(), "--json"]).out;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    let rule = said["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == "place").unwrap();
    assert_eq!(rule["first"]["jobs"][0], serde_json::json!({ "job": 5, "origin": "local", "site": null }));
}

/// The broker notifies the portal of ends, through all that stands between the portal and the source with feedback.
#[test]
fn a_job_of_the_grid_follows_another() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("four.swf"), LOG).unwrap();
    let scenario = folder.path().join("portal.toml");
    let site = "[[site]]\nname = \"windsor\"\nmachines = [{ class = \"node\", count = 10 }]\n[broker]\n";
    fs::write(&scenario, format!("{site}[[workload]]\nlog = \"four.swf\"\nfeedback = true\n")).unwrap();
    let out = folder.path().join("out");
    gridemu(&["run", scenario.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    let jobs = fs::read_to_string(out.join("jobs.csv")).unwrap();
    // Job 1 ends at 100 s, and the think time is 10 s.
    assert!(jobs.lines().any(|row| row.starts_with("3,110,")), "{jobs}");
    assert_eq!(jobs.lines().count(), 1 + 4);
}

#[test]
fn columns_that_do_not_follow() {
    let folder = replayed(&[]);
    edit(&folder, "jobs.csv", ",60,75,0,60,1,", ",60,75,5,60,1,");
    caught(&folder, Rule::Columns, 85, "`wait` of job 4 is 5 s, and its times give 0 s");
}

#[test]
fn what_its_workload_did_not_ask_for() {
    let folder = replayed(&[]);
    edit(&folder, "jobs.csv", "4,25,25,85,", "4,24,25,85,");
    caught(&folder, Rule::Arrival, 24, "job 4 is submitted at 24 s, and its workload has it at 25 s");
}

/// Job 3 follows job 1: it comes 10 s after its end, at 110 s, and waits for job 2 until 150 s.
#[test]
fn a_job_that_comes_before_the_end_of_the_one_it_follows() {
    let folder = replayed(&["--feedback"]);
    legal(&folder.path().join("out"));
    edit(
        &folder,
        "jobs.csv",
        "3,110,150,350,4,site,completed,4,200,200,40,240,",
        "3,105,150,350,4,site,completed,4,200,200,45,245,",
    );
    caught(
        &folder,
        Rule::Precedence,
        105,
        "job 3 is submitted at 105 s, and follows job 1, which ends at 100 s, after 10 s",
    );
}

#[test]
fn reservations_that_are_not_kept() {
    let folder = replayed(&["--reserve", "400..500:10"]);
    legal(&folder.path().join("out"));
    edit(&folder, "scenario.toml", "from = \"400 s\"", "from = \"50 s\"");
    caught(&folder, Rule::Reservation, 50, "still run when a reservation begins");
}

#[test]
fn machines_that_were_away() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    gridemu(&["run", "configs/churn.toml", "--out", out.to_str().unwrap()]).well();
    legal(&out);
    // The first machines that took a job with them left a second earlier.
    let path = out.join("events.csv");
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let lost = lines.iter().position(|line| line.contains(",machine-left,")).unwrap();
    let line = lines[..lost].iter().rev().find(|line| line.contains(",left,")).unwrap();
    let (time, rest) = line.split_once(',').unwrap();
    let earlier = format!("{:.6},{rest}", time.parse::<f64>().unwrap() - 1.0);
    fs::write(&path, text.replacen(line, &earlier, 1)).unwrap();
    let found = judged(&out).pop().unwrap();
    assert!(found.verdict.broken.keys().any(|rule| *rule == Rule::Down), "{:#?}", found.verdict.broken);
}

#[test]
fn files_that_break_off_are_told_with_their_place() {
    let folder = replayed(&[]);
    let path = folder.path().join("out/segments.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 5]).unwrap();
    let out = folder.path().join("out");
    gridemu(&["validate", out.to_str().unwrap()]).ends(2, &["segments.csv", "truncated"]);
}

#[test]
fn a_table_alone_needs_a_machine() {
    let folder = replayed(&[]);
    let table = folder.path().join("out/jobs.csv");
    let alone = folder.path().join("alone.csv");
    fs::copy(&table, &alone).unwrap();
    let alone = alone.to_str().unwrap();
    gridemu(&["validate", alone]).ends(2, &["hint: add `--procs N`"]);
    gridemu(&["validate", alone, "--procs", "10"]).well();
    let told = gridemu(&["validate", table.to_str().unwrap(), "--procs", "10", "--json"]).json();
    for rule in told["rules"].as_array().unwrap() {
        // Looked at or not, never both.
        assert_eq!(rule["checked"] == 0, rule["not_checked"].is_string(), "{rule:#}");
    }
    let work = &told["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == "work").unwrap();
    assert!(work["checked"] != 0 && work["checked_in_part"].is_string(), "{work:#}");
    // Jobs 1 and 4 have ten processors from 25 s on.
    let ran = gridemu(&["validate", alone, "--procs", "9"]);
    ran.ends(1, &["not valid"]);
    assert!(
        ran.out.contains("at 25 s: job 4 starts, and 10 processors of the machine are in use, which has 9"),
        "{}",
        ran.out
    );
}

/// What Batsim's own EASY did is legal on its 32 machines, and not on 31.
#[test]
fn the_reference_of_batsim_is_legal() {
    let Some(data) = data() else { return };
    let table = data.join("reference/batsim-medium_late-easy-out_jobs.csv");
    let table = table.to_str().unwrap();
    let ran = gridemu(&["validate", table, "--procs", "32"]);
    ran.well();
    assert!(ran.out.contains("valid\n801 jobs and 801 segments on 1 site, 32 processors"), "{}", ran.out);
    let ran = gridemu(&["validate", table, "--procs", "31"]);
    ran.ends(1, &["not valid"]);
    assert!(ran.out.contains("processor 31 of the 31 (from 0)"), "{}", ran.out);
}

/// Of a replay of two policies the second has not finished, and has written Batsim's table too.
#[test]
fn a_run_that_has_not_finished_is_named() {
    let folder = replayed(&["--policy", "fcfs", "--batsim"]);
    let out = folder.path().join("out");
    fs::remove_file(out.join("fcfs/summary.json")).unwrap();
    let [all, one] = [out.clone(), out.join("fcfs")].map(|path| path.to_str().unwrap().to_owned());
    let says = "this run has not finished";
    gridemu(&["validate", &one]).ends(2, &[says, "if it failed, run it again"]);
    gridemu(&["report", &one]).ends(2, &[says]);
    gridemu(&["explain", &one, "--job", "1"]).ends(2, &[says]);
    let page = folder.path().join("page.html");
    let left_out = ["warning: left out: ", "out/fcfs`", says];
    gridemu(&["validate", &all]).ends(0, &left_out);
    gridemu(&["report", &all, "--out", page.to_str().unwrap()]).ends(0, &left_out);
    gridemu(&["compare", &all]).ends(2, &["out/fcfs`", says, "one by one"]);
    fs::remove_file(out.join("easy/summary.json")).unwrap();
    gridemu(&["validate", &all]).ends(2, &["out/easy`", says]);
}

/// A replay of adaptive SCOJO, in whose segments something is changed: `change` gets the columns of each and says whether it has changed them.
fn adapted(policy: &str, mut change: impl FnMut(&mut Vec<String>) -> bool) -> Vec<Validation> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    gridemu(&["replay", "huang[jobs=60]", "--procs", "64", "--policy", policy, "--out", out]).well();
    legal(Path::new(out));
    let path = Path::new(out).join("segments.csv");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let mut text = reader.headers().unwrap().iter().collect::<Vec<_>>().join(",") + "\n";
    let mut changed = false;
    for row in reader.records() {
        let mut cells: Vec<String> = row.unwrap().iter().map(str::to_owned).collect();
        changed = changed || change(&mut cells);
        text += &(cells.join(",") + "\n");
    }
    assert!(changed, "{text}");
    fs::write(&path, text).unwrap();
    judged(Path::new(out))
}

/// Jobs that are moldable or malleable have the sizes, rates and work of their workload.
#[test]
fn sizes_and_rates_of_adaptive_scojo() {
    let alone = "gang[variant=fcfs-easy-wa,level=1,slice=none]";
    let shared = "gang[variant=pri-b-wa-fa,level=2]";
    // In `segments.csv` the fifth column has the processors, the eighth the rate, and the thirteenth which they are.
    let slower = |cells: &mut Vec<String>| {
        cells[7] = "0.125".to_owned();
        true
    };
    let found = &adapted(alone, slower)[0].verdict;
    let first = found.first().unwrap();
    assert!(first.rule == Rule::Work && first.message.contains("runs at a rate of 0.125"), "{first:?}");
    // Where switching between slots costs an unknown part of the rate, the work that is missing tells.
    let found = &adapted(shared, slower)[0].verdict;
    assert!(found.broken[&Rule::Work].first.message.contains("did less than its work"), "{:?}", found.broken);
    for policy in [alone, shared] {
        // One that has 16 processors or more has 8 at the least.
        let smaller = |cells: &mut Vec<String>| {
            let is_large = cells[4].parse::<u32>().unwrap() >= 16;
            if is_large {
                let lowest: u32 = cells[12].split([' ', '-']).next().unwrap().parse().unwrap();
                (cells[4], cells[12]) = ("1".to_owned(), lowest.to_string());
            }
            is_large
        };
        let found = &adapted(policy, smaller)[0].verdict;
        let place = &found.broken[&Rule::Place].first.message;
        assert!(place.contains("has 1 processors, and "), "{place}");
    }
}
