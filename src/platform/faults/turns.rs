//! When the dispatcher misses a site: from the instants of its reports.

use super::{FaultTurn, SiteFaults, report};
use crate::model::{FaultKind, Heartbeat, MessageKind};
use crate::units::{Span, Time};

/// When a report is heard, and when it was sent.
type Heard = (Time, Time);

impl SiteFaults {
    /// All that the faults of the site change, in order.
    pub(super) fn plan(&self, interval: Span, heartbeat: Option<Heartbeat>) -> Vec<(Time, FaultTurn)> {
        let silences = self.silences();
        let mut turns: Vec<(Time, FaultTurn)> = Vec::new();
        for (from, until) in &silences {
            turns.extend([(*from, FaultTurn::Silent), (*until, FaultTurn::Back)]);
        }
        for fault in &self.faults {
            if matches!(fault.kind, FaultKind::StaleDirectory | FaultKind::EmptyDirectory) {
                turns.extend([(fault.from, FaultTurn::Directory), (fault.until, FaultTurn::Directory)]);
            }
        }
        let needed = |(begin, end): &(Time, Time)| {
            heartbeat.is_some() || silences.iter().any(|(_, until)| begin <= until && until <= end)
        };
        for (begin, end) in self.spans(interval).into_iter().filter(needed) {
            let heard = self.heard(begin, end, interval, &silences);
            // Before the first report of all the site counts as heard at the beginning.
            let mut last = if begin == Time::ZERO { Some(Time::ZERO) } else { None };
            for (now, _) in &heard {
                if let (Some(last), Some(heartbeat)) = (last, heartbeat.filter(|_| !interval.is_zero())) {
                    if *now > last + heartbeat.timeout {
                        turns.extend([
                            (last + heartbeat.timeout, FaultTurn::Unheard),
                            (*now, FaultTurn::Heard),
                        ]);
                    }
                    if *now > last + heartbeat.limit() {
                        turns.push((last + heartbeat.limit(), FaultTurn::Lost));
                    }
                }
                last = Some(*now);
            }
            // Its first report after a silence says that it has begun anew.
            for (_, until) in silences.iter().filter(|(_, until)| begin <= *until && *until <= end) {
                let anew =
                    heard.iter().find(|(_, sent)| sent >= until).map(|(now, _)| (*now, FaultTurn::Lost));
                turns.extend(anew);
            }
        }
        turns.sort_unstable();
        turns.dedup();
        turns
    }

    /// The stretches in which the site has failed without a word, apart and in order.
    fn silences(&self) -> Vec<(Time, Time)> {
        let silent = self.faults.iter().filter(|fault| fault.kind == FaultKind::Silent);
        merged(silent.map(|fault| (fault.from, fault.until)).collect())
    }

    /// The stretches in which reports may not be heard as usual: each begins and ends with some that are.
    fn spans(&self, interval: Span) -> Vec<(Time, Time)> {
        let disturbs = |kind| match kind {
            FaultKind::Partition | FaultKind::Silent => true,
            FaultKind::Late { of, .. } => of.has(MessageKind::Reports),
            _ => false,
        };
        let margin = interval * 3 + self.latency + Span::TICK;
        let around = |from: Time, until: Time| {
            (Time::from_micros(from.micros().saturating_sub(margin.micros())), until + margin)
        };
        let faults = self.faults.iter().filter(|fault| disturbs(fault.kind));
        merged(faults.map(|fault| around(fault.from, fault.until)).collect())
    }

    /// Whether reports are late that are sent at an instant or while a partition which covers it lasts.
    fn may_be_late(&self, time: Time) -> bool {
        let until = self.passable(time);
        let late = |kind| matches!(kind, FaultKind::Late { of, .. } if of.has(MessageKind::Reports));
        self.faults.iter().any(|fault| late(fault.kind) && fault.from < until && time < fault.until)
    }

    /// The reports of a stretch, in the order in which they are heard.
    fn heard(&self, begin: Time, end: Time, interval: Span, silences: &[(Time, Time)]) -> Vec<Heard> {
        let mut sent: Vec<Time> = silences.iter().map(|(_, until)| *until).collect();
        sent.retain(|time| begin <= *time && *time <= end && !self.is_silent(*time));
        if !interval.is_zero() {
            let step = interval.micros();
            let from = |time: Time| time.micros().div_ceil(step).saturating_mul(step);
            let mut tick = from(begin);
            while tick <= end.micros() && tick < u64::MAX {
                let time = Time::from_micros(tick);
                if let Some((_, until)) = silences.iter().find(|(from, until)| *from <= time && time < *until)
                {
                    tick = from(*until);
                    continue;
                }
                sent.push(time);
                // All that are held until the end of a partition are heard together: the first and the last of them tell.
                let last = (self.passable(time).micros().saturating_sub(1)) / step * step;
                let together = last > tick && !self.may_be_late(time);
                tick = if together { last } else { tick.saturating_add(step) };
            }
        }
        let of = |time: Time| (self.arrival(MessageKind::Reports, &report(time), time), time);
        let mut heard: Vec<Heard> = sent.into_iter().map(of).collect();
        heard.sort_unstable();
        heard
    }
}

/// Stretches with those that meet put together, in order.
fn merged(mut stretches: Vec<(Time, Time)>) -> Vec<(Time, Time)> {
    stretches.sort_unstable();
    let mut merged: Vec<(Time, Time)> = Vec::new();
    for (from, until) in stretches {
        match merged.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(until),
            None => merged.push((from, until)),
        }
    }
    merged
}
