//! Replications: the seeds under which each point of a campaign is run.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use toml::Value;

use crate::scenario::kind::Kind;
use crate::scenario::kind::reading::Reading;
use crate::scenario::tree::{self, Node};

/// The largest number of seeds of a campaign.
const MOST: u64 = 100_000;

/// The number of seeds, which count from 1, a list, or `"101..130"`, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seeds(pub(super) Vec<u64>);

const EXPECTED: &str =
    "a number of seeds such as `30`, a list such as `[1, 2, 3]`, or a range such as `\"101..130\"`";

impl Seeds {
    fn of(seeds: impl ExactSizeIterator<Item = u64>) -> Result<Self, String> {
        match seeds.len() as u64 {
            0 => Err("the list of seeds is empty".to_owned()),
            count if count > MOST => Err(format!("{count} seeds are more than the maximum of {MOST}")),
            _ => Ok(Self(seeds.collect())),
        }
    }

    fn range(written: &str) -> Result<Self, String> {
        let fail = || format!("`{written}` is not {EXPECTED}");
        let (first, last) = written.split_once("..").ok_or_else(fail)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| fail());
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(format!("`{written}` is descending; write `{last}..{first}`"));
        }
        match last - first {
            more if more >= MOST => Err(format!("`{written}` has more than {MOST} seeds")),
            more => Ok(Self((0..=more).map(|at| first + at).collect())),
        }
    }
}

impl Kind for Seeds {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let seeds = match &node.value {
            tree::Value::Integer(digits) => match digits.parse::<u32>() {
                Ok(count) => Self::of((0..count as usize).map(|at| at as u64 + 1)),
                Err(_) => Err(format!("`{digits}` is not {EXPECTED}")),
            },
            tree::Value::Text(text) => Self::range(text),
            tree::Value::List(_) => {
                let (seeds, mut seen) = (Vec::<u64>::read(node, reading)?, BTreeSet::new());
                match seeds.iter().find(|seed| !seen.insert(**seed)) {
                    Some(seed) => Err(format!("the seed {seed} is there twice")),
                    None => Self::of(seeds.into_iter()),
                }
            }
            _ => {
                return reading.mismatch(node, EXPECTED);
            }
        };
        seeds.map_err(|problem| reading.wrong(node, problem)).ok()
    }

    fn show(&self) -> Option<Value> {
        self.0.show()
    }

    fn schema() -> Json {
        json!({ "title": "number, list or range", "type": ["integer", "string", "array"] })
    }
}
