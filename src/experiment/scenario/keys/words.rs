//! Values of keys that are words, or a word beside a number or a quantity.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BandwidthKey;
use crate::experiment::scenario::quantity::{Quantity, Written, textual, words};
use crate::units::Span;

/// All jobs count.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Always;
words!(Always, "`\"all\"` or `{ from = \"1 d\", to = \"8 d\" }`", "all", "all" => Always);

/// As fast as it goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Virtual;
words!(Virtual, "`\"virtual\"` or `{ pace = 60 }`", "virtual", "virtual" => Virtual);

/// No churn at all.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NoChurn;
words!(NoChurn, "`\"none\"` or a table of churn", "none", "none" => NoChurn);

/// What drives the entities.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Engine {
    /// Every entity is an actor.
    #[default]
    Actors,
    /// A plain loop.
    Direct,
}

impl Engine {
    /// The word of a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Actors => "actors",
            Self::Direct => "direct",
        }
    }
}

/// When the run ends at the latest.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Until {
    /// When no job is left.
    #[default]
    Done,
    /// Then.
    At(Span),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written {
            "done" => Ok(Self::Done),
            _ => match written.parse::<Written<Span>>() {
                Ok(span) => Ok(Self::At(span.0)),
                Err(error) => Err(format!("{error}; or `done`")),
            },
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done => f.write_str("done"),
            Self::At(span) => f.write_str(&span.text()),
        }
    }
}

textual!(Until, "a duration such as `\"30 d\"`, or `\"done\"`", "30 d");

/// A bandwidth, or none that is limited.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum MaybeBandwidth {
    /// As much as anybody wants.
    #[default]
    Unlimited,
    /// So much.
    Of(BandwidthKey),
}

impl FromStr for MaybeBandwidth {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        if written == "unlimited" {
            return Ok(Self::Unlimited);
        }
        let bandwidth: BandwidthKey = written.parse().map_err(|error| format!("{error}; or `unlimited`"))?;
        if bandwidth.0.bits() == 0 {
            return Err("a bandwidth of 0 carries nothing; say one above 0, or `unlimited`".to_owned());
        }
        Ok(Self::Of(bandwidth))
    }
}

impl fmt::Display for MaybeBandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("unlimited"),
            Self::Of(bandwidth) => bandwidth.fmt(f),
        }
    }
}

textual!(MaybeBandwidth, "a bandwidth such as `\"1 Gbit/s\"`, or `\"unlimited\"`", "1 Gbit/s");

/// A number, or any.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum AnyNumber {
    /// Any number.
    #[default]
    Any,
    /// At most this many.
    Of(u32),
}

impl FromStr for AnyNumber {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match (written, written.parse()) {
            ("any", _) => Ok(Self::Any),
            (_, Ok(0)) => {
                Err("of 0 jobs there is none that could ever run; say 1 or more, or `any`".to_owned())
            }
            (_, Ok(number)) => Ok(Self::Of(number)),
            _ => Err(format!("`{written}` is not a whole number above 0, or `any`")),
        }
    }
}

impl fmt::Display for AnyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Of(number) => number.fmt(f),
        }
    }
}

textual!(AnyNumber, "a whole number above 0, or `\"any\"`", "any", |value, serializer| match value {
    AnyNumber::Any => serializer.serialize_str("any"),
    AnyNumber::Of(number) => serializer.serialize_u32(*number),
});

/// How many machines are not there at the beginning.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// None of them is.
    All,
    /// The last so many.
    Of(u32),
}

impl FromStr for Absent {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match (written, written.parse()) {
            ("all", _) => Ok(Self::All),
            (_, Ok(number)) => Ok(Self::Of(number)),
            _ => Err(format!("`{written}` is not a number of machines, or `all`")),
        }
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Of(number) => number.fmt(f),
        }
    }
}

textual!(Absent, "a number of machines, or `\"all\"`", "all", |value, serializer| match value {
    Absent::All => serializer.serialize_str("all"),
    Absent::Of(number) => serializer.serialize_u32(*number),
});

/// When running jobs write checkpoints.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Checkpoint {
    /// Never.
    #[default]
    None,
    /// At Young's interval.
    Young,
    /// At Daly's interval.
    Daly,
    /// After so much progress.
    Every(Span),
}

impl FromStr for Checkpoint {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written {
            "none" => Ok(Self::None),
            "young" => Ok(Self::Young),
            "daly" => Ok(Self::Daly),
            _ => match written.parse::<Written<Span>>() {
                Ok(Written(Span::ZERO)) => Err(
                    "a checkpoint after no progress would be written for ever; say `none` or an interval \
                         above 0"
                        .to_owned(),
                ),
                Ok(span) => Ok(Self::Every(span.0)),
                Err(_) => Err(format!(
                    "`{written}` is none of `none`, `young`, `daly` and an interval such as `30 min`"
                )),
            },
        }
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Young => f.write_str("young"),
            Self::Daly => f.write_str("daly"),
            Self::Every(span) => f.write_str(&span.text()),
        }
    }
}

textual!(Checkpoint, "`\"none\"`, `\"young\"`, `\"daly\"` or an interval such as `\"30 min\"`", "young");
