//! The least of many keys that change one at a time.

/// A tournament: each inner node holds the lesser of its two children, so that a change costs a walk to the root and the
/// least of all is at hand.
///
/// Keys are plain integers; two 64-bit comparisons without a branch are cheaper than any ordering of parts.
#[derive(Debug)]
pub(super) struct Least {
    /// Node 1 is the root, the children of `n` are `2n` and `2n + 1`, the leaves begin at `leaves`.
    nodes: Vec<u128>,
    leaves: usize,
}

impl Least {
    /// Nothing: the key of a place that never comes first.
    pub(super) const NONE: u128 = u128::MAX;

    /// So many places, all empty.
    pub(super) fn new(places: usize) -> Self {
        let leaves = places.next_power_of_two();
        Self { nodes: vec![Self::NONE; 2 * leaves], leaves }
    }

    /// The least key.
    pub(super) fn least(&self) -> u128 {
        self.nodes[1]
    }

    /// Gives a place another key.
    pub(super) fn set(&mut self, place: usize, key: u128) {
        let mut node = self.leaves + place;
        self.nodes[node] = key;
        while node > 1 {
            node /= 2;
            let least = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if self.nodes[node] == least {
                break;
            }
            self.nodes[node] = least;
        }
    }

    /// Tells all places with a key below `bound`, in order.
    pub(super) fn below(&self, bound: u128, mut found: impl FnMut(usize)) {
        // One node a level waits at most.
        let mut waiting = [1; usize::BITS as usize];
        let mut count = usize::from(self.nodes[1] < bound);
        while count > 0 {
            count -= 1;
            let node = waiting[count];
            if node >= self.leaves {
                found(node - self.leaves);
                continue;
            }
            for child in [2 * node + 1, 2 * node] {
                if self.nodes[child] < bound {
                    waiting[count] = child;
                    count += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_says_what_a_search_says(
            places in 1_usize..40,
            changes in vec((0_usize..40, 0_u128..50), 0..100),
            bound in 0_u128..60,
        ) {
            let mut fast = Least::new(places);
            let mut slow = vec![Least::NONE; places];
            for (place, key) in changes {
                let place = place % places;
                fast.set(place, key);
                slow[place] = key;
                prop_assert_eq!(fast.least(), *slow.iter().min().expect("there is a place"));
                let mut found = Vec::new();
                fast.below(bound, |place| found.push(place));
                let searched: Vec<usize> = (0..places).filter(|place| slow[*place] < bound).collect();
                prop_assert_eq!(found, searched);
            }
        }
    }
}
