//! The reference workload of Batsim and Batsim's own results for it under EASY, if the files are available (see `archive_swf`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use gridemu::formats::batsim;
use gridemu::model::{InstantOrder, Job};
use gridemu::scenario::Shaping;
use gridemu::units::{Span, Time};
use gridemu::workload::{Jobs, Source};
use serde::Deserialize;

use crate::archive_published::{Row, replay, rows};
use crate::archive_swf::data;
use crate::validating::legal;

const WORKLOAD: &str = "reference/batsim-medium_late.json";

fn read(data: &Path) -> batsim::BatsimWorkload {
    let file = File::open(data.join(WORKLOAD)).unwrap();
    batsim::read("medium_late.json", Box::new(file)).unwrap()
}

#[test]
fn medium_late_has_801_jobs_on_32_machines() {
    let Some(data) = data() else { return };
    let workload = read(&data);
    assert_eq!((workload.nb_res, workload.jobs.len()), (32, 801));
    // The file begins with its last job; the third is the first that is not at a whole second.
    assert_eq!(workload.jobs[0].submit, Time::from_secs(16_000));
    let job = &workload.jobs[2];
    assert_eq!((job.id.0, job.submit, job.size.preferred()), (1, Time::from_micros(4_709_164), 2));
    assert_eq!(job.estimate, Span::from_secs(399));
}

/// A row of Batsim's table.
#[derive(Debug, Deserialize)]
struct Theirs {
    job_id: u64,
    starting_time: f64,
    finish_time: f64,
    allocated_resources: String,
}

impl Theirs {
    fn all(data: &Path) -> BTreeMap<u64, Self> {
        let file = data.join("reference/batsim-medium_late-easy-out_jobs.csv");
        let mut table = csv::Reader::from_path(file).unwrap();
        table.deserialize::<Self>().map(|row| row.unwrap()).map(|row| (row.job_id, row)).collect()
    }

    /// `0-3 8` as bits.
    fn machines(&self) -> u32 {
        let number = |text: &str| text.parse::<u32>().unwrap();
        self.allocated_resources.split(' ').fold(0, |sum, piece| {
            let (from, to) = piece.split_once('-').unwrap_or((piece, piece));
            (number(from)..=number(to)).fold(sum, |sum, machine| sum | 1 << machine)
        })
    }
}

/// Seconds are the same if they agree to the microsecond; Batsim's six decimals are cut off, not rounded.
fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 2e-6
}

/// What the first waiting job keeps from the others until its reserved start.
#[derive(Clone, Copy, PartialEq)]
enum Keeps {
    /// As many machines as it needs, whichever these will be: EASY as published, and ours.
    AsMany,
    /// The machines with the lowest numbers of those that are then free: EASY as Batsim's scheduler plans it.
    TheseVery,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    micros: u64,
    machines: u32,
}

/// The reservation of the first waiting job.
struct Reserved {
    from: u64,
    machines: u32,
    /// Machines beside it.
    spare: u32,
}

/// EASY by its definition on 32 numbered machines, one pass per instant; a job gets the machines with the lowest numbers.
struct Twin {
    keeps: Keeps,
    free: u32,
    running: Vec<Running>,
    starts: BTreeMap<u64, Start>,
    /// Where a job was refused that would have been let start by counting: time and job.
    refused: Vec<(u64, u64)>,
}

struct Running {
    end: u64,
    expected: u64,
    machines: u32,
}

impl Twin {
    fn run(jobs: &[Job], keeps: Keeps) -> Self {
        let mut source = Jobs::new(jobs.to_vec());
        let mut twin =
            Self { keeps, free: u32::MAX, running: Vec::new(), starts: BTreeMap::new(), refused: Vec::new() };
        let mut queue = Vec::new();
        loop {
            let submit = source.peek_time().unwrap().map(Time::micros);
            let Some(now) = twin.running.iter().map(|run| run.end).chain(submit).min() else { break };
            for ended in twin.running.extract_if(.., |run| run.end == now) {
                twin.free |= ended.machines;
            }
            while source.peek_time().unwrap() == Some(Time::from_micros(now)) {
                queue.extend(source.next_job().unwrap());
            }
            twin.pass(now, &mut queue);
        }
        twin
    }

    fn pass(&mut self, now: u64, queue: &mut Vec<Job>) {
        let mut reserved: Option<Reserved> = None;
        queue.retain(|job| {
            let (need, expected) = (job.size.preferred(), now + job.estimate.micros());
            let Some(reserved) = &mut reserved else {
                if self.free.count_ones() >= need {
                    self.start(now, job, self.free);
                    return false;
                }
                reserved = Some(self.reserve(need));
                return true;
            };
            let is_over = expected <= reserved.from;
            let counted = self.free.count_ones() >= need && (is_over || need <= reserved.spare);
            let open = if is_over { self.free } else { self.free & !reserved.machines };
            let starts = match self.keeps {
                Keeps::AsMany => counted,
                Keeps::TheseVery => open.count_ones() >= need,
            };
            if !starts {
                if counted {
                    self.refused.push((now, job.id.0));
                }
                return true;
            }
            assert!(counted, "planning by machine starts nothing that counting would refuse");
            if !is_over {
                reserved.spare -= need;
            }
            self.start(now, job, if self.keeps == Keeps::AsMany { self.free } else { open });
            false
        });
    }

    /// The earliest time at which `need` machines are free, if those that run end when they are expected to.
    fn reserve(&mut self, need: u32) -> Reserved {
        self.running.sort_by_key(|run| run.expected);
        let mut then = self.free;
        for together in self.running.chunk_by(|one, next| one.expected == next.expected) {
            then |= together.iter().fold(0, |sum, run| sum | run.machines);
            if then.count_ones() >= need {
                let from = together[0].expected;
                return Reserved { from, machines: lowest(then, need), spare: then.count_ones() - need };
            }
        }
        panic!("{need} machines are never free");
    }

    fn start(&mut self, now: u64, job: &Job, among: u32) {
        let machines = lowest(among, job.size.preferred());
        self.free &= !machines;
        let (end, expected) = (now + job.runtime.micros(), now + job.estimate.micros());
        self.running.push(Running { end, expected, machines });
        self.starts.insert(job.id.0, Start { micros: now, machines });
    }
}

/// The `count` lowest bits of a set that has as many.
fn lowest(mut set: u32, count: u32) -> u32 {
    let whole = set;
    (0..count).for_each(|_| set &= set - 1);
    whole & !set
}

/// The replay of the library, checked to run every job for as long as Batsim did.
fn ours(data: &Path, order: InstantOrder) -> BTreeMap<u64, Row> {
    let folder = tempfile::tempdir().unwrap();
    let order = match order {
        InstantOrder::Instant => "instant",
        InstantOrder::Event => "event",
    };
    let more = [format!("site.site.order={order}"), format!("output.folder={}", folder.path().display())];
    replay(data.join(WORKLOAD), Shaping::default(), "easy", &more);
    legal(folder.path());
    rows(folder.path())
}

/// Our EASY differs from Batsim's in 76 of 801 starts, all for one reason: Batsim's scheduler plans by machine number.
///
/// The proof is a twin in two forms that differ in that rule alone. Where the first waiting job keeps as many machines as
/// it needs, the twin makes our schedule; where it keeps these very machines, it makes Batsim's, to the last start and
/// the last machine.
#[test]
fn batsim_differs_only_in_that_it_plans_by_machine_number() {
    let Some(data) = data() else { return };
    let (jobs, theirs) = (read(&data).jobs, Theirs::all(&data));
    let counting = Twin::run(&jobs, Keeps::AsMany);
    let numbered = Twin::run(&jobs, Keeps::TheseVery);
    assert_eq!([theirs.len(), counting.starts.len(), numbered.starts.len()], [801; 3]);

    for order in [InstantOrder::Instant, InstantOrder::Event] {
        let ours = ours(&data, order);
        assert_eq!(ours.len(), 801);
        for (id, row) in &ours {
            let theirs = &theirs[id];
            assert_eq!(row.outcome, "completed");
            assert!(same(row.end - row.start, theirs.finish_time - theirs.starting_time), "job {id}");
            assert!(same(row.start, counting.starts[id].micros as f64 / 1e6), "job {id}: counting");
        }
        let equal = ours.values().filter(|row| same(row.start, theirs[&row.job].starting_time));
        assert_eq!(equal.count(), 725, "{order:?}");
    }
    for (id, start) in &numbered.starts {
        assert!(same(start.micros as f64 / 1e6, theirs[id].starting_time), "job {id}: by number");
        assert_eq!(start.machines, theirs[id].machines(), "job {id}: by number");
    }
}

/// How the 76 differences come about: some jobs are refused for the numbers of the free machines, the others follow.
#[test]
fn the_first_difference_to_batsim_is_the_first_refusal_by_number() {
    let Some(data) = data() else { return };
    let jobs = read(&data).jobs;
    let counting = Twin::run(&jobs, Keeps::AsMany);
    let numbered = Twin::run(&jobs, Keeps::TheseVery);
    assert!(counting.refused.is_empty());
    // Job 37 waits for 4 machines, which it is to have at 571.318387 when job 36 leaves 7, 10, 20 and 21; it keeps 7, 10, 14 and
    // 17. Of the free machines 14, 17 and 25 this leaves one, and job 41, which needs two until after then, is refused.
    assert_eq!(numbered.refused[0], (510_722_252, 41));
    let refused: BTreeSet<u64> = numbered.refused.iter().map(|(_, job)| *job).collect();
    let differ: BTreeMap<u64, u64> = (numbered.starts.iter())
        .map(|(id, start)| (*id, start.micros.min(counting.starts[id].micros)))
        .filter(|(id, _)| numbered.starts[id].micros != counting.starts[id].micros)
        .collect();
    assert_eq!(differ.iter().map(|(id, first)| (*first, *id)).min(), Some((510_722_252, 41)));
    let later = differ.keys().filter(|id| numbered.starts[id].micros > counting.starts[id].micros).count();
    let itself = differ.keys().filter(|id| refused.contains(id)).count();
    assert_eq!((numbered.refused.len(), refused.len()), (103, 28));
    assert_eq!((differ.len(), later, itself), (76, 46, 23));
}
