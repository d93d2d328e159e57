//! Machine availability.

use crate::model::{Distribution, FailureAction, GroupSize};
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
        /// [Failures of several machines at once](churn.md#groups), such as a rack of 16: `{ every = "exponential[mean=20 d]", rack = 16 }`. Machines fail alone
        /// too if `up` and `down` are given.
        group: Option<GroupKeys> => "none";
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
        /// How long before it leaves by chance or by the trace a machine [drains](churn.md#drain): it gets no new job, and what runs there goes on.
        notice: Option<Span> => "none";
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

keys! {
    /// Failures of several machines of a partition at once: one of `rack` and `size`.
    GroupKeys, "`{ every = \"exponential[mean=20 d]\", rack = 16 }`" {
        /// Time from one failure to the next: of each rack, or, with `size`, of the partition.
        every: Distribution;
        /// Machines of a rack: so many in a row, by number, and all of them fail.
        rack: Option<u32>;
        /// Machines at random that fail instead: `4`, `"geometric[mean=1.2]"` or `"lognormal[median=3,sigma=0.8]"`.
        size: Option<GroupSize>;
        /// Time within which all of them go down, each at a random time of its own.
        window: Span = Span::ZERO;
        /// How long each of them stays down.
        down: Option<Distribution> => "that of `churn`";
        /// How long before it goes down each of them [drains](churn.md#drain), such as `"1 d"` for maintenance.
        notice: Option<Span> => "that of `churn`";
    }
}
