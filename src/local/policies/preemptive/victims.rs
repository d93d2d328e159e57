//! Which of enough victims are superfluous [Kettimuthu 2003, section 3.3].

use crate::model::JobKey;

/// A running job that may be suspended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(in crate::local::policies) struct Victim {
    pub(in crate::local::policies) job: JobKey,
    /// The processors that it would free.
    pub(in crate::local::policies) procs: u32,
}

/// Which victims go on running first, where some are superfluous.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Dropped {
    /// Those with the most processors, among equals those with the largest expansion factor.
    #[default]
    Largest,
    /// Those with the fewest processors, among equals those with the largest expansion factor.
    Smallest,
    /// Those with the largest expansion factor.
    Last,
}

impl Dropped {
    pub(in crate::local::policies) const NAMES: [(&'static str, Self); 3] =
        [("largest", Self::Largest), ("smallest", Self::Smallest), ("last", Self::Last)];

    /// Leaves, of victims in ascending order of expansion factor, so many that they free `lacking` processors, and that none is superfluous: without
    /// any of them too few would be free.
    pub(in crate::local::policies) fn reduce(self, victims: &mut Vec<Victim>, lacking: u32) {
        let freed: u64 = victims.iter().map(|victim| u64::from(victim.procs)).sum();
        let mut spare = freed.saturating_sub(lacking.into());
        // One with more processors than are spare can never be dropped.
        if victims.iter().all(|victim| u64::from(victim.procs) > spare) {
            return;
        }
        let mut order: Vec<usize> = (0..victims.len()).rev().collect();
        match self {
            Self::Largest => order.sort_by_key(|at| std::cmp::Reverse(victims[*at].procs)),
            Self::Smallest => order.sort_by_key(|at| victims[*at].procs),
            Self::Last => {}
        }
        let mut stays = vec![true; victims.len()];
        for at in order {
            let procs = u64::from(victims[at].procs);
            if procs <= spare {
                spare -= procs;
                stays[at] = false;
            }
        }
        let mut stays = stays.into_iter();
        victims.retain(|_| stays.next().unwrap_or(true));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::search::tests::cases;

    fn reduced(dropped: Dropped, procs: &[u32], lacking: u32) -> Vec<u32> {
        let mut victims =
            (0..).zip(procs).map(|(job, procs)| Victim { job: JobKey(job), procs: *procs }).collect();
        dropped.reduce(&mut victims, lacking);
        victims.into_iter().map(|victim| victim.procs).collect()
    }

    #[test]
    fn the_rule_says_who_goes_on() {
        let all = [3, 2, 1, 4];
        // 10 are freed and 4 needed, so 6 are spare.
        assert_eq!(reduced(Dropped::Largest, &all, 4), [3, 1], "4 go on, then 2; 3 and 1 cannot");
        assert_eq!(reduced(Dropped::Smallest, &all, 4), [4], "1, 2 and 3 go on");
        assert_eq!(reduced(Dropped::Last, &all, 4), [3, 2], "4 go on, then 1; 2 and 3 cannot");
        assert_eq!(reduced(Dropped::Largest, &all, 10), all, "all are needed");
    }

    proptest! {
        #![proptest_config(cases(256))]

        /// The printed condition: enough, and without any of them too few.
        #[test]
        fn none_is_superfluous(procs in proptest::collection::vec(1_u32..20, 1..12), share in 0_u32..=100) {
            let all: u32 = procs.iter().sum();
            let lacking = (all * share / 100).max(1);
            for (_, dropped) in Dropped::NAMES {
                let left = reduced(dropped, &procs, lacking);
                let freed: u32 = left.iter().sum();
                prop_assert!(freed >= lacking);
                prop_assert!(left.iter().all(|one| freed - one < lacking));
            }
        }
    }
}
