//! The variants of discrepancy search by name, and their parameters.

use super::Discrepancy;
use crate::local::policies::easy::BackfillOrder;
use crate::local::{Abilities, Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::search::discrepancy::Strategy;
use crate::units::Span;

/// How long a job may wait before that is excessive.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum WaitBound {
    /// As long as the job that has waited longest has waited now (dynB).
    #[default]
    Dynamic,
    /// A fixed time.
    Fixed(Span),
}

/// Parameters of a [`Discrepancy`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DiscrepancyOptions {
    /// The order in which orders are visited.
    pub search: Strategy,
    /// The heuristic.
    pub order: BackfillOrder,
    /// From which wait on a wait is excessive.
    pub bound: WaitBound,
    /// The budget of nodes of a decision. The heuristic's own order is completed in any case.
    pub nodes: u64,
    /// How many jobs, the first ones in the order of the heuristic, are planned at a time.
    pub lookahead: u32,
    /// Whether what cannot be better is left out (branch and bound).
    pub prunes: bool,
}

impl Default for DiscrepancyOptions {
    fn default() -> Self {
        Self {
            search: Strategy::Dds,
            order: BackfillOrder::Lxf,
            bound: WaitBound::Dynamic,
            nodes: 1_000,
            lookahead: 1_000,
            prunes: true,
        }
    }
}

const SEARCH: ParamInfo = ParamInfo {
    key: "search",
    values: "dds, lds, ilds or dfs",
    default: "dds",
    doc: "which orders of the waiting jobs are tried first: those that differ from the heuristic's early (depth-bounded discrepancy search), those that differ from it at few places, at most k (limited) or exactly k (improved limited discrepancy search) in turn, or depth-first order, in which the last jobs change first",
};

const ORDER: ParamInfo = ParamInfo {
    key: "order",
    values: "fcfs, sjf, ljf, saf or lxf",
    default: "lxf",
    doc: "the heuristic, which says the first order: arrival, shortest or longest estimate first, smallest area (processors × estimate) first, largest expansion factor (wait + estimate) / estimate first",
};

const BOUND: ParamInfo = ParamInfo {
    key: "bound",
    values: "dynamic, or a time",
    default: "dynamic",
    doc: "from which wait on a wait is excessive: the longest one so far of the jobs that wait now (dynB), or always the same",
};

const NODES: ParamInfo = ParamInfo {
    key: "nodes",
    values: "1 or more",
    default: "1000",
    doc: "budget of a decision: how many jobs it places at most, over all the orders that it tries. The first order is completed in any case",
};

const LOOKAHEAD: ParamInfo = ParamInfo {
    key: "lookahead",
    values: "1 or more",
    default: "1000",
    doc: "number of waiting jobs that are planned at a time, the first ones by the heuristic; the next ones are if all of these start",
};

const PRUNE: ParamInfo = ParamInfo {
    key: "prune",
    values: "true or false",
    default: "true",
    doc: "branch and bound: an order is not completed if it cannot become better than the best one so far",
};

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("discrepancy", build)
        .doc("Discrepancy search: at each pass it looks for the order of the waiting jobs in which planning each at its earliest start gives the least total excessive wait, and then the least mean slowdown; what the best order starts now starts.")
        .source("Vasupongayya, Chiang and Massey 2005; as in Kanavallil 2007, section 9.5")
        .params(&[SEARCH, ORDER, BOUND, NODES, LOOKAHEAD, PRUNE])
        .alias("dds-lxf-dynb", &[(PRUNE.key, "false")], "DDS/lxf/dynB as its authors published it: without branch and bound.")
}

fn build(named: &mut Named) -> Result<Built, NamedError> {
    let default = DiscrepancyOptions::default();
    let search = named.take_choice(SEARCH.key, &Strategy::NAMES)?.unwrap_or(default.search);
    let order = named.take_choice(ORDER.key, &BackfillOrder::NAMES)?.unwrap_or(default.order);
    let bound: Option<String> = named.take(BOUND.key, "a time")?;
    let bound = match bound.filter(|bound| bound != "dynamic") {
        None => WaitBound::Dynamic,
        Some(bound) => {
            let expected = "a time, such as `5 h`, or `dynamic`";
            let bad = |_| NamedError::bad_value(&named.name, BOUND.key, &bound, expected);
            WaitBound::Fixed(bound.parse().map_err(bad)?)
        }
    };
    let nodes = "a number of nodes, from 1 to 18446744073709551615";
    let nodes = named.take_within(NODES.key, 1.., nodes)?.unwrap_or(default.nodes);
    let jobs = "a number of jobs, from 1 to 4294967295";
    let lookahead = named.take_within(LOOKAHEAD.key, 1.., jobs)?.unwrap_or(default.lookahead);
    let prunes = named.take_choice(PRUNE.key, &[("true", true), ("false", false)])?.unwrap_or(default.prunes);
    let policy = Discrepancy::new(DiscrepancyOptions { search, order, bound, nodes, lookahead, prunes });
    Ok((Box::new(policy), Abilities { keeps_reservations: true, ..Abilities::PLAIN }))
}
