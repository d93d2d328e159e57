//! The broker and its dispatcher.

use crate::model::{Named, Payer, Replan};
use crate::scenario::kind::key::keys;
use crate::scenario::kind::named::BrokerPolicy;
use crate::scenario::kind::words::{Any, Or};
use crate::units::Span;

keys! {
    /// The broker and its dispatcher.
    BrokerKeys, "a table of the broker" {
        /// The [broker policy](brokers.md).
        policy: BrokerPolicy = BrokerPolicy(Named::bare("mct"));
        /// How often sites report, and so how old the broker's information may be; 0 s: at every change.
        monitoring_interval: Span = Span::from_secs(60), was "picture";
        /// Whether the broker adds its own assignments to a grid view that does not show them yet.
        count_in_flight: bool = true;
        /// When the broker recalls assignments that are still at the dispatcher, and plans them anew.
        replan: Replan = Replan::OnChurn;
        /// Whether replanning also recalls jobs that wait at sites.
        recall_queued: bool = false;
        /// How often a job may return before it is given up.
        retries: u32 = 10;
        /// How long a returned job waits before it is planned again, above 0; doubled with each return, up to 64-fold.
        backoff: Span = Span::from_secs(10);
        /// Maximum number of grid jobs at a site, waiting or running.
        in_flight: Or<Any, u32> = Or::Word(Any);
        /// Time of one dispatch; jobs are dispatched one after the other.
        overhead: Span = Span::ZERO;
        /// Who pays for attempts that failed with a machine.
        failed_attempts: Payer = Payer::User, was "lost_attempts";
    }
}
