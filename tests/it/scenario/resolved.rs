//! What scenarios mean, worked out by hand.

use gridemu::experiment::{Progress, Run};
use gridemu::grid::Policies;
use gridemu::metrics::Window;
use gridemu::model::{
    ChurnAct, Elastic, FailureAction, JobAct, JobId, Link, Order, PartitionId, PlacementRule, PlannedOrder,
    ProcSet, Sharing,
};
use gridemu::scenario::{Scenario, Workload};
use gridemu::units::{Bandwidth, Bytes, Power, Rate, Span, Time};
use gridemu::workload::Source;

use super::{fine, refused};

fn site(name: &str, more: &str) -> String {
    format!("[[site]]\nname = \"{name}\"\nmachines = [{{ class = \"node\", count = 16 }}]\n{more}\n")
}

#[test]
fn machines_in_the_model_s_units() {
    let scenario = fine(
        "reference_mips = 5_000\n[[site]]\nname = 'a'\nmachines = [\n  { class = 'i7', count = 3, cores = 4, mips = 15_000, idle = '40 W', busy = '24 W/core', absent = 'all' },\n  { class = 'old', speed = 0.5, cores = 3, idle = '10 W' },\n]\n",
        &[],
    );
    let [new, old] = scenario.resolved.grid.sites[0].partitions.as_slice() else { panic!("two classes") };
    assert_eq!((new.machines(), new.cores, new.absent, new.speed()), (3, 4, 3, Rate::ratio(3, 1)));
    assert_eq!((new.idle(), new.busy()), (Power::from_milliwatts(10_000), Power::from_milliwatts(24_000)));
    // 10 W over three cores, to the nearest milliwatt; a busy one draws no less than an idle one.
    assert_eq!(
        (old.speed(), old.idle(), old.busy()),
        (Rate::ratio(1, 2), Power::from_milliwatts(3_333), old.idle())
    );
}

#[test]
fn links_stand_for_their_pair_and_sites_meet_at_the_portal() {
    let sites = [site("a", ""), site("b", ""), site("c", "")].concat();
    let star = "[[network.link]]\nbetween = ['portal', 'a']\nlatency = '10 ms'\nbandwidth = '1 Gbit/s'\n[[network.link]]\nbetween = ['b', 'portal']\nlatency = '20 ms'\n[[network.link]]\nbetween = ['portal', 'c']\nlatency = '40 ms'\nbandwidth = '100 Mbit/s'\n[[network.link]]\nbetween = ['a', 'b']\nlatency = '1 ms'\n";
    let network = fine(&format!("{sites}{star}[broker]\n"), &[]).resolved.grid.network;
    let link = |millis: u64, bits: Option<u64>| Link {
        latency: Span::from_micros(millis * 1_000),
        bandwidth: bits.map(Bandwidth::from_bits),
    };
    assert_eq!(network.link(0, 1), link(10, Some(1_000_000_000)));
    assert_eq!(network.link(2, 0), link(20, None));
    assert_eq!(network.link(1, 2), link(1, None), "its own link");
    assert_eq!(
        network.link(1, 3),
        link(50, Some(100_000_000)),
        "through the portal, as narrow as its narrowest"
    );
    assert_eq!(network.link(2, 3), link(60, Some(100_000_000)));
    let plain = fine(&sites, &[]).resolved.grid.network;
    assert_eq!(plain.link(0, 2), Link::default(), "without a network there is no delay");
    let everywhere = fine(&format!("{sites}[network]\nlatency = '5 ms'\n{star}"), &[]);
    assert_eq!(everywhere.resolved.grid.network.link(0, 3), link(40, Some(100_000_000)));
    assert_eq!(everywhere.resolved.grid.network.link(2, 3), link(5, None), "not through the portal");
}

#[test]
fn uplinks_are_those_of_the_network_or_of_the_place() {
    let sites = [site("a", ""), site("b", "")].concat();
    let network = |text: &str| fine(&format!("{sites}[network]\n{text}"), &[]).resolved.grid.network;
    let gbits = |count: u64| Some(Bandwidth::from_bits(count * 1_000_000_000));
    assert_eq!(network("").uplinks, [], "no limit, as ever");
    assert_eq!(
        (network("").sharing, network("links = 'unshared'").sharing),
        (Sharing::Shared, Sharing::Unshared)
    );
    assert_eq!(network("uplink = '2 Gbit/s'").uplinks, [None, gbits(2), gbits(2)], "not that of the portal");
    let own = "uplink = '2 Gbit/s'\nbandwidth = '5 Gbit/s'\nplace = [{ name = 'portal', uplink = '3 Gbit/s' }, { name = 'a', uplink = 'unlimited' }]\n";
    let network = network(own);
    assert_eq!(network.uplinks, [gbits(3), None, gbits(2)]);
    assert_eq!(
        [(0, 1), (1, 2), (2, 0)].map(|(a, b)| network.bandwidth(a, b)),
        [gbits(3), gbits(2), gbits(2)]
    );
}

#[test]
fn events_become_scripts_in_order_of_time() {
    let text = "[[site]]\nname = 'a'\nmachines = [{ class = 'x', count = 4 }, { class = 'y', count = 9, absent = 3 }]\nchurn = { on_failure = 'resubmit' }\n[[event]]\nat = '2 h'\njoin = 'a/y/6-7'\n[[event]]\nat = '1 h'\nleave = 'a/y/0-2,5'\n[[event]]\nat = '2 h'\njoin = 'a/y/1'\n[[event]]\nat = '3 h'\nleave = 'a'\n[[event]]\nat = '4 h'\njoin = 'a'\n[[event]]\nat = '4 h'\nslow = 'a/x'\nfactor = 0.25\n";
    let churn = &fine(text, &[]).resolved.grid.sites[0].churn;
    assert_eq!(churn.on_failure, FailureAction::Resubmit);
    let hours = |hours: u64| Time::from_secs(hours * 3_600);
    let whole: Vec<(Time, u32, String)> = churn
        .script
        .iter()
        .map(|planned| match &planned.act {
            ChurnAct::Leave(m) => (planned.at, m.partition.0, format!("leave {}", m.which)),
            ChurnAct::Join(m) => (planned.at, m.partition.0, format!("join {}", m.which)),
            ChurnAct::Slow { machines, factor } => {
                (planned.at, machines.partition.0, format!("slow {} {factor}", machines.which))
            }
            ChurnAct::LeaveSite => (planned.at, 9, "leave".to_owned()),
            ChurnAct::JoinSite => (planned.at, 9, "join".to_owned()),
            another => panic!("a new act: {another:?}"),
        })
        .collect();
    let expected = [
        (1, 1, "leave 0-2 5"),
        (2, 1, "join 6-7"),
        (2, 1, "join 1"),
        (3, 9, "leave"),
        (4, 9, "join"),
        (4, 0, "slow 0-3 0.25"),
    ];
    assert_eq!(whole, expected.map(|(at, part, said)| (hours(at), part, said.to_owned())));
    let back = "\n[[event]]\nat = '5 h'\njoin = 'a/y/6-7'\n";
    assert!(refused(&format!("{text}{back}"), &[]).contains("machines 6-7 of `a/y/6-7` are already up"));
    let ChurnAct::Leave(machines) = &churn.script[0].act else { panic!("a leave") };
    assert_eq!(
        (machines.partition, machines.which.clone()),
        (PartitionId(1), ProcSet::from_iter([0, 1, 2, 5]))
    );
}

#[test]
fn events_of_jobs_become_orders_in_order_of_time() {
    let text = format!(
        "{}{}",
        site("a", "policy = 'los-de'"),
        "[[event]]\nat = '2 h'\nextend = 'a'\njob = 17\ntime = '30 min'\n\
         [[event]]\nat = '1 h'\nreduce = 'a'\njob = 3\nprocs = 4\n\
         [[event]]\nat = '2 h'\ncancel = 'a'\njob = 17\n"
    );
    let scenario = fine(&text, &[]);
    assert!(scenario.line().contains("3 events"), "{}", scenario.line());
    let hours = |hours: u64| Time::from_secs(hours * 3_600);
    let order = |at, job, act| PlannedOrder { at: hours(at), order: Order::Job { job: JobId(job), act } };
    let orders = [
        order(1, 3, JobAct::Change(Elastic::ReduceProcs(4))),
        order(2, 17, JobAct::Change(Elastic::ExtendTime(Span::from_secs(1_800)))),
        order(2, 17, JobAct::Cancel),
    ];
    assert_eq!(scenario.resolved.grid.sites[0].orders, orders);
    assert!(scenario.resolved.grid.sites[0].churn.script.is_empty(), "no machine moves");
    // What is shown reads back as the same.
    assert!(scenario.text.contains("extend = \"a\"") && scenario.text.contains("time = \"30 min\""));
    assert_eq!(fine(&scenario.text, &[]).resolved.grid.sites[0].orders, orders);
}

#[test]
fn churn_of_all_is_the_default_of_each() {
    let text = format!(
        "{}{}{}[churn]\nup = 'exponential[mean=45 h]'\ndown = 'exponential[mean=1 h]'\non_failure = 'wait'\n",
        site("a", ""),
        site("b", "churn = { on_failure = 'fail' }"),
        site("c", "churn = 'none'"),
    );
    let sites = fine(&text, &[]).resolved.grid.sites;
    let of: Vec<_> = sites.iter().map(|site| (site.churn.random.is_some(), site.churn.on_failure)).collect();
    assert_eq!(
        of,
        [(true, FailureAction::Wait), (true, FailureAction::Fail), (false, FailureAction::Requeue)]
    );
}

/// Jobs that a scenario's workload has, and the processors × time that they want at speed 1.
fn drained(source: &mut dyn Source) -> (u64, f64, Time) {
    let (mut jobs, mut work, mut last) = (0, 0.0, Time::ZERO);
    while let Some(job) = source.next_job().unwrap() {
        jobs += 1;
        work += f64::from(job.size.preferred()) * job.runtime.as_secs_f64();
        last = job.submit;
    }
    (jobs, work, last)
}

fn run(scenario: Scenario) -> Run {
    Run::new(scenario, 1, &Policies::standard())
}

/// A load is one of all processors at their speeds, whatever the generator counts by.
#[test]
fn loads_are_of_the_capacity() {
    let machines = "machines = [{ class = 'fast', count = 32, speed = 2 }, { class = 'slow', count = 64, speed = 0.5 }, { class = 'late', count = 500, absent = 'all' }]";
    // 32 × 2 + 64 × 0.5; what comes later does not count.
    let capacity = 96.0;
    for workload in [
        "{ lublin = { jobs = 3000, load = 0.6 } }",
        "{ lublin = { jobs = 3000 }, load = 0.6 }",
        "{ poisson = { jobs = 3000, size = '1..8' }, load = 0.6 }",
        "'poisson[jobs=3000,size=1..8,load=0.6]'",
    ] {
        let text = format!("[[site]]\nname = 'a'\n{machines}\nworkload = {workload}\n");
        let opened = run(fine(&text, &[])).open(&Progress::default()).unwrap();
        let mut source = opened.sites.into_iter().next().flatten().unwrap().source;
        let (jobs, work, last) = drained(source.as_mut());
        let load = work / (capacity * last.as_secs_f64());
        assert!(jobs == 3000 && (load - 0.6).abs() < 0.06, "{workload}: {load}");
    }
    // A log of 600 s × 4, 300 s × 8 and 900 s × 2 over 120 s offers (2400 + 2400 + 1800) / 120 = 55 processors. Half the
    // capacity of 96 is 48 of them.
    let text = format!("[[site]]\nname = 'a'\n{machines}\nworkload = {{ log = 'tiny.swf', load = 0.5 }}\n");
    let opened = run(fine(&text, &[])).open(&Progress::default()).unwrap();
    let mut source = opened.sites.into_iter().next().flatten().unwrap().source;
    let (_, work, last) = drained(source.as_mut());
    assert!((work / last.as_secs_f64() - 48.0).abs() < 1e-3, "{work} {last}");
}

/// Equal sites have equal laws and different jobs; what one draws does not depend on the others.
#[test]
fn every_workload_has_streams_of_its_own() {
    let own = "workload = 'lublin[jobs=40]'";
    let sources = |text: &str| -> Vec<(u64, f64, Time)> {
        let opened = run(fine(text, &[])).open(&Progress::default()).unwrap();
        let mut all: Vec<Box<dyn Source>> =
            opened.sites.into_iter().flatten().map(|opened| opened.source).collect();
        all.extend(opened.portal);
        all.iter_mut().map(|source| drained(source.as_mut())).collect()
    };
    let portal = "[broker]\n[[workload]]\nlublin = { jobs = 40, procs = 16 }\n";
    let two = sources(&format!("{}{}{portal}", site("a", own), site("b", own)));
    assert_ne!(two[0], two[1]);
    assert_ne!(two[0], two[2]);
    let alone = sources(&format!("{}{portal}", site("b", own)));
    assert_eq!(alone, two[1..], "a site less changes no job of the others");
    let twice =
        sources(&format!("{}{portal}[[workload]]\nlublin = {{ jobs = 40, procs = 16 }}\n", site("b", own)));
    assert_eq!(twice[1].0, 80);
    assert_ne!(twice[1].1, 2.0 * alone[1].1, "the second workload of the portal is not the first again");
    let seeded = "workload = 'lublin[jobs=40,seed=5]'";
    let same = sources(&format!("{}{}", site("a", seeded), site("b", seeded)));
    assert_eq!(same[0], same[1], "a seed of its own stands for run and site");
}

#[test]
fn portal_jobs_carry_their_data_under_unique_numbers() {
    let text = format!(
        "{}[broker]\n[[workload]]\npoisson = {{ jobs = 5, every = '1 h' }}\ninput = '2 GB'\noutput = '1 MB'\n[[workload]]\npoisson = {{ jobs = 5, every = '1 h' }}\n",
        site("a", "")
    );
    let opened = run(fine(&text, &[])).open(&Progress::default()).unwrap();
    let mut portal = opened.portal.unwrap();
    let mut jobs = Vec::new();
    while let Some(job) = portal.next_job().unwrap() {
        let part = job.grid.unwrap();
        jobs.push((job.id.0, part.input, part.output));
    }
    jobs.sort_unstable();
    let first = (1..=5).map(|id| (id, Bytes::new(2_000_000_000), Bytes::new(1_000_000)));
    let second = (1_000_000_001..=1_000_000_005).map(|id| (id, Bytes::ZERO, Bytes::ZERO));
    assert_eq!(jobs, first.chain(second).collect::<Vec<_>>());
    assert!(portal.notes().iter().any(|note| note.contains("raised by 1000000000")));
}

#[test]
fn windows_ends_and_logs() {
    let text = format!(
        "measure = {{ from = '1 h', to = '2 h' }}\nuntil = '3 h'\n{}",
        site("a", "workload = 'tiny.swf'")
    );
    let resolved = fine(&text, &[]).resolved;
    let hours = |hours: u64| Time::from_secs(hours * 3_600);
    assert_eq!(resolved.measure, Window::new(hours(1), hours(2)).unwrap());
    assert_eq!(resolved.until, Some(hours(3)));
    let planned = resolved.site_workloads[0].as_ref().unwrap();
    let Workload::File(path) = &planned.workload else { panic!("a log") };
    assert!(path.is_absolute() && path.ends_with("tests/it/scenarios/good/tiny.swf"), "{}", path.display());
    assert_eq!(planned.shaping.procs, Some(16));
}

/// Classes that name the same partition are its groups; events and reservations name the partition, or one of its classes by its own numbers.
#[test]
fn classes_may_form_a_partition() {
    let text = "[[site]]\nname = 'a'\nplacement = 'least-power'\nmachines = [\n  { class = 'old', partition = 'batch', count = 4, cores = 2, price = '2/core-h' },\n  { class = 'gpu' },\n  { class = 'new', partition = 'batch', count = 3, cores = 2, speed = 2, absent = 1 },\n]\n[[site.reservation]]\nprocs = 14\nfrom = '0 s'\nto = '10 s'\n[[event]]\nat = '1 min'\nslow = 'a/new/0-1'\nfactor = 0.5\n[[event]]\nat = '2 min'\nleave = 'a/batch/4-5'\n[[event]]\nat = '3 min'\nleave = 'a/old'\n";
    let grid = fine(text, &[]).resolved.grid;
    let site = &grid.sites[0];
    let [batch, gpu] = site.partitions.as_slice() else { panic!("two partitions") };
    assert_eq!((batch.name.as_str(), gpu.name.as_str()), ("batch", "gpu"));
    assert_eq!((batch.machines(), batch.processors(), batch.absent), (7, 14, 1));
    let classes: Vec<&str> = batch.groups.iter().map(|group| group.class.as_str()).collect();
    assert_eq!((classes, site.placement), (vec!["old", "new"], PlacementRule::LeastPower));
    assert_eq!((batch.speed(), batch.groups[1].speed), (Rate::FULL, Rate::ratio(2, 1)));
    assert_eq!((site.reservations[0].0, site.reservations[0].1.name.as_str()), (0, "reservation-1"));
    let which = |act: &ChurnAct| match act {
        ChurnAct::Slow { machines, .. } | ChurnAct::Leave(machines) => machines.which.to_string(),
        _ => "none".to_owned(),
    };
    let acts: Vec<String> = site.churn.script.iter().map(|act| which(&act.act)).collect();
    assert_eq!(acts, ["4-5", "4-5", "0-3"]);
    assert!(
        refused(&text.replace("new/0-1", "new/3"), &[])
            .contains("has 3 machines `new`, numbered from 0 to 2")
    );
}
