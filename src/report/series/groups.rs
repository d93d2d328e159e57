//! Groups of jobs that have a colour each: classes, or whose jobs they are.

use std::collections::BTreeMap;

use crate::model::{JobClasses, Origin};
use crate::report::JobRow;
use crate::report::charts::Ink;

/// How jobs are told apart.
#[derive(Clone, Debug)]
pub(in crate::report) struct Groups {
    by: By,
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

#[derive(Clone, Debug)]
enum By {
    /// All are one group.
    Nothing,
    /// The class in the row.
    Class,
    /// A class worked out anew, on a machine of so many processors.
    Cut(JobClasses, u32),
}

/// Groups beyond this many cannot be told apart by colour.
const MOST: usize = 8;

impl Groups {
    /// All jobs in one group.
    pub(in crate::report) fn none() -> Self {
        Self::of(By::Nothing, vec!["all".to_owned()])
    }

    /// The classes that the rows have, in this order.
    pub(in crate::report) fn of_rows(names: Vec<String>) -> Self {
        Self::of(By::Class, names)
    }

    /// Other classes than the rows have.
    pub(in crate::report) fn cut(classes: JobClasses, machine: u32) -> Self {
        let names = (0..classes.count()).map(|index| classes.label(index)).collect();
        Self::of(By::Cut(classes, machine), names)
    }

    fn of(by: By, names: Vec<String>) -> Self {
        let places = names.iter().cloned().zip(0..).collect();
        Self { by, names, places }
    }

    /// The group of a job. A class that was not known is added.
    pub(in crate::report) fn group(&mut self, job: &JobRow) -> usize {
        match &self.by {
            By::Nothing => 0,
            By::Cut(classes, machine) => classes.index(classes.of(job.run, job.requested, *machine)),
            By::Class => match self.places.get(&*job.class) {
                Some(place) => *place,
                None => {
                    self.names.push(job.class.to_string());
                    self.places.insert(job.class.to_string(), self.names.len() - 1);
                    self.names.len() - 1
                }
            },
        }
    }

    /// Their names.
    pub(in crate::report) fn names(&self) -> &[String] {
        &self.names
    }

    /// As few groups as have colours: each group's place among them, and their names. Of too many classes, those of one run time
    /// (the first word) go together.
    pub(in crate::report) fn coloured(&self) -> (Vec<usize>, Vec<String>) {
        if self.names.len() <= MOST {
            return ((0..self.names.len()).collect(), self.names.clone());
        }
        let mut kept: Vec<String> = Vec::new();
        let mut places = Vec::new();
        for name in &self.names {
            let word = name.split(' ').next().unwrap_or(name);
            let place = kept.iter().position(|found| found == word).unwrap_or_else(|| {
                kept.push(word.to_owned());
                kept.len() - 1
            });
            places.push(place);
        }
        if kept.len() <= MOST {
            (places, kept)
        } else {
            (vec![0; self.names.len()], vec!["all jobs".to_owned()])
        }
    }

    /// Rows and columns of a table of classes whose names are two words, each of the first with each of the second; otherwise a row a
    /// class.
    pub(in crate::report) fn table(&self) -> (Vec<String>, Vec<String>, Vec<(usize, usize)>) {
        let mut rows: Vec<&str> = Vec::new();
        let mut columns: Vec<&str> = Vec::new();
        let mut places = Vec::new();
        for name in &self.names {
            let Some((row, column)) = name.split_once(' ').filter(|(_, column)| !column.contains(' ')) else {
                let places = (0..self.names.len()).map(|row| (row, 0)).collect();
                return (self.names.clone(), vec![String::new()], places);
            };
            let place = |found: &mut Vec<&str>, word| {
                let known = found.iter().position(|other| *other == word);
                known.unwrap_or(found.len())
            };
            let (r, c) = (place(&mut rows, row), place(&mut columns, column));
            if r == rows.len() {
                rows.push(row);
            }
            if c == columns.len() {
                columns.push(column);
            }
            places.push((r, c));
        }
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        (owned(rows), owned(columns), places)
    }
}

/// The colour of a group.
pub(in crate::report) fn ink(group: usize) -> Ink {
    Ink::Series((group % usize::from(Ink::SERIES)) as u8)
}

/// The name of an origin in a legend.
pub(in crate::report) const fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Own => "local jobs",
        Origin::Sent => "jobs of the grid",
    }
}
