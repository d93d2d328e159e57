//! The order in which the leaves of a tree are visited.

use std::fmt;

/// The order in which a search visits the leaves of the permutation tree. All but depth-first order go in iterations `k` = 0, 1, 2, ..., of which
/// the first is the heuristic's own order.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Depth-first order, from left to right, in one iteration: the last items change first.
    DepthFirst,
    /// Limited discrepancy search [W. D. Harvey, M. L. Ginsberg, *Limited discrepancy search*, IJCAI 1995; Kanavallil 2007, Figure 1]: iteration `k`
    /// visits the leaves with at most `k` discrepancies, and again all that it has visited before. A discrepancy is tried before the first
    /// child, as in the printed code; where there are several, in the order of the heuristic.
    Lds,
    /// Improved limited discrepancy search [R. E. Korf, *Improved limited discrepancy search*, AAAI 1996; Kanavallil 2007, section 3.3.2]: iteration
    /// `k` visits the leaves with exactly `k` discrepancies, so that none is visited twice. The first child is tried first.
    Ilds,
    /// Depth-bounded discrepancy search [T. Walsh, *Depth-bounded discrepancy search*, IJCAI 1997]: iteration `k` visits the leaves whose last
    /// discrepancy is at depth `k`. There it is mandatory, above it everything is tried, from left to right, and below it the heuristic is
    /// followed.
    #[default]
    Dds,
}

/// Which children of a node are visited, and how much is allowed below them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// The allowance below the first child; `None` if it is not visited.
    pub(super) first: Option<u32>,
    /// The allowance below each of the others; `None` if they are not visited.
    pub(super) others: Option<u32>,
    /// Whether the first child comes after the others.
    pub(super) first_is_last: bool,
}

impl Strategy {
    /// The strategies and their names.
    pub const NAMES: [(&'static str, Self); 4] =
        [("dds", Self::Dds), ("lds", Self::Lds), ("ilds", Self::Ilds), ("dfs", Self::DepthFirst)];

    /// The number of iterations in a tree in which so many levels have a choice.
    pub(super) fn iterations(self, choices: u32) -> u32 {
        match self {
            Self::DepthFirst => 1,
            Self::Lds | Self::Ilds | Self::Dds => choices + 1,
        }
    }

    /// What is visited below a node with such an allowance, if so many levels have a choice from this one on. The allowance of the root is the
    /// number of the iteration.
    pub(super) fn turn(self, allowance: u32, choices: u32) -> Turn {
        let less = allowance.checked_sub(1);
        let first_is_last = self == Self::Lds;
        let (first, others) = match self {
            Self::DepthFirst => (Some(0), Some(0)),
            Self::Lds => (Some(allowance), less),
            // What is left must find enough levels.
            Self::Ilds => (Some(allowance).filter(|left| *left == 0 || *left < choices), less),
            Self::Dds => match allowance {
                0 => (Some(0), None),
                1 => (None, Some(0)),
                _ => (less, less),
            },
        };
        Turn { first, others, first_is_last }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, strategy)| strategy == self).map_or("", |(name, _)| *name);
        f.pad(name)
    }
}
