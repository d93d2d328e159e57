//! The checks of a job's row.

use super::Checker;
use super::findings::{Row, Rule, Subject, Verdict};
use super::job_trace::JobTrace;
use super::platform::{Platform, SiteFacts, stretch};
use crate::model::{JobRecord, JobRef, NamedJob, Outcome, PartitionSpec, SiteId};
use crate::units::{Rate, Time};

impl Checker {
    /// Checks the row of a job, which has ended.
    pub fn job(&mut self, job: &JobRecord, row: Row) {
        self.verdict.jobs += 1;
        let name = job.job_ref();
        let trace = self.traces.remove(&name).unwrap_or_default();
        let Self { platform, verdict, .. } = self;
        let text = platform.job(name);
        let subject = Subject { name, row };
        if !self.ended.entry(name.workload).or_default().insert(name.number.0) {
            verdict.count_check(Rule::Once);
            return verdict.fault(subject, Rule::Once, job.end, format!("{text} has a second row"));
        }
        if let Some(ends) = &mut self.ends {
            ends.insert(name, job.end);
        }
        for rule in [Rule::Once, Rule::Arrival, Rule::Outcome, Rule::Rows] {
            verdict.count_check(rule);
        }
        let mut check = JobCheck { platform, verdict, job, trace: &trace, text, subject };
        if job.end < self.last_end {
            let message =
                format!("{text} ended at {} s, and its row is after one of {} s", job.end, self.last_end);
            check.fault(Rule::Rows, job.end, message);
        }
        self.last_end = self.last_end.max(job.end);
        check.times();
        check.outcome();
        let facts = platform.get(job.site);
        match facts.and_then(|facts| Some((facts, facts.partition(job.partition)?))) {
            Some((facts, spec)) => {
                check.at_site(facts, spec);
                if platform.segments {
                    check.work(facts, spec);
                }
            }
            None if job.site == SiteId::GRID || matches!(job.outcome, Outcome::Rejected(_)) => {}
            None => {
                let place = platform.place(job.site, job.partition);
                let message = format!("{text} ended at {place}, which the grid does not have");
                check.fault(Rule::Place, job.end, message);
            }
        }
        if platform.segments {
            check.segments();
        } else {
            self.count(name, job, row);
        }
        self.reopen(name);
    }

    /// Counts its processors, where no segment says which they are.
    fn count(&mut self, name: JobRef, job: &JobRecord, row: Row) {
        let plain = self.platform.is_exclusive(job.site) && !self.platform.preempts(job.site);
        let Some(state) = self.partitions.get_mut(&(job.site, job.partition)) else { return };
        let Some(start) = job.start.filter(|_| plain && job.attempts <= 1) else { return };
        let since = self.platform.since;
        let (start, is_start) = (start.max(since), start >= since);
        if start > job.end {
            return;
        }
        state.counts.used(name, job.procs, (start, job.end), row);
        if let Some(bookings) = &mut state.bookings {
            bookings.used(name, job.procs, (start, job.end), is_start, row);
            if bookings.is_checked() {
                self.verdict.count_check(Rule::Reservation);
            }
        }
        self.verdict.count_check(Rule::Capacity);
    }
}

/// The check of one job's row.
struct JobCheck<'a> {
    platform: &'a Platform,
    verdict: &'a mut Verdict,
    job: &'a JobRecord,
    trace: &'a JobTrace,
    text: NamedJob<'a>,
    subject: Subject,
}

impl JobCheck<'_> {
    fn fault(&mut self, rule: Rule, time: Time, message: String) {
        self.verdict.fault(self.subject, rule, time, message);
    }

    /// True if the job completed or was killed at its estimate.
    const fn is_done(&self) -> bool {
        matches!(self.job.outcome, Outcome::Completed | Outcome::Killed)
    }

    /// Checks the order of submission, start and end.
    fn times(&mut self) {
        let (text, submit, end) = (self.text, self.job.submit, self.job.end);
        let Some(start) = self.job.start else {
            if end < submit {
                let message = format!("{text} ends at {end} s, before its submission at {submit} s");
                self.fault(Rule::Arrival, end, message);
            }
            return;
        };
        if start < submit {
            let message = format!("{text} starts at {start} s, before its submission at {submit} s");
            self.fault(Rule::Arrival, start, message);
        }
        if let Some(requested) = self.job.requested_start.filter(|time| start < *time && start >= submit) {
            let message = format!("{text} starts at {start} s, before its requested start at {requested} s");
            self.fault(Rule::Arrival, start, message);
        }
        if end < start {
            let message = format!("{text} ends at {end} s, before its start at {start} s");
            self.fault(Rule::Outcome, end, message);
        }
    }

    /// Checks that the outcome agrees with the rest of the row.
    fn outcome(&mut self) {
        let JobRecord { start, end, attempts, outcome, site, procs, .. } = *self.job;
        let (text, word) = (self.text, outcome.name());
        if start.is_some() != (attempts > 0) {
            let started = if start.is_some() { "started" } else { "never started" };
            self.fault(Rule::Outcome, end, format!("{text} {started}, and has {attempts} attempts"));
        }
        let wrong = match (outcome, start) {
            (Outcome::Completed | Outcome::Killed, None) => format!("{text} is {word} and never started"),
            (Outcome::Completed | Outcome::Killed, _) if procs == 0 => {
                format!("{text} is {word} and had no processors")
            }
            // A job whose attempt failed may be refused when it is submitted again.
            (Outcome::Rejected(_), Some(start)) if self.trace.losses.is_empty() && site != SiteId::GRID => {
                format!("{text} is rejected and started at {start} s")
            }
            _ => return,
        };
        self.fault(Rule::Outcome, end, wrong);
    }

    /// Checks a job that ended at a site.
    fn at_site(&mut self, facts: &SiteFacts, spec: &PartitionSpec) {
        let JobRecord { start, end, procs, requested, run, estimate, .. } = *self.job;
        let (text, platform) = (self.text, self.platform);
        let time = start.unwrap_or(end);
        // As many processors as it requested, in whole allocation units.
        let is_served = if platform.known { procs == spec.rounded(requested) } else { procs >= requested };
        if procs > spec.usable() {
            let message = format!("{text} has {procs} processors of {}", spec.usable());
            self.fault(Rule::Capacity, time, message);
        } else if platform.rigid && procs > 0 && !is_served {
            let message = format!("{text} has {procs} processors and requested {requested}");
            self.fault(Rule::Place, time, message);
        }
        if !platform.rigid || !platform.known {
            return;
        }
        let slack = 1 + platform.slack.micros();
        let overrun = facts.spec.overrun || self.trace.overrun;
        let wrong = match self.job.outcome {
            Outcome::Killed if overrun => {
                format!("{text} was killed at its estimate, where overrun is allowed")
            }
            Outcome::Killed if run.micros().abs_diff(estimate.micros()) > slack => {
                format!("{text} was killed at its estimate after a run of {run} s, and that is {estimate} s")
            }
            Outcome::Completed if !overrun && run.micros() > estimate.micros().saturating_add(slack) => {
                format!(
                    "{text} completed a run of {run} s, and would have been killed at its estimate of {estimate} s"
                )
            }
            _ => return,
        };
        self.fault(Rule::Outcome, end, wrong);
    }

    /// Checks that the segments of the job agree with its row.
    fn segments(&mut self) {
        let (job, trace, text, platform) = (self.job, self.trace, self.text, self.platform);
        let JobRecord { end, attempts, .. } = *job;
        let churned = !trace.losses.is_empty() || !trace.halts.is_empty() || attempts > 1;
        let loose = churned || platform.preempts(job.site);
        let done = self.is_done();
        let (Some(last), Some(first)) = (&trace.last, trace.first) else {
            if let Some(start) = job.start.filter(|start| done && !loose && *start < end) {
                let message = format!("{text} ran {}, and has no segment", stretch(start, end));
                self.fault(Rule::Rows, start, message);
            }
            return;
        };
        let Some(start) = job.start else {
            let message =
                format!("{text} has segments from {first} s, and its row says that it never started");
            return self.fault(Rule::Rows, first, message);
        };
        if first < start || first > start && !loose {
            let message =
                format!("{text} started at {start} s by its row, and at {first} s by its first segment");
            self.fault(Rule::Rows, first.min(start), message);
        }
        // An attempt with no work left has no segment.
        let last_one = last.attempt == attempts && trace.halts.is_empty();
        let until = last.to;
        if until > end || done && last_one && until < end {
            let message =
                format!("{text} ended at {end} s by its row, and ran until {until} s by its last segment");
            self.fault(Rule::Rows, until.min(end), message);
        }
        if last.attempt > attempts {
            let last_attempt = last.attempt;
            let message =
                format!("{text} has {attempts} attempts by its row, and a segment of attempt {last_attempt}");
            self.fault(Rule::Rows, last.from, message);
        }
        if done && last.attempt == attempts {
            let (procs, segment_procs) = (job.procs, last.procs.len());
            if (last.site, last.partition) != (job.site, job.partition) {
                let (by_row, by_segment) =
                    (platform.place(job.site, job.partition), platform.place(last.site, last.partition));
                let message = format!("{text} ended at {by_row} by its row, and ran at {by_segment}");
                self.fault(Rule::Rows, last.from, message);
            // Processors that a command added at the instant of the end were held for no time, and have no segment.
            } else if segment_procs != procs && trace.commanded != Some(end) {
                let message = format!(
                    "{text} has {procs} processors by its row, and {segment_procs} by its last segment"
                );
                self.fault(Rule::Rows, last.from, message);
            }
        }
        if job.energy.nanojoules() != trace.energy {
            self.fault(Rule::Rows, end, format!("the energy of {text} is not the sum of its segments"));
        }
        if job.dynamic.nanojoules() != trace.dynamic {
            self.fault(
                Rule::Rows,
                end,
                format!("the dynamic energy of {text} is not the sum of its segments"),
            );
        }
        if job.dynamic > job.energy {
            self.fault(
                Rule::Rows,
                end,
                format!("the dynamic energy of {text} is more than all of its energy"),
            );
        }
        // The cost of a failed attempt may not have been charged.
        if !churned && job.cost.nanos() != trace.cost {
            self.fault(Rule::Rows, end, format!("the cost of {text} is not the sum of its segments"));
        }
    }

    /// Checks that the job did the work requested, where that is known: for jobs that take exactly the processors they
    /// request, and completed or were killed at their estimate.
    fn work(&mut self, facts: &SiteFacts, spec: &PartitionSpec) {
        let (job, trace, platform) = (self.job, self.trace, self.platform);
        if !platform.rigid || !self.is_done() || job.start.is_none() {
            return;
        }
        let (run, speed) = (u128::from(job.run.micros()), u128::from(spec.speed().units()));
        // A run is its work over the speed, rounded up to a microsecond.
        let slack = u128::from(platform.slack.micros());
        // That of a job which a command ended is its work up to then, first rounded up to a microsecond at speed 1.
        let rounded = if trace.commanded == Some(job.end) { u128::from(Rate::FULL.units()) } else { 0 };
        let least = (run.saturating_sub(1 + slack) * speed).saturating_sub(rounded);
        let most = (run + slack) * speed;
        let (done, rate, span) = trace.done_in(job.attempts);
        let checkpoints = |facts: &SiteFacts| facts.spec.churn.checkpoint.is_some();
        let has_checkpoints =
            checkpoints(facts) || job.attempts > 1 && platform.sites.iter().any(checkpoints);
        // Before a fork it may have written checkpoints, and a fork may take it off its processors with the work that it has done.
        let is_forked = trace.first.is_some_and(|first| first < platform.since);
        let (done, most) = if has_checkpoints || is_forked {
            // Work kept by checkpoints need not be repeated, and writing checkpoints takes work.
            (trace.done_in_all(), u128::MAX)
        } else {
            // In the last microsecond more work may be done than is left.
            let last = u128::from(if span.is_zero() { Rate::ZERO } else { rate }.units());
            (done, most + last)
        };
        let enough = done >= least;
        if !enough || done > most {
            let done = Time::from_micros(u64::try_from(done / speed.max(1)).unwrap_or(u64::MAX));
            let word = if enough { "more" } else { "less" };
            let killed = job.outcome == Outcome::Killed;
            let ended = if killed { "was killed at its estimate" } else { "completed its work" };
            let message = format!(
                "{} {ended} and did {word} than that: its run is {} s, its segments do {done} s",
                self.text, job.run
            );
            self.fault(Rule::Work, job.end, message);
        }
        self.verdict.count_check(Rule::Work);
    }
}
