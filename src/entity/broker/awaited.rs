//! The files that a task waits for with the broker, and why they do not come.

use super::data::{place_of, site_at};
use super::{Broker, State};
use crate::model::{FileId, SiteId, TaskId};

/// A file that a task reads and that is not at its site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwaitedFile<'a> {
    /// Its name.
    pub name: &'a str,
    /// The sites that have it, if it can be had nowhere because all of them have left.
    pub away: Vec<SiteId>,
    /// Whether its copy waits for space at the site.
    pub for_space: bool,
}

impl AwaitedFile<'_> {
    /// Why it cannot come now to a site of that name, if there is a reason.
    pub fn obstacle(&self, site: &str, name: impl Fn(SiteId) -> String) -> Option<String> {
        let away: Vec<String> = self.away.iter().map(|away| format!("`{}`", name(*away))).collect();
        match &away[..] {
            [] => self.for_space.then(|| format!("`{site}` has no space for file `{}`", self.name)),
            [one] => Some(format!("file `{}` is only at {one}, which has left", self.name)),
            all => Some(format!("file `{}` is only at {}, which have left", self.name, all.join(", "))),
        }
    }
}

impl Broker {
    /// The files that a task reads and that are not at a site.
    pub fn awaited_files(&self, task: TaskId, site: SiteId) -> Vec<AwaitedFile<'_>> {
        let State { workflows, data, .. } = &self.state;
        let to = place_of(site);
        let awaited = |file: FileId| {
            let name = workflows.file_name(task, file)?;
            let away = data.away(file, to).into_iter().map(site_at).collect();
            Some(AwaitedFile { name, away, for_space: data.is_for_space(file, to) })
        };
        let missing = workflows.inputs(task).filter(|file| !data.replicas.is_at(*file, to));
        missing.filter_map(awaited).collect()
    }

    /// The site where a task waits for files.
    pub fn awaits_at(&self, task: TaskId) -> Option<SiteId> {
        self.state.data.place_of_task(task).map(site_at)
    }
}
