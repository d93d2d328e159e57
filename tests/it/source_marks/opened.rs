//! Workloads opened as a run opens them: files of both formats and generators, shaped, with data, several as one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gridemu::experiment::Progress;
use gridemu::formats::cwf::Writer;
use gridemu::formats::swf::Clean;
use gridemu::scenario::{EstimateSource, Shaping, Workload};
use gridemu::units::Bytes;
use gridemu::workload::cwf::Cwf;
use gridemu::workload::{Carrying, MalleableSpec, Merged, Source, SpeedupForm};
use proptest::prelude::*;

use super::{Machine, log};

/// One workload before it is opened.
#[derive(Clone, Debug)]
struct Written {
    workload: Workload,
    shaping: Shaping,
    data: bool,
}

fn batsim(rows: &[(u64, u64, u64, u32)]) -> String {
    let (mut jobs, mut profiles) = (Vec::new(), Vec::new());
    for ((at, run, estimate, procs), number) in rows.iter().zip(1..) {
        let walltime = run + estimate;
        jobs.push(format!(
            r#"{{"id":"{number}","subtime":{at},"res":{procs},"walltime":{walltime},"profile":"p{number}"}}"#
        ));
        profiles.push(format!(r#""p{number}":{{"type":"delay","delay":{run}}}"#));
    }
    format!(r#"{{"nb_res":4,"jobs":[{}],"profiles":{{{}}}}}"#, jobs.join(","), profiles.join(","))
}

/// A log so long that it is read in several batches: `times` the same rows, one after the other.
fn repeated(log: &str, times: u64) -> String {
    let mut text = String::new();
    for round in 0..times {
        for line in log.lines().filter(|line| !line.starts_with("9999 ")) {
            let mut fields: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let mut raise = |at: usize, by: u64| {
                let number: i64 = fields[at].parse().expect("a number");
                if number > 0 {
                    fields[at] = (number + (by * round) as i64).to_string();
                }
            };
            raise(0, 1_000);
            raise(1, 5_000);
            raise(16, 1_000);
            writeln!(text, "{}", fields.join(" ")).expect("a string");
        }
    }
    text + "99999 999999 0 1 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n"
}

/// Jobs of 1 to 4 processors, half of them dedicated, many with commands.
const CLOUD: &str = "cwf[jobs=800,procs=4,unit=1,split=2,load=0.9,pd=0.5,pe=0.4,pr=0.3]";

/// Such jobs as a log.
fn cloud(seed: u64) -> String {
    let mut source = Cwf::new(CLOUD.parse().unwrap(), seed, "").unwrap();
    let (mut text, mut writer) = (Vec::new(), Writer::default());
    while let Some(job) = source.next_job().unwrap() {
        writer.write_job(&mut text, &job);
    }
    writer.finish(&mut text);
    String::from_utf8(text).unwrap()
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a temporary folder");
    path
}

/// The source of all of them; none if one cannot be: a log of one instant cannot have another load, nor a few long jobs
/// Tsafrir's estimates, whose draws depend on whether there is a portal.
fn open(written: &[Written], portal: bool) -> Option<Box<dyn Source>> {
    if !portal {
        return Some(written[0].workload.open(&written[0].shaping, &Progress::default()).ok()?.source);
    }
    let open = |(at, written): (usize, &Written)| {
        let entity = format!("portal/{at}");
        let opened = written.workload.open_for(&entity, &written.shaping, &Progress::default()).ok()?;
        let (input, output) = if written.data { (7, 3) } else { (0, 0) };
        Some(Box::new(Carrying::new(opened.source, Bytes::new(input), Bytes::new(output))) as Box<dyn Source>)
    };
    let sources: Option<Vec<_>> = written.iter().enumerate().map(open).collect();
    Some(Box::new(Merged::new(sources?)))
}

fn shaping(jobs: bool) -> impl Strategy<Value = Shaping> {
    let estimates = prop::sample::select(vec!["log", "exact", "factor:2.5", "tsafrir"]);
    let half = MalleableSpec { share: 0.5, speedup: SpeedupForm::WorkingSet, ..MalleableSpec::default() };
    (
        (prop_oneof![Just(0_u64), 0_u64..100], prop::option::of(1_u64..1_500)),
        estimates,
        (
            prop::option::of(prop::sample::select(vec![0.3, 0.9])),
            prop::sample::select(vec!["1", "1.2", "1/3"]),
        ),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        1_u64..4,
    )
        .prop_map(
            move |(
                (skip, first),
                estimates,
                (load, load_factor),
                (clean, cap, feedback, malleable),
                seed,
            )| {
                let estimates: EstimateSource = estimates.parse().unwrap();
                Shaping {
                    clean: if jobs && clean { Clean::Strict } else { Clean::None },
                    cap: jobs && cap,
                    skip,
                    first,
                    load: load.filter(|_| jobs),
                    load_factor: Some(load_factor.parse().unwrap()).filter(|_| jobs && load.is_none()),
                    estimates,
                    feedback: jobs && feedback,
                    malleable: malleable.then_some(half),
                    procs: Some(4),
                    seed,
                }
            },
        )
}

/// What is written: files go to a folder of the test once the case is drawn.
#[derive(Clone, Debug)]
enum Kind {
    Swf(String, u64),
    Batsim(Vec<(u64, u64, u64, u32)>),
    /// In the cloud workload format, with this seed.
    Cwf(u64),
    Named(&'static str),
}

fn workload() -> impl Strategy<Value = (Kind, Shaping, bool)> {
    let rows = prop::collection::vec((0_u64..900, 1_u64..100, 0_u64..100, 1_u32..5), 1..80);
    let named = prop::sample::select(vec![
        "lublin[jobs=900,procs=4]",
        "lublin[jobs=60,procs=4,load=0.7]",
        "poisson[jobs=700,every=9 s,size=1..4,runtime=exponential[mean=1 min]]",
        CLOUD,
    ]);
    prop_oneof![
        3 => (log(), 1_u64..12, shaping(true)).prop_map(|(log, times, shaping)| (Kind::Swf(log, times), shaping)),
        1 => (rows, shaping(false)).prop_map(|(rows, shaping)| (Kind::Batsim(rows), shaping)),
        1 => (1_u64..9, shaping(true)).prop_map(|(seed, shaping)| (Kind::Cwf(seed), shaping)),
        2 => (named, shaping(false)).prop_map(|(named, shaping)| (Kind::Named(named), shaping)),
    ]
    .prop_flat_map(|(kind, shaping)| (Just(kind), Just(shaping), any::<bool>()))
}

proptest! {
    #![proptest_config(crate::support::cases(120))]

    #[test]
    fn whatever_is_opened_is_continued(
        drawn in prop::collection::vec(workload(), 1..4),
        portal in any::<bool>(),
        at in 0_usize..2_000,
        slowness in 0_u64..3,
        looked_at in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let written: Vec<Written> = drawn
            .into_iter()
            .enumerate()
            .map(|(number, (kind, shaping, data))| {
                let workload = match kind {
                    Kind::Swf(log, times) => {
                        Workload::File(write(folder.path(), &format!("{number}.swf"), &repeated(&log, times)))
                    }
                    Kind::Batsim(rows) => {
                        Workload::File(write(folder.path(), &format!("{number}.json"), &batsim(&rows)))
                    }
                    Kind::Cwf(seed) => Workload::File(write(folder.path(), &format!("{number}.cwf"), &cloud(seed))),
                    Kind::Named(named) => named.parse().unwrap(),
                };
                Written { workload, shaping, data }
            })
            .collect();
        let first = open(&written, portal);
        prop_assume!(first.is_some());
        let mut first = first.unwrap();
        let mut machine = Machine { slowness, ..Machine::default() };
        for _ in 0..at {
            if machine.step(first.as_mut()).is_none() {
                break;
            }
        }
        // A grid looks at the first job of each source when it is built, and after each job at the next.
        if looked_at {
            first.peek_time().unwrap();
        }
        let mark = first.mark().unwrap();
        let mut second = open(&written, portal).unwrap();
        if looked_at {
            second.peek_time().unwrap();
        }
        second.seek(&mark).unwrap();
        prop_assert_eq!(second.mark(), Some(mark));
        let mut second_machine = machine.clone();
        prop_assert_eq!(machine.rest(first.as_mut()), second_machine.rest(second.as_mut()));
        prop_assert_eq!(first.notes(), second.notes());
        prop_assert_eq!(first.mark(), second.mark());
    }
}

/// A resumed replay tells the load of all its jobs, not only of those after the mark.
#[test]
fn the_offered_load_is_of_the_whole_log() {
    let open = || {
        let workload: Workload =
            "poisson[jobs=1500,procs=4,every=9 s,size=1..4,runtime=1 min]".parse().unwrap();
        workload.open(&Shaping::default(), &Progress::default()).unwrap()
    };
    for at in [0, 1, 511, 512, 700, 1_024, 1_500] {
        let mut first = open();
        (0..at).for_each(|_| drop(first.source.next_job().unwrap()));
        first.source.peek_time().unwrap();
        let mut second = open();
        second.source.peek_time().unwrap();
        second.source.seek(&first.source.mark().unwrap()).unwrap();
        for opened in [&mut first, &mut second] {
            while opened.source.next_job().unwrap().is_some() {}
        }
        assert!(first.offered_load().is_some());
        assert_eq!(first.offered_load(), second.offered_load(), "at job {at}");
    }
}

/// What cannot be opened again gives no mark, whatever is stacked on it: nobody could continue there.
#[cfg(unix)]
#[test]
fn a_pipe_has_no_mark() {
    let folder = tempfile::tempdir().unwrap();
    let log = "1 0 0 5 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n2 9 0 5 1 -1 -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n";
    let plain = Shaping { procs: Some(4), ..Shaping::default() };
    let shapings = [
        plain.clone(),
        Shaping { estimates: "tsafrir".parse().unwrap(), ..plain.clone() },
        Shaping { feedback: true, first: Some(1), ..plain.clone() },
        Shaping { estimates: "factor:2".parse().unwrap(), ..plain },
    ];
    for (at, shaping) in shapings.iter().enumerate() {
        let pipe = folder.path().join(format!("{at}.swf"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (path, text) = (pipe.clone(), log.to_owned());
        let writer = std::thread::spawn(move || std::fs::write(path, text));
        let mut opened = Workload::File(pipe).open(shaping, &Progress::default()).unwrap();
        writer.join().unwrap().unwrap();
        assert_eq!(opened.source.mark(), None);
        opened.source.peek_time().unwrap();
        assert_eq!(opened.source.mark(), None);
        opened.source.next_job().unwrap().unwrap();
        assert_eq!(opened.source.mark(), None);
    }
}
