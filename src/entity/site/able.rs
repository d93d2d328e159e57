//! Whether the local policy of a site can do what its site needs.

use super::Site;
use crate::entity::EntityError;
use crate::local::{Abilities, LocalPolicy, Registry};
use crate::model::{InstantOrder, SiteSpec};

impl Site {
    /// Builds the policy of a site and checks that it has the abilities which the site needs.
    ///
    /// # Errors
    /// [`EntityError::Registry`] or [`EntityError::Unable`].
    pub fn check_policy(
        spec: &SiteSpec,
        registry: &Registry,
    ) -> Result<(Box<dyn LocalPolicy>, Abilities), EntityError> {
        let (policy, abilities) = registry.build(&spec.policy)?;
        let shares = abilities.multiprogramming_level > 1;
        let is_capped = spec.partitions.iter().any(|part| part.most_in_use.is_some() || part.counts_watts());
        let loads = spec.partitions.iter().flat_map(|part| &part.groups).any(|group| group.by_load.is_some());
        let by_event = spec.order == InstantOrder::Event;
        let lacks = [
            (!spec.reservations.is_empty() && !abilities.keeps_reservations, Abilities::NO_RESERVATIONS),
            (
                spec.may_sleep() && shares,
                "lets jobs share processors, which a power policy under which machines sleep does not support",
            ),
            (loads && shares, "lets jobs share processors, which a power by load does not support"),
            (
                is_capped && (shares || abilities.picks_processors),
                "lets jobs share processors, or chooses them by number, which a power cap does not support",
            ),
            (
                by_event && abilities.elastic > 0,
                "processes elastic commands, which `order = \"event\"` (one pass per event) does not support",
            ),
            (
                by_event && !abilities.space_sharing(),
                "shares, preempts or chooses processors, which `order = \"event\"` (one pass per event) does not support",
            ),
        ];
        if let Some((_, problem)) = lacks.into_iter().find(|(lacks, _)| *lacks) {
            let (policy, site) = (spec.policy.to_string(), spec.name.clone());
            return Err(EntityError::Unable { policy, site, problem: problem.to_owned() });
        }
        Ok((policy, abilities))
    }
}
