//! `gridemu broker-check`.

use super::{has, written};
use crate::cli::gridemu;

/// Right in all points but one.
const NEARLY: &str = r#"
import json, sys, time
how = sys.argv[1]
for line in sys.stdin:
    q = json.loads(line)
    if how == "strict" and set(q) - {"hello", "ask", "now", "why", "task", "job", "choices"}: sys.exit(1)
    if "hello" in q: answer = {"hello": {"version": 1, "mode": "immediate", "gate": "fits", "steady": True}}
    else:
        fits = sorted((c["end"], c["pool"]) for c in q["choices"] if "end" in c)
        plan = [{"id": q["ask"], "task": q["task"], "assign": fits[0][1]}] if fits else []
        answer = {"answer": q["ask"], "plan": plan}
    if how != "keeps": print(json.dumps(answer), flush=True)
if how == "stays": time.sleep(100)
"#;

#[test]
fn a_program_is_tried() {
    if !has("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = written(folder.path(), "nearly.py", NEARLY);
    let right = gridemu(&["broker-check", "python3 examples/brokers/first_fit_batch.py"]);
    right.well();
    assert_eq!(right.out.matches("ok ").count(), 9, "{}", right.out);
    assert!(right.out.contains("the same records; stopped at question"), "{}", right.out);
    for (how, name, says) in [
        ("strict", "unknown keys", "expected: keys of later versions change nothing"),
        ("stays", "end", "it still ran a second after its input had ended"),
        ("keeps", "hello", "it has not answered within 2 s of the wall clock"),
    ] {
        let ran = gridemu(&["broker-check", &format!("python3 {script} {how}"), "--timeout", "2 s"]);
        ran.ends(1, &["error: the program does not keep the protocol in all points"]);
        let failed: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("FAILED")).collect();
        assert!(
            failed.iter().any(|line| line.contains(name)) && ran.out.contains(says),
            "{how}: {}",
            ran.out
        );
    }
}
