//! Priorities of classes of run times, with aging.

use thiserror::Error;

use crate::units::Span;

/// How priorities grow while jobs wait.
///
/// Huang 2004, section 5.3, raises the priority of waiting jobs after a time, and says neither after which nor by how much; what is usual here is
/// our choice.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Aging {
    /// After each such time; 0 if priorities do not grow.
    pub every: Span,
    /// By so much.
    pub by: u32,
    /// Up to this. A class that is above it stays where it is.
    pub most: u32,
}

impl Default for Aging {
    /// By 5 every 30 minutes, up to 15.
    fn default() -> Self {
        Self { every: Span::from_secs(30 * 60), by: 5, most: 15 }
    }
}

/// Priorities of jobs by their run time [Huang 2004, section 5.3]: the shorter, the higher. Four classes have 15, 10, 5 and 0 (special, short, medium and
/// long), three have 10, 5 and 0 (section 6.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Priorities {
    /// The longest run times of all classes but the last.
    bounds: Vec<Span>,
    aging: Aging,
}

/// Bounds that are no classes.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "classes of run times end at {before} s and then at {bound} s; each bound must be above the one before, and above 0"
)]
pub struct PrioritiesError {
    before: Span,
    bound: Span,
}

impl Priorities {
    /// What each class is above the next.
    pub const STEP: u32 = 5;

    /// Classes of run times up to each of these bounds, and one of all longer ones.
    ///
    /// # Errors
    /// [`PrioritiesError`] names the first bound that is not above the one before.
    pub fn new(bounds: Vec<Span>, aging: Aging) -> Result<Self, PrioritiesError> {
        let mut before = Span::ZERO;
        for bound in &bounds {
            if *bound <= before {
                return Err(PrioritiesError { before, bound: *bound });
            }
            before = *bound;
        }
        Ok(Self { bounds, aging })
    }

    /// How many classes there are.
    pub fn classes(&self) -> usize {
        self.bounds.len() + 1
    }

    /// The class of jobs that take so long: 0 is that of the shortest.
    pub fn class(&self, runtime: Span) -> usize {
        self.bounds.partition_point(|bound| *bound < runtime)
    }

    /// The priority of a job of this class that has waited so long.
    pub fn of(&self, class: usize, waited: Span) -> u32 {
        let base = self.base(class);
        let Aging { every, by, most } = self.aging;
        let steps = waited.micros().checked_div(every.micros()).unwrap_or(0);
        let grown = u64::from(base).saturating_add(steps.saturating_mul(by.into()));
        u32::try_from(grown).unwrap_or(u32::MAX).min(most.max(base))
    }

    /// After which wait the priority of a job of this class grows next; `None` if it does not grow any more.
    pub fn grows_after(&self, class: usize, waited: Span) -> Option<Span> {
        let Aging { every, by, most } = self.aging;
        let steps = waited.micros().checked_div(every.micros())?;
        let may_grow = by > 0 && self.of(class, waited) < most;
        let next = (steps + 1).checked_mul(every.micros()).map(Span::from_micros);
        next.filter(|_| may_grow)
    }

    fn base(&self, class: usize) -> u32 {
        let above = u32::try_from(self.bounds.len().saturating_sub(class)).unwrap_or(u32::MAX);
        above.saturating_mul(Self::STEP)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn mins(mins: u64) -> Span {
        Span::from_secs(mins * 60)
    }

    /// The bounds of case 1 of the thesis.
    fn four(aging: Aging) -> Priorities {
        Priorities::new(vec![mins(2), mins(5), mins(10)], aging).unwrap()
    }

    #[test]
    fn shorter_jobs_come_first_and_others_age() {
        let priorities = four(Aging::default());
        let class = |minutes| priorities.class(mins(minutes));
        assert_eq!([1, 2, 3, 5, 6, 10, 11, 600].map(class), [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!([0, 1, 2, 3].map(|class| priorities.of(class, Span::ZERO)), [15, 10, 5, 0]);
        // A long job after 29, 30, 59, 60, 90 and 900 minutes.
        let long = [29, 30, 59, 60, 90, 900].map(|waited| priorities.of(3, mins(waited)));
        assert_eq!(long, [0, 5, 5, 10, 15, 15]);
        assert_eq!(priorities.of(1, mins(30)), 15);
        assert_eq!(priorities.grows_after(3, mins(31)), Some(mins(60)));
        assert_eq!(
            [(3, 90), (0, 0)].map(|(class, waited)| priorities.grows_after(class, mins(waited))),
            [None, None]
        );
        // Three classes, as in section 6.7, and one.
        let three = Priorities::new(vec![mins(1), mins(30)], Aging::default()).unwrap();
        assert_eq!([0, 1, 2].map(|class| three.of(class, Span::ZERO)), [10, 5, 0]);
        let one = Priorities::new(vec![], Aging::default()).unwrap();
        assert_eq!((one.classes(), one.class(Span::MAX), one.of(0, Span::ZERO)), (1, 0, 0));
    }

    #[test]
    fn without_aging_nothing_grows() {
        for aging in [
            Aging { every: Span::ZERO, ..Aging::default() },
            Aging { by: 0, ..Aging::default() },
            Aging { most: 0, ..Aging::default() },
        ] {
            let priorities = four(aging);
            assert_eq!([0, 1, 2, 3].map(|class| priorities.of(class, Span::MAX)), [15, 10, 5, 0]);
            assert_eq!([0, 1, 2, 3].map(|class| priorities.grows_after(class, Span::ZERO)), [None; 4]);
        }
    }

    #[test]
    fn bounds_that_do_not_grow_are_told() {
        let said = |bounds: &[u64]| {
            Priorities::new(bounds.iter().map(|bound| mins(*bound)).collect(), Aging::default())
                .unwrap_err()
                .to_string()
        };
        assert!(said(&[2, 2]).starts_with("classes of run times end at 120 s and then at 120 s"));
        assert!(said(&[0]).contains("and then at 0 s"));
    }

    proptest! {
        /// Of one class the job that has waited longer never has the lower priority; and it is the same until it is said to grow.
        #[test]
        fn a_priority_grows_when_it_is_said_to(
            every in 0_u64..50, by in 0_u32..7, most in 0_u32..40, class in 0_usize..4, waited in 0_u64..300,
        ) {
            let priorities = four(Aging { every: Span::from_micros(every), by, most });
            let of = |waited| priorities.of(class, Span::from_micros(waited));
            prop_assert!(of(waited) <= of(waited + 1));
            let next = (waited + 1..500).find(|later| of(*later) != of(waited));
            prop_assert_eq!(priorities.grows_after(class, Span::from_micros(waited)), next.map(Span::from_micros));
        }
    }
}
