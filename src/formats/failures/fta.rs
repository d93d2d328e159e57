//! `event_trace.tab` of the Failure Trace Archive.

use rustc_hash::FxHashMap;

use super::draft::Draft;
use super::{FailureOptions, Failures, FileError, Rows, Timestamp};
use crate::formats::decimal;

/// The reasons why a stretch ended, by their code.
const REASONS: [&str; 7] =
    ["undefined", "misc", "mouse", "keyboard", "scheduled downtime", "graceful shutdown", "hard shutdown"];
/// The columns of the layout that say nothing which is needed here.
const IDLE: [&str; 2] = ["event_id", "component_id"];

/// Where the columns are.
struct Columns {
    kind: usize,
    start: usize,
    stop: usize,
    node: usize,
    platform: Option<usize>,
    name: Option<usize>,
    reason: Option<usize>,
}

/// The names of the columns.
fn names(header: &str) -> Vec<&str> {
    header.trim_start_matches('#').split_whitespace().collect()
}

pub(super) fn is_header(line: &str) -> bool {
    let names = names(line);
    names.contains(&"event_type") && names.contains(&"event_start_time")
}

impl Columns {
    /// Finds the columns by their names; the second part are those that are unknown.
    fn of(header: &str) -> Result<(Self, Vec<String>), String> {
        let names = names(header);
        let find = |wanted: &[&str]| names.iter().position(|name| wanted.contains(name));
        let needed = |wanted: &[&str]| {
            find(wanted).ok_or_else(|| {
                format!("there is no column `{}`; the columns are `{}`", wanted[0], names.join("`, `"))
            })
        };
        const KNOWN: [&[&str]; 7] = [
            &["event_type"],
            &["event_start_time"],
            &["event_stop_time", "event_end_time"],
            &["node_id"],
            &["platform_id"],
            &["node_name"],
            &["event_end_reason"],
        ];
        let columns = Self {
            kind: needed(KNOWN[0])?,
            start: needed(KNOWN[1])?,
            stop: needed(KNOWN[2])?,
            node: needed(KNOWN[3])?,
            platform: find(KNOWN[4]),
            name: find(KNOWN[5]),
            reason: find(KNOWN[6]),
        };
        let known = |name: &&&str| KNOWN.iter().any(|known| known.contains(*name)) || IDLE.contains(*name);
        let unknown = names.iter().filter(|name| !known(name)).map(|name| (*name).to_owned());
        Ok((columns, unknown.collect()))
    }
}

/// What is in no cell.
fn is_null(cell: &str) -> bool {
    cell.is_empty() || cell.eq_ignore_ascii_case("null") || cell == "-"
}

/// Seconds since 1970, whole or not.
fn instant(cell: &str) -> Option<Timestamp> {
    let (micros, _) = decimal::read(cell, 6)?;
    let micros = i64::try_from(micros).ok()?;
    jiff::Timestamp::from_microsecond(micros).ok().map(|_| Timestamp::from_micros(micros))
}

pub(super) fn read(
    mut rows: Rows<'_>,
    header: &str,
    options: &FailureOptions,
) -> Result<Failures, FileError> {
    if options.system.is_some() {
        let hint = "leave `system` out; `nodes` chooses nodes by their names";
        return Err(rows.fail("a trace of the Failure Trace Archive has no systems", hint));
    }
    let (columns, unknown) = Columns::of(header).map_err(|problem| rows.fail(problem, ""))?;
    let mut draft = Draft::default();
    draft.facts.unknown = unknown;
    let mut nodes: FxHashMap<String, u32> = FxHashMap::default();
    let (mut reasons, mut last) = ([0_u64; REASONS.len()], (String::new(), 0_u32));
    let mut cells: Vec<(usize, usize)> = Vec::new();
    let mut key = String::new();
    loop {
        let line = rows.lines.number() + 1;
        let done = rows.next(|text| {
            if text.trim_start().starts_with('#') {
                return Ok(());
            }
            cells.clear();
            split(text, &mut cells);
            let cell = |at: usize| {
                let (from, to) = cells.get(at).copied().unwrap_or_default();
                text[from..to].trim()
            };
            let needed = columns.kind.max(columns.start).max(columns.stop).max(columns.node);
            if cells.len() <= needed {
                return Err((format!("the line has {} columns, too few", cells.len()), String::new()));
            }
            draft.facts.rows += 1;
            let of = |at: Option<usize>| at.map_or("", cell);
            key.clear();
            key.extend([of(columns.platform), "/", cell(columns.node)]);
            if key != last.0 || draft.nodes() == 0 {
                let node = match nodes.get(&key) {
                    Some(node) => *node,
                    None => {
                        let name = of(columns.name);
                        let node = draft.node(if is_null(name) { key.clone() } else { name.to_owned() })?;
                        nodes.insert(key.clone(), node);
                        node
                    }
                };
                last = (key.clone(), node);
            }
            let kind = cell(columns.kind);
            let up = match kind {
                "0" => false,
                "1" => true,
                _ if kind.parse::<f64>().is_ok() => {
                    draft.facts.other.add(line);
                    return Ok(());
                }
                _ => {
                    let hint = "`event_type` is 1 of a stretch in which the node was available, and 0 of one in which it was not";
                    return Err((format!("`{kind}` is not a type of event"), hint.to_owned()));
                }
            };
            let (start, stop) = (cell(columns.start), cell(columns.stop));
            if is_null(start) || is_null(stop) {
                draft.facts.without_time.add(line);
                return Ok(());
            }
            let at = |text: &str| {
                let hint = "times are seconds since 1970-01-01T00:00Z";
                instant(text).ok_or_else(|| (format!("`{text}` is not a time"), hint.to_owned()))
            };
            if let Some(count) = of(columns.reason).parse::<usize>().ok().and_then(|code| reasons.get_mut(code)) {
                *count += 1;
            }
            draft.row(line, last.1, up, at(start)?, at(stop)?);
            Ok(())
        })?;
        if done.is_none() {
            break;
        }
    }
    let told = REASONS.iter().zip(reasons).filter(|(_, count)| *count > 0);
    draft.facts.causes = told.map(|(reason, count)| ((*reason).to_owned(), count)).collect();
    draft.finish(rows.name)
}

/// Where the cells of a line are: between tabs, or between blanks where there are no tabs.
fn split(text: &str, cells: &mut Vec<(usize, usize)>) {
    let begin = text.as_ptr() as usize;
    let place = |cell: &str| {
        let from = cell.as_ptr() as usize - begin;
        (from, from + cell.len())
    };
    if text.contains('\t') {
        cells.extend(text.split('\t').map(place));
    } else {
        cells.extend(text.split_whitespace().map(place));
    }
}
