//! The policy that hands its questions on, with oracles that are functions.

use gridemu::broker::outside::{Hello, NAME, Oracle, SharedOracle, outside};
use gridemu::broker::{Answer, Asked, BrokerPolicy, BrokerRegistry, GridView, Tasks};
use gridemu::model::{GridContext, Job, Named};
use gridemu::units::{Span, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::scenes::{build, idle, scenes};
use crate::support::cases;

/// An oracle that is a function from a question to an answer.
struct Function<F>(F);

impl<F: FnMut(Value) -> Value + Send> Oracle for Function<F> {
    fn ask(&mut self, number: u64, question: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        let question: Value = serde_json::from_slice(question).unwrap();
        assert_eq!(question["ask"], number);
        answer.extend(serde_json::to_vec(&(self.0)(question)).unwrap());
        Ok(())
    }
}

/// The policy of a program that says this of itself.
fn policy(hello: Value, answers: impl FnMut(Value) -> Value + Send + 'static) -> Box<dyn BrokerPolicy> {
    let hello = Hello::read(&serde_json::to_vec(&json!({ "hello": hello })).unwrap()).unwrap();
    let entry = outside("tried", hello, SharedOracle::new(Function(answers)), None);
    BrokerRegistry::standard().with(entry).build(&Named::bare(NAME), 7).unwrap().0
}

/// Minimum completion time by what is told of choices.
fn earliest(question: Value) -> Value {
    let choices = question["choices"].as_array().unwrap();
    let ends = choices.iter().filter_map(|choice| Some((choice["end"].as_u64()?, &choice["pool"])));
    let best = ends.min_by_key(|(end, _)| *end);
    let plan: Vec<Value> = best
        .into_iter()
        .map(|(_, pool)| json!({ "id": question["ask"], "task": question["task"], "assign": pool }))
        .collect();
    json!({ "answer": question["ask"], "plan": plan })
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_twin_of_mct_plans_the_same(scene in scenes(1..12)) {
        let hello = json!({ "version": 1, "mode": "immediate", "gate": "fits", "steady": true });
        // It is the same over tasks of which an earlier plan has left the first, or all.
        for left in [0, scene.jobs.len() / 2, scene.jobs.len()] {
            let tasks = scene.tasks(left);
            let twin = scene.plan_over(&mut *policy(hello.clone(), earliest), &tasks);
            prop_assert_eq!(twin, scene.plan_over(&mut *build("mct"), &tasks));
        }
    }
}

/// A table with these jobs of one processor.
fn tasks(count: u64) -> Tasks {
    let mut tasks = Tasks::new(1);
    for number in 0..count {
        let mut job = Job::rigid(number, Time::ZERO, 1, Span::from_secs(60));
        job.grid = Some(Box::new(GridContext { number, ..GridContext::default() }));
        tasks.enter(Box::new(job), Vec::new());
    }
    tasks
}

fn plan(policy: &mut dyn BrokerPolicy, tasks: &Tasks, second: u64) -> Answer {
    let mut pools = [idle(0, 64, 100)];
    policy.plan(&mut GridView::new(Time::from_secs(second), &mut pools, tasks, Asked::All, true))
}

#[test]
fn an_instant_does_not_go_on_for_ever() {
    let tasks = tasks(3);
    for mode in ["batch", "immediate"] {
        let mut policy =
            policy(json!({ "version": 1, "mode": mode }), |question| json!({ "answer": question["ask"] }));
        let failed = (1..20_000).find_map(|at| match plan(&mut *policy, &tasks, 5) {
            Answer::Failed(error) => Some((at, error.to_string())),
            _ => None,
        });
        let (at, error) = failed.unwrap();
        assert!(error.contains("it was asked 10000 times at this instant"), "{error}");
        assert_eq!(
            at,
            if mode == "batch" { 10_001 } else { 10_000 / 3 + 2 },
            "the first question about each is free"
        );
    }
    // Another instant counts anew, and so does each task that is new.
    let hello = json!({ "version": 1, "mode": "immediate" });
    let mut many = policy(hello, |question| json!({ "answer": question["ask"] }));
    let tasks = self::tasks(20_000);
    assert!(matches!(plan(&mut *many, &tasks, 5), Answer::Done(_)));
    assert!(matches!(plan(&mut *many, &tasks, 6), Answer::Done(_)));
}

#[test]
fn what_was_told_is_not_told_again() {
    let tasks = tasks(2);
    let (told, seen) = std::sync::mpsc::channel();
    let hello = json!({ "version": 1, "mode": "batch" });
    let mut policy = policy(hello, move |question| {
        told.send(question.clone()).unwrap();
        // The first decision is sent with each answer.
        let first = json!({ "id": 4, "task": 0, "assign": 0, "reason": "least load" });
        json!({ "answer": question["ask"], "plan": [first], "later": 9_000_000, "takes": 5, "save": "x" })
    });
    let Answer::Later { at, takes, plan: one } = plan(&mut *policy, &tasks, 5) else { panic!("later") };
    assert_eq!((at, takes, one.len()), (Time::from_secs(9), Span::from_micros(5), 1));
    let Answer::Later { plan: two, .. } = plan(&mut *policy, &tasks, 6) else { panic!("later") };
    assert!(two.is_empty(), "a decision that was sent before");
    assert_eq!(policy.program().unwrap().repeated, 1);
    let [first, second] = [seen.recv().unwrap(), seen.recv().unwrap()];
    assert_eq!(first["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(first["tasks"][0]["state"], "ready");
    assert_eq!(first["tasks"][0]["job"]["runs"], json!([60_000_000]));
    assert_eq!(first["pools"].as_array().unwrap().len(), 1);
    assert_eq!((&second["tasks"], &second["pools"]), (&Value::Null, &Value::Null), "{second}");
    // It is saved with what was told.
    let saved = policy.save();
    policy.restore(&saved).unwrap();
    assert_eq!(policy.save(), saved);
}

#[test]
fn later_must_be_later() {
    let hello = json!({ "version": 1, "mode": "batch" });
    let mut policy = policy(hello, |question| json!({ "answer": question["ask"], "later": question["now"] }));
    let Answer::Failed(error) = plan(&mut *policy, &tasks(1), 5) else { panic!("an error") };
    assert_eq!(
        error.to_string(),
        "broker program `tried`, question 1 at 5 s: it wants to be asked again at `later`, 5000000, which is not after now, 5000000"
    );
}
