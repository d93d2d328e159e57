//! Values kept for their quantiles: all of them while they are few, afterwards a sketch.

use serde::{Deserialize, Serialize};

use super::Exact;
use super::sketch::Sketch;

/// Up to this many jobs quantiles are exact; beyond, they come from sketches in constant memory.
pub const EXACT_QUANTILES: u64 = 1 << 19;

/// How quantiles were computed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantiles {
    /// The nearest rank among all values.
    #[default]
    Exact,
    /// The nearest rank in a sketch of three significant digits: at most 0.1 % above the exact value, never
    /// below it. The maximum is exact.
    Sketch,
}

/// How a quantity is encoded as 64 bits that sort like it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Scale {
    /// An integer, unchanged.
    #[default]
    Whole,
    /// A non-negative quotient, as the bits of a floating-point number.
    Quotient,
}

impl Scale {
    /// A sketch holds quotients in units of 2⁻²⁰.
    const UNIT: f64 = (1_u64 << 20) as f64;

    /// The integer that a sketch holds for a value, never below the value.
    fn rough(self, value: u64) -> u64 {
        match self {
            Self::Whole => value,
            // The cast saturates.
            Self::Quotient => libm::ceil(f64::from_bits(value) * Self::UNIT) as u64,
        }
    }

    fn value(self, rough: u64) -> u64 {
        match self {
            Self::Whole => rough,
            Self::Quotient => (rough as f64 / Self::UNIT).to_bits(),
        }
    }
}

/// Count, sum, maximum and quantiles of one quantity. The sum may be finer than the values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Distribution {
    scale: Scale,
    count: u64,
    sum: u128,
    max: u64,
    values: Values,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Values {
    All(Vec<u64>),
    Sketch(Sketch),
}

impl Default for Values {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl Distribution {
    pub(super) fn new(scale: Scale) -> Self {
        Self { scale, ..Self::default() }
    }

    #[inline]
    pub(super) fn add(&mut self, value: u64, addend: u128) {
        self.count += 1;
        self.sum = self.sum.saturating_add(addend);
        self.max = self.max.max(value);
        match &mut self.values {
            Values::All(values) => values.push(value),
            Values::Sketch(sketch) => sketch.add(self.scale.rough(value), 1),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
        match (&mut self.values, &other.values) {
            (Values::All(mine), Values::All(theirs)) => mine.extend_from_slice(theirs),
            (Values::All(_), Values::Sketch(_)) => {
                self.sketch();
                self.merge_values(&other.values);
            }
            (Values::Sketch(_), _) => self.merge_values(&other.values),
        }
    }

    /// Adds values to a sketch.
    fn merge_values(&mut self, other: &Values) {
        let Values::Sketch(sketch) = &mut self.values else { return };
        match other {
            Values::All(values) => values.iter().for_each(|value| sketch.add(self.scale.rough(*value), 1)),
            Values::Sketch(other) => sketch.merge(other),
        }
    }

    /// Replaces the values by a sketch of them.
    pub(super) fn sketch(&mut self) {
        if let Values::All(values) = &self.values {
            let mut sketch = Sketch::default();
            values.iter().for_each(|value| sketch.add(self.scale.rough(*value), 1));
            self.values = Values::Sketch(sketch);
        }
    }

    pub(super) const fn kind(&self) -> Quantiles {
        match self.values {
            Values::All(_) => Quantiles::Exact,
            Values::Sketch(_) => Quantiles::Sketch,
        }
    }

    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// The mean in units of `1 / unit`: one conversion of an exact sum, one division.
    pub(super) fn mean(&self, unit: f64) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / (self.count as f64 * unit))
    }

    /// The value of nearest rank: the ⌈percent × n / 100⌉-th smallest. It reorders the values.
    pub(super) fn quantile(&mut self, percent: u32) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(percent)).div_ceil(100).max(1);
        match &mut self.values {
            Values::All(values) if values.is_empty() => None,
            Values::All(values) => {
                let at = usize::try_from(rank - 1).unwrap_or(usize::MAX).min(values.len() - 1);
                Some(*values.select_nth_unstable(at).1)
            }
            Values::Sketch(sketch) => sketch.ranked(rank).map(|rough| self.scale.value(rough).min(self.max)),
        }
    }
}

/// A row of distributions for each class, which share one budget of exact values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ClassTable {
    columns: Vec<Scale>,
    cells: Vec<Distribution>,
    rows: u64,
    budget: u64,
}

impl ClassTable {
    /// Creates a table of the quantities `columns` in each of `classes` classes, exact up to `budget` rows in total.
    pub(super) fn new(classes: usize, columns: &[Scale], budget: u64) -> Self {
        let row = columns.iter().map(|scale| Distribution::new(*scale));
        let cells = std::iter::repeat_n(row, classes).flatten().collect();
        Self { columns: columns.to_vec(), cells, rows: 0, budget }
    }

    /// Adds a row to `class`: for each column the value, and the amount to add to the sum.
    #[inline]
    pub(super) fn add<const COLUMNS: usize>(&mut self, class: usize, row: [(u64, u128); COLUMNS]) {
        debug_assert_eq!(COLUMNS, self.columns.len());
        if self.rows == self.budget {
            self.sketch();
        }
        self.rows += 1;
        for (cell, (value, addend)) in self.cells[class * COLUMNS..].iter_mut().zip(row) {
            cell.add(value, addend);
        }
    }

    /// Adds a table of the same shape.
    pub(super) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        if self.rows > self.budget {
            self.sketch();
        }
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.merge(theirs);
        }
    }

    /// Replaces the values of all cells by sketches.
    pub(super) fn sketch(&mut self) {
        self.cells.iter_mut().for_each(Distribution::sketch);
    }

    pub(super) fn kind(&self) -> Quantiles {
        self.cells.first().map_or(Quantiles::Exact, Distribution::kind)
    }

    /// A copy of one cell, for computing quantiles.
    pub(super) fn cell(&self, class: usize, column: usize) -> Distribution {
        self.cells.get(class * self.columns.len() + column).cloned().unwrap_or_default()
    }

    /// A column over all classes.
    pub(super) fn whole(&self, column: usize) -> Distribution {
        let mut whole = Distribution::new(self.columns[column]);
        for cell in self.cells.iter().skip(column).step_by(self.columns.len()) {
            whole.merge(cell);
        }
        whole
    }
}

impl Exact for Distribution {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        match &mut self.values {
            Values::All(values) => each(values),
            // A sketch keeps its position among the vectors.
            Values::Sketch(_) => each(&mut Vec::new()),
        }
    }
}

impl Exact for ClassTable {
    fn exact(&mut self, each: &mut dyn FnMut(&mut Vec<u64>)) {
        self.cells.iter_mut().for_each(|cell| cell.exact(each));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sketch_is_saved_as_its_buckets(
            values in prop::collection::vec((any::<u64>(), 0_u32..64), 0..200), scale in any::<bool>(),
        ) {
            let mut distribution = Distribution::new(if scale { Scale::Whole } else { Scale::Quotient });
            distribution.sketch();
            for (value, shift) in &values {
                let value = if scale { value >> shift } else { ((value >> shift) as f64).to_bits() };
                distribution.add(value, u128::from(value));
            }
            let saved = postcard::to_allocvec(&distribution).unwrap();
            prop_assert!(saved.len() <= 50 + 5 * values.len(), "{} bytes", saved.len());
            prop_assert_eq!(postcard::from_bytes::<Distribution>(&saved).unwrap(), distribution);
        }
    }
}
