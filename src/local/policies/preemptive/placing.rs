//! Which free processors a job gets that starts.

use super::Books;
use crate::local::View;
use crate::model::{Named, NamedError, ParamInfo, ProcSet};

pub(in crate::local::policies) const PLACEMENT: ParamInfo = ParamInfo {
    key: "placement",
    values: "lowest or away",
    default: "lowest",
    doc: "a job that starts gets the processors that the site's placement rule gives it, or, before them, those that no suspended job waits for",
};

/// Takes the parameter [`PLACEMENT`]: whether jobs start away from processors for which suspended jobs wait.
pub(in crate::local::policies) fn take_away(named: &mut Named) -> Result<bool, NamedError> {
    Ok(named.take_choice(PLACEMENT.key, &[("lowest", false), ("away", true)])?.unwrap_or(false))
}

impl Books {
    /// So many of the free processors, for a job that starts; if `away`, first those for which no suspended job waits.
    pub(in crate::local::policies) fn procs_for_start(
        &self,
        view: &View<'_>,
        free: &ProcSet,
        procs: u32,
        away: bool,
    ) -> Option<ProcSet> {
        if !away || self.suspended.is_empty() {
            return view.pick(free, procs);
        }
        let rest = free.difference(self.suspended.wanted());
        let first = procs.min(rest.len());
        let mut picked = view.pick(&rest, first)?;
        picked.insert_all(&view.pick(&free.difference(&rest), procs - first)?);
        Some(picked)
    }
}
