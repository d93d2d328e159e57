//! Assembles a scenario from its file, the site files that it uses, repeated sites, and `--set`.

use std::io;
use std::path::{Path as FilePath, PathBuf};

use super::catalogue::{CATALOGUE, from_catalogue};
use super::names::near;
use super::problem::Problem;
use super::set::{Override, Set, Stage};
use super::tree::{Entry, Node, Origins, Path, Place, Value};
use crate::broker::outside::NAME;
use crate::output::files;

/// The largest number of sites.
pub(super) const MOST_SITES: usize = 20_000;

/// A scenario as written, as one tree.
#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) root: Node,
    pub(super) origins: Origins,
    /// True for the scenario of a finished run: its logs need not be there any more.
    pub(super) kept: bool,
}

/// The name of a site, and its place in the file.
type SiteName = (String, Place);

impl Document {
    /// Assembles the scenario `root` of the file `file`.
    ///
    /// # Errors
    /// The first part that cannot be assembled.
    pub(super) fn assemble(
        root: Node,
        origins: Origins,
        file: &FilePath,
        sets: &[Override],
        kept: bool,
    ) -> Result<Self, Problem> {
        let folder = file.parent().unwrap_or(FilePath::new(""));
        let mut document = Self { root, origins, kept };
        let mut sets =
            sets.iter().map(|set| Set::read(set, &mut document.origins)).collect::<Result<_, _>>()?;
        document.apply(&mut sets, Stage::Head)?;
        document.use_files(folder)?;
        document.apply(&mut sets, Stage::Written)?;
        document.leave_out_program();
        document.repeat()?;
        document.apply(&mut sets, Stage::Each)?;
        document.inherit();
        Ok(document)
    }

    /// A problem with the value at `path`.
    pub(super) fn problem(&self, path: &Path, message: impl Into<String>) -> Problem {
        self.root.problem(&self.origins, path, message)
    }

    /// The folder to which paths in the value at `path` are relative.
    pub(super) fn folder_of(&self, path: &Path) -> &FilePath {
        self.origins.folder(self.root.place_of(path))
    }

    fn apply(&mut self, sets: &mut Vec<Set>, stage: Stage) -> Result<(), Problem> {
        for set in std::mem::take(sets) {
            if set.belongs_to(stage, &self.root) {
                set.apply(&mut self.root, &self.origins)?;
            } else {
                sets.push(set);
            }
        }
        Ok(())
    }

    /// Who says that the broker has no program leaves out all that is about one.
    fn leave_out_program(&mut self) {
        let Some(broker) = self.root.table_mut().and_then(|root| root.get_mut("broker")) else { return };
        let has_none = broker.node.get("command").is_some_and(|command| command.text() == Some("none"));
        let Some(broker) = broker.node.table_mut().filter(|_| has_none) else { return };
        for key in ["command", "folder", "timeout", "fallback"] {
            broker.take(key);
        }
        if broker.get("policy").is_some_and(|policy| policy.node.text() == Some(NAME)) {
            broker.take("policy");
        }
    }

    fn sites(&mut self) -> Option<&mut Vec<Node>> {
        self.root.table_mut()?.get_mut("site")?.node.list_mut()
    }

    /// Adds the keys of each site file to the site that uses it, except those that the site has itself.
    fn use_files(&mut self, folder: &FilePath) -> Result<(), Problem> {
        for at in 0..self.sites().map_or(0, |sites| sites.len()) {
            let site = self.sites().and_then(|sites| sites[at].table_mut());
            let Some(used) = site.and_then(|site| site.take("use")) else { continue };
            let path = Path::default().key("site").item(at);
            let fail = |document: &Self, problem: String| {
                let spelled = document.root.spelled(&path) + ".use";
                Problem::new(document.origins.words(used.at), &spelled, problem)
            };
            let Some(name) = used.node.text() else {
                return Err(fail(self, "this must be the path of a site file, in quotes".to_owned()));
            };
            let base = self.origins.folder(used.node.at);
            let (shown, text, folder) = find(name, base, folder).map_err(|problem| fail(self, problem))?;
            let mut file = self.origins.parse(&shown, &text, folder)?;
            let entries = file.table_mut().map(|table| std::mem::take(&mut table.0)).unwrap_or_default();
            let misplaced = |entry: &&Entry| matches!(entry.key.as_str(), "use" | "names" | "count" | "site");
            if let Some(entry) = entries.iter().find(misplaced) {
                let problem = "a site file describes one site with its own keys; this is for scenarios";
                return Err(Problem::new(self.origins.words(entry.at), &entry.key, problem));
            }
            let Some(site) = self.sites().and_then(|sites| sites[at].table_mut()) else { continue };
            let has_names = site.get("names").is_some();
            for entry in entries {
                if site.get(&entry.key).is_none() && !(has_names && entry.key == "name") {
                    site.0.push(entry);
                }
            }
        }
        Ok(())
    }

    /// Turns one site with `names` or a `count` into several sites.
    fn repeat(&mut self) -> Result<(), Problem> {
        let written = self.sites().cloned().unwrap_or_default();
        let mut made = Vec::new();
        for (at, site) in written.into_iter().enumerate() {
            let Some(names) = self.copies(&Path::default().key("site").item(at), &site)? else {
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
        if let Some(sites) = self.sites() {
            *sites = made;
        }
        Ok(())
    }

    /// Copies common values to where they apply: `churn` to each site, except for keys that the site has itself, and
    /// values of the network to its links.
    fn inherit(&mut self) {
        let churn = self.root.get("churn").filter(|churn| churn.table().is_some()).cloned();
        for site in self.sites().into_iter().flatten() {
            let (Some(all), Some(site)) = (&churn, site.table_mut()) else { break };
            if site.get("churn").is_none() {
                let entry = Entry { key: "churn".to_owned(), at: all.at, node: Node::empty(all.at) };
                site.0.push(entry);
            }
            let own = site.get_mut("churn").and_then(|entry| entry.node.table_mut());
            if let (Some(own), Some(all)) = (own, all.table()) {
                // Outages by chance and those of a trace stand for each other.
                let has = |keys: &[&str]| keys.iter().any(|key| own.get(key).is_some());
                let (traced, random) = (has(&["trace"]), has(&["up", "down"]));
                let replaced = |key: &str| {
                    (traced && matches!(key, "up" | "down"))
                        || (random && matches!(key, "trace" | "nodes" | "system" | "begin" | "zone"))
                };
                let inherited = all.0.iter().filter(|entry| !replaced(&entry.key));
                inherited.for_each(|entry| own.inherit(&entry.key, all));
            }
        }
        let network = self.root.get("network").and_then(Node::table).cloned();
        let own = self.root.table_mut().and_then(|table| table.get_mut("network"));
        let links = own.and_then(|entry| entry.node.table_mut()).and_then(|table| table.get_mut("link"));
        for link in links.and_then(|entry| entry.node.list_mut()).into_iter().flatten() {
            if let (Some(network), Some(link)) = (&network, link.table_mut()) {
                ["latency", "bandwidth"].into_iter().for_each(|key| link.inherit(key, network));
            }
        }
    }

    /// The names of the sites that one table describes; `None` if it is a single one.
    fn copies(&self, path: &Path, site: &Node) -> Result<Option<Vec<SiteName>>, Problem> {
        let fail = |key: &str, problem: &str| Err(self.problem(&path.key(key), problem));
        let name = site.get("name");
        match (site.get("names"), site.get("count")) {
            (None, None) => Ok(None),
            (Some(_), Some(_)) => fail("count", "`names` and `count` exclude each other"),
            (Some(_), None) if name.is_some() => {
                fail("names", "`name` is for one site and `names` for several")
            }
            (Some(names), None) => {
                let named = |item: &Node| Some((item.text()?.to_owned(), item.at));
                let names: Option<Vec<_>> = names.list().and_then(|items| items.iter().map(named).collect());
                match names.filter(|names| !names.is_empty()) {
                    Some(names) => Ok(Some(names)),
                    None => fail("names", "this must be a list of names, such as `[\"a\", \"b\"]`"),
                }
            }
            (None, Some(count)) => {
                let number = match &count.value {
                    Value::Integer(text) | Value::Bare(text) => text.parse::<usize>().ok(),
                    _ => None,
                };
                let Some(number) = number.filter(|number| (1..=MOST_SITES).contains(number)) else {
                    return fail("count", &format!("this must be a number of sites, from 1 to {MOST_SITES}"));
                };
                let Some((stem, place)) = name.and_then(|name| Some((name.text()?, name.at))) else {
                    return fail("count", "`count` needs a `name`, to which the numbers are added");
                };
                Ok(Some((1..=number).map(|number| (format!("{stem}-{number}"), place)).collect()))
            }
        }
    }
}

/// The name, text and folder of a site file: one beside the file that names it, beside the scenario, or from the catalogue.
fn find(name: &str, base: &FilePath, scenario: &FilePath) -> Result<(String, String, PathBuf), String> {
    for folder in [base, scenario] {
        let path = folder.join(name);
        match files::text(&path) {
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
    let near = near(name, CATALOGUE.iter().map(|file| file.path));
    let listed: Vec<_> = CATALOGUE.iter().map(|file| file.path).collect();
    Err(format!(
        "there is no file `{}`, and no `{name}` in the catalogue{near}; the catalogue has `{}`",
        base.join(name).display(),
        listed.join("`, `")
    ))
}
