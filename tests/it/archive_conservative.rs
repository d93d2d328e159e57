//! Conservative backfilling on logs of the archive (see `archive_swf`), job by job against an implementation of its own: seconds, one
//! list of free processors over time, and each waiting job placed anew, in order of submission, after every end, as pyss does.

use std::collections::{BTreeMap, BTreeSet};

use gridemu::formats::swf::Clean;
use gridemu::model::{InstantOrder, Job, SiteSpec, Size};
use gridemu::units::Span;
use gridemu::workload::Source;

use crate::archive_swf::{data, open};
use crate::support::{grid, site};

#[derive(Clone, Copy)]
struct Row {
    submit: u64,
    procs: i64,
    run: u64,
    estimate: u64,
}

/// Free processors from each time on, the last for ever.
struct Free(Vec<(u64, i64)>);

impl Free {
    fn step(&mut self, time: u64) -> usize {
        let at = self.0.partition_point(|(from, _)| *from <= time) - 1;
        if self.0[at].0 == time {
            return at;
        }
        self.0.insert(at + 1, (time, self.0[at].1));
        at + 1
    }

    fn change(&mut self, from: u64, to: u64, procs: i64) {
        if from < to {
            let (first, last) = (self.step(from), self.step(to));
            self.0[first..last].iter_mut().for_each(|(_, free)| *free += procs);
        }
    }

    fn earliest(&self, now: u64, row: &Row) -> u64 {
        let mut start = now;
        for (at, (from, free)) in self.0.iter().enumerate() {
            let to = self.0.get(at + 1).map_or(u64::MAX, |next| next.0);
            if to <= start {
                continue;
            }
            if *from >= start + row.estimate {
                break;
            }
            if *free < row.procs {
                start = to;
            }
        }
        start
    }

    fn forget_before(&mut self, now: u64) {
        let at = self.step(now);
        self.0.drain(..at);
        // What is the same on both sides of a time is one step.
        self.0.dedup_by_key(|(_, free)| *free);
    }
}

/// The start of each job. Events of one second: submissions, then ends in the order in which the starts were decided, a look at who may
/// start after each.
fn starts(machine: i64, rows: &[Row]) -> Vec<u64> {
    let mut free = Free(vec![(0, machine)]);
    let mut start = vec![0; rows.len()];
    let mut waiting: BTreeSet<usize> = BTreeSet::new();
    let mut ends: BTreeSet<(u64, u64, usize)> = BTreeSet::new();
    let (mut next, mut decided) = (0, 0);
    let place = |free: &mut Free, start: &mut [u64], job: usize, now: u64| {
        start[job] = free.earliest(now, &rows[job]);
        free.change(start[job], start[job] + rows[job].estimate, -rows[job].procs);
    };
    loop {
        let planned = waiting.iter().map(|job| start[*job]).min();
        let ended = ends.first().map(|end| end.0);
        let submitted = rows.get(next).map(|row| row.submit);
        let Some(now) = planned.into_iter().chain(ended).chain(submitted).min() else { return start };
        free.forget_before(now);
        let mut begun: Vec<usize> = Vec::new();
        let decide = |waiting: &mut BTreeSet<usize>, start: &[u64], begun: &mut Vec<usize>| {
            let due: Vec<usize> = waiting.iter().copied().filter(|job| start[*job] == now).collect();
            due.iter().for_each(|job| assert!(waiting.remove(job)));
            begun.extend(due);
        };
        while rows.get(next).is_some_and(|row| row.submit == now) {
            place(&mut free, &mut start, next, now);
            waiting.insert(next);
            decide(&mut waiting, &start, &mut begun);
            next += 1;
        }
        while let Some((_, _, job)) = ends.first().copied().filter(|end| end.0 == now) {
            ends.pop_first();
            free.change(now, start[job] + rows[job].estimate, rows[job].procs);
            for job in &waiting {
                let before = start[*job];
                free.change(before, before + rows[*job].estimate, rows[*job].procs);
                place(&mut free, &mut start, *job, now);
                assert!(start[*job] <= before, "no reservation is put off");
            }
            decide(&mut waiting, &start, &mut begun);
        }
        decide(&mut waiting, &start, &mut begun);
        for job in begun {
            decided += 1;
            ends.insert((now + rows[job].run, decided, job));
        }
    }
}

/// The log's jobs of at least a second, in whole seconds, ended at their estimates, and the first `most` of them.
fn jobs_of(source: &mut dyn Source, exact: bool, most: usize) -> Vec<Job> {
    let mut jobs = Vec::new();
    while let Some(mut job) = source.next_job().unwrap().filter(|_| jobs.len() < most) {
        job.estimate = job.estimate.max(Span::SECOND);
        job.runtime = job.runtime.max(Span::SECOND).min(job.estimate);
        if exact {
            job.estimate = job.runtime;
        }
        jobs.push(job);
    }
    jobs
}

#[test]
fn conservative_is_that_of_pyss_on_logs() {
    let Some(data) = data() else { return };
    let logs = [
        ("KTH-SP2-1996-2.1-cln", false),
        ("CTC-SP2-1996-3.1-cln", false),
        ("CTC-SP2-1996-3.1-cln", true),
        ("SDSC-SP2-1998-4.2-cln", false),
        ("LANL-CM5-1994-4.1-cln", true),
    ];
    for (log, exact) in logs {
        let mut source = open(data.join(format!("swf/{log}.swf.gz")), Clean::Strict).unwrap();
        let machine = source.machine().unwrap();
        let jobs = jobs_of(&mut source, exact, 30_000);
        let rows: Vec<Row> = jobs.iter().map(row).collect();
        let spec = SiteSpec { order: InstantOrder::Event, ..site(machine, "conservative") };
        let mut records = Vec::new();
        let registry = gridemu::local::Registry::standard();
        let mut grid = grid(&registry, &spec, &jobs).unwrap();
        grid.run(&mut records).unwrap();
        let ran: BTreeMap<u64, Option<u64>> = crate::support::Ran::of(&grid, records).starts();
        let theirs = starts(i64::from(machine), &rows);
        let differ = jobs.iter().zip(theirs).filter(|(job, start)| ran[&job.id.0] != Some(start * 1_000_000));
        assert_eq!(differ.count(), 0, "{log}, exact estimates: {exact}, {} jobs", jobs.len());
    }
}

fn row(job: &Job) -> Row {
    let seconds = |span: Span| {
        assert_eq!(span.micros() % 1_000_000, 0, "job {} is not in whole seconds", job.id);
        span.micros() / 1_000_000
    };
    let Size::Rigid(procs) = job.size else { panic!("job {} is not rigid", job.id) };
    Row {
        submit: job.submit.micros() / 1_000_000,
        procs: i64::from(procs),
        run: seconds(job.runtime),
        estimate: seconds(job.estimate),
    }
}
