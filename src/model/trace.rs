//! What was recorded over a stretch of the calendar: large values that are shared, and known by their hash.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::units::Timestamp;

/// What a trace tells, from a file: values over time ([`Trace`](super::Trace)), or outages of nodes ([`FailureTrace`](super::FailureTrace)).
///
/// It is cheap to clone, and equal to another if it has the same contents at the same times. It is saved by its name and the hash of its
/// contents; what is read again finds them while a trace with this hash is in use anywhere in the program. So a snapshot is small, and the
/// scenario brings the contents.
#[derive(Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved", bound(serialize = "T: Contents", deserialize = "T: Contents"))]
pub struct TraceOf<T> {
    name: String,
    digest: u128,
    values: Option<Arc<Values<T>>>,
}

/// What a trace may tell.
pub trait Contents: Sized + Send + Sync + 'static {
    /// Adds it to the hash of the trace.
    fn hash(&self, hash: &mut Xxh3);

    /// What is in use of it.
    #[doc(hidden)]
    fn in_use() -> &'static InUse<Self>;
}

/// The contents of a trace and their time.
#[derive(Debug)]
struct Values<T> {
    begin: Timestamp,
    end: Timestamp,
    contents: T,
}

/// The values in use anywhere in the program, by their hash. What it has for a hash is always the same, so nothing depends on when it is
/// asked.
#[doc(hidden)]
pub struct InUse<T>(Mutex<BTreeMap<u128, Weak<Values<T>>>>);

/// How a trace is saved.
#[derive(Serialize, Deserialize)]
struct Saved {
    name: String,
    digest: u128,
}

impl<T> InUse<T> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The values with this hash, which are these.
    fn share(&self, digest: u128, values: Values<T>) -> Arc<Values<T>> {
        let mut in_use = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        in_use.get(&digest).and_then(Weak::upgrade).unwrap_or_else(|| {
            in_use.retain(|_, values| values.strong_count() > 0);
            let values = Arc::new(values);
            in_use.insert(digest, Arc::downgrade(&values));
            values
        })
    }

    /// The values with this hash, if they are in use.
    fn find(&self, digest: u128) -> Option<Arc<Values<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).and_then(Weak::upgrade)
    }
}

impl<T: Contents> TraceOf<T> {
    pub(super) fn of(name: &str, begin: Timestamp, end: Timestamp, contents: T) -> Self {
        let mut hash = Xxh3::new();
        [begin, end].iter().for_each(|at| hash.update(&at.micros().to_le_bytes()));
        contents.hash(&mut hash);
        let digest = hash.digest128();
        let values = T::in_use().share(digest, Values { begin, end, contents });
        Self { name: name.to_owned(), digest, values: Some(values) }
    }
}

impl<T> TraceOf<T> {
    /// A trace of this name whose contents are not at hand.
    pub fn absent(name: &str) -> Self {
        Self { name: name.to_owned(), digest: 0, values: None }
    }

    /// The name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hash of its contents and their times.
    pub const fn digest(&self) -> u128 {
        self.digest
    }

    /// What it tells; `None` if that is not at hand.
    pub(super) fn contents(&self) -> Option<&T> {
        self.values.as_ref().map(|values| &values.contents)
    }

    /// The first instant of which it tells.
    pub fn begin(&self) -> Option<Timestamp> {
        self.values.as_ref().map(|values| values.begin)
    }

    /// The last instant of which it tells. For values, when the last one ends, if that holds for as long as most.
    pub fn end(&self) -> Option<Timestamp> {
        self.values.as_ref().map(|values| values.end)
    }
}

impl<T> Clone for TraceOf<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), digest: self.digest, values: self.values.clone() }
    }
}

impl<T> PartialEq for TraceOf<T> {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl<T> Eq for TraceOf<T> {}

impl<T> fmt::Debug for TraceOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({}, {:032x})", self.name, self.digest)
    }
}

impl<T> fmt::Display for TraceOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<T: Contents> From<Saved> for TraceOf<T> {
    fn from(Saved { name, digest }: Saved) -> Self {
        Self { name, digest, values: T::in_use().find(digest) }
    }
}

impl<T> From<TraceOf<T>> for Saved {
    fn from(TraceOf { name, digest, .. }: TraceOf<T>) -> Self {
        Self { name, digest }
    }
}
