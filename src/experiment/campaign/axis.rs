//! Axes: what varies in a campaign, and what each place on it sets in the scenario.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::range::Range;
use super::sheet::{Sheet, shown, toml_of};
use crate::experiment::scenario::tree::{Node, Path};
use crate::experiment::scenario::{Override, Problem};

/// Something that varies.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The column of the table.
    pub(super) name: String,
    /// At least one.
    pub(super) places: Vec<AxisPlace>,
}

/// A place on an axis.
#[derive(Clone, Debug)]
pub(super) struct AxisPlace {
    /// How it is called in the table.
    pub(super) label: String,
    /// What it sets.
    pub(super) sets: Vec<Override>,
}

/// An axis as it is written. What can be of any form is looked up in the tree.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table of an axis")]
pub(super) struct AxisKeys {
    name: Option<String>,
    key: Option<IgnoredAny>,
    values: Option<IgnoredAny>,
    range: Option<Range>,
    write: Option<String>,
    variants: Option<IgnoredAny>,
}

/// Where `write` puts the value.
const GAP: &str = "{}";
const FORMS: &str = "`values = [...]`, `range = { from = 0.5, to = 0.9, step = 0.1 }` or `[axis.variants]`";

impl Axis {
    /// The axis that `keys` of `path` describe.
    ///
    /// # Errors
    /// What makes no axis of it.
    pub(super) fn read(sheet: &Sheet, path: &Path, keys: &AxisKeys) -> Result<Self, Problem> {
        let axis = match (&keys.values, &keys.range, &keys.variants) {
            (None, None, Some(_)) => Self::of_variants(sheet, path, keys)?,
            (Some(_), None, None) | (None, Some(_), None) => Self::of_values(sheet, path, keys)?,
            (None, None, None) => {
                return Err(sheet.problem(path, format!("the axis has no values; say {FORMS}")));
            }
            _ => return Err(sheet.problem(path, format!("the axis has values twice; say one of {FORMS}"))),
        };
        if axis.places.is_empty() {
            return Err(sheet.problem(path, "the axis has no place: nothing would be run"));
        }
        let mut seen = BTreeMap::new();
        for place in &axis.places {
            if seen.insert(place.label.as_str(), ()).is_some() {
                return Err(
                    sheet.problem(path, format!("`{}` is twice on the axis `{}`", place.label, axis.name))
                );
            }
        }
        Ok(axis)
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
                let said = "an axis over several keys needs a `name`, the column of the table";
                return Err(sheet.problem(path, said));
            }
        };
        if let Some(write) = keys.write.as_ref().filter(|write| !write.contains(GAP)) {
            let said =
                format!("`{write}` has no `{GAP}` where the value goes, as in `write = \"factor:{GAP}\"`");
            return Err(sheet.problem(&path.key("write"), said));
        }
        let at = set.path.clone();
        let places: Result<Vec<AxisPlace>, Problem> = match (&keys.range, sheet.node(&path.key("values"))) {
            (Some(range), _) => {
                let range_at = path.key("range");
                let values = range.values().map_err(|said| sheet.problem(&range_at, said))?;
                let line = sheet.words(sheet.root().place_of(&range_at), &name);
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
        Ok(Self { name, places: places? })
    }

    fn of_variants(sheet: &Sheet, path: &Path, keys: &AxisKeys) -> Result<Self, Problem> {
        let at = path.key("variants");
        for (key, given) in [("key", keys.key.is_some()), ("write", keys.write.is_some())] {
            if given {
                return Err(sheet.problem(&path.key(key), "each variant says its own keys; leave this out"));
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
                let said = "a variant is a table of keys, such as `{ \"broker.policy\" = \"mct\" }`, or `{}`";
                return Err(sheet.problem(&at, said));
            }
            Ok(AxisPlace { label: entry.key.clone(), sets: sheet.sets(&at, &format!("axis `{name}`"))? })
        });
        let places = places.collect::<Result<_, _>>()?;
        Ok(Self { name, places })
    }
}

/// The last word of a key: `load` of `site.main.workload.lublin.load`.
fn last_word(key: &str) -> &str {
    let last = key.rsplit('.').next().unwrap_or(key);
    last.split('[').next().unwrap_or(last)
}

/// The keys that an axis sets, and where they stand.
struct Keys {
    path: Path,
    keys: Vec<String>,
}

/// A value for a key, as it is shown and as it is set.
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
        let set = toml_of(node).map_err(|said| sheet.problem(path, said))?;
        Ok(Self { label: shown(node, &set), set, at: sheet.words(node.at, axis) })
    }

    /// What is written with it.
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
            let said = "the axis says no `key` of the scenario, such as `key = \"broker.policy\"`";
            return Err(sheet.problem(&path, said));
        };
        let texts: Option<Vec<&str>> = match node.list() {
            Some(items) => items.iter().map(Node::text).collect(),
            None => node.text().map(|text| vec![text]),
        };
        let keys: Vec<String> = texts
            .filter(|texts| !texts.is_empty())
            .ok_or_else(wrong)?
            .into_iter()
            .map(str::to_owned)
            .collect();
        Ok(Self { path, keys })
    }

    /// The values of the keys: a list has one for each, anything else is for all of them.
    fn split<'a>(&self, sheet: &Sheet, path: &Path, item: &'a Node) -> Result<Vec<&'a Node>, Problem> {
        match item.list() {
            Some(items) if self.keys.len() > 1 => {
                if items.len() != self.keys.len() {
                    let said = format!(
                        "there are {} values for {} keys; say one for each, or a single one for all",
                        items.len(),
                        self.keys.len()
                    );
                    return Err(sheet.problem(path, said));
                }
                Ok(items.iter().collect())
            }
            _ => Ok(vec![item]),
        }
    }

    /// The place that gives the keys these values: one for each, or one for all.
    fn place(&self, sheet: &Sheet, axis: &str, values: &[Value], keys: &AxisKeys) -> AxisPlace {
        let label = values.iter().map(|value| value.label.as_str()).collect::<Vec<_>>().join("/");
        let key_at = sheet.words(sheet.root().place_of(&self.path), axis);
        let sets = self.keys.iter().enumerate().map(|(at, key)| {
            let value = &values[at.min(values.len() - 1)];
            let set = value.written(keys.write.as_ref());
            Override::written((key, key_at.clone()), (&set, value.at.clone()), sheet.folder())
        });
        AxisPlace { label, sets: sets.collect() }
    }
}
