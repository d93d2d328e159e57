//! Commands to the real program while it follows the wall clock: the result is the same as if their times had been known
//! beforehand.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use gridemu::entity::ToSite;
use gridemu::experiment::{Progress, Run};
use gridemu::grid::{self, Grid, Policies, WindowOptions};
use gridemu::metrics::{Definitions, Fingerprint};
use gridemu::model::{ChurnAct, Elastic, Job, JobId, Machines, PartitionId, ProcSet, Record, SiteId};
use gridemu::output::{OutputDir, OutputOptions};
use gridemu::scenario::{Override, Scenario};
use gridemu::units::{Rate, Span, Time};

/// Two sites of 32 machines, a broker, a thousand jobs in eleven days.
const SCENARIO: &str = "configs/two-sites.toml";
const SITES: [&str; 2] = ["windsor", "delft"];

/// Paces, from one at which the run takes some seconds to one for a machine that does something else for a while.
const PACES: [&str; 3] = ["250000", "60000", "15000"];

/// How long anybody may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

fn scenario() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(SCENARIO)
}

/// The program while it runs, with somebody who types.
struct Running {
    child: Child,
    keys: Option<ChildStdin>,
    said: Receiver<String>,
    all: Vec<String>,
    lines: u64,
}

impl Running {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let mut command = Command::new(cargo_bin!("gridemu"));
        command.current_dir(folder).args(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (keys, said) = (child.stdin.take(), listen(child.stderr.take().expect("a pipe")));
        Self { child, keys, said, all: Vec::new(), lines: 0 }
    }

    /// Waits until something like this is said.
    fn hear(&mut self, part: &str) -> Option<String> {
        while let Ok(line) = self.said.recv_timeout(PATIENCE) {
            self.all.push(line.clone());
            if line.contains(part) {
                return Some(line);
            }
        }
        None
    }

    /// Types a line; the answer.
    fn type_line(&mut self, line: &str) -> Option<String> {
        self.lines += 1;
        let keys = self.keys.as_mut().expect("nobody has stopped typing");
        // The run may be over.
        writeln!(keys, "{line}").ok()?;
        self.hear(&format!("line {} of standard input", self.lines))
    }

    /// Gives a command; when it was carried out. `None` if it came too late.
    fn order(&mut self, line: &str) -> Option<Time> {
        let answer = self.type_line(line)?;
        let (_, rest) = answer.split_once(", at ")?;
        let (at, said) = rest.split_once(" s of the run: ")?;
        assert!(said.starts_with(line), "{answer}");
        Some(Time::ZERO + format!("{at} s").parse::<Span>().expect("a time"))
    }

    /// Waits until the run is over. All that was said.
    fn ends_well(mut self) -> String {
        self.keys = None;
        while let Ok(line) = self.said.recv_timeout(PATIENCE) {
            self.all.push(line);
        }
        let code = self.child.wait().expect("it ends").code();
        let said = self.all.join("\n");
        assert_eq!(code, Some(0), "{said}");
        said
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

/// What comes on standard error, line by line.
fn listen(from: ChildStderr) -> Receiver<String> {
    let (tell, heard) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| tell.send(line))
    });
    heard
}

/// A line, and what it means as the command of a number.
type Order = (&'static str, usize, fn(u64) -> ToSite);

fn machines(from: u32, to: u32) -> Machines {
    Machines { partition: PartitionId(0), which: ProcSet::range(from, to) }
}

fn leave(_: u64) -> ToSite {
    ToSite::Churn(ChurnAct::Leave(machines(0, 16)))
}

fn join(_: u64) -> ToSite {
    ToSite::Churn(ChurnAct::Join(machines(0, 16)))
}

fn slow(_: u64) -> ToSite {
    ToSite::Churn(ChurnAct::Slow { machines: machines(0, 32), factor: Rate::from_f64(0.5).expect("a rate") })
}

fn leave_site(_: u64) -> ToSite {
    ToSite::Churn(ChurnAct::LeaveSite)
}

fn join_site(_: u64) -> ToSite {
    ToSite::Churn(ChurnAct::JoinSite)
}

fn submit(number: u64) -> ToSite {
    let job = Job::rigid(900_000_000 + number, Time::NEVER, 4, Span::from_secs(600));
    ToSite::Submit(Box::new(Job { user: 3, ..job.estimated(Span::from_secs(1_200)) }))
}

fn submit_long(number: u64) -> ToSite {
    let job = Job::rigid(900_000_000 + number, Time::NEVER, 1, Span::from_secs(40 * 86_400));
    ToSite::Submit(Box::new(Job { partition: Some(PartitionId(0)), ..job }))
}

/// The first command submits a job.
fn cancel(_: u64) -> ToSite {
    ToSite::Cancel(JobId(900_000_000))
}

/// The first command submits a job, which is changed; and there is no job of the other number.
fn extend(_: u64) -> ToSite {
    ToSite::Elastic { job: JobId(900_000_000), change: Elastic::ExtendTime(Span::from_secs(20 * 86_400)) }
}

fn reduce(_: u64) -> ToSite {
    ToSite::Elastic { job: JobId(900_000_000), change: Elastic::ReduceTime(Span::from_secs(30 * 86_400)) }
}

fn reduce_nothing(_: u64) -> ToSite {
    ToSite::Elastic { job: JobId(899_999_999), change: Elastic::ReduceProcs(2) }
}

/// A command as it was carried out.
type Done = (Time, usize, ToSite);

fn carried_out(at: Time, order: &Order, number: usize) -> Done {
    (at, order.1, (order.2)(number as u64))
}

/// The files and the fingerprint of a run that knew these commands before it began.
fn twin(done: &[Done], folder: &Path, set: &str) -> String {
    let policies = Policies::standard();
    let sets = [Override::set("output.machines=true"), Override::set(set)];
    let scenario = Scenario::load(&scenario(), &sets, &policies).expect("a scenario");
    let run = Run::new(scenario, 1, &policies);
    let inputs = run.open(&Progress::default()).expect("its workloads");
    let spec = &run.scenario().resolved.grid;
    let sources = inputs.sites.into_iter().map(|opened| opened.map(|opened| opened.source)).collect();
    let mut grid = Grid::build(spec, sources, inputs.portal, run.policies()).expect("a grid");
    for (at, site, body) in done {
        let site = spec.sites.iter().position(|spec| spec.name == SITES[*site]).expect("a site");
        let command = grid::Command { at: *at, site: SiteId(site as u32), body: body.clone() };
        grid.command(command).expect("nothing has happened yet");
    }
    let mut records: Vec<Record> = Vec::new();
    grid.run_to(None, WindowOptions::default(), &mut records).expect("it ends");
    let options = OutputOptions { machines: true, events: true, ..OutputOptions::default() };
    let mut output =
        OutputDir::create(folder, &spec.sites, Definitions::default(), &options).expect("a folder");
    output.write(&records).and_then(|()| output.flush()).expect("a disk");
    let mut fingerprint = Fingerprint::default();
    records.iter().for_each(|record| fingerprint.add(record));
    fingerprint.to_string()
}

/// The folder holds what the twin of the run left.
fn same_as_twin(folder: &Path, done: &[Done]) {
    same_as_twin_with(folder, done, "output.segments=true");
}

/// The same of a run with another setting.
fn same_as_twin_with(folder: &Path, done: &[Done], set: &str) {
    let expected = tempfile::tempdir().unwrap();
    let fingerprint = twin(done, expected.path(), set);
    same_files(folder, expected.path(), |text| text.to_owned());
    let summary: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["fingerprint"], fingerprint, "{done:?}");
}

fn same_files(found: &Path, expected: &Path, told: impl Fn(&str) -> String) {
    for name in ["jobs.csv", "segments.csv", "machines.csv", "events.csv"] {
        let read = |folder: &Path| fs::read_to_string(folder.join(name)).unwrap();
        let (found, expected) = (told(&read(found)), told(&read(expected)));
        let differs = (1..).zip(found.lines().zip(expected.lines())).find(|(_, (a, b))| a != b);
        assert!(differs.is_none(), "{name}, line {differs:?}");
        assert_eq!(found.len(), expected.len(), "{name}");
    }
}

/// Gives the orders one after the other; `None` if the run was over before.
fn give(running: &mut Running, orders: &[Order], done: &mut Vec<Done>) -> Option<()> {
    for order in orders {
        // Virtual time goes on: an hour or more.
        thread::sleep(Duration::from_millis(20));
        let at = running.order(order.0)?;
        done.push(carried_out(at, order, done.len()));
    }
    Some(())
}

/// Does it at a pace at which it can be done.
fn in_time<T>(attempt: impl Fn(&str) -> Option<T>) -> T {
    PACES.into_iter().find_map(attempt).expect("a machine that can do it")
}

fn args<'a>(scenario: &'a str, pace: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let fixed =
        ["run", scenario, "--pace", pace, "--commands", "-", "--out", "out", "--set", "output.machines=true"];
    [&fixed, more].concat()
}

#[test]
fn a_run_that_is_told_things_is_one_that_knew_them_before() {
    const ORDERS: [Order; 8] = [
        ("submit delft procs=4 run=10min estimate=20min user=3", 1, submit),
        ("leave delft/node/0-15", 1, leave),
        ("submit windsor/node run=40d", 0, submit_long),
        ("slow windsor/node 0.5", 0, slow),
        ("leave delft", 1, leave_site),
        ("join delft/0-15", 1, join),
        ("submit delft user=3 procs=4 run=10min estimate=20min", 1, submit),
        ("join delft", 1, join_site),
    ];
    let file = scenario();
    let file = file.to_str().unwrap();
    in_time(|pace| {
        let folder = tempfile::tempdir().unwrap();
        let mut running = Running::start(folder.path(), &args(file, pace, &["--threads", "2"]));
        let mut done = Vec::new();
        give(&mut running, &ORDERS[..3], &mut done)?;
        // What cannot be is told, and changes nothing.
        let said = running.type_line("leeve delft")?;
        assert!(said.starts_with("warning: line 4") && said.contains("did you mean `leave`?"), "{said}");
        running.lines += 2;
        writeln!(running.keys.as_mut()?, "\n# nothing").ok()?;
        give(&mut running, &ORDERS[3..], &mut done)?;
        // The long job would hold up the run for a month, and is told of by its number.
        let at = running.order("cancel windsor 900000002")?;
        done.push((at, 0, ToSite::Cancel(JobId(900_000_002))));
        running.ends_well();
        same_as_twin(&folder.path().join("out"), &done);
        let jobs = fs::read_to_string(folder.path().join("out/jobs.csv")).unwrap();
        let of =
            |number: &str| jobs.lines().find(|line| line.starts_with(number)).expect("its row").to_owned();
        assert!(of("900000000,").contains(",delft,") && of("900000000,").ends_with(",local,,0"), "{jobs}");
        assert!(of("900000002,").contains(",windsor,cancelled,"), "{}", of("900000002,"));
        Some(())
    });
}

#[test]
fn commands_are_events_whose_times_are_not_known_before() {
    let orders: [(&str, &str); 10] = [
        ("extend delft 3 time=2h", "extend = \"delft\"\njob = 3\ntime = \"2 h\""),
        ("reduce windsor 2 time=10min", "reduce = \"windsor\"\njob = 2\ntime = \"10 min\""),
        ("extend windsor 412 procs=3", "extend = \"windsor\"\njob = 412\nprocs = 3"),
        ("cancel windsor 899999999", "cancel = \"windsor\"\njob = 899999999"),
        ("slow windsor/node 0.5", "slow = \"windsor/node\"\nfactor = 0.5"),
        ("leave delft/node/0-15", "leave = \"delft/node/0-15\""),
        ("leave windsor", "leave = \"windsor\""),
        ("join windsor", "join = \"windsor\""),
        ("join delft/0-15", "join = \"delft/0-15\""),
        ("cancel delft 14", "cancel = \"delft\"\njob = 14"),
    ];
    let sets = ["--set", "site.delft.policy=easy-e", "--set", "site.windsor.policy=los-de"];
    let (folder, text) = in_time(|pace| {
        let file = scenario();
        let folder = tempfile::tempdir().unwrap();
        let mut running = Running::start(folder.path(), &args(file.to_str().unwrap(), pace, &sets));
        let mut text = fs::read_to_string(&file).unwrap();
        for (line, event) in orders {
            let at = running.order(line)?;
            text += &format!("\n[[event]]\nat = \"{at} s\"\n{event}\n");
        }
        running.ends_well();
        Some((folder, text))
    });
    fs::write(folder.path().join("events.toml"), text).unwrap();
    let more = ["run", "events.toml", "--out", "known", "--set", "output.machines=true"];
    let mut known = Command::new(cargo_bin!("gridemu"));
    let known = known.current_dir(folder.path()).args(more).args(sets).output().unwrap();
    assert!(known.status.success(), "{}", String::from_utf8_lossy(&known.stderr));
    let [out, known] = ["out", "known"].map(|name| folder.path().join(name));
    // An event has another cause, and nothing else is different.
    same_files(&out, &known, |text| text.replace(",command,", ",script,"));
    let churn = |folder: &Path| {
        let text = fs::read_to_string(folder.join("summary.json")).unwrap();
        let mut summary: serde_json::Value = serde_json::from_str(&text).unwrap();
        for key in ["scenario", "scenario_hash", "fingerprint", "read_s", "schedule_s", "write_s", "wall_s"] {
            summary[key].take();
        }
        summary
    };
    assert_eq!(churn(&out), churn(&known));
}

#[test]
fn a_run_that_was_told_things_is_killed_and_does_them_again() {
    const BEFORE: [Order; 4] = [
        ("submit delft procs=4 run=10min estimate=20min user=3", 1, submit),
        ("leave delft/node/0-15", 1, leave),
        ("cancel delft 900000000", 1, cancel),
        ("slow windsor/node 0.5", 0, slow),
    ];
    const BETWEEN: [Order; 2] = [
        ("leave windsor", 0, leave_site),
        ("submit delft procs=4 run=10min estimate=20min user=3", 1, submit),
    ];
    const AFTER: [Order; 2] = [("join windsor", 0, join_site), ("join delft/node/0-15", 1, join)];
    let file = scenario();
    let file = file.to_str().unwrap();
    in_time(|pace| {
        let folder = tempfile::tempdir().unwrap();
        let store = ["--checkpoint", "store", "--checkpoint-every", "250 ms"];
        let mut done = Vec::new();
        let mut running = Running::start(folder.path(), &args(file, pace, &store));
        give(&mut running, &BEFORE[..2], &mut done)?;
        thread::sleep(Duration::from_millis(300));
        give(&mut running, &BEFORE[2..], &mut done)?;
        running.kill();
        // It goes on from before some of them, and is told more; then without.
        let resume = ["resume", "store", "--commands", "-"];
        let mut running = Running::start(folder.path(), &resume);
        give(&mut running, &BETWEEN, &mut done)?;
        running.kill();
        let mut running = Running::start(folder.path(), &resume);
        give(&mut running, &AFTER, &mut done)?;
        running.kill();
        let said = Running::start(folder.path(), &["resume", "store"]).ends_well();
        assert!(said.contains("resumes from snapshot"), "{said}");
        same_as_twin(&folder.path().join("out"), &done);
        Some(())
    });
}

/// Jobs are changed by the lines of a file, which a run reads at its first moment; it is killed, and does it again.
#[test]
fn elastic_commands_of_a_file_are_done_again_by_a_run_that_was_killed() {
    const SET: &str = "site.delft.policy=easy-de";
    const ORDERS: [Order; 4] = [
        ("submit delft procs=1 run=20d", 1, |number| {
            ToSite::Submit(Box::new(Job::rigid(
                900_000_000 + number,
                Time::NEVER,
                1,
                Span::from_secs(20 * 86_400),
            )))
        }),
        ("extend delft 900000000 time=20d", 1, extend),
        ("reduce delft 899999999 procs=2", 1, reduce_nothing),
        ("reduce delft 900000000 time=30d", 1, reduce),
    ];
    let file = scenario();
    let file = file.to_str().unwrap();
    let (folder, out) = in_time(|pace| {
        let folder = tempfile::tempdir().unwrap();
        let lines: Vec<&str> = ORDERS.iter().map(|order| order.0).collect();
        fs::write(folder.path().join("orders.txt"), lines.join("\n")).unwrap();
        let args = [
            "run",
            file,
            "--pace",
            pace,
            "--commands",
            "orders.txt",
            "--out",
            "out",
            "--set",
            "output.machines=true",
            "--set",
            SET,
            "--checkpoint",
            "store",
            "--checkpoint-every",
            "250 ms",
        ];
        let mut running = Running::start(folder.path(), &args);
        let mut done = Vec::new();
        for (line, order) in (1..).zip(&ORDERS) {
            let said = running.hear(&format!("line {line} of `orders.txt`, at "))?;
            let (_, rest) = said.split_once(", at ")?;
            let at: Span = format!("{} s", rest.split_once(" s of the run")?.0).parse().expect("a time");
            done.push(carried_out(Time::ZERO + at, order, done.len()));
        }
        running.kill();
        let said = Running::start(folder.path(), &["resume", "store"]).ends_well();
        assert!(said.contains("resumes from snapshot"), "{said}");
        let out = folder.path().join("out");
        same_as_twin_with(&out, &done, SET);
        Some((folder, out))
    });
    let of = |name: &str, part: &str| {
        let text = fs::read_to_string(out.join(name)).unwrap();
        text.lines().filter(|line| line.contains(part)).map(str::to_owned).collect::<Vec<_>>()
    };
    let summary = fs::read_to_string(out.join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["elastic"], serde_json::json!({ "accepted": 2, "refused": { "no-job": 1 } }));
    let [job] = &of("jobs.csv", "900000000,")[..] else { panic!("one row") };
    assert!(job.contains(",completed,"), "{job}");
    assert_eq!(of("events.csv", "ET 1728000").len(), 1);
    assert_eq!(of("events.csv", "RT 2592000").len(), 1);
    assert!(of("events.csv", "RP 2")[0].contains("command-refused,no-job,delft,"));
    drop(folder);
}

#[test]
fn a_named_pipe_is_read_again_and_again() {
    let file = scenario();
    let file = file.to_str().unwrap();
    in_time(|pace| {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("commands");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let args = [
            "run",
            file,
            "--pace",
            pace,
            "--commands",
            "commands",
            "--out",
            "out",
            "--set",
            "output.machines=true",
        ];
        let mut running = Running::start(folder.path(), &args);
        let mut done = Vec::new();
        for (number, order) in
            (1..).zip([("leave delft", 1, leave_site as fn(u64) -> ToSite), ("join delft", 1, join_site)])
        {
            // Each writer comes and goes.
            fs::OpenOptions::new()
                .write(true)
                .open(&pipe)
                .and_then(|mut pipe| writeln!(pipe, "{}", order.0))
                .ok()?;
            let said = running.hear(&format!("line {number} of `commands`"))?;
            let (_, rest) = said.split_once(", at ")?;
            let at: Span = rest.split_once(" of the run")?.0.parse().expect("a time");
            done.push(carried_out(Time::ZERO + at, &order, done.len()));
        }
        running.ends_well();
        same_as_twin(&folder.path().join("out"), &done);
        Some(())
    });
}

#[test]
fn commands_are_for_runs_that_follow_the_wall_clock() {
    let refused = |args: &[&str], says: &[&str]| {
        let ran = Command::new(cargo_bin!("gridemu")).args(args).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {said}");
        for part in says {
            assert!(said.contains(part), "no `{part}` in: {said}");
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let [store, of_replay, nothing] =
        ["store", "of-replay", "nothing"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let no_clock = "needs a paced run";
    refused(&["run", SCENARIO, "--commands", "-"], &[no_clock, "hint: ", "--pace X", "[[event]]"]);
    refused(&["run", SCENARIO, "--commands", "-", "--checkpoint", &store], &[no_clock, "--pace X"]);
    assert!(!Path::new(&store).exists(), "nothing has been done");
    refused(
        &["run", SCENARIO, "--pace", "1", "--commands", &nothing],
        &["cannot read commands from", &nothing, "mkfifo"],
    );
    let here = folder.path().to_str().unwrap();
    refused(
        &["run", SCENARIO, "--pace", "1", "--commands", here],
        &["cannot read commands from", "directory"],
    );
    // Neither can a run be told anything later that follows no clock.
    let stop = |args: &[&str], store: &str| {
        let mut command = Command::new(cargo_bin!("gridemu"));
        command.args(args).args(["--checkpoint", store]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        while !Path::new(store).join("snapshot-00000001").exists() && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    };
    stop(&["run", SCENARIO, "--set", "workload[0].lublin.jobs=2000000"], &store);
    refused(&["resume", &store, "--commands", "-"], &[no_clock]);
    stop(&["replay", "lublin[jobs=2000000]", "--policy", "easy"], &of_replay);
    refused(&["resume", &of_replay, "--commands", "-"], &[no_clock]);
}
