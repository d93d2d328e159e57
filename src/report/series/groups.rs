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

    /// The classes as tables. If all names are two words, these are rows and columns; if they are three, the third is the name of a
    /// map of its own; otherwise each class is a row.
    pub(crate) fn maps(&self) -> Maps {
        let words: Vec<Vec<&str>> = self.names.iter().map(|name| name.split(' ').collect()).collect();
        let of = words.first().map_or(0, Vec::len);
        let (mut rows, mut columns, mut names) = (Vec::new(), Vec::new(), Vec::new());
        if !(2..=3).contains(&of) || words.iter().any(|words| words.len() != of) {
            let places = (0..self.names.len()).map(|row| (0, row, 0)).collect();
            let one = vec![String::new()];
            return Maps { names: one.clone(), rows: self.names.clone(), columns: one, places };
        }
        let place = |words: &Vec<&str>| {
            let map = words.get(2).copied().unwrap_or_default();
            (
                index_in(&mut names, &map.to_owned()),
                index_in(&mut rows, &words[0].to_owned()),
                index_in(&mut columns, &words[1].to_owned()),
            )
        };
        let places = words.iter().map(place).collect();
        Maps { names, rows, columns, places }
    }
}

/// Classes as tables with the same rows and columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Maps {
    /// The name of each table; empty if there is only one.
    pub(crate) names: Vec<String>,
    /// The names of the rows.
    pub(crate) rows: Vec<String>,
    /// The names of the columns; empty if each class is a row.
    pub(crate) columns: Vec<String>,
    /// Table, row and column of each class.
    pub(crate) places: Vec<(usize, usize, usize)>,
}

/// The look of a group.
pub(crate) fn ink(group: usize) -> Ink {
    Ink::Series((group % usize::from(Ink::SERIES)) as u8)
}
