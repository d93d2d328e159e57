//! Machine availability.

use crate::model::{Distribution, FailureAction};
use crate::scenario::kind::key::keys;
use crate::scenario::kind::words::{Best, Or};
use crate::units::{Span, Timestamp};

keys! {
    /// How machines come and go, and what becomes of their jobs.
    ChurnKeys, "a table of churn" {
        /// How long a machine stays up: `"exponential[mean=45 h]"`, `"weibull[shape=0.7,mean=45 h]"` or
        /// `"lognormal[median=1 h,sigma=1.6]"`. Without `up` and `down`, or a `trace`, machines leave only by events.
        up: Option<Distribution>;
        /// How long it stays down.
        down: Option<Distribution>;
        /// [A trace](churn.md) of failures instead, which the machines follow: `event_trace.tab` of the Failure Trace Archive, or the list of Los Alamos,
        /// plain or packed with gzip or xz: a path relative to the file that names it, or `archive:NAME`, searched in the folder `$GRIDEMU_DATA` and its
        /// subfolder `fta`.
        trace: Option<String>;
        /// Which nodes of the trace: a name with `*` for any signs and `?` for one, such as `"G1/site1/*"`. The machines of the site follow the first
        /// ones, class by class, in the natural order of names.
        nodes: Option<String> => "all";
        /// Which system of a list of several.
        system: Option<u32> => "the only one";
        /// Which instant of the trace is the first of the run: a date and time with its zone.
        begin: Option<Timestamp> => "the `calendar`'s; without it the trace's first";
        /// Zone of dates that do not name theirs: `"UTC"`, `"+01:00"`, or a place, `"America/Denver"`, with its summer time.
        zone: Option<String> => "UTC";
        /// Failure action for a job whose machine leaves: it joins the end of its site's queue (`"requeue"`), returns to the
        /// broker (`"resubmit"`), stalls until the machine is back (`"wait"`), or fails (`"fail"`).
        on_failure: FailureAction = FailureAction::Requeue, was "running";
        /// Whether grid jobs that wait at the site return to the broker when the whole site leaves.
        return_queued: bool = false;
        /// Maximum number of attempts: after that a job fails instead of being requeued.
        attempts: u32 = 100;
        /// When running jobs write checkpoints: at the interval of Young (1974) or Daly (2006), or after this much progress, such as `"30 min"`.
        checkpoint: Or<Best, Span> = Or::Word(Best::None);
        /// Time for writing a checkpoint.
        checkpoint_cost: Span = Span::from_secs(60);
    }
}
