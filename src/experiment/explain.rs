//! Explains what happened to a job and why it did not start earlier. The run of an output folder is built anew and run to
//! the job's submission, then instant by instant until the job ends; at each instant at which it does not run, the facts
//! of the last decision at its place of waiting are read.

mod facts;
mod found;
mod stretches;
mod task;
mod watch;

use super::rerun::is_changed_fork;
use super::{Progress, RunError, rerun};
use crate::entity::Site;
use crate::grid::{Grid, Merge, Policies, WindowOptions};
use crate::local::Phase;
use crate::model::{EventCause, EventKind, JobId, JobRef, Origin, Outcome, PartitionId, SiteId};
use crate::output::{JobRow, RunFolder};
use crate::units::{Span, Time};
pub use facts::{
    AssignedTo, At, AtState, Attempt, ComparedFront, ComparedPool, ComparedSchedule, Explained, ExplainedJob,
    Stretch, Suspended, WaitPlace,
};
use stretches::Stretches;
pub use task::{ExplainedTask, WaitedFor, job_of_task};
use watch::{Place, Try, Watch};

/// The job to explain, and the instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplainOptions {
    /// The number of the job.
    pub job: u64,
    /// The task of a workflow that is meant, by its name, where a group of tasks is one job.
    pub task: Option<String>,
    /// The origin of the job, where several jobs have the number.
    pub origin: Option<Origin>,
    /// The site at which the job ended, where several jobs have the number.
    pub site: Option<String>,
    /// The instant to explain; `None` for the job's whole life.
    pub at: Option<Time>,
}

/// After this number of questions only every second instant is looked at, after as many again every fourth, and so on.
const LOOKS: u64 = 8_192;

/// Explains a job of the run that left `folder`: its attempts, and the reasons of its wait before each.
///
/// # Errors
/// `RunErrorKind::Request` if there is no such job, or the folder does not contain its scenario or is a fork that changed it; `RunErrorKind::Run` if the run fails.
pub fn explain(
    folder: &RunFolder,
    options: &ExplainOptions,
    policies: &Policies,
    progress: &Progress,
) -> Result<Explained, RunError> {
    let row = found::find(folder, options)?;
    if is_changed_fork(folder) {
        let folder = folder.dir().display();
        let message = format!(
            "`{folder}` is a fork: until then it was another scenario, and it cannot be repeated from the beginning"
        );
        return Err(RunError::request(message).with_hint(
            "explain the job in a run of the scenario of before; or run scenario.toml from its beginning, and explain that run",
        ));
    }
    let run = rerun(folder, policies)?;
    let mut grid = run.begun(progress)?;
    // A table without names of sites is of a single one.
    let site = grid.sites().find(|site| site.spec().name == *row.site).map_or(SiteId(0), Site::id);
    let mut watch = Watch::new(JobRef::new(row.origin, site, JobId(row.job)), row.end);
    let task = match row.origin {
        Origin::Grid => task::find(folder, row.job, options.task.as_deref(), policies)?,
        Origin::Local => None,
    };
    let mut explained = Explained {
        task,
        job: ExplainedJob::new(row.job, row.origin, &row.site, grid.sites().len() > 1),
        submit_s: row.submit.as_secs_f64(),
        start_s: row.start.map(Time::as_secs_f64),
        end_s: row.end.as_secs_f64(),
        outcome: row.outcome.name(),
        reason: row.reason.as_deref().map(str::to_owned).or_else(|| overdue(&row)),
        requested: row.requested,
        started: row.attempts,
        attempts: Vec::new(),
        stretches: Vec::new(),
        assigned: Vec::new(),
        suspensions: Vec::new(),
        at: None,
        looks: 0,
        notes: Vec::new(),
    };
    grid.trace_decisions(Some(watch.job.number).filter(|_| row.origin == Origin::Grid));
    let barrier = options.at.map_or(row.submit, |at| at + Span::TICK);
    let mut merge = Merge::new(grid.nodes().len());
    let until = run.scenario().resolved.until;
    let ran = grid.run_segment(until, Some(barrier), WindowOptions::default(), &mut merge, &mut watch);
    ran.map_err(RunError::from_running)?;
    // Records may be held back until all entities have passed them; no further events follow here.
    merge.finish(&mut watch);
    match options.at {
        Some(at) => at_instant(&grid, &mut watch, &row, at, &mut explained),
        None => follow(&mut grid, &mut watch, &row, &mut explained)?,
    }
    let secs = Time::as_secs_f64;
    explained.suspensions = std::mem::take(&mut watch.suspensions)
        .into_iter()
        .filter(|(at, ..)| options.at.is_none_or(|until| *at <= until))
        .map(|(at, cause, resumed)| Suspended { at_s: secs(at), cause, resumed_s: resumed.map(secs) })
        .collect();
    if let Some(task) = &mut explained.task {
        task.waits_for(folder, &watch.blockers, options.at.is_none())?;
    }
    Ok(explained)
}

/// Follows the job from its submission to its end.
fn follow(
    grid: &mut Grid,
    watch: &mut Watch,
    row: &JobRow,
    explained: &mut Explained,
) -> Result<(), RunError> {
    let mut stretches = Stretches::default();
    let (mut every, mut looks, mut seen) = (1, 0, 0_u64);
    // For an unfinished job, the run ended before the events of its last instant.
    let unfinished = row.outcome == Outcome::Unfinished;
    let is_due = |time: Time| time < row.end || (time == row.end && !unfinished);
    let mut runs = None;
    while let Some(next) = grid.next_event().filter(|next| is_due(next.time)) {
        grid.step(watch).map_err(RunError::from_running)?;
        let now = next.time;
        // Several rounds may belong to one instant.
        if grid.next_event().is_some_and(|after| after.time == now) {
            continue;
        }
        explained.assigned.extend(watch.assigned(grid, now));
        let place = watch.find(grid, now);
        runs = match place {
            // A job that ends without having started was refused, cancelled or given up. For one that has started the
            // records are now complete, including the failure of a last attempt.
            Place::Over => {
                stretches.end(now);
                runs = None;
                break;
            }
            Place::Runs(now_running, _) => {
                stretches.end(now);
                Some(now_running)
            }
            Place::Between => {
                stretches.end(now);
                None
            }
            _ => {
                seen += 1;
                let attempt = watch.next_try(grid, &place);
                if seen.is_multiple_of(every) || stretches.is_elsewhere(&place) {
                    stretches.look(grid, &place, attempt, now);
                    looks += 1;
                    if looks >= LOOKS {
                        (every, looks) = (every * 2, 0);
                    }
                }
                None
            }
        };
    }
    stretches.end(row.end);
    explained.looks = stretches.looks;
    explained.stretches = stretches.into_stretches();
    if every > 1 {
        explained.notes.push(format!(
            "decisions were looked at at every instant at first, and at one in {every} in the end: shorter changes of the reason may be missing"
        ));
    }
    compare(row, watch, runs.as_ref(), explained);
    if let Some(kind) = watch.limit.filter(|_| row.outcome == Outcome::Cancelled) {
        explained.reason = Some(ended_at_limit(kind, row, explained.task.is_some()));
    }
    explained.attempts = attempts(grid, watch, row, runs, true);
    Ok(())
}

/// Describes the state of the job right after the events of an instant.
fn at_instant(grid: &Grid, watch: &mut Watch, row: &JobRow, at: Time, explained: &mut Explained) {
    let place = watch.find(grid, at);
    let mut stretches = Stretches::default();
    let name = |site: SiteId| grid.site(site).map(|site| site.spec().name.clone());
    let mut told =
        At { at_s: at.as_secs_f64(), state: AtState::Waits, attempt: None, site: None, since_s: None };
    let mut runs = None;
    match place {
        Place::Runs(now, phase) => {
            let (state, since) = match phase {
                Phase::Suspending => (AtState::Suspending, now.to),
                Phase::Resuming => (AtState::Resuming, now.to),
                _ => (AtState::Runs, now.from),
            };
            (told.state, told.since_s) = (state, Some(since.as_secs_f64()));
            (told.attempt, told.site) = (Some(now.number), name(now.site));
            if row.start.is_none_or(|start| start > at) {
                compare(row, watch, Some(&now), explained);
            }
            runs = Some(now);
        }
        Place::Nowhere if at < row.submit => {
            (told.state, told.since_s) = (AtState::ToCome, Some(row.submit.as_secs_f64()));
        }
        Place::Between => {
            let ended = watch.ended.as_ref().map(|ended| ended.end.as_secs_f64());
            (told.state, told.since_s) = (AtState::Ended, ended);
        }
        Place::Over | Place::Nowhere if at >= row.end || watch.ended.is_some() => {
            (told.state, told.since_s) = (AtState::Ended, Some(row.end.as_secs_f64()));
        }
        place => {
            let attempt = watch.next_try(grid, &place);
            told.attempt = Some(attempt);
            told.site = match place {
                Place::Site { site, .. } | Place::Wakes { site, .. } => name(site),
                _ => None,
            };
            stretches.look(grid, &place, attempt, at);
        }
    }
    explained.at = Some(told);
    explained.looks = stretches.looks;
    stretches.end(at);
    explained.stretches = stretches.into_stretches();
    explained.attempts = attempts(grid, watch, row, runs, at >= row.end);
}

/// The attempts seen so far, including the one that `runs`; if the job is `over` by then, with the end of the last one.
fn attempts(grid: &Grid, watch: &Watch, row: &JobRow, runs: Option<Try>, over: bool) -> Vec<Attempt> {
    let mut tries = watch.tries.clone();
    if let Some(now) = runs {
        tries.retain(|known| known.number != now.number);
        tries.push(now);
    }
    let over = over || watch.ended.is_some();
    if let Some(ended) = watch.ended.as_ref().filter(|ended| ended.start.is_some())
        && tries.last().is_none_or(|last| last.number < ended.attempts)
    {
        // The attempt took no time at all, and has left no segment.
        tries.push(Try {
            number: ended.attempts,
            site: ended.site,
            partition: ended.partition,
            procs: ended.procs,
            from: ended.start.filter(|_| ended.attempts == 1).unwrap_or(ended.end),
            to: ended.end,
            failure: None,
        });
    }
    let count = tries.len();
    let mut before = row.submit;
    let told = tries.into_iter().enumerate().map(|(at, one)| {
        let here = grid.site(one.site);
        let last = at + 1 == count;
        let closed = one.failure.is_some() || !last || over;
        let end = match one.failure {
            None if last && over => watch.ended.as_ref().map_or(row.end, |ended| ended.end),
            _ => one.to,
        };
        // A task that had completed waits only once it is to run again.
        let waited = one.from.since(before);
        let again = watch.again.iter().find(|(attempt, _)| *attempt == one.number);
        before = again.map_or(end, |(_, since)| *since);
        Attempt {
            attempt: one.number,
            waited_s: waited.as_secs_f64(),
            site: here.map_or_else(|| "grid".to_owned(), |site| site.spec().name.clone()),
            partition: here.map_or_else(String::new, |site| partition(site, one.partition)),
            processors: one.procs,
            start_s: one.from.as_secs_f64(),
            end_s: closed.then_some(end.as_secs_f64()),
            ended: match one.failure {
                Some(failure) => Some(failure.kind.name()),
                None if last && over => Some(row.outcome.name()),
                None => again.map(|_| Outcome::Completed.name()),
            },
            cause: one
                .failure
                .map(|failure| failure.cause)
                .filter(|cause| *cause != EventCause::None)
                .map(|cause| cause.to_string()),
            wasted_proc_s: one
                .failure
                .map_or(0.0, |failure| failure.work as f64 / (1_u64 << 20) as f64 / 1e6),
        }
    });
    told.collect()
}

fn partition(site: &Site, partition: PartitionId) -> String {
    site.partitions().get(partition.index()).map_or_else(String::new, |found| found.spec().name.clone())
}

/// Checks that the rebuilt run agrees with the folder, as far as this job shows it.
fn compare(row: &JobRow, watch: &Watch, runs: Option<&Try>, explained: &mut Explained) {
    let word = |time: Option<Time>| time.map_or("never".to_owned(), |time| format!("at {time} s"));
    // A job that still runs in its first attempt has no record yet.
    let started = watch.started().or(runs.map(|now| now.from));
    let ended = watch.ended.as_ref();
    let differs = if started != row.start {
        let starts =
            started.map_or("never starts the job".to_owned(), |start| format!("starts the job at {start} s"));
        format!("the repeated run {starts}, the folder says {}", word(row.start))
    } else if let Some(ended) = ended.filter(|ended| (ended.end, ended.attempts) != (row.end, row.attempts)) {
        format!(
            "the repeated run ends the job at {} s after {} attempts, the folder says at {} s after {}",
            ended.end, ended.attempts, row.end, row.attempts
        )
    } else if ended.is_none() && explained.at.is_none() && row.outcome != Outcome::Unfinished {
        format!("in the repeated run the job has not ended, the folder says that it ended at {} s", row.end)
    } else {
        return;
    };
    explained.notes.push(format!(
        "{differs}: the folder is from another version of gridemu or another log, or the run received commands; this explains the repeated run"
    ));
}

/// How late a job completed, if it did after its deadline.
fn overdue(row: &JobRow) -> Option<String> {
    let late = row.end.since(row.deadline.filter(|deadline| *deadline < row.end)?);
    (row.outcome == Outcome::Completed).then(|| format!("{late} s after its deadline"))
}

/// Why a job was ended that was ended at a limit.
fn ended_at_limit(kind: EventKind, row: &JobRow, of_workflow: bool) -> String {
    if kind == EventKind::Spent {
        return "it had cost more than its budget".to_owned();
    }
    match row.deadline.filter(|deadline| *deadline < row.end) {
        None => "its deadline".to_owned(),
        Some(_) if of_workflow => "the deadline of its workflow".to_owned(),
        Some(deadline) => format!("its deadline was {} s before", row.end.since(deadline)),
    }
}
