//! When a run takes snapshots, and which of them it keeps.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::experiment::scenario::quantity::{Quantity, Written, textual};
use crate::units::Span;

/// Snapshots of a run. They change no result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table of when snapshots are taken")]
pub struct CheckpointKeys {
    /// The folder of the store, seen from where the command is typed; `--checkpoint` says another. Without one, no snapshot is
    /// taken.
    pub store: Option<String>,
    /// How often, by the wall clock: a duration, or `"none"`. Default: 30 s; none if snapshots are taken by virtual time or by
    /// events.
    pub every: Option<Interval>,
    /// How often, in virtual time: a duration, or `"none"`. Default: none.
    pub every_virtual: Option<Interval>,
    /// After how many events: jobs, segments and other records that the run has written. 0 for never. Default: 0.
    pub every_events: Option<u64>,
    /// How many of the newest snapshots stay. Default: 2.
    pub last: Option<u32>,
    /// Beside these, every so manieth snapshot stays. 0 for none. Default: 0.
    pub keep_every: Option<u32>,
    /// Snapshots are taken at these times, and stay. Default: none.
    pub keep_at: Option<Vec<Written<Span>>>,
    /// What holds them: `"sled"` or `"redb"`. Default: what this version of gridemu holds for the safest.
    pub database: Option<String>,
}

/// A time between two snapshots, or none.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Interval {
    /// Never.
    #[default]
    None,
    /// So often.
    Every(Span),
}

impl Interval {
    /// The time between, if there is one.
    pub const fn span(self) -> Option<Span> {
        match self {
            Self::None => None,
            Self::Every(span) => Some(span),
        }
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written {
            "none" => Ok(Self::None),
            _ => match written.parse::<Written<Span>>() {
                Ok(Written(Span::ZERO)) => {
                    Err("snapshots all the time leave no time for the run; say more than 0, or `none`"
                        .to_owned())
                }
                Ok(span) => Ok(Self::Every(span.0)),
                Err(error) => Err(format!("{error}; or `none`")),
            },
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Every(span) => f.write_str(&span.text()),
        }
    }
}

textual!(Interval, "a duration such as `\"30 s\"`, or `\"none\"`", "30 s");
