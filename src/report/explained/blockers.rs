//! The blockers of a job in words.

use serde::Serialize;

use super::words::processors;
use crate::experiment::Stretch;
use crate::local::Blocker;
use crate::report::figures::duration;
use crate::units::{Clock, Span, Time};

/// A job, reservation or outage that blocked a waiting job.
#[derive(Clone, Debug, Serialize)]
pub struct BlockerFacts {
    /// `running`, `suspending`, `claim`, `waiting`, `reservation`, `down` or `cap`.
    pub kind: &'static str,
    /// The number of the blocking job, if it is a job.
    pub job: Option<u64>,
    /// Origin of the blocking job: `local` or `grid`.
    pub origin: Option<&'static str>,
    /// The job or the name of the reservation, in words.
    pub who: String,
    /// Processors that the blocker holds or requests.
    pub procs: u32,
    /// Planned start in seconds, if there is one.
    pub start_s: Option<f64>,
    /// Expected time at which it releases its processors, in seconds.
    pub until_s: Option<f64>,
    /// A description in words.
    pub how: String,
    /// For how long it blocked the job, in seconds.
    pub for_s: f64,
}

impl BlockerFacts {
    /// A blocker that was effective for `for_s` seconds.
    pub fn new(blocker: &Blocker, for_s: f64) -> Self {
        let (kind, name, procs, start, how) = match blocker {
            Blocker::Running { who, procs, until } => {
                let how = format!("runs on {} until {} at the latest", processors(*procs), Clock(*until));
                ("running", who.to_string(), *procs, None, how)
            }
            Blocker::Suspending { who, procs, until } => {
                let how = format!("is being suspended on {} until {}", processors(*procs), Clock(*until));
                ("suspending", who.to_string(), *procs, None, how)
            }
            Blocker::Claim { who, procs } => {
                let how = format!("gets {}, for which others are being suspended", processors(*procs));
                ("claim", who.to_string(), *procs, None, how)
            }
            Blocker::Waiting { who, procs, estimate, start } => {
                let planned =
                    start.map_or_else(String::new, |start| format!(", to start at {}", Clock(start)));
                let estimate = match *estimate {
                    Span::MAX => "without an estimate".to_owned(),
                    estimate => format!("{} by its estimate", duration(estimate.as_secs_f64())),
                };
                let how = format!("waits for {}, {estimate}{planned}", processors(*procs));
                ("waiting", who.to_string(), *procs, *start, how)
            }
            Blocker::Booking { name, from, to, procs, job } => {
                let kept = job.map(|job| format!(", kept for {job}")).unwrap_or_default();
                let how = format!("{} from {} to {}{kept}", processors(*procs), Clock(*from), Clock(*to));
                ("reservation", format!("reservation `{name}`"), *procs, Some(*from), how)
            }
            Blocker::Down { procs } => {
                let how = format!("{} are down, drain, or are kept by stalled jobs", processors(*procs));
                ("down", "of the machines".to_owned(), *procs, None, how)
            }
            Blocker::Cap { procs } => {
                let how = format!("keeps back {} that could be given", processors(*procs));
                ("cap", "the power cap".to_owned(), *procs, None, how)
            }
        };
        let who = blocker.who();
        Self {
            kind,
            job: who.map(|who| who.number.0),
            origin: who.map(|who| who.origin().name()),
            who: name,
            procs,
            start_s: start.map(Time::as_secs_f64),
            until_s: blocker.until().map(Time::as_secs_f64),
            how,
            for_s,
        }
    }
}

impl Stretch {
    /// The blockers of the job, from the beginning of the stretch to its end.
    pub(super) fn held(&self) -> impl Iterator<Item = BlockerFacts> + use<'_> {
        self.begin
            .iter()
            .flat_map(|begin| &begin.blockers)
            .map(|blocker| BlockerFacts::new(blocker, self.long()))
    }
}
