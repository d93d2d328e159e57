//! The page of one run: what it opens with, what moves, and what marks its time axes.

use std::fs;

use serde_json::Value;

use super::gridemu;
use super::reports::checked;

/// The page of a run of a scenario, and its summary.
fn page(scenario: &str) -> (String, Value) {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().display().to_string();
    gridemu(&["run", scenario, "--out", &out, "--report"]).well();
    let text = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    (checked(&text("report.html")), serde_json::from_str(&text("summary.json")).unwrap())
}

#[test]
fn a_grid_opens_with_its_headline_and_its_schedule() {
    let (page, summary) = page("configs/quickstart.toml");
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    let order = [
        "<h2>Headline</h2>",
        "the grid (mct)",
        "id=\"gantt\"",
        "<h2>Over time</h2>",
        "id=\"utilization-sites\"",
        "<h2>Where it comes from</h2>",
        "events.csv, scenario.toml",
        "fingerprint",
    ];
    let places = order.map(|part| page.find(part).unwrap_or_else(|| panic!("no `{part}`")));
    assert!(places.is_sorted(), "{:?}", order.iter().zip(places).collect::<Vec<_>>());
    // A row a site and the whole, with the figures of the summary.
    for (name, account) in [("oslo (fcfs)", &summary["sites"][2]), ("the grid (mct)", &summary)] {
        let row = page.split(&format!(">{name}</th>")).nth(1).unwrap().split("</tr>").next().unwrap();
        let cells: Vec<String> =
            row.split("<td>").skip(1).map(|cell| cell.replace("</td>", "").replace(',', "")).collect();
        let figure = |key: &str| account[key].as_f64().unwrap();
        let wasted =
            account["usage"]["wasted"].as_f64().unwrap() / account["usage"]["nominal"].as_f64().unwrap();
        let expected = [
            format!("{}", account["jobs"]),
            format!("{:.1}", figure("mean_wait")),
            format!("{:.2}", figure("mean_bounded_slowdown")),
            format!("{:.1} %", figure("utilization") * 100.0),
            format!("{:.1} %", figure("down") * 100.0),
            format!("{:.2} %", wasted * 100.0),
            format!("{:.2}", account["energy"]["meter_kwh"].as_f64().unwrap()),
            format!("{:.2}", figure("cost")),
        ];
        assert_eq!(cells[1..], expected, "{name}");
    }
    for told in [
        "gpu-host",
        "processors down",
        "failed attempt, joined to the next",
        "jobs of the grid",
        "measured window",
        ">delft (64)</text>",
    ] {
        assert!(page.contains(told), "no `{told}`");
    }
    let events = "Scripted events: (1) 1 d: delft leaves; (2) 2 d: delft joins; (3) 3 d: oslo&#x2f;gpu-host joins; (4) 3 d 12 h: windsor";
    assert!(page.contains(events), "the caption names the events");
    assert!(page.contains("<title>delft leaves</title>"), "and so do the flags");
}

/// What the script of the page does is tried in a browser; that it is there, and finds what it needs, is tested here.
#[test]
fn a_gantt_chart_zooms_by_mouse_and_by_keyboard() {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("page.html");
    gridemu(&[
        "replay",
        "lublin[jobs=60,load=0.8]",
        "--policy",
        "easy",
        &format!("--report={}", to.display()),
    ])
    .well();
    let page = checked(&fs::read_to_string(to).unwrap());
    let [_, script] = page.split("<script>").collect::<Vec<_>>()[..] else { panic!("one script") };
    let script = script.split_once("</script>").unwrap().0;
    for part in [
        "\"wheel\"",
        "\"pointermove\"",
        "\"keydown\"",
        "ArrowLeft",
        "ArrowRight",
        "\"+\"",
        "\"-\"",
        "0: reset",
        "Home: reset",
        "tabindex",
        "aria-label",
        "prefers-color-scheme",
    ] {
        assert!(script.contains(part), "no `{part}` in the script");
    }
    // Its units are those of the axes.
    assert!(
        script.contains("const UNITS = [[\"s\",1.0,[1.0,2.0,5.0,") && script.contains("[\"d\",86400.0,[")
    );
    for needed in [
        "class=\"zoom\"",
        "class=\"ticks\"",
        "class=\"axis\"",
        "class=\"labels\"",
        "data-from=\"0\"",
        "data-fine=\"100\"",
    ] {
        assert!(page.contains(needed), "no `{needed}` in the chart");
    }
    // A single site has tiles.
    assert!(page.contains("<dt>mean wait (s)</dt>") && page.contains("<dt>jobs</dt><dd>60</dd>"));
    assert!(!page.contains("id=\"utilization-sites\"") && !page.contains("<dt>cost"));
}

#[test]
fn many_sites_leave_room_for_the_schedule() {
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("many.toml");
    // Those without jobs come first.
    let text = "[[site]]\nname = \"idle\"\ncount = 24\nmachines = [{ class = \"p\", count = 4 }]\n\
        [[site]]\nname = \"busy\"\ncount = 2\nmachines = [{ class = \"p\", count = 4 }]\nworkload = { lublin = { jobs = 60 } }\n";
    fs::write(&scenario, text).unwrap();
    let (page, summary) = page(&scenario.display().to_string());
    assert!(page.contains(&format!("<dt>jobs</dt><dd>{}</dd>", summary["jobs"])));
    let table = page.split("<caption>By site</caption>").nth(1).expect("the sites are under All numbers");
    assert_eq!(table.split("</table>").next().unwrap().matches("<th scope=\"row\">").count(), 26 + 1);
    assert!(page.contains("Of 26 sites the 24 with the highest utilization are shown."));
    let panels = page.split("id=\"utilization-sites\"").nth(1).unwrap().split("</svg>").next().unwrap();
    assert_eq!(panels.matches(" (4)</text>").count(), 24);
    assert!(panels.contains(">busy-1 (4)</text>") && panels.contains(">busy-2 (4)</text>"));
}
