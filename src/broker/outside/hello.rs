//! The first line in each direction: what is there, and how the program wants to be asked.

use serde::{Deserialize, Serialize};

use crate::broker::{BrokerAbilities, Gate, PoolFacts, PoolGroup};

/// The name of the protocol.
pub const PROTOCOL: &str = "gridemu-broker";
/// The version of the protocol.
pub const VERSION: u32 = 1;
/// What this version can do beyond what each version can.
const FEATURES: &[&str] = &["immediate", "batch", "workflows", "later", "takes", "save", "put_off"];

/// What a program is told first.
#[derive(Clone, Debug)]
pub struct Greeting {
    /// The pools, in order.
    pub pools: Vec<PoolFacts>,
    /// The seed of the run.
    pub seed: u64,
    /// Where the conversation goes on, if it began in another process.
    pub resumed: Option<Resumed>,
}

/// Where a conversation goes on.
#[derive(Clone, Debug, Serialize)]
pub struct Resumed {
    /// The number of the last question.
    pub question: u64,
    /// What the program gave to be saved last.
    pub save: Option<String>,
}

#[derive(Serialize)]
struct Line<'a> {
    hello: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    protocol: &'static str,
    version: u32,
    features: &'static [&'static str],
    seed: u64,
    pools: Vec<PoolLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed: Option<&'a Resumed>,
}

#[derive(Serialize)]
struct PoolLine<'a> {
    pool: usize,
    site: &'a str,
    partition: &'a str,
    processors: u32,
    cores: u32,
    allocation_unit: u32,
    speed: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<GroupLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<&'a str>,
    latency: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidth: Option<u64>,
}

#[derive(Serialize)]
struct GroupLine {
    processors: u32,
    speed: f64,
}

impl GroupLine {
    fn of(group: &PoolGroup) -> Self {
        Self { processors: group.processors, speed: group.speed.as_f64() }
    }
}

impl Greeting {
    /// The line, with its end.
    ///
    /// # Errors
    /// A sentence, if it cannot be written.
    pub fn line(&self) -> Result<Vec<u8>, String> {
        let pools = self.pools.iter().enumerate().map(|(pool, facts)| PoolLine {
            pool,
            site: &facts.site,
            partition: &facts.partition,
            processors: facts.processors,
            cores: facts.cores,
            allocation_unit: facts.allocation_unit,
            speed: facts.speed.as_f64(),
            groups: facts.groups.iter().map(GroupLine::of).collect(),
            memory: facts.equipment.memory.map(|memory| memory.count()),
            tags: facts.equipment.tags.iter().map(String::as_str).collect(),
            latency: facts.latency.micros(),
            bandwidth: facts.bandwidth.map(|bandwidth| bandwidth.bits()),
        });
        let hello = Body {
            protocol: PROTOCOL,
            version: VERSION,
            features: FEATURES,
            seed: self.seed,
            pools: pools.collect(),
            resumed: self.resumed.as_ref(),
        };
        let mut line = serde_json::to_vec(&Line { hello }).map_err(|error| error.to_string())?;
        line.push(b'\n');
        Ok(line)
    }
}

/// How a program decides.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// About one task after the other.
    Immediate,
    /// About all tasks that wait, at once.
    Batch,
}

/// What a pool must have for a program of immediate mode to pick it; see [`Gate`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GateWord {
    #[default]
    Every,
    Fits,
    AllUp,
    Free,
    FreeOrAbsent,
    Asked,
}

/// What a program says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    version: u32,
    #[serde(default)]
    name: Option<String>,
    mode: Mode,
    #[serde(default)]
    gate: GateWord,
    #[serde(default)]
    steady: bool,
    #[serde(default)]
    pulls: bool,
    #[serde(default)]
    workflows: bool,
    #[serde(default = "yes")]
    estimates: bool,
    #[serde(default)]
    changes: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    hello: Hello,
}

impl Hello {
    /// Reads the program's first line.
    ///
    /// # Errors
    /// A sentence on what is wrong, and what would be right.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        let Answered { hello } = serde_json::from_slice(line).map_err(|error| {
            let wrote: String = String::from_utf8_lossy(line).chars().take(120).collect();
            format!(
                "its first line, `{wrote}`, is no answer to the hello, {error}; write such as {{\"hello\":{{\"version\":{VERSION},\"name\":\"mine\",\"mode\":\"immediate\"}}}}"
            )
        })?;
        if hello.version != VERSION {
            return Err(format!(
                "it speaks version {} of the protocol; this gridemu speaks version {VERSION}",
                hello.version
            ));
        }
        if hello.workflows && hello.mode == Mode::Immediate {
            return Err("it wants whole workflows, which needs `\"mode\":\"batch\"`".to_owned());
        }
        Ok(hello)
    }

    /// Its name, if it says one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How it decides.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What it needs of the grid. It may draw from the seed.
    pub fn abilities(&self) -> BrokerAbilities {
        BrokerAbilities {
            pulls: self.pulls,
            random: true,
            batch: self.mode == Mode::Batch,
            steady: self.steady,
            workflows: self.workflows,
            objectives: &[],
            takes_time: true,
        }
    }

    pub(super) fn gate(&self) -> Gate {
        match self.gate {
            GateWord::Every => Gate::Every,
            GateWord::Fits => Gate::Fits,
            GateWord::AllUp => Gate::AllUp,
            GateWord::Free => Gate::Free,
            GateWord::FreeOrAbsent => Gate::FreeOrAbsent,
            GateWord::Asked => Gate::Asked,
        }
    }

    /// Whether it plans whole workflows.
    pub(super) fn plans_workflows(&self) -> bool {
        self.workflows
    }

    /// Whether it is told how long tasks take in each pool.
    pub(super) fn wants_estimates(&self) -> bool {
        self.estimates
    }

    /// Whether it is told what has changed.
    pub(super) fn wants_changes(&self) -> bool {
        self.changes || self.mode == Mode::Batch
    }
}
