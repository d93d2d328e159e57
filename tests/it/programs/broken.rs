//! Programs that break the protocol, or end.

use super::{CHURN, PLAIN, has, ran, written};
use crate::cli::gridemu;

/// A broker of batch mode that is right until its question number 3, and then does what its argument says.
const BROKEN: &str = r#"
import json, os, sys, time
how = sys.argv[1]
mode = "immediate" if how.startswith("one") else "batch"
waiting, sent = [], 0
def say(text): sys.stdout.write(text); sys.stdout.flush()
for line in sys.stdin:
    q = json.loads(line)
    if "hello" in q:
        if how == "version": say('{"hello":{"version":7,"mode":"batch"}}\n')
        elif how == "mute": time.sleep(100)
        else: say(json.dumps({"hello": {"version": 1, "name": "broken", "mode": mode}}) + "\n")
        continue
    n = q["ask"]
    for t in q.get("tasks", []):
        if t["state"] == "ready": waiting.append(t["task"])
    if n < 3 and not how.startswith("one"):
        say(json.dumps({"answer": n}) + "\n"); continue
    plan = []
    def decide(task, **more):
        global sent
        sent += 1
        plan.append(dict({"id": sent, "task": task}, **more))
    if how == "number": n += 1
    elif how == "garbage": say("I think pool 2\n"); continue
    elif how == "bytes": sys.stdout.buffer.write(b'{"answer":\xff}\n'); sys.stdout.flush(); continue
    elif how == "half": say('{"answer":3,"pl'); sys.exit()
    elif how == "exit": sys.stderr.write("no more\n"); sys.exit(3)
    elif how == "silent": time.sleep(100)
    elif how == "twice": decide(waiting[0], assign=0); decide(waiting[0], assign=1)
    elif how == "unknown": decide(999999, assign=0)
    elif how == "pool": decide(waiting[0], assign=17)
    elif how == "key": decide(waiting[0], asign=1)
    elif how == "both": decide(waiting[0], assign=1, plan=1)
    elif how == "late": say(json.dumps({"answer": n, "later": q["now"]}) + "\n"); continue
    elif how == "past": decide(waiting[0], put_off=1, until=0)
    elif how == "one-left": decide(q["task"], assign=3)
    elif how == "one-other": decide(q["task"] + 1, assign=0)
    elif how == "nothing": pass
    elif how == "again":
        for task in waiting: decide(task, assign=2)
        waiting = []
        plan = plan + [{"id": 1, "task": 0, "assign": 0}]
    elif how == "waits":
        if q["now"] >= 40000000000 or "due" in q["why"]:
            for task in waiting: decide(task, assign=2)
            waiting = []
        else: say(json.dumps({"answer": n, "later": 40000000000}) + "\n"); continue
    say(json.dumps({"answer": n, "plan": plan}) + "\n")
"#;

/// The error of each way to break the protocol names the program, the question and what is wrong.
#[test]
fn what_breaks_the_protocol_is_told() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "broken.py", BROKEN);
    let scenario = format!("{PLAIN}{CHURN}");
    for (how, says) in [
        ("number", "it answers question 4; the answer to this one begins {\"answer\":3"),
        (
            "garbage",
            "its answer cannot be read: expected value at line 1 column 1; it wrote `I think pool 2`",
        ),
        ("bytes", "its answer is not UTF-8"),
        ("half", "it has ended, in the middle of its answer: `{\"answer\":3,\"pl`"),
        ("exit", "it has ended with exit code 3; it said last: `no more`"),
        ("twice", "it does not wait, this answer has assigned it to pool 0 (`a/node`) before"),
        ("unknown", "decision 1 about task 999999: it does not wait: it has ended, or never was"),
        ("pool", "names pool 17, which is not there; pools are numbered from 0 to 3"),
        ("key", "unknown field `asign`, expected one of `id`, `task`, `assign`"),
        ("both", "must have one of `assign`, `plan` and `put_off`, with the number of a pool"),
        ("late", "it wants to be asked again at `later`"),
        ("past", "until 0, which is not after now"),
        ("one-left", "to pool 3 (`c/node`), whose site has left"),
        ("one-other", "; this question is about task 0 alone"),
    ] {
        let (ran, out) =
            ran(folder.path(), how, &scenario, &["--broker", &format!("python3 {script} {how}")]);
        ran.ends(1, &["error: broker program `broken`, question ", says]);
        let jobs = std::fs::read_to_string(out.join("jobs.csv")).unwrap();
        assert!(jobs.starts_with("job"), "{how}: what had ended by then is kept: {jobs}");
    }
}

#[test]
fn silence_is_not_waited_for_for_ever() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "broken.py", BROKEN);
    for (how, code) in [("silent", 1), ("mute", 2)] {
        let command = format!("python3 {script} {how}");
        let options = ["--set", "broker.timeout=1 s", "--broker", &command];
        let (ran, _) = ran(folder.path(), how, PLAIN, &options);
        ran.ends(code, &["it has not answered within 1 s of the wall clock"]);
    }
}

#[test]
fn a_program_that_cannot_be_greeted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(
        folder.path(),
        "none.toml",
        &PLAIN.replace("[broker]\n", "[broker]\ncommand = [\"nosuchprogram\", \"x.py\"]\n"),
    );
    for command in ["check", "run"] {
        let says = ["none.toml, line 18, `broker.command`: there is no program `nosuchprogram`"];
        gridemu(&[command, &file]).ends(2, &says);
    }
    let beside = written(
        folder.path(),
        "beside.toml",
        &PLAIN.replace("[broker]\n", "[broker]\ncommand = [\"./mine\"]\npolicy = \"mct\"\n"),
    );
    gridemu(&["check", &beside]).ends(2, &["`mct` is a policy, and `command` a program in its place"]);
    let idle =
        written(folder.path(), "idle.toml", &PLAIN.replace("[broker]\n", "[broker]\nfallback = \"mct\"\n"));
    gridemu(&["check", &idle]).ends(2, &["it has no effect without a `command`"]);
    if has("python3") {
        let script = written(folder.path(), "broken.py", BROKEN);
        let (ran, _) =
            ran(folder.path(), "version", PLAIN, &["--broker", &format!("python3 {script} version")]);
        ran.ends(2, &["it speaks version 7 of the protocol; this gridemu speaks version 1"]);
    }
}

/// Without a decision, and with nothing that could bring one, the run ends, and says whose fault it is.
#[test]
fn a_program_that_decides_nothing_is_named() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "broken.py", BROKEN);
    let (nothing, _) =
        ran(folder.path(), "nothing", PLAIN, &["--broker", &format!("python3 {script} nothing")]);
    nothing.ends(1, &["stuck at ", "waits at the broker", "the broker program `broken` has decided nothing"]);
    // One that says when it wants to be asked again is.
    let (waits, out) = ran(folder.path(), "waits", PLAIN, &["--broker", &format!("python3 {script} waits")]);
    waits.well();
    let jobs = std::fs::read_to_string(out.join("jobs.csv")).unwrap();
    assert!(jobs.lines().count() > 200, "{jobs}");
    // A decision that is sent again changes nothing.
    let (again, _) = ran(folder.path(), "again", PLAIN, &["--broker", &format!("python3 {script} again")]);
    assert!(again.well().json()["broker"]["program"]["repeated"].as_u64().unwrap() > 10);
}

#[test]
fn a_policy_takes_the_place_of_a_program_that_fails() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "broken.py", BROKEN);
    let with = PLAIN.replace("[broker]\n", "[broker]\nfallback = \"min-min\"\n");
    for how in ["exit", "garbage", "twice", "one-other"] {
        let (ran, _) = ran(folder.path(), how, &with, &["--broker", &format!("python3 {script} {how}")]);
        ran.ends(
            0,
            &["warning: broker program `broken`, question ", "`min-min` decides for the rest of the run"],
        );
        let summary = ran.json();
        let fallback = &summary["broker"]["program"]["fallback"];
        assert_eq!(fallback["policy"], "min-min", "{summary}");
        assert_eq!(summary["outcomes"]["completed"], 210, "{how}");
        assert!(summary["notes"].to_string().contains("`min-min` took its place"), "{}", summary["notes"]);
    }
    let pull = PLAIN.replace("[broker]\n", "[broker]\nfallback = \"pull\"\n");
    let (ran, _) = ran(folder.path(), "pull", &pull, &["--broker", &format!("python3 {script} exit")]);
    ran.ends(2, &["`pull` cannot take the place of the program: it waits for requests of pools"]);
}
