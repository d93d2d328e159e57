//! The facts of an explained job: its attempts, and the reasons of its waits. [`crate::report`] puts them into words.

use std::collections::BTreeMap;

use serde::Serialize;

use super::task::ExplainedTask;
use crate::local::{Explanation, Reason};
use crate::model::{JobId, NamedJob, Objective, Origin};
use crate::units::Time;

/// A job, explained.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The job.
    pub job: ExplainedJob,
    /// The task of a workflow that it is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<ExplainedTask>,
    /// Time of its submission; all times here are in seconds.
    pub submit_s: f64,
    /// Time of its first start; `None` if it never started.
    pub start_s: Option<f64>,
    /// Time of its end.
    pub end_s: f64,
    /// Its outcome.
    pub outcome: &'static str,
    /// Why it was rejected, if it was; or what it had to do with a deadline that it missed.
    pub reason: Option<String>,
    /// Requested processors.
    pub requested: u32,
    /// The number of its starts, according to the folder.
    pub started: u32,
    /// Its attempts in order; if an instant was given, those up to it.
    pub attempts: Vec<Attempt>,
    /// Its suspensions, in order; if an instant was given, those up to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspensions: Vec<Suspended>,
    /// The stretches in which it did not run, or the one at the given instant.
    pub stretches: Vec<Stretch>,
    /// Its assignments by the broker, as far as its life was followed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assigned: Vec<AssignedTo>,
    /// The state at the given instant.
    pub at: Option<At>,
    /// The number of decisions of sites that were looked at.
    pub looks: u64,
    /// Notes that a reader needs before trusting this.
    pub notes: Vec<String>,
}

/// The identity of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedJob {
    /// Number in its workload.
    pub number: u64,
    /// `local` or `grid`.
    pub origin: &'static str,
    /// The site at which it ended; `None` if it reached none.
    pub site: Option<String>,
    /// The job as messages name it: `job 3`, `grid job 872`.
    pub name: String,
}

/// An attempt to run a job.
#[derive(Clone, Debug, Serialize)]
pub struct Attempt {
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Time in which the job had not run before: since its submission, or since the end of the previous attempt.
    pub waited_s: f64,
    /// The site of the attempt.
    pub site: String,
    /// The partition of the attempt.
    pub partition: String,
    /// Its processors.
    pub processors: u32,
    /// Its start.
    pub start_s: f64,
    /// Its end; `None` if it had not ended by the given instant.
    pub end_s: Option<f64>,
    /// How the attempt ended: an outcome, or what happened to the job when the attempt failed (an event of `events.csv`).
    pub ended: Option<&'static str>,
    /// The cause of a failure.
    pub cause: Option<String>,
    /// Processor-seconds of wasted work.
    pub wasted_proc_s: f64,
}

/// A suspension of a job.
#[derive(Clone, Debug, Serialize)]
pub struct Suspended {
    /// When it ceased to work.
    pub at_s: f64,
    /// The cause, as in `events.csv`: the job for which it was suspended, with the expansion factors of both, if its policy named one.
    pub cause: String,
    /// When it got processors again; `None` if it had not by the given instant.
    pub resumed_s: Option<f64>,
}

/// The state of a job at a given instant.
#[derive(Clone, Debug, Serialize)]
pub struct At {
    /// The instant.
    pub at_s: f64,
    /// The state of the job then.
    pub state: AtState,
    /// The attempt that runs, is suspended, or is waited for.
    pub attempt: Option<u32>,
    /// The site at which the job runs or waits.
    pub site: Option<String>,
    /// Since when it runs, or is being suspended or resumed; or its submission if that comes later, or its end.
    pub since_s: Option<f64>,
}

/// The state of a job at an instant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AtState {
    /// The job has not been submitted.
    ToCome,
    /// The job waits, or is on its way.
    Waits,
    /// The job runs.
    Runs,
    /// The job is being suspended: it holds its processors, and writes its memory.
    Suspending,
    /// The job is being resumed: it holds its processors, and reads its memory.
    Resuming,
    /// The job has ended.
    Ended,
}

/// An assignment by the broker.
#[derive(Clone, Debug, Serialize)]
pub struct AssignedTo {
    /// When it was made.
    pub at_s: f64,
    /// When the broker began to plan, if planning takes time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_s: Option<f64>,
    /// The pool that was chosen.
    pub pool: String,
    /// Why it was chosen, in a few words.
    pub reason: &'static str,
    /// The pools where the job fits, as the broker saw them.
    pub compared: Vec<ComparedPool>,
    /// The front of the planning, if the policy chose a schedule from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<ComparedFront>,
}

/// The front from which the broker's policy chose the schedule that has the job there.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedFront {
    /// The number of the planning, as in `fronts.csv`.
    pub planning: u64,
    /// The number of tasks that the schedules place.
    pub tasks: u64,
    /// The number of schedules that were evaluated.
    pub evaluations: u64,
    /// The objectives.
    pub objectives: &'static [Objective],
    /// The name of the value by which one was chosen, the least.
    pub value: &'static str,
    /// The rule by which it was chosen, in words.
    pub chosen_by: String,
    /// The schedules, the chosen one first.
    pub schedules: Vec<ComparedSchedule>,
}

/// A schedule of a front, as it concerns the job.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedSchedule {
    /// Where it puts the job; `None` if it does not place it.
    pub pool: Option<String>,
    /// When the job starts there.
    pub start_s: Option<f64>,
    /// When it ends there.
    pub end_s: Option<f64>,
    /// What chose.
    pub value: f64,
    /// Its objectives, in their order.
    pub objectives: Vec<f64>,
}

/// A pool that the broker compared.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedPool {
    /// The name of the site, with that of the partition if it has several.
    pub pool: String,
    /// When the job could start there; `None` if its processors are not present.
    pub start_s: Option<f64>,
    /// When it would complete there; `None` likewise.
    pub end_s: Option<f64>,
    /// What else the broker's policy compares, by name.
    pub values: BTreeMap<&'static str, f64>,
}

/// A part of a wait with one reason and the same blocking jobs. [`crate::report`] puts it into words.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The attempt that the job waited for; for a suspended job, its current attempt.
    pub attempt: u32,
    /// The beginning.
    pub from_s: f64,
    /// The end.
    pub to_s: f64,
    /// The place of waiting.
    pub place: WaitPlace,
    /// At a site, the explanation at its beginning; the first one at a place includes a profile.
    pub begin: Option<Explanation>,
    /// The last explanation.
    pub end: Option<Explanation>,
    /// The number of questions to the site.
    pub looks: u64,
}

/// The place where a job waits.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WaitPlace {
    /// At a site.
    Site {
        /// The name of the site, with that of the partition if it has several.
        site: String,
        /// The policy of the site.
        policy: String,
    },
    /// At a site, where it has its processors: the last of its machines is awake then.
    Waking {
        /// The name of the site, with that of the partition if it has several.
        site: String,
        /// Until when, in seconds.
        until_s: f64,
    },
    /// With the broker.
    Broker,
    /// With the broker, whose policy has put it off.
    PutOff {
        /// Until when, in seconds.
        until_s: f64,
        /// Why the pool was best to which it would go then.
        reason: crate::broker::Reason,
    },
    /// With the broker, which asks sites when they have processors for all parts of its job.
    Asks,
    /// With the broker: no common start was offered.
    AsksAgain {
        /// When sites are asked again, in seconds.
        at_s: f64,
    },
    /// With the broker: a common start is picked, and held when it comes.
    Picked {
        /// The start, in seconds.
        start_s: f64,
    },
    /// With the broker: sites are asked to hold a common start.
    Agrees {
        /// The start, in seconds.
        start_s: f64,
    },
    /// With the dispatcher: this site has reached its limit of grid jobs.
    Held(String),
    /// With the dispatcher, which sends jobs to this site one after the other.
    Outgoing(String),
    /// Its input is on its way to this site.
    Input(String),
    /// With the dispatcher: it has returned, and its back-off runs.
    Resting,
    /// Nowhere: its assignment to this site is over, and the dispatcher has not found out.
    Lost(String),
    /// In a message.
    OnItsWay,
    /// With the broker: tasks that it waits for have not completed.
    Predecessors,
    /// With the broker: all that it waits for has completed, and the workflow engine makes a job of it.
    Engine,
    /// With the broker: in the plan for this site others come before it.
    Turn {
        /// The name of the site.
        site: String,
        /// The task that goes there first, when the wait began.
        behind: String,
    },
    /// With the broker: it is planned for this site, or assigned, and not all its files are there.
    Files {
        /// The name of the site.
        site: String,
        /// The files that were missing there when the wait began.
        files: Vec<String>,
        /// Why some of them could not come then: the sites that have them have left, or the site has no space.
        obstacles: Vec<String>,
    },
}

impl Stretch {
    /// The length of the stretch, in seconds.
    pub(crate) fn long(&self) -> f64 {
        self.to_s - self.from_s
    }

    /// The reason, if it waits at a site.
    pub(crate) fn reason(&self) -> Option<Reason> {
        self.begin.as_ref().map(Explanation::reason)
    }

    /// True if the job waits at the same place under the same rule; figures may differ.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let rules = match (&self.begin, &other.begin) {
            (Some(one), Some(other)) => one.why.is_like(&other.why),
            (one, other) => one.is_none() && other.is_none(),
        };
        rules && self.place == other.place
    }

    /// A planned start in seconds; `None` for [`Time::NEVER`].
    pub(crate) fn seconds(time: Option<Time>) -> Option<f64> {
        time.filter(|time| *time != Time::NEVER).map(Time::as_secs_f64)
    }
}

impl ExplainedJob {
    /// The job of that number, which ended at `site`; `several` says whether the run has more than one site.
    pub fn new(number: u64, origin: Origin, site: &str, several: bool) -> Self {
        let named = match (origin, JobId(number)) {
            (Origin::Local, number) if several => NamedJob::Local(number, site),
            (Origin::Local, number) => NamedJob::Only(number),
            (Origin::Grid, number) => NamedJob::Grid(number),
        };
        let name = named.to_string();
        let site = (origin == Origin::Local || site != "grid").then(|| site.to_owned());
        Self { number, origin: origin.name(), site, name }
    }
}
