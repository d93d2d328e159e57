//! What a broker believes of pools, by hand: what they report, or what is forecast from what was measured.

use gridemu::broker::BeliefErrors;
use gridemu::grid::{Grid, Policies};
use gridemu::model::{
    Application, ApplicationSpec, BrokerSpec, GridSpec, Information, Job, Record, RunTimes,
};
use gridemu::units::{Bandwidth, Bytes, Rate, Span, Time};
use gridemu::workload::{Carrying, Jobs, Source};

use crate::grid::{jobs_of, plain};
use crate::support::job;

/// `plain` with a broker that believes this.
fn believing(processors: &[u32], information: Information) -> GridSpec {
    let spec = plain(processors, "mct", 0, 10);
    let broker = spec.broker.clone().expect("it has one");
    GridSpec { broker: Some(BrokerSpec { information, ..broker }), ..spec }
}

/// A job of a site's own users that runs for 100 s, and is estimated to run for 1000 s.
fn overestimated(id: u64, submit: u64) -> Job {
    job(id, submit, 1, 100).estimated(Span::from_secs(1_000))
}

/// The run of a grid whose sites have these jobs of their own users: site and start of each job of the grid, and the errors of what was believed.
fn run(spec: &GridSpec, local: Vec<Vec<Job>>, grid: Box<dyn Source>) -> (Vec<(u64, u32, u64)>, BeliefErrors) {
    let own = |jobs: Vec<Job>| -> Option<Box<dyn Source>> { Some(Box::new(Jobs::new(jobs))) };
    let local: Vec<_> = local.into_iter().map(own).collect();
    let mut grid = Grid::build(spec, local, Some(grid), &Policies::standard()).expect("a grid");
    let mut records: Vec<Record> = Vec::new();
    grid.run(&mut records).expect("it runs");
    let of = |job: &gridemu::model::JobRecord| {
        let start = job.start.expect("it starts");
        (job.id.0, job.site.0, start.micros() / 1_000_000)
    };
    let jobs = jobs_of(&records).into_iter().filter(|job| job.id.0 > 100).map(of).collect();
    (jobs, grid.broker().expect("there is one").tally().starts)
}

fn jobs(jobs: Vec<Job>) -> Box<dyn Source> {
    Box::new(Jobs::new(jobs))
}

/// One site with one processor, a report every 10 s. Its users' jobs run from 0 to 100 and from 200 to 300, and are estimated to run ten times as long.
/// Job 101 comes at 5: the report has the processor busy until 1000, and it starts at 100, 900 s earlier than is believed, having waited for 95 s. It ends
/// at 110. Job 102 comes at 205. By the report it starts at 1200, by the wait of 95 s at 300; it does start at 300.
#[test]
fn a_forecast_learns_from_waits_what_estimates_hide() {
    let local = || vec![vec![overestimated(1, 0), overestimated(2, 200)]];
    let grid = || jobs(vec![job(101, 5, 1, 10), job(102, 205, 1, 10)]);
    let expected = vec![(101, 0, 100), (102, 0, 300)];
    for (information, early) in [(Information::Reported, [900, 900]), (Information::Forecast, [900, 0])] {
        let (jobs, found) = run(&believing(&[1], information), local(), grid());
        assert_eq!(jobs, expected, "{information:?}");
        assert_eq!(found, early_by(&early), "{information:?}");
    }
}

/// As above, with a second site that is busy until 1100, as estimated. Both jobs are believed to start earlier at the first one, but for the second by its
/// report (1200), which sends it to the second site, where it does start at 1100.
#[test]
fn a_forecast_sends_a_job_where_it_starts_earlier() {
    let local = || vec![vec![overestimated(1, 0), overestimated(2, 200)], vec![job(3, 0, 1, 1_100)]];
    let grid = || jobs(vec![job(101, 5, 1, 10), job(102, 205, 1, 10)]);
    let (reported, found) = run(&believing(&[1, 1], Information::Reported), local(), grid());
    assert_eq!((reported, found), (vec![(101, 0, 100), (102, 1, 1_100)], early_by(&[900, 0])));
    let (forecast, found) = run(&believing(&[1, 1], Information::Forecast), local(), grid());
    assert_eq!((forecast, found), (vec![(101, 0, 100), (102, 0, 300)], early_by(&[900, 0])));
}

/// The wait of job 101 is known at 110. If it counts for 94 s it is too old at 205, and the report answers; for 95 s it is not.
#[test]
fn what_was_measured_long_ago_is_not_believed() {
    for (within, early) in [(94, [900, 900]), (95, [900, 0])] {
        let mut spec = believing(&[1], Information::Forecast);
        spec.broker.as_mut().expect("it has one").forecast_within = Span::from_secs(within);
        let local = vec![vec![overestimated(1, 0), overestimated(2, 200)]];
        let grid = jobs(vec![job(101, 5, 1, 10), job(102, 205, 1, 10)]);
        assert_eq!(run(&spec, local, grid).1, early_by(&early), "{within} s");
    }
}

/// Two sites behind one link each, of 8 Mbit/s. Jobs bring 10 MB, alone 10 s. Two that come at once are believed to start at 10 s, and share the link: both start
/// at 20 s. A transfer got 4 Mbit/s, so a third one is believed to take 20 s, and has the link alone.
#[test]
fn transfers_are_measured() {
    for (information, errors) in
        [(Information::Reported, [-10, -10, 0]), (Information::Forecast, [-10, -10, 10])]
    {
        let mut spec = believing(&[4], information);
        let link =
            gridemu::model::Link { latency: Span::ZERO, bandwidth: Some(Bandwidth::from_bits(8_000_000)) };
        spec.network = gridemu::model::NetworkSpec::uniform(link);
        let bring = jobs(vec![job(101, 0, 1, 10), job(102, 0, 1, 10), job(103, 100, 1, 10)]);
        let carried = Box::new(Carrying::new(bring, Bytes::new(10_000_000), Bytes::ZERO));
        let (jobs, found) = run(&spec, vec![Vec::new()], carried);
        assert_eq!(jobs, [(101, 0, 20), (102, 0, 20), (103, 0, 110)], "{information:?}");
        assert_eq!(found, early_by(&errors), "{information:?}");
    }
}

/// A site of one processor and one of half its speed, both idle. Jobs of executable 7 are estimated at 1000 s and run for 100 s; user 3 has registered 200 s, and user 4
/// has the key. By estimates a job at 0 completes at 1000 on the first site, and one at 10 at 2000 there, or at 2010 on the second. By the record that is at 200, and
/// 410 on the second, since the first site does not know the record and reports that it is busy until 1000. Each is believed to run too long. At 300 two have
/// ended, of which a record of 100 s has come, also for user 5, who has no key: a job is believed to run as long as it does.
#[test]
fn a_record_of_an_application_says_how_long_its_jobs_run() {
    let (of_user, registered) = (
        |user: i32| move |job: Job| Job { user, executable: 7, ..job },
        |user: i32| ApplicationSpec {
            application: Application { user, executable: 7 },
            run_time: Some(Span::from_secs(200)),
            key_holders: vec![4],
        },
    );
    for (run_times, user, expected, over) in [
        (RunTimes::Estimates, 3, [0, 0, 0], [900, 900, 900]),
        (RunTimes::Applications, 3, [0, 1, 0], [100, 200, 0]),
        (RunTimes::Applications, 4, [0, 1, 0], [100, 200, 0]),
        (RunTimes::Applications, 5, [0, 0, 0], [900, 900, 0]),
    ] {
        let mut spec = plain(&[1, 1], "mct", 0, 10);
        for group in &mut spec.sites[1].partitions[0].groups {
            group.speed = Rate::ratio(1, 2);
        }
        let broker = spec.broker.as_mut().expect("it has one");
        (broker.run_times, broker.applications) = (run_times, vec![registered(3)]);
        let all = [overestimated(101, 0), overestimated(102, 10), overestimated(103, 300)];
        let all = all.into_iter().map(of_user(user)).collect();
        let mut grid =
            Grid::build(&spec, Vec::new(), Some(jobs(all)), &Policies::standard()).expect("a grid");
        let mut records: Vec<Record> = Vec::new();
        grid.run(&mut records).expect("it runs");
        let sites: Vec<u32> = jobs_of(&records).iter().map(|job| job.site.0).collect();
        assert_eq!(sites, expected, "{run_times:?} of user {user}");
        let found = grid.broker().expect("there is one").tally().runs;
        assert_eq!(found, early_by(&over), "{run_times:?} of user {user}");
    }
}

/// The errors of jobs that started so many seconds earlier than was believed.
fn early_by(early: &[i64]) -> BeliefErrors {
    let mut errors = BeliefErrors::default();
    for early in early {
        errors.add(Time::from_secs(10_000), Time::from_secs((10_000 - early).unsigned_abs()));
    }
    errors
}
