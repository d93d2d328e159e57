//! What can be wrong with a search.

use thiserror::Error;

/// What is wrong with a search, or with a set of points.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The population cannot be split into pairs, or is larger than [`Settings::MOST_POPULATION`](super::Settings::MOST_POPULATION).
    #[error("a population of {0}: it must be an even number from 2 to {most}", most = super::Settings::MOST_POPULATION)]
    Population(usize),
    /// There is no generation.
    #[error("0 generations: the first one is the random one, so there must be at least 1")]
    Generations,
    /// A probability is not in [0, 1].
    #[error("the probability of {of} is {value}, not from 0 to 1")]
    Probability {
        /// The operator.
        of: &'static str,
        /// What was given.
        value: f64,
    },
    /// The caller gave more genomes than the first population holds.
    #[error("{given} genomes were given for a first population of {population}")]
    First {
        /// The number of genomes.
        given: usize,
        /// The population.
        population: usize,
    },
    /// A problem or a point has no objectives.
    #[error("no objectives: there must be at least 1")]
    NoObjectives,
    /// Something has another number of objectives than what it is used with.
    #[error("{what} has {found} objectives, not {wanted}")]
    Objectives {
        /// What has them.
        what: &'static str,
        /// How many it has.
        found: usize,
        /// How many were wanted.
        wanted: usize,
    },
    /// Points are a flat list of objectives, and the last point breaks off.
    #[error("{values} values are no points of {objectives} objectives each")]
    Ragged {
        /// The length of the list.
        values: usize,
        /// The objectives of each point.
        objectives: usize,
    },
    /// An objective is not a number, or not finite.
    #[error("objective {objective} of point {point} is {value}, not a finite number")]
    Value {
        /// The point, from 0.
        point: usize,
        /// The objective, from 0.
        objective: usize,
        /// What it is.
        value: f64,
    },
    /// An evaluation gave an objective that is not a number, or not finite.
    #[error(
        "objective {objective} of child {child} of generation {generation} is {value}, not a finite number"
    )]
    Evaluated {
        /// The generation, from 0.
        generation: usize,
        /// The child, from 0.
        child: usize,
        /// The objective, from 0.
        objective: usize,
        /// What it is.
        value: f64,
    },
    /// A violation of constraints is not a number, not finite, or negative.
    #[error("the violation of constraints of point {point} is {value}, not a finite number from 0 on")]
    Violation {
        /// The point, or the child, from 0.
        point: usize,
        /// What it is.
        value: f64,
    },
    /// There are not as many violations as points.
    #[error("{violations} violations of constraints for {points} points")]
    Violations {
        /// How many violations there are.
        violations: usize,
        /// How many points there are.
        points: usize,
    },
    /// A weight is negative, or not a finite number.
    #[error("the weight of objective {objective} is {value}, not a finite number from 0 on")]
    Weight {
        /// The objective, from 0.
        objective: usize,
        /// What it is.
        value: f64,
    },
    /// All weights are 0.
    #[error("the weights sum to nothing: at least one must be above 0")]
    NoWeight,
    /// The references of an objective do not span a range.
    #[error(
        "objective {objective} has the references {best} and {worst}: the first must be below the second, both finite"
    )]
    Range {
        /// The objective, from 0.
        objective: usize,
        /// The value that counts as 0.
        best: f64,
        /// The value that counts as 1.
        worst: f64,
    },
    /// An archive that may hold nothing.
    #[error("an archive of 0 points: it must hold at least 1")]
    NoArchive,
    /// There is nothing to put into order.
    #[error("no items: an order has at least 1")]
    NoItems,
    /// A budget that does not reach the end of one order.
    #[error(
        "a budget of {nodes} nodes for {items} items: it must be at least their number, so that one order is complete"
    )]
    Budget {
        /// The budget.
        nodes: u64,
        /// The number of items.
        items: u32,
    },
    /// A mean over no points.
    #[error("{0} has no points")]
    NoPoints(&'static str),
}
