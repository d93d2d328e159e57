//! The description of a whole grid: sites, network, broker.

use serde::{Deserialize, Serialize};

use super::{Named, SiteSpec};
use crate::units::{Bandwidth, Span};

/// A whole grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GridSpec {
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The sites, at least one.
    pub sites: Vec<SiteSpec>,
    /// Between the portal and the sites, and among the sites.
    pub network: NetworkSpec,
    /// The broker; without one, sites see only their own users.
    pub broker: Option<BrokerSpec>,
}

/// A connection.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// How long a message takes.
    pub latency: Span,
    /// What transfers of data share; `None` for as much as anybody wants.
    pub bandwidth: Option<Bandwidth>,
}

/// Connections between places. Place 0 is the portal with the broker, place `i + 1` is site `i`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkSpec {
    /// The connection of places `a < b` is at `b (b − 1) / 2 + a`.
    pub links: Vec<Link>,
}

/// The broker and its dispatcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokerSpec {
    /// The mapping algorithm.
    pub policy: Named,
    /// How often sites report; zero for at every change.
    pub picture: Span,
    /// Whether the broker adds its own dispatches to a picture that does not show them yet.
    pub count_in_flight: bool,
    /// When assignments that have not left the dispatcher are made anew.
    pub replan: Replan,
    /// Whether replanning also takes back jobs that wait at sites.
    pub recall_queued: bool,
    /// How often a job is tried again before it is given up.
    pub retries: u32,
    /// How long a returned job waits before it is planned again; doubled with each return, up to 64 times.
    pub backoff: Span,
    /// Most jobs of the grid at a site at once, waiting or running; `None` for any number.
    pub in_flight: Option<u32>,
    /// What one dispatch takes the dispatcher, one after the other.
    pub overhead: Span,
    /// Who pays for an attempt that was lost to churn.
    pub lost_attempts: Payer,
}

/// When assignments that have not left the dispatcher are made anew.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replan {
    /// They stay.
    Never,
    /// When a site has gained or lost machines, as far as the picture shows.
    #[default]
    OnChurn,
    /// With every picture.
    EveryPicture,
}

/// Who pays for an attempt that was lost to churn.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payer {
    /// The job.
    #[default]
    User,
    /// The site that lost it: the job is charged nothing for it.
    Site,
}

impl NetworkSpec {
    /// The same connection between any two of the portal and `sites` sites.
    pub fn uniform(sites: usize, link: Link) -> Self {
        Self { links: vec![link; sites * (sites + 1) / 2] }
    }

    /// The connection of two different places.
    pub fn link(&self, a: usize, b: usize) -> Link {
        let (a, b) = (a.min(b), a.max(b));
        self.links.get(b * b.saturating_sub(1) / 2 + a).copied().unwrap_or_default()
    }

    /// Sets the connection of two different places.
    pub fn set(&mut self, a: usize, b: usize, link: Link) {
        let (a, b) = (a.min(b), a.max(b));
        if let Some(place) = self.links.get_mut(b * b.saturating_sub(1) / 2 + a) {
            *place = link;
        }
    }
}

impl BrokerSpec {
    /// A broker with the defaults of a scenario.
    pub fn new(policy: Named) -> Self {
        Self {
            policy,
            picture: Span::from_secs(60),
            count_in_flight: true,
            replan: Replan::default(),
            recall_queued: false,
            retries: 10,
            backoff: Span::from_secs(10),
            in_flight: None,
            overhead: Span::ZERO,
            lost_attempts: Payer::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_place_of_its_own() {
        let mut network = NetworkSpec::uniform(4, Link::default());
        let pairs: Vec<(usize, usize)> = (0..5).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        for (at, (a, b)) in pairs.iter().enumerate() {
            network.set(*b, *a, Link { latency: Span::from_secs(at as u64), bandwidth: None });
        }
        for (at, (a, b)) in pairs.iter().enumerate() {
            assert_eq!(network.link(*a, *b).latency, Span::from_secs(at as u64));
        }
    }
}
