//! Distributions of waits, responses and slowdowns, and what they are class by class.

/// A measured quantity of a job.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Wait,
    Response,
    Slowdown,
}

impl Quantity {
    pub(crate) const ALL: [Self; 3] = [Self::Wait, Self::Response, Self::Slowdown];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Response => "response time",
            Self::Slowdown => "bounded slowdown",
        }
    }
}

/// What is taken of the values of a group.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Statistic {
    /// Their mean.
    Mean,
    /// The largest: the worst case.
    Largest,
}

impl Statistic {
    /// The name of the statistic of a quantity.
    pub(crate) fn of(self, quantity: Quantity) -> String {
        let which = match (self, quantity) {
            (Self::Mean, _) => "mean",
            (Self::Largest, Quantity::Slowdown) => "largest",
            (Self::Largest, Quantity::Wait | Quantity::Response) => "longest",
        };
        format!("{which} {}", quantity.name())
    }
}

/// The jobs that count: the group of each, and its value of each [`Quantity`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured(Vec<(u16, [f64; 3])>);

impl Measured {
    /// Adds a job with its wait and response in microseconds.
    pub(crate) fn add(&mut self, group: usize, wait: u64, response: u64, slowdown: f64) {
        let group = u16::try_from(group).unwrap_or(u16::MAX);
        self.0.push((group, [wait as f64 / 1e6, response as f64 / 1e6, slowdown]));
    }

    /// Merges all groups into one.
    pub(crate) fn join_groups(&mut self) {
        self.0.iter_mut().for_each(|(group, _)| *group = 0);
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The values of the jobs in the groups that `wanted` selects, in rising order.
    pub(crate) fn sorted(&self, quantity: Quantity, wanted: impl Fn(usize) -> bool) -> Vec<f64> {
        let jobs = self.0.iter().filter(|(group, _)| wanted(usize::from(*group)));
        let mut values: Vec<f64> = jobs.map(|(_, values)| values[quantity as usize]).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    /// The number of jobs of each group, and the statistic of their values; 0 where there are none.
    pub(crate) fn of_groups(
        &self,
        quantity: Quantity,
        statistic: Statistic,
        groups: usize,
    ) -> Vec<(u64, f64)> {
        let mut found = vec![(0_u64, 0.0); groups];
        for (group, values) in &self.0 {
            if let Some((count, of)) = found.get_mut(usize::from(*group)) {
                let value = values[quantity as usize];
                *count += 1;
                *of = if statistic == Statistic::Mean { *of + value } else { f64::max(*of, value) };
            }
        }
        if statistic == Statistic::Mean {
            found.iter_mut().filter(|(count, _)| *count > 0).for_each(|(count, sum)| *sum /= *count as f64);
        }
        found
    }
}

/// Points of a cumulative distribution, few enough to be drawn: the share of `sorted` that is at most each value. They always
/// include the first and the last value.
pub(crate) fn ecdf(sorted: &[f64]) -> Vec<(f64, f64)> {
    const MOST: usize = 400;
    let count = sorted.len();
    let share = |place: usize| (place + 1) as f64 / count as f64;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let step = count.div_ceil(MOST).max(1);
    for place in (0..count).filter(|place| place % step == 0 || place + 1 == count) {
        // Of equal values the last one counts.
        let last = place + sorted[place..].partition_point(|value| *value <= sorted[place]) - 1;
        let point = (sorted[place], share(last));
        if points.last() != Some(&point) {
            points.push(point);
        }
    }
    points
}
