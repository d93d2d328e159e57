//! The life of a job, explained: what it waited for, where it ran, how each attempt ended.

mod text;

use serde::Serialize;

use super::figures::duration;
use crate::local::{Blocker, Reason, processors};
use crate::model::Origin;
use crate::units::{Clock, Span};

pub use text::explained_text;

/// A job, explained.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// Which job.
    pub job: ExplainedJob,
    /// When it was submitted, in seconds as all times here.
    pub submit_s: f64,
    /// When it started first; `None` if it never did.
    pub start_s: Option<f64>,
    /// When it ended.
    pub end_s: f64,
    /// How it ended.
    pub outcome: &'static str,
    /// Why, if it was rejected.
    pub reason: Option<String>,
    /// Processors that it asks for.
    pub requested: u32,
    /// How often it started, by the folder.
    pub started: u32,
    /// Its attempts in order; those up to the instant that was asked about, if one was.
    pub attempts: Vec<Attempt>,
    /// The stretches in which it did not run, or the one that was asked about.
    pub stretches: Vec<Stretch>,
    /// The instant that was asked about.
    pub at: Option<At>,
    /// How often its policy was asked.
    pub looks: u64,
    /// What to know before trusting this.
    pub notes: Vec<String>,
}

/// A job as it is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedJob {
    /// Number in its workload.
    pub number: u64,
    /// `local` or `grid`: whose job it is.
    pub origin: &'static str,
    /// The site at which it ended; `None` if at none.
    pub site: Option<String>,
    /// In words.
    pub told: String,
}

/// An attempt to run a job.
#[derive(Clone, Debug, Serialize)]
pub struct Attempt {
    /// From 1.
    pub attempt: u32,
    /// For how long it had not run before: since it was submitted, or since the attempt before was over.
    pub waited_s: f64,
    /// Where it ran.
    pub site: String,
    /// Where in the site.
    pub partition: String,
    /// On how many processors.
    pub processors: u32,
    /// When it started.
    pub start_s: f64,
    /// When it was over; `None` if it was not by the instant that was asked about.
    pub end_s: Option<f64>,
    /// How it ended: an outcome, or what became of the job when the attempt was lost (an event of `events.csv`).
    pub ended: Option<&'static str>,
    /// Why it was lost.
    pub cause: Option<String>,
    /// Processor-seconds that were lost with it.
    pub lost_proc_s: f64,
}

/// The instant that was asked about.
#[derive(Clone, Debug, Serialize)]
pub struct At {
    /// Which.
    pub at_s: f64,
    /// What the job does then.
    pub state: AtState,
    /// The attempt that runs, or stands still, or that the job waits for.
    pub attempt: Option<u32>,
    /// The site where it runs, or is at.
    pub site: Option<String>,
    /// Since when it runs, or when it comes or has ended.
    pub since_s: Option<f64>,
}

/// What a job does at an instant.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtState {
    /// It has not been submitted.
    ToCome,
    /// It waits, or is on its way.
    Waits,
    /// It runs.
    Runs,
    /// It has ended.
    Ended,
}

/// A stretch of a wait: one rule, and the same jobs in the way.
#[derive(Clone, Debug, Serialize)]
pub struct Stretch {
    /// The attempt that it waited for; of a job that stands still, the one it is in.
    pub attempt: u32,
    /// Since when.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// Where: a site with its policy, the broker, the dispatcher.
    pub place: String,
    /// The reason, if a site's policy gives it.
    pub reason: Option<Reason>,
    /// The rule at the beginning of the stretch.
    pub rule: String,
    /// The rule at its end, if its numbers are others.
    pub rule_at_end: Option<String>,
    /// Processors that the job needs there.
    pub needs: u32,
    /// Processors free for it at the beginning.
    pub free: u32,
    /// The shadow time at the beginning, where the policy has one.
    pub shadow_s: Option<f64>,
    /// Processors spare then.
    pub spare: Option<u32>,
    /// When it was to start, as planned at the beginning.
    pub planned_s: Option<f64>,
    /// Who held it.
    pub held_by: Vec<Held>,
    /// Free processors as planned at the beginning, of the first stretch at a place: since when, and how many.
    pub profile: Vec<(f64, i32)>,
    /// How often the policy was asked.
    pub looks: u64,
}

impl Stretch {
    fn long(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// Who held a job.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// `running`, `waiting`, `reservation` or `away`.
    pub kind: &'static str,
    /// The number of the job, if it is one.
    pub job: Option<u64>,
    /// Whose job it is: `local` or `grid`.
    pub origin: Option<&'static str>,
    /// The job, or the name of the reservation, in words.
    pub who: String,
    /// Processors that it has, or asks for.
    pub procs: u32,
    /// When it is to start, as far as that is planned.
    pub start_s: Option<f64>,
    /// When it is expected to give its processors back.
    pub until_s: Option<f64>,
    /// In words.
    pub how: String,
    /// For how long it was in the way, in seconds.
    pub for_s: f64,
}

impl Held {
    /// A blocker that was in the way for so many seconds.
    pub fn new(blocker: &Blocker, for_s: f64) -> Self {
        let (kind, procs, start, how) = match blocker {
            Blocker::Running { procs, until, .. } => {
                let how = format!("runs on {} until {} at the latest", processors(*procs), Clock(*until));
                ("running", *procs, None, how)
            }
            Blocker::Waiting { procs, estimate, start, .. } => {
                let planned =
                    start.map_or_else(String::new, |start| format!(", to start at {}", Clock(start)));
                let estimate = match *estimate {
                    Span::MAX => "without an estimate".to_owned(),
                    estimate => format!("{} by its estimate", duration(estimate.as_secs_f64())),
                };
                ("waiting", *procs, *start, format!("waits for {}, {estimate}{planned}", processors(*procs)))
            }
            Blocker::Booking { from, to, procs, .. } => {
                let how = format!("{} from {} to {}", processors(*procs), Clock(*from), Clock(*to));
                ("reservation", *procs, Some(*from), how)
            }
            Blocker::Away { procs } => {
                ("away", *procs, None, format!("{} are not there, or kept", processors(*procs)))
            }
        };
        let who = blocker.who();
        Self {
            kind,
            job: who.map(|who| who.job.0),
            origin: who.map(|who| who.origin.name()),
            who: match blocker {
                Blocker::Running { who, .. } | Blocker::Waiting { who, .. } => who.to_string(),
                Blocker::Booking { name, .. } => format!("reservation `{name}`"),
                Blocker::Away { .. } => "machines".to_owned(),
            },
            procs,
            start_s: start.map(|start| start.as_secs_f64()),
            until_s: blocker.until().map(|until| until.as_secs_f64()),
            how,
            for_s,
        }
    }
}

impl ExplainedJob {
    /// The job of that number, which ended at `site`, of a run with several sites or with one.
    pub fn new(number: u64, origin: Origin, site: &str, several: bool) -> Self {
        let told = match origin {
            Origin::Own if several => format!("local job {number} of {site}"),
            Origin::Own => format!("job {number}"),
            Origin::Sent => format!("grid job {number}"),
        };
        let site = (origin == Origin::Own || site != "grid").then(|| site.to_owned());
        Self { number, origin: origin.name(), site, told }
    }
}

/// A rule without its numbers and times, which change while it stays the same.
pub fn rule_without_numbers(rule: &str) -> String {
    let mut words: Vec<&str> = Vec::new();
    for word in rule.split(' ') {
        let end = word.trim_end_matches([':', ',', ';']);
        let number = end == "none" || end.starts_with(|c: char| c.is_ascii_digit());
        let follows = words.last() == Some(&"#");
        match end {
            // A number may go on: `2 d 12:04:20`, `150 s`.
            _ if number && follows => {}
            "s" | "d" if follows => {}
            _ if number => words.push("#"),
            "is" if follows => words.push("are"),
            "processor" => words.push("processors"),
            _ => words.push(end),
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_differ_in_numbers_are_one() {
        let same = |a: &str, b: &str| rule_without_numbers(a) == rule_without_numbers(b);
        let head = "it is the first in line, needs";
        assert!(same(
            &format!("{head} 4 processors, and none is free"),
            &format!("{head} 1 processor, and 12 are free")
        ));
        assert!(same("runs until 150 s on 4 processors", "runs until 2 d 12:04:20 on 1 processor"));
        assert!(!same("job 2 is first, and 4 are free", "job 2 is first, and 4 are free, which would do"));
        assert!(!same("it may overtake job 2", "it is the first in line"));
    }
}
