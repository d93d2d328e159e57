//! The text of a campaign as a tree, and readers for parts of it that may have any form.

use std::path::{Path as FilePath, PathBuf};

use crate::scenario::show::quoted;
use crate::scenario::tree::{Node, Origins, Path, Place, Step, Value};
use crate::scenario::{Base, Override, Problem};

/// The tree of a campaign's file.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    file: PathBuf,
    pub(super) root: Node,
    pub(super) origins: Origins,
}

impl Sheet {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// If it is not valid TOML.
    pub(super) fn parse(file: &FilePath, text: &str) -> Result<Self, Problem> {
        let mut origins = Origins::default();
        let folder = file.parent().unwrap_or(FilePath::new("")).to_owned();
        let root = origins.parse(&file.display().to_string(), text, folder)?;
        Ok(Self { file: file.to_owned(), root, origins })
    }

    /// The folder to which paths in it are relative.
    pub(super) fn folder(&self) -> PathBuf {
        self.file.parent().unwrap_or(FilePath::new("")).to_owned()
    }

    /// The value at `path`.
    pub(super) fn node(&self, path: &Path) -> Option<&Node> {
        path.0.iter().try_fold(&self.root, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Item(at) => node.list()?.get(*at),
        })
    }

    /// A problem with the value at `path`.
    pub(super) fn problem(&self, path: &Path, problem: impl Into<String>) -> Problem {
        self.root.problem(&self.origins, path, problem)
    }

    /// File, line and axis.
    pub(super) fn words(&self, at: Place, axis: &str) -> String {
        format!("{}, axis `{axis}`", self.origins.words(at))
    }

    /// The scenario in the table at `path`.
    pub(super) fn inline(&self, path: &Path) -> Option<Base> {
        let node = self.node(path).filter(|node| node.table().is_some())?;
        Some(Base::within(self.file.clone(), node.clone(), self.origins.clone()))
    }

    /// The overrides in the table at `path`, attributed to `whom`. A key is written in quotes, as after `--set`, or with
    /// dots or headings as in TOML; only a table in braces is a value.
    ///
    /// # Errors
    /// A value that no key accepts.
    pub(super) fn sets(&self, path: &Path, whom: &str) -> Result<Vec<Override>, Problem> {
        let mut sets = Vec::new();
        if let Some(node) = self.node(path) {
            self.gather(node, path, "", whom, &mut sets)?;
        }
        Ok(sets)
    }

    fn gather(
        &self,
        node: &Node,
        path: &Path,
        before: &str,
        whom: &str,
        sets: &mut Vec<Override>,
    ) -> Result<(), Problem> {
        for entry in node.table().map(|table| table.0.as_slice()).unwrap_or_default() {
            let path = path.key(&entry.key);
            let key = if before.is_empty() { entry.key.clone() } else { format!("{before}.{}", entry.key) };
            if matches!(entry.node.value, Value::Table(_)) && !self.origins.is_inline(entry.node.at) {
                self.gather(&entry.node, &path, &key, whom, sets)?;
                continue;
            }
            let value = toml_of(&entry.node).map_err(|problem| self.problem(&path, problem))?;
            let place = |at: Place| format!("{}, {whom}", self.origins.words(at));
            let (key_at, value_at) = (place(entry.at), place(entry.node.at));
            sets.push(Override::written((&key, key_at), (&value, value_at), self.folder()));
        }
        Ok(())
    }
}

/// A value in the syntax of a `--set`, after its `=`.
///
/// # Errors
/// A value that no key accepts.
pub(super) fn toml_of(node: &Node) -> Result<String, String> {
    Ok(match &node.value {
        Value::Text(text) => quoted(text),
        Value::Bare(text) => text.clone(),
        Value::Integer(digits) => digits.clone(),
        // As in a scenario that is shown: a whole number reads back as the same value.
        Value::Float(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Other(what) => return Err(format!("this is {what}, which no key takes")),
        Value::List(items) => {
            let items: Result<Vec<String>, String> = items.iter().map(toml_of).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Table(table) => {
            let plain = |key: &str| {
                !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
            };
            let pair = |key: &str, node: &Node| {
                let key = if plain(key) { key.to_owned() } else { quoted(key) };
                Ok(format!("{key} = {}", toml_of(node)?))
            };
            let pairs: Result<Vec<String>, String> =
                table.0.iter().map(|entry| pair(&entry.key, &entry.node)).collect();
            format!("{{ {} }}", pairs?.join(", "))
        }
    })
}

/// A value as a table shows it: a text without its quotes.
pub(super) fn shown(node: &Node, written: &str) -> String {
    node.text().map_or_else(|| written.to_owned(), str::to_owned)
}
