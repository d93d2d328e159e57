//! The brokers in `examples/brokers`: they do what they say, and so does their documentation.

use super::{CHURN, PLAIN, assert_same, has, ran, written};

#[test]
fn each_example_brings_all_jobs_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let churning = format!("{PLAIN}{CHURN}");
    for (name, program, script) in [
        ("batch", "python3", "first_fit_batch.py"),
        ("ranked", "python3", "upward_rank.py"),
        ("node", "node", "shortest.js"),
    ] {
        if !has(program) {
            continue;
        }
        for (name, scenario) in [(name.to_owned(), PLAIN), (format!("{name}-churn"), &churning)] {
            let broker = format!("{program} examples/brokers/{script}");
            let (ran, _) = ran(folder.path(), &name, scenario, &["--broker", &broker]);
            let outcomes = &ran.well().json()["outcomes"];
            let ended = ["completed", "failed"].map(|outcome| outcomes[outcome].as_u64().unwrap());
            // Machines that leave make some jobs return too often.
            assert!(ended[0] > 180 && ended[0] + ended[1] == 210, "{name}: {outcomes}");
        }
    }
}

#[test]
fn a_program_plans_workflows() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scenario = std::fs::read_to_string("configs/workflows.toml").unwrap();
    let broker = ["--broker", "python3 examples/brokers/upward_rank.py"];
    let (ranked, _) = ran(folder.path(), "ranked", &scenario, &broker);
    let (heft, _) = ran(folder.path(), "heft", &scenario, &["--set", "broker.policy=heft"]);
    let done = |ran: &crate::cli::Ran| ran.well().json()["workflows"]["completed"].clone();
    assert_eq!(done(&ranked), done(&heft), "{}", ranked.json()["workflows"]);
}

/// The program on the page does what the page says: it is minimum completion time.
#[test]
fn the_program_of_the_page_runs() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let page = std::fs::read_to_string("docs/outside.md").unwrap();
    let code = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let script = written(folder.path(), "page.py", code);
    let (mine, one) = ran(folder.path(), "page", PLAIN, &["--broker", &format!("python3 {script}")]);
    let (mct, other) = ran(folder.path(), "mct", PLAIN, &[]);
    mine.well();
    mct.well();
    assert_same(&one, &other);
}
