//! Errors that callers can distinguish. Those that can be caused from outside are in `tests/it/run_errors.rs`.

use std::time::Duration;

use super::*;
use crate::model::SiteId;

const WHEN: Stamp = Stamp::at(Time::from_secs(7));
const WHO: Address = Address::Site(SiteId(2));

#[test]
fn an_entity_that_does_not_come_back_is_told_by_name() {
    let stalled = RuntimeError::Stalled { entity: WHO, at: WHEN, patience: Duration::from_secs(60) };
    let error = RunError::from_actors(stalled.clone());
    assert!(matches!(error.kind, RunErrorKind::Stalled { entity: WHO, at: WHEN }), "{error:?}");
    assert_eq!((error.to_string(), error.exit_code()), (stalled.to_string(), 1));
    assert_eq!(error.hint(), Some("try `--engine direct`"));
}

#[test]
fn a_lost_reply_is_told_by_name() {
    let error = RunError::from_actors(RuntimeError::LostReply { entity: WHO, at: WHEN });
    assert!(matches!(error.kind, RunErrorKind::LostReply { entity: WHO, at: WHEN }), "{error:?}");
}

#[test]
fn a_circle_is_an_instant_that_does_not_end() {
    let talk = vec![(WHO, Address::Broker)];
    let circle = WindowError::Stalled { entity: WHO, at: WHEN, talk };
    for error in
        [RunError::from_running(circle.clone().into()), RunError::from_actors(RuntimeError::Window(circle))]
    {
        assert!(matches!(error.kind, RunErrorKind::Endless { at: WHEN }), "{error:?}");
    }
    let alone = EntityError::Stalled { who: "site `a`".to_owned(), at: WHEN, rounds: 10_000 };
    let error = RunError::from_actors(RuntimeError::Entity(alone));
    assert!(matches!(error.kind, RunErrorKind::Endless { at: WHEN }), "{error:?}");
}

#[test]
fn jobs_that_are_lost_are_a_mistake_of_ours() {
    let lost = GridError::Unbalanced { who: "site `a`".to_owned(), arrived: 3, ended: 2 };
    let error = RunError::from_running(lost);
    assert!(matches!(error.kind, RunErrorKind::Unbalanced), "{error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("bug")));
}

#[test]
fn a_store_that_cannot_be_written_is_told_apart_from_a_file() {
    let path = std::path::PathBuf::from("there");
    let why = "the disk is gone".to_owned();
    let store = RunError::from(StoreError::Engine { operation: "write", path: path.clone(), why });
    assert!(matches!(store.kind, RunErrorKind::Store), "{store:?}");
    let file = RunError::from(OutputError::Gone { path });
    assert!(matches!(file.kind, RunErrorKind::Output), "{file:?}");
}

#[test]
fn a_conductor_that_breaks_down_is_a_failed_run() {
    let error = RunError::from_actors(RuntimeError::Conductor("out of tune".to_owned()));
    assert!(matches!(error.kind, RunErrorKind::Run), "{error:?}");
}

#[test]
fn what_is_added_to_an_error_leaves_its_kind() {
    let error = RunError::from_actors(RuntimeError::LostReply { entity: WHO, at: WHEN });
    let more =
        error.clone().within("the changed future").leaving("its rows are there".to_owned()).with_hint("look");
    assert!(matches!(more.kind, RunErrorKind::LostReply { .. }));
    assert_eq!(more.to_string(), format!("the changed future: {error}; its rows are there"));
    assert_eq!(more.hint(), Some("look"));
}
