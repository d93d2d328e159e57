//! Resolves when snapshots are taken.

use std::time::Duration;

use super::Checker;
use crate::scenario::checkpoint::CheckpointPlan;
use crate::scenario::keys::CheckpointKeys;
use crate::scenario::names::{near, there};
use crate::scenario::tree::Path;
use crate::store::{BUILD_REDB, EngineKind};
use crate::units::{Span, Time};

impl Checker<'_> {
    /// The plan of snapshots; `None` without a store.
    pub(super) fn checkpoint(&mut self, keys: &CheckpointKeys) -> Option<CheckpointPlan> {
        let path = Path::default().key("checkpoint");
        let (every, every_virtual) = (keys.every.value(), keys.every_virtual.value());
        for (key, interval) in [("every", every), ("every_virtual", every_virtual)] {
            if interval == Some(Span::ZERO) {
                let message = "the interval must be above 0, or `none`";
                self.wrong(&path.key(key), message);
            }
        }
        if keys.last == 0 {
            self.wrong(&path.key("last"), "at least the newest snapshot must be kept: give 1 or more");
        }
        for (at, time) in keys.keep_at.iter().enumerate() {
            if time.is_zero() {
                let message = "the run begins at 0; give a later time";
                self.wrong(&path.key("keep_at").item(at), message);
            }
        }
        let database = match keys.database.parse::<EngineKind>() {
            Ok(kind) if kind.is_built_in() => kind,
            Ok(kind) => {
                let message = format!("this gridemu is built without the feature `{kind}`");
                self.wrong_so(&path.key("database"), &message, Some(BUILD_REDB));
                EngineKind::default()
            }
            Err(_) => {
                let names: Vec<String> = EngineKind::all().map(|kind| kind.to_string()).collect();
                let names = || names.iter().map(String::as_str);
                let message = format!(
                    "`{}` is no database of snapshots{}; {}",
                    keys.database,
                    near(&keys.database, names()),
                    there(names())
                );
                self.wrong(&path.key("database"), message);
                EngineKind::default()
            }
        };
        let store = keys.store.as_ref()?;
        if store.is_empty() {
            return self.refuse(&path.key("store"), "the store is a folder; this names none");
        }
        let mut keep_at: Vec<Time> = keys.keep_at.iter().map(|time| Time::ZERO + *time).collect();
        keep_at.sort_unstable();
        keep_at.dedup();
        let above_0 = |number: u64| Some(number).filter(|number| *number > 0);
        Some(CheckpointPlan {
            store: store.into(),
            every: every.map(|span| Duration::from_micros(span.micros())),
            every_virtual,
            every_events: above_0(keys.every_events),
            last: keys.last as usize,
            keep_every: above_0(keys.keep_every.into()),
            keep_at,
            database,
        })
    }
}
