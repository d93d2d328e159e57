//! Axes: what varies in a campaign, and what each value on an axis sets in the scenario.

use std::collections::BTreeSet;

use super::range::Range;
use super::sheet::{Sheet, shown, toml_of};
use crate::scenario::kind::key::keys;
use crate::scenario::kind::plain::Anything;
use crate::scenario::tree::{Node, Path};
use crate::scenario::{Override, Problem};

/// One thing that varies in a campaign.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The name of its column in the table.
    pub(super) name: String,
    /// The values on the axis, at least one.
    pub(super) places: Vec<AxisPlace>,
    /// Whether each seed has one of the values, in their order, instead of every one.
    pub(super) with_seed: bool,
}

/// A value on an axis.
#[derive(Clone, Debug)]
pub(super) struct AxisPlace {
    /// Its name in the table.
    pub(super) label: String,
    /// The keys that it sets.
    pub(super) sets: Vec<Override>,
}

keys! {
    /// An axis as it is written. Values of any form are read from the tree.
    AxisKeys, "a table of an axis" {
        /// Name of the column of the table.
        name: Option<String>;
        /// The key of the scenario that varies, or a list of keys.
        key: Option<Anything>;
        /// Values of the key.
        values: Option<Anything>;
        /// Values of the key, as a range of numbers.
        range: Option<Range>;
        /// Text that is set instead of the value; `{}` stands for the value.
        write: Option<String>;
        /// Named tables of keys and values.
        variants: Option<Anything>;
        /// True if it is no axis of the table: the first seed has the first value, the second the next, and so on, from the first again after the last.
        with_seed: bool = false;
    }
}

/// The placeholder for the value in `write`.
const GAP: &str = "{}";
const FORMS: &str = "`values = [...]`, `range = { from = 0.5, to = 0.9, step = 0.1 }` or `[axis.variants]`";

impl Axis {
    /// Reads the axis that `keys` at `path` describe.
    ///
    /// # Errors
    /// The reason why the keys do not form an axis.
    pub(super) fn read(sheet: &Sheet, path: &Path, keys: &AxisKeys) -> Result<Self, Problem> {
        let wrong = |problem: String| Err(sheet.problem(path, problem));
        let axis = match [keys.values.is_some(), keys.range.is_some(), keys.variants.is_some()] {
            [false, false, true] => Self::of_variants(sheet, path, keys)?,
            [true, false, false] | [false, true, false] => Self::of_values(sheet, path, keys)?,
            [false, false, false] => return wrong(format!("the axis has no values; give {FORMS}")),
            _ => return wrong(format!("the axis has two kinds of values; give one of {FORMS}")),
        };
        if axis.places.is_empty() {
            return wrong("the axis is empty: nothing would be run".to_owned());
        }
        let mut seen = BTreeSet::new();
        match axis.places.iter().find(|place| !seen.insert(place.label.as_str())) {
            Some(place) => wrong(format!("`{}` is twice on the axis `{}`", place.label, axis.name)),
            None => Ok(axis),
        }
    }

    /// The keys that it sets.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.places.iter().flat_map(|place| place.sets.iter().map(Override::key))
    }

    fn of_values(sheet: &Sheet, path: &Path, keys: &AxisKeys) -> Result<Self, Problem> {
        let set = Keys::read(sheet, path)?;
        let name = match &keys.name {
            Some(name) => name.clone(),
            None if set.keys.len() == 1 => last_word(&set.keys[0]).to_owned(),
            None => {
                let problem = "an axis over several keys needs a `name`, the column of the table";
                return Err(sheet.problem(path, problem));
            }
        };
        if let Some(write) = keys.write.as_ref().filter(|write| !write.contains(GAP)) {
            let problem =
                format!("`{write}` has no `{GAP}` where the value goes, as in `write = \"factor:{GAP}\"`");
            return Err(sheet.problem(&path.key("write"), problem));
        }
        let at = set.path.clone();
        let places: Result<Vec<AxisPlace>, Problem> = match (&keys.range, sheet.node(&path.key("values"))) {
            (Some(range), _) => {
                let range_at = path.key("range");
                let values = range.values().map_err(|problem| sheet.problem(&range_at, problem))?;
                let line = sheet.words(sheet.root.place_of(&range_at), &name);
                let place =
                    |value: String| Ok(set.place(sheet, &name, &[Value::bare(value, line.clone())], keys));
                values.into_iter().map(place).collect()
            }
            (None, Some(values)) => {
                let Some(items) = values.list() else {
                    return Err(sheet.problem(&path.key("values"), "this must be a list, such as `[1, 2]`"));
                };
                let place = |(number, item): (usize, &Node)| {
                    let at = path.key("values").item(number);
                    let each = set.split(sheet, &at, item)?;
                    let values = each.into_iter().map(|node| Value::read(sheet, &at, node, &name));
                    Ok(set.place(sheet, &name, &values.collect::<Result<Vec<_>, _>>()?, keys))
                };
                items.iter().enumerate().map(place).collect()
            }
            (None, None) => Err(sheet.problem(&at, "the axis has no values")),
        };
        Ok(Self { name, places: places?, with_seed: keys.with_seed })
    }

    fn of_variants(sheet: &Sheet, path: &Path, keys: &AxisKeys) -> Result<Self, Problem> {
        let at = path.key("variants");
        for (key, given) in [("key", keys.key.is_some()), ("write", keys.write.is_some())] {
            if given {
                return Err(sheet.problem(&path.key(key), "each variant has its own keys; remove this"));
            }
        }
        let Some(name) = keys.name.clone() else {
            return Err(sheet.problem(path, "an axis of variants needs a `name`, the column of the table"));
        };
        let Some(table) = sheet.node(&at).and_then(Node::table) else {
            return Err(sheet.problem(&at, "this must be a table with a table of keys for each variant"));
        };
        let places = table.0.iter().map(|entry| {
            let at = at.key(&entry.key);
            if entry.node.table().is_none() {
                let problem =
                    "a variant is a table of keys, such as `{ \"broker.policy\" = \"mct\" }`, or `{}`";
                return Err(sheet.problem(&at, problem));
            }
            Ok(AxisPlace { label: entry.key.clone(), sets: sheet.sets(&at, &format!("axis `{name}`"))? })
        });
        let places = places.collect::<Result<_, _>>()?;
        Ok(Self { name, places, with_seed: keys.with_seed })
    }
}

/// The last word of a key: `load` of `site.main.workload.lublin.load`.
fn last_word(key: &str) -> &str {
    let last = key.rsplit('.').next().unwrap_or(key);
    last.split('[').next().unwrap_or(last)
}

/// The keys that an axis sets, and their places.
struct Keys {
    path: Path,
    keys: Vec<String>,
}

/// A value of a key, as it is shown and as it is set.
struct Value {
    label: String,
    set: String,
    /// File and line.
    at: String,
}

impl Value {
    fn bare(text: String, at: String) -> Self {
        Self { label: text.clone(), set: text, at }
    }

    fn read(sheet: &Sheet, path: &Path, node: &Node, axis: &str) -> Result<Self, Problem> {
        let set = toml_of(node).map_err(|problem| sheet.problem(path, problem))?;
        Ok(Self { label: shown(node, &set), set, at: sheet.words(node.at, axis) })
    }

    /// The text of the value, inserted into `write` if there is one.
    fn written(&self, write: Option<&String>) -> String {
        write.map_or_else(|| self.set.clone(), |write| write.replace(GAP, &self.label))
    }
}

impl Keys {
    fn read(sheet: &Sheet, path: &Path) -> Result<Self, Problem> {
        let path = path.key("key");
        let wrong =
            || sheet.problem(&path, "this must be a key of the scenario in quotes, or a list of keys");
        let Some(node) = sheet.node(&path) else {
            let problem = "the axis has no `key` of the scenario, such as `key = \"broker.policy\"`";
            return Err(sheet.problem(&path, problem));
        };
        let texts: Option<Vec<&str>> = match node.list() {
            Some(items) => items.iter().map(Node::text).collect(),
            None => node.text().map(|text| vec![text]),
        };
        let texts = texts.filter(|texts| !texts.is_empty()).ok_or_else(wrong)?;
        let keys = texts.into_iter().map(str::to_owned).collect();
        Ok(Self { path, keys })
    }

    /// The values of the keys: a list has one for each key, anything else applies to all of them.
    fn split<'a>(&self, sheet: &Sheet, path: &Path, item: &'a Node) -> Result<Vec<&'a Node>, Problem> {
        let count = self.keys.len();
        match item.list().filter(|_| count > 1) {
            Some(items) if items.len() == count => Ok(items.iter().collect()),
            Some(items) => {
                let problem = format!(
                    "a list of {} for {count} keys; give a value for each, or a single one without brackets for all",
                    items.len()
                );
                Err(sheet.problem(path, problem))
            }
            None => Ok(vec![item]),
        }
    }

    /// The value on the axis that gives the keys these values: one for each, or one for all.
    fn place(&self, sheet: &Sheet, axis: &str, values: &[Value], keys: &AxisKeys) -> AxisPlace {
        let label = values.iter().map(|value| value.label.as_str()).collect::<Vec<_>>().join("/");
        let key_at = sheet.words(sheet.root.place_of(&self.path), axis);
        let sets = self.keys.iter().enumerate().map(|(at, key)| {
            let value = &values[at.min(values.len() - 1)];
            let set = value.written(keys.write.as_ref());
            Override::written((key, key_at.clone()), (&set, value.at.clone()), sheet.folder())
        });
        AxisPlace { label, sets: sets.collect() }
    }
}
