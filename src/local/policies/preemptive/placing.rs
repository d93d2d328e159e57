//! Which processors a job gets that starts or resumes.

use serde::{Deserialize, Serialize};

use super::Books;
use crate::local::{Abilities, View};
use crate::model::{Named, NamedError, ParamInfo, ProcSet};

pub(in crate::local::policies) const PLACEMENT: ParamInfo = ParamInfo {
    key: "placement",
    values: "lowest or away",
    default: "lowest",
    doc: "a job that starts gets the processors that the site's placement rule gives it, or, before them, those that no suspended job waits for",
};

pub(in crate::local::policies) const RESTART: ParamInfo = ParamInfo {
    key: "restart",
    values: "same or anywhere",
    default: "same",
    doc: "a suspended job resumes on the processors that it had, or on any, like a job that has not started",
};

/// Which processors jobs get.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placing {
    /// Whether jobs that start get processors first that no suspended job waits for.
    pub away: bool,
    /// Whether a suspended job resumes on any processors, and not on those that it had. Then none waits for certain ones, and `away` is of no effect.
    pub anywhere: bool,
}

impl Placing {
    /// Takes the parameters [`PLACEMENT`] and [`RESTART`].
    pub(in crate::local::policies) fn take(named: &mut Named) -> Result<Self, NamedError> {
        let away = named.take_choice(PLACEMENT.key, &[("lowest", false), ("away", true)])?.unwrap_or(false);
        let anywhere =
            named.take_choice(RESTART.key, &[("same", false), ("anywhere", true)])?.unwrap_or(false);
        if away && anywhere {
            let expected = "of use with `restart=anywhere`: no job waits for certain processors then";
            return Err(NamedError::bad_value(&named.name, PLACEMENT.key, "away", expected));
        }
        Ok(Self { away, anywhere })
    }

    /// What a policy that suspends jobs and places them so is able to do.
    pub(in crate::local::policies) const fn abilities(self) -> Abilities {
        Abilities {
            preempts: true,
            same_processors: !self.anywhere,
            picks_processors: true,
            ..Abilities::PLAIN
        }
    }
}

impl Books {
    /// So many of the free processors, for a job that starts: by [`Placing::away`], first those for which no suspended job waits.
    pub(in crate::local::policies) fn procs_for_start(
        &self,
        view: &View<'_>,
        free: &ProcSet,
        procs: u32,
    ) -> Option<ProcSet> {
        if !self.placing.away || self.suspended.is_empty() {
            return view.pick(free, procs);
        }
        let rest = free.difference(self.suspended.wanted());
        let first = procs.min(rest.len());
        let mut picked = view.pick(&rest, first)?;
        picked.insert_all(&view.pick(&free.difference(&rest), procs - first)?);
        Some(picked)
    }
}
