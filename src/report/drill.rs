//! The results of drills: a table, and in words what did not hold.

use super::figures::{count, duration, noun, number, wrapped};
use super::tables::Columns;
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

/// The same for a page: a table with a row a broker and a column a drill, then what did not hold.
pub fn drill_markdown(ran: &[DrillRan]) -> String {
    let [brokers, drills] =
        [|ran: &DrillRan| ran.broker.clone(), |ran: &DrillRan| ran.drill.clone()].map(|name| {
            let names: Vec<String> = ran.iter().map(name).collect();
            in_order(names.iter().map(String::as_str)).into_iter().map(str::to_owned).collect::<Vec<_>>()
        });
    let mut out = format!("| broker | {} |\n", drills.join(" | "));
    out += &format!("|---|{}\n", "---|".repeat(drills.len()));
    for broker in &brokers {
        let cell = |drill: &String| {
            let found = ran.iter().find(|ran| ran.broker == *broker && ran.drill == *drill);
            found.map_or("-", |ran| if ran.held() { "held" } else { "**failed**" })
        };
        let cells: Vec<&str> = drills.iter().map(cell).collect();
        out += &format!("| `{broker}` | {} |\n", cells.join(" | "));
    }
    out += "\n";
    for ran in ran {
        for failure in &ran.failures {
            out += &format!("- {} under `{}`: {}\n", ran.drill, ran.broker, failure_words(failure));
        }
    }
    out
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

/// A row a drill, a column a broker: there are more drills than anyone compares brokers.
fn of_several(ran: &[DrillRan], brokers: &[&str]) -> String {
    let drills = in_order(ran.iter().map(|ran| ran.drill.as_str()));
    let cell = |drill: &str, broker: &str| {
        let found = ran.iter().find(|ran| ran.broker == broker && ran.drill == drill);
        found.map_or_else(|| "-".to_owned(), word)
    };
    let column = |columns: Columns, broker: &&str| {
        columns.text(broker, drills.iter().map(|drill| cell(drill, broker)))
    };
    let names = Columns::default().text("drill", drills.iter().map(|drill| (*drill).to_owned()));
    brokers.iter().fold(names, column).finish()
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

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn ran(drill: &str, broker: &str, failures: Vec<Failure>) -> DrillRan {
        let ended = !failures.iter().any(|failure| matches!(failure, Failure::Run { .. }));
        DrillRan {
            drill: drill.to_owned(),
            broker: broker.to_owned(),
            failures,
            lasted_s: ended.then_some(25_000.0),
            wall_s: ended.then_some(1.25),
        }
    }

    fn all(broker: &str) -> Vec<DrillRan> {
        let value = |figure: &str, value, unit| Value { figure: figure.to_owned(), value, unit };
        vec![
            ran("lost-site", broker, Vec::new()),
            ran("slow-site", broker, vec![Failure::Run { problem: "it is stuck".to_owned() }]),
            ran(
                "held-jobs",
                broker,
                vec![
                    Failure::Unfinished { jobs: 1 },
                    Failure::Unbalanced { outcomes: 1_999, submitted: 2_000 },
                    Failure::Invalid {
                        violations: 3,
                        first: "at 3 s: two jobs at once (jobs.csv:4)".to_owned(),
                    },
                    Failure::Expectation {
                        expects: "completed >= 99 % * submitted - 3".to_owned(),
                        figures: vec![
                            value("completed", Some(1_900.0), ""),
                            value("submitted", Some(2_000.0), ""),
                        ],
                    },
                    Failure::Expectation {
                        expects: "makespan <= 9 h".to_owned(),
                        figures: vec![
                            value("makespan", Some(55_560.0), "s"),
                            value("wasted", Some(0.1234), "%"),
                        ],
                    },
                    Failure::Expectation {
                        expects: "mean_wait < 1".to_owned(),
                        figures: vec![value("mean_wait", None, "s"), value("a", Some(1.5), "")],
                    },
                    Failure::Expectation { expects: "1 == 2".to_owned(), figures: Vec::new() },
                ],
            ),
        ]
    }

    #[test]
    fn a_table_says_what_did_not_hold() {
        assert_snapshot!(drill_table(&all("mine")), @"
         drill       mine     virtual time    took
        -------------------------------------------
         lost-site   held       6 h 56 min   1.2 s
         slow-site   FAILED              -       -
         held-jobs   FAILED     6 h 56 min   1.2 s

        slow-site:
          - the run does not end well: it is stuck

        held-jobs:
          - 1 job is left when the run ends
          - the outcomes are of 1,999 jobs, and 2,000 were submitted
          - the schedule is not possible: 3 violations, the first at 3 s: two jobs at once (jobs.csv:4)
          - expected completed >= 99 % * submitted - 3: completed is 1,900, submitted is 2,000
          - expected makespan <= 9 h: makespan is 15 h 26 min, wasted is 12.3 %
          - expected mean_wait < 1: mean_wait has no value, a is 1.500
          - expected 1 == 2
        ");
        let several = [all("mine"), vec![ran("lost-site", "python3 other.py", Vec::new())]].concat();
        let lines = |text: &str, count| text.lines().take(count).collect::<Vec<_>>().join("\n");
        assert_snapshot!(lines(&drill_table(&several), 5), @"
         drill       mine     python3 other.py
        ---------------------------------------
         lost-site   held     held
         slow-site   FAILED   -
         held-jobs   FAILED   -
        ");
        assert_snapshot!(lines(&drill_markdown(&several), 6), @"
        | broker | lost-site | slow-site | held-jobs |
        |---|---|---|---|
        | `mine` | held | **failed** | **failed** |
        | `python3 other.py` | held | - | - |

        - slow-site under `mine`: the run does not end well: it is stuck
        ");
        let list = [("a-drill", ["What happened."; 8].join(" ")), ("b", "Little.".to_owned())];
        assert_snapshot!(drill_list(&list.map(|(name, about)| (name.to_owned(), about))), @"
        a-drill  What happened. What happened. What happened. What happened. What happened. What happened.
                 What happened. What happened.
        b        Little.
        ");
    }
}
