//! The partitions of a run: their names, processors and machines, as far as its folder tells them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::ProcSet;
use crate::report::{FolderKind, ReadError, RunFolder};

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Place {
    pub(in crate::report) site: String,
    pub(in crate::report) partition: String,
    pub(in crate::report) processors: u32,
    /// Processors a machine; 0 if not known.
    pub(in crate::report) cores: u32,
    /// Machines that are not there at the beginning: the last ones.
    pub(in crate::report) absent: u32,
}

/// The partitions of a run, in the order of its scenario, or in which they are met.
#[derive(Clone, Debug, Default)]
pub(in crate::report) struct Places {
    list: Vec<Place>,
    known: BTreeMap<(Arc<str>, Arc<str>), usize>,
    /// Whether the numbers of processors are those of the platform, and not only of what was used.
    sized: bool,
}

impl Places {
    /// What the folder tells before its tables are read.
    pub(in crate::report) fn of(folder: &RunFolder) -> Result<Self, ReadError> {
        let mut places = Self::default();
        match folder.kind() {
            FolderKind::Run => {
                if let Some(text) = folder.scenario()? {
                    places.list = from_scenario(&text).unwrap_or_default();
                }
            }
            FolderKind::Replay => {
                let procs = folder.summary().and_then(|summary| summary["procs"].as_u64());
                let procs = procs.and_then(|procs| u32::try_from(procs).ok());
                places.list.extend(procs.map(|processors| Place {
                    site: String::new(),
                    partition: String::new(),
                    processors,
                    cores: 0,
                    absent: 0,
                }));
            }
            FolderKind::Batsim => {}
        }
        places.sized = !places.list.is_empty();
        for (at, place) in places.list.iter().enumerate() {
            places.known.insert((place.site.as_str().into(), place.partition.as_str().into()), at);
        }
        // A replay has one partition, whatever it is called.
        if folder.kind() == FolderKind::Replay && places.sized {
            places.known.clear();
        }
        Ok(places)
    }

    /// Whether the numbers of processors are known from the beginning.
    pub(in crate::report) const fn sized(&self) -> bool {
        self.sized
    }

    /// The place of a partition, which is added if it is new.
    pub(in crate::report) fn place(&mut self, site: &Arc<str>, partition: &Arc<str>) -> usize {
        if let Some(at) = self.known.get(&(site.clone(), partition.clone())) {
            return *at;
        }
        let at = match &self.list[..] {
            // The unnamed one of a replay.
            [only] if only.site.is_empty() && self.known.is_empty() => 0,
            _ => {
                self.list.push(Place {
                    site: site.to_string(),
                    partition: partition.to_string(),
                    processors: 0,
                    cores: 0,
                    absent: 0,
                });
                self.list.len() - 1
            }
        };
        self.known.insert((site.clone(), partition.clone()), at);
        at
    }

    /// It has at least these processors.
    pub(in crate::report) fn reach(&mut self, place: usize, procs: &ProcSet) {
        let last = procs.intervals().last().map_or(0, |(_, last)| last + 1);
        if let Some(place) = self.list.get_mut(place) {
            place.processors = place.processors.max(last);
        }
    }

    /// Its machines have so many processors.
    pub(in crate::report) fn machines(&mut self, place: usize, cores: u32) {
        if let Some(place) = self.list.get_mut(place)
            && place.cores == 0
        {
            place.cores = cores;
        }
    }

    pub(in crate::report) fn list(&self) -> &[Place] {
        &self.list
    }

    /// All processors.
    pub(in crate::report) fn processors(&self) -> u64 {
        self.list.iter().map(|place| u64::from(place.processors)).sum()
    }

    /// Names of sites, in order, and the place of the site of each partition among them.
    pub(in crate::report) fn sites(&self) -> (Vec<String>, Vec<usize>) {
        let mut sites: Vec<String> = Vec::new();
        let mut of = Vec::new();
        for place in &self.list {
            let at = sites.iter().position(|site| *site == place.site).unwrap_or_else(|| {
                sites.push(place.site.clone());
                sites.len() - 1
            });
            of.push(at);
        }
        (sites, of)
    }
}

/// The partitions of a scenario with everything written out. A form that is not known gives none: then they are found in the tables.
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
