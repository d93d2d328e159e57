//! Faults between a site and the grid, worked out before the run: what becomes of each message, and when the dispatcher misses a site.
//!
//! Faults follow a plan and reports come at fixed instants, so both ends of a line can compute the same: when a message will arrive, and when
//! the dispatcher will take the assignments of the site as lost. A site therefore knows of a job that ends whether anybody will hear of it in time, and the account of the
//! job is right at once: one that nobody hears of is a lost attempt. What a message meets is drawn from a stream that is named by the fault, the site and the
//! message, so no draw depends on what else is said.

mod turns;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use super::Law;
use crate::model::{BrokerSpec, FaultKind, GridSpec, MessageKind, SiteId};
use crate::units::{Span, Time};
use crate::workload::random::Stream;

/// The faults between one site and the grid.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteFaults {
    seed: u64,
    site: String,
    latency: Span,
    faults: Vec<Fault>,
    turns: Vec<(Time, FaultTurn)>,
}

/// A fault of one site.
#[derive(Clone, Debug, PartialEq)]
struct Fault {
    /// The name of its random streams.
    name: String,
    kind: FaultKind,
    law: Option<Law>,
    from: Time,
    until: Time,
}

impl Fault {
    fn covers(&self, time: Time) -> bool {
        self.from <= time && time < self.until
    }
}

/// What faults change at an instant. Those of one instant happen in this order.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultTurn {
    /// The site fails without a word.
    Silent,
    /// It is back, empty.
    Back,
    /// All assignments that were sent to the site before are over, there and at the dispatcher.
    Lost,
    /// The dispatcher has not heard of the site for too long.
    Unheard,
    /// It has heard of it again.
    Heard,
    /// The directory may answer differently from now on.
    Directory,
}

/// What the directory answers about a site.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// What the site has reported.
    Present,
    /// What it had reported when a fault began.
    Stale,
    /// Nothing.
    Empty,
}

impl SiteFaults {
    /// The faults of each site of a grid; `None` where there are none.
    pub fn of_grid(spec: &GridSpec) -> Vec<Option<Arc<Self>>> {
        let none = || vec![None; spec.sites.len()];
        let Some(broker) = spec.broker.as_ref().filter(|broker| !broker.faults.is_empty()) else {
            return none();
        };
        let site = |(at, site): (usize, &crate::model::SiteSpec)| {
            let latency = spec.network.link(0, at + 1).latency;
            Self::new(spec.seed, SiteId(at as u32), &site.name, latency, broker).map(Arc::new)
        };
        spec.sites.iter().enumerate().map(site).collect()
    }

    /// The faults of a site, if it has any.
    pub fn new(seed: u64, id: SiteId, site: &str, latency: Span, broker: &BrokerSpec) -> Option<Self> {
        let mut faults: Vec<Fault> = Vec::new();
        for (at, fault) in broker.faults.iter().enumerate() {
            // The number among those of its kind: a fault of another kind shifts no stream.
            let kind = fault.kind.name();
            let number = broker.faults[..at].iter().filter(|other| other.kind.name() == kind).count() + 1;
            if fault.is_of(id) && fault.from < fault.until {
                let law = fault.kind.law().map(|(_, delay)| Law::of(delay));
                let (kind, from, until) = (fault.kind, fault.from, fault.until);
                faults.push(Fault {
                    name: format!("fault {} {number}", kind.name()),
                    kind,
                    law,
                    from,
                    until,
                });
            }
        }
        if faults.is_empty() {
            return None;
        }
        let mut line = Self { seed, site: site.to_owned(), latency, faults, turns: Vec::new() };
        line.turns = line.plan(broker.monitoring_interval, broker.heartbeat);
        Some(line)
    }

    /// All that faults change, in order.
    pub fn turns(&self) -> &[(Time, FaultTurn)] {
        &self.turns
    }

    /// The faults of a kind that cover an instant.
    fn at(&self, time: Time) -> impl Iterator<Item = &Fault> {
        self.faults.iter().filter(move |fault| fault.covers(time))
    }

    /// When a message that is sent at an instant, or would arrive then, can pass: not while a partition lasts.
    fn passable(&self, mut time: Time) -> Time {
        while let Some(until) =
            self.at(time).filter(|fault| fault.kind == FaultKind::Partition).map(|fault| fault.until).max()
        {
            time = until;
        }
        time
    }

    /// How long after `sent` a message of this kind and name arrives: first itself, and then its repetitions.
    pub fn delays(&self, of: MessageKind, name: &str, sent: Time) -> SmallVec<[Span; 1]> {
        if of == MessageKind::Reservations && self.at(sent).any(|fault| fault.kind == FaultKind::Lost) {
            return SmallVec::new();
        }
        let mut due = self.passable(sent) + self.latency;
        let drawn = |fault: &Fault| {
            let (kinds, _) = fault.kind.law()?;
            let law = fault.law.filter(|_| kinds.has(of))?;
            Some(law.draw(&mut Stream::new(self.seed, &self.site, &format!("{} {name}", fault.name))))
        };
        for fault in self.at(sent).filter(|fault| matches!(fault.kind, FaultKind::Late { .. })) {
            due += drawn(fault).unwrap_or_default();
        }
        let mut all = smallvec![self.passable(due).since(sent)];
        for fault in self.at(sent).filter(|fault| matches!(fault.kind, FaultKind::Twice { .. })) {
            all.extend(drawn(fault).map(|later| self.passable(due + later).since(sent)));
        }
        all
    }

    /// When the first copy of a message arrives.
    pub fn arrival(&self, of: MessageKind, name: &str, sent: Time) -> Time {
        sent + self.delays(of, name, sent).into_iter().min().unwrap_or_default()
    }

    /// Whether the assignments of the site are lost after `sent`, and by `arrival`.
    pub fn loses(&self, sent: Time, arrival: Time) -> bool {
        let later = &self.turns[self.turns.partition_point(|(time, _)| *time <= sent)..];
        later.iter().take_while(|(time, _)| *time <= arrival).any(|(_, turn)| *turn == FaultTurn::Lost)
    }

    /// Whether the site has failed without a word.
    pub fn is_silent(&self, time: Time) -> bool {
        self.at(time).any(|fault| fault.kind == FaultKind::Silent)
    }

    /// Whether the site refuses all jobs.
    pub fn refuses(&self, time: Time) -> bool {
        self.at(time).any(|fault| fault.kind == FaultKind::Refuse)
    }

    /// The time after which the site fails a job that arrives, if it fails all.
    pub fn fails_after(&self, time: Time) -> Option<Span> {
        self.at(time).find_map(|fault| match fault.kind {
            FaultKind::BlackHole { after } => Some(after),
            _ => None,
        })
    }

    /// What the directory answers about the site.
    pub fn answers(&self, time: Time) -> Answers {
        let of = |kind| self.at(time).any(|fault| fault.kind == kind);
        if of(FaultKind::EmptyDirectory) {
            Answers::Empty
        } else if of(FaultKind::StaleDirectory) {
            Answers::Stale
        } else {
            Answers::Present
        }
    }

    /// Whether an assignment is in vain that is sent now: it arrives where nobody is, or is over by then.
    pub fn is_in_vain(&self, task: u64, assignment: u32, sent: Time) -> bool {
        let arrival = self.arrival(MessageKind::Commands, &submission(task, assignment), sent);
        self.loses(sent, arrival) || self.is_silent(arrival)
    }

    /// Whether the news that a job has ended now, or returns, comes too late: its assignment is lost by then.
    pub fn is_unheard(&self, task: u64, assignment: u32, now: Time) -> bool {
        self.loses(now, self.arrival(MessageKind::Ends, &end(task, assignment), now))
    }
}

/// The name of the message that submits an assignment.
pub fn submission(task: u64, assignment: u32) -> String {
    format!("submit {task} {assignment}")
}

/// The name of the message that an assignment has ended, or returns.
pub fn end(task: u64, assignment: u32) -> String {
    format!("end {task} {assignment}")
}

/// The name of a report.
pub fn report(time: Time) -> String {
    format!("report {}", time.micros())
}
