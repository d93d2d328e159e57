//! Hand-worked cases of elastic commands: their effects on waiting and running jobs, and the reasons for which they are refused.

use gridemu::entity::ToSite;
use gridemu::local::Registry;
use gridemu::model::{
    CheckpointInterval, Checkpointing, ChurnAct, CommandRefusal, Elastic, ElasticCommand, EventCause,
    EventKind, EventRecord, FailureAction, InstantOrder, Job, JobId, Machines, Outcome, PartitionId,
    PlannedChurn, ProcSet, Record, SiteSpec, Speedup,
};
use gridemu::units::{Rate, Span, Time};

use crate::hand_worked::starts;
use crate::support::{self, Ran, With, command, grid, job, reserve, site, through_bytes};

fn more(secs: u64) -> Elastic {
    Elastic::ExtendTime(Span::from_secs(secs))
}

fn less(secs: u64) -> Elastic {
    Elastic::ReduceTime(Span::from_secs(secs))
}

/// The job with commands of its user; times in seconds.
pub(crate) fn with(mut job: Job, commands: &[(u64, Elastic)]) -> Job {
    let commands =
        commands.iter().map(|(at, change)| ElasticCommand { at: Time::from_secs(*at), change: *change });
    job.elastic = Some(commands.collect());
    job
}

pub(crate) fn events(ran: &Ran) -> Vec<&EventRecord> {
    ran.records
        .iter()
        .filter_map(|record| match record {
            Record::Event(event) => Some(event),
            _ => None,
        })
        .collect()
}

/// Reasons of the commands that were refused, by the tally and by the events.
pub(crate) fn refused(ran: &Ran) -> Vec<CommandRefusal> {
    let told: Vec<CommandRefusal> = events(ran)
        .into_iter()
        .filter_map(|event| match event.cause {
            EventCause::Unheeded(why) => Some(why),
            _ => None,
        })
        .collect();
    for (at, why) in CommandRefusal::ALL.into_iter().enumerate() {
        assert_eq!(why as usize, at, "in their order");
        assert_eq!(
            ran.tally.refused_commands[at],
            told.iter().filter(|told| **told == why).count() as u64,
            "{why:?}"
        );
    }
    let obeyed = |event: &&EventRecord| matches!(event.kind, EventKind::Extended | EventKind::Reduced);
    assert_eq!(ran.tally.commands, events(ran).into_iter().filter(obeyed).count() as u64);
    told
}

fn run(policy: &str, jobs: &[Job]) -> Ran {
    support::run(&site(4, policy), jobs)
}

pub(crate) const ELASTIC: [&str; 6] =
    ["easy-e", "easy-de", "los-e", "los-de", "delayed-los-e", "hybrid-los-e"];

#[test]
fn a_running_job_gets_more_time_and_its_kill_limit_moves() {
    // It runs for 20 of an estimate of 15: killed at 15. At 10 both get 5 more: killed at 20, with an estimate of 20.
    let jobs = [with(job(1, 0, 4, 20).estimate(15), &[(10, more(5))]), job(2, 1, 4, 5)];
    for policy in ELASTIC {
        let ran = run(policy, &jobs);
        assert_eq!((ran.times(1), ran.times(2)), ((0, 20), (20, 25)), "{policy}");
        let record = ran.job(1);
        assert_eq!(
            (record.outcome, record.run, record.estimate),
            (Outcome::Killed, Span::from_secs(20), Span::from_secs(20))
        );
        assert_eq!((refused(&ran), ran.tally.commands), (vec![], 1));
        let [event] = events(&ran)[..] else { panic!("one event") };
        assert_eq!((event.time, event.kind, event.procs), (Time::from_secs(10), EventKind::Extended, 4));
        assert_eq!(
            (event.job, event.command, event.cause),
            (Some(JobId(1)), Some(more(5)), EventCause::None)
        );
    }
    let plain = [job(1, 0, 4, 10), job(2, 0, 4, 10).estimate(25)];
    let extended = [with(plain[0].clone(), &[(5, more(7))]), plain[1].clone()];
    assert_eq!(run("los-e", &extended).times(1), (0, 17), "it runs longer, too");
}

/// The run of a job that a command ends is its work, rounded up to a microsecond at speed 1, which is two microseconds here. It was found
/// by a property, with a hundred times its cases.
#[test]
fn a_run_that_a_command_ends_on_a_slow_machine_is_legal() {
    let at = Time::from_micros(1_810_947);
    let less = |micros| ElasticCommand { at, change: Elastic::ReduceTime(Span::from_micros(micros)) };
    let mut job = job(1, 0, 1, 7);
    job.estimate = Span::from_micros(14_861_767);
    job.elastic = Some([less(4_671_006), less(9_329_820)].into());
    let mut spec = site(9, "easy-e");
    spec.partitions[0].groups[0].speed = Rate::ratio(47_541, 100_000);
    spec.churn.checkpoint = Some(Checkpointing {
        interval: CheckpointInterval::Every(Span::from_secs(4)),
        cost: Span::from_micros(700_000),
    });
    let ran = support::run(&spec, std::slice::from_ref(&job));
    assert_eq!((ran.job(1).end, ran.job(1).outcome), (at, Outcome::Completed));
    assert_eq!(ran.job(1).run, Span::from_micros(1_810_949));
    support::assert_legal(&Registry::standard(), &[spec], &[job], &ran.records);
}

#[test]
fn a_running_job_gets_less_time() {
    for policy in ELASTIC {
        // Its run time of 30 is more than the 25 that are left.
        let ran = run(policy, &[with(job(1, 0, 4, 30).estimate(40), &[(10, less(15))])]);
        assert_eq!((ran.times(1), ran.job(1).outcome), ((0, 25), Outcome::Completed), "{policy}");
        assert_eq!((ran.job(1).run, ran.job(1).estimate), (Span::from_secs(25), Span::from_secs(25)));
        // Its run time of 20 is less: only the estimate changes.
        let ran = run(policy, &[with(job(1, 0, 4, 20).estimate(40), &[(10, less(15))])]);
        assert_eq!((ran.times(1), ran.job(1).estimate), ((0, 20), Span::from_secs(25)));
        // Less is left of it than it has run: it ends now.
        let ran = run(policy, &[with(job(1, 0, 4, 30).estimate(40), &[(10, less(35))]), job(2, 0, 4, 1)]);
        assert_eq!(
            (ran.times(1), ran.times(2), ran.job(1).outcome),
            ((0, 10), (10, 11), Outcome::Completed),
            "{policy}"
        );
        assert_eq!((ran.job(1).run, ran.job(1).estimate), (Span::from_secs(10), Span::from_secs(10)));
        // All of it: refused.
        let ran = run(policy, &[with(job(1, 0, 4, 30).estimate(40), &[(10, less(40))])]);
        assert_eq!((ran.times(1), refused(&ran)), ((0, 30), vec![CommandRefusal::BelowZero]), "{policy}");
    }
}

#[test]
fn a_command_changes_what_a_job_that_waits_is_planned_with() {
    // Job 1 (3) runs until 20, job 2 (4) waits for it; job 3 (1) would run until 32, and may run until 20.
    let jobs =
        |commands: &[(u64, Elastic)]| [job(1, 0, 3, 20), job(2, 1, 4, 10), with(job(3, 2, 1, 30), commands)];
    for policy in ["easy-e", "easy-de", "los-e", "los-de"] {
        assert_eq!(starts(&site(4, policy), &jobs(&[])), [0, 20, 30], "{policy}");
        // At 5 it says that it runs for 14: until 19.
        assert_eq!(starts(&site(4, policy), &jobs(&[(5, less(16))])), [0, 20, 5], "{policy}");
        // At 3 less and at 4 more again.
        assert_eq!(starts(&site(4, policy), &jobs(&[(3, less(10)), (4, more(10))])), [0, 20, 30], "{policy}");
    }
    // In an order by estimate it changes its place: job 3 was the shorter one.
    let jobs = [job(1, 0, 4, 20), job(2, 1, 4, 10), job(3, 2, 1, 5), with(job(4, 3, 1, 4), &[(10, more(9))])];
    assert_eq!(starts(&site(4, "easy-e[order=sjf]"), &jobs), [0, 20, 30, 30]);
}

#[test]
fn what_runs_longer_delays_those_that_wait() {
    // Job 2 was to start at 20; at 10 job 1 gets 15 more, and then job 3 (1, 20) is over before.
    let jobs = [with(job(1, 0, 3, 20), &[(10, more(15))]), job(2, 1, 4, 10), job(3, 2, 1, 20)];
    for policy in ["easy-e", "los-e"] {
        assert_eq!(starts(&site(4, policy), &jobs), [0, 35, 10], "{policy}");
    }
}

#[test]
fn commands_are_refused_with_a_reason() {
    use CommandRefusal::{NoJob, NoProcessor, NotMalleable, OutOfRange, TooLong, TooMany};
    let one = |policy: &str, change| refused(&run(policy, &[with(job(1, 0, 2, 30), &[(10, change)])]));
    assert_eq!(one("easy", more(5)), [NoProcessor]);
    assert_eq!(one("fcfs", Elastic::ExtendProcs(1)), [NoProcessor]);
    assert_eq!(one("easy-e", Elastic::ExtendProcs(1)), [NotMalleable]);
    assert_eq!(one("easy-e", Elastic::ExtendTime(Span::from_micros(u64::MAX - 40_000_000))), [TooLong]);
    assert_eq!(one("easy-e", Elastic::ExtendTime(Span::MAX)), [TooLong]);
    let malleable = |change| {
        let job = job(1, 0, 2, 30).malleable(1, 9, Speedup::Linear);
        refused(&run("los-e", &[with(job, &[(10, change)])]))
    };
    assert_eq!(malleable(Elastic::ExtendProcs(3)), [OutOfRange], "more than the machine");
    assert_eq!(malleable(Elastic::ExtendProcs(u32::MAX)), [OutOfRange]);
    assert_eq!(malleable(Elastic::ReduceProcs(2)), [CommandRefusal::BelowZero]);
    assert_eq!(malleable(Elastic::ReduceProcs(u32::MAX)), [CommandRefusal::BelowZero]);
    assert_eq!(malleable(Elastic::ExtendProcs(2)), []);
    // The third of two.
    let three = with(job(1, 0, 2, 30), &[(1, more(1)), (2, more(1)), (3, more(1))]);
    let ran = run("easy-e[commands=2]", &[three]);
    assert_eq!((refused(&ran), ran.times(1)), (vec![TooMany], (0, 32)));
    // It has ended before its user says so.
    let ran = run("easy-e", &[with(job(1, 0, 2, 30), &[(10, less(5)), (40, more(1)), (50, more(1))])]);
    assert_eq!((refused(&ran), ran.times(1)), (vec![NoJob, NoJob], (0, 25)));
}

#[test]
fn a_malleable_job_gets_and_gives_back_processors() {
    // 40 s of work for 2. From 10 on it has all 4: the 30 s that are left take 15.
    let elastic =
        |commands: &[(u64, Elastic)]| with(job(1, 0, 2, 40).malleable(1, 4, Speedup::Linear), commands);
    let ran = run("easy-e", &[elastic(&[(10, Elastic::ExtendProcs(2))])]);
    assert_eq!((ran.times(1), ran.job(1).procs, refused(&ran)), ((0, 25), 4, vec![]));
    // From 10 on it has one, and job 2 (3) starts then.
    let jobs = [elastic(&[(10, Elastic::ReduceProcs(1))]), job(2, 1, 3, 5)];
    for policy in ELASTIC {
        let ran = run(policy, &jobs);
        assert_eq!((ran.times(1), ran.times(2), ran.job(1).procs), ((0, 70), (10, 15), 1), "{policy}");
    }
    // Another has them: refused.
    let ran = run("easy-e", &[elastic(&[(10, Elastic::ExtendProcs(2))]), job(2, 0, 1, 100)]);
    assert_eq!((ran.times(1), refused(&ran)), ((0, 40), vec![CommandRefusal::NoRoom]));
    // They are reserved from 20 on.
    let spec = reserve(site(4, "easy-e"), "r", 20, 30, 1);
    let ran = support::run(&spec, &[elastic(&[(10, Elastic::ExtendProcs(2))])]);
    assert_eq!(refused(&ran), [CommandRefusal::NoRoom]);
    let ran = support::run(&spec, &[elastic(&[(10, Elastic::ExtendProcs(1))])]);
    assert_eq!((refused(&ran), ran.times(1)), (vec![], (0, 30)));
}

/// What it got at the instant of its end it has in its row, and in no segment; that is legal.
#[test]
fn a_job_that_grows_and_ends_at_one_instant_is_legal() {
    let commands = [(10, Elastic::ExtendProcs(2)), (10, less(35))];
    let ran = run("easy-e", &[with(job(1, 0, 2, 40).malleable(1, 4, Speedup::Linear), &commands)]);
    assert_eq!((ran.times(1), ran.job(1).procs, refused(&ran)), ((0, 10), 4, vec![]));
}

#[test]
fn one_that_waits_asks_for_other_processors() {
    // Job 2 asks for 4 and waits for job 1 (2); from 5 on it asks for 2, and takes twice as long: 20.
    let waits = with(job(2, 1, 4, 10).malleable(1, 4, Speedup::Linear), &[(5, Elastic::ReduceProcs(2))]);
    let jobs = [job(1, 0, 2, 30), waits];
    for policy in ELASTIC {
        let ran = run(policy, &jobs);
        assert_eq!((ran.times(2), ran.job(2).procs, ran.job(2).requested), ((5, 25), 2, 4), "{policy}");
    }
}

#[test]
fn processors_come_in_whole_blocks() {
    let mut spec = site(8, "easy-e");
    spec.partitions[0].allocation_unit = 2;
    let unstable = with(job(1, 0, 2, 40).malleable(1, 8, Speedup::Linear), &[(10, Elastic::ExtendProcs(1))]);
    let ran = support::run(&spec, &[unstable]);
    // 3 are 4 in blocks of 2: the 30 s that are left take 15.
    assert_eq!((ran.times(1), ran.job(1).procs), ((0, 25), 4));
    // Less than a block changes nothing, and is refused: it uses up none of the commands. For one that runs, and for one that waits.
    let mut spec = site(128, "easy-e[commands=1]");
    spec.partitions[0].allocation_unit = 32;
    let tenfold = |job: Job| {
        let commands = [(10, Elastic::ReduceProcs(10)), (11, Elastic::ReduceProcs(32)), (12, more(5))];
        with(job.malleable(1, 128, Speedup::Linear), &commands)
    };
    let runs = support::run(&spec, &[tenfold(job(1, 0, 64, 41))]);
    assert_eq!(refused(&runs), [CommandRefusal::OutOfRange, CommandRefusal::TooMany]);
    assert_eq!((runs.times(1), runs.job(1).procs), ((0, 71), 32));
    let waits = support::run(&spec, &[job(2, 0, 128, 20), tenfold(job(1, 0, 64, 41))]);
    assert_eq!(refused(&waits), [CommandRefusal::OutOfRange, CommandRefusal::TooMany]);
    assert_eq!((waits.times(1), waits.job(1).procs), ((20, 102), 32));
}

/// Whatever a command asks for, the run goes on: a job that would last for centuries stays as it was.
#[test]
fn no_command_makes_a_job_last_beyond_all_reason() {
    let century = 100 * 365 * 86_400;
    let (ages, reason) = (18_446_744_073_000, vec![CommandRefusal::TooLong]);
    for policy in ELASTIC {
        // It waits.
        let jobs = [job(1, 0, 4, 1_000), with(job(2, 0, 4, 10), &[(10, more(ages))])];
        let ran = run(policy, &jobs);
        assert_eq!((ran.times(2), refused(&ran)), ((1_000, 1_010), reason.clone()), "{policy}");
        // It is kept back, or is reserved for.
        let ran = run(policy, &[with(job(1, 0, 4, 10).from(50), &[(10, more(ages))])]);
        assert_eq!((ran.times(1), refused(&ran)), ((50, 60), reason.clone()), "{policy}");
        // It runs, and stands still.
        let ran = run(policy, &[with(job(1, 0, 4, 20), &[(10, more(ages))])]);
        assert_eq!((ran.times(1), refused(&ran)), ((0, 20), reason.clone()), "{policy}");
        let machines = || Machines { partition: PartitionId(0), which: ProcSet::range(0, 1) };
        let mut spec = site(4, policy);
        spec.churn.on_failure = FailureAction::Wait;
        spec.churn.script = vec![
            PlannedChurn { at: Time::from_secs(5), act: ChurnAct::Leave(machines()) },
            PlannedChurn { at: Time::from_secs(20), act: ChurnAct::Join(machines()) },
        ];
        let ran = support::run(&spec, &[with(job(1, 0, 4, 20), &[(10, more(ages))])]);
        assert_eq!((ran.times(1), refused(&ran)), ((0, 35), reason.clone()), "{policy}");
    }
    // Many that are in reason by themselves: five centuries and no more, and at a tenth of the speed half of one.
    for (speed, by, carried) in [(10, century, 5), (1, century / 10, 5)] {
        let commands: Vec<(u64, Elastic)> = (10..30).map(|at| (at, more(by))).collect();
        for first in [5, 1_000] {
            let mut spec = site(4, "easy-e");
            spec.partitions[0].groups[0].speed = Rate::ratio(speed, 10);
            let jobs = [job(1, 0, 4, first), with(job(2, 0, 4, 100), &commands), job(3, 0, 4, 10)];
            let ran = support::run(&spec, &jobs);
            assert_eq!(refused(&ran), vec![CommandRefusal::TooLong; 20 - carried], "{speed}, {first}");
            assert_eq!(ran.job(3).outcome, Outcome::Completed);
        }
    }
    // Fewer processors make it longer, too.
    let wide = job(2, 0, 4, 3 * century).malleable(1, 4, Speedup::Linear);
    for first in [5, 1_000] {
        let commands = [(10, Elastic::ReduceProcs(3)), (11, Elastic::ReduceProcs(1))];
        let ran = run("los-e", &[job(1, 0, 4, first), with(wide.clone(), &commands)]);
        assert_eq!((refused(&ran), ran.job(2).procs), (reason.clone(), 3), "{first}");
    }
}

#[test]
fn one_that_is_kept_back_is_changed_too() {
    let later = with(
        job(1, 0, 4, 10).malleable(1, 4, Speedup::Linear).from(50),
        &[(10, more(10)), (20, Elastic::ReduceProcs(2))],
    );
    for policy in ["easy-e", "los-e", "easy-de", "hybrid-los-e"] {
        let ran = run(policy, std::slice::from_ref(&later));
        assert_eq!((ran.times(1), ran.job(1).procs), ((50, 90), 2), "{policy}");
    }
}

/// Commands are carried out first come first served, and what their policy plans is planned anew around them: a dedicated job may be late.
#[test]
fn plans_give_way_to_commands() {
    // Job 2 (4) is to start at 25, when job 1 (3) is over; at 10 that gets 15 s more. Job 3 (1, until 31) was in the way, and is not now.
    let jobs = [with(job(1, 0, 3, 20), &[(10, more(15))]), job(2, 0, 4, 10).from(25), job(3, 11, 1, 20)];
    for policy in ["easy-de", "los-de", "hybrid-los-e"] {
        assert_eq!(starts(&site(4, policy), &jobs), [0, 35, 11], "{policy}");
        let plain = [job(1, 0, 3, 20), jobs[1].clone(), jobs[2].clone()];
        assert_eq!(starts(&site(4, policy), &plain), [0, 25, 35], "{policy}");
    }
    // Job 1 takes the two processors that job 2 was to have from 20 on, and is over at 25.
    let unstable = with(job(1, 0, 2, 40).malleable(1, 4, Speedup::Linear), &[(10, Elastic::ExtendProcs(2))]);
    let jobs = [unstable.clone(), job(2, 0, 2, 10).from(20)];
    for policy in ELASTIC {
        let ran = run(policy, &jobs);
        assert_eq!((ran.times(1), ran.times(2), refused(&ran)), ((0, 25), (25, 35), vec![]), "{policy}");
    }
    // What the site has promised gives way to nobody.
    let spec = reserve(site(4, "los-de"), "r", 20, 30, 2);
    let ran = support::run(&spec, &[unstable]);
    assert_eq!((ran.times(1), refused(&ran)), ((0, 40), vec![CommandRefusal::NoRoom]));
}

/// A job that stands still for a machine keeps its processors, and can only be given another time.
#[test]
fn one_that_stands_still_keeps_its_processors() {
    let machines = || Machines { partition: PartitionId(0), which: ProcSet::range(0, 1) };
    for policy in ELASTIC {
        let mut spec = site(4, policy);
        spec.churn.on_failure = FailureAction::Wait;
        spec.churn.script = vec![
            PlannedChurn { at: Time::from_secs(5), act: ChurnAct::Leave(machines()) },
            PlannedChurn { at: Time::from_secs(20), act: ChurnAct::Join(machines()) },
        ];
        let commands =
            [(10, Elastic::ExtendProcs(1)), (11, Elastic::ReduceProcs(1)), (12, more(7)), (13, less(2))];
        let ran = support::run(&spec, &[with(job(1, 0, 2, 30).malleable(1, 4, Speedup::Linear), &commands)]);
        assert_eq!(refused(&ran), [CommandRefusal::NotNow; 2], "{policy}");
        // 35 s of work, and 15 s of standing still.
        assert_eq!((ran.times(1), ran.job(1).procs), ((0, 50), 2), "{policy}");
    }
}

#[test]
fn commands_come_from_outside() {
    let registry = Registry::standard();
    let jobs = [job(1, 0, 2, 30), job(2, 0, 2, 30)];
    let mut grid = grid(&registry, &site(4, "easy-e"), &jobs).expect("a grid");
    let tell = |job: u64, change| ToSite::Elastic { job: JobId(job), change };
    for (at, body) in
        [(10, tell(1, more(5))), (10, tell(7, more(5))), (12, tell(2, less(10))), (40, tell(1, more(5)))]
    {
        grid.command(command(Time::from_secs(at), body)).expect("it is to come");
    }
    let mut records = Vec::new();
    grid.run(&mut records).expect("it ends");
    let ran = Ran::of(&grid, records);
    assert_eq!((ran.times(1), ran.times(2)), ((0, 35), (0, 20)));
    assert_eq!(refused(&ran), [CommandRefusal::NoJob; 2], "one that there never was, and one that has ended");
    assert_eq!(events(&ran).iter().filter(|event| event.cause == EventCause::Command).count(), 2);
}

#[test]
fn a_run_with_commands_is_resumed_as_if_never_stopped() {
    let jobs = [
        with(job(1, 0, 3, 20), &[(10, more(15)), (12, less(3)), (13, more(1))]),
        job(2, 1, 4, 10),
        with(
            job(3, 2, 1, 20).malleable(1, 4, Speedup::Linear),
            &[(4, Elastic::ExtendProcs(1)), (36, Elastic::ReduceProcs(1))],
        ),
    ];
    for policy in ["easy-e[commands=2]", "los-de", "hybrid-los-e"] {
        let (registry, spec) = (Registry::standard(), site(4, policy));
        let straight = support::run(&spec, &jobs);
        for stop in 0..40 {
            let mut first = grid(&registry, &spec, &jobs).expect("a grid");
            let mut records = Vec::new();
            first.run_until(Time::from_secs(stop), &mut records).expect("it runs");
            let saved = through_bytes(&first.snapshot().expect("a state"));
            let mut second = grid(&registry, &spec, &jobs).expect("a grid");
            second.restore(saved, false).expect("it fits");
            second.run(&mut records).expect("it ends");
            assert_eq!(Ran::of(&second, records), straight, "{policy}, stopped at {stop}");
        }
    }
}

#[test]
fn one_pass_an_event_is_not_for_commands() {
    let spec = SiteSpec { order: InstantOrder::Event, ..site(4, "easy-e") };
    let error = support::try_run(&Registry::standard(), &spec, &[]).expect_err("it is not defined");
    assert!(error.to_string().contains("elastic commands"), "{error}");
    let spec = SiteSpec { order: InstantOrder::Event, ..site(4, "easy") };
    let ran = support::run(&spec, &[with(job(1, 0, 4, 10), &[(5, more(5))])]);
    assert_eq!((ran.times(1), refused(&ran)), ((0, 10), vec![CommandRefusal::NoProcessor]));
}

#[test]
fn a_command_is_written_and_read_back() {
    for change in [
        more(60),
        less(1),
        Elastic::ReduceTime(Span::from_micros(1_500_000)),
        Elastic::ExtendProcs(3),
        Elastic::ReduceProcs(7),
    ] {
        assert_eq!(Elastic::read(&change.written()), Some(change));
    }
    assert_eq!(more(60).written(), "ET 60");
    assert_eq!(Elastic::read("XT 60"), None);
    assert_eq!(Elastic::read("EP 1.5"), None);
}

proptest::proptest! {
    #![proptest_config(crate::support::cases(300))]

    /// Machines come and go and are slow, jobs write checkpoints and lose attempts, and commands come: nothing panics, every job ends once, and
    /// a judge who knows nothing of how it was made finds nothing wrong.
    #[test]
    fn commands_and_churn_go_together(
        case in crate::invariants::cases(ELASTIC.map(str::to_owned).to_vec(), 25),
        acts in proptest::collection::vec((0_u64..90, 0_u32..8, 0_u8..3), 0..10),
        on_failure in proptest::sample::select(vec![FailureAction::Requeue, FailureAction::Wait, FailureAction::Fail]),
        checkpoint in proptest::bool::ANY,
    ) {
        let mut spec = case.spec.clone();
        spec.churn.on_failure = on_failure;
        spec.churn.checkpoint = checkpoint.then(|| Checkpointing {
            interval: CheckpointInterval::Every(Span::from_secs(4)),
            cost: Span::from_micros(700_000),
        });
        let act = |(at, machine, what): (u64, u32, u8)| {
            let which = ProcSet::range(machine, machine + 2);
            let machines = Machines { partition: PartitionId(0), which };
            let act = match what {
                0 => ChurnAct::Leave(machines),
                1 => ChurnAct::Join(machines),
                _ => ChurnAct::Slow { machines, factor: Rate::ratio(1, 2) },
            };
            PlannedChurn { at: Time::from_secs(at), act }
        };
        spec.churn.script = acts.into_iter().map(act).collect();
        spec.churn.script.sort_by_key(|planned| planned.at);
        let registry = Registry::standard();
        if let Ok(mut grid) = grid(&registry, &spec, &case.jobs) {
            let mut records = Vec::new();
            // Those that wait for machines that do not come back are left.
            grid.run_until(Time::from_secs(4_000), &mut records).expect("it runs");
            grid.close(&mut records);
            let ran = Ran::of(&grid, records);
            proptest::prop_assert_eq!(ran.jobs().count(), case.jobs.len());
            refused(&ran);
            support::assert_legal(&registry, std::slice::from_ref(&spec), &case.jobs, &ran.records);
        }
    }
}
