//! Marks on the time axes of a run: its measured window, and what its scenario lets happen.

use toml::{Table, Value};

use crate::output::{FolderKind, ReadError, RunFolder};
use crate::report::charts::{TimeEvent, TimeMarks};
use crate::units::Span;

/// The marks of a run, as far as its folder has them.
pub(super) fn marks(folder: &RunFolder) -> Result<TimeMarks, ReadError> {
    let measure = folder.summary().map(|summary| &summary["measure"]);
    let window = measure.and_then(|window| Some((window["from"].as_f64()?, window["to"].as_f64()?)));
    let scenario = if folder.kind() == FolderKind::Run { folder.scenario()? } else { None };
    let scenario = scenario.and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
    Ok(TimeMarks { window, events: events(&scenario) })
}

/// The number of things at one instant that are named.
const TOGETHER: usize = 4;

/// What a fully resolved scenario lets happen, in order of time; what happens at one instant is one event.
fn events(scenario: &Table) -> Vec<TimeEvent> {
    let tables = |of: &Table, key: &str| -> Vec<Table> {
        let list = of.get(key).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|value| value.as_table().cloned()).collect()
    };
    let mut all: Vec<(f64, String)> = Vec::new();
    let time = |of: &Table, key: &str| Some(of.get(key)?.as_str()?.parse::<Span>().ok()?.as_secs_f64());
    for event in tables(scenario, "event") {
        all.extend(time(&event, "at").zip(what(&event)));
    }
    for site in tables(scenario, "site") {
        for reservation in tables(&site, "reservation") {
            let name = format!("reservation {} at {}", text(&reservation, "name"), text(&site, "name"));
            all.extend(time(&reservation, "from").map(|at| (at, format!("{name} begins"))));
            all.extend(time(&reservation, "to").map(|at| (at, format!("{name} ends"))));
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let together = all.chunk_by(|a, b| a.0 == b.0);
    let event = |(number, together): (usize, &[(f64, String)])| {
        let few: Vec<&str> = together.iter().take(TOGETHER).map(|(_, what)| what.as_str()).collect();
        let more = together.len() - few.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        TimeEvent { at: together[0].0, number, what: few.join(", ") + &more }
    };
    (1..).zip(together).map(event).collect()
}

/// What happens in an event, in words.
fn what(event: &Table) -> Option<String> {
    let at = |key: &str| event.get(key).and_then(Value::as_str);
    let job = || format!("job {}", text(event, "job"));
    Some(
        match ["leave", "join", "slow", "cancel", "extend", "reduce", "reserve", "release"]
            .into_iter()
            .find(|key| at(key).is_some())?
        {
            "leave" => format!("{} leaves", at("leave")?),
            "join" => format!("{} joins", at("join")?),
            "slow" => format!("{} at {} of its speed", at("slow")?, text(event, "factor")),
            "cancel" => format!("{} at {} cancelled", job(), at("cancel")?),
            "extend" => format!("{} at {} extended", job(), at("extend")?),
            "reduce" => format!("{} at {} reduced", job(), at("reduce")?),
            "reserve" => format!("reservation {} of {} is sought", text(event, "name"), at("reserve")?),
            _ => format!("reservation {} of {} is given up", text(event, "name"), at("release")?),
        },
    )
}

/// A text or a number as text; empty if there is none.
fn text(of: &Table, key: &str) -> String {
    match of.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Integer(number)) => number.to_string(),
        Some(Value::Float(number)) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_those_of_the_scenario() {
        let scenario = r#"
            [[event]]
            at = "3.5 d"
            slow = "windsor/i7-2600/0-7"
            factor = 0.5
            [[event]]
            at = "1 d"
            leave = "delft"
            [[event]]
            at = "24 h"
            cancel = "oslo"
            job = 7
            [[site]]
            name = "oslo"
            [[site.reservation]]
            name = "demo"
            from = "2 h"
            to = "1 d"
        "#;
        let found = events(&scenario.parse().unwrap());
        let told: Vec<_> = found.iter().map(|event| (event.at, event.number, event.what.as_str())).collect();
        assert_eq!(
            told,
            [
                (7_200.0, 1, "reservation demo at oslo begins"),
                (86_400.0, 2, "delft leaves, job 7 at oslo cancelled, reservation demo at oslo ends"),
                (302_400.0, 3, "windsor/i7-2600/0-7 at 0.5 of its speed"),
            ]
        );
        assert_eq!(events(&"name = \"x\"".parse().unwrap()), []);
        let many: String = (0..9).map(|at| format!("[[event]]\nat = '1 h'\nleave = 's{at}'\n")).collect();
        let found = events(&many.parse().unwrap());
        assert_eq!(found[0].what, "s0 leaves, s1 leaves, s2 leaves, s3 leaves and 5 more");
    }
}
