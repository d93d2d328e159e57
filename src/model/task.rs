//! What a task of a workflow has that other jobs have not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Faults, GroupMember, Job, Needs};
use crate::units::{Rate, Span, Time, Work};

/// What a job has that is a task of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskContext {
    /// Whether it may run longer than its estimate everywhere.
    pub overrun: bool,
    /// The part of its times, at its beginning, that takes as long at any speed.
    pub overhead: Span,
    /// Its times on machines of a class, where they do not follow from their speed.
    pub by_class: BTreeMap<String, TaskTimes>,
    /// If its times at the machines to which it was assigned last do not follow from their speed alone: its work there, and the work that the
    /// estimate covers, such that it takes exactly these times at their speed.
    pub here: Option<(Work, Work)>,
    /// The tasks that it consists of, if it is a group.
    pub marks: Option<Marks>,
    /// How its attempts fail by themselves, if they may.
    pub faults: Option<Faults>,
    /// What it needs of machines beyond processors.
    pub needs: Needs,
}

/// The marks on the way of a job that is a group of tasks: where each of these begins and ends, and when the job was there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    /// For each task where it begins and ends: run times at the reference speed, from the start of the job on.
    runs: Vec<(Span, Span)>,
    /// The same on machines of a class, where the job has a time of its own.
    by_class: BTreeMap<String, Vec<(Span, Span)>>,
    /// If the times of the job do not follow from the speed of the machines to which it was assigned last: its work up to there.
    here: Option<Vec<(Work, Work)>>,
    /// When the job passed them, as far as it has not lost that work since.
    passed: Vec<Passed>,
}

/// When a task of a group began and ended, as far as it has.
pub type Passed = (Option<Time>, Option<Time>);

impl Marks {
    /// Those of a group that begins after an overhead.
    pub fn of(members: &[GroupMember], overhead: Span) -> Self {
        let after = |run: (Span, Span)| (run.0 + overhead, run.1 + overhead);
        let mut by_class = BTreeMap::<String, Vec<(Span, Span)>>::new();
        for member in members {
            for (class, run) in &member.by_class {
                by_class.entry(class.clone()).or_default().push(after(*run));
            }
        }
        let runs = members.iter().map(|member| after(member.run)).collect();
        Self { runs, by_class, here: None, passed: vec![(None, None); members.len()] }
    }

    /// The work of the job up to the beginning and the end of the task at this place.
    pub(crate) fn work(&self, at: usize) -> (Work, Work) {
        let reference = || (Work::of_runtime(self.runs[at].0), Work::of_runtime(self.runs[at].1));
        self.here.as_ref().map_or_else(reference, |here| here[at])
    }

    /// The work of the job before any of its tasks begins, and where each of them begins and ends.
    fn way(&self) -> Vec<(Work, Work)> {
        let tasks = (0..self.passed.len()).map(|at| self.work(at));
        let first = tasks.clone().map(|(begin, _)| begin).min().unwrap_or(Work::ZERO);
        [(Work::ZERO, first)].into_iter().chain(tasks).collect()
    }

    /// Notes what the job passes. `when` says when it has done so much work in all, if it does so now.
    pub(crate) fn pass(&mut self, when: impl Fn(Work) -> Option<Time>) {
        for at in 0..self.passed.len() {
            let (begin, end) = self.work(at);
            let passed = &mut self.passed[at];
            passed.0 = passed.0.or_else(|| when(begin));
            passed.1 = passed.1.or_else(|| when(end));
        }
    }

    /// Forgets what the job has passed beyond the work that it has kept.
    pub(crate) fn lose(&mut self, kept: Work) {
        for at in 0..self.passed.len() {
            let (begin, end) = self.work(at);
            let passed = &mut self.passed[at];
            passed.0 = passed.0.filter(|_| begin < kept);
            passed.1 = passed.1.filter(|_| passed.0.is_some() && end <= kept);
        }
    }

    /// When the job passed each; all that it has not passed at `end`, if that is given.
    pub(crate) fn passed(&self, end: Option<Time>) -> Box<[Passed]> {
        self.passed.iter().map(|(from, to)| (from.or(end), to.or(end))).collect()
    }
}

/// The times of a task on machines of a class.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskTimes {
    /// How long it runs.
    pub runtime: Span,
    /// How long it is believed to run.
    pub estimate: Span,
}

/// What runs for a time at a speed.
fn work_of(time: Span, speed: Rate) -> Work {
    Work::from_units(u128::from(time.micros()) * u128::from(speed.units()))
}

/// The work that takes `overhead` at this speed, and then as long as the rest of a time does that is given at the reference speed.
fn work_after(overhead: Span, time: Span, speed: Rate) -> Work {
    Work::of_runtime(time - overhead) + work_of(overhead, speed)
}

/// The same share of `now` as a part is of `before`.
fn share(part: Work, before: Work, now: Work) -> Work {
    // In microseconds at the reference speed, so that products fit.
    let [part, now, before] = [part, now, before].map(|work| work.units() >> Rate::BITS);
    Work::from_units((part * now / before.max(1)) << Rate::BITS)
}

/// What a group keeps of its work where its tasks are elsewhere on its way: what it has not done on the one way it has not done on the other, and
/// of a task on which it was it keeps the share.
fn carried(kept: Work, before: &[(Work, Work)], now: &[(Work, Work)]) -> Work {
    let end = now.iter().map(|(_, end)| *end).max().unwrap_or(Work::ZERO);
    let left = before.iter().zip(now).filter(|((_, end), _)| *end > kept);
    let at = |((begin, end), (from, to)): (&(Work, Work), &(Work, Work))| match *begin < kept {
        true => *from + share(kept - *begin, *end - *begin, *to - *from),
        false => *from,
    };
    left.map(at).fold(end, Work::min)
}

impl Job {
    pub(crate) fn task(&self) -> Option<&TaskContext> {
        self.grid.as_ref()?.task.as_deref()
    }

    /// Its work and the work that its estimate covers, at the machines to which it was assigned last.
    #[inline]
    pub fn works(&self) -> (Work, Work) {
        let here = self.task().and_then(|task| task.here);
        here.unwrap_or_else(|| (Work::of_runtime(self.runtime), Work::of_runtime(self.estimate)))
    }

    /// This part of its work on all processors that it prefers, whatever it runs on: processors × work.
    #[inline]
    pub fn on_all(&self, work: Work) -> u128 {
        u128::from(self.size.preferred()) * work.units()
    }

    /// True if it is killed at its estimate nowhere.
    #[inline]
    pub fn may_overrun(&self) -> bool {
        self.task().is_some_and(|task| task.overrun)
    }

    /// Its times on machines of a class, if they do not follow from their speed.
    #[inline]
    pub fn times_on(&self, class: &str) -> Option<TaskTimes> {
        self.task()?.by_class.get(class).copied()
    }

    /// How long it is estimated to run on machines of a class and speed, if that does not follow from their speed alone.
    pub fn estimate_on(&self, class: &str, speed: Rate) -> Option<Span> {
        let overhead = self.task()?.overhead;
        let after = || work_after(overhead, self.estimate, speed).span_at(speed).unwrap_or(Span::MAX);
        let own = self.times_on(class).map(|times| times.estimate);
        own.or_else(|| (!overhead.is_zero()).then(after))
    }

    /// Notes that it is assigned to machines of this class and speed. The share of its work that checkpoints have kept stays.
    pub(crate) fn assigned_to(&mut self, class: &str, speed: Rate) {
        let (before, times) = (self.works().0, self.times_on(class));
        let passes = self.kept_on_the_way();
        let (runtime, estimate) = (self.runtime, self.estimate);
        let Some(grid) = self.grid.as_deref_mut() else { return };
        let fixed = |task: &TaskContext| !task.by_class.is_empty() || !task.overhead.is_zero();
        let Some(task) = grid.task.as_deref_mut().filter(|task| fixed(task)) else { return };
        let overhead = Some(task.overhead).filter(|overhead| !overhead.is_zero());
        task.here = match (times, overhead) {
            (Some(times), _) => Some((work_of(times.runtime, speed), work_of(times.estimate, speed))),
            (None, Some(own)) => Some((work_after(own, runtime, speed), work_after(own, estimate, speed))),
            (None, None) => None,
        };
        if let Some(marks) = &mut task.marks {
            let here = |runs: &[(Span, Span)], work: &dyn Fn(Span) -> Work| {
                runs.iter().map(|(from, to)| (work(*from), work(*to))).collect()
            };
            marks.here = match (marks.by_class.get(class), overhead) {
                (Some(runs), _) => Some(here(runs, &|time| work_of(time, speed))),
                (None, Some(own)) => Some(here(&marks.runs, &|time| work_after(own, time, speed))),
                (None, None) => None,
            };
        }
        let now = self.works().0;
        let Some(grid) = self.grid.as_deref_mut().filter(|grid| grid.kept > Work::ZERO) else { return };
        if let (Some(before), Some(marks)) = (passes, grid.task.as_mut().and_then(|task| task.marks.as_mut()))
        {
            grid.kept = carried(grid.kept, &before, &marks.way());
            marks.lose(grid.kept);
        } else if now != before {
            grid.kept = share(grid.kept, before, now);
        }
    }

    /// The way of a group that has kept work, at the machines to which it was assigned last.
    fn kept_on_the_way(&self) -> Option<Vec<(Work, Work)>> {
        let grid = self.grid.as_deref().filter(|grid| grid.kept > Work::ZERO)?;
        Some(grid.task.as_deref()?.marks.as_ref()?.way())
    }

    /// Sets its run time and estimate at the reference speed, which hold from now on.
    pub(crate) fn set_times(&mut self, runtime: Span, estimate: Span) {
        (self.runtime, self.estimate) = (runtime, estimate);
        if let Some(task) = self.grid.as_mut().and_then(|grid| grid.task.as_mut()) {
            (task.here, task.overhead) = (None, Span::ZERO);
        }
    }

    /// Its run time and estimate at the reference speed, as they are at the machines to which it was assigned last.
    pub(crate) fn reference_times(&self) -> (Span, Span) {
        if self.task().is_none_or(|task| task.here.is_none()) {
            return (self.runtime, self.estimate);
        }
        let (work, estimated) = self.works();
        let span = |work: Work| work.span_at(Rate::FULL).unwrap_or(Span::MAX);
        (span(work), span(estimated))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GridContext;

    fn job(classes: &[(&str, u64)]) -> Job {
        let times =
            |secs: u64| TaskTimes { runtime: Span::from_secs(secs), estimate: Span::from_secs(2 * secs) };
        let by_class = classes.iter().map(|(class, secs)| ((*class).to_owned(), times(*secs))).collect();
        let task = TaskContext { by_class, ..TaskContext::default() };
        let grid = GridContext { task: Some(Box::new(task)), ..GridContext::default() };
        Job { grid: Some(Box::new(grid)), ..Job::rigid(1, Time::ZERO, 1, Span::from_secs(100)) }
    }

    #[test]
    fn on_a_class_of_its_table_a_task_takes_exactly_its_time_at_any_speed() {
        let mut job = job(&[("fast", 7), ("slow", 50)]);
        for (class, secs) in [("fast", 7), ("slow", 50)] {
            for speed in [Rate::ratio(1, 3), Rate::ratio(4, 5), Rate::FULL, Rate::ratio(17, 7)] {
                job.assigned_to(class, speed);
                let (work, estimated) = job.works();
                assert_eq!(work.span_at(speed), Some(Span::from_secs(secs)));
                assert_eq!(estimated.span_at(speed), Some(Span::from_secs(2 * secs)));
            }
        }
        job.assigned_to("other", Rate::ratio(1, 2));
        assert_eq!(job.works().0.span_at(Rate::ratio(1, 2)), Some(Span::from_secs(200)));
    }

    #[test]
    fn an_overhead_takes_as_long_at_any_speed() {
        let mut job = job(&[("own", 7)]);
        job.grid.as_mut().unwrap().task.as_mut().unwrap().overhead = Span::from_secs(3);
        (job.runtime, job.estimate) = (Span::from_secs(13), Span::from_secs(23));
        for (speed, took, estimated) in
            [(Rate::ratio(1, 2), 23, 43), (Rate::FULL, 13, 23), (Rate::ratio(2, 1), 8, 13)]
        {
            job.assigned_to("other", speed);
            let (work, believed) = job.works();
            assert_eq!(work.span_at(speed), Some(Span::from_secs(took)));
            assert_eq!(believed.span_at(speed), Some(Span::from_secs(estimated)));
            assert_eq!(job.estimate_on("other", speed), Some(Span::from_secs(estimated)));
        }
        job.assigned_to("own", Rate::ratio(1, 2));
        assert_eq!(job.works().0.span_at(Rate::ratio(1, 2)), Some(Span::from_secs(7)));
    }

    #[test]
    fn the_share_that_checkpoints_have_kept_stays() {
        let mut job = job(&[("fast", 10), ("slow", 40)]);
        job.assigned_to("fast", Rate::FULL);
        job.grid.as_mut().unwrap().kept = Work::of_runtime(Span::from_secs(5));
        job.assigned_to("slow", Rate::FULL);
        assert_eq!(job.grid.as_ref().unwrap().kept, Work::of_runtime(Span::from_secs(20)));
        job.assigned_to("other", Rate::FULL);
        assert_eq!(job.grid.as_ref().unwrap().kept, Work::of_runtime(Span::from_secs(50)));
    }

    /// Of 10 s and 10 s, one after the other after 2 s, that take 10 s and 100 s elsewhere, or 100 s and 10 s: what is done stays done, and no more.
    #[test]
    fn a_group_keeps_what_its_tasks_have_done() {
        let secs = |secs: u64| Work::of_runtime(Span::from_secs(secs));
        let way = |ends: [u64; 3]| {
            [(0, ends[0]), (ends[0], ends[1]), (ends[1], ends[2])].map(|(from, to)| (secs(from), secs(to)))
        };
        let [here, later, sooner] = [way([2, 12, 22]), way([4, 14, 114]), way([4, 104, 114])];
        for (kept, on_later, on_sooner) in
            [(0, 0, 0), (1, 2, 2), (7, 9, 54), (12, 14, 104), (17, 64, 109), (22, 114, 114)]
        {
            assert_eq!(carried(secs(kept), &here, &later), secs(on_later), "{kept}");
            assert_eq!(carried(secs(kept), &here, &sooner), secs(on_sooner), "{kept}");
        }
        // Side by side for 10 s and 20 s; elsewhere the first takes 40 s. The second has half of its work, and no more.
        let [here, there] =
            [[(0, 10), (0, 20)], [(0, 40), (0, 20)]].map(|way| way.map(|(from, to)| (secs(from), secs(to))));
        assert_eq!(carried(secs(10), &here, &there), secs(10));
    }

    /// A task without length at the place to which the job falls back is passed again as a whole.
    #[test]
    fn who_has_ended_has_begun() {
        let run = |from: u64, to: u64| (Span::from_secs(from), Span::from_secs(to));
        let member = |run| GroupMember { task: 0, run, by_class: BTreeMap::new() };
        let mut marks = Marks::of(&[run(0, 10), run(10, 10), run(10, 20)].map(member), Span::ZERO);
        marks.pass(|work| (work <= Work::of_runtime(Span::from_secs(15))).then_some(Time::from_secs(7)));
        marks.lose(Work::of_runtime(Span::from_secs(10)));
        let seven = Some(Time::from_secs(7));
        assert_eq!(*marks.passed(None), [(seven, seven), (None, None), (None, None)]);
    }
}
