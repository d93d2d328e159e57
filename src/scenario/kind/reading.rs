//! Reads values from the tree, and collects problems with their places.

use super::Kind;
use super::key::KeyInfo;
use crate::scenario::names::near;
use crate::scenario::problem::{Problems, ScenarioError};
use crate::scenario::tree::{Entry, Node, Origins, Path, Place, Step, Table, Value};

/// Reads a whole tree.
///
/// # Errors
/// All problems with their places.
pub(crate) fn read<T: Kind>(root: &Node, origins: &Origins) -> Result<T, ScenarioError> {
    let mut reading = Reading::new(root, origins);
    let read = T::read(root, &mut reading);
    match read {
        Some(read) if reading.problems.is_empty() => Ok(read),
        _ => Err(reading.problems.into()),
    }
}

/// The state of reading a tree.
pub(crate) struct Reading<'a> {
    root: &'a Node,
    origins: &'a Origins,
    /// The path of the value that is being read.
    path: Path,
    problems: Problems,
}

/// A table that is being read.
pub(crate) struct Keys<'n> {
    node: &'n Node,
    table: &'n Table,
    /// True if it has an unknown key, which may be a misspelt required one.
    misspelt: bool,
    /// The keys whose default is shown as `none`: written so, it is the default.
    may_be_none: Vec<&'static str>,
}

/// The value is invalid; the problem has been noted.
pub(crate) struct Wrong;

impl<'a> Reading<'a> {
    pub(super) fn new(root: &'a Node, origins: &'a Origins) -> Self {
        Self { root, origins, path: Path(Vec::new()), problems: Problems::default() }
    }

    /// Notes a problem at a place.
    fn wrong_at(&mut self, at: Place, message: impl Into<String>) {
        self.problems.add(|| self.root.problem_at(self.origins, at, &self.path, message));
    }

    /// Notes a problem with a value.
    pub(crate) fn wrong(&mut self, node: &Node, message: impl Into<String>) {
        self.wrong_at(node.at, message);
    }

    /// Notes a problem with a value, which is then not there.
    pub(crate) fn refuse<T>(&mut self, node: &Node, problem: impl Into<String>) -> Option<T> {
        self.wrong(node, problem);
        None
    }

    /// Notes that a value is not of the expected form.
    pub(crate) fn mismatch<T>(&mut self, node: &Node, expected: &str) -> Option<T> {
        self.refuse(node, format!("{} is not {expected}", found(node)))
    }

    /// Appends a text to the problems noted since there were `before` of them, except to those that end with a question.
    pub(in crate::scenario) fn add_to(&mut self, before: usize, more: &str) {
        let noted = self.problems.since(before).iter_mut().filter(|problem| !problem.message.ends_with('?'));
        noted.for_each(|problem| problem.message += more);
    }

    /// The number of problems.
    pub(in crate::scenario) fn wrongs(&self) -> usize {
        self.problems.len()
    }

    fn within<T>(&mut self, step: Step, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.0.push(step);
        let read = read(self);
        self.path.0.pop();
        read
    }

    /// Reads a text through `read`; a number is read as the text of its digits.
    pub(crate) fn text<T>(
        &mut self,
        node: &Node,
        expected: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = match &node.value {
            Value::Text(text) | Value::Bare(text) | Value::Integer(text) => read(text),
            Value::Float(number) => read(&number.to_string()),
            _ => {
                return self.mismatch(node, expected);
            }
        };
        text.map_err(|message| self.wrong(node, message)).ok()
    }

    /// The items of a list.
    pub(crate) fn items<T: Kind>(&mut self, node: &Node) -> Option<Vec<T>> {
        let Some(items) = node.list() else {
            return match node.table() {
                Some(_) => self
                    .refuse(node, "this must be a list of tables: write double brackets, such as `[[site]]`"),
                None => self.mismatch(node, "a list, such as `[1, 2]`"),
            };
        };
        let mut read = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            read.push(self.within(Step::Item(at), |reading| T::read(item, reading)));
        }
        read.into_iter().collect()
    }

    /// The entries of a table, each read by `read`.
    pub(super) fn entries<T>(
        &mut self,
        table: &Table,
        mut read: impl FnMut(&Entry, &mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let each = table.0.iter();
        let read: Vec<Option<T>> = each
            .map(|entry| self.within(Step::Key(entry.key.clone()), |reading| read(entry, reading)))
            .collect();
        read.into_iter().collect()
    }

    /// The table in `node`; keys that are not among `keys` are noted as problems.
    pub(crate) fn table<'n>(&mut self, node: &'n Node, expected: &str, keys: &[KeyInfo]) -> Option<Keys<'n>> {
        let Some(table) = node.table() else { return self.mismatch(node, expected) };
        let says_none = |key: &&KeyInfo| {
            table.get(key.name).is_some_and(|entry| entry.node.text() == Some("none"))
                && (key.default)() == "none"
        };
        let may_be_none = keys.iter().filter(says_none).map(|key| key.name).collect();
        let mut read = Keys { node, table, misspelt: false, may_be_none };
        for entry in table.0.iter().filter(|entry| !keys.iter().any(|key| key.name == entry.key)) {
            let message = no_key(&entry.key, keys, !read.misspelt);
            self.within(Step::Key(entry.key.clone()), |reading| reading.wrong_at(entry.at, message));
            read.misspelt = true;
        }
        Some(read)
    }

    /// The value of a key, if it is given.
    pub(crate) fn key<T: Kind>(&mut self, keys: &Keys<'_>, key: &str) -> Result<Option<T>, Wrong> {
        let Some(entry) = keys.table.get(key).filter(|_| !keys.may_be_none.contains(&key)) else {
            return Ok(None);
        };
        self.within(Step::Key(key.to_owned()), |reading| T::read(&entry.node, reading)).map(Some).ok_or(Wrong)
    }

    /// The value of a required key.
    pub(crate) fn needed<T: Kind>(&mut self, keys: &Keys<'_>, key: &str) -> Result<Option<T>, Wrong> {
        let read = self.key(keys, key)?.or_else(T::absent);
        if read.is_none() && !keys.misspelt {
            self.wrong(keys.node, format!("`{key}` is missing"));
        }
        read.map(Some).ok_or(Wrong)
    }
}

/// The message about an unknown key; the first one of a table lists all valid keys.
fn no_key(written: &str, keys: &[KeyInfo], first: bool) -> String {
    if let Some(key) = keys.iter().find(|key| key.was.contains(&written)) {
        return format!("this key is now called `{}`", key.name);
    }
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    let near = near(written, names.iter().copied());
    let listed = if first { format!("; there are `{}`", names.join("`, `")) } else { String::new() };
    format!("there is no such key{near}{listed}")
}

/// A value, as a message quotes it.
fn found(node: &Node) -> String {
    match &node.value {
        Value::Text(text) | Value::Bare(text) | Value::Integer(text) => format!("`{text}`"),
        Value::Float(number) => format!("`{number}`"),
        Value::Bool(value) => format!("`{value}`"),
        Value::Table(_) => "a table".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Other(what) => (*what).to_owned(),
    }
}

/// The value that an empty table would give, if no key is required.
pub(crate) fn of_nothing<T: Kind>() -> Option<T> {
    let (nothing, origins) = (Node::empty(Place::default()), Origins::default());
    T::read(&nothing, &mut Reading::new(&nothing, &origins))
}
