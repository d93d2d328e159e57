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
    assert!(told.contains("the `sleep` state of `node` at site `delft` has no effect: under"), "{told}");
    let told = check(&format!("{sleeps}{}", machines("")));
    assert!(told.contains("`power_policy` of site `delft` has no effect: no class"), "{told}");
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
    assert_eq!(check("weighted[carbon=0,price=1]", "", "") + &check("cheapest", "", ""), "");
    let rates = "[network]\nlatency = '0 s'\nprice = '0.09/GB'";
    assert!(check("mct", "", rates).contains("`energy` and `price` of `[network]` have no effect"));
    assert_eq!(check("mct", "", &format!("input = '1 MB'\n{rates}")), "");
    fs::write(&file, "[[site]]\nname = 'delft'\nmachines = [{ class = 'node', count = 8 }]\n[network]\ncarbon = '300 g/kWh'\n").unwrap();
    gridemu(&["check", &file]).ends(2, &["line 5, `network.carbon`: an intensity without an `energy`"]);
}
