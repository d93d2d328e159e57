//! The check of groups: their tasks run inside the job of the group, on its processors, in its order and no faster than it.

use super::{Submitted, TaskJob, TaskJobs, violation};
use crate::model::{GroupMember, Outcome, PartitionSpec};
use crate::output::TaskRow;
use crate::units::{Span, Time, Work};
use crate::verify::findings::{Row, Rule, Verdict};
use crate::verify::platform::Platform;

/// A task of a group, with its row.
type Ran<'a> = (&'a GroupMember, &'a TaskRow);

impl Submitted {
    /// Checks the tasks of each group against its job.
    pub(super) fn check_members(&self, jobs: &TaskJobs, platform: &Platform, verdict: &mut Verdict) {
        for at in 0..self.workflow.spec.tasks.len() {
            let Some(members) = self.workflow.members(at) else { continue };
            let job = jobs.get(&(self.workflow.first_job.0 + at as u64)).and_then(|jobs| jobs.last());
            let (Some(rows), Some(job)) = (self.rows_of(at), job) else { continue };
            let members: Vec<Ran<'_>> = members.iter().zip(rows).collect();
            for (row, time, message) in self.faults(at, &members, job, platform) {
                let text = format!("task `{}` of workflow {} {message}", row.task, row.workflow);
                let line = Row { file: "tasks.csv", line: row.line };
                verdict.report(violation(Rule::Members, time, row.job, text, line));
            }
            members.iter().for_each(|_| verdict.count_check(Rule::Members));
        }
    }

    /// What is wrong with the tasks of a group: a row, when, and what.
    fn faults<'a>(
        &self,
        at: usize,
        members: &[Ran<'a>],
        job: &TaskJob,
        platform: &Platform,
    ) -> Vec<(&'a TaskRow, Time, String)> {
        let mut faults = Vec::new();
        let over = |row: &TaskRow| row.outcome != Outcome::Unfinished;
        for (_, row) in members.iter().filter(|(_, row)| over(row)) {
            if let Some(start) = row.started.filter(|start| job.start.is_none_or(|begin| *start < begin)) {
                let begin =
                    job.start.map_or("never starts".to_owned(), |begin| format!("starts at {begin} s"));
                faults.push((*row, start, format!("starts at {start} s, and its group {begin}")));
            }
            if row.ended > job.end {
                let (ended, end) = (row.ended, job.end);
                faults.push((*row, ended, format!("ends at {ended} s, and its group at {end} s")));
            }
        }
        // What has run on several ways may have gone on in another order, and side by side with others.
        let own = job.partition.as_deref();
        let run = |member: &GroupMember| {
            own.and_then(|class| member.by_class.get(class)).copied().unwrap_or(member.run)
        };
        if job.attempts <= 1 || members.iter().all(|(member, _)| member.by_class.is_empty()) {
            faults.extend(self.too_many(at, members));
            faults.extend(in_turn(members, run));
        }
        if let (Some(place), Some(start)) = (place(job, platform), job.start)
            && (job.attempts, job.outcome) == (1, Outcome::Completed)
        {
            faults.extend(members.iter().flat_map(|ran| self.too_fast(ran, start, place)));
        }
        faults
    }

    /// The first task that begins when its group has no processors for it.
    fn too_many<'a>(&self, at: usize, members: &[Ran<'a>]) -> Option<(&'a TaskRow, Time, String)> {
        let procs = i64::from(self.workflow.spec.tasks[at].procs);
        let mut changes = Vec::new();
        for (number, (member, row)) in members.iter().enumerate() {
            let Some(start) = row.last_start.filter(|start| *start < row.ended) else { continue };
            let needs = i64::from(self.workflow.ungrouped().tasks[member.task as usize].procs);
            changes.extend([(start, needs, number), (row.ended, -needs, number)]);
        }
        // What ends at an instant is over when the next begins.
        changes.sort_unstable();
        let mut held = 0;
        for (time, change, number) in changes {
            held += change;
            if held > procs {
                let row = members[number].1;
                return Some((
                    row,
                    time,
                    format!(
                        "starts at {time} s, when the tasks of its group need {held} processors of {procs}"
                    ),
                ));
            }
        }
        None
    }

    /// What a task has done sooner than its job could have.
    fn too_fast<'a>(
        &self,
        (member, row): &Ran<'a>,
        begin: Time,
        place: &PartitionSpec,
    ) -> Vec<(&'a TaskRow, Time, String)> {
        let overhead = place.at_best(self.workflow.overheads.job_overhead);
        let (from, to) = member.by_class.get(&place.name).copied().unwrap_or(member.run);
        let by_class = member.by_class.contains_key(&place.name);
        let least = |run: Span| match by_class {
            true => place.at_best(run),
            false => Work::of_runtime(run).span_at(place.fastest()).unwrap_or(Span::MAX),
        };
        // Instants are rounded to microseconds.
        let soon = |took: Span, least: Span| took + Span::from_micros(1) < least;
        let mut faults = Vec::new();
        let Some(start) = row.last_start else { return faults };
        let before = least(from) + overhead;
        if soon(start.since(begin), before) {
            let message = format!(
                "starts {} s after its group, which has {before} s of others to do before",
                start.since(begin)
            );
            faults.push((*row, start, message));
        }
        let run = least(Span::from_micros(to.micros().saturating_sub(from.micros())));
        if soon(row.ended.since(start), run) {
            let took = row.ended.since(start);
            faults.push((*row, start, format!("runs for {took} s, and takes {run} s at least where it is")));
        }
        faults
    }
}

/// The first task that begins before one has ended that its group has before it. `run` is when a task runs on the way of the group.
fn in_turn<'a>(
    members: &[Ran<'a>],
    run: impl Fn(&GroupMember) -> (Span, Span),
) -> Option<(&'a TaskRow, Time, String)> {
    let ran = || members.iter().filter(|(_, row)| row.last_start.is_some());
    let mut begin: Vec<&Ran<'a>> = ran().collect();
    let mut end = begin.clone();
    begin.sort_by_key(|(member, _)| run(member).0);
    end.sort_by_key(|(member, _)| run(member).1);
    let mut ended = end.into_iter().peekable();
    let mut last: Option<&TaskRow> = None;
    for (member, row) in begin {
        while let Some((_, before)) = ended.next_if(|(before, _)| run(before).1 <= run(member).0) {
            // A task of no length is over when it begins.
            let own = std::ptr::eq(*before, *row);
            last = last.into_iter().chain((!own).then_some(*before)).max_by_key(|row| row.ended);
        }
        let (Some(start), Some(before)) = (row.last_start, last) else { continue };
        if start < before.ended {
            let message = format!(
                "starts at {start} s, and `{}`, which its group has before it, ends at {} s",
                before.task, before.ended
            );
            return Some((*row, start, message));
        }
    }
    None
}

/// Where a job ran, if every job there goes at the speed of its processors, or of the fastest, or slower.
fn place<'p>(job: &TaskJob, platform: &'p Platform) -> Option<&'p PartitionSpec> {
    let part = platform.named(&job.site, job.partition.as_deref())?;
    (platform.rigid && platform.known).then_some(part)
}
