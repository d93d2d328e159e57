//! Sizes of moldable and malleable jobs: how they follow the load.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::Speedup;

/// The load of a machine [Huang 2004, section 6.9.1].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Load {
    /// All jobs fit beside each other, and can grow.
    Low,
    /// Neither low nor high.
    Normal,
    /// Not all jobs fit, even with as many on each processor as may be.
    High,
}

/// What jobs need of a machine, by which its load is classified (Figure 6-7).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// Processors of all running and waiting jobs, but for those that end before sizes are considered again.
    pub needed: u64,
    /// By how many processors the malleable ones among them would grow.
    pub growth: u64,
    /// Processors that there are.
    pub processors: u32,
    /// How many jobs may be on each.
    pub level: u32,
}

impl Demand {
    /// The load.
    pub fn load(&self) -> Load {
        let there_are = u64::from(self.processors);
        if self.needed.saturating_add(self.growth) < there_are {
            Load::Low
        } else if self.needed > there_are * u64::from(self.level) {
            Load::High
        } else {
            Load::Normal
        }
    }
}

/// The sizes of a job whose speedup flattens: its efficiency is 80 % up to the least, 65 % on the best and 50 % on the largest [Huang 2004, section 6.6].
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    least: u32,
    best: u32,
    most: u32,
}

/// Sizes that do not ascend.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("N_min = {least}, N_opt = {best} and N_max = {most} do not ascend from 1")]
pub struct SizesError {
    least: u32,
    best: u32,
    most: u32,
}

impl Sizes {
    /// The least, best and largest size: N_min, N_opt and N_max.
    ///
    /// # Errors
    /// [`SizesError`] if they do not ascend, or one is 0.
    pub fn new(least: u32, best: u32, most: u32) -> Result<Self, SizesError> {
        if least == 0 || least > best || best > most {
            return Err(SizesError { least, best, most });
        }
        Ok(Self { least, best, most })
    }

    /// Those of the workloads of the thesis (section 6.8), on a machine with so many processors: half and twice the best size.
    ///
    /// # Errors
    /// [`SizesError`] if the best size is 0 or more than there are.
    pub fn around(best: u32, processors: u32) -> Result<Self, SizesError> {
        Self::new((best / 2).max(1), best, best.saturating_mul(2).min(processors))
    }

    /// This size only.
    pub const fn only(size: u32) -> Self {
        Self { least: size, best: size, most: size }
    }

    /// N_min.
    pub const fn least(self) -> u32 {
        self.least
    }

    /// N_opt.
    pub const fn best(self) -> u32 {
        self.best
    }

    /// N_max.
    pub const fn most(self) -> u32 {
        self.most
    }

    /// The size of a job that starts (section 6.9.2): N_opt, or half way from it to what the load asks for.
    pub fn to_start(self, load: Load) -> u32 {
        self.towards(self.best, load)
    }

    /// The size of a malleable job that has `current` processors, when sizes follow the load (section 6.9.3): half way to N_max or to N_min.
    ///
    /// The thesis does not say how halves are rounded, but that N_max and N_min are reached in the end: up when a job grows, down when it shrinks. It
    /// stays between them.
    pub fn towards(self, current: u32, load: Load) -> u32 {
        let current = current.clamp(self.least, self.most);
        match load {
            Load::Low => current + (self.most - current).div_ceil(2),
            Load::Normal => current,
            Load::High => self.least + (current - self.least) / 2,
        }
    }

    /// The speedup on so many processors (Figure 6-6): linear between the three sizes.
    pub fn speedup(self) -> Speedup {
        Speedup::of_working_set(self.least, self.best, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    /// The sizes that a job has until it has come to rest.
    fn steps(sizes: Sizes, load: Load) -> Vec<u32> {
        let mut sequence = vec![sizes.best()];
        loop {
            let current = *sequence.last().unwrap();
            let next = sizes.towards(current, load);
            if next == current {
                return sequence;
            }
            sequence.push(next);
        }
    }

    #[test]
    fn jobs_shrink_to_the_least_size_and_grow_to_the_largest() {
        let sizes = Sizes::around(16, 64).unwrap();
        assert_eq!((sizes.least(), sizes.most()), (8, 32));
        assert_eq!(steps(sizes, Load::High), [16, 12, 10, 9, 8]);
        assert_eq!(steps(sizes, Load::Low), [16, 24, 28, 30, 31, 32]);
        assert_eq!(steps(sizes, Load::Normal), [16]);
        assert_eq!([Load::Low, Load::Normal, Load::High].map(|load| sizes.to_start(load)), [24, 16, 12]);
        // Every job comes to rest where it should.
        for best in 1..=64 {
            let sizes = Sizes::around(best, 64).unwrap();
            assert_eq!(steps(sizes, Load::High).last(), Some(&sizes.least()));
            assert_eq!(steps(sizes, Load::Low).last(), Some(&sizes.most()));
        }
    }

    #[test]
    fn the_speedup_has_the_points_of_the_thesis() {
        let sizes = Sizes::around(16, 64).unwrap();
        let on = |procs| sizes.speedup().on(procs).as_f64();
        for (procs, expected) in
            [(1, 0.8), (8, 6.4), (12, 8.4), (16, 10.4), (24, 13.2), (32, 16.0), (64, 16.0)]
        {
            assert!((on(procs) - expected).abs() < 1e-5, "on {procs}: {}", on(procs));
        }
        // Where N_opt is N_min or N_max too, the speedup of N_opt counts.
        for (best, processors) in [(1, 64), (64, 64)] {
            let sizes = Sizes::around(best, processors).unwrap();
            assert_eq!(sizes.speedup().on(best), Rate::ratio(65 * u64::from(best), 100));
            sizes.speedup().check().unwrap();
        }
    }

    #[test]
    fn sizes_that_do_not_ascend_are_told() {
        let said = |least, best, most| Sizes::new(least, best, most).unwrap_err().to_string();
        assert_eq!(said(9, 8, 16), "N_min = 9, N_opt = 8 and N_max = 16 do not ascend from 1");
        assert_eq!(said(4, 8, 7), "N_min = 4, N_opt = 8 and N_max = 7 do not ascend from 1");
        assert_eq!(said(0, 8, 7), "N_min = 0, N_opt = 8 and N_max = 7 do not ascend from 1");
        assert!(Sizes::around(0, 64).is_err() && Sizes::around(65, 64).is_err());
    }

    #[test]
    fn the_load_of_figure_6_7() {
        let load = |needed, growth| Demand { needed, growth, processors: 64, level: 5 }.load();
        assert_eq!(
            [(40, 23), (40, 24), (64, 0), (320, 999), (321, 0)].map(|(needed, growth)| load(needed, growth)),
            [Load::Low, Load::Normal, Load::Normal, Load::Normal, Load::High]
        );
        assert_eq!(load(u64::MAX, u64::MAX), Load::High);
    }
}
