//! Replications: the seeds under which each point of a campaign is run.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// Seeds that a campaign may have.
const MOST: u64 = 100_000;

/// A number of seeds from 1 on, a list, or `"101..130"`, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seeds(pub(super) Vec<u64>);

const EXPECTED: &str =
    "a number of seeds such as `30`, a list such as `[1, 2, 3]`, or a range such as `\"101..130\"`";

impl Seeds {
    fn of(seeds: impl ExactSizeIterator<Item = u64>) -> Result<Self, String> {
        match seeds.len() as u64 {
            0 => Err("without a seed nothing is run".to_owned()),
            count if count > MOST => Err(format!("{count} seeds are more than the {MOST} that there may be")),
            _ => Ok(Self(seeds.collect())),
        }
    }

    fn range(written: &str) -> Result<Self, String> {
        let fail = || format!("`{written}` is not {EXPECTED}");
        let (first, last) = written.split_once("..").ok_or_else(fail)?;
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| fail());
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(format!("`{written}` goes backwards; say `{last}..{first}`"));
        }
        match last - first {
            more if more >= MOST => {
                Err(format!("`{written}` are more than the {MOST} seeds that there may be"))
            }
            more => Ok(Self((0..=more).map(|at| first + at).collect())),
        }
    }
}

impl<'de> Deserialize<'de> for Seeds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Seeds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED)
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Seeds, E> {
                let count =
                    usize::try_from(count).map_err(|_| E::custom(format!("`{count}` is not {EXPECTED}")))?;
                Seeds::of((0..count).map(|at| at as u64 + 1)).map_err(E::custom)
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Seeds, E> {
                Seeds::range(text).map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Seeds, A::Error> {
                let (mut seeds, mut seen) = (Vec::new(), BTreeSet::new());
                while let Some(seed) = items.next_element::<u64>()? {
                    if !seen.insert(seed) {
                        return Err(de::Error::custom(format!("the seed {seed} is there twice")));
                    }
                    seeds.push(seed);
                }
                Seeds::of(seeds.into_iter()).map_err(de::Error::custom)
            }
        }

        deserializer.deserialize_any(Reader)
    }
}
