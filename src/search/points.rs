//! Sets of points in the space of objectives.

use super::SearchError;

/// A set of points, each with the same number of objectives, all finite: one flat list, point after point.
///
/// That objectives are finite is checked when the set is made, so whatever takes `Points` need not ask again.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Points<'a> {
    values: &'a [f64],
    objectives: usize,
}

impl<'a> Points<'a> {
    /// The points that `values` lists, `objectives` of each.
    ///
    /// # Errors
    ///
    /// There are no objectives, the last point breaks off, or an objective is not a finite number.
    pub fn new(values: &'a [f64], objectives: usize) -> Result<Self, SearchError> {
        if objectives == 0 {
            return Err(SearchError::NoObjectives);
        }
        if !values.len().is_multiple_of(objectives) {
            return Err(SearchError::Ragged { values: values.len(), objectives });
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (point, objective) = (at / objectives, at % objectives);
            return Err(SearchError::Value { point, objective, value: values[at] });
        }
        Ok(Self { values, objectives })
    }

    /// The points of a list that has been checked.
    pub(super) fn checked(values: &'a [f64], objectives: usize) -> Self {
        debug_assert!(objectives > 0 && values.len().is_multiple_of(objectives));
        Self { values, objectives }
    }

    /// The number of points.
    pub fn len(self) -> usize {
        self.values.len() / self.objectives
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.values.is_empty()
    }

    /// The objectives of each point.
    pub fn objectives(self) -> usize {
        self.objectives
    }

    /// All values, point after point.
    pub fn values(self) -> &'a [f64] {
        self.values
    }

    /// The point of this index; `None` if there is none.
    pub fn get(self, index: usize) -> Option<&'a [f64]> {
        self.values.chunks_exact(self.objectives).nth(index)
    }

    /// The points, by index.
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [f64]> + Clone {
        self.values.chunks_exact(self.objectives)
    }

    /// The point of an index that is known to be there.
    pub(super) fn at(self, index: usize) -> &'a [f64] {
        &self.values[index * self.objectives..(index + 1) * self.objectives]
    }

    /// Fails if `of` is not as many objectives as the points have.
    pub(super) fn must_match(self, what: &'static str, of: usize) -> Result<(), SearchError> {
        if of == self.objectives {
            Ok(())
        } else {
            Err(SearchError::Objectives { what, found: of, wanted: self.objectives })
        }
    }
}
