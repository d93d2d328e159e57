//! Commands that cannot do what they are asked: exit code 2 for a bad request, 1 for a failed run, a message that names the
//! place, and what was finished before stays readable.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{argument, file, gridemu, gzipped, log, row, rows_of, with_input};

const TINY: &str = "lublin[jobs=50]";

/// A log that is none, or breaks off: `replay` and `inspect` say so, with the place.
#[test]
fn logs_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = (0..5_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let whole: String = (1..3_000).map(|at| row(at, &[]) + "\n").collect();
    let packed = gzipped(log(&[whole.trim_end()]).as_bytes());
    let spoilt: Vec<u8> = packed
        .iter()
        .enumerate()
        .map(|(at, byte)| if at > packed.len() / 2 { !byte } else { *byte })
        .collect();
    let cases: [(&str, &[u8], i32, &[&str]); 9] = [
        ("empty.swf", b"", 2, &["empty", "hint: fetch it again"]),
        ("empty.swf.gz", b"", 2, &["empty", "hint: fetch it again"]),
        ("packed-empty.swf.gz", &gzipped(b""), 2, &["empty"]),
        ("header-only.swf", b"; MaxProcs: 10\n", 2, &["no row is a job", "hint: a row has 18 numbers"]),
        ("binary.swf", &noise, 2, &["no row is a job", "first at line", "hint: "]),
        ("packed-binary.swf.gz", &gzipped(&noise), 2, &["no row is a job", "first at line", "hint: "]),
        ("prose.swf", b"This is not a log.\n", 2, &["no row is a job", "line 1", "hint: "]),
        ("truncated.swf.gz", &packed[..packed.len() / 2], 1, &["line ", "hint: the file is cut short"]),
        ("spoilt.swf.gz", &spoilt, 1, &["line ", "hint: "]),
    ];
    for (name, content, code, says) in cases {
        let path = file(folder.path(), name, content);
        for args in [&["replay", &path, "--policy", "easy", "--procs", "10"][..], &["inspect", &path]] {
            let ran = gridemu(args);
            ran.ends(code, &[&format!("error: `{name}`")]).ends(code, says);
            assert_eq!(ran.out, "", "{}", ran.args);
        }
    }
}

/// Fields that make no sense cost one row or one job, which is counted and told with its place.
#[test]
fn fields_that_make_no_sense() {
    let cases: [(&[(usize, &str)], &str); 12] = [
        (&[(4, "abc")], "skipped 1 row that is not 18 numbers (first at line 3: column 4 is not a number)"),
        (&[(2, "NaN")], "skipped 1 row that is not 18 numbers (first at line 3: column 2 is not a number)"),
        (&[(4, "1e300")], "(first at line 3: column 4 has an impossible value)"),
        (&[(4, "99999999999999999999999")], "(first at line 3: column 4 has an impossible value)"),
        (&[(4, "999999999999"), (9, "999999999999")], "(first at line 3: column 4 has an impossible value"),
        (&[(5, "5000000000"), (8, "5000000000")], "(first at line 3: column 5 has an impossible value"),
        (&[(2, "-10")], "skipped 1 job without a submission time (first at line 3)"),
        (&[(4, "-10")], "skipped 1 job without a run time (first at line 3)"),
        (&[(4, "0")], "skipped 1 job with a run time of zero (first at line 3)"),
        (&[(5, "-7"), (8, "-7")], "skipped 1 job without processors (first at line 3)"),
        (&[(5, "0"), (8, "0")], "skipped 1 job without processors (first at line 3)"),
        (&[(18, "")], "(first at line 3: 17 columns instead of 18)"),
    ];
    for (changed, note) in cases {
        let text = log(&[&row(1, &[]), &row(2, changed), &row(3, &[])]);
        let ran = with_input(&["replay", "-", "--policy", "easy", "--json"], &text);
        ran.ends(0, &["note: ", note]);
        let summary = ran.json();
        assert_eq!((&summary["jobs"], &summary["measured"]), (&2.into(), &2.into()), "{note}");
        assert!(summary["notes"][0].as_str().unwrap().contains(note), "{}", summary["notes"]);
    }
}

#[test]
fn jobs_larger_than_the_machine() {
    let text = log(&[&row(1, &[]), &row(2, &[(5, "20"), (8, "20")]), &row(3, &[])]);
    let summary = with_input(&["replay", "-", "--policy", "easy", "--json"], &text).json();
    assert_eq!((&summary["outcomes"]["rejected"], &summary["measured"]), (&1.into(), &2.into()));
    let table = with_input(&["replay", "-", "--policy", "easy"], &text);
    assert!(table.out.contains("1 rejected"), "{}", table.out);
    let capped = with_input(&["replay", "-", "--policy", "easy", "--json", "--cap"], &text);
    capped.ends(0, &["note: cut 1 job to the machine's processors (first at line 3)"]);
    assert_eq!(capped.json()["measured"], 3);
    // Every job is too large: a result without figures, and not one with zeros.
    let none = with_input(&["replay", "-", "--policy", "easy", "--json", "--procs", "1"], &text).json();
    assert_eq!(none["outcomes"]["rejected"], 3);
    assert!(none["mean_wait"].is_null() && none["utilization"].is_null() && none["makespan"].is_null());
}

/// What is asked for makes no sense: nothing runs, nothing is printed.
#[test]
fn requests_that_make_no_sense() {
    let cases: [(&[&str], &[&str]); 98] = [
        (&["--policy", "esy"], &["did you mean `easy`?", "there are fcfs, easy", "hint: `gridemu policies`"]),
        (&["--policy", "EASY"], &["did you mean `easy`?"]),
        (&["--policy", "easy", "--policy", "conservativ"], &["did you mean `conservative`?"]),
        (&["--policy", "easy[oder=sjf]"], &["no parameter `oder` (did you mean `order`?)"]),
        (&["--policy", "easy[order=sfj]"], &["`order=sfj`", "`sjf`"]),
        (&["--policy", "easy[order=sjf"], &["`easy[order=sjf`", "name[key=value,...]"]),
        (&["--policy", "easy[order=sjf,order=sjf]"], &["`order` is given twice"]),
        (&["--policy", "equal-share[mpl=0]"], &["`mpl=0`", "from 1 to 1000"]),
        (&["--policy", "conservative[compress=x]"], &["`compress=x`", "`submission`"]),
        (&["--policy", "scojo[level=0]"], &["`level=0`", "from 1 to 1000"]),
        (&["--policy", "scojo[share=0%]"], &["`share=0%`", "`0%` is not a share above 0 and below 100 %"]),
        (&["--policy", "scojo[share=100%]"], &["`share=100%`", "`100%` is not a share"]),
        (&["--policy", "scojo[share=40%/40%]"], &["one for each of the 4 classes: these are 2"]),
        (&["--policy", "scojo[slots=40%]"], &["`slots=40%`", "as many shares as `level=2`: these are 1"]),
        (&["--policy", "scojo[slots=60%/60%]"], &["`slots=60%/60%`", "at most 100 % in all"]),
        (&["--policy", "scojo[slots=60%/40%,share=10%]"], &["`share=10%`", "`slots`, which say all shares"]),
        (&["--policy", "scojo[compensate=true]"], &["50% and 50% at a slowdown of 1.2 need 120 %"]),
        (&["--policy", "scojo[slowdown=fast]"], &["`slowdown=fast`", "0.01 to 100, such as 1.2, `huang`"]),
        (&["--policy", "scojo[slowdown=a b; a 1 1]"], &["not square: it has 2 columns and 1 rows"]),
        (&["--policy", "scojo[slowdown=a b; a 1 -; b - 1]"], &["line 2: the pair `a` and `b` is missing"]),
        (&["--policy", "scojo[others=1.3]"], &["`others=1.3`", "a table, so that there are no `others`"]),
        (
            &["--policy", "scojo[classes=5 min/2 min]"],
            &["classes of run times end at 300 s and then at 120 s"],
        ),
        (&["--policy", "scojo[age_every=0 s]"], &["`age_every=0 s`", "a time above 0"]),
        (
            &["--policy", "scojo-pect[shares=1%/2%/3%]"],
            &["`shares=1%/2%/3%`", "100 % together: these are 6 %"],
        ),
        (&["--policy", "scojo-pect[shares=50%/50%]"], &["`shares=50%/50%`", "three shares with slashes"]),
        (
            &["--policy", "scojo-pect[shares_by_hour=22-6=1%/2%/3%]"],
            &["`shares_by_hour=22-6=1%/2%/3%`", "100 % together at each hour: from 22 to 6 these are 6 %"],
        ),
        (
            &["--policy", "scojo-pect[shares_by_hour=22-6=1%/9%/90%;5-8=2%/8%/90%]"],
            &["not one for each hour: hours 5 to 6 have shares twice"],
        ),
        (
            &["--policy", "scojo-pect-groups[shares_by_hour=night=1%/9%/90%]"],
            &["such as `22-6=0.5%/9.5%/90%;8-12=2%/38%/60%`: see `night=1%/9%/90%`"],
        ),
        (
            &["--policy", "scojo-pect[shares=1%/9%/90%,shares_by_hour=0-24=2%/8%/90%]"],
            &["`shares=1%/9%/90%`", "not needed: `shares_by_hour` has shares for each hour"],
        ),
        (
            &["--policy", "scojo-pect[floor=60 s]"],
            &["`floor=60 s`", "above `switch`, 60 s, which is lost of each slice"],
        ),
        (
            &["--policy", "scojo-pect[floor=30 min]"],
            &["`floor=1800 s`", "at most a third of `cycle`, which is 3600 s"],
        ),
        (&["--policy", "scojo-pect[switch=soon]"], &["`switch=soon`", "a time, such as `60 s`, or `0 s`"]),
        (&["--policy", "scojo-pect[switch=0 s,floor=0 s]"], &["`floor=0 s`", "a time above 0"]),
        (&["--policy", "scojo-pect[cycle=soon]"], &["`cycle=soon`", "a time above 0"]),
        (&["--policy", "scojo-pect[classes=3 h/10 min]"], &["`classes=3 h/10 min`", "in ascending order"]),
        (&["--policy", "scojo-pect[order=best]"], &["`order=best`", "`fcfs`, `dds-lxf-dynb`, `discrepancy`"]),
        (
            &["--policy", "scojo-pect-groups[most=9/30]"],
            &["`most=9/30`", "at least `least`, which is 10 for medium jobs"],
        ),
        (&["--policy", "scojo-pect-groups[least=5]"], &["`least=5`", "with a slash between them"]),
        (&["--policy", "scojo-pect-groups[wide=10%/200%]"], &["`wide=10%/200%`", "two percentages"]),
        (&["--policy", "scojo-pect-groups[first=6/4]"], &["`first=6/4`", "the smaller one first"]),
        (&["--policy", "scojo-pect-groups[nodes=0]"], &["`nodes=0`", "a number from 1 to"]),
        (&["--policy", "scojo-pect-groups[orders=0]"], &["`orders=0`", "a number from 1 to"]),
        (&["--policy", "scojo-pect-groups[shift=0.5]"], &["`shift=0.5`", "a number from 1 to 1000"]),
        (&["--policy", "scojo-pect-groups[factors=1/1]"], &["`factors=1/1`", "three numbers"]),
        (&["--policy", "scojo-pect-groups[drop=5]"], &["`drop=5`", "a percentage from 0% to 100%"]),
        (
            &["--policy", "scojo-pect-groups[fixed=true,second=false]"],
            &["`fixed=true`", "without a second level"],
        ),
        (
            &["--policy", "scojo-pect-groups[shares=1%/2%/3%]"],
            &["`shares=1%/2%/3%`", "100 % together: these are 6 %"],
        ),
        (&["--policy", "scojo-pect[lookahead=0]"], &["`lookahead=0`", "a number of jobs, from 1 to"]),
        (&["--policy", "discrepancy[nodes=0]"], &["`nodes=0`", "a number of nodes, from 1 to"]),
        (&["--policy", "discrepancy[nodes=-5]"], &["`nodes=-5`", "a number of nodes, from 1 to"]),
        (&["--policy", "dds-lxf-dynb[lookahead=0]"], &["`lookahead=0`", "a number of jobs, from 1 to"]),
        (&["--policy", "discrepancy[search=bfs]"], &["`search=bfs`", "`dds`, `lds`, `ilds`, `dfs`"]),
        (&["--policy", "discrepancy[bound=late]"], &["`bound=late`", "a time, such as `5 h`, or `dynamic`"]),
        (&["--policy", "discrepancy[prune=yes]"], &["`prune=yes`", "`true`, `false`"]),
        (&["--policy", "gang[level=0]"], &["`level=0`", "from 1 to 1000"]),
        (&["--policy", "gang[variant=wa-pri]"], &["`variant=wa-pri`", "a variant such as `pri-b-wa-fa`"]),
        (
            &["--policy", "gang[slice=40 ms,switch=40 ms]"],
            &["`slice=40 ms`", "a time slice of 0.04 s is not longer than the context switch of 0.04 s"],
        ),
        (&["--policy", "gang[switch=100%]"], &["`switch=100%`", "a part above 0 and below 100 %"]),
        (&["--policy", "gang[slice=none,switch=10%]"], &["`switch=10%`", "nothing is switched"]),
        (&["--policy", "gang[slice=soon]"], &["`slice=soon`", "a time above 0, such as `2 s`"]),
        (&["--policy", "gang[reconfigure=often]"], &["`reconfigure=often`", "a time, such as `5 min`"]),
        (
            &["--policy", "gang[classes=30 min/1 min]"],
            &["`classes=30 min/1 min`", "each bound must be above"],
        ),
        (&["--policy", "easy", "--policy", "easy"], &["`easy` is given twice"]),
        (&["--policy", ""], &["name[key=value,...]"]),
        (&[], &["--policy <POLICY>"]),
        (&["--policy", "easy", "--procs", "0"], &["must be 1 or more"]),
        (&["--policy", "easy", "--procs", "5000000000"], &["5000000000", "4294967295"]),
        (&["--policy", "easy", "--procs", "4294967295"], &["4294967295", "67108864"]),
        (&["--policy", "easy", "--procs=-3"], &["-3", "--procs"]),
        (&["--policy", "easy", "--procs", "many"], &["many", "--procs"]),
        (&["--policy", "easy", "--allocation-unit", "0"], &["`--allocation-unit 0`"]),
        (&["--policy", "easy", "--allocation-unit", "1000"], &["`--allocation-unit 1000`"]),
        (&["--policy", "easy", "--load", "0"], &["load of 0", "from 0.001 to 1000"]),
        (&["--policy", "easy", "--load=-1"], &["load of -1"]),
        (&["--policy", "easy", "--load", "nan"], &["load of NaN"]),
        (&["--policy", "easy", "--load", "much"], &["much", "--load"]),
        (&["--policy", "easy", "--load-factor", "0"], &["`0` is not a factor", "--load-factor"]),
        (&["--policy", "easy", "--load-factor", "-1.2"], &["`-1.2` is not a factor", "`2/3`"]),
        (
            &["--policy", "easy", "--load-factor", "1.2", "--load", "0.5"],
            &["`--load` and `--load-factor` both"],
        ),
        (&["--policy", "easy", "--estimates", "wrong"], &["`wrong`", "`exact`", "`tsafrir`"]),
        (&["--policy", "easy", "--estimates", "factor:-1"], &["`factor:-1`", "factor:2.5"]),
        (&["--policy", "easy", "--estimates", "tsafrir[max=5]"], &["`max=5`", "36h"]),
        (&["--policy", "easy", "--clean", "well"], &["well", "strict"]),
        (&["--policy", "easy", "--order", "none"], &["none", "instant, event"]),
        (&["--policy", "equal-share", "--order", "event"], &["equal-share", "one pass per event"]),
        (&["--policy", "easy", "--classes", "foo"], &["`foo`", "kettimuthu-16"]),
        (&["--policy", "easy", "--tau", "soon"], &["`soon`", "90 s"]),
        (&["--policy", "easy", "--reserve", "x"], &["`x`", "2h..4h:64"]),
        (&["--policy", "easy", "--reserve", "5..3:2"], &["reservation", "3 s", "5 s"]),
        (&["--policy", "easy", "--reserve", "5..30:2000"], &["reservation", "2000 of 128"]),
        (&["--policy", "fcfs", "--reserve", "5..30:2"], &["`fcfs`", "does not support reservations"]),
        (&["--policy", "easy", "--speed", "0"], &["--speed", "above 0"]),
        (&["--policy", "easy", "--pue", "0.5"], &["--pue", "from 1 to 10"]),
        (&["--policy", "easy", "--idle", "warm"], &["`warm`", "95 W/core"]),
        (&["--policy", "easy", "--idle", "40"], &["`40`", "95 W/core"]),
        (&["--policy", "easy", "--idle", "40 W"], &["power of a machine", "write `40 W/core`"]),
        (&["--policy", "easy", "--price", "cheap"], &["`cheap`", "0.18/core-h"]),
        (&["--policy", "easy", "--machines"], &["--out"]),
    ];
    for (args, says) in cases {
        let ran = gridemu(&[&["replay", TINY], args].concat());
        assert_eq!(ran.ends(2, says).out, "", "{}", ran.args);
    }
}

#[test]
fn workloads_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = argument(folder.path());
    let gone = argument(&folder.path().join("gone.swf"));
    let unknown = file(folder.path(), "unknown.swf", row(1, &[]));
    let json = file(folder.path(), "broken.json", "{\"nb_res\": 4,\n \"jobs\": [");
    let cases: [(&str, &[&str]); 13] = [
        (&gone, &["gone.swf", "hint: give a log, or a generator"]),
        (&path, &["is a folder, not a log"]),
        (&unknown, &["does not contain the number of processors", "hint: add `--procs N`"]),
        (&json, &["`broken.json`, line 2, column 10: not JSON: EOF"]),
        (
            "pipelin",
            &[
                "cannot open `pipelin`",
                "hint: give a file, or a generator of workflows such as `pipeline[tasks=100]`",
            ],
        ),
        ("lubln[jobs=50]", &["`lubln[jobs=50]`", "hint: give a log, or a generator such as `lublin["]),
        ("lublin[job=50]", &["no parameter `job` (did you mean `jobs`?)"]),
        ("lublin[jobs=0]", &["`jobs=0`", "from 1"]),
        ("lublin[jobs=-5]", &["`jobs=-5`"]),
        ("lublin[jobs=50,procs=0]", &["`procs=0`", "from 1"]),
        ("lublin[jobs=50,procs=5000000000]", &["`procs=5000000000`"]),
        ("lublin[jobs=50", &["name[key=value,...]"]),
        ("-", &["standard input", "empty"]),
    ];
    for (workload, says) in cases {
        for args in [&["replay", workload, "--policy", "easy"][..], &["inspect", workload]] {
            let ran = gridemu(args);
            assert_eq!(ran.ends(2, says).out, "", "{}", ran.args);
        }
    }
    gridemu(&["replay", "pipeline[tasks=2]", "--policy", "easy"])
        .ends(2, &["has workflows, where jobs are wanted"]);
    gridemu(&["replay", "-", "--policy", "easy", "--load", "0.5"]).ends(2, &["standard input", "hint: "]);
    gridemu(&["replay", TINY, "--policy", "easy", "--feedback"]).ends(2, &["feedback"]);
}

/// What is asked of a workload and cannot be done to it is refused, and not left out in silence.
#[test]
fn nothing_that_is_asked_for_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let batsim = r#"{"nb_res": 4, "jobs": [{"id": 0, "subtime": 0, "walltime": 9, "res": 1, "profile": "p"}],
        "profiles": {"p": {"type": "delay", "delay": 5}}}"#;
    let batsim = file(folder.path(), "w.json", batsim);
    let loaded = "lublin[jobs=50,load=0.5]";
    let cases: [(&str, &[&str], &[&str]); 9] = [
        (loaded, &["--load", "0.9"], &["`--load`", "both give the load", "hint: leave one"]),
        (loaded, &["--load-factor", "2"], &["`--load-factor`", "both give the load", "hint: leave one"]),
        (TINY, &["--cap"], &["`--cap` works on SWF logs, not on the Lublin model"]),
        (TINY, &["--clean", "strict"], &["`--clean strict` works on SWF logs"]),
        (&batsim, &["--cap"], &["`--cap` works on SWF logs, not on Batsim workloads"]),
        (&batsim, &["--clean", "strict"], &["`--clean strict` works on SWF logs"]),
        (&batsim, &["--load", "0.9"], &["`--load` works on SWF logs"]),
        (&batsim, &["--feedback"], &["--feedback"]),
        // Arrivals under feedback are made by the schedule: there is nothing to inspect.
        (TINY, &["--feedback"], &["feedback"]),
    ];
    for (workload, option, says) in cases {
        for args in [&["replay", workload, "--policy", "easy"][..], &["inspect", workload]] {
            let ran = gridemu(&[args, option].concat());
            assert_eq!(ran.ends(2, says).out, "", "{}", ran.args);
        }
    }
}

#[test]
fn models_and_policies_that_do_not_exist() {
    let cases: [(&[&str], &[&str]); 8] = [
        (&["generate", "lubln"], &["no model `lubln`", "`lublin`"]),
        (&["generate", "lublin", "jobs"], &["`jobs`", "key=value"]),
        (&["generate", "lublin", "jobs=5", "jobs=6"], &["`jobs` is given twice"]),
        (&["generate", "lublin", "uhii=5"], &["no parameter `uhii` (did you mean `uhi`?)"]),
        (&["generate", "cwf", "procs=64"], &["`split=3`", "machine's 2 units"]),
        (&["generate", "cwf", "load=0.001"], &["`load=0.001`", "any `barr`", "`calibrate=gaps`"]),
        (&["policies", "esy"], &["did you mean `easy`?"]),
        (&["replya"], &["replya", "replay"]),
    ];
    for (args, says) in cases {
        let ran = gridemu(args);
        assert_eq!(ran.ends(2, says).out, "", "{}", ran.args);
    }
}

#[test]
fn output_folders_that_cannot_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let inside = |name: &str| argument(&folder.path().join(name));
    file(folder.path(), "occupied", "");
    fs::create_dir_all(folder.path().join("a/jobs.csv")).unwrap();
    fs::create_dir_all(folder.path().join("b/summary.json")).unwrap();
    let cases: [(&str, &[&str]); 4] = [
        ("occupied", &["occupied", "hint: a file is in the way"]),
        ("occupied/x", &["occupied/x", "hint: a file is in the way"]),
        ("a", &["a/jobs.csv", "hint: a folder is in the way"]),
        ("b", &["b/summary.json", "hint: a folder is in the way"]),
    ];
    for (name, says) in cases {
        let ran = gridemu(&["replay", TINY, "--policy", "easy", "--out", &inside(name)]);
        assert_eq!(ran.ends(2, says).out, "", "{}", ran.args);
    }
    gridemu(&["generate", TINY, "--output", &inside("occupied/x.swf")]).ends(2, &["occupied/x.swf"]);
}

/// A disk without room, which most systems have as `/dev/full`.
fn full() -> Option<&'static Path> {
    Some(Path::new("/dev/full")).filter(|path| path.exists())
}

#[test]
fn a_disk_that_fills_leaves_whole_rows() {
    let Some(full) = full() else { return };
    let many = "lublin[jobs=20000]";
    let hint = "hint: free some space";
    let folder = tempfile::tempdir().unwrap();
    let out = |name: &str, file: &str| {
        let path = folder.path().join(name);
        fs::create_dir(&path).unwrap();
        symlink(full, path.join(file)).unwrap();
        path
    };
    let jobs = out("jobs", "jobs.csv");
    let ran = gridemu(&["replay", many, "--policy", "easy", "--out", &argument(&jobs)]);
    ran.ends(1, &["jobs.csv`", "it holds 0 complete rows", hint]);
    assert_eq!(ran.out, "");
    assert!(!jobs.join("summary.json").exists(), "a run that failed has no summary");

    let segments = out("segments", "segments.csv");
    let ran = gridemu(&["replay", many, "--policy", "easy", "--out", &argument(&segments)]);
    ran.ends(1, &["segments.csv`", "it holds 0 complete rows", hint]);
    let kept = rows_of(&segments.join("jobs.csv"));
    assert!(kept > 1_000 && kept < 20_000, "{kept} rows; the run stops soon after the disk is full");
    assert!(!segments.join("summary.json").exists());

    // The first policy's folder is complete when the second one's disk fills.
    let several = out("several", "unused");
    fs::create_dir(several.join("fcfs")).unwrap();
    symlink(full, several.join("fcfs/jobs.csv")).unwrap();
    let policies = ["--policy", "easy", "--policy", "fcfs", "--out", &argument(&several)];
    gridemu(&[&["replay", TINY], &policies[..]].concat()).ends(1, &["fcfs/jobs.csv"]);
    assert_eq!(rows_of(&several.join("easy/jobs.csv")), 50);
    assert!(several.join("easy/summary.json").exists() && !several.join("fcfs/summary.json").exists());

    gridemu(&["generate", many, "--output", "/dev/full"]).ends(1, &["`/dev/full`", "No space left"]);
}

#[test]
fn standard_output_that_fills_is_a_failed_run() {
    let Some(full) = full() else { return };
    for args in [
        &["replay", TINY, "--policy", "easy"][..],
        &["replay", TINY, "--policy", "easy", "--json"],
        &["inspect", TINY],
        &["generate", TINY],
        &["policies"],
    ] {
        let done = std::process::Command::new(assert_cmd::cargo::cargo_bin!("gridemu"))
            .args(args)
            .stdout(fs::OpenOptions::new().write(true).open(full).unwrap())
            .output()
            .unwrap();
        let told = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{args:?}: {told}");
        assert!(told.starts_with("error: cannot write to standard output: No space left"), "{told}");
        assert!(told.contains("hint: free some space"), "{told}");
    }
}

/// A log that breaks off in the middle of the run: what had ended by then is in the files.
#[test]
fn a_log_that_breaks_off_leaves_what_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (1..40_000).map(|at| row(at, &[])).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let packed = gzipped(log(&rows).as_bytes());
    let path = file(folder.path(), "cut.swf.gz", &packed[..packed.len() / 2]);
    let out = folder.path().join("out");
    let ran = gridemu(&["replay", &path, "--policy", "easy", "--out", &argument(&out)]);
    ran.ends(1, &["`cut.swf.gz`, line ", "hint: the file is cut short"]);
    assert_eq!(ran.out, "");
    let kept = rows_of(&out.join("jobs.csv"));
    assert!(kept > 10_000 && kept < 30_000, "{kept} rows");
    assert_eq!(rows_of(&out.join("segments.csv")), kept);
    assert!(!out.join("summary.json").exists());
}

/// What must not happen: a result of nothing that looks like a result.
#[test]
fn never_a_silent_zero() {
    let text = log(&[&row(1, &[]), &row(2, &[])]);
    with_input(&["replay", "-", "--policy", "easy", "--first", "0"], &text)
        .ends(2, &["`first` must be 1 or more"]);
    gridemu(&["replay", TINY, "--policy", "easy", "--load", "1e-12"]).ends(2, &["load"]);
    gridemu(&["replay", "lublin[jobs=50,load=1e-300]", "--policy", "easy"]).ends(2, &["load"]);
}

/// Jobs that would come after the end of the time axis are not left out in silence.
#[test]
fn a_workload_longer_than_the_time_axis_fails() {
    let ran = gridemu(&["replay", "lublin[jobs=50000,factor=1000000]", "--policy", "fcfs"]);
    assert_eq!(ran.ends(1, &["beyond the end of the time axis", "hint: "]).out, "");
}

#[test]
fn standard_input_is_not_read_twice() {
    let text = log(&[&row(1, &[]), &row(2, &[])]);
    let ran = with_input(&["replay", "-", "--policy", "easy", "--policy", "fcfs"], &text);
    assert_eq!(ran.ends(2, &["standard input cannot be read twice", "hint: "]).out, "");
}

#[test]
fn a_policy_that_cannot_be_run_is_refused_before_another_runs() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    for (second, option) in [("fcfs", ["--reserve", "5..30:2"]), ("equal-share", ["--order", "event"])] {
        let policies = ["--policy", "easy", "--policy", second, "--out", &out];
        let ran = gridemu(&[&["replay", TINY], &policies[..], &option].concat());
        assert_eq!(ran.ends(2, &[second]).out, "");
        assert!(!Path::new(&out).exists(), "nothing was done");
    }
}

#[test]
fn a_header_with_an_absurd_machine_is_quoted() {
    for said in ["0", "-4", "5000000000"] {
        let text = log(&[&row(1, &[])]).replace("10\n1 ", &format!("{said}\n1 "));
        assert!(text.contains(said), "{text}");
        with_input(&["replay", "-", "--policy", "easy"], &text).ends(2, &[said, "line 1", "--procs N"]);
    }
}

#[test]
fn every_failure_has_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    file(folder.path(), "occupied", "");
    let path = argument(&folder.path().join("occupied/x.swf"));
    gridemu(&["generate", TINY, "--output", &path]).ends(2, &["hint: a file is in the way"]);
    if full().is_some() {
        gridemu(&["generate", TINY, "--output", "/dev/full"]).ends(1, &["hint: free some space"]);
    }
    gridemu(&["inspect", &argument(folder.path())]).ends(2, &["hint: "]);
    let cases: [(&[&str], &str); 6] = [
        (&["--procs", "67108865"], "hint: give the number of processors with `--procs N`"),
        (&["--allocation-unit", "0"], "hint: choose another `--allocation-unit`"),
        (&["--idle", "2 W/core", "--busy", "1 W/core"], "hint: raise `--busy` or lower `--idle`"),
        (&["--price", "2000000000"], "hint: lower `--busy` or `--price`"),
        (&["--reserve", "2h..1h:4"], "hint: write `--reserve FROM..TO:PROCS`"),
        (&["--policy", "equal-share", "--order", "event"], "hint: choose another policy"),
    ];
    for (args, hint) in cases {
        let text = log(&[&row(1, &[])]);
        let policy = if args.contains(&"--policy") { &[][..] } else { &["--policy", "easy"] };
        with_input(&[&["replay", "-"], policy, args].concat(), &text).ends(2, &[hint]);
    }
    // 1,845 jobs of three centuries, one after the other.
    let rows: Vec<String> =
        (1..1_900).map(|at| row(at, &[(4, "10000000000"), (9, "-1"), (8, "10")])).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    let ran = with_input(&["replay", "-", "--policy", "fcfs"], &log(&rows));
    ran.ends(1, &["would end beyond the end of time", "hint: a run time is too long"]);
}
