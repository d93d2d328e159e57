//! Jobs that the broker puts off until a better hour, in whole runs.

use std::fs;

use gridemu::grid::WindowOptions;
use gridemu::model::PerKwh;
use gridemu::units::{Power, Time};
use proptest::prelude::*;
use proptest::sample::select;

use crate::cli::gridemu;
use crate::forks::forked;
use crate::grid_invariants::check_run;
use crate::grids::{GridCase, grids};

/// Two machines that draw 1 kW when busy. From midnight on electricity costs 0.40 at the first and 0.30 at the second; from 3:00 to 5:00 it costs 0.10 at the
/// first, and from 5:00 on −0.05 at the second. Two jobs of an hour come at 0:00, and one of two hours at 3:30.
fn folder(broker: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let log = "; MaxProcs: 1\n1 0 -1 3600 1 -1 -1 1 3600 -1 1 1 1 1 1 1 -1 -1\n\
               2 0 -1 3600 1 -1 -1 1 3600 -1 1 1 1 1 1 1 -1 -1\n\
               3 12600 -1 7200 1 -1 -1 1 7200 -1 1 1 1 1 1 1 -1 -1\n";
    fs::write(folder.path().join("three.swf"), log).unwrap();
    let day = |price: &dyn Fn(u32) -> f64| {
        let all: Vec<String> = (0..24).map(|hour| price(hour).to_string()).collect();
        format!("electricity = {{ day = [{}], unit = 'EUR/kWh' }}", all.join(", "))
    };
    let first = day(&|hour| if (3..5).contains(&hour) { 0.1 } else { 0.4 });
    let second = day(&|hour| if hour < 5 { 0.3 } else { -0.05 });
    let machines = "policy = 'fcfs'\nmachines = [{ class = 'node', count = 1, busy = '1 kW' }]";
    let text = format!(
        "[[site]]\nname = 'a'\n{machines}\n{first}\n[[site]]\nname = 'b'\n{machines}\n{second}\n\
         [broker]\npolicy = '{broker}'\n[[workload]]\nlog = 'three.swf'\n"
    );
    fs::write(folder.path().join("run.toml"), text).unwrap();
    folder
}

/// Where and when each job runs, as `site start end`, and the cost of electricity.
fn ran(broker: &str, engine: &str) -> (Vec<String>, f64) {
    let folder = folder(broker);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let out = path("out");
    gridemu(&["run", &path("run.toml"), "--out", &out, "--engine", engine]).well();
    gridemu(&["validate", &out]).well();
    let jobs = fs::read_to_string(format!("{out}/jobs.csv")).unwrap();
    let mut rows = jobs.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = |name: &str| head.iter().position(|column| *column == name).expect(name);
    let told = [column("job"), column("site"), column("start"), column("end")];
    let mut rows: Vec<String> =
        rows.map(|row| told.map(|at| row[at].split('.').next().unwrap_or_default()).join(" ")).collect();
    rows.sort();
    let summary = fs::read_to_string(format!("{out}/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    (rows, summary["energy"]["electricity_cost"].as_f64().unwrap_or_else(|| panic!("{}", summary["energy"])))
}

/// At once all run at the second site or the first: the first job at 0.30, the second at 0.30 an hour later rather than at 0.40 now; the third costs 0.25 and 0.
///
/// With six hours both first jobs wait for 5:00 at the second site, for −0.05. The one that comes there first has the machine for an hour; the other, decided about
/// at 5:00, has it from 6:00 on, for −0.05 too. The third would cost −0.10 there from 5:00 on as well, and is decided about last: it follows at 7:00.
#[test]
fn jobs_wait_for_a_negative_hour() {
    for engine in ["direct", "actors"] {
        let (rows, cost) = ran("cheapest[of=electricity]", engine);
        assert_eq!(rows[..2], ["1 b 0 3600", "2 b 3600 7200"]);
        assert!(cost > 0.0);
        let (rows, cost) = ran("cheapest[of=electricity,horizon=6 h]", engine);
        assert_eq!(rows, ["1 b 18000 21600", "2 b 21600 25200", "3 b 25200 32400"]);
        assert!((cost + 0.2).abs() < 1e-9, "{cost}");
        // On the first day nobody knows better than that it stays as it is, but in the hour in which it changes.
        let (rows, _) = ran("cheapest[of=electricity,horizon=6 h,forecast=yesterday]", engine);
        assert_eq!(rows[..2], ["1 b 0 3600", "2 b 3600 7200"]);
    }
}

#[test]
fn explain_says_what_a_job_waits_for() {
    let folder = folder("cheapest[of=electricity,horizon=6 h]");
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    gridemu(&["run", &path("run.toml"), "--out", &path("out")]).well();
    let told = gridemu(&["explain", &path("out"), "--job", "1"]).well().out.clone();
    assert!(told.contains("it waits for a cheaper hour, until 18000 s"), "{told}");
}

/// The same grid whose sites have carbon intensities that change every minute.
fn changing(mut case: GridCase, policy: &str, draws: u64) -> GridCase {
    for (at, site) in (1..).zip(&mut case.spec.sites) {
        let value = |minute: i64| (minute * 7_919 * at + (draws % 1_000) as i64) % 997 * 1_000_000;
        site.tariff.carbon = Some(PerKwh::Day((0..1_440).map(value).collect()));
        site.tariff.carbon_by_hour = None;
        site.cap_power(None).expect("no cap");
        for group in site.partitions.iter_mut().flat_map(|part| &mut part.groups) {
            group.busy = group.busy.max(Power::from_milliwatts(200_000));
        }
    }
    case.spec.broker.as_mut().expect("a broker").policy = policy.parse().expect("a policy");
    case
}

proptest! {
    #![proptest_config(crate::support::cases(60))]

    /// Every job has one end, whatever drives the grid, also if it is saved and restored while jobs are put off.
    #[test]
    fn no_job_is_lost_while_it_is_put_off(
        case in grids(),
        policy in select(vec![
            "lowest-carbon[horizon=20 min]",
            "lowest-carbon[horizon=5 min,power=busy,forecast=error[deviation=0.3],absent=queue]",
            "lowest-carbon[horizon=1 h,within=10 min,forecast=yesterday]",
        ]),
        draws: u64,
        at in 0..1_500_u64,
        limited: bool,
    ) {
        let case = changing(if limited { case.limited() } else { case }, policy, draws);
        let before = case.build();
        let (ran, after) = case.windows(WindowOptions::default());
        // It knows nothing of jobs that are ended at their deadlines.
        if !limited {
            check_run(&case, &before, &ran, &after, None);
        }
        prop_assert_eq!(&case.stepwise(), &ran);
        prop_assert_eq!(&case.actors(2, None), &ran);
        // As a fork that changes nothing, and resumed.
        if let Some((_, again, _)) = forked(&case, &case.spec, Time::from_secs(at)) {
            prop_assert_eq!(&again, &ran);
        }
    }
}
