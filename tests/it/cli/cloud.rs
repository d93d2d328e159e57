//! Logs in the cloud workload format, as a user meets them: what is wrong is counted and told, and what is left is legal.

use serde_json::json;

use super::{argument, file, gridemu};

/// The row of a job: number, submission, processors; and what stands behind column 18.
fn job(number: u32, at: u32, procs: u32, behind: &str) -> String {
    format!("{number} {at} -1 100 {procs} -1 -1 {procs} 120 -1 1 1 1 -1 -1 -1 -1 -1 {behind}\n")
}

/// The row of a command.
fn command(number: u32, at: u32, what: &str) -> String {
    format!("{number} {at}{} {what}\n", " -1".repeat(17))
}

/// Everything that can be wrong, once or twice.
fn bad() -> String {
    let rows = [
        "; MaxProcs: 16\n".to_owned(),
        job(1, 0, 8, "-1 S -1"),
        job(2, 10, 8, "5 S -1"), // Line 3: a start before its submission.
        job(3, 20, 16, "400 S -1"),
        command(1, 30, "ET 50"),
        command(77, 40, "ET 50"), // Line 6: of no job.
        command(1, 50, "RT 5000"),
        command(1, 55, "RP 5000"),
        command(1, 56, "EP 5000"),
        job(4, 60, 4, "-1"),        // Line 10: 19 columns.
        job(5, 60, 4, "-1 S"),      // Line 11: 20 columns.
        job(6, 60, 4, "-1 S -1 7"), // Line 12: 22 columns.
        command(1, 61, "XT 5"),     // Line 13.
        command(1, 62, "ET -1"),    // Line 14.
        command(8, 63, "ET 30"),    // Before the row of its job.
        job(8, 70, 4, "-1 S -1"),
        command(8, 65, "ET 30"), // Line 17: before its submission.
        command(1, 71, "ET nan"),
        command(1, 72, "ET 1e300"),
        command(1, 73, "EP 1.5"),
        command(1, 74, "EP 99999999999"),
        command(1, 3000, "ET 5"),  // It has ended.
        job(9, 80, 4, "nan S -1"), // Line 23.
        job(10, 81, 4, "1e300 S -1"),
        job(11, 82, 40, "-1 S -1"), // Larger than the machine.
        "garbage\n".to_owned(),     // Line 26.
        job(12, 90, 4, "-7 S -1"),
    ];
    rows.concat()
}

#[test]
fn what_is_wrong_with_a_cloud_workload_is_counted_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let log = file(folder.path(), "bad.cwf", bad().into_bytes());
    for policy in ["easy-e", "los-de", "delayed-los-e", "hybrid-los-e", "conservative"] {
        let out = folder.path().join(policy);
        // Whatever is written to a folder is looked at by `gridemu validate`, too.
        let ran = gridemu(&["replay", &log, "--policy", policy, "--out", &argument(&out)]);
        let refused = match policy {
            "conservative" => {
                "6 of 6 commands to jobs were refused (5: the local policy processes no elastic commands (those whose names end in `-e` or `-de` do); 1: there is no such job, or it has ended)"
            }
            _ => {
                "4 of 6 commands to jobs were refused (1: there is no such job, or it has ended; 1: no time or no processors would be left; 2: only malleable jobs change their processors)"
            }
        };
        for note in [
            "skipped 1 row that is not 18 numbers (first at line 26: column 1 is not a number)",
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 10: 19 columns instead of 18 or 21)",
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 11: 20 columns instead of 18 or 21)",
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 13: column 20 is none of S, ET, RT, EP and RP)",
            "skipped 5 rows whose columns 19 to 21 cannot be read (first at line 14: column 21 is not an amount of 0 or more (seconds for ET and RT, whole processors for EP and RP))",
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 23: column 19 is not a number)",
            "skipped 1 row whose columns 19 to 21 cannot be read (first at line 24: column 19 has an impossible value)",
            "ignored columns after 21 of 1 row (first at line 12)",
            "skipped 2 commands to a job without an earlier row (first at line 6)",
            "moved 1 command to the submission of the job: its time is before it (first at line 17)",
            "moved the requested start of 1 job to the submission: that is before it (first at line 3)",
            "rejected 1 job that requests more than 16 processors; `--cap` reduces such jobs of a log to the machine",
            refused,
        ] {
            assert!(ran.well().out.contains(&format!("note: {note}\n")), "no `{note}` in\n{}", ran.out);
        }
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&read("summary.json")).unwrap();
        let (accepted, reasons) = match policy {
            "conservative" => (0, json!({ "no-job": 1, "no-processor": 5 })),
            _ => (2, json!({ "below-zero": 1, "no-job": 1, "not-malleable": 2 })),
        };
        assert_eq!(summary["elastic"], json!({ "accepted": accepted, "refused": reasons }), "{policy}");
        assert_eq!(read("events.csv").lines().count(), 1 + 6, "{policy}");
        assert_eq!(summary["outcomes"]["completed"], 6, "{policy}");
    }
}

#[test]
fn a_generated_cloud_workload_leaves_a_legal_schedule_under_the_whole_family() {
    let folder = tempfile::tempdir().unwrap();
    let model = "cwf[jobs=120,load=0.9,pd=0.4,pe=0.3,pr=0.3,seed=5]";
    for policy in ["easy", "easy-de", "los-e", "los-de", "delayed-los-e", "hybrid-los-e"] {
        let out = folder.path().join(policy);
        gridemu(&["replay", model, "--policy", policy, "--out", &argument(&out)]).well();
        let events = std::fs::read_to_string(out.join("events.csv")).unwrap();
        let carried_out =
            events.lines().filter(|line| line.contains(",extended,") || line.contains(",reduced,"));
        assert_eq!(carried_out.count() > 0, policy != "easy", "{policy}: {events}");
    }
}

/// A share of the jobs of a workload is malleable, and a policy that follows the load resizes no others.
#[test]
fn a_part_of_the_jobs_is_malleable() {
    let folder = tempfile::tempdir().unwrap();
    let run = |policy: &str, share: &str, seed: u64| {
        let text = format!(
            "seed = {seed}\n[[site]]\nname = \"delft\"\npolicy = \"{policy}\"\n\
             machines = [{{ class = \"node\", count = 16 }}]\n\
             workload = {{ lublin = {{ jobs = 300, procs = 16, load = 0.9, seed = 4 }}, \
             malleable = {{ share = {share}, speedup = \"working-set\" }} }}\n"
        );
        let path = file(folder.path(), "part.toml", text.into_bytes());
        let out = folder.path().join("out");
        gridemu(&["run", &path, "--out", &argument(&out)]).well();
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        let events = read("events.csv");
        let resized = events.lines().filter(|line| line.contains(",resized,"));
        let resized: std::collections::BTreeSet<String> =
            resized.map(|line| line.split(',').nth(7).unwrap().to_owned()).collect();
        // The last column says which jobs are malleable, where any may be.
        let (jobs, mut table) = (read("jobs.csv"), String::new());
        for line in jobs.lines() {
            let columns = line.split(',').take(23).collect::<Vec<_>>();
            table += &(columns.join(",") + "\n");
        }
        (table, resized)
    };
    let follows = "gang[variant=fcfs-easy-wa,level=1,slice=none]";
    let rigid = run("easy", "1", 1);
    assert_eq!(run(follows, "0", 1), rigid, "without malleable jobs it is EASY");
    let [(half, some), (other, _), (_, all)] =
        [("0.5", 1), ("0.5", 2), ("1.0", 1)].map(|(share, seed)| run(follows, share, seed));
    assert!(!some.is_empty() && some.len() < all.len(), "{} and {}", some.len(), all.len());
    assert_ne!(half, other, "the seed draws which jobs are malleable");
}

/// Jobs of a log, and of a scenario, whose processors may be changed. Two jobs of 100 s on 16 processors: job 1 (8) has all from 20 on and is over
/// at 60; job 3 (16) asks for 8 from 35 on, and takes twice as long. Job 2 is larger than the machine.
#[test]
fn processors_of_malleable_jobs_change() {
    let folder = tempfile::tempdir().unwrap();
    let rows = [
        "; MaxProcs: 16\n".to_owned(),
        job(1, 0, 8, "-1 S -1"),
        command(1, 20, "EP 8"),
        job(2, 30, 20, "-1 S -1"),
        job(3, 30, 16, "-1 S -1"),
        command(3, 35, "RP 8"),
    ];
    let log = file(folder.path(), "wide.cwf", rows.concat().into_bytes());
    let jobs = |out: &std::path::Path| -> Vec<String> {
        let table = std::fs::read_to_string(out.join("jobs.csv")).unwrap();
        table.lines().skip(1).map(|line| line.split(',').take(5).collect::<Vec<_>>().join(",")).collect()
    };
    let resized = ["2,30,,30,0", "1,0,0,60,16", "3,30,60,260,8"];
    for policy in ["easy-e", "hybrid-los-e"] {
        let out = folder.path().join(policy);
        let ran = gridemu(&["replay", &log, "--policy", policy, "--malleable", "--out", &argument(&out)]);
        assert!(ran.well().out.contains("with --malleable"), "{}", ran.out);
        assert!(ran.out.contains(" elastic commands  2 carried out\n"), "{}", ran.out);
        assert_eq!(jobs(&out), resized, "{policy}");
    }
    let plain = gridemu(&["replay", &log, "--policy", "easy-e"]);
    let note =
        "note: 2 of 2 commands to jobs were refused (2: only malleable jobs change their processors)\n";
    assert!(plain.well().out.contains(note), "{}", plain.out);

    // The same with one more processor by an event, and four blocks of four.
    let scenario = |malleable: bool| {
        let text = format!(
            "[[site]]\nname = \"delft\"\npolicy = \"easy-e\"\n\
             machines = [{{ class = \"node\", count = 16, allocation_unit = 4 }}]\n\
             workload = {{ log = \"wide.cwf\", malleable = {malleable} }}\n\n\
             [[event]]\nat = \"70 s\"\nextend = \"delft\"\njob = 3\nprocs = 1\n\n\
             [[event]]\nat = \"71 s\"\nreduce = \"delft\"\njob = 3\nprocs = 3\n"
        );
        file(folder.path(), &format!("{malleable}.toml"), text.into_bytes())
    };
    let shown = gridemu(&["check", &scenario(true), "--show"]);
    assert!(shown.well().out.contains("malleable = true"), "{}", shown.out);
    let out = folder.path().join("run");
    let ran = gridemu(&["run", &scenario(true), "--out", &argument(&out)]);
    assert!(
        ran.well().out.contains(" elastic commands  3 carried out, 1 refused (out-of-range 1)\n"),
        "{}",
        ran.out
    );
    // 1600 s of its work: 80 by 70, and 12 processors from then on.
    assert_eq!(jobs(&out), ["2,30,,30,0", "1,0,0,60,16", "3,30,60,196.666667,12"]);
    let out = folder.path().join("rigid");
    let ran = gridemu(&["run", &scenario(false), "--out", &argument(&out)]);
    assert!(
        ran.well().out.contains(" elastic commands  0 carried out, 4 refused (not-malleable 4)\n"),
        "{}",
        ran.out
    );
    assert_eq!(jobs(&out), ["2,30,,30,0", "1,0,0,100,8", "3,30,100,200,16"]);
}
