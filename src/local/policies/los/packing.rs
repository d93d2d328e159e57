//! Basic_DP and Reservation_DP: the set of waiting jobs that fills the free processors best.
//!
//! Both are defined by a table (Shmueli and Feitelson 2005, Algorithms 1 and 3; Kumar et al. 2012, section III-A). `U[i][c][e]`
//! is the largest number of processors that a subset of the first `i` jobs can use, if `c` are free and `e` are spare at the
//! freeze end:
//!
//! ```text
//! U[0][c][e] = 0
//! U[i][c][e] = max(U[i-1][c][e], U[i-1][c - s_i][e - h_i] + s_i  if s_i <= c and h_i <= e)
//! ```
//!
//! where `s_i` is the size of job `i` and `h_i`, what it holds at the freeze end, is 0 or `s_i`. The subset is found by going
//! back from the last job, passing over a job wherever `U[i-1][c][e] = U[i][c][e]`: of subsets that use the same number of
//! processors, jobs nearer to the head of the queue are preferred.
//!
//! Because `h_i` is 0 or `s_i`, a sum of sizes is a sum over jobs that have ended by then plus a sum over jobs that have not, and
//! only the second is limited by `e`. So the table with three dimensions is equivalent to two sets of sums, one for each kind of
//! job, stored as rows of bits. The walk back checks whether the value `v` can still be reached without job `i`: whether there is
//! a sum `a` of jobs that hold, `a <= e`, with `v - a` a sum of jobs that do not. The tests compare this with the table.

use super::bits;

/// A candidate.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its size, in allocation units.
    pub units: u32,
    /// Whether it still holds its processors at the freeze end.
    pub holds: bool,
}

/// Computes which jobs to start, and keeps the memory of its rows from one search to the next.
#[derive(Clone, Debug, Default)]
pub struct Packer {
    /// Sums of jobs that hold their processors.
    holding: Vec<u64>,
    /// `n - sum` for the sums of jobs that do not hold theirs, `n` being the free units.
    passing: Vec<u64>,
    /// For each item, the row of its kind without the item and those after it.
    before: Vec<u64>,
}

impl Packer {
    /// Chooses among `items`, in the order of the queue, if `free` units are free now and `spare` of them may be held beyond the
    /// freeze end; writes the places of the chosen items into `chosen`, in ascending order.
    pub fn pack(&mut self, items: &[Item], free: u32, spare: u32, chosen: &mut Vec<usize>) {
        chosen.clear();
        let spare = spare.min(free);
        let can = |item: &Item| item.units <= if item.holds { spare } else { free };
        let (mut held, mut passed) = (0_u64, 0_u64);
        for item in items.iter().filter(|item| can(item)) {
            *(if item.holds { &mut held } else { &mut passed }) += u64::from(item.units);
        }
        if held + passed <= u64::from(free) && held <= u64::from(spare) {
            chosen.extend((0..items.len()).filter(|at| can(&items[*at])));
            return;
        }
        let width = bits::words(free);
        self.fill(items, free, width, can);
        let most = (held.min(u64::from(spare)) + passed).min(u64::from(free)) as u32;
        // The empty set has the sum 0, so a value is always found.
        let mut value = (0..=most).rev().find(|value| self.reaches(*value, free, spare)).unwrap_or(0);
        let mut spare = spare;
        for (at, item) in items.iter().enumerate().rev() {
            if value == 0 {
                break;
            }
            let before = &self.before[at * width..(at + 1) * width];
            let row = if item.holds { &mut self.holding } else { &mut self.passing };
            row.copy_from_slice(before);
            if !self.reaches(value, free, spare) {
                chosen.push(at);
                value -= item.units;
                spare -= if item.holds { item.units } else { 0 };
            }
        }
        chosen.reverse();
    }

    /// Computes all sums, and the rows before each item.
    fn fill(&mut self, items: &[Item], free: u32, width: usize, can: impl Fn(&Item) -> bool) {
        for row in [&mut self.holding, &mut self.passing] {
            row.clear();
            row.resize(width, 0);
        }
        bits::insert(&mut self.holding, 0);
        bits::insert(&mut self.passing, free);
        self.before.clear();
        for item in items {
            let row = if item.holds { &mut self.holding } else { &mut self.passing };
            self.before.extend_from_slice(row);
            match (can(item), item.holds) {
                (false, _) => {}
                (true, true) => bits::add_shifted_up(row, item.units),
                (true, false) => bits::add_shifted_down(row, item.units),
            }
        }
    }

    /// True if so many units can be used, at most `spare` of them by jobs that hold.
    fn reaches(&self, value: u32, free: u32, spare: u32) -> bool {
        // `value - a` is a sum of jobs that do not hold exactly if `free - value + a` is in the row.
        bits::meets(&self.holding, &self.passing, free - value, spare.min(value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table by its definition, and the walk back.
    fn slow(items: &[Item], free: u32, spare: u32) -> Vec<usize> {
        let (n, m) = (free as usize, spare as usize);
        let mut table = vec![vec![vec![0_u32; m + 1]; n + 1]; items.len() + 1];
        for (i, item) in (1..).zip(items) {
            let size = item.units as usize;
            let held = if item.holds { size } else { 0 };
            for c in 0..=n {
                for e in 0..=m {
                    let bypassed = table[i - 1][c][e];
                    let fits = size <= c && held <= e;
                    let selected = if fits { table[i - 1][c - size][e - held] + item.units } else { 0 };
                    table[i][c][e] = bypassed.max(selected);
                }
            }
        }
        let (mut c, mut e) = (n, m);
        let mut chosen = Vec::new();
        for (at, item) in items.iter().enumerate().rev() {
            let i = at + 1;
            if table[i][c][e] != table[i - 1][c][e] {
                chosen.push(at);
                c -= item.units as usize;
                e -= if item.holds { item.units as usize } else { 0 };
            }
        }
        chosen.reverse();
        chosen
    }

    /// The largest number of units that any subset uses.
    fn brute(items: &[Item], free: u32, spare: u32) -> u32 {
        let sums = (0_u32..1 << items.len()).filter_map(|subset| {
            let of = |holds: bool| -> u32 {
                let taken = items
                    .iter()
                    .enumerate()
                    .filter(|(at, item)| subset >> at & 1 == 1 && (!holds || item.holds));
                taken.map(|(_, item)| item.units).sum()
            };
            (of(false) <= free && of(true) <= spare).then(|| of(false))
        });
        sums.max().unwrap_or(0)
    }

    fn pack(items: &[Item], free: u32, spare: u32) -> Vec<usize> {
        let mut chosen = Vec::new();
        Packer::default().pack(items, free, spare, &mut chosen);
        chosen
    }

    fn passing(sizes: &[u32]) -> Vec<Item> {
        sizes.iter().map(|units| Item { units: *units, holds: false }).collect()
    }

    #[test]
    fn of_equal_sums_the_one_nearer_to_the_head_is_chosen() {
        // Going back passes over the third item, then over none: the second alone fills the three units.
        assert_eq!(pack(&passing(&[1, 3, 2]), 3, 0), [1]);
        assert_eq!(pack(&passing(&[3, 1, 2]), 3, 0), [0]);
        assert_eq!(pack(&passing(&[2, 2, 2]), 4, 0), [0, 1]);
        // Figure 2 of Kumar et al. 2012.
        assert_eq!(pack(&passing(&[7, 4, 6]), 10, 0), [1, 2]);
    }

    #[test]
    fn what_holds_is_limited_by_what_is_spare() {
        let item = |units, holds| Item { units, holds };
        assert_eq!(pack(&[item(4, true), item(3, true), item(2, false)], 6, 3), [1, 2]);
        assert_eq!(pack(&[item(4, true), item(3, true), item(2, false)], 6, 4), [0, 2]);
        assert_eq!(pack(&[item(4, true)], 6, 3), [0_usize; 0]);
    }

    fn items(most: u32, count: usize) -> impl Strategy<Value = Vec<Item>> {
        let item = (1..=most, any::<bool>()).prop_map(|(units, holds)| Item { units, holds });
        proptest::collection::vec(item, 0..=count)
    }

    proptest! {
        #[test]
        fn agrees_with_the_table(items in items(12, 14), free in 0_u32..40, spare in 0_u32..40) {
            prop_assert_eq!(pack(&items, free, spare), slow(&items, free, spare));
        }

        /// Sums across the boundaries of words, with rows that are reused.
        #[test]
        fn agrees_with_the_table_on_wide_machines(
            queues in proptest::collection::vec((items(90, 8), 60_u32..200, 0_u32..200), 1..4),
        ) {
            let mut packer = Packer::default();
            for (items, free, spare) in queues {
                let mut chosen = Vec::new();
                packer.pack(&items, free, spare, &mut chosen);
                prop_assert_eq!(chosen, slow(&items, free, spare));
            }
        }

        #[test]
        fn uses_as_much_as_any_subset_does(items in items(20, 10), free in 0_u32..60, spare in 0_u32..60) {
            let chosen = pack(&items, free, spare);
            let used: u32 = chosen.iter().map(|at| items[*at].units).sum();
            prop_assert_eq!(used, brute(&items, free, spare));
        }
    }
}
