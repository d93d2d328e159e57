//! What it costs jobs to run beside each other.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Slowdown;
use crate::units::UnitError;

/// Slowdowns of applications beside each other: a square table.
///
/// Read from text, a row a line (or separated by semicolons), beginning with the names of the columns. A cell is the slowdown of the application of its
/// row beside that of its column, or both with a slash between: that of the row, then that of the column; then the mirrored cell is `-`. A single
/// number whose mirrored cell is `-` is that of both.
///
/// ```
/// use gridemu::sharing::Pairs;
///
/// let pairs: Pairs = "
///            grid   stream
///     grid   1.2    1.8/0.8
///     stream -      0.8
/// ".parse()?;
/// // A grid beside a stream takes 1.8 times as long, and the stream gains by it.
/// assert_eq!((pairs.of(0, 1).to_string(), pairs.of(1, 0).to_string()), ("1.8".to_owned(), "0.8".to_owned()));
/// # Ok::<(), gridemu::sharing::PairsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    names: Vec<String>,
    /// Row by row.
    slowdowns: Vec<Slowdown>,
}

/// A text that is no table of pairs. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PairsError {
    /// No names.
    #[error("the table of slowdowns is empty; its first line has the names of the applications")]
    Empty,
    /// A name that is given twice.
    #[error("line {line}: the application `{name}` is named twice")]
    Twice {
        /// The line.
        line: usize,
        /// The name.
        name: String,
    },
    /// Too few or too many rows.
    #[error("the table of slowdowns is not square: it has {columns} columns and {rows} rows")]
    NotSquare {
        /// Its columns.
        columns: usize,
        /// Its rows.
        rows: usize,
    },
    /// A row in another place than its column.
    #[error(
        "line {line}: the row of `{found}` stands where that of `{expected}` should be; rows go in the order of the columns"
    )]
    Order {
        /// The line.
        line: usize,
        /// The name that the line begins with.
        found: String,
        /// The name of the column of that number.
        expected: String,
    },
    /// A row with too few or too many cells.
    #[error("line {line}: the row of `{name}` has {cells} cells, and the table {columns} columns")]
    Cells {
        /// The line.
        line: usize,
        /// The application of the row.
        name: String,
        /// Its cells.
        cells: usize,
        /// The columns of the table.
        columns: usize,
    },
    /// A cell that is no slowdown.
    #[error("line {line}: `{row}` beside `{column}`: {error}")]
    Cell {
        /// The line.
        line: usize,
        /// The application of the row.
        row: String,
        /// That of the column.
        column: String,
        /// What is wrong.
        error: UnitError,
    },
    /// A pair of which neither cell says anything, or an application beside itself.
    #[error("line {line}: the pair `{row}` and `{column}` is missing")]
    Missing {
        /// The line.
        line: usize,
        /// The application of the row.
        row: String,
        /// That of the column.
        column: String,
    },
    /// A pair that both cells give, one of them in both directions; or an application beside itself with two numbers.
    #[error("line {line}: the pair `{row}` and `{column}` is given twice")]
    Doubled {
        /// The line.
        line: usize,
        /// The application of the row.
        row: String,
        /// That of the column.
        column: String,
    },
}

/// A cell as it is written.
#[derive(Copy, Clone)]
enum Cell {
    Mirrored,
    One(Slowdown),
    Both(Slowdown, Slowdown),
}

impl Pairs {
    /// Table 5-2 of Huang 2004: MPI programs on nine processors of a Sun Enterprise 6500 with shared memory, measured by A. C. Sodan.
    pub const HUANG: &str = "
                  grid-300  grid-1200  grid-2400  central  random   stream
        grid-300  1.2       1.4/1.1    2.2/0.9    0.9/1.6  1/1.3    1.8/0.8
        grid-1200 -         1.2        1.4/0.8    1.1/1.7  1/1.4    1.3/0.8
        grid-2400 -         -          1.1        1/3.1    1.5/2.3  0.8/0.8
        central   -         -          -          1.3      1.3/0.9  2.5/0.8
        random    -         -          -          -        2        1.8/0.9
        stream    -         -          -          -        -        0.8
    ";

    /// The names of the applications.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The slowdown of one application beside another, by their places in the table; none of what is not in it.
    pub fn of(&self, application: usize, beside: usize) -> Slowdown {
        self.get(application, beside).unwrap_or(Slowdown::NONE)
    }

    fn get(&self, application: usize, beside: usize) -> Option<Slowdown> {
        let count = self.names.len();
        (application < count && beside < count).then(|| self.slowdowns[application * count + beside])
    }
}

impl FromStr for Pairs {
    type Err = PairsError;

    fn from_str(text: &str) -> Result<Self, PairsError> {
        let lines = text.split(['\n', ';']).enumerate();
        let mut lines = lines
            .map(|(at, line)| (at + 1, line.split_whitespace().collect::<Vec<_>>()))
            .filter(|(_, words)| !words.is_empty());
        let (first, names) = lines.next().ok_or(PairsError::Empty)?;
        if let Some(twice) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            return Err(PairsError::Twice { line: first, name: names[twice].to_owned() });
        }
        let rows: Vec<(usize, Vec<&str>)> = lines.collect();
        if rows.len() != names.len() {
            return Err(PairsError::NotSquare { columns: names.len(), rows: rows.len() });
        }
        let mut cells: Vec<Vec<Cell>> = Vec::with_capacity(names.len());
        for ((line, words), name) in rows.iter().zip(&names) {
            let (line, columns) = (*line, names.len());
            if words[0] != *name {
                return Err(PairsError::Order {
                    line,
                    found: words[0].to_owned(),
                    expected: (*name).to_owned(),
                });
            }
            if words.len() != columns + 1 {
                let (name, cells) = (words[0].to_owned(), words.len() - 1);
                return Err(PairsError::Cells { line, name, cells, columns });
            }
            let read = |(word, column): (&&str, &&str)| {
                read(word).map_err(|error| PairsError::Cell {
                    line,
                    row: (*name).to_owned(),
                    column: (*column).to_owned(),
                    error,
                })
            };
            cells.push(words[1..].iter().zip(&names).map(read).collect::<Result<_, _>>()?);
        }
        let mut slowdowns = Vec::with_capacity(names.len() * names.len());
        for (row, (line, _)) in rows.iter().enumerate() {
            for column in 0..names.len() {
                let (line, name, other) = (*line, names[row].to_owned(), names[column].to_owned());
                let slowdown = match (cells[row][column], cells[column][row]) {
                    (Cell::Mirrored, Cell::Mirrored) => {
                        return Err(PairsError::Missing { line, row: name, column: other });
                    }
                    (Cell::Both(..), _) if row == column => {
                        return Err(PairsError::Doubled { line, row: name, column: other });
                    }
                    (Cell::Both(..), Cell::One(_) | Cell::Both(..)) | (Cell::One(_), Cell::Both(..)) => {
                        return Err(PairsError::Doubled { line, row: name, column: other });
                    }
                    (Cell::One(slowdown) | Cell::Both(slowdown, _), _) => slowdown,
                    (Cell::Mirrored, Cell::One(slowdown) | Cell::Both(_, slowdown)) => slowdown,
                };
                slowdowns.push(slowdown);
            }
        }
        Ok(Self { names: names.into_iter().map(str::to_owned).collect(), slowdowns })
    }
}

fn read(cell: &str) -> Result<Cell, UnitError> {
    if cell == "-" {
        return Ok(Cell::Mirrored);
    }
    match cell.split_once('/') {
        None => cell.parse().map(Cell::One),
        Some((own, other)) => Ok(Cell::Both(own.parse()?, other.parse()?)),
    }
}

/// The coscheduling estimator [Huang 2004, section 5.5]: how much slower jobs become together, and whether they may be put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coscheduling {
    /// The slowdowns of applications that are known.
    pub pairs: Pairs,
    /// That of jobs of which one is of no known application.
    pub otherwise: Slowdown,
    /// What each job beyond two adds, in millionths. A tenth follows from the experiments of the thesis: 1.2 for two jobs, 1.3 for three.
    pub more: u32,
    /// Jobs are not put together if one of them would be slowed down by more than this: what a significant slowdown is. The thesis gives no limit.
    pub most: Option<Slowdown>,
}

impl Coscheduling {
    /// What each job beyond two adds unless said otherwise.
    pub const MORE: u32 = 100_000;

    /// The same slowdown for all.
    pub fn same(slowdown: Slowdown) -> Self {
        Self { pairs: Pairs::default(), otherwise: slowdown, more: Self::MORE, most: None }
    }

    /// The slowdown of one of these jobs, by their applications (places in the table; `None` if one is not known): the largest of its pairs, and more for
    /// each job beyond two. None if it is alone.
    pub fn slowdown(&self, applications: &[Option<usize>], one: usize) -> Slowdown {
        let own = applications.get(one).copied().flatten();
        let pair = |beside: &Option<usize>| {
            let known = own.zip(*beside).and_then(|(own, beside)| self.pairs.get(own, beside));
            known.unwrap_or(self.otherwise)
        };
        let others =
            applications.iter().enumerate().filter(|(at, _)| *at != one).map(|(_, beside)| pair(beside));
        others
            .max()
            .map_or(Slowdown::NONE, |largest| largest.plus(applications.len().saturating_sub(2), self.more))
    }

    /// The largest slowdown that a job of this application may have with at most so many jobs on a processor.
    pub fn worst(&self, application: Option<usize>, jobs: u32) -> Slowdown {
        if jobs < 2 {
            return Slowdown::NONE;
        }
        let known = application.into_iter().flat_map(|own| {
            (0..self.pairs.names.len()).filter_map(move |beside| self.pairs.get(own, beside))
        });
        let largest = known.chain([self.otherwise]).max().unwrap_or(self.otherwise);
        let all = largest.plus(jobs as usize - 2, self.more);
        self.most.map_or(all, |most| all.min(most)).max(Slowdown::NONE)
    }

    /// Whether these jobs may be put together: none of them would be slowed down too much.
    pub fn allows(&self, applications: &[Option<usize>]) -> bool {
        let within = |one| self.most.is_none_or(|most| self.slowdown(applications, one) <= most);
        applications.len() < 2 || (0..applications.len()).all(within)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slowdown(written: &str) -> Slowdown {
        written.parse().unwrap()
    }

    fn huang() -> Pairs {
        Pairs::HUANG.parse().unwrap()
    }

    #[test]
    fn table_5_2() {
        let pairs = huang();
        let place = |name: &str| pairs.names().iter().position(|known| known == name).unwrap();
        let of = |one: &str, other: &str| pairs.of(place(one), place(other)).to_string();
        // Grid-1200 with Central is slowed down to 1.1, with Grid-2400 to 1.4 (section 5.5); these to 1.7 and 0.8.
        assert_eq!([of("grid-1200", "central"), of("central", "grid-1200")], ["1.1", "1.7"]);
        assert_eq!([of("grid-1200", "grid-2400"), of("grid-2400", "grid-1200")], ["1.4", "0.8"]);
        assert_eq!([of("stream", "stream"), of("random", "random")], ["0.8", "2"]);
        // Two jobs on equal shares do more than one after the other where the mean of 1 / slowdown is above 1.
        let mut gains: Vec<String> = Vec::new();
        for one in 0..6 {
            for other in one..6 {
                let rates = [pairs.of(one, other), pairs.of(other, one)]
                    .map(|pair| 1e6 / f64::from(pair.millionths()));
                let throughput = rates.iter().sum::<f64>() / 2.0;
                if throughput > 1.0 {
                    gains.push(format!("{}+{} {throughput:.4}", pairs.names()[one], pairs.names()[other]));
                }
            }
        }
        assert_eq!(gains, ["grid-1200+stream 1.0096", "grid-2400+stream 1.2500", "stream+stream 1.2500"]);
    }

    #[test]
    fn several_jobs_have_the_largest_pair_and_a_tenth_for_each_beyond_two() {
        let same = Coscheduling::same(slowdown("1.2"));
        let of = |jobs: usize| same.slowdown(&vec![None; jobs], 0).to_string();
        assert_eq!([1, 2, 3, 5].map(of), ["1", "1.2", "1.3", "1.5"]);
        let table = Coscheduling { pairs: huang(), most: Some(slowdown("1.4")), ..same };
        // Grid-300 beside grid-1200 and central: 1.4 and 0.9; that of central, which is slowed down to 1.6 and 1.7, is too much.
        let three = [Some(0), Some(1), Some(3)];
        assert_eq!([0, 1, 2].map(|one| table.slowdown(&three, one).to_string()), ["1.5", "1.2", "1.8"]);
        assert!(
            !table.allows(&three) && table.allows(&[Some(0), Some(1)]) && !table.allows(&[Some(0), Some(3)])
        );
        // Another application, or one beyond the table, is slowed down as is said of all others.
        assert_eq!(table.slowdown(&[Some(5), None], 0), slowdown("1.2"));
        assert_eq!(table.slowdown(&[Some(5), Some(6)], 0), slowdown("1.2"));
        assert_eq!(
            (pairs_beyond(&table), table.allows(&[Some(4)]), table.allows(&[])),
            (Slowdown::NONE, true, true)
        );
        assert_eq!(table.slowdown(&[], 0), Slowdown::NONE);
    }

    fn pairs_beyond(table: &Coscheduling) -> Slowdown {
        table.pairs.of(0, 6)
    }

    #[test]
    fn a_table_may_say_each_cell_or_half_of_them() {
        let whole: Pairs = "a b; a 1.2 1.4; b 1.1 2".parse().unwrap();
        let half: Pairs = "a b\na 1.2 1.4/1.1\nb - 2\n".parse().unwrap();
        let lower: Pairs = "a b; a 1.2 -; b 1.1/1.4 2".parse().unwrap();
        assert_eq!((&whole, &whole), (&half, &lower));
        let symmetric: Pairs = "a b; a 1 1.5; b - 1".parse().unwrap();
        assert_eq!((symmetric.of(0, 1), symmetric.of(1, 0)), (slowdown("1.5"), slowdown("1.5")));
        assert_eq!("solo; solo 1".parse::<Pairs>().unwrap().names(), ["solo"]);
    }

    #[test]
    fn what_is_wrong_with_a_table_is_told_with_its_place() {
        let said = |text: &str| text.parse::<Pairs>().unwrap_err().to_string();
        assert!(said(" \n ; ").starts_with("the table of slowdowns is empty"));
        assert_eq!(said("a b a"), "line 1: the application `a` is named twice");
        assert_eq!(said("a b\na 1 1"), "the table of slowdowns is not square: it has 2 columns and 1 rows");
        assert_eq!(said("a; a 1; b 1"), "the table of slowdowns is not square: it has 1 columns and 2 rows");
        assert_eq!(
            said("a b\n\nb 1 1\na 1 1"),
            "line 3: the row of `b` stands where that of `a` should be; rows go in the order of the columns"
        );
        assert_eq!(said("a b\na 1 1\nb 1"), "line 3: the row of `b` has 1 cells, and the table 2 columns");
        assert_eq!(
            said("a b\na 1 0\nb 1 1"),
            "line 2: `a` beside `b`: `0` is not a slowdown from 0.01 to 100, such as `1.2`"
        );
        assert_eq!(
            said("a b\na 1 1/x\nb - 1"),
            "line 2: `a` beside `b`: `x` is not a slowdown from 0.01 to 100, such as `1.2`"
        );
        assert_eq!(said("a b\na 1 -\nb - 1"), "line 2: the pair `a` and `b` is missing");
        assert_eq!(said("a b\na - 1\nb 1 1"), "line 2: the pair `a` and `a` is missing");
        assert_eq!(said("a b\na 1 1/2\nb 2 1"), "line 2: the pair `a` and `b` is given twice");
        assert_eq!(said("a b\na 1 1/2\nb 2/1 1"), "line 2: the pair `a` and `b` is given twice");
        assert_eq!(said("a b\na 1/2 1\nb 1 1"), "line 2: the pair `a` and `a` is given twice");
    }

    proptest! {
        /// Any table that is written is read as it was, whichever half says a pair.
        #[test]
        fn tables_are_read_as_they_are_written(
            count in 1_usize..5, cells in prop::collection::vec((1_u32..9_999, 0_u8..3), 25),
        ) {
            let of = |one: usize, other: usize| format!("{}.{:02}", cells[one * 5 + other].0 / 100, cells[one * 5 + other].0 % 100);
            let name = |at: usize| format!("app-{at}");
            let mut text = (0..count).map(name).collect::<Vec<_>>().join(" ");
            for row in 0..count {
                text.push_str(&format!("\n{}", name(row)));
                for column in 0..count {
                    let (low, high) = (row.min(column), row.max(column));
                    let cell = match cells[low * 5 + high].1 {
                        _ if row == column => of(row, column),
                        0 => of(row, column),
                        1 if row == low => format!("{}/{}", of(row, column), of(column, row)),
                        2 if row == high => format!("{}/{}", of(row, column), of(column, row)),
                        _ => "-".to_owned(),
                    };
                    text.push_str(&format!("  {cell}"));
                }
            }
            let pairs: Pairs = text.parse().unwrap();
            for row in 0..count {
                for column in 0..count {
                    prop_assert_eq!(pairs.of(row, column), slowdown(&of(row, column)));
                }
            }
        }
    }
}
