//! The last values of a series.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// The last values of a series, as many as any predictor looks back, in the order of time and by size.
///
/// One history serves all predictors: those that look back keep no values of their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(super) struct History {
    /// The number of values so far, also of those that are no longer here.
    observations: u64,
    /// The oldest one first.
    values: VecDeque<f64>,
    /// By size, each with its number in the series; equal ones by number.
    sorted: Vec<(f64, u64)>,
}

/// Room for the values of a window.
pub(super) type Room = [f64; History::LONGEST];

/// Room that is empty.
pub(super) const ROOM: Room = [0.0; History::LONGEST];

impl History {
    /// The number of values that are kept.
    pub(super) const LONGEST: usize = 51;

    /// The number of values so far.
    pub(super) fn observations(&self) -> u64 {
        self.observations
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Enters the next value.
    pub(super) fn push(&mut self, value: f64) {
        if self.values.len() == Self::LONGEST
            && let Some(oldest) = self.values.pop_front()
        {
            let at = self.place(oldest, self.observations - Self::LONGEST as u64);
            self.sorted.remove(at);
        }
        let at = self.place(value, self.observations);
        self.sorted.insert(at, (value, self.observations));
        self.values.push_back(value);
        self.observations += 1;
    }

    /// Where the value with this number is among the sorted ones, or belongs.
    fn place(&self, value: f64, number: u64) -> usize {
        self.sorted.partition_point(|(other, of)| other.total_cmp(&value).then(of.cmp(&number)).is_lt())
    }

    /// The last value. There must be one, here and in what follows.
    pub(super) fn last(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    /// The mean of the last `window` values, or of all if there are fewer.
    ///
    /// Added up anew each time, so that no error of rounding stays, and as differences from the last value, so that the mean of equal
    /// values is that value.
    pub(super) fn mean(&self, window: usize) -> f64 {
        let window = window.min(self.values.len());
        let last = self.last();
        let sum: f64 = self.values.iter().rev().take(window).map(|value| value - last).sum();
        last + sum / window as f64
    }

    /// The median of the last `window` values, or of all if there are fewer: of an even number, the mean of the two in the middle.
    pub(super) fn median(&self, window: usize) -> f64 {
        let mut room = ROOM;
        let sorted = self.sorted(window, &mut room);
        let middle = sorted.len() / 2;
        if sorted.len() % 2 == 1 {
            return sorted[middle];
        }
        let (below, above) = (sorted[middle - 1], sorted[middle]);
        below + (above - below) / 2.0
    }

    /// The last `window` values, or all if there are fewer, by size.
    pub(super) fn sorted<'a>(&self, window: usize, room: &'a mut Room) -> &'a [f64] {
        let first = self.observations.saturating_sub(window as u64);
        let mut length = 0;
        for (value, number) in &self.sorted {
            // Every value is written, and the next one over it if it is too old: a branch would be mispredicted half of the time.
            room[length] = *value;
            length += usize::from(*number >= first);
        }
        &room[..length]
    }
}

/// A history without what follows from the rest.
#[derive(Serialize, Deserialize)]
struct Saved {
    observations: u64,
    values: VecDeque<f64>,
}

impl From<History> for Saved {
    fn from(history: History) -> Self {
        let History { observations, values, .. } = history;
        Self { observations, values }
    }
}

impl From<Saved> for History {
    fn from(saved: Saved) -> Self {
        let before = saved.observations.saturating_sub(saved.values.len() as u64);
        let mut history = Self { observations: before, ..Self::default() };
        for value in saved.values {
            history.push(value);
        }
        history
    }
}
