//! Messages: one enum a receiver, and the order in which they are handled.

use std::fmt;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::agreement::{Answer, Ask};
use crate::broker::PoolReport;
use crate::model::{
    BookAct, ChurnAct, Coallocated, Elastic, EventCause, HoldId, Job, JobId, Outcome, PartitionId, Passed,
    PoolId, RecordSink, SiteId, StartOffer, TaskId, WorkflowSubmission,
};
use crate::units::{Bytes, Energy, Money, Span, Stamp, Time};

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

/// A message on its way. Messages of one moment are handled in the order of `(sender, sequence)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message<B = Body> {
    /// When it arrives.
    pub arrival: Stamp,
    /// Who sent it.
    pub sender: Sender,
    /// Its number among the sender's messages; no two are equal.
    pub sequence: u64,
    /// Its content. In the mailbox of an entity it is of the receiver's own kind.
    pub body: B,
}

/// The content of a message, by the kind of its receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Body {
    /// To the portal.
    Portal(ToPortal),
    /// To the broker.
    Broker(ToBroker),
    /// To the dispatcher.
    Dispatcher(ToDispatcher),
    /// To the directory.
    Directory(ToDirectory),
    /// To the network.
    Network(ToNetwork),
    /// To a site.
    Site(ToSite),
}

impl Body {
    /// The kind of entity that it is for.
    pub const fn receiver(&self) -> &'static str {
        match self {
            Self::Portal(_) => "the portal",
            Self::Broker(_) => "the broker",
            Self::Dispatcher(_) => "the dispatcher",
            Self::Directory(_) => "the directory",
            Self::Network(_) => "the network",
            Self::Site(_) => "a site",
        }
    }
}

/// The end of a job of the grid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedJob {
    /// Its number at the portal.
    pub task: TaskId,
    /// Its number in the workload.
    pub job: JobId,
    /// Its outcome.
    pub outcome: Outcome,
    /// The output that it leaves for the portal.
    pub output: Bytes,
    /// Its first start, if it has started.
    pub start: Option<Time>,
    /// The start of its last attempt; `None` if it ended at no site.
    pub last_start: Option<Time>,
    /// When it ended where it was.
    pub end: Time,
    /// The number of attempts that were started.
    pub attempts: u32,
    /// Energy and money charged to it.
    pub charged: Box<(Energy, Money)>,
    /// When the tasks that it consists of began and ended, if it is a group.
    pub passed: Box<[Passed]>,
}

/// A message to the portal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToPortal {
    /// A job has ended. From the broker, if the workload has feedback.
    Ended(EndedJob),
}

/// A message to the broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToBroker {
    /// Take this job. From the portal.
    Submit(Box<Job>),
    /// Enact this workflow. From the portal.
    Workflow(Box<WorkflowSubmission>),
    /// Run this job in parts at several sites. From the portal.
    Coallocated(Box<Coallocated>),
    /// Starts that a site offers for a part of a request. From the site.
    Offers {
        /// The request.
        request: u64,
        /// How often the broker had asked about it before.
        round: u32,
        /// The pool.
        pool: PoolId,
        /// The part.
        part: u32,
        /// The intervals, earliest first.
        offers: Vec<StartOffer>,
    },
    /// What has become of a hold. From its site.
    Answered {
        /// The hold.
        id: HoldId,
        /// What has.
        answer: Answer,
    },
    /// The newest reports, at most one per site. From the directory.
    View(Vec<SiteReport>),
    /// A request for work: processors are idle. From a site, if the broker's policy uses pull.
    Ask {
        /// The pool that asks.
        pool: PoolId,
        /// Processors without work.
        procs: u32,
        /// When they were counted.
        measured: Stamp,
    },
    /// An assignment was not sent at once, or has been sent after all. From the dispatcher.
    Sent {
        /// The job.
        task: TaskId,
        /// When the job reaches its site; `None` while it is held back.
        arrival: Option<Stamp>,
    },
    /// A copy of a file has arrived. From the network.
    Transferred {
        /// The broker's number for the copy.
        id: u64,
    },
    /// A copy of a file was broken off, because a site at one of its ends has left. From the network.
    Broken {
        /// The broker's number for the copy.
        id: u64,
        /// The site.
        site: SiteId,
    },
    /// A job has ended. From the dispatcher.
    Ended(EndedJob),
    /// A job returns without having ended. From the dispatcher.
    Returned {
        /// The job, with the data that it carries.
        job: Box<Job>,
        /// The cause of its return.
        why: EventCause,
    },
    /// A site has not been heard of for too long. From the dispatcher.
    Unheard(SiteId),
    /// The input of a job has been moved to a site. From the dispatcher, if the broker measures that.
    Moved {
        /// The site.
        site: SiteId,
        /// The amount of data.
        data: Bytes,
        /// How long it took.
        took: Span,
    },
}

/// A message to the dispatcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToDispatcher {
    /// Send the job to the pool. From the broker.
    Assign {
        /// The job.
        job: Box<Job>,
        /// The pool that it is assigned to.
        pool: PoolId,
    },
    /// Recall the assignment: at once if the job has not left, otherwise (with `queued`) if it still waits at its site. From the
    /// broker.
    Recall {
        /// The job.
        task: TaskId,
        /// Also recall the job if it waits at its site.
        queued: bool,
    },
    /// End the job, wherever it is: another part of it has failed. From the broker.
    Abort {
        /// The job.
        task: TaskId,
    },
    /// A transfer has arrived. From the network.
    Transferred {
        /// The dispatcher's number for the transfer.
        id: u64,
    },
    /// A job has ended. From its site.
    Ended {
        /// The site.
        site: SiteId,
        /// The number of the assignment.
        assignment: u32,
        /// The job.
        ended: EndedJob,
    },
    /// A job returns without having ended. From its site.
    Returned {
        /// The site.
        site: SiteId,
        /// The job, with the data that it carries.
        job: Box<Job>,
        /// The cause of its return.
        why: EventCause,
    },
    /// What is left of a job whose assignment was lost at its site, or is over before anybody hears of its end. No site could say
    /// this; it is how the account of the job reaches its next attempt, and the dispatcher acts on it only when it takes the assignment as lost.
    Remains {
        /// The site.
        site: SiteId,
        /// The job, with the data that it carries.
        job: Box<Job>,
    },
}

/// A message to the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToDirectory {
    /// A site's report of its own state.
    Report(Box<SiteReport>),
}

/// A message to the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToNetwork {
    /// Transfer data between two places. From the dispatcher for jobs with data, from the broker for workflows.
    Transfer {
        /// The number that its sender gives it.
        id: u64,
        /// The source (0 is the portal, `i + 1` is site `i`).
        from: u32,
        /// The destination, numbered likewise.
        to: u32,
        /// The amount of data.
        data: Bytes,
        /// Who is notified of its arrival.
        reply: Address,
    },
    /// A site has left as a whole, or is back. From the site.
    Churn {
        /// The site.
        site: SiteId,
        /// Whether it is there now.
        open: bool,
    },
}

/// A message to a site, which is also what a [command](crate::grid::Command) from outside carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToSite {
    /// Take this job. From outside.
    Submit(Box<Job>),
    /// Cancel the job of that number in any phase. From outside.
    Cancel(JobId),
    /// Machines go down, come up, or change their speed. From outside.
    Churn(ChurnAct),
    /// Return the job if it still waits. From the dispatcher.
    Withdraw {
        /// The job.
        task: TaskId,
        /// The number of the assignment that is meant.
        assignment: u32,
        /// When it was sent: one that comes again is ignored.
        sent: Time,
    },
    /// Change the time or the processors of the job of that number, if its policy processes elastic commands. From outside.
    Elastic {
        /// The job's number in the workload.
        job: JobId,
        /// The command.
        change: Elastic,
    },
    /// Say when so many processors could be reserved. From the broker.
    Seek {
        /// The request.
        request: u64,
        /// How often the broker has asked about it before.
        round: u32,
        /// The part.
        part: u32,
        /// The partition.
        partition: PartitionId,
        /// The processors.
        procs: u32,
        /// For how long.
        length: Span,
        /// The earliest start.
        earliest: Time,
        /// The latest start.
        latest: Time,
        /// How many intervals of starts are wanted.
        alternatives: u32,
    },
    /// Hold, commit or release processors, or say what has become of them. From the broker.
    Agree {
        /// The hold.
        id: HoldId,
        /// What is asked.
        ask: Ask,
    },
    /// End the job: another part of it has failed. From the dispatcher.
    Abort {
        /// The job.
        task: TaskId,
        /// The number of the assignment that is meant.
        assignment: u32,
    },
    /// Take this job of the grid, which says the number of its assignment. From the dispatcher.
    Assign {
        /// The job.
        job: Box<Job>,
        /// When it was sent.
        sent: Time,
    },
    /// Reserve processors, or give them up. From outside.
    Book(BookAct),
}

/// The jobs in a message.
type Carried = SmallVec<[Box<Job>; 1]>;

/// What the mailbox of a kind of entity holds.
pub(super) trait Letter: Sized {
    /// The content of a message, if it is for such an entity; otherwise the message is given back.
    fn open(body: Body) -> Result<Self, Body>;

    /// The jobs that it carries.
    fn into_jobs(self) -> Carried;
}

macro_rules! letter {
    ($variant:ident, $letter:ident, $jobs:expr) => {
        impl From<$letter> for Body {
            fn from(letter: $letter) -> Self {
                Self::$variant(letter)
            }
        }

        impl Letter for $letter {
            fn open(body: Body) -> Result<Self, Body> {
                match body {
                    Body::$variant(letter) => Ok(letter),
                    other => Err(other),
                }
            }

            fn into_jobs(self) -> Carried {
                let jobs: fn(Self) -> Carried = $jobs;
                jobs(self)
            }
        }
    };
}

letter!(Portal, ToPortal, |_| Carried::new());
letter!(Broker, ToBroker, |letter| match letter {
    ToBroker::Submit(job) | ToBroker::Returned { job, .. } => smallvec![job],
    ToBroker::Workflow(workflow) => workflow.jobs(None).map(Box::new).collect(),
    ToBroker::Coallocated(together) => together.parts.into_iter().map(Box::new).collect(),
    ToBroker::View(_)
    | ToBroker::Offers { .. }
    | ToBroker::Answered { .. }
    | ToBroker::Ask { .. }
    | ToBroker::Sent { .. }
    | ToBroker::Transferred { .. }
    | ToBroker::Broken { .. }
    | ToBroker::Ended(_)
    | ToBroker::Unheard(_)
    | ToBroker::Moved { .. } => Carried::new(),
});
letter!(Dispatcher, ToDispatcher, |letter| match letter {
    ToDispatcher::Assign { job, .. }
    | ToDispatcher::Returned { job, .. }
    | ToDispatcher::Remains { job, .. } => smallvec![job],
    ToDispatcher::Recall { .. }
    | ToDispatcher::Abort { .. }
    | ToDispatcher::Transferred { .. }
    | ToDispatcher::Ended { .. } => Carried::new(),
});
letter!(Directory, ToDirectory, |_| Carried::new());
letter!(Network, ToNetwork, |_| Carried::new());
letter!(Site, ToSite, |letter| match letter {
    ToSite::Submit(job) | ToSite::Assign { job, .. } => smallvec![job],
    ToSite::Cancel(_)
    | ToSite::Churn(_)
    | ToSite::Withdraw { .. }
    | ToSite::Elastic { .. }
    | ToSite::Book(_)
    | ToSite::Seek { .. }
    | ToSite::Agree { .. }
    | ToSite::Abort { .. } => Carried::new(),
});

/// A site's report of its state at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteReport {
    /// The site.
    pub site: SiteId,
    /// When it was measured: after all events of this moment.
    pub measured: Stamp,
    /// Whether it takes grid jobs at all; false once the whole site drains or is down.
    pub open: bool,
    /// Whether it is there, with its files; false once the whole site is down.
    pub there: bool,
    /// The reports of its partitions, in order.
    pub pools: Vec<PoolReport>,
}

/// Receives the messages and the records of an entity.
pub trait Outbox: RecordSink {
    /// Sends a message.
    fn send(&mut self, to: Address, message: Message);
}
