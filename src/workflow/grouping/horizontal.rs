//! Horizontal clustering: tasks of one level and type.

use std::collections::BTreeMap;

use super::{Group, GroupingInfo};
use crate::model::{Named, NamedError, ParamInfo};
use crate::workflow::Workflow;

/// The most groups of a level, and the most tasks of a group.
const MOST: u32 = 10_000_000;

const SIZE: ParamInfo = ParamInfo {
    key: "size",
    values: "1 to 10000000",
    default: "10, unless `clusters` is given",
    doc: "the most tasks of a group: as few groups as that allows, none with more than one task more than another",
};

const CLUSTERS: ParamInfo = ParamInfo {
    key: "clusters",
    values: "1 to 10000000",
    default: "none",
    doc: "the most groups of a level and type, instead of `size`",
};

pub(super) fn info() -> GroupingInfo {
    GroupingInfo::new("horizontal", build)
        .doc("Puts tasks of one level and one type together, in the order of their numbers, in groups of about the same number of tasks.")
        .source("horizontal clustering of Pegasus (`clusters.size`, `clusters.num`; Singh et al. 2008)")
        .params(&[SIZE, CLUSTERS])
}

fn build(named: &mut Named) -> Result<Box<dyn Group>, NamedError> {
    let written = named.params.get(SIZE.key).cloned().unwrap_or_default();
    let expected = "a number from 1 to 10000000";
    let size = named.take_within(SIZE.key, 1..=MOST, expected)?;
    let clusters = named.take_within(CLUSTERS.key, 1..=MOST, expected)?;
    let clusters = match (size, clusters) {
        (Some(_), Some(_)) => {
            let expected = "possible beside `clusters`; give one of the two";
            return Err(NamedError::bad_value(&named.name, SIZE.key, written, expected));
        }
        (None, Some(number)) => Clusters::Number(number),
        (size, None) => Clusters::Size(size.unwrap_or(10)),
    };
    Ok(Box::new(Horizontal { clusters }))
}

/// How many groups the tasks of a level and type make.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// At most so many groups.
    Number(u32),
    /// Groups of at most so many tasks.
    Size(u32),
}

/// Tasks of one level and type in groups of about the same number of tasks.
#[derive(Copy, Clone, Debug)]
pub struct Horizontal {
    /// How many groups.
    pub clusters: Clusters,
}

impl Group for Horizontal {
    fn labels(&self, workflow: &Workflow) -> Vec<u32> {
        let mut alike: BTreeMap<(u32, &str), Vec<u32>> = BTreeMap::new();
        for ((id, task), level) in workflow.ids().zip(workflow.tasks()).zip(workflow.levels()) {
            alike.entry((level, &task.kind)).or_default().push(id.0);
        }
        let mut labels = vec![0; workflow.len()];
        for tasks in alike.values() {
            let groups = match self.clusters {
                Clusters::Number(number) => tasks.len().min(number as usize),
                Clusters::Size(size) => tasks.len().div_ceil(size as usize),
            };
            for (at, task) in tasks.iter().enumerate() {
                // The first task of the group in which the `at`-th is.
                let group = at * groups / tasks.len();
                labels[*task as usize] = tasks[(group * tasks.len()).div_ceil(groups)];
            }
        }
        labels
    }
}
