//! When snapshots are taken.

use std::time::Duration;

use super::{Checker, listed, near};
use crate::experiment::CheckpointPlan;
use crate::experiment::scenario::keys::{CheckpointKeys, Interval};
use crate::experiment::scenario::tree::Path;
use crate::store::EngineKind;
use crate::units::Time;

impl Checker<'_> {
    /// What the keys mean; nothing without a store.
    pub(super) fn checkpoint(&mut self, keys: &CheckpointKeys) -> Option<CheckpointPlan> {
        let path = Path::default().key("checkpoint");
        if keys.last == Some(0) {
            self.wrong(&path.key("last"), "a run without its newest snapshot cannot go on; say 1 or more");
        }
        for (at, time) in keys.keep_at.iter().flatten().enumerate() {
            if time.0.is_zero() {
                let said = "at 0 nothing has happened yet; say a later time";
                self.wrong(&path.key("keep_at").item(at), said);
            }
        }
        let database = match keys.database.as_deref().map(str::parse::<EngineKind>) {
            None => EngineKind::default(),
            Some(Ok(kind)) => kind,
            Some(Err(_)) => {
                let written = keys.database.as_deref().unwrap_or_default();
                let names: Vec<String> = EngineKind::all().map(|kind| kind.to_string()).collect();
                let names = || names.iter().map(String::as_str);
                let said = format!(
                    "`{written}` is no database of snapshots{}; there are {}",
                    near(written, names()),
                    listed(names())
                );
                self.wrong(&path.key("database"), said);
                EngineKind::default()
            }
        };
        let span = |interval: Option<Interval>| interval.unwrap_or_default().span();
        let store = keys.store.as_ref()?;
        if store.is_empty() {
            self.wrong(&path.key("store"), "the store is a folder; this names none");
            return None;
        }
        let mut keep_at: Vec<Time> = keys.keep_at.iter().flatten().map(|time| Time::ZERO + time.0).collect();
        keep_at.sort_unstable();
        keep_at.dedup();
        Some(CheckpointPlan {
            store: store.into(),
            every: span(keys.every).map(|span| Duration::from_micros(span.micros())),
            every_virtual: span(keys.every_virtual),
            every_events: keys.every_events.filter(|events| *events > 0),
            last: keys.last.unwrap_or(2) as usize,
            keep_every: keys.keep_every.filter(|every| *every > 0).map(u64::from),
            keep_at,
            database,
        })
    }
}
