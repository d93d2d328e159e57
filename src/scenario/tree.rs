//! A scenario as written: a tree of values, each with its place.
//!
//! Site files and `--set` are applied to the tree, so that every later problem can be reported with the file and line, or
//! the `--set`, from which the value came.

use std::fmt::Write;
use std::path::{Path as FilePath, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::model::Named;
use crate::scenario::problem::Problem;

/// The place of a value: an origin and a byte offset in it.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) origin: usize,
    offset: usize,
}

/// A file, or a `--set`.
#[derive(Clone, Debug)]
struct Origin {
    /// The path of a file; otherwise the text that names the origin in messages.
    name: String,
    /// The text of a file, in which lines are counted.
    text: Option<String>,
    /// The folder to which paths in it are relative.
    folder: PathBuf,
}

/// All origins, with which places are turned into words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins(Vec<Origin>);

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) at: Place,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// The value of a `--set`: a text or a number, depending on the key.
    Bare(String),
    Integer(String),
    Float(f64),
    Bool(bool),
    /// A value that no key accepts, in words.
    Other(&'static str),
    List(Vec<Node>),
    Table(Table),
}

/// A table, with its keys in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table(pub(crate) Vec<Entry>);

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: Place,
    pub(crate) node: Node,
}

/// A step from a value to one that it contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

/// The path of a value, from the top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path(pub(crate) Vec<Step>);

impl Path {
    #[must_use]
    pub(crate) fn key(&self, key: &str) -> Self {
        Self([&self.0[..], &[Step::Key(key.to_owned())]].concat())
    }

    #[must_use]
    pub(crate) fn item(&self, at: usize) -> Self {
        Self([&self.0[..], &[Step::Item(at)]].concat())
    }
}

impl Origins {
    fn add(&mut self, name: &str, text: Option<&str>, folder: PathBuf) -> usize {
        self.0.push(Origin { name: name.to_owned(), text: text.map(str::to_owned), folder });
        self.0.len() - 1
    }

    /// A place that messages name `shown`.
    pub(crate) fn place(&mut self, shown: &str) -> Place {
        Place { origin: self.add(shown, None, PathBuf::new()), offset: 0 }
    }

    /// True if the text at this place of a file begins with `{`.
    pub(crate) fn is_inline(&self, at: Place) -> bool {
        let text = self.0.get(at.origin).and_then(|origin| origin.text.as_ref());
        text.is_some_and(|text| text.as_bytes().get(at.offset) == Some(&b'{'))
    }

    /// The folder to which a path written at this place is relative: that of its file, or the current folder.
    pub(crate) fn folder(&self, at: Place) -> &FilePath {
        self.0.get(at.origin).map_or(FilePath::new(""), |origin| &origin.folder)
    }

    /// `configs/two.toml, line 3`, or the `--set`.
    pub(crate) fn words(&self, at: Place) -> String {
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
    /// The first error in the TOML.
    pub(crate) fn parse(&mut self, name: &str, text: &str, folder: PathBuf) -> Result<Node, Problem> {
        let origin = self.add(name, Some(text), folder);
        let table = DeTable::parse(text).map_err(|error| {
            let at = Place { origin, offset: error.span().map_or(0, |span| span.start) };
            self.not_toml(at, "this", &error)
        })?;
        Ok(from_table(origin, 0, table.into_inner()))
    }

    /// Reads the value of a `--set`: a table, a list or a text in quotes is read as TOML; anything else is taken literally.
    ///
    /// # Errors
    /// A text that begins like TOML and is invalid.
    pub(crate) fn parse_set(&mut self, shown: &str, value: &str, folder: PathBuf) -> Result<Node, Problem> {
        let origin = self.add(shown, None, folder);
        let at = Place { origin, offset: 0 };
        if !value.starts_with(['{', '[', '"', '\'']) {
            return Ok(Node { at, value: Value::Bare(value.to_owned()) });
        }
        let value = DeValue::parse(value).map_err(|error| self.not_toml(at, "the value", &error))?;
        let mut node = from_value(origin, value);
        node.move_to(at);
        Ok(node)
    }

    fn not_toml(&self, at: Place, what: &str, error: &toml::de::Error) -> Problem {
        let reason = error.message().trim().replace('\n', "; ");
        Problem::new(self.words(at), "", format!("{what} is not TOML: {reason}"))
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
    pub(crate) fn empty(at: Place) -> Self {
        Self { at, value: Value::Table(Table::default()) }
    }

    /// A table with one key, whose parts all have the same place.
    pub(crate) fn of_key(at: Place, key: &str, node: Self) -> Self {
        Self { at, value: Value::Table(Table(vec![Entry { key: key.to_owned(), at, node }])) }
    }

    /// The table equivalent to a text with a name and parameters.
    pub(crate) fn of_named(at: Place, named: Named) -> Self {
        let params = named.params.into_iter();
        let params =
            params.map(|(key, value)| Entry { key, at, node: Self { at, value: Value::Bare(value) } });
        Self::of_key(at, &named.name, Self { at, value: Value::Table(Table(params.collect())) })
    }

    /// Sets the place of the whole value.
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

    pub(crate) fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    pub(crate) fn table_mut(&mut self) -> Option<&mut Table> {
        if let Value::Table(table) = &mut self.value { Some(table) } else { None }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    pub(crate) fn list_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let Value::List(items) = &mut self.value { Some(items) } else { None }
    }

    /// The text of a value, quoted or not.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Value::Text(text) | Value::Bare(text) = &self.value { Some(text) } else { None }
    }

    /// The value of a key, if this is a table with that key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.table()?.get(key).map(|entry| &entry.node)
    }

    /// The place of the value at `path`, or of the last existing value on the way. For a key whose value is a table over
    /// several lines, or a plain value, it is the key's place.
    pub(crate) fn place_of(&self, path: &Path) -> Place {
        let (mut node, mut at) = (self, self.at);
        for step in &path.0 {
            let next = match step {
                Step::Key(key) => node.table().and_then(|table| table.get(key)).map(|entry| {
                    // In a campaign, a key and its values have different places.
                    let apart = entry.at.origin != entry.node.at.origin;
                    (&entry.node, if apart { entry.node.at } else { entry.at })
                }),
                Step::Item(item) => {
                    node.list().and_then(|items| items.get(*item)).map(|node| (node, node.at))
                }
            };
            let Some((found, place)) = next else { break };
            (node, at) = (found, place);
        }
        at
    }

    /// The path in the syntax of `--set`: sites by their names.
    pub(crate) fn spelled(&self, path: &Path) -> String {
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

    /// A problem with the value at `path`.
    pub(crate) fn problem(&self, origins: &Origins, path: &Path, message: impl Into<String>) -> Problem {
        self.problem_at(origins, self.place_of(path), path, message)
    }

    /// A problem at a place that belongs to the value at `path`.
    pub(crate) fn problem_at(
        &self,
        origins: &Origins,
        place: Place,
        path: &Path,
        message: impl Into<String>,
    ) -> Problem {
        Problem::new(origins.words(place), &self.spelled(path), message).at((place.origin, place.offset))
    }
}

impl Table {
    pub(crate) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.key == key)
    }

    /// Gives a missing key its value in `other`.
    pub(crate) fn inherit(&mut self, key: &str, other: &Self) {
        if let (None, Some(entry)) = (self.get(key), other.get(key)) {
            self.0.push(entry.clone());
        }
    }

    /// Removes a key.
    pub(crate) fn take(&mut self, key: &str) -> Option<Entry> {
        let at = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(at))
    }

    /// Sets the value of a key, keeping its position.
    pub(crate) fn put(&mut self, entry: Entry) {
        match self.get_mut(&entry.key) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }
}
