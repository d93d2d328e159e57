//! One pass: which idle job starts, on free processors or in the place of others, and when it is worth looking again.

use super::{Selective, SelectiveOptions, WidthRule};
use crate::local::policies::preemptive::{Choice, Idle, Need, Run, Victim};
use crate::local::{Actions, Line, Phase, Preempted, Quotient, Rule, View};
use crate::model::{JobKey, ProcSet};
use crate::units::{Span, Time};

impl SelectiveOptions {
    /// Whether a running job may be suspended for one of so many processors, as far as its expansion factor does not matter. One that has begun at
    /// this very instant may not, nor one that does not run yet because it resumes.
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
            if routine { policy.choose(view, free) } else { policy.books.best_fit(now, free) }
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
        let (now, options) = (view.now(), &self.options);
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
        let every = options.every.micros();
        let next = (now.micros() / every).saturating_add(1).saturating_mul(every);
        let routine = Some((options.margin.factor.as_millionths(), Time::from_micros(next)));
        Rule::Preemption { may_suspend: waiting.chain(suspended).collect(), routine }
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
        for at in 0..self.books.suspended.len() {
            let Idle { line, seq, job, count, .. } = self.books.suspended[at];
            let waited = line.at(now);
            if best.is_none_or(|best| best.is_after(waited, seq)) && self.may_resume(view, at, free) {
                best = Some(Choice { waited, seq, job, procs: count, suspended: Some(at) });
            }
        }
        best
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

    /// Whether a suspended job can resume on its processors, also by suspending those that hold them.
    fn may_resume(&mut self, view: &View<'_>, at: usize, free: &ProcSet) -> bool {
        let idle = &self.books.suspended[at];
        let hindered = |proc: u32| !free.contains(proc) && self.hindrance(view, idle, proc).is_some();
        // Most often it is as it was.
        if hindered(idle.hindrance) {
            return false;
        }
        let rest = idle.procs.difference(free);
        if let Some(proc) = rest.iter().find(|proc| hindered(*proc)) {
            self.books.suspended[at].hindrance = proc;
            return false;
        }
        let freed = self.holders(&rest).iter().map(|run| u64::from(run.count)).sum();
        rest.is_empty() || self.options.gains(idle.count, freed)
    }

    /// What a suspended job lacks to get one of its processors, which is not free: `None` if it may suspend the job that holds it.
    fn hindrance(&self, view: &View<'_>, idle: &Idle, proc: u32) -> Option<Need> {
        let Some(run) = self.books.owner(proc) else { return Some(Need::Never) };
        if !self.options.may_suspend(view, run, idle.count, self.options.reentry_rule()) {
            return Some(Need::Never);
        }
        let is_enough = self.options.margin.allows(idle.line.at(view.now()), run.waited);
        (!is_enough).then_some(Need::Above(run.waited))
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
                let rest = self.books.suspended[at].procs.difference(free);
                self.holders(&rest).into_iter().map(|run| run.job).collect()
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
        let idle = match suspended {
            Some(_) => self.books.take_suspended(job),
            None => self.books.withdraw(now, job),
        };
        let Some(idle) = idle else { return false };
        let taken = match suspended {
            Some(_) => Some(idle.procs.clone()),
            None if pending.is_empty() => self.place(view, free, procs),
            None => {
                pending.insert_all(free);
                self.place(view, &pending, procs)
            }
        };
        let Self { options, books, .. } = self;
        let Some(taken) = taken else {
            books.add_idle(view, idle);
            return false;
        };
        books.put(view, idle, taken, free, actions, |waited, idle| options.judge(waited, idle));
        true
    }

    /// So many of the free processors, for a job that starts.
    fn place(&self, view: &View<'_>, free: &ProcSet, procs: u32) -> Option<ProcSet> {
        if !self.options.away || self.books.suspended.is_empty() {
            return view.pick(free, procs);
        }
        let mut away = free.clone();
        self.books.suspended.iter().for_each(|idle| away.remove_all(&idle.procs));
        let first = procs.min(away.len());
        let mut picked = view.pick(&away, first)?;
        picked.insert_all(&view.pick(&free.difference(&away), procs - first)?);
        Some(picked)
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
        for idle in &self.books.suspended {
            if let Some(Need::Above(other)) = self.hindrance(view, idle, idle.hindrance) {
                earliest = earliest.min(margin.reached(idle.line, other));
            }
        }
        if earliest == Time::NEVER {
            return None;
        }
        multiple(earliest.micros()).map(|at| at.max(next))
    }
}
