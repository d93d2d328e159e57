//! The task of a workflow that a job is, in sentences.

use super::text::{exact, secs, wrapped};
use crate::experiment::{ExplainedTask, WaitedFor};

/// Most tasks that are named where a task waits for several.
const MOST: usize = 6;

/// Which task the job is, what it waited for last, and what its time went to. `at` is the instant that is explained, if not its whole life.
pub(super) fn task(facts: &ExplainedTask, at: Option<f64>) -> String {
    let ExplainedTask { task, kind, workflow, name, submitted_s, .. } = facts;
    let submitted = exact(*submitted_s);
    let mut out = format!(
        "it is task `{task}`, of type `{kind}`, of workflow {workflow}, `{name}`, submitted at {submitted}"
    );
    let group = if facts.together > 1 {
        out += &format!(", in a group of {} tasks that is one job", facts.together);
        "its group"
    } else {
        "it"
    };
    if let Some(ready) = facts.ready_s {
        let later = format!(
            "{group} was ready at {}, {} s after its workflow was submitted",
            exact(ready),
            secs(ready - submitted_s)
        );
        out += &match &facts.after {
            None => format!("; {group} waits for no other task"),
            Some(last) => {
                format!("; of the tasks that {group} waits for, {}, was the last: {later}", ended(last))
            }
        };
    }
    if !facts.parts.is_empty() && at.is_none() {
        let spent = facts.parts.iter().filter(|(_, long)| *long > 0.0);
        let spent: Vec<String> = spent.map(|(name, long)| format!("{name} {} s", secs(*long))).collect();
        out += &format!(
            "; its time from then on: {}",
            if spent.is_empty() { "none".to_owned() } else { spent.join(", ") }
        );
    }
    let mut out = format!("\n{}", wrapped("", &out));
    if !facts.waits_for.is_empty() {
        let many = facts.waits_for.len();
        out += &match at {
            Some(at) => {
                format!("\nat {} it waits for {}:\n", exact(at), tasks(many))
            }
            None => format!("\nit never was ready; it waits for {} that did not complete:\n", tasks(many)),
        };
        for task in facts.waits_for.iter().take(MOST) {
            let told = match at {
                Some(at) if at < task.known_s => {
                    let failed = (task.outcome != "completed").then(|| format!(", {}", task.outcome));
                    let (failed, until) = (failed.unwrap_or_default(), exact(task.known_s));
                    format!("`{}` (job {}), until {until}{failed}", task.task, task.job)
                }
                _ => ended(task),
            };
            out += &wrapped("  - ", &told);
        }
        if many > MOST {
            out += &format!("  - and {} more\n", many - MOST);
        }
    }
    out
}

fn tasks(many: usize) -> String {
    if many == 1 { "1 task".to_owned() } else { format!("{many} tasks") }
}

fn ended(task: &WaitedFor) -> String {
    let WaitedFor { task, job, site, ended_s, known_s, outcome } = task;
    let site = if site == "grid" { String::new() } else { format!(" at {site}") };
    let known = if known_s > ended_s {
        format!(" (known to the broker at {})", exact(*known_s))
    } else {
        String::new()
    };
    format!("`{task}` (job {job}), {outcome}{site} at {}{known}", exact(*ended_s))
}
