//! Putting together what was written: the scenario's file, the site files that it uses, repeated sites, and `--set`.

use std::io;
use std::path::{Path as FilePath, PathBuf};

use super::Problem;
use super::catalogue::{CATALOGUE, from_catalogue};
use super::resolve::MOST_SITES;
use super::set::{Override, Set, Stage};
use super::tree::{Entry, Node, Origins, Path, Place, Table, Value};
use crate::model::{did_you_mean, nearest};

/// All that was written, as one tree.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) root: Node,
    pub(super) origins: Origins,
}

/// The name of a site, and where it was written.
type SiteName = (String, Place);

/// Reads a file that a scenario names.
pub(super) type ReadFile<'a> = &'a dyn Fn(&FilePath) -> io::Result<String>;

impl Document {
    /// Puts together the scenario `root` of the file `file`.
    ///
    /// # Errors
    /// The first thing that cannot be put together.
    pub(super) fn assemble(
        root: Node,
        origins: Origins,
        file: &FilePath,
        sets: &[Override],
        read: ReadFile<'_>,
    ) -> Result<Self, Problem> {
        let folder = file.parent().unwrap_or(FilePath::new("")).to_owned();
        let mut document = Self { root, origins };
        let mut sets =
            sets.iter().map(|set| Set::read(set, &mut document.origins)).collect::<Result<_, _>>()?;
        document.apply(&mut sets, Stage::Head)?;
        document.use_files(&folder, read)?;
        document.apply(&mut sets, Stage::Written)?;
        document.repeat()?;
        document.apply(&mut sets, Stage::Each)?;
        Ok(document)
    }

    /// What is wrong with what `path` leads to.
    pub(super) fn problem(&self, path: &Path, said: impl Into<String>) -> Problem {
        self.root.problem(&self.origins, path, said)
    }

    /// The folder that paths in the value of `path` are seen from.
    pub(super) fn folder_of(&self, path: &Path) -> &FilePath {
        self.origins.folder(self.root.place_of(path))
    }

    fn apply(&mut self, sets: &mut Vec<Set>, stage: Stage) -> Result<(), Problem> {
        let mut later = Vec::new();
        for set in sets.drain(..) {
            if set.belongs_to(stage, &self.root) {
                set.apply(&mut self.root, &self.origins)?;
            } else {
                later.push(set);
            }
        }
        *sets = later;
        Ok(())
    }

    fn sites(&mut self) -> &mut [Node] {
        let sites = self.root.table_mut().and_then(|table| table.get_mut("site"));
        sites.and_then(|entry| entry.node.list_mut()).map(Vec::as_mut_slice).unwrap_or_default()
    }

    /// Puts under each site that uses a file what the file says and the site does not.
    fn use_files(&mut self, folder: &FilePath, read: ReadFile<'_>) -> Result<(), Problem> {
        for at in 0..self.sites().len() {
            let Some(used) = self.sites()[at].table_mut().and_then(|table| table.take("use")) else {
                continue;
            };
            let path = Path::default().key("site").item(at);
            let fail = |document: &Self, said: String| {
                let spelled = document.root.spelled(&path) + ".use";
                Problem::new(document.origins.words(used.at), &spelled, said)
            };
            let Some(name) = used.node.text().map(str::to_owned) else {
                return Err(fail(self, "this must be the path of a site file, in quotes".to_owned()));
            };
            let base = self.origins.folder(used.node.at).to_owned();
            let (shown, text, folder) = find(&name, &base, folder, read).map_err(|said| fail(self, said))?;
            let mut file = self.origins.parse(&shown, &text, folder)?;
            let Some(Table(entries)) = file.table_mut().map(std::mem::take) else { continue };
            let site = &mut self.sites()[at];
            let has_names = site.get("names").is_some();
            for entry in entries {
                if matches!(entry.key.as_str(), "use" | "names" | "count" | "site") {
                    let said = "a site file describes one site with its own keys; this is for scenarios";
                    return Err(Problem::new(self.origins.words(entry.at), &entry.key, said));
                }
                let site = self.sites()[at].table_mut();
                let Some(table) = site else { break };
                if table.get(&entry.key).is_none() && !(has_names && entry.key == "name") {
                    table.0.push(entry);
                }
            }
        }
        Ok(())
    }

    /// Makes several sites of one that has `names` or a `count`.
    fn repeat(&mut self) -> Result<(), Problem> {
        let mut made = Vec::new();
        for at in 0..self.sites().len() {
            let path = Path::default().key("site").item(at);
            let site = self.sites()[at].clone();
            let names = self.copies(&path, &site)?;
            let Some(names) = names else {
                made.push(site);
                continue;
            };
            for (name, place) in names {
                let mut copy = site.clone();
                if let Some(table) = copy.table_mut() {
                    table.take("names");
                    table.take("count");
                    let node = Node { at: place, value: Value::Text(name) };
                    let entry = Entry { key: "name".to_owned(), at: place, node };
                    match table.get("name") {
                        Some(_) => table.put(entry),
                        None => table.0.insert(0, entry),
                    }
                }
                made.push(copy);
            }
        }
        let list = self.root.table_mut().and_then(|table| table.get_mut("site"));
        if let Some(list) = list.and_then(|entry| entry.node.list_mut()) {
            *list = made;
        }
        Ok(())
    }

    /// The names of the sites that one table stands for; `None` if it is a single one.
    fn copies(&self, path: &Path, site: &Node) -> Result<Option<Vec<SiteName>>, Problem> {
        let (names, count) = (site.get("names"), site.get("count"));
        match (names, count) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => {
                Err(self.problem(&path.key("count"), "`names` and `count` both say how many sites there are"))
            }
            (Some(names), None) => {
                let names_path = path.key("names");
                if site.get("name").is_some() {
                    return Err(self.problem(&names_path, "`name` is for one site and `names` for several"));
                }
                let listed: Option<Vec<_>> = names
                    .list()
                    .map(|items| items.iter().map(|item| Some((item.text()?.to_owned(), item.at))).collect())
                    .unwrap_or_default();
                match listed.filter(|listed| !listed.is_empty()) {
                    Some(listed) => Ok(Some(listed)),
                    None => {
                        Err(self
                            .problem(&names_path, "this must be a list of names, such as `[\"a\", \"b\"]`"))
                    }
                }
            }
            (None, Some(count)) => {
                let count_path = path.key("count");
                let number = match &count.value {
                    Value::Integer(text) | Value::Bare(text) => text.parse::<usize>().ok(),
                    _ => None,
                };
                let Some(number) = number.filter(|number| (1..=MOST_SITES).contains(number)) else {
                    let said = format!("this must be a number of sites, from 1 to {MOST_SITES}");
                    return Err(self.problem(&count_path, said));
                };
                let Some(name) = site.get("name").filter(|name| name.text().is_some()) else {
                    let said = "sites that are counted need a `name`, to which their numbers are added";
                    return Err(self.problem(&count_path, said));
                };
                let (stem, place) = (name.text().unwrap_or_default(), name.at);
                Ok(Some((1..=number).map(|number| (format!("{stem}-{number}"), place)).collect()))
            }
        }
    }
}

/// The name, text and folder of a site file: beside the file that names it, beside the scenario, or of the catalogue.
fn find(
    name: &str,
    base: &FilePath,
    scenario: &FilePath,
    read: ReadFile<'_>,
) -> Result<(String, String, PathBuf), String> {
    for folder in [base, scenario] {
        let path = folder.join(name);
        match read(&path) {
            Ok(text) => {
                let folder = path.parent().unwrap_or(FilePath::new("")).to_owned();
                return Ok((path.display().to_string(), text, folder));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("cannot read `{}`: {error}", path.display())),
        }
    }
    if let Some(file) = from_catalogue(name) {
        return Ok((format!("{} of the catalogue", file.path), file.text.to_owned(), PathBuf::new()));
    }
    let near = did_you_mean(nearest(name, CATALOGUE.iter().map(|file| file.path)));
    let listed: Vec<_> = CATALOGUE.iter().map(|file| file.path).collect();
    Err(format!(
        "there is no file `{}`, and no `{name}` in the catalogue{near}; the catalogue has `{}`",
        base.join(name).display(),
        listed.join("`, `")
    ))
}
