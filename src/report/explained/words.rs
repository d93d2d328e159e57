//! The sentences of explanations.

use crate::experiment::WaitPlace;
use crate::local::{Compress, Delay, Explanation, PlannedJob, SearchFacts, Skipped, Why};
use crate::model::JobRef;
use crate::report::figures::count;
use crate::units::{Clock, counted};

/// The classes of jobs that have slices.
const CLASSES: [&str; 3] = ["short", "medium", "long"];

/// Most files that are named where a task waits for several.
const FILES: usize = 6;

/// The rule that makes a job wait, as a sentence without its full stop.
pub fn rule(of: &Explanation) -> String {
    let needs = processors(of.needs);
    let lacks = || format!("{needs}, and {}", are(of.free, "free"));
    match &of.why {
        Why::Starts => "nothing is in its way".to_owned(),
        Why::FirstInLine { reserved: false } => format!("it is the head of the queue, needs {}", lacks()),
        Why::FirstInLine { reserved: true } => {
            format!("it is the head of the queue and has the reservation: it needs {}", lacks())
        }
        Why::MayOvertake { first, delay: None } => {
            format!("it may be backfilled before {first}, which has the reservation, but needs {}", lacks())
        }
        Why::MayOvertake { first, delay: Some(Delay { end, from, spare }) } => format!(
            "it needs {}; and it would delay {first}, which has the reservation: it is expected to run until {}, and {} at {}",
            lacks(),
            Clock(*end),
            are(*spare, "spare"),
            Clock(*from)
        ),
        Why::TooFew { skipped } => format!("it needs {}{}", lacks(), and_skipped(skipped.as_ref())),
        Why::HeadFirst { first, needs, would_do } => {
            let end = if *would_do { ", enough for this job" } else { "" };
            let lacks = format!("{}, and {}", processors(*needs), are(of.free, "free"));
            format!("no job may pass the head of the queue: {first} needs {lacks}{end}")
        }
        Why::FirstForPlaces { most } => {
            format!("it is the head of the queue and needs {}", places(of.needs, *most, of.free))
        }
        Why::PlacesBefore { first, needs, most } => {
            let needs = places(*needs, *most, of.free);
            format!("no job may pass the head of the queue: {first} needs {needs}")
        }
        Why::FirstForSlot { needs } => {
            format!("it is the head of the queue and starts on {}", slot(*needs, of.free))
        }
        Why::SlotBefore { first, needs } => {
            format!("no job may pass the head of the queue: {first} starts on {}", slot(*needs, of.free))
        }
        Why::InSlice { until } => format!("jobs start when the present time slice ends, at {}", Clock(*until)),
        Why::RequestsLaterStart { start, kept_back: false } => {
            format!("it is a dedicated job with a requested start of {}", Clock(*start))
        }
        Why::RequestsLaterStart { start, kept_back: true } => {
            format!("its requested start is {}, and until then it is kept back from the queue", Clock(*start))
        }
        Why::HasReservation { name, start, end, owed: 0 } => {
            format!("the processors of reservation `{name}` are kept for it, from {} to {}", Clock(*start), Clock(*end))
        }
        Why::HasReservation { name, start, owed, .. } => {
            let lacks = are(*owed, "lacking");
            format!("reservation `{name}` is kept for it since {}, and {lacks}: they are not free yet", Clock(*start))
        }
        Why::ReservedBefore { end, first } => {
            let own = if *first { "it is the head of the queue and has the reservation: " } else { "" };
            format!("{own}it is expected to run until {}, and processors are reserved before", Clock(*end))
        }
        Why::WouldDelay { first, start, end, spare, from } => format!(
            "it would delay {} to start at {}: it is expected to run until {} on {needs}, and {} {}",
            delayed(first.as_ref()),
            Clock(*start),
            Clock(*end),
            are(*spare, "spare"),
            from.map_or_else(|| "then".to_owned(), |from| format!("from {} on", Clock(from)))
        ),
        Why::Planned { start, end, from, left, .. } => format!(
            "its reservation is at {}: until {} it would need {needs}, and {} {} beside running jobs and earlier reservations",
            Clock(*start),
            Clock(*end),
            from.map_or_else(|| "now".to_owned(), |from| format!("from {} on", Clock(from))),
            are(*left, "left")
        ),
        Why::Searched { planned, end, from, left, found, .. } => format!(
            "the best schedule that was found starts it at {}: until {} it would need {needs}, and {} {} beside running jobs and those before it in its order; {}",
            Clock(planned.start),
            Clock(*end),
            from.map_or_else(|| "now".to_owned(), |from| format!("from {} on", Clock(from))),
            are(*left, "left"),
            order_found(planned, found)
        ),
        Why::Kept { start, compress } => format!(
            "its reservation stays at {} although there is room before: reservations move up only when a job ends, {}",
            Clock(*start),
            match compress {
                Compress::Submission => "each once, in order of submission",
                Compress::Start => "each once, in order of reserved start",
                Compress::None => "and `compress=none` lets them stay",
            }
        ),
        Why::AfterSkipped => {
            "its requested start has come, and it waits for the head of the queue, which has been skipped the maximum number of times".to_owned()
        }
        Why::BeyondLookahead { most } => {
            format!("only the first {most} eligible waiting jobs are considered, and it is behind them")
        }
        Why::Packed { skipped } => format!(
            "another set of waiting jobs fills the free processors better, or as well and is nearer to the head of the queue{}",
            and_skipped(skipped.as_ref())
        ),
        Why::CannotPreempt { own, xfactor, may_suspend, routine } => {
            let lacks = match own {
                None => format!("it needs {}", lacks()),
                Some(own) => format!("it waits for its own processors, of which {}", are(*own, "in use or down")),
            };
            let more = routine.map(|(factor, at)| {
                let factor = factor as f64 / 1e6;
                let there = match may_suspend {
                    0 => "none".to_owned(),
                    procs => format!("those of {}", processors(*procs)),
                };
                format!(
                    "; its expansion factor is {xfactor}, and at {} it may suspend running jobs whose factors are {factor} times less, at the last pass {there} that it could use",
                    Clock(at)
                )
            });
            lacks + &more.unwrap_or_default()
        }
        Why::OtherSlice { class, slice, until } => {
            let name = |class: usize| CLASSES.get(class).copied().unwrap_or_default();
            format!(
                "it is a {} job, and the slice of {} jobs lasts until {}",
                name(*class),
                name(*slice),
                Clock(*until)
            )
        }
        Why::SlicesChange { until } => {
            format!("slices of job classes change, and no job runs until {}", Clock(*until))
        }
        Why::KeptForPreempted => {
            format!("it needs {}, but too many of them belong to preempted jobs of its class", lacks())
        }
        Why::InGroup { group, place, .. } => format!(
            "it is number {place} of the {} left of a group of {} that was formed at {}, and beside those before it it does not fit now; its place comes from a search of {} ({} nodes), which chose {}",
            counted(group.left.len(), "job"),
            group.size,
            Clock(group.formed),
            counted(usize::try_from(group.orders).unwrap_or(usize::MAX), "order"),
            count(group.nodes),
            if group.is_better {
                "one with less slowdown than that of the heuristic"
            } else {
                "that of the heuristic, or one with no less slowdown"
            }
        ),
        Why::TakesOver { until } => {
            format!("running jobs are being suspended for it, the last of them until {}", Clock(*until))
        }
        Why::OthersBefore => "other jobs are before it, and its policy gives no further reason".to_owned(),
        Why::Unsaid => "it fits, and its policy gives no reason why it waits".to_owned(),
        Why::MachinesDown { capacity: 0 } => format!("it needs {needs}, and none is available now"),
        Why::MachinesDown { capacity } => format!("it needs {needs}, and only {capacity} are available now"),
        Why::HeldByCap { kept_back } => format!(
            "it needs {}; the power cap of the site keeps back {} more, with which it would start",
            lacks(),
            processors(*kept_back)
        ),
        Why::Stalled => "it is stalled until all its machines are back".to_owned(),
    }
}

/// A number of processors: `1 processor`, `2 processors`.
pub(super) fn processors(count: u32) -> String {
    if count == 1 { "1 processor".to_owned() } else { format!("{count} processors") }
}

fn are(count: u32, what: &str) -> String {
    match count {
        0 => format!("none is {what}"),
        1 => format!("1 is {what}"),
        many => format!("{many} are {what}"),
    }
}

fn places(needs: u32, most: Option<u32>, open: u32) -> String {
    let there = match open {
        0 => "there is none".to_owned(),
        1 => "there is 1".to_owned(),
        many => format!("there are {many}"),
    };
    let which = most
        .map_or_else(|| "whose jobs it may join".to_owned(), |most| format!("with fewer than {most} jobs"));
    format!("{} {which}, and {there}", processors(needs))
}

/// Where a job is in the best order, and how the search came to that.
fn order_found(planned: &PlannedJob, found: &SearchFacts) -> String {
    let SearchFacts { nodes, orders, discrepancies, is_better, is_proven } = *found;
    let place = planned.place;
    let place = if is_better {
        let before = planned.in_heuristic;
        let differs = if discrepancies == 1 { "discrepancy" } else { "discrepancies" };
        format!(
            "it is number {place} there, and number {before} in that of the heuristic, from which it differs by {discrepancies} {differs}"
        )
    } else {
        format!("it is number {place} there, and the order is the heuristic's own")
    };
    let (orders, nodes) = (counted(orders as usize, "order"), counted(nodes as usize, "node"));
    let best = if is_proven { ", and there is no better one" } else { "" };
    format!("{place}; it is the best of {orders} ({nodes}){best}")
}

fn slot(needs: u32, most: u32) -> String {
    format!("{}, and no time slot has more than {most} free", processors(needs))
}

fn delayed(first: Option<&JobRef>) -> String {
    let one = |first: &JobRef| format!("{first}, the head of the queue, which is");
    first.map_or_else(|| "dedicated jobs, which are".to_owned(), one)
}

fn and_skipped(skipped: Option<&Skipped>) -> String {
    skipped.map_or_else(String::new, |skipped| {
        format!("; it has been skipped {} of {} times", skipped.times, skipped.most)
    })
}

impl WaitPlace {
    /// The name of the place.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Site { site, policy } => format!("{site} (`{policy}`)"),
            Self::Waking { site, .. } => format!("{site}: machines wake up"),
            Self::Broker
            | Self::PutOff { .. }
            | Self::Predecessors
            | Self::Engine
            | Self::Asks
            | Self::AsksAgain { .. }
            | Self::Picked { .. }
            | Self::Agrees { .. }
            | Self::Turn { .. }
            | Self::Files { .. } => "at the broker".to_owned(),
            Self::Held(site) | Self::Outgoing(site) => format!("at the dispatcher, for {site}"),
            Self::Input(site) => format!("in transit to {site}"),
            Self::Resting => "at the dispatcher".to_owned(),
            Self::Lost(site) => format!("lost at {site}"),
            Self::OnItsWay => "in transit".to_owned(),
        }
    }

    /// Why the job waits there, for places that give no explanation.
    pub(super) fn rule(&self) -> String {
        let rule = match self {
            Self::Turn { site, behind } => {
                return format!(
                    "it is planned for {site}, and waits for its turn in the plan behind `{behind}`"
                );
            }
            Self::PutOff { until_s, reason } => {
                let hour = match reason {
                    crate::broker::Reason::Cheapest => "a cheaper hour",
                    crate::broker::Reason::LeastCarbon => "an hour of less carbon",
                    _ => "a better hour",
                };
                return format!("it waits for {hour}, until {until_s} s");
            }
            Self::AsksAgain { at_s } => {
                return format!(
                    "the sites offer no common start for the parts of its job, and are asked again at {at_s} s"
                );
            }
            Self::Picked { start_s } => {
                return format!("a common start at {start_s} s is picked, and held when it comes");
            }
            Self::Agrees { start_s } => {
                return format!("the sites are asked to hold processors for its parts from {start_s} s on");
            }
            Self::Asks => "sites are asked when they have processors for all parts of its job",
            Self::Waking { until_s, .. } => {
                return format!(
                    "it has its processors, and begins at {until_s} s, when the last of its machines is awake"
                );
            }
            Self::Files { site, files, obstacles } => {
                let named: Vec<String> = files.iter().take(FILES).map(|file| format!("`{file}`")).collect();
                let more = match files.len().saturating_sub(FILES) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let why: String = obstacles.iter().take(FILES).map(|why| format!("; {why}")).collect();
                return format!("it waits for files at {site}: {}{more}{why}", named.join(", "));
            }
            Self::Site { .. } => "it has arrived, and the site has not run a pass yet",
            Self::Broker => "it waits for the broker to assign it to a pool",
            Self::Held(_) => "the site has the maximum number of grid jobs (`broker.in_flight`)",
            Self::Outgoing(_) => "jobs are dispatched one after the other (`broker.overhead`)",
            Self::Input(_) => "its input is being transferred",
            Self::Resting => {
                "it returned from a site, and waits for `broker.backoff` before it is planned again"
            }
            Self::Lost(_) => {
                "no word of it comes, and the dispatcher waits for one as long as its lease lasts, or until the site is back"
            }
            Self::OnItsWay => "a message takes the latency of its link",
            Self::Engine => "the workflow engine makes a job of it (`engine_delay`)",
            Self::Predecessors => "tasks of its workflow that it waits for have not completed",
        };
        rule.to_owned()
    }
}
