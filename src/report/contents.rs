//! The contents of a workload as text.

use super::figures::{count, decimals, duration, jobs, number, percent};
use super::tables::{Columns, text_table};
use crate::workload::{Contents, HourReference, Quantity};

/// Length of the longest bar, in characters.
const BAR: f64 = 40.0;

/// Describes the workload `name`: size and load, distributions of its jobs, classes, arrivals by hour of the day.
pub fn contents_table(name: &str, contents: &Contents) -> String {
    let machine = count(u64::from(contents.machine));
    let mut text = format!(
        "{name}: {} of {} in {}, on {machine} processors\n",
        jobs(contents.jobs),
        users(contents.users),
        duration(contents.span),
    );
    if let Some(load) = contents.offered_load {
        text += &format!("offered load {load:.3} of processors × the span of submissions\n");
    }
    text += &format!("\n{}", quantities(contents));
    text += &format!(
        "\n\n sizes       serial {} %, powers of two {} %\n estimates   exact {} %, exceeded by the run time {} %\n",
        percent(Some(contents.sizes.serial)),
        percent(Some(contents.sizes.power_of_two)),
        percent(Some(contents.exact_estimates)),
        percent(Some(contents.exceeded_estimates)),
    );
    if let Some(dedicated) = &contents.dedicated {
        text += &format!(" dedicated   {} ({} %)\n", jobs(dedicated.jobs), percent(Some(dedicated.share)));
    }
    if let Some(commands) = &contents.commands {
        let kinds = commands.kinds.iter().map(|kind| format!("{} {}", count(kind.amount.count), kind.code));
        text += &format!(
            " commands    {}, to {} ({} %)\n",
            kinds.collect::<Vec<_>>().join(", "),
            jobs(commands.jobs),
            percent(Some(commands.share)),
        );
    }
    if contents.by_class.len() > 1 {
        text += &format!("\n{}\n", classes(contents));
    }
    text + "\n" + &hours(contents)
}

fn users(number: u64) -> String {
    match number {
        0 => "unknown users".to_owned(),
        1 => "1 user".to_owned(),
        _ => format!("{} users", count(number)),
    }
}

fn quantities(contents: &Contents) -> String {
    let mut rows: Vec<(&str, &Quantity)> = vec![
        ("processors", &contents.sizes.processors),
        ("run time (s)", &contents.runtimes),
        ("estimate (s)", &contents.estimates),
        ("run time / estimate", &contents.accuracy),
        ("inter-arrival (s)", &contents.interarrivals),
    ];
    if let Some(dedicated) = &contents.dedicated {
        rows.push(("submission to requested start (s)", &dedicated.lead));
    }
    if let Some(commands) = &contents.commands {
        rows.push(("submission to command (s)", &commands.after));
        rows.extend(commands.kinds.iter().map(|kind| (amount_of(kind.code), &kind.amount)));
    }
    let rows = rows.into_iter().map(|(label, q)| {
        let places = decimals([Some(q.mean), Some(q.median)]);
        let figures = [q.min, q.mean, q.median, q.p90, q.max].map(|figure| number(Some(figure), places));
        [label.to_owned()].into_iter().chain(figures).chain([format!("{:.2}", q.cv)]).collect()
    });
    text_table(1, &["", "min", "mean", "median", "p90", "max", "cv"], rows)
}

fn amount_of(code: &str) -> &'static str {
    match code {
        "ET" => "ET, time extended by (s)",
        "RT" => "RT, time reduced by (s)",
        "EP" => "EP, processors extended by",
        _ => "RP, processors reduced by",
    }
}

fn classes(contents: &Contents) -> String {
    let classes = || contents.by_class.iter();
    Columns::default()
        .text(&contents.classes, classes().map(|class| class.class.clone()))
        .numbers("jobs", classes().map(|class| count(class.jobs)))
        .numbers("% of jobs", classes().map(|class| percent(Some(class.share))))
        .numbers("% of work", classes().map(|class| percent(Some(class.work_share))))
        .finish()
}

fn hours(contents: &Contents) -> String {
    let from = match contents.arrivals.reference {
        HourReference::Utc => "UTC",
        HourReference::LogStart => "since the start of the log, modulo a day",
    };
    let most = contents.arrivals.shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut text = format!(" arrivals by hour ({from}), % of jobs\n");
    for (hour, share) in contents.arrivals.shares.iter().enumerate() {
        let bar = "█".repeat(libm::round(share / most * BAR) as usize);
        text += format!(" {hour:02} {:>6} {bar}", percent(Some(*share))).trim_end();
        text.push('\n');
    }
    text
}
