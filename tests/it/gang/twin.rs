//! A twin of gang scheduling: a table of cells, and every rate, load and plan from scratch at each event.

use std::cmp::Reverse;

use gridemu::model::{EventCause, EventKind, Job, Record, Size, Speedup};
use gridemu::units::{Rate, Span, Time};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{self, Law, Ran, With, check, job, site};

const ONE: u128 = 1 << 20;
const SECOND: u64 = 1_000_000;

#[derive(Clone, Debug)]
struct Options {
    level: usize,
    by_priority: bool,
    /// As in the name: nothing, `b`, `eb` or `easy`.
    backfilling: &'static str,
    adapts: bool,
    fills: bool,
    /// Seconds of a slice, and the percents that a switch takes; or no slices.
    slices: Option<(u64, u64)>,
    at_events: bool,
    best: bool,
    lookahead: usize,
    reconfigure: u64,
    resizes_at_events: bool,
    every: u64,
}

impl Options {
    fn written(&self) -> String {
        let parts = [
            Some(if self.by_priority { "pri" } else { "fcfs" }),
            (!self.backfilling.is_empty()).then_some(self.backfilling),
            self.adapts.then_some("wa"),
            self.fills.then_some("fa"),
        ];
        let variant: Vec<&str> = parts.into_iter().flatten().collect();
        let slices = match self.slices {
            None => "slice=none".to_owned(),
            Some((slice, 0)) => format!("slice={slice} s,switch=none"),
            Some((slice, switch)) => format!("slice={slice} s,switch={switch}%"),
        };
        format!(
            "gang[variant={},level={},{slices},passes={},fit={},lookahead={},reconfigure={} s,resizes={},classes=5 s/15 s,age_every={} s]",
            variant.join("-"),
            self.level,
            if self.at_events { "event" } else { "slice" },
            if self.best { "best" } else { "first" },
            self.lookahead,
            self.reconfigure,
            if self.resizes_at_events { "event" } else { "interval" },
            self.every,
        )
    }

    /// What switching leaves of the time.
    fn left(&self, slots: usize) -> u128 {
        let lost =
            self.slices.filter(|_| slots > 1).map_or(0, |(_, percent)| u128::from(percent) * ONE / 100);
        ONE - lost
    }

    /// How long a job takes with no more than is guaranteed for what takes so long alone.
    fn lasts(&self, alone: u128) -> u128 {
        if self.level == 1 {
            return alone;
        }
        let least = ONE / self.level as u128 * self.left(self.level) / ONE;
        (alone * ONE).div_ceil(least)
    }
}

#[derive(Clone, Debug)]
struct Task {
    id: u64,
    submit: u64,
    size: Size,
    left: u128,
    /// What the estimate has beyond the work.
    more: u128,
    estimate: u128,
    class: usize,
    row: usize,
    on: Vec<usize>,
    rate: u128,
    /// Its share, and what it keeps of it.
    part: u128,
    started: u64,
}

impl Task {
    fn rate_on(&self, procs: usize) -> u128 {
        match &self.size {
            Size::Rigid(_) => ONE,
            Size::Moldable { preferred, speedup, .. } | Size::Malleable { preferred, speedup, .. } => {
                let on = |procs: u32| u128::from(speedup.on(procs).units());
                on(procs as u32) * ONE / on(*preferred)
            }
        }
    }

    /// N_min, N_opt and N_max on so many processors.
    fn sizes(&self, processors: usize) -> (usize, usize, usize) {
        let (least, best) = (self.size.min() as usize, self.size.preferred() as usize);
        (least, best, (self.size.max() as usize).min(processors).max(best))
    }

    fn alone(&self, procs: usize) -> u128 {
        if procs == self.size.preferred() as usize {
            return self.estimate;
        }
        (self.estimate * ONE).div_ceil(self.rate_on(procs)).max(1)
    }
}

#[derive(Copy, Clone, Debug, PartialEq)]
enum Load {
    Low,
    Normal,
    High,
}

type Ended = (u64, u64, u64);
type Resized = (u64, u64, usize, bool);

struct Twin {
    options: Options,
    processors: usize,
    now: u64,
    waiting: Vec<Task>,
    running: Vec<Task>,
    /// The job of each cell: those that have ended since the last pass are still there.
    rows: Vec<Vec<Option<u64>>>,
    slice: Option<(u64, u64)>,
    ended: Vec<Ended>,
    resized: Vec<Resized>,
}

/// What a plan has reserved: from, to, in which row, how many processors.
type Reserved = (u64, u64, usize, usize);

impl Twin {
    fn priority(&self, class: usize, waited: u64) -> u32 {
        if !self.options.by_priority {
            return 0;
        }
        let base = 10 - 5 * class as u32;
        base.max((base + 5 * u32::try_from(waited / (self.options.every * SECOND)).unwrap()).min(15))
    }

    fn free(&self, row: usize) -> Vec<usize> {
        let is_free = |proc: &usize| self.rows.get(row).is_none_or(|cells| cells[*proc].is_none());
        (0..self.processors).filter(is_free).collect()
    }

    /// Rows in use, and one more if there may be one.
    fn slots(&self) -> usize {
        (self.rows.len() + 1).min(self.options.level.max(self.rows.len()))
    }

    fn fit(&self, procs: usize, may: impl Fn(usize) -> bool) -> Option<usize> {
        let mut fits: Vec<usize> =
            (0..self.slots()).filter(|row| self.free(*row).len() >= procs && may(*row)).collect();
        if self.options.best {
            let in_use = if self.options.level == 1 { 1 } else { self.rows.len() };
            fits.sort_by_key(|row| (*row >= in_use, self.free(*row).len(), *row));
        }
        fits.first().copied()
    }

    fn put(&mut self, id: u64, row: usize, procs: usize) -> Vec<usize> {
        let on: Vec<usize> = self.free(row).into_iter().take(procs).collect();
        if row == self.rows.len() {
            self.rows.push(vec![None; self.processors]);
        }
        on.iter().for_each(|proc| self.rows[row][*proc] = Some(id));
        on
    }

    fn is_short(&self, task: &Task) -> bool {
        task.estimate < u128::from(self.options.reconfigure * SECOND)
    }

    fn grown(&self, task: &Task, from: usize) -> usize {
        let (_, _, most) = task.sizes(self.processors);
        from + (most - from).div_ceil(2)
    }

    fn load(&self) -> Load {
        let all = self.waiting.iter().map(|task| (task, task.size.preferred() as usize));
        let all = all.chain(self.running.iter().map(|task| (task, task.on.len())));
        let (mut needed, mut growth) = (0, 0);
        for (task, procs) in all.filter(|(task, _)| !self.is_short(task)) {
            needed += procs;
            growth += if task.size.is_malleable() { self.grown(task, procs) - procs } else { 0 };
        }
        match () {
            () if !self.options.adapts => Load::Normal,
            () if needed + growth < self.processors => Load::Low,
            () if needed > self.processors * self.options.level => Load::High,
            () => Load::Normal,
        }
    }

    fn target(&self, task: &Task, load: Load) -> usize {
        let (least, best, _) = task.sizes(self.processors);
        match load {
            _ if matches!(task.size, Size::Rigid(_)) => best,
            Load::Normal => best,
            Load::Low => self.grown(task, best),
            Load::High => least + (best - least) / 2,
        }
    }

    fn boundary(&self, time: u64) -> u64 {
        match self.slice.filter(|_| !self.options.at_events) {
            Some((since, length)) => since + (time - since).div_ceil(length) * length,
            None => time,
        }
    }

    fn may_resize(&self) -> bool {
        let interval = self.options.reconfigure * SECOND;
        if self.options.resizes_at_events || interval == 0 {
            return true;
        }
        // The pass before could have been at the beginning of the slice that ends now.
        let before = match self.slice.filter(|_| !self.options.at_events && !self.running.is_empty()) {
            Some((_, length)) => self.now - length,
            None => self.now.saturating_sub(1),
        };
        (before + 1..=self.now).contains(&(self.now / interval * interval)) && self.now > 0
    }

    /// The first time at which a row has room beside what is reserved.
    fn earliest(&self, reserved: &[Reserved], slots: usize, span: u64, procs: usize) -> (u64, usize) {
        let fits = |from: u64, row: usize| {
            let used = |time: u64| -> usize {
                let at = |of: &&Reserved| of.2 == row && of.0 <= time && time < of.1;
                reserved.iter().filter(at).map(|of| of.3).sum()
            };
            let inside = reserved.iter().map(|of| of.0).filter(|time| (from..from + span).contains(time));
            inside.chain([from]).all(|time| used(time) + procs <= self.processors)
        };
        let times = reserved.iter().map(|of| of.1).filter(|time| *time > self.now).chain([self.now]);
        let starts = times.flat_map(|time| (0..slots).map(move |row| (time, row)));
        starts.filter(|(time, row)| fits(*time, *row)).min().expect("it fits when all have ended")
    }

    /// Running jobs until their guaranteed ends; `before` has what they had before this pass: processors, rate and part.
    fn reservations(&self, before: &[(u64, usize, u128, u128)]) -> Vec<Reserved> {
        let until = |task: &Task| {
            let Some((_, had, rate, part)) = before.iter().find(|(id, ..)| *id == task.id) else {
                return self.options.lasts(task.alone(task.on.len()));
            };
            let rest = (task.left + task.more).div_ceil(*rate);
            let has = task.on.len();
            if self.options.level == 1 && has == *had {
                return rest.max(1);
            }
            let mut alone = (rest * part).div_ceil(ONE);
            if has != *had {
                let work = (alone * task.rate_on(*had)).div_ceil(ONE) * ONE;
                alone = work.div_ceil(task.rate_on(has));
            }
            self.options.lasts(alone)
        };
        let of = |task: &Task| (self.now, self.now + until(task) as u64, task.row, task.on.len());
        self.running.iter().map(of).collect()
    }

    fn start(&mut self, mut task: Task, row: usize, procs: usize, new: &mut Vec<u64>) {
        task.on = self.put(task.id, row, procs);
        (task.row, task.started) = (row, self.now);
        new.push(task.id);
        self.running.push(task);
    }

    fn pass(&mut self) {
        for cell in self.rows.iter_mut().flatten() {
            if cell.is_some_and(|id| self.running.iter().all(|task| task.id != id)) {
                *cell = None;
            }
        }
        let mut gone = 0;
        for row in 0..self.rows.len() {
            if self.rows[row - gone].iter().all(Option::is_none) {
                self.rows.remove(row - gone);
                self.running.iter_mut().filter(|task| task.row > row - gone).for_each(|task| task.row -= 1);
                gone += 1;
            }
        }
        let (load, resizes) = (self.load(), self.may_resize());
        if self.running.is_empty() {
            self.slice = None;
        }
        let before: Vec<(u64, usize, u128, u128)> =
            self.running.iter().map(|task| (task.id, task.on.len(), task.rate, task.part)).collect();
        if self.options.adapts && resizes {
            self.adapt(load);
        }
        let mut line = std::mem::take(&mut self.waiting);
        line.sort_by_key(|task| {
            let priority = self.priority(task.class, self.now - task.submit);
            if self.options.by_priority {
                (Reverse(priority), task.submit, task.id)
            } else {
                (Reverse(0), 0, task.id)
            }
        });
        let mut new = Vec::new();
        while let Some(head) = line.first() {
            let procs = self.target(head, load);
            let Some(row) = self.fit(procs, |_| true) else { break };
            let task = line.remove(0);
            self.start(task, row, procs, &mut new);
        }
        if !line.is_empty() {
            self.backfill(&mut line, load, &before, &mut new);
        }
        self.waiting = line;
        if self.options.fills {
            self.fill(&new);
        }
        let rows = self.rows.len();
        for task in &mut self.running {
            let (share, kept) = if self.options.level == 1 {
                (ONE, ONE)
            } else {
                (ONE / rows as u128, self.options.left(rows))
            };
            task.part = share * kept / ONE;
            task.rate = task.rate_on(task.on.len()) * kept / ONE * share / ONE;
        }
        let level = self.options.level as u64;
        let length =
            self.options.slices.map(|(slice, _)| slice * SECOND * level / (rows as u64).clamp(1, level));
        self.slice = match length.filter(|_| !self.running.is_empty()) {
            Some(length) if self.slice.is_none_or(|(_, had)| had != length) => Some((self.now, length)),
            Some(_) => self.slice,
            None => None,
        };
    }

    fn adapt(&mut self, load: Load) {
        let mut ids: Vec<u64> = self.running.iter().map(|task| task.id).collect();
        ids.sort_unstable();
        for id in ids {
            let at = self.running.iter().position(|task| task.id == id).unwrap();
            let task = self.running[at].clone();
            if !task.size.is_malleable() || load == Load::Normal {
                continue;
            }
            let (least, _, _) = task.sizes(self.processors);
            let had = task.on.len();
            let target = if load == Load::Low { self.grown(&task, had) } else { least + (had - least) / 2 };
            let mut on = task.on.clone();
            on.truncate(target);
            let free = self.free(task.row);
            on.extend(free.into_iter().take(target.saturating_sub(had)));
            on.sort_unstable();
            if on.len() != had {
                task.on.iter().for_each(|proc| self.rows[task.row][*proc] = None);
                on.iter().for_each(|proc| self.rows[task.row][*proc] = Some(id));
                self.resized.push((self.now, id, on.len(), load == Load::Low));
                self.running[at].on = on;
            }
        }
    }

    fn backfill(
        &mut self,
        line: &mut Vec<Task>,
        load: Load,
        before: &[(u64, usize, u128, u128)],
        new: &mut Vec<u64>,
    ) {
        let now = self.now;
        let mut reserved = self.reservations(before);
        let request = |twin: &Self, task: &Task| {
            let procs = twin.target(task, load);
            (procs, twin.options.lasts(task.alone(procs)) as u64)
        };
        match self.options.backfilling {
            "eb" => {
                let mut at = 1;
                while at < line.len() {
                    let (procs, _) = request(self, &line[at]);
                    match self.fit(procs, |_| true) {
                        Some(row) => {
                            let task = line.remove(at);
                            self.start(task, row, procs, new);
                        }
                        None => at += 1,
                    }
                }
            }
            "easy" => {
                let (needs, _) = request(self, &line[0]);
                let (shadow, own) = self.earliest(&reserved, self.slots(), 1, needs);
                let used: usize =
                    reserved.iter().filter(|of| of.2 == own && of.1 > shadow).map(|of| of.3).sum();
                let mut extra = self.processors - used - needs;
                let mut at = 1;
                while at < line.len() {
                    let (procs, span) = request(self, &line[at]);
                    let by = now + span <= shadow;
                    match self.fit(procs, |row| row != own || by || procs <= extra) {
                        Some(row) => {
                            extra -= if row == own && !by { procs } else { 0 };
                            let task = line.remove(at);
                            self.start(task, row, procs, new);
                        }
                        None => at += 1,
                    }
                }
            }
            "b" => {
                let (mut at, mut slots) = (0, self.slots());
                while at < line.len() && at <= self.options.lookahead {
                    let (procs, span) = request(self, &line[at]);
                    let (time, row) = self.earliest(&reserved, slots, span, procs);
                    reserved.push((time, time + span, row, procs));
                    if time == now {
                        let task = line.remove(at);
                        self.start(task, row, procs, new);
                        slots = slots.max(self.slots());
                    } else {
                        at += 1;
                    }
                }
            }
            _ => {}
        }
    }

    fn fill(&mut self, new: &[u64]) {
        for malleable in [false, true] {
            for id in new {
                let at = self.running.iter().position(|task| task.id == *id).unwrap();
                let task = self.running[at].clone();
                let is_so = match task.size {
                    Size::Rigid(_) => false,
                    Size::Moldable { .. } => !malleable,
                    Size::Malleable { .. } => malleable && task.class < 2,
                };
                let (_, _, most) = task.sizes(self.processors);
                if is_so {
                    let more = self.put_more(*id, task.row, most - task.on.len());
                    self.running[at].on.extend(more);
                    self.running[at].on.sort_unstable();
                }
            }
        }
    }

    fn put_more(&mut self, id: u64, row: usize, by: usize) -> Vec<usize> {
        let by = by.min(self.free(row).len());
        self.put(id, row, by)
    }

    fn run(mut self, jobs: &[Job]) -> (Vec<Ended>, Vec<Resized>) {
        let micros = |span: Span| u128::from(span.micros());
        let of = |job: &Job| Task {
            id: job.id.0,
            submit: job.submit.micros(),
            size: job.size.clone(),
            left: micros(job.runtime) * ONE,
            more: (micros(job.estimate) - micros(job.runtime)) * ONE,
            estimate: micros(job.estimate),
            class: [5, 15].iter().filter(|bound| job.estimate > Span::from_secs(**bound)).count(),
            row: 0,
            on: Vec::new(),
            rate: 0,
            part: 0,
            started: 0,
        };
        let mut coming: Vec<Task> = jobs.iter().map(of).collect();
        let mut passes = u64::MAX;
        while !coming.is_empty() || !self.waiting.is_empty() || !self.running.is_empty() {
            let ends = self.running.iter().map(|task| self.now + task.left.div_ceil(task.rate) as u64);
            let next = ends.chain(coming.first().map(|task| task.submit)).chain([passes]).min().unwrap();
            let span = u128::from(next - self.now);
            self.now = next;
            self.running.iter_mut().for_each(|task| task.left = task.left.saturating_sub(task.rate * span));
            for task in self.running.extract_if(.., |task| task.left == 0) {
                self.ended.push((task.id, task.started, next));
            }
            while coming.first().is_some_and(|task| task.submit <= next) {
                self.waiting.push(coming.remove(0));
            }
            if self.boundary(next) > next && !self.running.is_empty() {
                passes = self.boundary(next);
                continue;
            }
            self.pass();
            passes = self.boundary(self.wish());
        }
        self.ended.sort_unstable();
        (self.ended, self.resized)
    }

    /// When something may be done without an event.
    fn wish(&self) -> u64 {
        let every = self.options.every * SECOND;
        let grows = self.waiting.iter().filter(|task| {
            self.options.by_priority && self.priority(task.class, self.now - task.submit) < 15
        });
        let grows = grows.map(|task| task.submit + ((self.now - task.submit) / every + 1) * every);
        let interval = self.options.reconfigure * SECOND;
        let load = self.load();
        let changes = |task: &Task| {
            let had = task.on.len();
            let grows = load == Load::Low && self.grown(task, had) > had && !self.free(task.row).is_empty();
            task.size.is_malleable() && (grows || load == Load::High && had > task.size.min() as usize)
        };
        let is_timed = self.options.adapts && !self.options.resizes_at_events && interval > 0;
        let resizes =
            (is_timed && self.running.iter().any(changes)).then(|| (self.now / interval + 1) * interval);
        grows.chain(resizes).min().unwrap_or(1 << 60)
    }
}

fn options() -> impl Strategy<Value = Options> {
    let how = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let backfilling = prop::sample::select(vec!["", "b", "eb", "easy"]);
    let slices =
        prop_oneof![2 => Just(None), 3 => (1_u64..4, prop_oneof![Just(0_u64), Just(10)]).prop_map(Some)];
    let times = (prop_oneof![2 => Just(0_u64), 5 => 1_u64..20], 1_u64..40);
    let lookahead = prop_oneof![3 => Just(50_usize), 1 => 1_usize..4];
    (1_usize..4, how, backfilling, slices, times, lookahead).prop_map(
        |(level, how, backfilling, slices, (reconfigure, every), lookahead)| {
            let (by_priority, adapts, fills, at_events, best, resizes_at_events) = how;
            Options {
                level,
                by_priority,
                backfilling,
                adapts,
                fills,
                slices,
                at_events: at_events || slices.is_none(),
                best,
                lookahead,
                reconfigure,
                resizes_at_events,
                every,
            }
        },
    )
}

type Raw = (u64, u32, u64, u64, u8, u32, u32, u32);

fn jobs(processors: u32, raw: Vec<Raw>) -> Vec<Job> {
    let mut submit = 0;
    let job = |(id, raw): (u64, Raw)| {
        let (gap, procs, runtime, more, kind, less, wider, serial_ppm) = raw;
        submit += gap;
        let procs = procs.min(processors);
        let job = job(id, submit, procs, runtime).estimate(runtime + more);
        let (min, max) = (procs.saturating_sub(less).max(1), procs + wider);
        match kind {
            0 | 1 => job.moldable(min, max, Speedup::of_working_set(min, procs, max)),
            2 | 3 => job.malleable(min, max, Speedup::Amdahl { serial_ppm }),
            _ => job,
        }
    };
    (1..).zip(raw).map(job).collect()
}

proptest! {
    #![proptest_config(crate::support::cases(1500))]

    /// The policy starts, resizes and ends every job at the microsecond at which the twin does.
    #[test]
    fn every_rate_is_as_if_computed_anew(
        processors in 1_u32..9,
        raw in vec((0_u64..12, 1_u32..7, 1_u64..40, prop_oneof![2 => Just(0_u64), 1 => 0_u64..30], 0_u8..6, 0_u32..4, 0_u32..6, 0_u32..200_000), 1..16),
        options in options(),
    ) {
        let jobs = jobs(processors, raw);
        let spec = site(processors, &options.written());
        let ran: Ran = support::run(&spec, &jobs);
        let (waiting, running, ended) = (Vec::new(), Vec::new(), Vec::new());
        let (level, slices, slow) = (options.level, options.slices, options.clone());
        let twin = Twin {
            options, processors: processors as usize, now: 0, waiting, running, rows: Vec::new(), slice: None,
            ended, resized: Vec::new(),
        };
        let (expected, resized) = twin.run(&jobs);
        let got: Vec<Ended> = expected.iter().map(|(id, ..)| {
            let record = ran.job(*id);
            (*id, record.start.map_or(u64::MAX, Time::micros), record.end.micros())
        }).collect();
        prop_assert_eq!(got, expected);
        let events: Vec<Resized> = ran.records.iter().filter_map(|record| match record {
            Record::Event(event) if event.kind == EventKind::Resized => {
                let grows = event.cause == EventCause::LoadLow;
                assert!(grows || event.cause == EventCause::LoadHigh);
                Some((event.time.micros(), event.job.unwrap().0, event.procs as usize, grows))
            }
            _ => None,
        }).collect();
        prop_assert_eq!(&events, &resized);
        // Sizes are in range, no processor has more jobs than the level, and shares sum to no more than all of its time.
        let law = Law { multiprogramming_level: level as u32, slows: level > 1, ..Law::default() };
        check(&spec, &jobs, &ran, law);
        // Work is conserved over shares and resizes: what segments did at their rates is the work of each job, but for the last microsecond.
        for job in &jobs {
            let own = ran.segments().filter(|segment| segment.job == job.id);
            let (mut done, mut last) = (0_u128, 0_u128);
            for segment in own {
                last = segment.rate.units().into();
                done += last * u128::from(segment.to.since(segment.from).micros());
            }
            let work = u128::from(job.runtime.micros()) * u128::from(Rate::FULL.units());
            prop_assert!(done >= work && done - work < last.max(1));
        }
        // A job is resized at most once after each multiple of the interval, and no later than a slice after it.
        let interval = slow.reconfigure * SECOND;
        if !slow.resizes_at_events && interval > 0 {
            let longest = if slow.at_events { 0 } else { slices.map_or(0, |(slice, _)| slice * SECOND * level as u64) };
            for (time, ..) in &events {
                prop_assert!(time % interval <= longest);
            }
            for job in &jobs {
                let own: Vec<u64> = events.iter().filter(|event| event.1 == job.id.0).map(|event| event.0).collect();
                prop_assert!(own.windows(2).all(|pair| pair[0] / interval < pair[1] / interval));
            }
        }
    }
}
