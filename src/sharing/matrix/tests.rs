//! Worked figures, and a twin that keeps a table of cells.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn matrix(processors: u32, level: u32, packing: Packing) -> Matrix<u32> {
    Matrix::new(processors, level, packing).unwrap()
}

/// Packs jobs of these sizes, numbered from 0.
fn packed(processors: u32, level: u32, packing: Packing, sizes: &[u32]) -> Matrix<u32> {
    let mut matrix = matrix(processors, level, packing);
    for (job, size) in (0..).zip(sizes) {
        matrix.place(job, *size).unwrap();
    }
    matrix
}

fn shares(matrix: &Matrix<u32>) -> Vec<(u32, usize)> {
    matrix.jobs().map(|job| (matrix.runs_in(job).unwrap(), matrix.rows())).collect()
}

const ALTERNATE: Packing = Packing { fit: Fit::First, alternate: true, unify: false };
const UNIFY: Packing = Packing { fit: Fit::First, alternate: false, unify: true };

#[test]
fn figure_6_2() {
    // Huang 2004: eight processors of ten are taken in the first slot, so a job of four gets the second (choice B).
    let matrix = packed(10, 2, Packing::default(), &[8, 4]);
    let written = "\
T0  0  0  0  0  0  0  0  0  .  .
T1  1  1  1  1  .  .  .  .  .  .
";
    assert_eq!(matrix.to_string(), written);
    assert_eq!(shares(&matrix), [(1, 2), (1, 2)]);
}

#[test]
fn figure_6_8_a() {
    // Huang 2004: seven jobs in four slots, which all get a quarter. The slots of the figure are not first fit in the order of the numbers.
    let mut matrix = matrix(10, 5, Packing::default());
    let placed =
        [(0, 0, 0, 6), (1, 0, 6, 10), (2, 1, 0, 2), (3, 1, 2, 8), (4, 2, 0, 2), (5, 2, 2, 6), (6, 3, 0, 8)];
    for (job, row, from, to) in placed {
        matrix.place_on(job, row, ProcSet::range(from, to)).unwrap();
    }
    let written = "\
T0  0  0  0  0  0  0  1  1  1  1
T1  2  2  3  3  3  3  3  3  .  .
T2  4  4  5  5  5  5  .  .  .  .
T3  6  6  6  6  6  6  6  6  .  .
";
    assert_eq!(matrix.to_string(), written);
    assert!(matrix.jobs().all(|job| matrix.share(job) == Some(Rate::ratio(1, 4))));
    assert_eq!(matrix.idle_cells(), 2 + 4 + 2);
}

#[test]
fn figure_6_9() {
    // Huang 2004: job 2 has ended, and job 4 gets processors on both sides of job 3.
    let mut matrix = packed(10, 2, Packing::default(), &[6, 4, 2, 6]);
    assert_eq!(matrix.remove(2), Some(ProcSet::range(0, 2)));
    assert_eq!(matrix.place(4, 4), Ok(1));
    assert_eq!(matrix.procs(4).unwrap().to_string(), "0-1 8-9");
    let written = "\
T0  0  0  0  0  0  0  1  1  1  1
T1  4  4  3  3  3  3  3  3  4  4
";
    assert_eq!(matrix.to_string(), written);
}

#[test]
fn figure_6_10() {
    // Huang 2004: four of fifteen cells are idle; on one processor of five in space sharing alone.
    let matrix = packed(5, 3, Packing::default(), &[2, 2, 3, 4]);
    assert_eq!((matrix.rows(), matrix.idle_cells()), (3, 4));
    assert_eq!(packed(5, 1, Packing::default(), &[2, 2]).idle_cells(), 1);
}

#[test]
fn best_fit_takes_the_fullest_slot() {
    // Free are 5, 2 and 4 of ten processors.
    let sizes = [5, 8, 6, 2];
    assert_eq!(packed(10, 5, Packing::default(), &sizes).row(3), Some(0));
    assert_eq!(packed(10, 5, Packing { fit: Fit::Best, ..Packing::default() }, &sizes).row(3), Some(1));
}

#[test]
fn a_job_runs_where_its_processors_are_idle() {
    // Job 1 has the first half of its slot; there job 2 fits into the rest, and in the slot of job 2 nothing is left for it.
    let mut matrix = matrix(4, 3, ALTERNATE);
    matrix.place_on(0, 0, ProcSet::full(4)).unwrap();
    matrix.place_on(1, 1, ProcSet::range(0, 2)).unwrap();
    matrix.place_on(2, 2, ProcSet::range(1, 4)).unwrap();
    assert_eq!(shares(&matrix), [(1, 3), (1, 3), (1, 3)]);
    matrix.remove(2);
    matrix.place_on(3, 2, ProcSet::range(2, 4)).unwrap();
    let written = "\
T0  0  0  0  0
T1  1  1  (3)  (3)
T2  (1)  (1)  3  3
";
    assert_eq!(matrix.to_string(), written);
    assert_eq!(shares(&matrix), [(1, 3), (2, 3), (2, 3)]);
    // A job that is packed there drives a guest out.
    matrix.place_on(4, 1, ProcSet::range(3, 4)).unwrap();
    assert_eq!(matrix.to_string(), written.replace("1  1  (3)  (3)", "1  1  .  4"));
    assert_eq!((matrix.runs_in(3), matrix.runs_in(4)), (Some(1), Some(1)));
}

#[test]
fn slots_without_a_common_processor_are_unified() {
    let mut matrix = packed(4, 3, UNIFY, &[3, 4, 1]);
    // Job 2 went beside job 0; when that has left, it stays where it was.
    assert_eq!(matrix.row(2), Some(0));
    matrix.place_on(3, 2, ProcSet::range(0, 3)).unwrap();
    matrix.remove(0);
    // Job 3 had the processors that job 0 has left.
    let written = "\
T0  3  3  3  2
T1  1  1  1  1
";
    assert_eq!(matrix.to_string(), written);
    assert!(matrix.jobs().all(|job| matrix.share(job) == Some(Rate::ratio(1, 2))));
    // Without unification the slots stay as they are.
    let mut apart = packed(4, 3, Packing::default(), &[3, 4, 1]);
    apart.place_on(3, 2, ProcSet::range(0, 3)).unwrap();
    apart.remove(0);
    assert_eq!(apart.rows(), 3);
}

#[test]
fn a_slot_without_jobs_disappears() {
    let mut matrix = packed(4, 3, Packing::default(), &[4, 4, 4]);
    assert_eq!(matrix.place(3, 1), Err(MatrixError::Full { processors: 1 }));
    matrix.remove(1);
    assert_eq!((matrix.rows(), matrix.row(2)), (2, Some(1)));
    assert_eq!(matrix.place(3, 1), Ok(2));
    assert_eq!(matrix.remove(1), None);
}

#[test]
fn what_cannot_be_packed_is_told_and_changes_nothing() {
    let of = |processors, level| {
        Matrix::<u32>::new(processors, level, Packing::default()).unwrap_err().to_string()
    };
    assert_eq!(of(4, 0), "the multiprogramming level is 0; it must be at least 1");
    assert_eq!(of(0, 1), "a matrix needs at least one processor");
    let mut matrix = packed(4, 2, ALTERNATE, &[3]);
    let before = matrix.to_string();
    assert_eq!(matrix.place(0, 1), Err(MatrixError::Known));
    assert_eq!(matrix.place(1, 0), Err(MatrixError::Nothing));
    assert_eq!(matrix.place(1, 5).unwrap_err().to_string(), "no slot has 5 free processors");
    assert_eq!(
        matrix.place_on(1, 0, ProcSet::range(2, 4)).unwrap_err().to_string(),
        "processor 2 is not free in that slot"
    );
    assert_eq!(matrix.place_on(1, 1, ProcSet::range(2, 9)), Err(MatrixError::Taken(4)));
    assert_eq!(matrix.place_on(1, 2, ProcSet::range(0, 1)).unwrap_err().to_string(), "there is no slot 2");
    matrix.place(1, 4).unwrap();
    assert_eq!(matrix.place_on(2, 2, ProcSet::range(0, 1)), Err(MatrixError::NoSlot(2)));
    matrix.remove(1);
    assert_eq!(matrix.to_string(), before);
}

/// The matrix as the table that it is drawn as; everything is computed when it is asked for.
struct Twin {
    level: usize,
    packing: Packing,
    /// The job packed in each cell.
    rows: Vec<Vec<Option<u32>>>,
    order: Vec<u32>,
}

impl Twin {
    fn place(&mut self, job: u32, count: usize, width: usize) -> Option<usize> {
        let free = |row: &Vec<Option<u32>>| row.iter().filter(|cell| cell.is_none()).count();
        if count == 0 || count > width {
            return None;
        }
        let fits = (0..self.rows.len()).filter(|at| free(&self.rows[*at]) >= count);
        let found = match self.packing.fit {
            Fit::First => fits.min(),
            Fit::Best => fits.min_by_key(|at| (free(&self.rows[*at]), *at)),
        };
        let at = match found {
            Some(at) => at,
            None if self.rows.len() < self.level => {
                self.rows.push(vec![None; width]);
                self.rows.len() - 1
            }
            None => return None,
        };
        self.rows[at].iter_mut().filter(|cell| cell.is_none()).take(count).for_each(|cell| *cell = Some(job));
        self.order.push(job);
        Some(at)
    }

    fn remove(&mut self, job: u32) {
        for row in &mut self.rows {
            row.iter_mut().filter(|cell| **cell == Some(job)).for_each(|cell| *cell = None);
        }
        self.order.retain(|other| *other != job);
        self.rows.retain(|row| row.iter().any(Option::is_some));
        while self.packing.unify {
            let pairs = (0..self.rows.len()).flat_map(|a| (a + 1..self.rows.len()).map(move |b| (a, b)));
            let apart = |(a, b): &(usize, usize)| {
                self.rows[*a].iter().zip(&self.rows[*b]).all(|(a, b)| a.is_none() || b.is_none())
            };
            let Some((a, b)) = pairs.into_iter().find(apart) else { break };
            let gone = self.rows.remove(b);
            self.rows[a].iter_mut().zip(gone).for_each(|(cell, from)| *cell = cell.or(from));
        }
    }

    /// The processors that a job would have with so many, if its slot has them.
    fn resized(&self, job: u32, count: usize) -> Option<BTreeSet<usize>> {
        let (at, own) = self.procs(job);
        let free = (0..self.rows[at].len()).filter(|proc| self.rows[at][*proc].is_none());
        let all: BTreeSet<usize> = own.into_iter().chain(free).take(count).collect();
        (count > 0 && all.len() == count).then_some(all)
    }

    fn adopt(&mut self, job: u32, procs: &[usize], width: usize) {
        let is_free = |row: &Vec<Option<u32>>| procs.iter().all(|proc| row[*proc].is_none());
        let at = self.rows.iter().position(is_free).unwrap_or_else(|| {
            self.rows.push(vec![None; width]);
            self.rows.len() - 1
        });
        procs.iter().for_each(|proc| self.rows[at][*proc] = Some(job));
        self.order.push(job);
    }

    fn procs(&self, job: u32) -> (usize, BTreeSet<usize>) {
        let at = self.rows.iter().position(|row| row.contains(&Some(job))).unwrap();
        (at, (0..self.rows[at].len()).filter(|proc| self.rows[at][*proc] == Some(job)).collect())
    }

    /// The rows with what runs in each cell.
    fn running(&self) -> Vec<Vec<Option<u32>>> {
        let mut rows = self.rows.clone();
        if self.packing.alternate {
            for (at, row) in rows.iter_mut().enumerate() {
                for job in &self.order {
                    let (home, procs) = self.procs(*job);
                    if home != at && procs.iter().all(|proc| row[*proc].is_none()) {
                        procs.iter().for_each(|proc| row[*proc] = Some(*job));
                    }
                }
            }
        }
        rows
    }
}

#[derive(Clone, Debug)]
enum Act {
    Place(u32),
    /// Removes the job of this number among those that are there.
    Remove(usize),
    /// Gives it so many processors, of its own and then of the free ones of its slot, the lowest first.
    Resize(usize, u32),
    /// Takes in a job on these of the processors.
    Adopt(u32),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0_u32..14).prop_map(Act::Place),
        3 => (0_usize..12).prop_map(Act::Remove),
        2 => (0_usize..12, 0_u32..14).prop_map(|(at, size)| Act::Resize(at, size)),
        1 => (0_u32..1 << 11).prop_map(Act::Adopt),
    ];
    prop::collection::vec(act, 0..60)
}

proptest! {
    #[test]
    fn the_matrix_is_the_table_that_it_is_drawn_as(
        width in 1_u32..12, level in 1_u32..5, best in any::<bool>(), alternate in any::<bool>(),
        unify in any::<bool>(), acts in acts(),
    ) {
        let packing = Packing { fit: if best { Fit::Best } else { Fit::First }, alternate, unify };
        let mut matrix = matrix(width, level, packing);
        let mut twin = Twin { level: level as usize, packing, rows: Vec::new(), order: Vec::new() };
        for (job, act) in (0..).zip(acts) {
            match act {
                Act::Place(size) => {
                    let fit = matrix.fit(size);
                    let placed = matrix.place(job, size);
                    prop_assert_eq!(placed.clone().ok(), twin.place(job, size as usize, width as usize));
                    prop_assert!(placed.is_err() || placed.ok() == fit);
                }
                Act::Remove(at) if twin.order.is_empty() => {
                    prop_assert_eq!(matrix.remove(at as u32 + 1_000), None);
                }
                Act::Resize(..) if twin.order.is_empty() => {
                    prop_assert_eq!(matrix.resize(job, ProcSet::full(1)), Err(MatrixError::Unknown));
                }
                Act::Resize(at, size) => {
                    let job = twin.order[at % twin.order.len()];
                    match twin.resized(job, size as usize) {
                        Some(procs) => {
                            let set: ProcSet = procs.iter().map(|proc| *proc as u32).collect();
                            prop_assert_eq!(matrix.resize(job, set), Ok(()));
                            let at = twin.procs(job).0;
                            let cells = twin.rows[at].iter_mut().enumerate();
                            cells.for_each(|(proc, cell)| match (procs.contains(&proc), *cell == Some(job)) {
                                (true, _) => *cell = Some(job),
                                (false, true) => *cell = None,
                                (false, false) => {}
                            });
                        }
                        None => {
                            let (at, own) = twin.procs(job);
                            let other = (0..twin.rows[at].len())
                                .find(|proc| !own.contains(proc) && twin.rows[at][*proc].is_some());
                            if let Some(other) = other {
                                let set = ProcSet::range(other as u32, other as u32 + 1);
                                prop_assert_eq!(matrix.resize(job, set), Err(MatrixError::Taken(other as u32)));
                            }
                        }
                    }
                }
                Act::Adopt(bits) => {
                    let procs: Vec<usize> = (0..width as usize).filter(|proc| bits >> proc & 1 == 1).collect();
                    let set: ProcSet = procs.iter().map(|proc| *proc as u32).collect();
                    let row = matrix.adopt(job, set);
                    if procs.is_empty() {
                        prop_assert_eq!(row, Err(MatrixError::Nothing));
                    } else {
                        twin.adopt(job, &procs, width as usize);
                        prop_assert_eq!(row, Ok(twin.procs(job).0));
                    }
                }
                Act::Remove(at) => {
                    let job = twin.order[at % twin.order.len()];
                    let (_, procs) = twin.procs(job);
                    let had = matrix.remove(job).unwrap();
                    prop_assert_eq!(had.iter().map(|proc| proc as usize).collect::<BTreeSet<_>>(), procs);
                    twin.remove(job);
                }
            }
            prop_assert_eq!(matrix.rows(), twin.rows.len());
            prop_assert!(matrix.jobs().eq(twin.order.iter().copied()));
            let running = twin.running();
            for job in &twin.order {
                let (row, procs) = twin.procs(*job);
                prop_assert_eq!(matrix.row(*job), Some(row));
                let own: BTreeSet<usize> = matrix.procs(*job).unwrap().iter().map(|proc| proc as usize).collect();
                prop_assert_eq!(own, procs);
                let runs_in = running.iter().filter(|row| row.contains(&Some(*job))).count();
                prop_assert_eq!(matrix.runs_in(*job), Some(runs_in as u32));
                prop_assert_eq!(matrix.share(*job), Some(Rate::ratio(runs_in as u64, running.len() as u64)));
            }
            let idle: usize = running.iter().flatten().filter(|cell| cell.is_none()).count();
            prop_assert_eq!(matrix.idle_cells(), idle as u64);
            for (at, row) in twin.rows.iter().enumerate() {
                let free = row.iter().filter(|cell| cell.is_none()).count();
                prop_assert_eq!(matrix.free(at).unwrap().len() as usize, free);
                prop_assert!(matrix.free(at).unwrap().contains_all(matrix.idle(at).unwrap()));
            }
            // What runs adds up: no more than all the time of all processors.
            let given: u64 = twin.order.iter().map(|job| {
                u64::from(matrix.runs_in(*job).unwrap()) * u64::from(matrix.procs(*job).unwrap().len())
            }).sum();
            prop_assert_eq!(given + matrix.idle_cells(), u64::from(width) * matrix.rows() as u64);
        }
    }
}
