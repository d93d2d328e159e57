//! Messages and the order in which they are handled.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::broker::PoolReport;
use crate::model::{
    ChurnAct, Elastic, EventCause, Job, JobId, Outcome, PartitionId, PoolId, RecordSink, SiteId,
};
use crate::units::{Bytes, Stamp};

/// An entity of the grid. The order of the variants is the order in which messages of one moment are handled.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Address {
    /// The portal, where jobs are submitted to the grid.
    Portal,
    /// The broker, which assigns jobs to pools.
    Broker,
    /// The dispatcher, which carries out assignments.
    Dispatcher,
    /// The directory, which collects the sites' reports.
    Directory,
    /// The network, which transfers data.
    Network,
    /// A site.
    Site(SiteId),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Portal => f.pad("the portal"),
            Self::Broker => f.pad("the broker"),
            Self::Dispatcher => f.pad("the dispatcher"),
            Self::Directory => f.pad("the directory"),
            Self::Network => f.pad("the network"),
            Self::Site(site) => write!(f, "site number {site}"),
        }
    }
}

/// The sender of a message. The order of the variants is the order in which messages of one moment are handled.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sender {
    /// The driver of the grid: a program, a script, a person.
    Outside,
    /// An entity of the grid.
    Entity(Address),
}

/// A message. Messages of one moment are handled in the order of `(sender, sequence)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// When it arrives.
    pub arrival: Stamp,
    /// Who sent it.
    pub sender: Sender,
    /// Its number among the sender's messages; no two are equal.
    pub sequence: u64,
    /// Its content.
    pub body: Body,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Body {
    /// Take this job. Portal to broker, dispatcher to site, outside to a site.
    Submit(Box<Job>),
    /// Cancel the job of that number in any phase. Outside to a site.
    Cancel(JobId),
    /// Machines go down, come up, or change their speed. Outside to a site.
    Churn(ChurnAct),
    /// Return the job if it still waits. Dispatcher to site.
    Withdraw {
        /// The job's number at the portal.
        number: u64,
    },
    /// A job has ended. Site to dispatcher, dispatcher to broker, broker to portal if the workload has feedback.
    Ended {
        /// The job's number at the portal.
        number: u64,
        /// Its number in the workload.
        job: JobId,
        /// Its outcome.
        outcome: Outcome,
        /// The output that it leaves for the portal.
        output: Bytes,
    },
    /// A job returns without having ended. Site to dispatcher, dispatcher to broker.
    Returned {
        /// The job, with the data that it carries.
        job: Box<Job>,
        /// The cause of its return.
        why: EventCause,
    },
    /// A site's report of its own state. Site to directory.
    Report(Box<SiteReport>),
    /// The newest reports, at most one per site. Directory to broker.
    GridView(Vec<SiteReport>),
    /// Send the job to the pool. Broker to dispatcher.
    Assign {
        /// The job.
        job: Box<Job>,
        /// The pool that it is assigned to.
        pool: PoolId,
    },
    /// Recall the assignment: at once if the job has not left, otherwise (with `queued`) if it still waits at its site. Broker
    /// to dispatcher.
    Recall {
        /// The job's number at the portal.
        number: u64,
        /// Also recall the job if it waits at its site.
        queued: bool,
    },
    /// An assignment was not sent at once, or has been sent after all. Dispatcher to broker.
    Sent {
        /// The job's number at the portal.
        number: u64,
        /// When the job reaches its site; `None` while it is held back.
        arrival: Option<Stamp>,
    },
    /// A request for work: processors are idle. Site to broker, if the broker's policy uses pull.
    Ask {
        /// The partition that asks.
        partition: PartitionId,
        /// Processors without work.
        procs: u32,
        /// When they were counted.
        measured: Stamp,
    },
    /// Transfer data between two places. Dispatcher to network.
    Transfer {
        /// The dispatcher's number for the transfer.
        id: u64,
        /// The source (0 is the portal, `i + 1` is site `i`).
        from: u32,
        /// The destination, numbered likewise.
        to: u32,
        /// The amount of data.
        data: Bytes,
    },
    /// A transfer has arrived. Network to dispatcher.
    Transferred {
        /// The dispatcher's number for the transfer.
        id: u64,
    },
    /// Change the time or the processors of the job of that number, if its policy processes elastic commands. Outside to a site.
    Elastic {
        /// The job's number in the workload.
        job: JobId,
        /// The command.
        change: Elastic,
    },
}

/// A site's report of its state at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteReport {
    /// The site.
    pub site: SiteId,
    /// When it was measured: after all events of this moment.
    pub measured: Stamp,
    /// Whether it takes grid jobs at all; false once the whole site is down.
    pub open: bool,
    /// The reports of its partitions, in order.
    pub pools: Vec<PoolReport>,
}

/// Receives the messages and the records of an entity.
pub trait Outbox: RecordSink {
    /// Sends a message.
    fn send(&mut self, to: Address, message: Message);
}
