//! What a grid spent.

use crate::grid::{Grid, Node};
use crate::metrics::Ledger;
use crate::model::SiteSpec;
use crate::platform::DataBill;

/// What each site spent.
pub(super) fn ledgers(grid: &Grid) -> Vec<(SiteSpec, Ledger)> {
    let ledgers = grid.sites().map(|site| {
        let mut ledger = Ledger::default();
        site.partitions().iter().for_each(|part| ledger.add(&part.usage(), site.spec().pue_ppm));
        (site.spec().clone(), ledger)
    });
    ledgers.collect()
}

/// What moving data took, if it takes or costs anything.
pub(super) fn moved(grid: &Grid) -> Option<DataBill> {
    let network = grid.nodes().iter().find_map(|node| match node {
        Node::Network(network) => Some(network),
        _ => None,
    });
    network.and_then(|network| network.bill())
}
