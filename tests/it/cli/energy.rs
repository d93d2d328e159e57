//! Traces of prices and carbon intensities, from `check` to a fork.

use std::fs;
use std::path::Path;

use super::{argument, gridemu};

const SCENARIO: &str = "calendar = '2023-01-02T00:00Z'
[[site]]
name = 'delft'
machines = [{ class = 'node', count = 8, busy = '100 W' }]
electricity = { trace = 'prices.csv', unit = 'EUR/MWh' }
carbon = { trace = 'carbon.csv' }
workload = { lublin = { jobs = 100, load = 0.5 } }
";

const PRICES: &str =
    "time,price\n2023-01-01 23:00,80\n2023-01-02 00:00,90\n2023-01-02 02:00,-10\n2023-01-02 03:00,50\n";

fn written(folder: &Path) -> [String; 2] {
    fs::write(folder.join("prices.csv"), PRICES).unwrap();
    fs::write(folder.join("carbon.csv"), "time,g\n2023-01-02,300\n2023-01-03,250\n2023-01-04,100\n").unwrap();
    fs::write(folder.join("grid.toml"), SCENARIO).unwrap();
    ["grid.toml", "store"].map(|name| argument(&folder.join(name)))
}

#[test]
fn a_check_says_what_a_trace_is() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, _] = written(folder.path());
    let ran = gridemu(&["check", &scenario]);
    let told = "trace `prices.csv`: 4 rows, steps of 1 h, from 2023-01-01T23:00Z to 2023-01-02T04:00Z, values of -10.00 to 90.00 EUR/MWh (mean 60.00), 1 step without a value, 1 value below 0\n\
                trace `carbon.csv`: 3 rows, steps of 1 d, from 2023-01-02T00:00Z to 2023-01-05T00:00Z, values of 100.0 to 300.0 g/kWh (mean 216.7)\n";
    assert!(ran.well().out.starts_with(told), "{}", ran.out);
    let gap = "the trace `prices.csv`: 1 stretch without values, 1 step of 1 h in all: the first from 2023-01-02T01:00Z to line 4";
    assert!(ran.err.contains(&format!("line 5, `site.delft.electricity.trace`: {gap}")), "{}", ran.err);
    // A run has it among its notes, and says when a trace ended before it did.
    let summary = gridemu(&["run", &scenario, "--json"]).json();
    let notes: Vec<&str> =
        summary["notes"].as_array().unwrap().iter().filter_map(|note| note.as_str()).collect();
    assert!(notes.iter().any(|note| note.starts_with(gap)), "{notes:?}");
    let past = "the trace `prices.csv` ends at 2023-01-02T04:00Z, and the run at ";
    assert!(notes.iter().any(|note| note.starts_with(past)), "{notes:?}");
}

#[test]
fn a_run_goes_on_only_along_the_traces_that_it_began_with() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, store] = written(folder.path());
    gridemu(&["run", &scenario, "--checkpoint", &store, "--checkpoint-keep-at", "2 h"]).well();
    let other = argument(&folder.path().join("other.csv"));
    fs::write(&other, PRICES.replace("90", "95")).unwrap();
    // A fork may follow another one, from its calendar on.
    let another = format!("site.delft.electricity.trace={other}");
    let forked = gridemu(&["fork", &store, "--at", "2 h", "--set", &another, "--json"]).json();
    let changes = forked["grid"]["branch"]["changes"].to_string();
    let words = "site `delft`: price of electricity: `other.csv` from 2023-01-02T00:00Z on instead of `prices.csv` from 2023-01-02T00:00Z on";
    assert!(changes.contains(words), "{changes}");
    let forked =
        gridemu(&["fork", &store, "--at", "2 h", "--set", "site.delft.carbon=25 g/kWh", "--json"]).json();
    let changes = forked["grid"]["branch"]["changes"].to_string();
    assert!(changes.contains("carbon intensity: `25 g/kWh` instead of `carbon.csv` from"), "{changes}");

    // The table has what the change did: another bill, or other carbon.
    for (set, same, other) in [
        ("site.delft.electricity=0.5 EUR/kWh", "carbon (kg)", "electricity bill"),
        ("site.delft.carbon=25 g/kWh", "electricity bill", "carbon (kg)"),
    ] {
        let told = gridemu(&["fork", &store, "--at", "2 h", "--set", set]);
        let row =
            |name: &str| told.out.lines().find(|line| line.contains(name)).unwrap().trim_end().to_owned();
        assert!(row(same).ends_with('=') && row(other).ends_with('%'), "{}", told.out);
        assert!(!told.out.contains("moved data"), "{}", told.out);
    }

    fs::rename(&other, folder.path().join("prices.csv")).unwrap();
    let says = ["the values of the trace `prices.csv` have changed since the run of", "put back the file"];
    gridemu(&["resume", &store]).ends(2, &says);
    gridemu(&["fork", &store, "--at", "2 h", "--set", "seed=1"]).ends(2, &says);
    fs::remove_file(folder.path().join("prices.csv")).unwrap();
    gridemu(&["resume", &store]).ends(2, &["prices.csv` is not there"]);
}

/// What a run left can be read without its traces; what repeats it needs them.
#[test]
fn files_of_a_run_outlive_its_traces() {
    let folder = tempfile::tempdir().unwrap();
    let [scenario, _] = written(folder.path());
    let out = argument(&folder.path().join("out"));
    gridemu(&["run", &scenario, "--out", &out]).well();
    gridemu(&["explain", &out, "--job", "1"]).well();
    fs::remove_file(folder.path().join("prices.csv")).unwrap();
    gridemu(&["validate", &out]).well();
    gridemu(&["explain", &out, "--job", "1"])
        .ends(2, &["the trace of the run in", "prices.csv", "put it back"]);
}

/// What cannot act is told, and a wake-up that is longer than the run.
#[test]
fn sleep_without_effect_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = argument(&folder.path().join("grid.toml"));
    let check = |text: &str| {
        let site = format!("[[site]]\nname = 'delft'\nworkload = 'lublin[jobs=9,load=0.5]'\n{text}\n");
        fs::write(&file, format!("until = '1 h'\n{site}")).unwrap();
        gridemu(&["check", &file]).well().err.clone()
    };
    let machines = |sleep: &str| {
        format!("machines = [{{ class = 'node', count = 8, idle = '90 W', busy = '100 W'{sleep} }}]")
    };
    let state = machines(", sleep = { power = '9 W', wake = '1 h' }");
    let sleeps = "power_policy = 'sleep-idle'\n";
    let told = check(&state);
    let place =
        "line 5, `site.delft.machines[0].sleep`: it has no effect: under `power_policy = \"always-on\"`";
    assert!(told.contains(place), "{told}");
    let told = check(&format!("{sleeps}{}", machines("")));
    let place =
        "line 5, `site.delft.power_policy`: it has no effect: no class of machines has a `sleep` state";
    assert!(told.contains(place), "{told}");
    let told = check(&format!("{sleeps}{state}"));
    let slow = "line 6, `site.delft.machines[0].sleep.wake`: a machine that sleeps takes 1 h to wake up, and the run ends at 1 h";
    assert!(told.contains(slow) && !told.contains("no effect"), "{told}");
    let state = state.replace("'1 h'", "'10 min'");
    assert_eq!(check(&format!("{sleeps}{state}")), "");
    let rule = |rule: &str| check(&format!("power_policy = 'sleep-idle[{rule}]'\n{state}"));
    let told = rule("after=1 h");
    let never = "line 5, `site.delft.power_policy`: no machine of `node` sleeps: it";
    assert!(
        told.contains(&format!("{never} must be idle for 1 h before, and the run ends at 1 h")),
        "{told}"
    );
    let told = rule("reserve=8");
    assert!(told.contains(&format!("{never} has 8 of them, and 8 idle ones are kept awake")), "{told}");
    assert_eq!(rule("after=59 min,reserve=7"), "");
    let lowest =
        |rule: &str, of: &str| check(&format!("power_policy = 'lowest-level{rule}'\n{}", machines(of)));
    let idle = "line 5, `site.delft.power_policy`: it has no effect: no class of machines has `levels`";
    let sleep = ", sleep = { power = '9 W', wake = '10 min' }";
    for (rule, of, told) in [
        ("", "", true),
        ("[after=1 min]", "", true),
        ("", sleep, true),
        ("[after=1 min]", sleep, false),
        ("", ", levels = [{ frequency = 0.8 }]", false),
    ] {
        assert_eq!(lowest(rule, of).contains(idle), told, "{rule}{of}");
    }
    let slow = "line 5, `site.delft.power_policy`: no machine runs at a lower level: at the highest of them a job takes 1.2500 times as long";
    let levels = ", levels = [{ frequency = 0.8 }, { frequency = 0.5 }]";
    assert!(lowest("[slowdown=1.01]", levels).contains(slow), "{}", lowest("[slowdown=1.01]", levels));
    assert_eq!(lowest("[slowdown=1.25]", levels), "");
}

/// Two machines of 100 W idle and 200 W busy, which sleep after a minute; one job from 100 s on, which is 50 s long.
///
/// | from | machine 0 | machine 1 | both draw | until then |
/// |---|---|---|---|---|
/// | 0 s | idle | idle | 200 W | 0 J |
/// | 60 s | falls asleep, 120 W | the same | 240 W | 12,000 J |
/// | 65 s | sleeps, 10 W | sleeps | 20 W | 13,200 J |
/// | 100 s | wakes up, 150 W | sleeps | 160 W | 13,900 J |
/// | 110 s | busy | sleeps | 210 W | 15,500 J |
/// | 160 s | idle | sleeps | 110 W | 26,000 J |
#[test]
fn the_energy_of_two_machines_in_columns_of_batsim() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["grid.toml", "out"].map(|name| argument(&folder.path().join(name)));
    let sleep = "{ power = '10 W', wake = '10 s', waking = '150 W', fall = '5 s', falling = '120 W' }";
    let text = format!(
        "[[site]]\nname = 'delft'\nworkload = {{ log = 'one.swf' }}\npower_policy = 'sleep-idle[after=1 min]'\n\
         machines = [{{ class = 'node', count = 2, idle = '100 W', busy = '200 W', sleep = {sleep} }}]\n\
         [output]\nbatsim = true\n"
    );
    fs::write(&file, text).unwrap();
    let log = "; MaxProcs: 2\n1 100 -1 50 1 -1 -1 1 50 -1 1 1 1 1 1 1 -1 -1\n";
    fs::write(folder.path().join("one.swf"), log).unwrap();
    gridemu(&["run", &file, "--out", &out]).well();
    let read = |name: &str| fs::read_to_string(folder.path().join("out/batsim").join(name)).unwrap();
    insta::assert_snapshot!(read("out_machine_states.csv"), @"
    time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing
    0.000000,0,0,0,2,0
    60.000000,0,0,2,0,0
    65.000000,2,0,0,0,0
    100.000000,1,1,0,0,0
    110.000000,1,0,0,0,1
    160.000000,1,0,0,1,0
    ");
    insta::assert_snapshot!(read("out_pstate_changes.csv"), @"
    time,machine_id,new_pstate
    0.000000,0-1,0
    60.000000,0-1,-2
    65.000000,0-1,1
    100.000000,0,-1
    110.000000,0,0
    ");
    insta::assert_snapshot!(read("out_consumed_energy.csv"), @"
    time,energy,event_type,wattmin,epower
    60.000000,12000.000000,p,240.000,200.000
    65.000000,13200.000000,p,20.000,240.000
    100.000000,13900.000000,p,160.000,20.000
    110.000000,15500.000000,p,110.000,160.000
    110.000000,15500.000000,s,110.000,NA
    160.000000,26000.000000,e,110.000,210.000
    ");
}

/// Sites with machines that sleep, fail and are shared, one under a power cap; jobs run until the very end.
const MIXED: &str = "until = '3 d'
[[site]]
name = 'a'
machines = [
    { class = 'node', count = 16, cores = 4, idle = '95 W', busy = '200 W', absent = 2, sleep = { power = '9 W', wake = '150 s', waking = '125 W', fall = '6 s' } },
    { class = 'old', count = 8, cores = 4, idle = '100 W', busy = '180 W' },
]
power_policy = 'sleep-idle[after=10 min,reserve=2]'
power_cap = '90 %'
workload = { lublin = { jobs = 300, load = 0.4 } }
churn = { up = 'exponential[mean=10 h]', down = 'exponential[mean=1 h]' }
[[site]]
name = 'b'
machines = [{ class = 'node', count = 16, idle = '95 W', busy = '200 W' }]
policy = 'equal-share'
workload = { lublin = { jobs = 300, load = 0.4 } }
[output]
batsim = true
";

/// What all machines have drawn at the end, added up from the tables of segments, machines and events, is what the meters read; and
/// the site under the cap never draws more.
#[test]
fn the_energy_in_columns_of_batsim_is_that_of_the_meters() {
    let folder = tempfile::tempdir().unwrap();
    let [file, out] = ["grid.toml", "out"].map(|name| argument(&folder.path().join(name)));
    fs::write(&file, MIXED).unwrap();
    let summary = gridemu(&["run", &file, "--out", &out, "--json"]).json();
    let rows = |name: &str| -> Vec<Vec<String>> {
        let mut reader = csv::Reader::from_path(folder.path().join("out/batsim").join(name)).unwrap();
        reader.deserialize().map(Result::unwrap).collect()
    };
    let number = |text: &String| text.parse::<f64>().unwrap();
    let energy = rows("out_consumed_energy.csv");
    let last = energy.last().unwrap();
    assert_eq!((number(&last[0]), last[2].as_str()), (259_200.0, "e"), "jobs are cut off at the end");
    let meter = summary["energy"]["meter_kwh"].as_f64().unwrap() * 3.6e6;
    assert!((number(&last[1]) - meter).abs() < 1e-4, "{} J, and the meters read {meter} J", last[1]);
    assert!(energy.is_sorted_by(|one, next| number(&one[1]) <= number(&next[1])));
    // Of the two sites one draws at most its cap, and the other all that its machines can.
    let cap = summary["sites"][0]["power_cap_w"].as_f64().unwrap() + 16.0 * 200.0;
    let most = energy.iter().filter(|row| row[4] != "NA").map(|row| number(&row[4])).fold(0.0, f64::max);
    assert!(most <= cap && most > 0.6 * cap, "{most} W of {cap} W");
    for row in rows("out_machine_states.csv") {
        let counts: Vec<f64> = row[1..].iter().map(number).collect();
        assert!(counts.iter().sum::<f64>() == 112.0 && counts.iter().all(|count| *count >= 0.0), "{row:?}");
    }
}

/// What brokers are to follow and no site has, and the price of data that nobody moves, is told.
#[test]
fn prices_that_nobody_has_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = argument(&folder.path().join("grid.toml"));
    let check = |policy: &str, site: &str, rest: &str| {
        let workload = "[[workload]]\npoisson = { jobs = 9, every = '1 min', size = '1', runtime = '5 min' }";
        let text = format!(
            "[[site]]\nname = 'delft'\nmachines = [{{ class = 'node', count = 8 }}]\n{site}\n[broker]\npolicy = '{policy}'\n{workload}\n{rest}\n"
        );
        fs::write(&file, text).unwrap();
        gridemu(&["check", &file]).well().err.clone()
    };
    let price = "`cheapest[of=electricity]` has nothing to compare: no site has a price of electricity";
    assert!(check("cheapest[of=electricity]", "", "").contains(price));
    assert_eq!(check("cheapest[of=electricity]", "electricity = '0.2/kWh'", ""), "");
    let carbon = "`lowest-carbon` has nothing to compare: no site has a carbon intensity";
    assert!(check("lowest-carbon", "electricity = '0.2/kWh'", "").contains(carbon));
    assert!(check("weighted[carbon=0.5]", "", "").contains("no site has a carbon intensity"));
    assert!(check("lowest-carbon", "", "").contains("line 6, `broker.policy`: `lowest-carbon` has nothing"));
    let flat =
        "`horizon` finds no better hour: at every site the price of electricity is the same at any hour";
    let waits = "cheapest[of=electricity,horizon=6 h]";
    assert!(check(waits, "electricity = '0.2/kWh'", "").contains(flat));
    assert_eq!(check(waits, "electricity = '0.2/kWh'\nelectricity_by_hour = '0-6=0.5'", ""), "");
    let orders = "`broker.policy`: no workload of the portal has a `deadline`: it takes jobs in the order";
    assert!(check("deadline-first", "", "").contains(orders));
    assert_eq!(check("deadline-first", "", "deadline = 'submit + 1 h'"), "");
    assert_eq!(check("weighted[carbon=0,price=1]", "", "") + &check("cheapest", "", ""), "");
    let rates = "[network]\nlatency = '0 s'\nprice = '0.09/GB'";
    let told = check("mct", "", rates);
    assert!(told.contains("line 11, `network.price`: it has no effect: no workload has data"), "{told}");
    assert_eq!(check("mct", "", &format!("input = '1 MB'\n{rates}")), "");
    fs::write(&file, "[[site]]\nname = 'delft'\nmachines = [{ class = 'node', count = 8 }]\n[network]\ncarbon = '300 g/kWh'\n").unwrap();
    gridemu(&["check", &file]).ends(2, &["line 5, `network.carbon`: an intensity without an `energy`"]);
}

/// A site of one machine of 1 kW, with a job of an hour that begins at 100 s, and more keys.
fn one_machine(folder: &Path, keys: &str) -> String {
    let log = "; MaxProcs: 1\n1 100 -1 3600 1 -1 -1 1 3600 -1 1 1 1 1 1 1 -1 -1\n";
    fs::write(folder.join("one.swf"), log).unwrap();
    let file = argument(&folder.join("one.toml"));
    let machines = "machines = [{ class = 'node', count = 1, idle = '900 W', busy = '1 kW', sleep = { power = '9 W', wake = '150 s' } }]";
    fs::write(
        &file,
        format!("[[site]]\nname = 'delft'\nworkload = {{ log = 'one.swf' }}\n{machines}\n{keys}\n"),
    )
    .unwrap();
    file
}

/// The job runs for an hour at 1 kW, from when the account begins: a kilowatt-hour.
#[test]
fn flat_prices_may_be_negative() {
    let folder = tempfile::tempdir().unwrap();
    for (keys, bill) in [
        ("electricity = '-0.1/kWh'", -0.1),
        ("electricity = '-100 EUR/MWh'", -0.1),
        ("electricity = '-0.1/kWh'\nelectricity_by_hour = '0-24=0.5'", -0.05),
        ("electricity = '-0/kWh'", 0.0),
    ] {
        let file = one_machine(folder.path(), keys);
        let summary = gridemu(&["run", &file, "--json"]).json();
        let found = summary["energy"]["electricity_cost"].as_f64().unwrap();
        assert!((found - bill).abs() < 1e-9, "{keys}: {found}");
        let shown = gridemu(&["check", "--show", &file]).well().out.clone();
        fs::write(folder.path().join("again.toml"), &shown).unwrap();
        let again = argument(&folder.path().join("again.toml"));
        assert_eq!(gridemu(&["check", "--show", &again]).well().out, shown);
    }
    let file = one_machine(folder.path(), "electricity = '-100001/kWh'");
    gridemu(&["check", &file]).ends(2, &["`site.delft.electricity`: 100001/kWh is beyond all reason"]);
    let file = one_machine(folder.path(), "carbon = '-1 g/kWh'");
    gridemu(&["check", &file]).ends(2, &["`-1 g/kWh` is negative"]);
}

/// A mass is no currency, and money no mass; and a scenario has one currency wherever it names it.
#[test]
fn units_that_are_no_currencies_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let check = |keys: &str, says: &str| {
        let file = one_machine(folder.path(), keys);
        gridemu(&["check", &file]).ends(2, &["error: ", says]);
    };
    let mass = "line 5, `site.delft.electricity`: `300 g/kWh` is not a price: `g` is a unit of mass, not a currency; did you mean `carbon`?";
    check("electricity = '300 g/kWh'", mass);
    check("electricity = '300 gCO2e/kWh'", "`gCO2e` is a unit of mass");
    for (unit, what) in [
        ("g/kWh", "mass"),
        ("kg/MWh", "mass"),
        ("J/kWh", "energy"),
        ("kWh/kWh", "energy"),
        ("W/kWh", "power"),
    ] {
        let says = format!("is a unit of {what}, not a currency");
        check(&format!("electricity = {{ day = [1, 2], unit = '{unit}' }}"), &says);
        check(
            &format!("electricity = {{ day = [1, 2], unit = '{unit}' }}"),
            "line 5, `site.delft.electricity.unit`",
        );
    }
    let money = "`site.delft.carbon`: `0.3 EUR/kWh` is not a carbon intensity such as `300 g/kWh`; did you mean `electricity`?";
    check("carbon = '0.3 EUR/kWh'", money);
    check("carbon = { day = [1, 2], unit = 'EUR/kWh' }", "such as `g/kWh`; did you mean `electricity`?");
    let network = "electricity = '0.3 EUR/kWh'\n[network]\nprice = '0.09 USD/GB'";
    check(
        network,
        "`network.price`: prices are in USD here and in EUR at site `delft`, and what things cost is compared",
    );
    let file = one_machine(folder.path(), "electricity = '0.3 EUR/kWh'");
    let price = ["--set", "site.delft.machines[0].price=0.05 USD/core-h"];
    gridemu(&["check", &file, price[0], price[1]])
        .ends(2, &["prices are in EUR here and in USD at site `delft`"]);
    gridemu(&["check", &file, price[0], &price[1].replace("USD", "EUR")]).well();
}

/// A key whose default is `none` may say so.
#[test]
fn none_is_what_a_key_without_a_value_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = one_machine(folder.path(), "power_cap = 'none'\nreservation = 'none'");
    let shown = |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        gridemu(&["check", "--show", &file].into_iter().chain(sets).collect::<Vec<_>>()).well().out.clone()
    };
    let plain = shown(&[]);
    assert!(!plain.contains("power_cap") && !plain.contains("none'"), "{plain}");
    let sets =
        ["at_least=none", "calendar=none", "broker=none", "churn=none", "checkpoint=none", "event=none"];
    assert_eq!(shown(&sets), plain);
    assert_eq!(shown(&["site.delft.power_cap=none", "site.delft.carbon=none"]), plain);
    assert!(!shown(&["site.delft.machines[0].sleep=none"]).contains("sleep"));
}

/// The machine sleeps from 60 s on; the job gets it at 100 s, and begins at 250 s.
#[test]
fn a_wait_for_machines_that_wake_up_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let out = argument(&folder.path().join("out"));
    let file = one_machine(folder.path(), "power_policy = 'sleep-idle[after=1 min]'");
    gridemu(&["run", &file, "--out", &out]).well();
    let told = gridemu(&["explain", &out, "--job", "1"]).well().out.clone();
    let waits = "from 100 s to 250 s (2 min 30 s), delft: machines wake up\n  it has its processors, and begins at 250 s, when the last of its machines is awake";
    assert!(told.contains("started at 250 s after 150 s") && told.contains(waits), "{told}");
    let told = gridemu(&["explain", &out, "--job", "1", "--at", "200"]).well().out.clone();
    assert!(told.contains("it has its processors, and begins at 250 s") && !told.contains("note"), "{told}");
    // A wake-up that is longer than the run is told at its end.
    let sets = [
        "--set",
        "site.delft.machines[0].sleep.wake=20 h",
        "--set",
        "site.delft.power_policy=sleep-idle[after=30 min]",
    ];
    let long = gridemu(&[&["run", &file], &sets[..]].concat()).well().out.clone();
    assert!(
        long.contains("a machine of `delft/node` that sleeps takes 20 h to wake up, and the run took"),
        "{long}"
    );
    assert!(!gridemu(&["run", &file]).well().out.contains("to wake up, and the run took"));
}

/// What only accounts differ in is not the same, although no record differs; and levels cannot change.
#[test]
fn a_fork_whose_records_are_the_same_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let store = argument(&folder.path().join("store"));
    let file = one_machine(folder.path(), "until = 'done'");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("until = 'done'\n", "")
        .replace("count = 1", "count = 2, levels = [{ frequency = 0.9 }]");
    fs::write(&file, text).unwrap();
    gridemu(&["run", &file, "--checkpoint", &store]).well();
    let fork = |set: &str| gridemu(&["fork", &store, "--at", "0 s", "--set", set]);
    let told = fork("site.delft.power_policy=sleep-idle[after=10 min]").out.clone();
    assert!(
        told.contains(
            "first difference  none in the records of jobs and events; the accounts below differ\n"
        ),
        "{told}"
    );
    assert!(
        fork("site.delft.power_cap=none")
            .out
            .contains("first difference  none: both futures are the same, record by record")
    );
    let levels = "partition `node`: speed would be 0.900000 instead of 1.000000, but running jobs keep the speed of their start (the power policy `lowest-level` chooses the level of the machines)";
    fork("site.delft.power_policy=lowest-level").ends(2, &[levels]);
}

#[test]
fn power_policies_are_listed() {
    let all = gridemu(&["policies"]).well().out.clone();
    assert!(all.contains("\nPower policies (of a site: `power_policy`)\n\nalways-on\n"), "{all}");
    assert!(all.contains("\nsleep-idle[after=10 min,reserve=0]\n"), "{all}");
    let one = gridemu(&["policies", "sleep-idle"]).well().out.clone();
    assert!(
        one.starts_with("sleep-idle (power policy)\n") && one.contains("after = a time   (default 10 min)"),
        "{one}"
    );
    assert!(!one.contains("Abilities"), "{one}");
    gridemu(&["policies", "sleep-idel"]).ends(2, &["did you mean `sleep-idle`?"]);
}
