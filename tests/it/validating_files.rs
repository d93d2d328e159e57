//! `gridemu validate` on the files of workflows, on groups and on tasks that go on elsewhere: valid runs, and rows damaged by hand, each of which is
//! found.

use std::fs;

use gridemu::verify::Rule::{self, Columns, Data, Members, Place, Precedence, Rows, Work};

use crate::cli::gridemu;
use crate::validating::{judged, legal};
use crate::validating_workflows::damage;

/// A fork-join of one, four and one tasks of 100 s; two of the four run at each site. A file takes 10 s over the link, and 1 s of latency.
pub(crate) const FILES: &str = r#"
[[site]]
names  = ["ada", "bob"]
machines = [{ class = "node", count = 1, cores = 2 }]
policy = "fcfs"
[network]
latency = "1 s"
bandwidth = "8 Mbit/s"
[broker]
policy = "mct"
[[workload]]
workflow = "fork-join[tasks=6,width=4,runtime=100 s,data=10 MB]"
"#;

/// The same in one job of two processors, from 1 s to 401 s.
const GROUP: &str = r#"
[[site]]
name     = "ada"
machines = [{ class = "node", count = 1, cores = 4 }]
policy   = "fcfs"
[network]
latency = "1 s"
[broker]
policy = "mct"
[[workload]]
workflow = "fork-join[tasks=6,width=4,runtime=100 s,data=0 B]"
group    = "pilot[procs=2]"
"#;

/// A row, cells of it with what they say instead, the rule, and what is said about it.
type Case = (&'static str, &'static [(&'static str, &'static str)], Rule, &'static str);

/// Each damaged row of the file is found, and the run as it was is valid.
fn found(scenario: &str, file: &str, cases: &[Case]) {
    found_with("", scenario, file, cases);
}

/// The same of a scenario with this workflow beside it, as `w.json`.
fn found_with(workflow: &str, scenario: &str, file: &str, cases: &[Case]) {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("run.toml"), folder.path().join("out"));
    fs::write(&path, scenario).unwrap();
    fs::write(folder.path().join("w.json"), workflow).unwrap();
    gridemu(&["run", path.to_str().unwrap(), "--out", out.to_str().unwrap()]).well();
    legal(&out);
    let text = fs::read_to_string(out.join(file)).unwrap();
    for (row, cells, rule, says) in cases {
        cells.iter().for_each(|(column, value)| damage(&out, file, row, column, value));
        let broken = judged(&out).pop().unwrap().verdict.broken;
        let first = &broken.get(rule).unwrap_or_else(|| panic!("{row} {cells:?}: {broken:#?}")).first;
        assert!(first.message.contains(says), "{row} {cells:?}: {}", first.message);
        fs::write(out.join(file), &text).unwrap();
    }
    legal(&out);
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    if let Some((before, rest)) = summary.split_once("\"stored_peak_bytes\": ") {
        let rest = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
        fs::write(out.join("summary.json"), format!("{before}\"stored_peak_bytes\": 1{rest}")).unwrap();
        let broken = judged(&out).pop().unwrap().verdict.broken;
        assert!(broken[&Columns].first.message.contains("the summary has 1 B as the most that"));
    }
}

#[test]
fn damaged_copies_of_files_are_found() {
    let (fork, work, other, join) =
        ("0,fork_00000001.out,", "0,work_00000003.out,", "0,work_00000004.out,", "0,join_00000006.out,");
    let cases: &[Case] = &[
        (fork, &[("file", "spoon")], Rows, "workflow 0 moves no file `spoon`"),
        (fork, &[("workflow", "7")], Rows, "have no workflow 7"),
        (fork, &[("from", "mars")], Place, "is copied from mars to bob, which are not both places"),
        (fork, &[("bytes", "9")], Data, "has 10000000 bytes, and its copy 9"),
        (fork, &[("to", "ada")], Data, "is copied from ada to itself"),
        (fork, &[("job", "6")], Data, "is copied for job 6, which does not read it"),
        (join, &[("job", "5")], Data, "is copied for job 5, which does not write it"),
        (join, &[("to", "bob")], Data, "is a result, and goes to bob, where results do not go"),
        (fork, &[("began", "101")], Columns, "the times of a copy of file `fork_00000001.out`"),
        (fork, &[("began", "")], Columns, "the times of a copy of file `fork_00000001.out`"),
        (fork, &[("ended", "112")], Data, "takes 10 s from ada to bob, which takes 11 s at least"),
        // The broker knows at 102 s that the file is there.
        (fork, &[("asked", "101.5")], Data, "is to be copied from ada at 101.5 s, where it is not then"),
        (fork, &[("from", "portal")], Data, "is to be copied from portal at 102 s, where it is not then"),
        (
            other,
            &[("job", "4"), ("file", "fork_00000001.out")],
            Data,
            "is to be copied to ada at 215 s, where it is already",
        ),
        (
            other,
            &[("file", "work_00000003.out")],
            Data,
            "is to be copied to ada at 215 s, where it is on its way to since 215 s",
        ),
        // Two files at once take 20 s; each alone would be through in 10 s.
        (
            "0,work_",
            &[("ended", "235")],
            Data,
            "is through at 234 s, and the link of ada and bob does not carry all copies up to then at 8 Mbit/s",
        ),
        (
            fork,
            &[("ended", "120")],
            Data,
            "starts at 114 s, and file `fork_00000001.out`, which it reads, is only at 120 s at bob",
        ),
        (
            work,
            &[("outcome", "unfinished")],
            Data,
            "starts at 237 s, and file `work_00000003.out`, which it reads, is never at ada",
        ),
    ];
    found(FILES, "transfers.csv", cases);
}

#[test]
fn tasks_that_do_not_run_as_their_group_are_found() {
    let (fork, join) = ("0,fork_00000001,", "0,join_00000006,");
    let cases: &[Case] = &[
        (
            fork,
            &[("started", "0.5"), ("last_start", "0.5")],
            Members,
            "starts at 0.5 s, and its group starts at 1 s",
        ),
        (join, &[("ended", "402")], Members, "ends at 402 s, and its group at 401 s"),
        (
            "0,work_00000004,",
            &[("started", "150"), ("last_start", "150")],
            Members,
            "starts at 150 s, when the tasks of its group need 3 processors of 2",
        ),
        (
            "0,work_00000002,",
            &[("started", "50"), ("last_start", "50")],
            Members,
            "starts at 50 s, and `fork_00000001`, which its group has before it, ends at 101 s",
        ),
        (join, &[("ended", "390")], Members, "runs for 89 s, and takes 100 s at least where it is"),
    ];
    found(GROUP, "tasks.csv", cases);
    // The parts of the makespan are those of the job, and so are the processors.
    let cases: &[Case] = &[
        ("0,", &[("dispatch", "1"), ("queue", "1")], Columns, "`dispatch` of workflow 0 is not 2"),
        ("0,", &[("peak_procs", "1")], Columns, "`peak_procs` of workflow 0 is not 2"),
    ];
    found(GROUP, "workflows.csv", cases);
}

/// Two tasks, the first of which reads 100 MB. On a class of its own the first takes another time.
const CHAIN: &str = r#"{"name": "chain", "schemaVersion": "1.5", "workflow": {
    "specification": {
        "tasks": [
            {"name": "a", "id": "a", "children": ["b"], "parents": [], "inputFiles": ["in"], "outputFiles": []},
            {"name": "b", "id": "b", "children": [], "parents": ["a"], "inputFiles": [], "outputFiles": []}],
        "files": [{"id": "in", "sizeInBytes": 100000000}]},
    "execution": {"makespanInSeconds": 9, "executedAt": "2024-01-01T00:00:00Z", "machines": [], "tasks": [
        {"id": "a", "runtimeInSeconds": 100, "runtimeInSecondsByClass": {"late": 400}},
        {"id": "b", "runtimeInSeconds": 1000}]}}}"#;

/// A site that leaves, whose jobs go on at the other from their last checkpoint. The 100 MB take 100 s.
fn leaving(at: u64, class: &str, more: &str) -> String {
    format!(
        r#"
[[site]]
name = "ada"
machines = [{{ class = "node", count = 1, cores = 1 }}]
policy = "fcfs"
[[site]]
name = "bob"
machines = [{{ class = "{class}", count = 1, cores = 1, speed = 0.5 }}]
policy = "fcfs"
[network]
bandwidth = "8 Mbit/s"
[broker]
policy = "mct"
[churn]
on_failure = "resubmit"
checkpoint = "10 s"
checkpoint_cost = "0 s"
[[event]]
at = "{at} s"
leave = "ada"
{more}
"#
    )
}

/// The group reads its file from 100 s on at `ada`. At 400 s its second task is under way, and goes on at 510 s, when the file is at `bob`.
#[test]
fn a_group_that_goes_on_elsewhere_has_its_files_there() {
    let scenario = leaving(400, "node", "[[workload]]\nworkflow = \"w.json\"\ngroup = \"vertical\"");
    let late: &[Case] = &[(
        "0,in,100000000,portal,bob",
        &[("ended", "600")],
        Data,
        "starts at 510 s, and file `in`, which it reads, is only at 600 s at bob",
    )];
    found_with(CHAIN, &scenario, "transfers.csv", late);
    // Without segments only the end of the job is known.
    let late: &[Case] = &[(
        "0,in,100000000,portal,bob",
        &[("ended", "6000")],
        Data,
        "ends at 2110 s, and file `in`, which it reads, is only at 6000 s at bob",
    )];
    found_with(CHAIN, &format!("output.segments = false\n{scenario}"), "transfers.csv", late);
}

/// Each attempt has its files, also one before the last, and of a task that does not complete: the file is at `ada` at 100 s.
#[test]
fn every_attempt_has_its_files() {
    let workload = "[[workload]]\nworkflow = \"w.json\"";
    let late: &[Case] = &[(
        "0,in,100000000,portal,ada",
        &[("ended", "100.5")],
        Data,
        "starts at 100 s, and file `in`, which it reads, is only at 100.5 s at ada",
    )];
    found_with(CHAIN, &leaving(150, "node", workload), "transfers.csv", late);
    let failing = format!("{workload}\nfailures = {{ a = 1.0 }}\ntask_attempts = ");
    for attempts in 1..=2 {
        found_with(CHAIN, &leaving(9000, "node", &format!("{failing}{attempts}")), "transfers.csv", late);
    }
    // Without segments the last attempt of what has failed is known.
    let failing = format!("output.segments = false\n{}", leaving(9000, "node", &format!("{failing}1")));
    found_with(CHAIN, &failing, "transfers.csv", late);
}

/// Of the 100 s at `ada` 60 s are done when it leaves: that is 240 s of the 400 s at `bob`.
#[test]
fn a_task_that_goes_on_where_it_takes_longer_has_done_its_share() {
    let scenario = leaving(160, "late", "[[workload]]\nworkflow = \"w.json\"");
    let less: &[Case] =
        &[("1,2,bob,", &[("to", "429")], Work, "did less than that: its run is 400 s, its segments do 399")];
    found_with(CHAIN, &scenario, "segments.csv", less);
}

/// The only copy that is asked for before the site leaves at 400 s arrives at 100 s, the other at 510 s.
#[test]
fn copies_between_sites_that_are_away_are_found() {
    let scenario = leaving(400, "node", "[[workload]]\nworkflow = \"w.json\"\ngroup = \"vertical\"");
    let cases: &[Case] = &[
        (
            "0,in,100000000,portal,ada",
            &[("ended", "450")],
            Data,
            "arrives at 450 s, and ada is away from 400 s on",
        ),
        (
            "0,in,100000000,portal,bob",
            &[("to", "ada")],
            Data,
            "arrives at 510 s, and ada is away from 400 s on",
        ),
        (
            "0,in,100000000,portal,bob",
            &[("outcome", "lost")],
            Data,
            "from portal to bob breaks off at 510 s, and neither is away then",
        ),
    ];
    found_with(CHAIN, &scenario, "transfers.csv", cases);
}

/// Two tasks that read 100 MB each, at a site with space for one of the files: the second comes when the first task has ended at 200 s.
#[test]
fn copies_that_have_no_space_are_found() {
    let pair = CHAIN
        .replace(r#""children": ["b"]"#, r#""children": []"#)
        .replace(r#""parents": ["a"], "inputFiles": []"#, r#""parents": [], "inputFiles": ["other"]"#)
        .replace(r#"100000000}"#, r#"100000000}, {"id": "other", "sizeInBytes": 100000000}"#);
    let scenario = r#"
[[site]]
name = "ada"
machines = [{ class = "node", count = 1, cores = 2 }]
policy = "fcfs"
storage = { capacity = "150 MB" }
[network]
bandwidth = "8 Mbit/s"
[broker]
policy = "mct"
[[workload]]
workflow = "w.json"
engine_delay = "7 s"
"#;
    let other: &[Case] = &[(
        "0,other,",
        &[("began", "150")],
        Data,
        "a copy of file `other` to ada begins at 150 s, which makes 200000000 B there, and its storage has 150 MB",
    )];
    found_with(&pair, scenario, "transfers.csv", other);
    let soon: &[Case] = &[(
        "0,a,",
        &[("decided", "3")],
        Precedence,
        "is assigned at 3 s, and the engine makes a job of it until 7 s",
    )];
    found_with(&pair, scenario, "tasks.csv", soon);
}
