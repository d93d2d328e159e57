//! What suspending, resuming and resizing jobs costs at a site.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::text::words;
use crate::units::{Bandwidth, Bytes, Span};

/// What suspending, resuming and resizing jobs costs at a site. By default nothing: they happen at once.
///
/// A job that is suspended writes its memory before it releases its processors; one that resumes may read it again before it goes on
/// [R. Kettimuthu, *Selective preemption strategies for parallel job scheduling*, MS thesis, 2003, section 4.1, where each processor
/// writes at 2 MB/s to a local disk].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preemption {
    /// The memory of a job.
    pub memory: JobMemory,
    /// Of what it is the memory.
    pub memory_of: MemoryOf,
    /// The bandwidth at which each processor writes; `None` if writing takes no time.
    pub write: Option<Bandwidth>,
    /// The bandwidth at which each processor reads; `None` if reading takes no time.
    pub read: Option<Bandwidth>,
    /// The bandwidth of a machine, which the processors that a job has there share; `None` if they do not slow each other down.
    pub node: Option<Bandwidth>,
    /// What becomes of a suspended job one of whose machines goes down.
    pub on_leave: OnLeave,
    /// How long a job does no work when it gets other processors.
    pub resize: Span,
    /// How much longer for each processor that it gains or loses [X. Huang, *Adaptive space-time sharing with SCOJO*, MSc thesis, 2004,
    /// section 6.9.4].
    pub resize_per_processor: Span,
}

/// The memory of a job, as far as it has to be written and read.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobMemory {
    /// By a law.
    Law(MemoryLaw),
    /// As its workload states it; of other jobs by a law, or none.
    Logged {
        /// The law for jobs of which nothing is stated.
        otherwise: Option<MemoryLaw>,
    },
}

/// How much memory jobs have.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryLaw {
    /// All of them this much.
    Fixed(Bytes),
    /// Each another amount, all between these equally likely.
    Uniform {
        /// The least.
        least: Bytes,
        /// The most.
        most: Bytes,
    },
}

impl MemoryLaw {
    /// The most that a job may have.
    pub const fn most(self) -> Bytes {
        match self {
            Self::Fixed(memory) | Self::Uniform { most: memory, .. } => memory,
        }
    }
}

impl FromStr for MemoryLaw {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        let amount = |text: &str| text.trim().parse::<Bytes>().map_err(|error| error.to_string());
        match written.split_once("..") {
            None => amount(written).map(Self::Fixed),
            Some((least, most)) => match (amount(least)?, amount(most)?) {
                (least, most) if least <= most => Ok(Self::Uniform { least, most }),
                (least, most) => Err(format!("`{written}` has no amounts: {least} is more than {most}")),
            },
        }
    }
}

impl fmt::Display for MemoryLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(memory) => memory.fmt(f),
            Self::Uniform { least, most } => write!(f, "{least}..{most}"),
        }
    }
}

impl Default for JobMemory {
    fn default() -> Self {
        Self::Law(MemoryLaw::Fixed(Bytes::ZERO))
    }
}

impl JobMemory {
    /// Whether it is drawn.
    pub const fn draws(self) -> bool {
        matches!(self.law(), Some(MemoryLaw::Uniform { .. }))
    }

    /// Whether no job has any.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The law, of those jobs to which it applies.
    pub const fn law(self) -> Option<MemoryLaw> {
        match self {
            Self::Law(law) => Some(law),
            Self::Logged { otherwise } => otherwise,
        }
    }
}

impl FromStr for JobMemory {
    type Err = String;

    /// Reads `512 MB`, `100 MB..1 GB`, `log` or `log, else 512 MB`.
    fn from_str(written: &str) -> Result<Self, String> {
        match written.trim().strip_prefix("log") {
            None => written.trim().parse().map(Self::Law),
            Some("") => Ok(Self::Logged { otherwise: None }),
            Some(rest) => {
                let law = rest.trim_start_matches(',').trim().strip_prefix("else ");
                let law =
                    law.ok_or_else(|| format!("`{written}` has no amount; write `log, else 512 MB`"))?;
                law.trim().parse().map(|law| Self::Logged { otherwise: Some(law) })
            }
        }
    }
}

impl fmt::Display for JobMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Law(law) => law.fmt(f),
            Self::Logged { otherwise: None } => f.pad("log"),
            Self::Logged { otherwise: Some(law) } => write!(f, "log, else {law}"),
        }
    }
}

words! {
    /// Of what a memory is stated.
    #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum MemoryOf {
        /// Of each processor of the job.
        #[default]
        Processor = "processor",
        /// Of the job, evenly on its processors.
        Job = "job",
    }
}

words! {
    /// What becomes of a suspended job one of whose machines goes down.
    #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum OnLeave {
        /// What it has written is there when the machine is back; it waits for that, if its policy resumes it there only.
        #[default]
        Wait = "wait",
        /// What it has done is lost, as if its attempt had failed with the machine.
        Lose = "lose",
    }
}

impl fmt::Display for Preemption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_default() {
            return f.pad("nothing");
        }
        write!(f, "memory {} of a {}", self.memory, self.memory_of.name())?;
        for (what, bandwidth) in [("written", self.write), ("read", self.read), ("a machine", self.node)] {
            if let Some(bandwidth) = bandwidth {
                write!(f, ", {what} at {bandwidth}")?;
            }
        }
        if !self.resize.is_zero() {
            write!(f, ", {} s to adapt", self.resize)?;
        }
        if !self.resize_per_processor.is_zero() {
            write!(f, ", {} s to adapt for each processor", self.resize_per_processor)?;
        }
        if self.on_leave == OnLeave::Lose { f.write_str(", lost with a machine") } else { Ok(()) }
    }
}

impl Preemption {
    /// Whether nothing of it is stated.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How long a job does no work that had `from` processors and gets `to`.
    pub fn resizes(&self, from: u32, to: u32) -> Span {
        let more = self.resize_per_processor.micros().saturating_mul(from.abs_diff(to).into());
        Span::from_micros(self.resize.micros().saturating_add(more))
    }

    /// Whether it takes time to resize a job.
    pub fn resizing_costs(&self) -> bool {
        !(self.resize.is_zero() && self.resize_per_processor.is_zero())
    }

    /// How long a job takes to write `memory` that has `procs` processors, `most` of them on one machine.
    pub fn writes(&self, memory: (Bytes, MemoryOf), procs: u32, most: u32) -> Span {
        self.write.map_or(Span::ZERO, |write| self.moves(memory, write, procs, most))
    }

    /// How long it takes to read it.
    pub fn reads(&self, memory: (Bytes, MemoryOf), procs: u32, most: u32) -> Span {
        self.read.map_or(Span::ZERO, |read| self.moves(memory, read, procs, most))
    }

    /// Its processors move their parts at once, each at its own bandwidth, those of a machine together at no more than that of the machine: the busiest
    /// machine takes longest. Rounded up to the microsecond.
    fn moves(&self, (memory, of): (Bytes, MemoryOf), bandwidth: Bandwidth, procs: u32, most: u32) -> Span {
        let (memory, procs) = (u128::from(memory.count()), u128::from(procs.max(1)));
        let shared_by = match of {
            MemoryOf::Processor => 1,
            MemoryOf::Job => procs,
        };
        // 8 bits a byte, and microseconds.
        let takes = |parts: u128, bandwidth: Bandwidth| {
            let bits = u128::from(bandwidth.bits().max(1));
            (memory * parts).saturating_mul(8_000_000).div_ceil(bits * shared_by)
        };
        let each = takes(1, bandwidth);
        let together = self.node.map_or(0, |node| takes(u128::from(most), node));
        Span::from_micros(u64::try_from(each.max(together)).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(write: &str, read: Option<&str>, node: Option<&str>) -> Preemption {
        let bandwidth = |written: &str| written.parse::<Bandwidth>().expect("a bandwidth");
        Preemption {
            write: Some(bandwidth(write)),
            read: read.map(bandwidth),
            node: node.map(bandwidth),
            ..Preemption::default()
        }
    }

    fn each(bytes: u64) -> (Bytes, MemoryOf) {
        (Bytes::new(bytes), MemoryOf::Processor)
    }

    /// 100 MB at 2 MB/s are 50 s, whatever the size of the job; 1 GB are 500 s [Kettimuthu 2003, section 4.1].
    #[test]
    fn each_processor_writes_its_memory() {
        let costs = at("2 MB/s", None, None);
        for procs in [1, 8, 100] {
            assert_eq!(costs.writes(each(100_000_000), procs, procs), Span::from_secs(50));
            assert_eq!(costs.writes(each(1_000_000_000), procs, 1), Span::from_secs(500));
            assert_eq!(costs.reads(each(1_000_000_000), procs, 1), Span::ZERO);
        }
    }

    /// 4 processors of a machine together have 4 MB/s: 100 MB each take 100 s there, and 50 s where 2 are on a machine.
    #[test]
    fn processors_of_a_machine_share_its_bandwidth() {
        let costs = at("2 MB/s", Some("4 MB/s"), Some("4 MB/s"));
        assert_eq!(costs.writes(each(100_000_000), 8, 4), Span::from_secs(100));
        assert_eq!(costs.writes(each(100_000_000), 8, 2), Span::from_secs(50));
        assert_eq!(costs.reads(each(100_000_000), 8, 1), Span::from_secs(25));
    }

    /// 100 MB of the whole job on 8 processors are 12.5 MB each: 6.25 s at 2 MB/s, and on a machine with 4 of them 12.5 s at 4 MB/s.
    #[test]
    fn the_memory_of_a_job_is_spread_over_its_processors() {
        let memory = (Bytes::new(100_000_000), MemoryOf::Job);
        assert_eq!(at("2 MB/s", None, None).writes(memory, 8, 4), Span::from_micros(6_250_000));
        let costs = at("2 MB/s", None, Some("4 MB/s"));
        assert_eq!(costs.writes(memory, 8, 4), Span::from_micros(12_500_000));
        // A byte on three processors at 1 bit/s is rounded up.
        let costs = at("1 bit/s", None, None);
        assert_eq!(costs.writes((Bytes::new(1), MemoryOf::Job), 3, 1), Span::from_micros(2_666_667));
    }

    #[test]
    fn laws_read_back_as_they_are_written() {
        for written in ["512 MB", "100 MB..1 GB", "log", "log, else 512 MB", "log, else 1 MB..2 MB"] {
            let memory: JobMemory = written.parse().expect(written);
            assert_eq!(memory.to_string(), written);
        }
        let error = |written: &str| written.parse::<JobMemory>().expect_err(written);
        assert_eq!(error("2 GB..1 GB"), "`2 GB..1 GB` has no amounts: 2 GB is more than 1 GB");
        assert_eq!(error("log 5"), "`log 5` has no amount; write `log, else 512 MB`");
        assert!(error("much").contains("an amount of data such as"), "{}", error("much"));
    }
}
