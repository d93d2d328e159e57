//! What tasks need of machines beyond processors, and what machines have.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Job, WorkflowSubmission};
use crate::units::Bytes;

/// What each machine of a class has beyond processors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Equipment {
    /// Its memory; tasks of any memory run on it if that is not stated.
    pub memory: Option<Bytes>,
    /// What it is fit for, such as `gpu`.
    pub tags: BTreeSet<String>,
}

/// What a job needs of the machines that it runs on, beyond processors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// Its memory on all its machines together, if known.
    pub memory: Option<Bytes>,
    /// The tags that each of its machines must have.
    pub tags: BTreeSet<String>,
}

impl Needs {
    /// Whether so many machines have what is needed. What other jobs use of their memory does not count.
    pub fn met_by(&self, equipment: &Equipment, machines: u32) -> bool {
        let enough = |(needed, each): (Bytes, Bytes)| {
            u128::from(needed.count()) <= u128::from(each.count()) * u128::from(machines)
        };
        self.memory.zip(equipment.memory).is_none_or(enough) && self.tags.is_subset(&equipment.tags)
    }
}

impl Job {
    /// What it needs beyond processors, if it is a task of a workflow that says so.
    #[inline]
    pub fn needs(&self) -> Option<&Needs> {
        let needs = &self.grid.as_ref()?.task.as_ref()?.needs;
        (*needs != Needs::default()).then_some(needs)
    }
}

impl WorkflowSubmission {
    /// The places of the tasks that are one job, in the workflow before tasks were put into groups.
    pub(super) fn parts(&self, at: usize) -> Vec<u32> {
        match &self.groups {
            Some(groups) => groups.members[at].iter().map(|member| member.task).collect(),
            None => vec![at as u32],
        }
    }

    /// The tag that a task of this type requires.
    pub fn tag(&self, kind: &str) -> Option<&String> {
        self.tags.get(kind).or_else(|| self.tags.get("*"))
    }

    /// What the task at this place needs beyond processors; a group needs the tags of all its tasks.
    pub fn needs(&self, at: usize) -> Needs {
        let all = &self.ungrouped().tasks;
        let parts = if self.tags.is_empty() { Vec::new() } else { self.parts(at) };
        let tags = parts.into_iter().filter_map(|task| self.tag(&all[task as usize].kind));
        Needs { memory: self.spec.tasks[at].memory, tags: tags.cloned().collect() }
    }
}

impl WorkflowSubmission {
    /// The space that the files of the task at this place take where it runs: what it reads and writes.
    pub fn space(&self, at: usize) -> Bytes {
        let task = &self.spec.tasks[at];
        let sizes = task.inputs.iter().chain(&task.outputs).map(|file| self.spec.files[*file as usize].size);
        Bytes::new(sizes.fold(0, |sum, size| sum.saturating_add(size.count())))
    }

    /// What is wrong with the first task whose files fit into the storage of no site that could run it, which are their names and capacities.
    pub fn too_large<'a>(&self, sites: impl Fn(usize) -> Vec<(&'a str, Option<Bytes>)>) -> Option<String> {
        let tasks = self.spec.tasks.iter().enumerate();
        tasks.filter_map(|(at, task)| {
            let (space, sites) = (self.space(at), sites(at));
            let most = sites.iter().rev().max_by_key(|(_, capacity)| capacity.unwrap_or(Bytes::new(u64::MAX)));
            let (site, capacity) = most.and_then(|(site, capacity)| Some((site, (*capacity)?)))?;
            let who = match self.members(at) {
                Some(members) => format!("the group `{}` of {} tasks", task.name, members.len()),
                None => format!("task `{}`", task.name),
            };
            (space > capacity).then(|| {
                format!("{who} reads and writes files of {space}, and the largest storage of a site that could run it, that of `{site}`, has {capacity}")
            })
        }).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 GB on machines of 2 GB: on one they do not fit, on two they do. Without a memory that is stated everything fits, and all tags are
    /// needed, not one of them.
    #[test]
    fn memory_is_that_of_all_machines_and_tags_are_of_each() {
        let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
        let needs = |memory: Option<u64>, wanted: &[&str]| Needs {
            memory: memory.map(Bytes::new),
            tags: tags(wanted),
        };
        let has =
            |memory: Option<u64>, own: &[&str]| Equipment { memory: memory.map(Bytes::new), tags: tags(own) };
        let (two, large) = (has(Some(2_000_000_000), &[]), needs(Some(3_000_000_000), &[]));
        assert_eq!([1, 2].map(|machines| large.met_by(&two, machines)), [false, true]);
        assert!(large.met_by(&has(None, &[]), 1) && needs(None, &[]).met_by(&two, 1));
        assert!(needs(Some(u64::MAX), &[]).met_by(&has(Some(u64::MAX), &[]), u32::MAX));
        let both = needs(None, &["gpu", "ssd"]);
        assert!(both.met_by(&has(None, &["big", "gpu", "ssd"]), 1) && !both.met_by(&has(None, &["gpu"]), 1));
    }
}
