//! The partitions of a run: their names, processors and machines, as far as its folder contains them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::ProcSet;
use crate::output::{FolderKind, ReadError, RunFolder};
use crate::report::lists::index_in;

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) site: String,
    pub(crate) partition: String,
    pub(crate) processors: u32,
    /// Processors of a machine; 0 if unknown.
    pub(crate) cores: u32,
    /// Number of machines that are absent at the beginning of the run: the last ones.
    pub(crate) absent: u32,
}

/// The partitions of a run, in the order of its scenario, or else of their first appearance in the tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    list: Vec<Place>,
    known: BTreeMap<(Arc<str>, Arc<str>), usize>,
    /// Whether processor counts come from the platform, and not only from the processors that jobs used.
    sized: bool,
}

impl Places {
    /// Reads what the folder contains besides its tables.
    pub(crate) fn of(folder: &RunFolder) -> Result<Self, ReadError> {
        let scenario = if folder.kind() == FolderKind::Run { folder.scenario()? } else { None };
        let list = scenario.and_then(|text| from_scenario(&text)).unwrap_or_default();
        let name = |place: &Place| (place.site.as_str().into(), place.partition.as_str().into());
        let known = list.iter().map(name).zip(0..).collect();
        Ok(Self { sized: !list.is_empty(), list, known })
    }

    /// Whether processor counts are known before the tables are read.
    pub(crate) const fn sized(&self) -> bool {
        self.sized
    }

    /// Index of a partition, which is added if it is new.
    pub(crate) fn place(&mut self, site: &Arc<str>, partition: &Arc<str>) -> usize {
        if let Some(at) = self.known.get(&(site.clone(), partition.clone())) {
            return *at;
        }
        let (site_name, name) = (site.to_string(), partition.to_string());
        self.list.push(Place { site: site_name, partition: name, processors: 0, cores: 0, absent: 0 });
        self.known.insert((site.clone(), partition.clone()), self.list.len() - 1);
        self.list.len() - 1
    }

    /// Records that the partition has at least these processors.
    pub(crate) fn reach(&mut self, place: usize, procs: &ProcSet) {
        let last = procs.intervals().last().map_or(0, |(_, last)| last + 1);
        self.list[place].processors = self.list[place].processors.max(last);
    }

    /// Sets the number of processors of a machine of the partition, if it is unknown.
    pub(crate) fn machines(&mut self, place: usize, cores: u32) {
        if self.list[place].cores == 0 {
            self.list[place].cores = cores;
        }
    }

    pub(crate) fn list(&self) -> &[Place] {
        &self.list
    }

    /// Total number of processors.
    pub(crate) fn processors(&self) -> u64 {
        self.list.iter().map(|place| u64::from(place.processors)).sum()
    }

    /// Names of the sites, in order, and for each partition the index of its site among them.
    pub(crate) fn sites(&self) -> (Vec<String>, Vec<usize>) {
        let mut sites = Vec::new();
        let of = self.list.iter().map(|place| index_in(&mut sites, &place.site)).collect();
        (sites, of)
    }
}

/// The partitions of a fully resolved scenario. An unknown form gives `None`; partitions are then collected from the tables.
fn from_scenario(text: &str) -> Option<Vec<Place>> {
    let scenario: toml::Table = text.parse().ok()?;
    let mut places = Vec::new();
    for site in scenario.get("site")?.as_array()? {
        let name = site.get("name")?.as_str()?;
        for class in site.get("machines")?.as_array()? {
            let number = |key: &str| {
                class.get(key).and_then(toml::Value::as_integer).and_then(|n| u32::try_from(n).ok())
            };
            let (count, cores) = (number("count")?, number("cores")?);
            let absent = match class.get("absent") {
                Some(toml::Value::String(word)) if word == "all" => count,
                _ => number("absent").unwrap_or(0).min(count),
            };
            places.push(Place {
                site: name.to_owned(),
                partition: class.get("class")?.as_str()?.to_owned(),
                processors: count.checked_mul(cores)?,
                cores,
                absent,
            });
        }
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_those_of_the_scenario() {
        let text = r#"
            [[site]]
            name = "delft"
            machines = [{ class = "p3", count = 4, cores = 2, absent = "all" }, { class = "p4", count = 3, cores = 1, absent = 1 }]
        "#;
        let places = from_scenario(text).unwrap();
        assert_eq!((places[0].processors, places[0].absent), (8, 4));
        assert_eq!((places[1].processors, places[1].absent, places[1].cores), (3, 1, 1));
        assert_eq!(from_scenario("name = \"x\""), None);
    }
}
