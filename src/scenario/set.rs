//! `--set key=value`: values that override those of the scenario.

use std::path::{Path, PathBuf};

use super::problem::Problem;
use super::tree::{Entry, Node, Origins, Place, Step, Table, Value};
use crate::model::{Named, did_you_mean, nearest};

/// The stage at which a `--set` is applied.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Before site files are read: the names of site files and the number of sites.
    Head,
    /// After site files are read, but before sites are repeated.
    Written,
    /// After sites are repeated: for sites whose names exist only then.
    Each,
}

/// A value that overrides that of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The place of the value in messages: the typed option, or a line of a campaign.
    shown: String,
    key: String,
    value: Option<String>,
    /// True for a text that is not read as TOML, whatever it begins with.
    literal: bool,
    /// The place of the key, if it is not that of the value.
    key_shown: Option<String>,
    /// The folder to which paths in the value are relative; empty for the current folder.
    folder: PathBuf,
}

impl Override {
    /// The override of a `--set` option: `key=value`.
    pub fn set(written: &str) -> Self {
        let (key, value) = match written.split_once('=') {
            Some((key, value)) => (key, Some(value.trim().to_owned())),
            None => (written, None),
        };
        Self::shown(format!("`--set {written}`"), key.trim(), value)
    }

    /// The key, as it was typed.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// The typed override as a part of a command, quoted for a shell where necessary.
    pub(crate) fn typed_again(&self) -> String {
        let shown = self.shown.trim_matches('`');
        match shown.split_once(' ') {
            Some((option, value)) => format!("{option} {}", shell_word(value)),
            None => shown.to_owned(),
        }
    }

    /// The same override for a key inside `table`.
    pub(crate) fn under(&self, table: &str) -> Self {
        Self { key: format!("{table}.{}", self.key), ..self.clone() }
    }

    /// An option that is short for a key: `--pace 60` for `clock.pace`.
    pub fn option(option: &str, key: &str, value: &str) -> Self {
        Self::typed(&format!("{option} {value}"), key, value)
    }

    /// An option that was typed as `typed`, and gives a key this value: `--reserve 2h..4h:64`.
    pub fn typed(typed: &str, key: &str, value: &str) -> Self {
        Self::shown(format!("`{typed}`"), key, Some(value.to_owned()))
    }

    /// An option that gives a key a path. The path is taken as it is, also if it looks like TOML.
    pub fn path(option: &str, key: &str, path: &Path) -> Self {
        Self { literal: true, ..Self::option(option, key, &path.display().to_string()) }
    }

    fn shown(shown: String, key: &str, value: Option<String>) -> Self {
        Self { shown, key: key.to_owned(), value, literal: false, key_shown: None, folder: PathBuf::new() }
    }

    /// An override in a file: its key and its value in the syntax of a `--set`, each with its place. Paths in it are relative to
    /// `folder`.
    pub(crate) fn written(
        (key, key_at): (&str, String),
        (value, value_at): (&str, String),
        folder: PathBuf,
    ) -> Self {
        let (key, value) = (key.to_owned(), Some(value.to_owned()));
        Self { shown: value_at, key, value, literal: false, key_shown: Some(key_at), folder }
    }
}

/// A word of a command, quoted for a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match text.chars().all(plain) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// An [`Override`] whose key has been parsed.
#[derive(Clone, Debug)]
pub(super) struct Set {
    path: Vec<Step>,
    value: Node,
    key_at: Place,
    /// The key as typed.
    key: String,
}

impl Set {
    /// Reads the key and the value.
    ///
    /// # Errors
    /// The invalid key or value.
    pub(super) fn read(typed: &Override, origins: &mut Origins) -> Result<Self, Problem> {
        let Override { shown, key, value, literal, key_shown, folder } = typed;
        let fail = |message: String| Problem::new(key_shown.as_ref().unwrap_or(shown), "", message);
        let Some(value) = value else {
            return Err(fail("this is not of the form `key=value`, such as `broker.policy=mct`".to_owned()));
        };
        if value.is_empty() {
            return Err(fail("there is no value behind the `=`".to_owned()));
        }
        let Some(path) = steps(key) else {
            return Err(fail(format!(
                "`{key}` is not a key; keys look like `seed`, `broker.policy`, `site.delft.policy` or `site[0].policy`"
            )));
        };
        let value = match literal {
            true => Node { at: origins.place(shown), value: Value::Text(value.clone()) },
            false => origins.parse_set(shown, value, folder.clone())?,
        };
        let key_at = key_shown.as_ref().map_or(value.at, |shown| origins.place(shown));
        Ok(Self { path, value, key_at, key: key.clone() })
    }

    pub(super) fn belongs_to(&self, stage: Stage, root: &Node) -> bool {
        let of_site = match &self.path[..] {
            [Step::Key(key), rest @ ..] if key == "site" => rest,
            _ => &[],
        };
        let sites = root.get("site").and_then(Node::list).unwrap_or_default();
        let is = |site: &Node, name: &str| site.get("name").and_then(Node::text) == Some(name);
        let unknown = matches!(of_site, [Step::Key(name), ..] if !sites.iter().any(|site| is(site, name)));
        match (stage, of_site) {
            (Stage::Each, _) => true,
            _ if unknown => false,
            (Stage::Written, _) => true,
            (Stage::Head, [_, Step::Key(last)]) => {
                matches!(last.as_str(), "use" | "name" | "names" | "count")
            }
            (Stage::Head, _) => false,
        }
    }

    /// Puts the value into the tree.
    ///
    /// # Errors
    /// A key that does not exist.
    pub(super) fn apply(self, root: &mut Node, origins: &Origins) -> Result<(), Problem> {
        let at = self.key_at;
        let fail = |message: String| Problem::new(origins.words(at), &self.key, message);
        let Some((last, way)) = self.path.split_last() else { return Ok(()) };
        let mut node = root;
        let mut parent = String::new();
        for step in way {
            node = into(node, step, &parent, at).map_err(&fail)?;
            parent = spelled(&parent, step);
        }
        match last {
            Step::Key(key) if node.list().is_none() => {
                let table = as_table(node, key, &parent).map_err(&fail)?;
                table.put(Entry { key: key.clone(), at, node: self.value });
            }
            step => *into(node, step, &parent, at).map_err(&fail)? = self.value,
        }
        Ok(())
    }
}

fn spelled(before: &str, step: &Step) -> String {
    match step {
        Step::Key(key) if before.is_empty() => key.clone(),
        Step::Key(key) => format!("{before}.{key}"),
        Step::Item(item) => format!("{before}[{item}]"),
    }
}

/// Parses a key such as `site[0].machines.i7.count`.
fn steps(key: &str) -> Option<Vec<Step>> {
    let is_key =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let mut steps = Vec::new();
    for part in key.split('.') {
        let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if !is_key(name) {
            return None;
        }
        steps.push(Step::Key(name.to_owned()));
        while !rest.is_empty() {
            let (item, after) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Item(item.parse().ok()?));
            rest = after;
        }
    }
    Some(steps)
}

/// The value at a step; a missing table is created.
fn into<'a>(node: &'a mut Node, step: &Step, parent: &str, at: Place) -> Result<&'a mut Node, String> {
    match step {
        Step::Item(item) => {
            let items = node.list_mut().ok_or_else(|| format!("`{parent}` is not a list"))?;
            let count = items.len();
            items.get_mut(*item).ok_or_else(|| match count {
                0 => format!("`{parent}` is empty"),
                _ => format!("there is no `{parent}[{item}]`; the last is `{parent}[{}]`", count - 1),
            })
        }
        Step::Key(key) if node.list().is_some() => {
            // Some items may have no name yet, such as sites that are still to be repeated.
            let items = node.list().unwrap_or_default();
            let names: Vec<String> = items.iter().filter_map(name_of).collect();
            let found = items.iter().position(|item| name_of(item).is_some_and(|name| name == *key));
            match (node.list_mut(), found) {
                (Some(items), Some(found)) => Ok(&mut items[found]),
                _ if names.is_empty() => {
                    Err(format!("`{parent}` is a list; write `{parent}[0]` for its first item"))
                }
                _ => {
                    let near = did_you_mean(nearest(key, names.iter().map(String::as_str)));
                    Err(format!(
                        "there is no `{key}` in `{parent}`{near}; there are `{}`",
                        names.join("`, `")
                    ))
                }
            }
        }
        Step::Key(key) => {
            let table = as_table(node, key, parent)?;
            let found = table.0.iter().position(|entry| entry.key == *key).unwrap_or(table.0.len());
            if found == table.0.len() {
                if parent.is_empty() && matches!(key.as_str(), "site" | "workload" | "event") {
                    return Err(format!("the scenario has no `{key}`"));
                }
                table.0.push(Entry { key: key.clone(), at, node: Node::empty(at) });
            }
            Ok(&mut table.0[found].node)
        }
    }
}

/// The name of an item of a list.
fn name_of(item: &Node) -> Option<String> {
    item.get("name").or_else(|| item.get("class")).and_then(Node::text).map(str::to_owned)
}

/// The table that is to contain `key`; a text such as `lublin[jobs=5]` becomes one if its name is the key.
fn as_table<'a>(node: &'a mut Node, key: &str, parent: &str) -> Result<&'a mut Table, String> {
    let at = node.at;
    let named = node.text().and_then(|text| text.parse::<Named>().ok()).filter(|named| named.name == key);
    if let Some(named) = named {
        *node = Node::of_named(at, named);
    }
    node.table_mut().ok_or_else(|| format!("`{parent}` is not a table, so it has no `{key}`"))
}
