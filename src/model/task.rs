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
    /// Its times on machines of a class, where they do not follow from their speed.
    pub by_class: BTreeMap<String, TaskTimes>,
    /// If the machines to which it was assigned last are of such a class: its work there, and the work that the estimate covers, such that it
    /// takes exactly these times at their speed.
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
    /// If the machines to which it was assigned last are of such a class: the work of the job up to there.
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

impl Job {
    fn task(&self) -> Option<&TaskContext> {
        self.grid.as_ref()?.task.as_deref()
    }

    /// Its work and the work that its estimate covers, at the machines to which it was assigned last.
    #[inline]
    pub fn works(&self) -> (Work, Work) {
        let here = self.task().and_then(|task| task.here);
        here.unwrap_or_else(|| (Work::of_runtime(self.runtime), Work::of_runtime(self.estimate)))
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

    /// Notes that it is assigned to machines of this class and speed. The share of its work that checkpoints have kept stays.
    pub(crate) fn assigned_to(&mut self, class: &str, speed: Rate) {
        let (before, times) = (self.works().0, self.times_on(class));
        let Some(grid) = self.grid.as_deref_mut() else { return };
        let Some(task) = grid.task.as_deref_mut().filter(|task| !task.by_class.is_empty()) else { return };
        task.here = times.map(|times| (work_of(times.runtime, speed), work_of(times.estimate, speed)));
        if let Some(marks) = &mut task.marks {
            let here = |runs: &Vec<(Span, Span)>| {
                runs.iter().map(|run| (work_of(run.0, speed), work_of(run.1, speed))).collect()
            };
            marks.here = marks.by_class.get(class).map(here);
        }
        let kept = grid.kept;
        let now = self.works().0;
        if let Some(grid) = self.grid.as_deref_mut().filter(|_| kept > Work::ZERO && now != before) {
            // In microseconds at the reference speed, so that products fit.
            let [kept, now, before] = [kept, now, before].map(|work| work.units() >> Rate::BITS);
            grid.kept = Work::from_units((kept * now / before.max(1)) << Rate::BITS);
        }
    }

    /// Sets its run time and estimate at the reference speed, which hold from now on.
    pub(crate) fn set_times(&mut self, runtime: Span, estimate: Span) {
        (self.runtime, self.estimate) = (runtime, estimate);
        if let Some(task) = self.grid.as_mut().and_then(|grid| grid.task.as_mut()) {
            task.here = None;
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
    fn the_share_that_checkpoints_have_kept_stays() {
        let mut job = job(&[("fast", 10), ("slow", 40)]);
        job.assigned_to("fast", Rate::FULL);
        job.grid.as_mut().unwrap().kept = Work::of_runtime(Span::from_secs(5));
        job.assigned_to("slow", Rate::FULL);
        assert_eq!(job.grid.as_ref().unwrap().kept, Work::of_runtime(Span::from_secs(20)));
        job.assigned_to("other", Rate::FULL);
        assert_eq!(job.grid.as_ref().unwrap().kept, Work::of_runtime(Span::from_secs(50)));
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
