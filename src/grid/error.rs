//! Errors of a grid.

use thiserror::Error;

use super::WindowError;
use crate::entity::EntityError;
use crate::model::{JobRef, Needs, SiteId};
use crate::units::Time;

/// A job that will never start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// The job.
    pub job: JobRef,
    /// The site where it waits; `None` if it waits with the broker.
    pub site: Option<String>,
    /// The processors that it needs.
    pub procs: u32,
    /// What else it needs, if it waits with the broker.
    pub needs: Needs,
    /// Why files that it reads do not come to its site, if it waits for such.
    pub files: Vec<String>,
}

/// An error that ends a run of a grid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GridError {
    /// A grid without sites.
    #[error("the grid has no site")]
    NoSite,
    /// Two sites with one name.
    #[error("two sites are called `{0}`")]
    TwoSites(String),
    /// A command to a site that does not exist.
    #[error("there is no site number {0}")]
    NoSuchSite(SiteId),
    /// A gap in the journal of commands.
    #[error("command number {expected} is missing in the journal: the next one is number {found}")]
    MissingCommand {
        /// The first number that is missing.
        expected: u64,
        /// The number that was found.
        found: u64,
    },
    /// A workload for the portal in a grid without a broker.
    #[error("jobs come through the portal, but the grid has no broker")]
    NoBroker,
    /// An error in an entity.
    #[error(transparent)]
    Entity(#[from] EntityError),
    /// Jobs are left and none of them can move any more.
    #[error("stuck at {}: {}{}: {}", .at.told(), rule(*.churn), left(*.total), list(.first, *.total, *.several))]
    Stuck {
        /// The end of the run.
        at: Time,
        /// The number of jobs that are left.
        total: usize,
        /// The first of them.
        first: Vec<Waiter>,
        /// True if machines still come and go: no job has moved for so long that the run was given up.
        churn: bool,
        /// True if sites have jobs of their own users beside those of the grid; then the message tells them apart.
        several: bool,
    },
    /// The outcomes do not sum to what was submitted: a mistake in this library.
    #[error("{who} received {arrived} jobs and recorded the end of {ended}; this is a bug of gridemu")]
    Unbalanced {
        /// The site, or the grid.
        who: String,
        /// The number of jobs that arrived.
        arrived: u64,
        /// The number of jobs that ended, in whatever way.
        ended: u64,
    },
    /// A violation of the rules that windows rely on, or messages that go round in a circle.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The sink accepts no more records; its owner knows the cause.
    #[error("the records of the run cannot be written any more")]
    SinkClosed,
    /// A grid that is not a single site.
    #[error("only a single site without a broker and without churn can be run and saved without windows")]
    NotSingle,
    /// A snapshot that does not fit the grid.
    #[error("the saved state cannot be restored: {0}")]
    BadSave(String),
}

impl GridError {
    pub(super) fn stuck(at: Time, mut waiters: Vec<Waiter>, left: u64, churn: bool, several: bool) -> Self {
        // Those on their way between entities wait nowhere.
        let total = waiters.len().max(left as usize);
        waiters.truncate(5);
        Self::Stuck { at, total, first: waiters, churn, several }
    }
}

/// Why the run was given up.
fn rule(churn: bool) -> &'static str {
    if churn {
        "no job has moved for 365 days, although machines came and went, and "
    } else {
        "nothing can happen any more, but "
    }
}

fn left(total: usize) -> String {
    if total == 1 { "1 job is left".to_owned() } else { format!("{total} jobs are left") }
}

fn list(first: &[Waiter], total: usize, several: bool) -> String {
    let told = first.iter().map(|Waiter { job, site, procs, needs, files }| {
        let processors = if *procs == 1 { "processor" } else { "processors" };
        match site {
            None if !files.is_empty() => {
                format!(
                    "job {} waits at the broker for {procs} {processors}{} and for data: {}",
                    job.number,
                    with(needs),
                    files.join("; ")
                )
            }
            Some(site) if several => format!("{job} waits for {procs} {processors} of `{site}`"),
            Some(site) => format!("job {} waits for {procs} {processors} of `{site}`", job.number),
            None => format!("job {} waits at the broker for {procs} {processors}{}", job.number, with(needs)),
        }
    });
    let more = match (first.len(), total) {
        (0, _) => Some("they are sent and recalled again and again".to_owned()),
        (told, total) => (total > told).then(|| "…".to_owned()),
    };
    told.chain(more).collect::<Vec<String>>().join(", ")
}

/// What a job needs beyond processors.
fn with(needs: &Needs) -> String {
    let memory = needs.memory.map(|memory| format!("{memory} of memory"));
    let tags = needs.tags.iter().map(|tag| format!("the tag `{tag}`"));
    let all: Vec<String> = memory.into_iter().chain(tags).collect();
    if all.is_empty() { String::new() } else { format!(" with {}", all.join(" and ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, Origin};
    use crate::units::Bytes;

    #[test]
    fn the_time_of_a_stuck_run_is_told_in_days() {
        let at = Time::from_micros(105_911_100_000_001);
        let told = GridError::stuck(at, Vec::new(), 3, false, false).to_string();
        assert_eq!(
            told,
            "stuck at 1,225 d 19 h: nothing can happen any more, but 3 jobs are left: they are sent and recalled again and again"
        );
    }

    #[test]
    fn a_stuck_job_is_told_from_that_of_another_workload() {
        let waiter = |origin| {
            let job = JobRef::new(origin, SiteId(0), JobId(17));
            Waiter {
                job,
                site: Some("windsor".to_owned()),
                procs: 1,
                needs: Needs::default(),
                files: Vec::new(),
            }
        };
        let told = |several| {
            GridError::stuck(Time::ZERO, vec![waiter(Origin::Local), waiter(Origin::Grid)], 2, false, several)
                .to_string()
        };
        let ends = |jobs: &str| format!("2 jobs are left: {jobs} waits for 1 processor of `windsor`");
        assert!(told(true).ends_with(&ends("job 17 waits for 1 processor of `windsor`, grid job 17")));
        // Where only the grid has jobs, there is nothing to tell apart.
        assert!(told(false).ends_with(&ends("job 17 waits for 1 processor of `windsor`, job 17")));
    }

    #[test]
    fn what_a_job_needs_beyond_processors_is_told() {
        let needs = Needs { memory: Some(Bytes::new(2_000_000_000)), tags: ["gpu".to_owned()].into() };
        let job = JobRef::new(Origin::Grid, SiteId(0), JobId(2));
        let waiter = |needs| Waiter { job, site: None, procs: 1, needs, files: Vec::new() };
        let told = |needs| list(&[waiter(needs)], 1, false);
        assert_eq!(
            told(needs),
            "job 2 waits at the broker for 1 processor with 2 GB of memory and the tag `gpu`"
        );
        assert_eq!(told(Needs::default()), "job 2 waits at the broker for 1 processor");
    }
}
