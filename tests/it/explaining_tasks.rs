//! `gridemu explain --task`: which tasks a task of a workflow waited for.

use crate::cli::gridemu;
use crate::validating_workflows::ran;

#[test]
fn a_task_is_told_with_those_that_it_waited_for() {
    let folder = ran();
    let out = folder.path().join("out");
    let explain = |more: &[&str]| gridemu(&[&["explain", out.to_str().unwrap()], more].concat());
    let told = |more: &[&str], says: &[&str]| {
        let ran = explain(more);
        ran.well();
        let text = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        for said in says {
            assert!(text.contains(said), "no `{said}` in\n{}", ran.out);
        }
    };
    told(
        &["--task", "join_00000005", "--workflow", "0"],
        &[
            "job 5: requests 1 processor, submitted at 205 s, started at 207 s after 2 s, completed at 307 s",
            "it is task `join_00000005`, of type `join`, of workflow 0,",
            "of the tasks that it waits for, `work_00000004` (job 4), completed at bob at 204 s (known to the broker at 205 s), was the last: \
             it was ready at 205 s, 205 s after its workflow was submitted; its time from then on: run 100 s, data 1 s, dispatch 2 s",
        ],
    );
    told(&["--job", "1"], &["it is task `fork_00000001`", "it waits for no other task"]);
    told(
        &["--task", "join_00000005", "--at", "150"],
        &[
            "at 150 s it waits for 3 tasks: - `work_00000002` (job 2), until 204 s - `work_00000003`",
            "at 150 s, at the broker",
        ],
    );
    told(
        &["--task", "c"],
        &[
            "it never was ready; it waits for 1 task that did not complete: - `b` (job 1000000002), rejected at 7 s",
        ],
    );
    let json: serde_json::Value =
        serde_json::from_str(&explain(&["--task", "join_00000005", "--json"]).out).unwrap();
    assert_eq!(
        (&json["task"]["after"]["task"], &json["task"]["ready_s"]),
        (&"work_00000004".into(), &205.0.into())
    );
    explain(&["--task", "join_5"]).ends(2, &["there is no task `join_5` in", "did you mean"]);
    explain(&["--task", "a", "--workflow", "7"]).ends(2, &["has no workflow 7"]);
    explain(&["--task", "a", "--job", "7"]).ends(2, &["cannot be used with"]);
    explain(&[]).ends(2, &["--job"]);
}
