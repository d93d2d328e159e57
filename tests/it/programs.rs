//! Brokers that are programs: the same bytes as the policy that they are twins of, and clear errors for those that break the protocol.

mod broken;
mod checked;
mod examples;
mod forked;
mod protocol;
mod resumed;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cli::{Ran, gridemu};

/// Three sites of several speeds, and a few hours of jobs through the portal.
const PLAIN: &str = r#"
seed = 5
[[site]]
name = "a"
machines = [{ class = "node", count = 16, cores = 2 }]
policy = "easy"
workload = { lublin = { jobs = 60, load = 0.5 } }
[[site]]
name = "b"
machines = [{ class = "old", count = 8, cores = 2, speed = 0.5 }, { class = "new", count = 8, cores = 4, speed = 2.0 }]
[[site]]
name = "c"
machines = [{ class = "node", count = 64 }]
policy = "conservative"
[network]
latency = "20 ms"
[broker]
monitoring_interval = "60 s"
[[workload]]
lublin = { jobs = 150, load = 0.8, procs = 32 }
"#;

/// Machines that come and go, and a site that leaves.
const CHURN: &str = r#"
[churn]
up = "exponential[mean=3 h]"
down = "exponential[mean=30 min]"
on_failure = "resubmit"
[[event]]
at = "2 h"
leave = "c"
[[event]]
at = "9 h"
join = "c"
"#;

/// Twenty sites.
const TWENTY: &str = r#"
seed = 3
[[site]]
name = "s"
count = 20
machines = [{ class = "node", count = 4, cores = 2 }]
policy = "easy"
workload = { lublin = { jobs = 10, load = 0.4 } }
[network]
latency = "50 ms"
bandwidth = "1 Gbit/s"
[broker]
[[workload]]
lublin = { jobs = 150, load = 0.9, procs = 8 }
input = "100 MB"
"#;

/// The interpreter, if it is there. Python must be there where `.ci/run` installs it.
pub(crate) fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    #[expect(clippy::disallowed_methods, reason = "a machine of the continuous integration has it")]
    let must = std::env::var("CI").is_ok_and(|ci| ci == "true");
    assert!(found || !must || program != "python3", "`{program}` is not there");
    found
}

fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Runs a scenario into the folder of this name.
fn ran(folder: &Path, name: &str, scenario: &str, options: &[&str]) -> (Ran, std::path::PathBuf) {
    let (file, out) = (written(folder, &format!("{name}.toml"), scenario), folder.join(name));
    let mut args = vec!["run", file.as_str(), "--json", "--out"];
    let path = out.display().to_string();
    args.push(&path);
    args.extend(options);
    (gridemu(&args), out)
}

/// The two runs left the same records.
fn assert_same(one: &Path, other: &Path) {
    for table in ["jobs.csv", "events.csv", "segments.csv"] {
        let [one, other] = [one, other].map(|folder| fs::read_to_string(folder.join(table)).unwrap());
        assert!(one == other, "{table} differs");
    }
    let [one, other] = [one, other].map(|folder| {
        let summary: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap();
        summary["fingerprint"].clone()
    });
    assert_eq!(one, other);
}

#[test]
fn the_twin_of_mct_gives_the_same_bytes() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let churning = format!("{PLAIN}{CHURN}");
    let at_once = ["--set", "broker.monitoring_interval=0 s"];
    let direct = ["--engine", "direct"];
    for (name, scenario, options) in [
        ("plain", PLAIN, &[][..]),
        ("plain-0", PLAIN, &at_once),
        ("churn", &churning, &direct),
        ("churn-0", &churning, &at_once),
        ("twenty", TWENTY, &["--threads", "2"]),
        ("twenty-0", TWENTY, &["--set", "broker.monitoring_interval=0 s", "--engine", "direct"]),
    ] {
        let (built_in, one) = ran(folder.path(), &format!("{name}-mct"), scenario, options);
        built_in.well();
        let program = [options, &["--broker", "python3 examples/brokers/mct.py"]].concat();
        let (twin, other) = ran(folder.path(), &format!("{name}-twin"), scenario, &program);
        twin.well();
        assert_same(&one, &other);
        let program = &twin.json()["broker"]["program"];
        assert_eq!(program["name"], "mct.py", "{name}");
        assert!(program["questions"].as_u64().unwrap() >= 150, "{name}: {program}");
    }
}
