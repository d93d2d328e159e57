//! Tasks of workflows that no machine of the grid can run, told before anything runs.

use super::RunError;
use crate::model::{GridSpec, GroupMember, Needs, PartitionSpec, SiteSpec, WorkflowSubmission};
use crate::units::Bytes;
use crate::workflow::WorkflowSource;

/// Checks that each task of the workflows of a file, or of the first of a generator, fits some partition with all its machines up, or the group
/// that it is in, and that its files fit into the storage of a site with such a partition.
///
/// # Errors
/// A bad request that names the first that does not, what it needs, and the most that there is.
pub(super) fn check(source: &WorkflowSource, name: &str, grid: &GridSpec) -> Result<(), RunError> {
    for submission in source.first() {
        let submission = submission.map_err(RunError::from_opening)?;
        if let Some((problem, hint)) =
            misfit(&submission, &grid.sites).or_else(|| too_large(&submission, grid))
        {
            return Err(RunError::request(format!("`{name}`: {problem}")).with_hint(hint));
        }
    }
    Ok(())
}

/// The first task whose files fit into no storage where it could go.
fn too_large(submission: &WorkflowSubmission, grid: &GridSpec) -> Option<(String, String)> {
    if grid.network.storages.iter().all(|storage| storage.capacity.is_none()) {
        return None;
    }
    let space = |at: usize| (&*grid.sites[at].name, grid.network.storage(at + 1).capacity);
    let sites = |at: usize| {
        let (procs, needs) = (submission.spec.tasks[at].procs, submission.needs(at));
        let fits = |site: &SiteSpec| site.partitions.iter().any(|part| part.could_run(procs, &needs));
        (0..grid.sites.len()).filter(|site| fits(&grid.sites[*site])).map(space).collect()
    };
    let problem = submission.too_large(sites)?;
    Some((problem, "give the storages of sites more `capacity`".to_owned()))
}

/// What is wrong with the first task that fits nowhere, and what can be done.
fn misfit(submission: &WorkflowSubmission, sites: &[SiteSpec]) -> Option<(String, String)> {
    let all: Vec<Place<'_>> =
        sites.iter().flat_map(|site| site.partitions.iter().map(move |part| (site, part))).collect();
    let mut tasks = (0..).zip(&submission.spec.tasks).map(|(at, task)| (at, task, submission.needs(at)));
    let (at, task, needs) =
        tasks.find(|(_, task, needs)| !all.iter().any(|(_, part)| part.could_run(task.procs, needs)))?;
    let who = match submission.members(at) {
        Some(members) => format!("the group `{}` of {} tasks", task.name, members.len()),
        None => format!("task `{}`", task.name),
    };
    let larger = "give it to larger machines, or take it out of the workflow";
    let tagged: Vec<Place<'_>> = all.iter().copied().filter(|(_, part)| has_tags(part, &needs)).collect();
    if tagged.is_empty() {
        let problem = format!(
            "{who} requires {}, and no machines have {}",
            tags(&needs),
            if needs.tags.len() == 1 { "it" } else { "all of them" }
        );
        return Some((problem, "give a class of machines these `tags`".to_owned()));
    }
    let with = if needs.tags.is_empty() { String::new() } else { format!(" with {}", tags(&needs)) };
    let roomy: Vec<Place<'_>> =
        tagged.iter().copied().filter(|(_, part)| part.rounded(task.procs) <= part.most()).collect();
    if roomy.is_empty() {
        let (site, part) = most(&tagged, |part| u128::from(part.most()))?;
        let problem = format!(
            "{who} needs {} processors, and the largest partition{with}, `{}` of `{}`, has {}{}",
            task.procs,
            part.name,
            site.name,
            part.most(),
            if part.most() < part.usable() { " under the power cap of the site" } else { "" }
        );
        let fits = part.most();
        let parts = submission.members(at).unwrap_or_default();
        let alone = |member: &GroupMember| {
            let task = &submission.ungrouped().tasks[member.task as usize];
            part.rounded(task.procs) <= fits
        };
        let hint = match !parts.is_empty() && parts.iter().all(alone) {
            true => {
                format!("give its grouping a parameter `procs`, such as `level[procs={fits}]`; or {larger}")
            }
            false => larger.to_owned(),
        };
        return Some((problem, hint));
    }
    let (site, part) = most(&roomy, |part| memory(part, task.procs))?;
    let problem = format!(
        "{who} needs {} of memory on {} processors, and the most that as many have{with}, in `{}` of `{}`, is {}",
        needs.memory.unwrap_or_default(),
        task.procs,
        part.name,
        site.name,
        Bytes::new(u64::try_from(memory(part, task.procs)).unwrap_or(u64::MAX))
    );
    Some((problem, larger.to_owned()))
}

/// A partition of a site.
type Place<'a> = (&'a SiteSpec, &'a PartitionSpec);

/// The first partition that has most of something.
fn most<'a>(places: &[Place<'a>], of: impl Fn(&PartitionSpec) -> u128) -> Option<Place<'a>> {
    places.iter().copied().rev().max_by_key(|(_, part)| of(part))
}

fn has_tags(part: &PartitionSpec, needs: &Needs) -> bool {
    needs.tags.is_subset(&part.equipment().tags)
}

/// The memory of the machines that so many processors are on.
fn memory(part: &PartitionSpec, procs: u32) -> u128 {
    let each = part.equipment().memory.map_or(u128::from(u64::MAX), |memory| u128::from(memory.count()));
    each * u128::from(part.machines_for(procs))
}

fn tags(needs: &Needs) -> String {
    let tags: Vec<String> = needs.tags.iter().map(|tag| format!("`{tag}`")).collect();
    format!("the tag{} {}", if tags.len() == 1 { "" } else { "s" }, tags.join(", "))
}
