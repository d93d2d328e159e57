//! Groups of jobs, each with a colour: classes or origins.

use std::collections::BTreeMap;

use crate::model::{ClassifiedBy, JobClasses};
use crate::output::JobRow;
use crate::report::charts::Ink;
use crate::report::lists::index_in;

/// The division of jobs into groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    by: By,
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

#[derive(Clone, Debug, Default)]
enum By {
    /// All jobs are one group.
    #[default]
    Nothing,
    /// The class in the row.
    Class,
    /// Classes computed anew, for a machine with this number of processors.
    Classes(JobClasses, u32),
}

/// Maximum number of groups with distinguishable colours: marks and dashes, which other charts have beside them, a Gantt chart has not.
const MOST: usize = 8;

impl Groups {
    /// All jobs in one group.
    pub(crate) fn none() -> Self {
        Self::of(By::Nothing, vec!["all".to_owned()])
    }

    /// The classes in the rows, in this order.
    pub(crate) fn of_rows(names: Vec<String>) -> Self {
        Self::of(By::Class, names)
    }

    /// Classes other than those in the rows.
    pub(crate) fn by_classes(classes: JobClasses, machine: u32) -> Self {
        let names = (0..classes.count()).map(|index| classes.label(index)).collect();
        Self::of(By::Classes(classes, machine), names)
    }

    fn of(by: By, names: Vec<String>) -> Self {
        let places = names.iter().cloned().zip(0..).collect();
        Self { by, names, places }
    }

    /// The group of a job. An unknown class is added.
    pub(crate) fn group(&mut self, job: &JobRow) -> usize {
        match &self.by {
            By::Nothing => 0,
            By::Classes(classes, machine) => {
                let by = ClassifiedBy { runtime: job.run, estimate: job.estimate, procs: job.requested };
                classes.index(classes.of(by, *machine))
            }
            By::Class => self.places.get(&*job.class).copied().unwrap_or_else(|| {
                self.names.push(job.class.to_string());
                self.places.insert(job.class.to_string(), self.names.len() - 1);
                self.names.len() - 1
            }),
        }
    }

    /// The names of the groups.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Merges groups until they are no more than the colours: returns the index of the colour of each group, and the names of the
    /// colours. If there are too many classes, those with the same run time (the first word of the name) are merged.
    pub(crate) fn coloured(&self) -> (Vec<usize>, Vec<String>) {
        if self.names.len() <= MOST {
            return ((0..self.names.len()).collect(), self.names.clone());
        }
        let mut words: Vec<&str> = Vec::new();
        let names = self.names.iter().map(|name| name.split(' ').next().unwrap_or_default());
        let places = names.map(|word| index_in(&mut words, &word)).collect();
        if words.len() <= MOST {
            (places, words.into_iter().map(str::to_owned).collect())
        } else {
            (vec![0; self.names.len()], vec!["all jobs".to_owned()])
        }
    }

    /// Rows, columns and cells of a table of classes. If all names are two words and each first word occurs with each second one,
    /// these are rows and columns; otherwise each class is a row.
    pub(crate) fn table(&self) -> (Vec<String>, Vec<String>, Vec<(usize, usize)>) {
        let mut rows: Vec<&str> = Vec::new();
        let mut columns: Vec<&str> = Vec::new();
        let mut places = Vec::new();
        for name in &self.names {
            let Some((row, column)) = name.split_once(' ').filter(|(_, column)| !column.contains(' ')) else {
                let places = (0..self.names.len()).map(|row| (row, 0)).collect();
                return (self.names.clone(), vec![String::new()], places);
            };
            places.push((index_in(&mut rows, &row), index_in(&mut columns, &column)));
        }
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        (owned(rows), owned(columns), places)
    }
}

/// The look of a group.
pub(crate) fn ink(group: usize) -> Ink {
    Ink::Series((group % usize::from(Ink::SERIES)) as u8)
}
