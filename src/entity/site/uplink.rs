//! The messages of a site to the grid: notifications of the grid's jobs, reports of its own state, and requests for work.

use serde::{Deserialize, Serialize};

use super::Site;
use crate::broker::PoolReport;
use crate::entity::mailbox::Moments;
use crate::entity::{
    Address, Body, EndedJob, Outbox, SiteReport, Stamp, ToBroker, ToDirectory, ToDispatcher,
};
use crate::local::{Exit, ExitKind};
use crate::model::{Origin, PartitionId, Payer, PoolId, TaskId};
use crate::platform::report as name_of_report;
use crate::units::{Span, Time};

/// The connection of a site to the grid.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uplink {
    /// How long a message to the broker, the directory or the dispatcher takes.
    pub latency: Span,
    /// How often it reports, at the common instants that are multiples of this; zero for a report at every change.
    pub monitoring_interval: Span,
    /// Whether it asks for work.
    pub asks: bool,
    /// Who pays for attempts that fail because of churn.
    pub failed_attempts: Payer,
}

/// The state of reporting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reporting {
    uplink: Uplink,
    /// When the next periodic report is due, if reports are periodic.
    pub(super) next_tick: Option<Time>,
    /// Processors that each partition last asked work for.
    asked: Vec<u32>,
}

impl Reporting {
    /// How long a message takes.
    pub(super) fn latency(&self) -> Span {
        self.uplink.latency
    }

    /// Has it ask for work anew.
    pub(super) fn forget_asked(&mut self) {
        self.asked.iter_mut().for_each(|asked| *asked = 0);
    }

    /// Restores the state of a saved site. If it reports or asks in another way from now on, it does so at once.
    pub(super) fn restore(&mut self, saved: Self, now: Time) {
        self.asked = saved.asked;
        self.next_tick = if self.uplink == saved.uplink { saved.next_tick } else { Some(now) };
    }
}

/// The first multiple of `step` not before `time`.
fn next_multiple(time: Time, step: Span) -> Time {
    let micros = step.micros().max(1);
    Time::from_micros(time.micros().div_ceil(micros).saturating_mul(micros))
}

impl Site {
    /// Connects the site to the grid. Its first report is due at once.
    pub fn connect(&mut self, uplink: Uplink) {
        let next_tick = Some(next_multiple(self.mail.passed().time, uplink.monitoring_interval));
        let asked = vec![0; self.partitions.len()];
        for partition in &mut self.partitions {
            partition.charge_failed_attempts_to(uplink.failed_attempts);
        }
        self.uplink = Some(Reporting { uplink, next_tick, asked });
        self.refresh();
    }

    /// How long a message of this site takes; [`Span::MAX`] if it never sends one.
    pub fn latency(&self) -> Span {
        self.uplink.as_ref().map_or(Span::MAX, |reporting| reporting.uplink.latency)
    }

    /// Notifies the dispatcher of the exit of a grid job.
    pub(super) fn notify_exit(&mut self, gone: Exit, now: Stamp, outbox: &mut dyn Outbox) {
        let (Origin::Grid, Some(number)) = (gone.job.origin(), gone.number) else { return };
        let (site, assignment) = (self.id, gone.assignment);
        let letter = match gone.how {
            ExitKind::Ended(outcome) => {
                let Exit { start, last_start, attempts, energy, cost, passed, output, .. } = gone;
                let (task, job, end) = (TaskId(number), gone.job.number, now.time);
                ToDispatcher::Ended {
                    site,
                    assignment,
                    ended: EndedJob {
                        task,
                        job,
                        outcome,
                        output,
                        start,
                        last_start,
                        end,
                        attempts,
                        charged: Box::new((energy, cost)),
                        passed,
                    },
                }
            }
            ExitKind::Returned { job, why } => return self.send_back(job, why, now, outbox),
        };
        self.send_end(number, assignment, letter, now, outbox);
    }

    /// The site's report of one of its partitions.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn pool_report(&self, partition: usize, now: Time) -> PoolReport {
        let partition = &self.partitions[partition];
        let view = partition.view(now);
        PoolReport {
            present: partition.present(),
            free: view.free(),
            asleep: view.free().saturating_sub(view.awake().procs),
            free_by_group: partition.free_by_group(),
            waiting: partition.waiting(),
            running: partition.running(),
            backlog: partition.backlog(),
            price: partition.price(now),
            power: partition.power(now),
            start_estimates: partition.start_estimates(now),
        }
    }

    /// At the end of a moment: sends a report if it is due, and asks for work if processors are idle.
    pub(super) fn report(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        let Some(reporting) = &mut self.uplink else { return };
        let Uplink { monitoring_interval, asks, .. } = reporting.uplink;
        let silent = self.meeting.is_silent(now.time);
        let due = reporting.next_tick.is_some_and(|tick| tick <= now.time);
        if due {
            reporting.next_tick = (!monitoring_interval.is_zero())
                .then(|| next_multiple(now.time + Span::TICK, monitoring_interval));
        }
        if silent {
            return;
        }
        let back = self.meeting.says_back();
        if due || back || monitoring_interval.is_zero() {
            let pools = (0..self.partitions.len()).map(|at| self.pool_report(at, now.time)).collect();
            let there = self.is_open();
            let open = there && !self.is_closing();
            let report = SiteReport { site: self.id, measured: now, open, there, pools };
            let letter = ToDirectory::Report(Box::new(report));
            self.send_news(Address::Directory, &name_of_report(now.time), letter, now, outbox);
        }
        if asks {
            self.ask(now, outbox);
        }
    }

    fn ask(&mut self, now: Stamp, outbox: &mut dyn Outbox) {
        for at in 0..self.partitions.len() {
            let partition = &self.partitions[at];
            // A job that is held, since it needs machines that are down, keeps no processor from others.
            let idle = self.is_open() && partition.queued() == 0;
            let procs = if idle { partition.view(now.time).free() } else { 0 };
            let Some(reporting) = &mut self.uplink else { return };
            // The broker keeps count of work that was requested and has not arrived.
            if std::mem::replace(&mut reporting.asked[at], procs) != procs {
                let pool = PoolId { site: self.id, partition: PartitionId(at as u32) };
                let letter = ToBroker::Ask { pool, procs, measured: now };
                let name = format!("ask {at} {}", now.time.micros());
                self.send_news(Address::Broker, &name, letter, now, outbox);
            }
        }
    }

    pub(super) fn send_up(
        &mut self,
        to: Address,
        now: Stamp,
        letter: impl Into<Body>,
        outbox: &mut dyn Outbox,
    ) {
        if let Some(reporting) = &self.uplink {
            let latency = reporting.uplink.latency;
            self.send(to, now, latency, letter, outbox);
        }
    }
}
