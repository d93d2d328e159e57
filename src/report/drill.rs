//! The results of drills: a table, and in words what did not hold.

use super::figures::{count, duration, noun, number, wrapped};
use super::tables::{Columns, text_table};
use crate::study::{DrillRan, Failure, Value};

/// Maximum width of a line, in characters.
const WIDTH: usize = 100;

/// The drills, each with what it is about.
pub fn drill_list(drills: &[(String, String)]) -> String {
    let width = drills.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, about) in drills {
        for (at, line) in wrapped(about, WIDTH - width - 2).iter().enumerate() {
            out += &format!("{:width$}  {line}\n", if at == 0 { name } else { "" });
        }
    }
    out
}

/// The table of drills: of one broker with how long each took, of several a column a broker; then what did not hold.
pub fn drill_table(ran: &[DrillRan]) -> String {
    let brokers = in_order(ran.iter().map(|ran| ran.broker.as_str()));
    let table = match &brokers[..] {
        [broker] => of_one(ran, broker),
        _ => of_several(ran, &brokers),
    };
    let failures: Vec<String> = ran.iter().filter_map(|ran| failures(ran, brokers.len() > 1)).collect();
    [&[table + "\n"], &failures[..]].concat().join("\n")
}

fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn word(ran: &DrillRan) -> String {
    if ran.held() { "held" } else { "FAILED" }.to_owned()
}

fn of_one(ran: &[DrillRan], broker: &str) -> String {
    let time = |secs: Option<f64>| secs.map_or_else(|| "-".to_owned(), duration);
    Columns::default()
        .text("drill", ran.iter().map(|ran| ran.drill.clone()))
        .text(broker, ran.iter().map(word))
        .numbers("virtual time", ran.iter().map(|ran| time(ran.lasted_s)))
        .numbers("took", ran.iter().map(|ran| time(ran.wall_s)))
        .finish()
}

/// A row a broker, so that their names may be long and drills are read from left to right.
fn of_several(ran: &[DrillRan], brokers: &[&str]) -> String {
    let drills = in_order(ran.iter().map(|ran| ran.drill.as_str()));
    let header: Vec<&str> = std::iter::once("").chain(drills.iter().copied()).collect();
    let rows = brokers.iter().map(|broker| {
        let cell = |drill: &&str| {
            let found = ran.iter().find(|ran| ran.broker == *broker && ran.drill == **drill);
            found.map_or_else(|| "-".to_owned(), word)
        };
        std::iter::once((*broker).to_owned()).chain(drills.iter().map(cell)).collect()
    });
    text_table(header.len(), &header, rows)
}

/// What did not hold in a drill; `None` if everything did.
fn failures(ran: &DrillRan, names_broker: bool) -> Option<String> {
    if ran.held() {
        return None;
    }
    let of = if names_broker { format!(" under {}", ran.broker) } else { String::new() };
    let mut out = format!("{}{of}:\n", ran.drill);
    for failure in &ran.failures {
        for (at, line) in wrapped(&failure_words(failure), WIDTH - 4).iter().enumerate() {
            out += &format!("  {} {line}\n", if at == 0 { "-" } else { " " });
        }
    }
    Some(out)
}

/// What did not hold, in a sentence with the numbers.
pub fn failure_words(failure: &Failure) -> String {
    match failure {
        Failure::Run { problem } => format!("the run does not end well: {problem}"),
        Failure::Unfinished { jobs } => {
            let are = if *jobs == 1 { "is" } else { "are" };
            format!("{} {are} left when the run ends", noun(*jobs, "job"))
        }
        Failure::Unbalanced { outcomes, submitted } => format!(
            "the outcomes are of {}, and {} were submitted",
            noun(*outcomes, "job"),
            count(*submitted)
        ),
        Failure::Invalid { violations, first } => {
            format!("the schedule is not possible: {}, the first {first}", noun(*violations, "violation"))
        }
        Failure::Expectation { expects, figures } => {
            let told: Vec<String> = figures.iter().map(valued).collect();
            match told.is_empty() {
                true => format!("expected {expects}"),
                false => format!("expected {expects}: {}", told.join(", ")),
            }
        }
    }
}

fn valued(of: &Value) -> String {
    let Value { figure, value, unit } = of;
    let Some(value) = *value else { return format!("{figure} has no value") };
    let told = match *unit {
        "s" => duration(value),
        "%" => format!("{} %", number(Some(value * 100.0), 1)),
        _ if value.fract() == 0.0 => number(Some(value), 0),
        _ => number(Some(value), 3),
    };
    format!("{figure} is {told}")
}
