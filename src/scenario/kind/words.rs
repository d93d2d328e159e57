//! Fixed words, and a word as an alternative to another kind.

use serde_json::{Value as Json, json};
use toml::Value;

use super::{Kind, title};
use crate::formats::swf::Clean;
use crate::model::{
    AtLimit, CoallocationGoal, EstimateBase, FailureAction, Holding, Information, InstantOrder, LostData,
    MemoryOf, MessageKind, OnLeave, Payer, PlacementRule, PlanRepair, Replan, RunTimes, Sharing, TaskOrder,
    TransferMode,
};
use crate::scenario::kind::reading::Reading;
use crate::scenario::names::near;
use crate::scenario::tree::{self, Node};
use crate::workload::SpeedupForm;

/// A word that stands for a value.
#[derive(Debug)]
pub(crate) struct Word<T> {
    word: &'static str,
    value: T,
    /// The former word.
    was: Option<&'static str>,
}

/// A kind whose values are fixed words.
pub(crate) trait Words: Copy + PartialEq + Sized + 'static {
    /// The words of all values.
    const WORDS: &'static [Word<Self>];

    /// The value of a word.
    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|known| known.word == word).map(|known| known.value)
    }

    /// The word of the value.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|known| known.value == self).map_or("", |known| known.word)
    }
}

fn all<T: Words>() -> impl Iterator<Item = &'static str> {
    T::WORDS.iter().map(|known| known.word)
}

/// The words in quotes, as they are written.
fn quoted<T: Words>() -> String {
    all::<T>().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
}

impl<T: Words> Kind for T {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        let words: Vec<&str> = all::<T>().collect();
        let Some(text) = node.text() else {
            return reading.refuse(node, format!("this must be one of `{}`", words.join("`, `")));
        };
        if let Some(value) = T::of(text) {
            return Some(value);
        }
        let message = match T::WORDS.iter().find(|known| known.was == Some(text)) {
            Some(known) => format!("`{text}` is now called `{}`", known.word),
            None => {
                let near = near(text, words.iter().copied());
                format!("`{text}` is not possible here{near}; there are `{}`", words.join("`, `"))
            }
        };
        reading.refuse(node, message)
    }

    fn show(&self) -> Option<Value> {
        Some(Value::String(self.word().to_owned()))
    }

    fn schema() -> Json {
        json!({ "title": quoted::<T>(), "type": "string", "enum": all::<T>().collect::<Vec<_>>() })
    }
}

/// Declares the words of values; `was` is a former word.
macro_rules! words {
    ($($type:ty { $($word:literal $(was $was:literal)? => $value:expr),+ $(,)? })+) => {
        $(impl Words for $type {
            const WORDS: &'static [Word<Self>] =
                &[$(Word { word: $word, value: $value, was: words!(@was $($was)?) }),+];
        })+
    };
    (@was) => { None };
    (@was $was:literal) => { Some($was) };
}

/// Declares types of one word each, as alternatives to another kind.
macro_rules! single {
    ($($(#[doc = $doc:literal])+ $type:ident = $word:literal;)+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Copy, Clone, Debug, PartialEq, Eq)]
            pub(crate) struct $type;

            words! { $type { $word => $type } }
        )+
    };
}

single! {
    /// All jobs.
    All = "all";
    /// As many as possible.
    Any = "any";
    /// Until no job is left.
    Done = "done";
    /// None.
    Nothing = "none";
    /// No limit.
    Unlimited = "unlimited";
    /// At full speed.
    Virtual = "virtual";
}

/// What drives the entities.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// Every entity is an actor.
    #[default]
    Actors,
    /// A plain loop drives the entities.
    Direct,
}

impl Engine {
    /// The word in scenarios.
    pub fn name(self) -> &'static str {
        self.word()
    }
}

/// The kind of a fault.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultWord {
    /// Nothing passes.
    Partition,
    /// Messages take longer.
    Late,
    /// Messages come again.
    Twice,
    /// What is said of reservations is lost.
    Lost,
    /// The directory knows nothing new.
    StaleDirectory,
    /// The directory knows nothing.
    EmptyDirectory,
    /// A site fails without a word.
    Silent,
    /// A site refuses all jobs.
    Refuse,
    /// A site fails all jobs.
    BlackHole,
}

/// When running jobs write checkpoints, unless after a given progress.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Best {
    /// Never.
    None,
    /// At Young's interval.
    Young,
    /// At Daly's interval.
    Daly,
}

words! {
    AtLimit { "overrun" => Self::Overrun, "refuse" => Self::Refuse, "kill" => Self::Kill }
    Best { "none" => Self::None, "young" => Self::Young, "daly" => Self::Daly }
    Clean { "none" => Self::None, "strict" => Self::Strict }
    Engine { "actors" => Self::Actors, "direct" => Self::Direct }
    FailureAction { "requeue" => Self::Requeue, "resubmit" was "give-back" => Self::Resubmit, "wait" => Self::Wait, "fail" => Self::Fail }
    FaultWord {
        "partition" => Self::Partition, "late" => Self::Late, "twice" => Self::Twice, "lost" => Self::Lost, "stale-directory" => Self::StaleDirectory,
        "empty-directory" => Self::EmptyDirectory, "silent" => Self::Silent, "refuse" => Self::Refuse, "black-hole" => Self::BlackHole,
    }
    MessageKind { "reports" => Self::Reports, "ends" => Self::Ends, "commands" => Self::Commands, "reservations" => Self::Reservations }
    Information { "reported" => Self::Reported, "forecast" => Self::Forecast }
    InstantOrder { "instant" => Self::Instant, "event" => Self::Event }
    PlacementRule { "lowest" => Self::Lowest, "fastest" => Self::Fastest, "cheapest" => Self::Cheapest, "least-power" => Self::LeastPower }
    Payer { "user" => Self::User, "site" => Self::Site }
    MemoryOf { "processor" => Self::Processor, "job" => Self::Job }
    OnLeave { "wait" => Self::Wait, "lose" => Self::Lose }
    CoallocationGoal { "earliest" => Self::Earliest, "cheapest" => Self::Cheapest, "gentlest" => Self::Gentlest }
    Holding { "ahead" => Self::Ahead, "at-start" => Self::AtStart }
    LostData { "wait" => Self::Wait, "copy" => Self::Copy, "again" => Self::Again }
    TransferMode { "eager" => Self::Eager, "lazy" => Self::Lazy }
    PlanRepair { "lost" => Self::Lost, "rest" => Self::Rest }
    TaskOrder { "policy" => Self::Policy, "critical-path" => Self::CriticalPath }
    EstimateBase { "exact" => Self::Exact, "type-mean" => Self::TypeMean }
    RunTimes { "estimates" => Self::Estimates, "applications" => Self::Applications }
    SpeedupForm { "linear" => Self::Linear, "working-set" => Self::WorkingSet }
    Sharing { "shared" => Self::Shared, "unshared" => Self::Unshared }
    Replan { "never" => Self::Never, "on-churn" => Self::OnChurn, "every-report" was "every-picture" => Self::EveryReport }
}

/// A fixed word, or a value of another kind.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Or<W, T> {
    /// A fixed word.
    Word(W),
    /// A value of the other kind.
    Value(T),
}

impl<W, T> Or<W, T> {
    /// The value, unless it is a word.
    pub(crate) fn value(self) -> Option<T> {
        match self {
            Self::Word(_) => None,
            Self::Value(value) => Some(value),
        }
    }

    /// The value to be changed, unless it is a word.
    pub(crate) const fn as_value_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Word(_) => None,
            Self::Value(value) => Some(value),
        }
    }

    /// A reference to the value, unless it is a word.
    pub(crate) const fn as_value(&self) -> Option<&T> {
        match self {
            Self::Word(_) => None,
            Self::Value(value) => Some(value),
        }
    }
}

impl<W: Words, T: Kind> Kind for Or<W, T> {
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self> {
        if let Some(word) = node.text().and_then(W::of) {
            return Some(Self::Word(word));
        }
        if T::TABLE {
            if node.table().is_none() {
                return reading.mismatch(node, &Self::expected());
            }
            return T::read(node, reading).map(Self::Value);
        }
        // Where a word is allowed, a number may also be written as a text.
        let value = match &node.value {
            tree::Value::Text(text) => tree::Value::Bare(text.clone()),
            tree::Value::Float(number) => tree::Value::Bare(number.to_string()),
            value => value.clone(),
        };
        let before = reading.wrongs();
        let read = T::read(&Node { at: node.at, value }, reading);
        if read.is_none() {
            reading.add_to(before, &format!("; or `{}`", all::<W>().collect::<Vec<_>>().join("`, `")));
        }
        read.map(Self::Value)
    }

    fn show(&self) -> Option<Value> {
        match self {
            Self::Word(word) => word.show(),
            Self::Value(value) => value.show(),
        }
    }

    fn expected() -> String {
        format!("{} or {}", quoted::<W>(), T::expected())
    }

    fn schema() -> Json {
        let value = T::schema();
        let both = format!("{} or {}", quoted::<W>(), title(&value));
        json!({ "title": both, "anyOf": [W::schema(), value] })
    }

    fn absent() -> Option<Self> {
        T::absent().map(Self::Value)
    }
}
