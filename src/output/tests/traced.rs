//! Traces and states of machines, checked by hand.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use super::files::{events, everything, write};
use crate::model::{EventKind, Record};
use crate::output::{RunFolder, TraceFacts, write_trace};

fn traced() -> (TraceFacts, Value) {
    let folder = write(&events(), &everything());
    let mut text = Vec::new();
    let facts = write_trace(&RunFolder::open(folder.path()).unwrap(), &mut text).unwrap();
    (facts, serde_json::from_slice(&text).unwrap())
}

#[test]
fn a_trace_has_a_slice_a_stretch_and_an_arrow_a_rerun() {
    let (facts, trace) = traced();
    assert_eq!(facts, TraceFacts { slices: 2, reruns: 1 });
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
    let slices = of("X");
    assert_eq!(slices.len(), 2);
    // 4 processors from number 8, at site kth from 40 s to 50 s.
    assert_eq!((&slices[0]["tid"], &slices[0]["ts"]), (&Value::from(8), &Value::from(40_000_000)));
    assert_eq!(slices[0]["dur"], 10_000_000);
    assert_eq!(slices[0]["args"]["processors"], "8-11");
    let [start, finish] = [of("s"), of("f")].map(|arrows| arrows[0].clone());
    assert_eq!((&start["id"], &start["pid"]), (&finish["id"], &slices[0]["pid"]));
    assert_eq!(finish["pid"], slices[1]["pid"]);
    let counters: Vec<_> = of("C").into_iter().filter(|event| event["name"] == "processors in use").collect();
    let values: Vec<_> = counters.iter().map(|event| event["args"]["processors"].as_i64().unwrap()).collect();
    assert_eq!(values, [4, 0, 4, 0], "two sites, each once in use");
    // Machines that left and joined: 50 s and 55 s; events of jobs are in their slices.
    assert_eq!(of("i").len(), 2);
}

#[test]
fn states_of_machines_by_hand() {
    // The machines that join in the sample were never down.
    let mut records = events();
    records.retain(|record| !matches!(record, Record::Event(event) if event.kind == EventKind::Joined));
    let folder = write(&records, &everything());
    let text = fs::read_to_string(folder.path().join("batsim/out_machine_states.csv")).unwrap();
    // 100 processors at kth, 8 and 64 at delft. A job on 4 of each site at once from 40 s to 50 s, when 12 processors leave.
    assert_snapshot!(text, @"
    time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing
    0.000000,0,0,0,172,0
    40.000000,0,0,0,164,8
    50.000000,12,0,0,160,0
    ");
}
