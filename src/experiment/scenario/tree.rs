//! What was written, before it means anything: a tree of values, each with its place.
//!
//! Site files and `--set` are put together here, on the tree, so that whatever is wrong later can be told with the file and line,
//! or the `--set`, that it came from.

use std::fmt::Write;
use std::path::{Path as FilePath, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;

/// Where something was written: an origin and a byte in it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::experiment) struct Place {
    pub(in crate::experiment) origin: usize,
    offset: usize,
}

/// A file, or a `--set`.
#[derive(Clone, Debug)]
struct Origin {
    /// The path of a file; of anything else how it is told.
    name: String,
    /// The text of a file, in which lines are counted.
    text: Option<String>,
    /// What paths in it are seen from.
    folder: PathBuf,
}

/// All that was read, to turn places into words.
#[derive(Clone, Debug, Default)]
pub(in crate::experiment) struct Origins(Vec<Origin>);

/// A value and its place.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Node {
    pub(in crate::experiment) at: Place,
    pub(in crate::experiment) value: Value,
}

#[derive(Clone, Debug)]
pub(in crate::experiment) enum Value {
    Text(String),
    /// The value of a `--set`: a text or a number, whichever is wanted.
    Bare(String),
    Integer(String),
    Float(f64),
    Bool(bool),
    /// What no key takes, in words.
    Other(&'static str),
    List(Vec<Node>),
    Table(Table),
}

/// Keys in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub(in crate::experiment) struct Table(pub(in crate::experiment) Vec<Entry>);

#[derive(Clone, Debug)]
pub(in crate::experiment) struct Entry {
    pub(in crate::experiment) key: String,
    pub(in crate::experiment) at: Place,
    pub(in crate::experiment) node: Node,
}

/// A step from a value into what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::experiment) enum Step {
    Key(String),
    Item(usize),
}

/// The way to a value, from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::experiment) struct Path(pub(in crate::experiment) Vec<Step>);

impl Path {
    #[must_use]
    pub(in crate::experiment) fn key(&self, key: &str) -> Self {
        let mut path = self.clone();
        path.0.push(Step::Key(key.to_owned()));
        path
    }

    #[must_use]
    pub(in crate::experiment) fn item(&self, at: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Step::Item(at));
        path
    }
}

impl Origins {
    fn add(&mut self, name: &str, text: Option<&str>, folder: PathBuf) -> usize {
        self.0.push(Origin { name: name.to_owned(), text: text.map(str::to_owned), folder });
        self.0.len() - 1
    }

    /// A place that is told as `shown`.
    pub(in crate::experiment) fn place(&mut self, shown: &str) -> Place {
        Place { origin: self.add(shown, None, PathBuf::new()), offset: 0 }
    }

    /// Whether what stands at this place of a file begins with `{`.
    pub(in crate::experiment) fn is_inline(&self, at: Place) -> bool {
        let text = self.0.get(at.origin).and_then(|origin| origin.text.as_ref());
        text.is_some_and(|text| text.as_bytes().get(at.offset) == Some(&b'{'))
    }

    /// The folder that a path written at this place is seen from: that of its file, or where the command is typed.
    pub(in crate::experiment) fn folder(&self, at: Place) -> &FilePath {
        self.0.get(at.origin).map_or(FilePath::new(""), |origin| &origin.folder)
    }

    /// `configs/two.toml, line 3`, or the `--set`.
    pub(in crate::experiment) fn words(&self, at: Place) -> String {
        let Some(origin) = self.0.get(at.origin) else { return String::new() };
        match &origin.text {
            None => origin.name.clone(),
            Some(text) => {
                let before = text.as_bytes().iter().take(at.offset).filter(|byte| **byte == b'\n').count();
                format!("{}, line {}", origin.name, before + 1)
            }
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The first thing that is no TOML.
    pub(in crate::experiment) fn parse(
        &mut self,
        name: &str,
        text: &str,
        folder: PathBuf,
    ) -> Result<Node, Problem> {
        let origin = self.add(name, Some(text), folder);
        match DeTable::parse(text) {
            Ok(table) => Ok(from_table(origin, 0, table.into_inner())),
            Err(error) => {
                let at = Place { origin, offset: error.span().map_or(0, |span| span.start) };
                let said = error.message().trim().replace('\n', "; ");
                Err(Problem::new(self.words(at), "", format!("this is not TOML: {said}")))
            }
        }
    }

    /// Reads the value of a `--set`: a table, a list or a text in quotes is read as TOML; anything else is taken as it is.
    ///
    /// # Errors
    /// What begins like TOML and is none.
    pub(in crate::experiment) fn parse_set(
        &mut self,
        shown: &str,
        value: &str,
        folder: PathBuf,
    ) -> Result<Node, Problem> {
        let origin = self.add(shown, None, folder);
        let at = Place { origin, offset: 0 };
        if !value.starts_with(['{', '[', '"', '\'']) {
            return Ok(Node { at, value: Value::Bare(value.to_owned()) });
        }
        match DeValue::parse(value) {
            Ok(value) => {
                let mut node = from_value(origin, value);
                node.move_to(at);
                Ok(node)
            }
            Err(error) => {
                let said = error.message().trim().replace('\n', "; ");
                Err(Problem::new(self.words(at), "", format!("the value is not TOML: {said}")))
            }
        }
    }
}

fn from_table(origin: usize, offset: usize, table: DeTable<'_>) -> Node {
    let entries = table.into_iter().map(|(key, value)| Entry {
        at: Place { origin, offset: key.span().start },
        key: key.into_inner().into_owned(),
        node: from_value(origin, value),
    });
    Node { at: Place { origin, offset }, value: Value::Table(Table(entries.collect())) }
}

fn from_value(origin: usize, value: Spanned<DeValue<'_>>) -> Node {
    let offset = value.span().start;
    let value = match value.into_inner() {
        DeValue::Table(table) => return from_table(origin, offset, table),
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => match number.radix() {
            10 => Value::Integer(number.as_str().to_owned()),
            radix => i64::from_str_radix(number.as_str(), radix)
                .map_or(Value::Other("a number beyond all reason"), |value| {
                    Value::Integer(value.to_string())
                }),
        },
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(items) => {
            Value::List(items.into_iter().map(|item| from_value(origin, item)).collect())
        }
    };
    Node { at: Place { origin, offset }, value }
}

impl Node {
    /// An empty table.
    pub(in crate::experiment) fn empty(at: Place) -> Self {
        Self { at, value: Value::Table(Table::default()) }
    }

    /// Says of the whole value that it was written at one place.
    fn move_to(&mut self, at: Place) {
        self.at = at;
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.move_to(at)),
            Value::Table(table) => {
                for entry in &mut table.0 {
                    entry.at = at;
                    entry.node.move_to(at);
                }
            }
            _ => {}
        }
    }

    pub(in crate::experiment) fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub(in crate::experiment) fn table_mut(&mut self) -> Option<&mut Table> {
        if let Value::Table(table) = &mut self.value { Some(table) } else { None }
    }

    pub(in crate::experiment) fn list(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    pub(in crate::experiment) fn list_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let Value::List(items) = &mut self.value { Some(items) } else { None }
    }

    /// A text, quoted or not.
    pub(in crate::experiment) fn text(&self) -> Option<&str> {
        if let Value::Text(text) | Value::Bare(text) = &self.value { Some(text) } else { None }
    }

    /// The value of a key, if this is a table that has it.
    pub(in crate::experiment) fn get(&self, key: &str) -> Option<&Self> {
        self.table()?.get(key).map(|entry| &entry.node)
    }

    /// The place of what `path` leads to, or of the last thing on the way that was written. Of a key whose value is a table that
    /// spans lines, or a plain value, it is the key's place.
    pub(in crate::experiment) fn place_of(&self, path: &Path) -> Place {
        let (mut node, mut at) = (self, self.at);
        for step in &path.0 {
            let next = match step {
                Step::Key(key) => node.table().and_then(|table| table.get(key)).map(|e| (&e.node, e.at)),
                Step::Item(item) => {
                    node.list().and_then(|items| items.get(*item)).map(|node| (node, node.at))
                }
            };
            let Some((found, place)) = next else { break };
            (node, at) = (found, place);
        }
        at
    }

    /// The path as it would be written behind `--set`: sites by their names.
    pub(in crate::experiment) fn spelled(&self, path: &Path) -> String {
        let (mut node, mut text) = (Some(self), String::new());
        let mut list_of = "";
        for step in &path.0 {
            match step {
                Step::Key(key) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(key);
                    list_of = key;
                    node = node.and_then(|node| node.get(key));
                }
                Step::Item(item) => {
                    node = node.and_then(|node| node.list()).and_then(|items| items.get(*item));
                    let name = node.filter(|_| list_of == "site").and_then(|node| node.get("name"));
                    let _ = match name.and_then(Self::text) {
                        Some(name) => write!(text, ".{name}"),
                        None => write!(text, "[{item}]"),
                    };
                }
            }
        }
        text
    }

    /// What is wrong with what `path` leads to.
    pub(in crate::experiment) fn problem(
        &self,
        origins: &Origins,
        path: &Path,
        said: impl Into<String>,
    ) -> Problem {
        let place = self.place_of(path);
        Problem::new(origins.words(place), &self.spelled(path), said).at((place.origin, place.offset))
    }
}

impl Table {
    pub(in crate::experiment) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(in crate::experiment) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.key == key)
    }

    /// Takes a key out.
    pub(in crate::experiment) fn take(&mut self, key: &str) -> Option<Entry> {
        let at = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(at))
    }

    /// Gives a key a value, in the place of the one it had.
    pub(in crate::experiment) fn put(&mut self, entry: Entry) {
        match self.get_mut(&entry.key) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }
}
