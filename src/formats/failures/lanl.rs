//! The list of failures of Los Alamos, LA-UR-05-7318.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::DateTime;

use super::draft::Draft;
use super::{FailureOptions, Failures, FileError, Rows, Timestamp, counted};
use crate::formats::input::cells;
use crate::units::{Local, Zone};

/// The columns with causes; a failure is of the first in which something stands.
const CAUSES: [&str; 6] = ["Facilities", "Hardware", "Human Error", "Network", "Undetermined", "Software"];
/// The columns that say nothing which is needed here.
const IDLE: [&str; 16] = [
    "machine type",
    "procstot",
    "procsinnode",
    "nodenum",
    "node install",
    "node prod",
    "node decom",
    "fru type",
    "mem",
    "cputype",
    "memtype",
    "num intercon",
    "purpose",
    "Down Time",
    "Same Event",
    "Down Time (minutes)",
];

/// What is known of a system.
#[derive(Default)]
struct System {
    records: u64,
    /// How many nodes it has.
    nodes: u32,
    /// The nodes that have failed.
    failed: BTreeMap<u32, u32>,
}

pub(super) fn is_header(line: &str) -> bool {
    let names = cells(line, ',');
    ["System", "Prob Started", "Prob Fixed"].iter().all(|wanted| names.iter().any(|name| name == wanted))
}

pub(super) fn read(
    mut rows: Rows<'_>,
    header: &str,
    options: &FailureOptions,
) -> Result<Failures, FileError> {
    let names = cells(header, ',');
    let find = |wanted: &str| names.iter().position(|name| name == wanted);
    let needed = |wanted: &str| {
        let missing = || {
            rows.fail(format!("there is no column `{wanted}`; the columns are `{}`", names.join("`, `")), "")
        };
        find(wanted).ok_or_else(missing)
    };
    let (system, node) = (needed("System")?, needed("nodenumz")?);
    let (started, fixed) = (needed("Prob Started")?, needed("Prob Fixed")?);
    let (count, causes) = (find("nodes"), CAUSES.map(find));
    let last = system.max(node).max(started).max(fixed);
    let mut draft = Draft::default();
    let known = ["System", "nodenumz", "Prob Started", "Prob Fixed", "nodes"];
    let is_known = |name: &&String| {
        [&known[..], &IDLE, &CAUSES].iter().any(|all| all.contains(&name.as_str())) || name.is_empty()
    };
    draft.facts.unknown = names.iter().filter(|name| !is_known(name)).cloned().collect();
    let (mut systems, mut of_cause): (BTreeMap<u32, System>, _) =
        (BTreeMap::new(), [0_u64; CAUSES.len() + 1]);
    loop {
        let line = rows.lines.number() + 1;
        let done = rows.next(|text| {
            let cells = cells(text, ',');
            if cells.len() <= last {
                return Err((format!("the line has {} columns, too few", cells.len()), String::new()));
            }
            let number = |at: usize, what: &str| {
                cells[at]
                    .parse::<u32>()
                    .map_err(|_| (format!("`{}` is not the number of a {what}", cells[at]), String::new()))
            };
            let this = number(system, "system")?;
            let told = systems.entry(this).or_default();
            told.records += 1;
            if options.system.is_some_and(|wanted| wanted != this) {
                return Ok(());
            }
            draft.facts.rows += 1;
            if [node, started, fixed].iter().any(|at| cells[*at].is_empty()) {
                draft.facts.without_time.add(line);
                return Ok(());
            }
            // Not every row has that column.
            told.nodes = told.nodes.max(count.and_then(|at| cells.get(at)?.parse().ok()).unwrap_or_default());
            let number = number(node, "node")?;
            let node = match told.failed.get(&number) {
                Some(node) => *node,
                None => draft.node(number.to_string())?,
            };
            told.failed.insert(number, node);
            let from = instant(&cells[started], &options.zone, None)?;
            let to = instant(&cells[fixed], &options.zone, from)?;
            let (Some(from), Some(to)) = (from, to) else {
                draft.facts.without_time.add(line);
                return Ok(());
            };
            let cause = causes
                .iter()
                .position(|at| at.is_some_and(|at| cells.get(at).is_some_and(|cell| !cell.is_empty())));
            of_cause[cause.unwrap_or(CAUSES.len())] += 1;
            draft.row(line, node, false, from, to);
            Ok(())
        })?;
        if done.is_none() {
            break;
        }
    }
    let chosen = match options.system {
        Some(wanted) => systems.get(&wanted),
        None if systems.len() > 1 => None,
        None => systems.values().next(),
    };
    let Some(chosen) = chosen.filter(|_| !systems.is_empty()) else {
        let listed = systems
            .iter()
            .map(|(number, system)| format!("{number} ({})", counted(system.records, "record", "records")));
        let listed: Vec<String> = listed.collect();
        let (problem, hint) = match options.system {
            Some(wanted) => (format!("there is no system {wanted}"), "`system` is the number of one of them"),
            None if systems.is_empty() => ("it has no rows".to_owned(), "fetch it again"),
            None => ("it has several systems".to_owned(), "say which: `system = 20`"),
        };
        let problem = if listed.is_empty() {
            problem
        } else {
            format!("{problem}; the systems are {}", listed.join(", "))
        };
        return Err(FileError::new(rows.name, 0, problem, hint));
    };
    // The nodes without a failure have the smallest numbers that are left.
    let failed: BTreeSet<u32> = chosen.failed.keys().copied().collect();
    let sound = (chosen.nodes as usize).saturating_sub(failed.len());
    for number in (0..).filter(|number| !failed.contains(number)).take(sound) {
        let node = draft.node(u32::to_string(&number));
        node.map_err(|(problem, hint)| FileError::new(rows.name, 0, problem, hint))?;
    }
    let names = CAUSES.iter().copied().chain(["none named"]).zip(of_cause).filter(|(_, count)| *count > 0);
    draft.facts.causes = names.map(|(name, count)| (name.to_lowercase(), count)).collect();
    draft.finish(rows.name)
}

/// The instant of `6/21/2005 10:54`, not before `from` where clocks that are put back give a choice; `None` if there is none in this zone.
fn instant(cell: &str, zone: &Zone, from: Option<Timestamp>) -> Result<Option<Timestamp>, (String, String)> {
    let wrong = || (format!("`{cell}` is not a time"), "times such as `6/21/2005 10:54` are read".to_owned());
    let civil = civil(cell).ok_or_else(wrong)?;
    Ok(match zone.local(civil).ok_or_else(wrong)? {
        Local::Once(at) => Some(at),
        Local::Twice(earlier, later) if from.is_some_and(|from| earlier < from) => Some(later),
        Local::Twice(earlier, _) => Some(earlier),
        Local::Never => None,
    })
}

/// The date and the time of `6/21/2005 10:54`, `6/21/05 10:54`, or as ISO 8601 has it.
fn civil(cell: &str) -> Option<DateTime> {
    if !cell.contains('/') {
        return cell.parse().ok();
    }
    let numbers: Option<Vec<i16>> = cell.split(['/', ' ', ':']).map(|part| part.parse().ok()).collect();
    let numbers = numbers?;
    let [month, day, year, hour, minute] = numbers[..] else { return None };
    let year = match year {
        70..=99 => year + 1_900,
        0..70 => year + 2_000,
        _ => year,
    };
    let small = |number: i16| i8::try_from(number).ok();
    DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, 0, 0).ok()
}
