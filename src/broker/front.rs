//! The front of a planning: what a policy with several objectives chose from, and where the schedules put a traced job.

use super::GridView;
use crate::model::{FrontPoint, FrontRecord, JobId, Objective, PoolId};
use crate::units::Time;

/// The schedules of a front, by what chose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Front {
    points: Vec<FrontPoint>,
    /// For each point, the place of its schedule among those that were given.
    places: Vec<usize>,
}

/// How a schedule was chosen from a front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenBy {
    /// The name of the value that is least in the chosen schedule.
    pub value: &'static str,
    /// The rule, in a few words that follow "chosen by".
    pub rule: String,
}

/// What is known of a planning beside its front.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlanningFacts {
    /// Its number, from 1.
    pub number: u64,
    /// The number of tasks that the schedules place.
    pub tasks: u64,
    /// The number of schedules that were evaluated.
    pub evaluations: u64,
}

/// The front of the planning that assigned a traced job.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedFront {
    /// The planning.
    pub planning: PlanningFacts,
    /// The objectives.
    pub objectives: &'static [Objective],
    /// How the first schedule was chosen.
    pub chosen_by: ChosenBy,
    /// The schedules, the chosen one first.
    pub schedules: Vec<TracedSchedule>,
}

/// A schedule of a front, as it concerns a traced job.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedSchedule {
    /// The pool where it puts the job; `None` if it does not place it.
    pub pool: Option<PoolId>,
    /// When the job starts there.
    pub start: Time,
    /// When it ends there.
    pub end: Time,
    /// What chose.
    pub value: f64,
    /// Its objectives.
    pub objectives: Vec<f64>,
}

/// Where a schedule puts a job: the place of the pool among the pools, start and end.
pub type Put = (usize, Time, Time);

impl Front {
    /// The front of schedules with these objectives, of which none dominates another; `values` are what chooses, the least of them, the first among
    /// equals. Of schedules with the same objectives the first is in the front. What is not finite is left out.
    pub fn new(schedules: &[&[f64]], values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..schedules.len().min(values.len())).collect();
        order.retain(|at| values[*at].is_finite() && schedules[*at].iter().all(|value| value.is_finite()));
        order.sort_by(|one, other| values[*one].total_cmp(&values[*other]));
        let mut front = Self::default();
        for at in order {
            // The same objectives have the same value.
            let mut alike = front.points.iter().rev().take_while(|point| point.value == values[at]);
            if alike.all(|point| point.objectives != schedules[at]) {
                front.points.push(FrontPoint { value: values[at], objectives: schedules[at].to_vec() });
                front.places.push(at);
            }
        }
        front
    }

    /// The places of its schedules among those that were given, the chosen one first.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// The schedules, the chosen one first.
    pub fn points(&self) -> &[FrontPoint] {
        &self.points
    }
}

impl GridView<'_> {
    /// Records the front of a planning, before its plan is written into the view. Where each schedule `puts` a job, by its place in the front, is only asked
    /// if a job is traced. A front without schedules is none.
    pub fn compared(
        &mut self,
        front: Front,
        planning: PlanningFacts,
        objectives: &'static [Objective],
        chosen_by: ChosenBy,
        puts: impl Fn(JobId, usize) -> Option<Put>,
    ) {
        let PlanningFacts { number, tasks, evaluations } = planning;
        if front.points.is_empty() {
            return;
        }
        if let Some(trace) = &mut self.trace {
            let pools = &*self.pools;
            let schedule = |(at, point): (usize, &FrontPoint)| {
                let put = puts(trace.job, at).filter(|(pool, ..)| *pool < pools.len());
                let (start, end) = put.map_or((Time::NEVER, Time::NEVER), |(_, start, end)| (start, end));
                let pool = put.map(|(pool, ..)| pools[pool].facts.id);
                let FrontPoint { value, objectives } = point.clone();
                TracedSchedule { pool, start, end, value, objectives }
            };
            let schedules = front.points.iter().enumerate().map(schedule).collect();
            trace.front = Some(TracedFront { planning, objectives, chosen_by, schedules });
        }
        let points = front.points;
        self.front =
            Some(Box::new(FrontRecord { at: self.now, planning: number, tasks, evaluations, points }));
    }

    /// Takes the front that the policy has recorded, if it has.
    pub fn take_front(&mut self) -> Option<Box<FrontRecord>> {
        self.front.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_is_sorted_by_what_chose_and_has_no_point_twice() {
        let schedules: [&[f64]; 6] =
            [&[3.0, 1.0], &[1.0, 3.0], &[2.0, 2.0], &[1.0, 3.0], &[3.0, 1.0], &[f64::NAN, 0.0]];
        let values = [0.5, 0.25, 0.5, 0.25, 0.5, 0.0];
        let front = Front::new(&schedules, &values);
        assert_eq!(front.places(), [1, 0, 2], "the first of equals stays, also between points of one value");
        let points: Vec<(f64, &[f64])> =
            front.points().iter().map(|point| (point.value, &point.objectives[..])).collect();
        assert_eq!(points, [(0.25, &[1.0, 3.0][..]), (0.5, &[3.0, 1.0]), (0.5, &[2.0, 2.0])]);
        assert_eq!(Front::new(&[], &[]), Front::default());
    }
}
