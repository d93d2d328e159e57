//! The fronts from which a broker chose its plans: how many there are, and all of one.

use crate::output::{FrontRow, ReadError, RunFolder};
use crate::units::Time;

/// The plannings of a run that kept fronts.
pub(crate) struct Plannings {
    /// Their number.
    pub(crate) count: u64,
    /// The least and the largest number of schedules in a front.
    pub(crate) sizes: (u64, u64),
    /// The least and the largest number of a planning.
    pub(crate) numbers: (u64, u64),
    /// The columns of the objectives.
    pub(crate) columns: Vec<String>,
    /// The schedules of the front that is shown, in the order of the table; none if that planning is not there.
    pub(crate) shown: Vec<FrontRow>,
}

impl Plannings {
    /// Reads the fronts of a folder; `None` if it has none. Shown is the front of the planning of a number, the last one if a fork counts anew; else the one
    /// with most schedules, the first among equals.
    pub(crate) fn read(folder: &RunFolder, wanted: Option<u64>) -> Result<Option<Self>, ReadError> {
        let Some(rows) = folder.fronts()? else { return Ok(None) };
        let columns = rows.others().to_vec();
        let (sizes, numbers) = ((u64::MAX, 0), (u64::MAX, 0));
        let mut all = Self { count: 0, sizes, numbers, columns, shown: Vec::new() };
        let mut front: Vec<FrontRow> = Vec::new();
        let name = |row: &FrontRow| -> (u64, Time) { (row.planning, row.at) };
        for row in rows {
            let row = row?;
            if front.last().is_some_and(|last| name(last) != name(&row)) {
                all.add(std::mem::take(&mut front), wanted);
            }
            front.push(row);
        }
        all.add(front, wanted);
        Ok(Some(all).filter(|all| all.count > 0))
    }

    fn add(&mut self, front: Vec<FrontRow>, wanted: Option<u64>) {
        let Some(first) = front.first() else { return };
        let (number, size) = (first.planning, front.len() as u64);
        self.count += 1;
        self.sizes = (self.sizes.0.min(size), self.sizes.1.max(size));
        self.numbers = (self.numbers.0.min(number), self.numbers.1.max(number));
        let is_shown = match wanted {
            Some(wanted) => wanted == number,
            None => front.len() > self.shown.len(),
        };
        if is_shown {
            self.shown = front;
        }
    }
}
