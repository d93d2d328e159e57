//! The Ousterhout matrix: time slots by processors.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::ProcSet;
use crate::units::Rate;

/// In which slot a job is packed, of those that have enough free processors. A slot that is not in use yet comes after all others.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fit {
    /// The first one.
    #[default]
    First,
    /// The one with the fewest free processors, of equals the first.
    Best,
}

/// How a matrix is packed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packing {
    /// In which slot a job is packed.
    pub fit: Fit,
    /// Alternate scheduling: a job also runs in other slots, where all its processors are idle. Jobs are asked in the order in which they were
    /// packed. It never keeps another job from being packed there.
    pub alternate: bool,
    /// Slot unification: when a job leaves, slots are joined whose jobs have no processor in common [Feitelson and Jette 1997].
    pub unify: bool,
}

/// The Ousterhout matrix of gang scheduling [Ousterhout 1982; Huang 2004, section 6.3]: a row is a time slot, a column a processor. A job is packed
/// into one slot, on any processors that are free there, and keeps both: jobs do not migrate. The slots in use take turns; all take the same time.
///
/// There are as many rows as are in use. One is added when a job fits in none and the multiprogramming level allows it; one without jobs disappears, and
/// those behind it move up.
///
/// Packing a job looks at each row, and at each job if it drives jobs out of an idle place or opens a row. Removing one looks at all jobs for each row
/// that changes, under alternate scheduling; else at nothing but its row.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(serialize = "K: Serialize", deserialize = "K: Ord + Deserialize<'de>"))]
pub struct Matrix<K> {
    processors: u32,
    level: u32,
    packing: Packing,
    rows: Vec<Row>,
    jobs: BTreeMap<K, Packed>,
    /// Jobs in the order in which they were packed.
    order: BTreeMap<u64, K>,
    next: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    /// Jobs that are packed here.
    packed: u32,
    /// Processors without one of them.
    free: ProcSet,
    /// Processors without any job.
    idle: ProcSet,
    /// Jobs of other slots that run here too, by the order in which they were packed.
    guests: Vec<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Packed {
    turn: u64,
    row: usize,
    procs: ProcSet,
    /// In how many rows it runs.
    runs_in: u32,
}

/// Why a job cannot be packed, or a matrix not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// A multiprogramming level of 0.
    #[error("the multiprogramming level is 0; it must be at least 1")]
    Level,
    /// A matrix without columns.
    #[error("a matrix needs at least one processor")]
    NoProcessors,
    /// The job is in the matrix.
    #[error("the job is in the matrix already")]
    Known,
    /// The job is not in the matrix.
    #[error("the job is not in the matrix")]
    Unknown,
    /// The job requests no processor.
    #[error("the job requests no processor")]
    Nothing,
    /// No slot has enough free processors.
    #[error("no slot has {processors} free processors")]
    Full {
        /// What the job requests.
        processors: u32,
    },
    /// There is no such slot.
    #[error("there is no slot {0}")]
    NoSlot(usize),
    /// A processor that another job has in that slot, or that there is not.
    #[error("processor {0} is not free in that slot")]
    Taken(u32),
}

impl Row {
    fn new(processors: u32) -> Self {
        Self {
            packed: 0,
            free: ProcSet::full(processors),
            idle: ProcSet::full(processors),
            guests: Vec::new(),
        }
    }
}

impl<K: Copy + Ord> Matrix<K> {
    /// An empty matrix for at most `level` jobs on each processor.
    ///
    /// # Errors
    /// [`MatrixError::Level`] or [`MatrixError::NoProcessors`].
    pub fn new(processors: u32, level: u32, packing: Packing) -> Result<Self, MatrixError> {
        if level == 0 {
            return Err(MatrixError::Level);
        }
        if processors == 0 {
            return Err(MatrixError::NoProcessors);
        }
        let (rows, jobs, order) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Self { processors, level, packing, rows, jobs, order, next: 0 })
    }

    /// How many slots are in use.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The most slots that there may be.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// The slot in which a job of this size would be packed; [`Matrix::rows`] is one that is not in use yet. `None` if it fits in none.
    pub fn fit(&self, processors: u32) -> Option<usize> {
        let fits = |(at, row): (usize, &Row)| {
            let free = row.free.len();
            (free >= processors).then_some((free, at))
        };
        let mut rows = self.rows.iter().enumerate().filter_map(fits);
        let found = match self.packing.fit {
            Fit::First => rows.next(),
            Fit::Best => rows.min(),
        };
        let opens = self.rows.len() < self.level as usize && processors <= self.processors;
        found.map(|(_, at)| at).or_else(|| opens.then_some(self.rows.len()))
    }

    /// Packs a job on the lowest free processors of a slot, and says in which.
    ///
    /// # Errors
    /// [`MatrixError`] if the job is there already, requests nothing or does not fit; then nothing changes.
    pub fn place(&mut self, job: K, processors: u32) -> Result<usize, MatrixError> {
        let full = MatrixError::Full { processors };
        let row = self.fit(processors).ok_or_else(|| full.clone())?;
        let fresh = ProcSet::full(self.processors);
        let free = self.rows.get(row).map_or(&fresh, |row| &row.free);
        let procs = free.lowest(processors).ok_or(full)?;
        self.place_on(job, row, procs)?;
        Ok(row)
    }

    /// Packs a job on these processors of a slot; [`Matrix::rows`] is a new one.
    ///
    /// # Errors
    /// [`MatrixError`] if the job is there already, requests nothing, or a processor is not free; then nothing changes.
    pub fn place_on(&mut self, job: K, row: usize, procs: ProcSet) -> Result<(), MatrixError> {
        if row >= self.level as usize && row >= self.rows.len() {
            return Err(MatrixError::NoSlot(row));
        }
        self.pack(job, row, procs)
    }

    /// Takes in a job that runs already: into the first slot where its processors are free, or else into a new one, even beyond the
    /// multiprogramming level. That ends when jobs have left.
    ///
    /// # Errors
    /// [`MatrixError`] if the job is there already, has no processor, or one that there is not; then nothing changes.
    pub fn adopt(&mut self, job: K, procs: ProcSet) -> Result<usize, MatrixError> {
        let is_free = |row: &Row| row.free.contains_all(&procs);
        let row = self.rows.iter().position(is_free).unwrap_or(self.rows.len());
        self.pack(job, row, procs)?;
        Ok(row)
    }

    /// Gives a job these processors of its slot instead of those that it has. It keeps its place in the order.
    ///
    /// # Errors
    /// [`MatrixError`] if the job is not there, or another one has a processor; then nothing changes.
    pub fn resize(&mut self, job: K, procs: ProcSet) -> Result<(), MatrixError> {
        if procs.is_empty() {
            return Err(MatrixError::Nothing);
        }
        let packed = self.jobs.get_mut(&job).ok_or(MatrixError::Unknown)?;
        let row = &mut self.rows[packed.row];
        let mut free = row.free.clone();
        free.insert_all(&packed.procs);
        if let Some(taken) = procs.difference(&free).first() {
            return Err(MatrixError::Taken(taken));
        }
        free.remove_all(&procs);
        (row.free, packed.procs) = (free, procs);
        if self.packing.alternate {
            // It may have become too large for rows of which it was a guest, or small enough for others.
            (0..self.rows.len()).for_each(|at| self.invite(at));
        } else {
            row.idle = row.free.clone();
        }
        Ok(())
    }

    fn pack(&mut self, job: K, row: usize, procs: ProcSet) -> Result<(), MatrixError> {
        if self.jobs.contains_key(&job) {
            return Err(MatrixError::Known);
        }
        if procs.is_empty() {
            return Err(MatrixError::Nothing);
        }
        if row > self.rows.len() {
            return Err(MatrixError::NoSlot(row));
        }
        let fresh = ProcSet::full(self.processors);
        let free = self.rows.get(row).map_or(&fresh, |row| &row.free);
        if let Some(taken) = procs.difference(free).first() {
            return Err(MatrixError::Taken(taken));
        }
        let is_new = row == self.rows.len();
        if is_new {
            self.rows.push(Row::new(self.processors));
        }
        let here = &mut self.rows[row];
        let drives_out = is_new || !here.idle.contains_all(&procs);
        here.packed += 1;
        here.free.remove_all(&procs);
        here.idle.remove_all(&procs);
        let turn = self.next;
        self.next += 1;
        self.order.insert(turn, job);
        self.jobs.insert(job, Packed { turn, row, procs, runs_in: 1 });
        if self.packing.alternate {
            if drives_out {
                self.invite(row);
            }
            self.visit(job);
        }
        Ok(())
    }

    /// Takes a job out, and says which processors it had. `None` if it is not there.
    pub fn remove(&mut self, job: K) -> Option<ProcSet> {
        let Packed { turn, row, procs, .. } = self.jobs.remove(&job)?;
        self.order.remove(&turn);
        let here = &mut self.rows[row];
        here.packed -= 1;
        here.free.insert_all(&procs);
        let is_gone = here.packed == 0;
        // Rows of which it was a guest have room for others now.
        let visited = |at: &usize| self.rows[*at].guests.binary_search(&turn).is_ok();
        let mut changed: Vec<usize> = (0..self.rows.len()).filter(|at| *at == row || visited(at)).collect();
        for at in &changed {
            self.rows[*at].guests.retain(|guest| *guest != turn);
        }
        if is_gone {
            self.drop_row(row);
            changed.retain(|at| *at != row);
            changed.iter_mut().filter(|at| **at > row).for_each(|at| *at -= 1);
        }
        if self.packing.unify {
            while let Some((into, from)) = self.unifiable() {
                self.join(into, from);
                changed.retain(|at| *at != from);
                changed.iter_mut().filter(|at| **at > from).for_each(|at| *at -= 1);
                changed.push(into);
            }
        }
        if self.packing.alternate {
            changed.sort_unstable();
            changed.dedup();
            changed.into_iter().for_each(|at| self.invite(at));
        } else {
            changed.into_iter().for_each(|at| self.rows[at].idle = self.rows[at].free.clone());
        }
        Some(procs)
    }

    /// The slot in which a job is packed.
    pub fn row(&self, job: K) -> Option<usize> {
        self.jobs.get(&job).map(|packed| packed.row)
    }

    /// The processors of a job.
    pub fn procs(&self, job: K) -> Option<&ProcSet> {
        self.jobs.get(&job).map(|packed| &packed.procs)
    }

    /// In how many slots a job runs.
    pub fn runs_in(&self, job: K) -> Option<u32> {
        self.jobs.get(&job).map(|packed| packed.runs_in)
    }

    /// The share of the time of its processors that a job has: slots in which it runs over slots in use.
    pub fn share(&self, job: K) -> Option<Rate> {
        let rows = self.rows.len() as u64;
        self.jobs.get(&job).map(|packed| Rate::ratio(packed.runs_in.into(), rows))
    }

    /// All jobs, in the order in which they were packed.
    pub fn jobs(&self) -> impl Iterator<Item = K> {
        self.order.values().copied()
    }

    /// The number of jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// True if there is no job.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The processors of a slot that no job is packed on.
    pub fn free(&self, row: usize) -> Option<&ProcSet> {
        self.rows.get(row).map(|row| &row.free)
    }

    /// The processors of a slot that no job runs on.
    pub fn idle(&self, row: usize) -> Option<&ProcSet> {
        self.rows.get(row).map(|row| &row.idle)
    }

    /// How many cells of the matrix no job runs in: its fragmentation, in processors times slots.
    pub fn idle_cells(&self) -> u64 {
        self.rows.iter().map(|row| u64::from(row.idle.len())).sum()
    }

    /// Lets a job that has just been packed run in other slots, too. It is the last in the order, so nothing else changes.
    fn visit(&mut self, job: K) {
        let Some(packed) = self.jobs.get_mut(&job) else { return };
        for (at, row) in self.rows.iter_mut().enumerate() {
            if at != packed.row && row.idle.contains_all(&packed.procs) {
                row.idle.remove_all(&packed.procs);
                row.guests.push(packed.turn);
                packed.runs_in += 1;
            }
        }
    }

    /// Chooses anew which jobs of other slots run in this one, too.
    fn invite(&mut self, at: usize) {
        self.dismiss(at);
        let row = &mut self.rows[at];
        row.idle = row.free.clone();
        for (turn, job) in &self.order {
            let Some(packed) = self.jobs.get_mut(job) else { continue };
            if packed.row != at && row.idle.contains_all(&packed.procs) {
                row.idle.remove_all(&packed.procs);
                row.guests.push(*turn);
                packed.runs_in += 1;
            }
        }
    }

    /// Ends the visits of jobs of other slots.
    fn dismiss(&mut self, at: usize) {
        for guest in std::mem::take(&mut self.rows[at].guests) {
            let job = self.order.get(&guest).and_then(|job| self.jobs.get_mut(job));
            if let Some(packed) = job {
                packed.runs_in -= 1;
            }
        }
    }

    /// Drops a row in which no job is packed.
    fn drop_row(&mut self, at: usize) {
        self.dismiss(at);
        self.rows.remove(at);
        self.jobs.values_mut().filter(|packed| packed.row > at).for_each(|packed| packed.row -= 1);
    }

    /// The first two rows whose jobs have no processor in common.
    fn unifiable(&self) -> Option<(usize, usize)> {
        let taken: Vec<ProcSet> =
            self.rows.iter().map(|row| ProcSet::full(self.processors).difference(&row.free)).collect();
        (0..taken.len()).find_map(|into| {
            let from = (into + 1..taken.len()).find(|from| taken[into].is_disjoint(&taken[*from]))?;
            Some((into, from))
        })
    }

    /// Moves the jobs of a row to one before it, where their processors are free.
    fn join(&mut self, into: usize, from: usize) {
        self.dismiss(into);
        self.jobs.values_mut().filter(|packed| packed.row == from).for_each(|packed| packed.row = into);
        let packed = self.rows[from].packed;
        let free = self.rows[into].free.intersection(&self.rows[from].free);
        let row = &mut self.rows[into];
        row.packed += packed;
        (row.idle, row.free) = (free.clone(), free);
        self.drop_row(from);
    }
}

impl<K: Copy + Ord + fmt::Display> fmt::Display for Matrix<K> {
    /// Writes a line for each slot with the job of each processor: a dot if it is idle, in brackets a job that is packed in another slot.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, row) in self.rows.iter().enumerate() {
            let mut cells = vec![".".to_owned(); self.processors as usize];
            let mut fill = |job: &K, name: String| {
                let procs = self.jobs.get(job).into_iter().flat_map(|packed| packed.procs.iter());
                procs.for_each(|proc| cells[proc as usize].clone_from(&name));
            };
            self.jobs
                .iter()
                .filter(|(_, packed)| packed.row == at)
                .for_each(|(job, _)| fill(job, job.to_string()));
            let guests = row.guests.iter().filter_map(|guest| self.order.get(guest));
            guests.for_each(|job| fill(job, format!("({job})")));
            writeln!(f, "T{at}  {}", cells.join("  "))?;
        }
        Ok(())
    }
}
