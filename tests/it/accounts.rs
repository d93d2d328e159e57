//! The accounts of a run, added up again from its CSV files and its scenario alone: processor time, energy, money.

mod integrator;

use std::path::Path;

use serde_json::Value;

use crate::cli::gridemu;
use integrator::{Sums, integrate};

/// Sharing, allocation units, killed jobs, a reservation, prices by the hour, an outage, and a site without any job.
const EVERYTHING: &str = r#"
seed = 5

[[site]]
name        = "shared"
machines    = [{ class = "a", count = 8, cores = 4, speed = 1.5, idle = "80 W", busy = "250 W", price = "0.04/core-h" },
               { class = "b", count = 4, cores = 8, idle = "5 W/core", busy = "20 W/core", price = "0.02/core-h" }]
policy      = "equal-share[mpl=2]"
pue         = 1.4
price_by_hour = "22-6=0.5,17-20=1.8"
electricity = "0.25/kWh"
electricity_by_hour = "11-15=0.4"
starts_at   = "9 h"
workload    = { poisson = { jobs = 300, every = "4 min", size = "1..8", runtime = "exponential[mean=50 min]" } }

[[site]]
name        = "blocks"
machines    = [{ class = "c", count = 10, cores = 8, idle = "100 W", busy = "300 W", price = "0.1/core-h", allocation_unit = 4, absent = 2 }]
policy      = "easy"
electricity = "60/MWh"
starts_at   = "23 h"
workload    = { lublin = { jobs = 200, load = 0.7 } }
reservation = [{ name = "demo", procs = 24, from = "3 h", to = "5 h" }]

[[site]]
name        = "empty"
machines    = [{ class = "d", count = 3, idle = "10 W", busy = "20 W" }]
policy      = "fcfs"
pue         = 2

[[site]]
name     = "by-event"
machines = [{ class = "e", count = 4, cores = 2, idle = "30 W", busy = "60 W", price = "0.05/core-h", absent = 1 }]
policy   = "easy"
order    = "event"
workload = { log = "LOG" }

[[event]]
at   = "4 h"
join = "by-event/e/3"

[[event]]
at    = "18 h"
leave = "blocks"

[[event]]
at   = "19 h"
join = "blocks"

[[event]]
at   = "10 h"
join = "blocks/c/8-9"

[[event]]
at     = "2 h"
slow   = "shared/a/1"
factor = 0.5
"#;

const BROKER: &str = r#"
[broker]
policy = "mct"

[[workload]]
poisson = { jobs = 200, every = "7 min", size = "1/4/16", runtime = "lognormal[median=40 min,sigma=1]" }
"#;

/// The summary and the sums of each site of a scenario.
fn ran(scenario: &Path, sets: &[&str]) -> (Value, Sums) {
    let out = tempfile::tempdir().unwrap();
    let (scenario, folder) = (scenario.to_str().unwrap(), out.path().to_str().unwrap());
    let mut args = vec!["run", scenario, "--out", folder, "--set", "output.machines=true"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    gridemu(&args).well();
    let summary = std::fs::read(out.path().join("summary.json")).unwrap();
    (serde_json::from_slice(&summary).unwrap(), integrate(out.path()))
}

#[track_caller]
fn agrees(what: &str, stated: &Value, found: f64) {
    let stated = stated.as_f64().unwrap_or_else(|| panic!("{what}: {stated}"));
    let scale = stated.abs().max(found.abs()).max(1e-3);
    assert!((stated - found).abs() <= 1e-9 * scale, "{what}: {stated} in the summary, {found} in the files");
}

/// Compares everything that the files determine. With checkpoints they do not say which time went into writing them.
fn check(summary: &Value, sums: &Sums) {
    let sites = summary["sites"].as_array().unwrap();
    assert_eq!(sites.len(), sums.sites.len());
    for (site, of) in sites.iter().zip(&sums.sites) {
        let name = &of.name;
        let usage = &site["usage"];
        let part = |key: &str| usage[key].as_f64().unwrap();
        agrees(&format!("{name}: nominal"), &usage["nominal"], of.nominal);
        agrees(&format!("{name}: down"), &usage["down"], of.down);
        agrees(&format!("{name}: reserved"), &usage["reserved"], of.reserved);
        agrees(&format!("{name}: idle"), &usage["idle"], of.nominal - of.held - of.reserved - of.down);
        let held = part("useful") + part("wasted") + part("overhead");
        agrees(&format!("{name}: held"), &Value::from(held), of.held);
        if part("overhead") == 0.0 {
            agrees(&format!("{name}: useful"), &usage["useful"], of.useful);
        }
        agrees(&format!("{name}: share down"), &site["down"], of.down / of.nominal);
        agrees(&format!("{name}: utilization"), &site["utilization"], of.held / of.nominal);
        let available = of.nominal - of.reserved - of.down;
        agrees(&format!("{name}: of available"), &site["utilization_available"], of.held / available);
        let energy = &site["energy"];
        agrees(&format!("{name}: jobs"), &energy["jobs_kwh"], of.jobs_kwh);
        agrees(&format!("{name}: idle"), &energy["idle_kwh"], of.idle_kwh);
        agrees(&format!("{name}: meter"), &energy["meter_kwh"], of.jobs_kwh + of.idle_kwh);
        agrees(&format!("{name}: facility"), &energy["facility_kwh"], of.pue * (of.jobs_kwh + of.idle_kwh));
        if let Some(price) = of.electricity {
            agrees(&format!("{name}: electricity"), &energy["electricity_cost"], price);
        }
        agrees(&format!("{name}: cost"), &site["cost"], of.cost);
        agrees(&format!("{name}: wasted by machines"), &site["wasted_proc_s"], of.wasted_by_machines);
    }
    let all = |of: fn(&integrator::Site) -> f64| sums.sites.iter().map(of).sum::<f64>();
    agrees("nominal", &summary["usage"]["nominal"], all(|site| site.nominal));
    agrees("utilization", &summary["utilization"], all(|site| site.held) / all(|site| site.nominal));
    let energy = &summary["energy"];
    agrees("meter", &energy["meter_kwh"], all(|site| site.jobs_kwh + site.idle_kwh));
    agrees("facility", &energy["facility_kwh"], all(|site| site.pue * (site.jobs_kwh + site.idle_kwh)));
    agrees("cost", &summary["cost"], all(|site| site.cost));
    for (origin, charged) in [("local", sums.local), ("grid", sums.grid)] {
        agrees(origin, &summary[origin]["charged_kwh"], charged.kwh);
        agrees(origin, &summary[origin]["charged"], charged.money);
    }
}

fn written(suffix: &str, text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn accounts_are_the_integrals_of_the_files() {
    // Its first job is submitted at 0.
    let log = written(
        ".swf",
        "1 0 -1 3600 4 -1 -1 4 3600 -1 1 -1 -1 -1 -1 -1 -1 -1\n2 60 -1 7200 8 -1 -1 8 9000 -1 1 -1 -1 -1 -1 -1 -1 -1\n",
    );
    let everything = EVERYTHING.replace("LOG", log.path().to_str().unwrap());
    for text in [everything.clone(), format!("{everything}{BROKER}")] {
        let file = written(".toml", &text);
        let (summary, sums) = ran(file.path(), &[]);
        check(&summary, &sums);
        // The scenario does what it was made for.
        let [shared, blocks, empty, by_event] = &sums.sites[..] else { panic!("four sites") };
        let [cost, down, reserved] = [shared.cost, blocks.down, blocks.reserved];
        assert!(cost > 0.0 && down > 0.0 && reserved > 0.0, "{cost} {down} {reserved}");
        assert!(blocks.held > blocks.useful, "an attempt failed");
        assert_eq!(by_event.down, 2.0 * 4.0 * 3_600.0);
        assert!(empty.nominal / 3.0 == shared.nominal / 64.0, "one time for all");
        assert!(shared.electricity.unwrap() > 0.0 && sums.local.money > 0.0);
    }
}

/// A site of 100 W with a job of an hour, and one that nobody uses: the run lasts as long as it was told to, and idle machines draw until then.
#[test]
fn a_run_lasts_to_its_horizon() {
    let log = written(".swf", "1 1800 -1 3600 4 -1 -1 4 3600 -1 1 -1 -1 -1 -1 -1 -1 -1\n");
    let site = |name: &str| {
        format!(
            "[[site]]\nname = \"{name}\"\nmachines = [{{ class = \"a\", count = 1, cores = 4, idle = \"100 W\", busy = \"300 W\" }}]\npolicy = \"fcfs\"\n"
        )
    };
    let with_job = format!("{}workload = {{ log = \"{}\" }}\n", site("used"), log.path().display());
    let grid = format!("{with_job}\n{}\n[broker]\npolicy = \"mct\"\n", site("spare"));
    for (text, sites) in [(&with_job, 1.0), (&grid, 2.0)] {
        let file = written(".toml", text);
        let mut fingerprints = Vec::new();
        for engine in ["engine=actors", "engine=direct"] {
            let (summary, sums) = ran(file.path(), &["at_least=35970 s", engine]);
            check(&summary, &sums);
            // Ten hours at 100 W each, and an hour at 200 W more.
            agrees("meter", &summary["energy"]["meter_kwh"], sites + 0.2);
            agrees("nominal", &summary["usage"]["nominal"], sites * 4.0 * 36_000.0);
            agrees("makespan", &summary["makespan"], 3_600.0);
            fingerprints.push(summary["fingerprint"].clone());
        }
        assert_eq!(fingerprints[0], fingerprints[1]);
        let told = gridemu(&["run", file.path().to_str().unwrap(), "--set", "at_least=35970 s"]);
        let length = " in 1 h of virtual time, energy and use of 10 h\n";
        assert_eq!(told.well().out.contains(length), sites == 2.0, "{}", told.out);
        // It does not end a run that lasts longer.
        let (longer, _) = ran(file.path(), &["at_least=1 h"]);
        let (plain, _) = ran(file.path(), &["at_least=1 min"]);
        agrees("an hour", &longer["energy"]["meter_kwh"], plain["energy"]["meter_kwh"].as_f64().unwrap());
    }
}

#[test]
fn accounts_under_churn_are_the_integrals_of_the_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (name, sets) in [("churn", &["workload[0].poisson.jobs=800"][..]), ("two-sites", &[])] {
        let (summary, sums) = ran(&root.join(format!("configs/{name}.toml")), sets);
        check(&summary, &sums);
    }
}
