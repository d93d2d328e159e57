//! The state of the policy in a snapshot: all of it, so that it also looks again at the same instants.

use serde::{Deserialize, Serialize};

use super::Selective;
use super::limit::Averages;
use crate::local::View;
use crate::local::policies::preemptive::Books;
use crate::model::ProcSet;

#[derive(Serialize)]
struct Saved<'a> {
    books: &'a Books,
    free: &'a ProcSet,
    fresh: bool,
    averages: Option<&'a Averages>,
}

#[derive(Deserialize)]
struct Restored {
    books: Books,
    free: ProcSet,
    fresh: bool,
    averages: Option<Averages>,
}

impl Selective {
    pub(super) fn saved(&self) -> Vec<u8> {
        let Self { books, free, fresh, options, .. } = self;
        let averages = options.limit.as_ref().map(|limit| limit.averages());
        postcard::to_stdvec(&Saved { books, free, fresh: *fresh, averages }).unwrap_or_default()
    }

    pub(super) fn restored(&mut self, saved: &[u8], view: &View<'_>) -> Result<(), String> {
        let Restored { books, free, fresh, averages } =
            postcard::from_bytes(saved).map_err(|error| error.to_string())?;
        if let Some(job) = books.jobs().find(|job| view.get(*job).is_none()) {
            return Err(format!("it knows a job with key {job} that is not there"));
        }
        (self.books, self.free, self.fresh) = (books, free, fresh);
        if let (Some(limit), Some(averages)) = (&mut self.options.limit, averages) {
            limit.restore(averages);
        }
        Ok(())
    }
}
