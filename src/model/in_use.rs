//! Large values that are shared, and known by their contents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::{Deserialize, Serialize};

/// The values in use anywhere in the program, by their hash. What it has for a hash is always the same, so nothing depends on when it is
/// asked.
pub(super) struct InUse<T>(Mutex<BTreeMap<u128, Weak<T>>>);

/// How such values are saved: by their name and hash.
#[derive(Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) name: String,
    pub(super) digest: u128,
}

impl<T> InUse<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The values with this hash, which are these.
    pub(super) fn share(&self, digest: u128, values: T) -> Arc<T> {
        let mut in_use = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.get(&digest).and_then(Weak::upgrade).unwrap_or_else(|| {
            in_use.retain(|_, values| values.strong_count() > 0);
            let values = Arc::new(values);
            in_use.insert(digest, Arc::downgrade(&values));
            values
        })
    }

    /// The values with this hash, if they are in use.
    pub(super) fn find(&self, digest: u128) -> Option<Arc<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).and_then(Weak::upgrade)
    }
}
