//! One pass: which idle job starts, on free processors or in the place of others, and when it is worth looking again.

use super::{Selective, SelectiveOptions, WidthRule};
use crate::local::policies::preemptive::{Choice, Idle, Need, Run, Victim};
use crate::local::{Actions, Line, Phase, Preempted, Quotient, Rule, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Span, Time};

impl SelectiveOptions {
    /// Whether a running job may be suspended for one of so many processors, as far as its expansion factor does not matter. One that has begun at
    /// this very instant may not, nor one that does not work yet.
    fn may_suspend(&self, view: &View<'_>, run: &Run, procs: u32, width: WidthRule) -> bool {
        let is_able = !run.past_limit && !run.drains && run.began < view.now();
        is_able && width.allows(procs, run.count) && view.job(run.job).phase() == Phase::Running
    }

    /// Whether enough processors are in use after a job of `procs` has taken the place of jobs with `freed`.
    fn gains(&self, procs: u32, freed: u64) -> bool {
        let after = i64::from(procs).saturating_sub(i64::try_from(freed).unwrap_or(i64::MAX));
        self.min_gain.is_none_or(|least| after >= least)
    }

    fn reentry_rule(&self) -> WidthRule {
        if self.reentry_width { self.width } else { WidthRule::None }
    }

    /// Until when a running job is certain to keep a suspended one from resuming, as long as no rule about it changes: `None` if the routine may suspend it.
    fn keeps(&self, view: &View<'_>, idle: &Idle, run: &Run) -> Option<Time> {
        let now = view.now();
        if self.may_suspend(view, run, idle.count, self.reentry_rule()) {
            let is_enough = self.margin.allows(idle.line.at(now), run.waited);
            return (!is_enough).then(|| self.margin.reached(idle.line, run.waited).max(now + Span::TICK));
        }
        let runs = run.began < now && view.job(run.job).phase() == Phase::Running;
        Some(if runs { Time::NEVER } else { run.began.max(now) + Span::TICK })
    }
}

impl Selective {
    pub(super) fn pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        let mut free = view.free_set().clone();
        let Self { options, books, .. } = self;
        books.settle_claims(view, &mut free, actions, |waited, idle| options.judge(waited, idle));
        // What had not begun before the last pass may be suspended from now on.
        if self.free != free || self.fresh {
            self.books.changes += 1;
        }
        let routine = now.micros().is_multiple_of(self.options.every.micros());
        let mut acted = false;
        let next = |policy: &mut Self, free: &ProcSet| {
            let Self { options, books, .. } = &mut *policy;
            match routine {
                true => policy.choose(view, free),
                false => books.best_fit(now, free, |idle, run| options.keeps(view, idle, run)),
            }
        };
        while let Some(choice) = next(self, &free) {
            acted = true;
            if !self.carry_out(choice, view, &mut free, actions) {
                break;
            }
        }
        self.free = free;
        self.fresh = self.books.newest >= now;
        if let Some(at) = self.next_look(view, routine && !acted) {
            actions.wake_at(at);
        }
        if let Some(trace) = actions.trace() {
            trace.free = self.free.len();
            trace.rule = self.facts(view);
        }
    }

    /// The facts of a pass: what each idle job could take of running jobs.
    fn facts(&self, view: &View<'_>) -> Rule {
        let (now, options, claims) = (view.now(), &self.options, self.books.claimed());
        let may_suspend = |job: JobKey, line: Line, count: u32, own: Option<&ProcSet>| {
            let width = if own.is_some() { options.reentry_rule() } else { options.width };
            let may = |run: &&Run| {
                options.may_suspend(view, run, count, width)
                    && options.margin.allows(line.at(now), run.waited)
                    && own.is_none_or(|own| !own.is_disjoint(&run.procs))
            };
            let procs =
                self.books.runs().filter(may).map(|run| own.map_or(run.count, |own| own.common(&run.procs)));
            (job, procs.sum())
        };
        let waiting =
            self.books.waiting.iter().flat_map(|(procs, width)| width.jobs.iter().map(|one| (*procs, one)));
        let waiting = waiting.map(|(procs, one)| may_suspend(one.item, one.line, procs, None));
        let suspended = self.books.suspended.iter();
        let suspended = suspended.map(|idle| may_suspend(idle.job, idle.line, idle.count, Some(&idle.procs)));
        let routine = Some((options.margin.factor.as_millionths(), options.every));
        Rule::Preemption { may_suspend: waiting.chain(suspended).collect(), claims, routine }
    }

    /// The idle job with the largest expansion factor that can start now, also in the place of others.
    fn choose(&mut self, view: &View<'_>, free: &ProcSet) -> Option<Choice> {
        let now = view.now();
        let (count, changes, margin) = (free.len(), self.books.changes, self.options.margin);
        let mut best: Option<Choice> = None;
        let mut widths = std::mem::take(&mut self.books.waiting);
        for (procs, width) in &mut widths {
            let Some(head) = width.jobs.best(now) else { continue };
            let waited = head.line.at(now);
            if best.is_some_and(|best| !best.is_after(waited, head.seq)) {
                continue;
            }
            if *procs > count {
                let is_reached = |need| matches!(need, Need::Above(other) if margin.allows(waited, other));
                if width.known == changes && !is_reached(width.need) {
                    continue;
                }
                width.known = changes;
                if let Err(need) = self.victims(view, *procs, waited, count) {
                    width.need = need;
                    continue;
                }
                width.known = u64::MAX;
            }
            best = Some(Choice { waited, seq: head.seq, job: head.item, procs: *procs, suspended: None });
        }
        self.books.waiting = widths;
        let Self { options, books, .. } = self;
        books.suspended.loosen_due(now);
        let keeps = |idle: &Idle, run: &Run| options.keeps(view, idle, run);
        books.best_suspended(now, free, best, keeps, |idle, freed| options.gains(idle.count, freed))
    }

    /// The victims of a job that has not started: in ascending order of expansion factor, until they are enough, and without those that are
    /// superfluous then. Otherwise what it takes, at least.
    fn victims(&self, view: &View<'_>, procs: u32, waited: Quotient, free: u32) -> Result<Vec<Victim>, Need> {
        let (options, lacking) = (&self.options, procs - free);
        let (mut victims, mut freed) = (Vec::new(), 0);
        for ranked in self.books.order() {
            let Some(run) = self.books.run(ranked.job) else { continue };
            if !options.may_suspend(view, run, procs, options.width) {
                continue;
            }
            if !options.margin.allows(waited, ranked.waited) {
                return Err(Need::Above(ranked.waited));
            }
            freed += run.count;
            victims.push(Victim { job: run.job, procs: run.count });
            if freed >= lacking {
                options.dropped.reduce(&mut victims, lacking);
                let freed = victims.iter().map(|victim| u64::from(victim.procs)).sum();
                return if options.gains(procs, freed) { Ok(victims) } else { Err(Need::Never) };
            }
        }
        Err(Need::Never)
    }

    /// The running jobs on these processors, in ascending order of expansion factor.
    fn holders(&self, procs: &ProcSet) -> Vec<&Run> {
        let (mut rest, mut holders) = (procs.clone(), Vec::new());
        while let Some(run) = rest.first().and_then(|proc| self.books.owner(proc)) {
            rest.remove_all(&run.procs);
            holders.push(run);
        }
        holders.sort_unstable_by(|a, b| a.waited.cmp(&b.waited).then(b.seq.cmp(&a.seq)));
        holders
    }

    /// Suspends the victims of a choice and starts it, now or when they have released their processors. False if that did not work out, and there is no
    /// use in looking for another one.
    fn carry_out(
        &mut self,
        choice: Choice,
        view: &View<'_>,
        free: &mut ProcSet,
        actions: &mut Actions,
    ) -> bool {
        let (now, Choice { waited, job, procs, suspended, .. }) = (view.now(), choice);
        let victims: Vec<JobKey> = match suspended {
            Some(at) => {
                let own = self.books.suspended.get(at).map(|idle| idle.procs.difference(free));
                self.holders(&own.unwrap_or_default()).into_iter().map(|run| run.job).collect()
            }
            None if procs <= free.len() => Vec::new(),
            None => {
                let victims = self.victims(view, procs, waited, free.len()).unwrap_or_default();
                victims.into_iter().map(|victim| victim.job).collect()
            }
        };
        let mut pending = ProcSet::new();
        for victim in victims {
            let span = self.books.run(victim).map_or(Span::ZERO, |run| Span::from_micros(run.waited.den));
            let why = Preempted {
                by: job,
                ours: view.job(victim).xfactor(now),
                theirs: view.job(job).xfactor(now),
            };
            self.books.suspend(view, (victim, why), span, (free, &mut pending), actions);
        }
        let Some(idle) = self.books.take(view, &choice) else { return false };
        let Self { options, books, .. } = self;
        let taken = match suspended {
            Some(_) => Some(idle.procs.clone()),
            None if pending.is_empty() => books.procs_for_start(view, free, procs),
            None => {
                pending.insert_all(free);
                books.procs_for_start(view, &pending, procs)
            }
        };
        let Some(taken) = taken else {
            books.add_idle(view, idle);
            return false;
        };
        books.put(view, idle, taken, free, actions, |waited, idle| options.judge(waited, idle));
        true
    }

    /// The next multiple at which an idle job may preempt, if nothing happens before. After a fruitless routine it is known what each idle job
    /// lacks; otherwise it may be the next one.
    fn next_look(&mut self, view: &View<'_>, fruitless: bool) -> Option<Time> {
        let now = view.now();
        let every = self.options.every.micros();
        if self.books.none_idle() || self.books.order().is_empty() {
            return None;
        }
        let multiple = |at: u64| Some(Time::from_micros(at.div_ceil(every).checked_mul(every)?));
        let next = now.micros().checked_add(1).and_then(multiple)?;
        if self.eager || !fruitless || self.fresh {
            return Some(next);
        }
        let margin = self.options.margin;
        let mut earliest = Time::NEVER;
        for width in self.books.waiting.values_mut() {
            let (Need::Above(other), Some(head)) = (width.need, width.jobs.best(now)) else { continue };
            let reached = margin.reached(head.line, other).min(width.jobs.settled_until());
            earliest = earliest.min(reached);
        }
        earliest = earliest.min(self.books.suspended.next_due());
        if earliest == Time::NEVER {
            return None;
        }
        multiple(earliest.micros()).map(|at| at.max(next))
    }
}
