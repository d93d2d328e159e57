//! The limit of tunable selective suspension [Kettimuthu 2003, section 3.5]: a job whose expansion factor is more than so many times
//! the average slowdown of its category is not preempted.

use serde::{Deserialize, Serialize};

use crate::local::policies::preemptive::Factor;
use crate::local::{Quotient, times};
use crate::model::{ClassifiedBy, JobClasses};
use crate::units::Span;

/// The threshold of bounded slowdown (section 2.2).
const BOUND: Span = Span::from_secs(10);

/// The categories of Table 2.1: four of run times by four of sizes.
const CATEGORIES: &str = "kettimuthu-16";

/// The limit of each category.
#[derive(Clone, Debug)]
pub struct Limit {
    factor: Factor,
    classes: JobClasses,
    averages: Averages,
}

/// Average slowdowns by category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Averages {
    /// Of the jobs that have finished here.
    Running(Vec<Mean>),
    /// As they are written, in millionths.
    Given(Vec<u64>),
}

/// The mean bounded slowdown of the jobs of a category that have finished: 1 as long as none has.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mean {
    /// The sum in millionths, each rounded down.
    sum: u64,
    count: u64,
}

impl Limit {
    /// So many times the average of the jobs that have finished.
    pub fn running(factor: Factor) -> Self {
        let classes = classes();
        let averages = Averages::Running(vec![Mean::default(); classes.count()]);
        Self { factor, classes, averages }
    }

    /// So many times the averages of a table such as `2.6/4.76/13.01/34.07/…`: 16 numbers, by run time first, as in Table 2.3.
    ///
    /// # Errors
    /// A description of valid tables, which says what is wrong with this one.
    pub fn given(factor: Factor, table: &str) -> Result<Self, String> {
        let classes = classes();
        let expected = |problem: String| {
            Err(format!("`running`, or 16 average slowdowns such as `2.6/4.76/13.01/...`: {problem}"))
        };
        let written: Vec<&str> = table.split('/').map(str::trim).collect();
        if written.len() > classes.count() {
            return expected(format!("these are {}", written.len()));
        }
        let mut averages = Vec::with_capacity(classes.count());
        for at in 0..classes.count() {
            let category = classes.label(at);
            let Some(written) = written.get(at) else { return expected(format!("`{category}` has none")) };
            match written.parse::<Factor>() {
                Ok(average) if average >= Factor::whole(1) => averages.push(average.as_millionths()),
                Ok(_) => return expected(format!("that of `{category}` is below 1")),
                Err(_) => {
                    return expected(format!(
                        "that of `{category}` is no decimal number of at most 6 places"
                    ));
                }
            }
        }
        Ok(Self { factor, classes, averages: Averages::Given(averages) })
    }

    /// The category of a job by its run time (of a running job: its estimate) and its processors.
    pub(super) fn category(&self, run: Span, procs: u32) -> usize {
        let by = ClassifiedBy { runtime: run, estimate: run, procs };
        self.classes.index(self.classes.of(by, u32::MAX))
    }

    /// Takes note of a job that has finished. True if the average of the category that is returned with it has changed.
    pub(super) fn finished(&mut self, waited: Span, ran: Span, procs: u32) -> bool {
        let category = self.category(ran, procs);
        let Averages::Running(means) = &mut self.averages else { return false };
        let Some(mean) = means.get_mut(category) else { return false };
        let scaled = u128::from(waited.micros()) * u128::from(Factor::ONE);
        let slowdown = scaled / u128::from(ran.max(BOUND).micros()) + u128::from(Factor::ONE);
        mean.sum = mean.sum.saturating_add(u64::try_from(slowdown).unwrap_or(u64::MAX));
        mean.count += 1;
        true
    }

    /// Whether an expansion factor (given less 1) is more than the limit of a category.
    pub(super) fn is_past(&self, waited: Quotient, category: usize) -> bool {
        let (sum, count) = match &self.averages {
            Averages::Running(means) => match means.get(category) {
                Some(Mean { sum, count }) if *count > 0 => (*sum, *count),
                _ => (Factor::ONE, 1),
            },
            Averages::Given(averages) => (averages.get(category).copied().unwrap_or(Factor::ONE), 1),
        };
        // (w + e) / e > factor · sum / count, where factor and sum are millionths.
        let xfactor = u128::from(waited.num) + u128::from(waited.den);
        let left = times(xfactor.saturating_mul(count.into()), Factor::ONE * Factor::ONE);
        let right = times(u128::from(self.factor.as_millionths()) * u128::from(sum), waited.den);
        left > right
    }

    pub(super) fn averages(&self) -> &Averages {
        &self.averages
    }

    /// Continues with averages that were saved, unless they are given.
    pub(super) fn restore(&mut self, averages: Averages) {
        if let (Averages::Running(own), Averages::Running(saved)) = (&mut self.averages, averages)
            && own.len() == saved.len()
        {
            *own = saved;
        }
    }

    /// Forgets the jobs that have finished.
    pub(super) fn forget(&mut self) {
        if let Averages::Running(means) = &mut self.averages {
            means.fill(Mean::default());
        }
    }
}

fn classes() -> JobClasses {
    CATEGORIES.parse().expect("it is a preset")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "2.6/4.76/13.01/34.07/1.26/1.76/3.04/7.14/1.13/1.43/1.88/1.63/1.03/1.05/1.09/1.15";

    fn factor(waited: u64, estimate: u64) -> Quotient {
        Quotient { num: waited, den: estimate }
    }

    #[test]
    fn a_table_is_by_run_time_first() {
        let limit = Limit::given("1.5".parse().unwrap(), TABLE).unwrap();
        // A very short job on 33 processors: 1.5 × 34.07 = 51.105.
        let category = limit.category(Span::from_secs(600), 33);
        assert!(!limit.is_past(factor(50_105, 1_000), category), "exactly the limit");
        assert!(limit.is_past(factor(50_106, 1_000), category));
        // A very long one on 1: 1.5 × 1.03 = 1.545.
        let category = limit.category(Span::from_secs(28_801), 1);
        assert!(!limit.is_past(factor(545, 1_000), category));
        assert!(limit.is_past(factor(546, 1_000), category));
    }

    #[test]
    fn a_table_with_too_few_says_which_category_has_none() {
        let wrong = |table: &str| Limit::given(Factor::whole(1), table).unwrap_err();
        assert!(wrong(&TABLE[..TABLE.len() - 5]).ends_with("`VL VW` has none"), "{}", wrong("1"));
        assert!(wrong("2/3/x").ends_with("that of `VS W` is no decimal number of at most 6 places"));
        assert!(wrong("2/0.9").ends_with("that of `VS N` is below 1"));
        assert!(wrong(&format!("{TABLE}/1")).ends_with("these are 17"));
    }

    #[test]
    fn the_mean_is_of_bounded_slowdowns_by_actual_run_time() {
        let mut limit = Limit::running("1.5".parse().unwrap());
        let category = limit.category(Span::from_secs(60), 1);
        assert!(!limit.is_past(factor(1, 2), category), "1.5 × 1: none has finished");
        assert!(limit.is_past(factor(501, 1_000), category));
        // (30 + 10) / 10 = 4, and (60 + 60) / 60 = 2: 3 in the mean, and a limit of 4.5.
        assert!(limit.finished(Span::from_secs(30), Span::from_secs(5), 1));
        assert!(limit.finished(Span::from_secs(60), Span::from_secs(60), 1));
        // Of another category.
        assert!(limit.finished(Span::from_secs(9_000), Span::from_secs(60), 2));
        assert!(!limit.is_past(factor(7, 2), category));
        assert!(limit.is_past(factor(3_501, 1_000), category));
        limit.forget();
        assert!(limit.is_past(factor(501, 1_000), category));
    }
}
