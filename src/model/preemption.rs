//! What suspending, resuming and resizing jobs costs at a site.

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
}

/// The memory of a job, as far as it has to be written and read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobMemory {
    /// None.
    #[default]
    Zero,
    /// This much.
    Fixed(Bytes),
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

impl Preemption {
    /// Whether nothing of it is stated.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How long a job takes to write `memory` that has `procs` processors, `most` of them on one machine.
    pub fn writes(&self, memory: Bytes, procs: u32, most: u32) -> Span {
        self.write.map_or(Span::ZERO, |write| self.moves(memory, write, procs, most))
    }

    /// How long it takes to read it.
    pub fn reads(&self, memory: Bytes, procs: u32, most: u32) -> Span {
        self.read.map_or(Span::ZERO, |read| self.moves(memory, read, procs, most))
    }

    /// Its processors move their parts at once, each at its own bandwidth, those of a machine together at no more than that of the machine: the busiest
    /// machine takes longest. Rounded up to the microsecond.
    fn moves(&self, memory: Bytes, bandwidth: Bandwidth, procs: u32, most: u32) -> Span {
        let (memory, procs) = (u128::from(memory.count()), u128::from(procs.max(1)));
        let shared_by = match self.memory_of {
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

    fn at(write: &str, read: Option<&str>, node: Option<&str>, memory_of: MemoryOf) -> Preemption {
        let bandwidth = |written: &str| written.parse::<Bandwidth>().expect("a bandwidth");
        Preemption {
            memory_of,
            write: Some(bandwidth(write)),
            read: read.map(bandwidth),
            node: node.map(bandwidth),
            ..Preemption::default()
        }
    }

    /// 100 MB at 2 MB/s are 50 s, whatever the size of the job; 1 GB are 500 s [Kettimuthu 2003, section 4.1].
    #[test]
    fn each_processor_writes_its_memory() {
        let costs = at("2 MB/s", None, None, MemoryOf::Processor);
        for procs in [1, 8, 100] {
            assert_eq!(costs.writes(Bytes::new(100_000_000), procs, procs), Span::from_secs(50));
            assert_eq!(costs.writes(Bytes::new(1_000_000_000), procs, 1), Span::from_secs(500));
            assert_eq!(costs.reads(Bytes::new(1_000_000_000), procs, 1), Span::ZERO);
        }
    }

    /// 4 processors of a machine together have 4 MB/s: 100 MB each take 100 s there, and 50 s where 2 are on a machine.
    #[test]
    fn processors_of_a_machine_share_its_bandwidth() {
        let costs = at("2 MB/s", Some("4 MB/s"), Some("4 MB/s"), MemoryOf::Processor);
        let memory = Bytes::new(100_000_000);
        assert_eq!(costs.writes(memory, 8, 4), Span::from_secs(100));
        assert_eq!(costs.writes(memory, 8, 2), Span::from_secs(50));
        assert_eq!(costs.reads(memory, 8, 1), Span::from_secs(25));
    }

    /// 100 MB of the whole job on 8 processors are 12.5 MB each: 6.25 s at 2 MB/s, and on a machine with 4 of them 12.5 s at 4 MB/s.
    #[test]
    fn the_memory_of_a_job_is_spread_over_its_processors() {
        let memory = Bytes::new(100_000_000);
        let costs = at("2 MB/s", None, None, MemoryOf::Job);
        assert_eq!(costs.writes(memory, 8, 4), Span::from_micros(6_250_000));
        let costs = at("2 MB/s", None, Some("4 MB/s"), MemoryOf::Job);
        assert_eq!(costs.writes(memory, 8, 4), Span::from_micros(12_500_000));
        // A byte on three processors at 1 bit/s is rounded up.
        let costs = at("1 bit/s", None, None, MemoryOf::Job);
        assert_eq!(costs.writes(Bytes::new(1), 3, 1), Span::from_micros(2_666_667));
    }
}
