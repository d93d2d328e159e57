//! The minimum of many keys that change one at a time.

/// The number of children of a node.
const WIDTH: usize = 8;

/// A tournament among keys: each node holds the least of its eight children, so a change costs a few steps towards the
/// root, and the least of all keys is always known.
///
/// Keys are plain integers of 128 bits: comparing them costs no branch.
#[derive(Debug)]
pub(super) struct MinTree {
    /// The keys, eight to a node, then the least of each node, and so on; the last level is one node.
    levels: Vec<Vec<[u128; WIDTH]>>,
    least: u128,
}

impl MinTree {
    /// The key of an empty place: greater than all others.
    pub(super) const NONE: u128 = u128::MAX;

    /// A tree of `places` places, all empty.
    pub(super) fn new(places: usize) -> Self {
        let mut levels = Vec::new();
        let mut nodes = places;
        while nodes > 1 || levels.is_empty() {
            nodes = nodes.div_ceil(WIDTH).max(1);
            levels.push(vec![[Self::NONE; WIDTH]; nodes]);
        }
        Self { levels, least: Self::NONE }
    }

    /// The least key.
    pub(super) fn least(&self) -> u128 {
        self.least
    }

    /// Changes the key of a place.
    pub(super) fn set(&mut self, place: usize, key: u128) {
        let (mut place, mut key) = (place, key);
        for level in 0..self.levels.len() {
            let parent = place / WIDTH;
            let above = self.levels.get(level + 1).and_then(|above| above.get(parent / WIDTH));
            let before = above.map_or(self.least, |above| above[parent % WIDTH]);
            let node = &mut self.levels[level][parent];
            node[place % WIDTH] = key;
            // The other keys matter only if this one was the least and no longer is.
            key = if key <= before { key } else { least(node) };
            if key == before {
                return;
            }
            place = parent;
        }
        self.least = key;
    }

    /// Calls `found` for all places with a key of at most `bound`, in order.
    pub(super) fn up_to(&self, bound: u128, mut found: impl FnMut(usize)) {
        if self.least <= bound {
            self.search(self.levels.len() - 1, 0, bound, &mut found);
        }
    }

    fn search(&self, level: usize, node: usize, bound: u128, found: &mut impl FnMut(usize)) {
        let Some(keys) = self.levels[level].get(node) else { return };
        for (at, key) in keys.iter().enumerate() {
            if *key <= bound {
                let child = WIDTH * node + at;
                if level == 0 { found(child) } else { self.search(level - 1, child, bound, found) }
            }
        }
    }
}

fn least(node: &[u128; WIDTH]) -> u128 {
    node.iter().fold(MinTree::NONE, |least, key| least.min(*key))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_says_what_a_search_says(
            places in 1_usize..150,
            changes in vec((0_usize..150, 0_u128..50), 0..200),
            bound in 0_u128..60,
        ) {
            let mut fast = MinTree::new(places);
            let mut slow = vec![MinTree::NONE; places];
            for (place, key) in changes {
                let place = place % places;
                fast.set(place, key);
                slow[place] = key;
                prop_assert_eq!(fast.least(), *slow.iter().min().expect("there is a place"));
                let mut found = Vec::new();
                fast.up_to(bound, |place| found.push(place));
                let searched: Vec<usize> = (0..places).filter(|place| slow[*place] <= bound).collect();
                prop_assert_eq!(found, searched);
            }
        }
    }
}
