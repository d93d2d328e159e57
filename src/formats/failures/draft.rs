//! Rows of nodes, in any order, become the outages of each node.

use super::{FailureFacts, Failures, FileError, MOST_NODES, Outage, Span, Timestamp, natural};
use crate::model::NodeOutages;

/// A stretch in which a node was available, or was not, in microseconds since 1970.
struct Row {
    from: i64,
    to: i64,
    node: u32,
    /// The line in which it stands, and whether the node was available.
    line: u32,
    up: bool,
}

/// What has been read so far.
#[derive(Default)]
pub(super) struct Draft {
    names: Vec<String>,
    rows: Vec<Row>,
    /// When the last row of each node begins.
    last: Vec<i64>,
    pub(super) facts: FailureFacts,
}

impl Draft {
    /// A node of this name, beside those that are there.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn node(&mut self, name: String) -> Result<u32, (String, String)> {
        if self.names.len() == MOST_NODES {
            return Err((format!("it has more than {MOST_NODES} nodes"), String::new()));
        }
        self.names.push(name);
        self.last.push(i64::MIN);
        Ok(self.names.len() as u32 - 1)
    }

    /// The number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.names.len()
    }

    /// Adds a row in line `line`, of a node that was available, or was not, from a time to another.
    pub(super) fn row(&mut self, line: u64, node: u32, up: bool, from: Timestamp, to: Timestamp) {
        let (from, to) = (from.micros(), to.micros());
        if to < from {
            return self.facts.backward.add(line);
        }
        if to == from {
            self.facts.empty += 1;
            return;
        }
        *(if up { &mut self.facts.available } else { &mut self.facts.unavailable }) += 1;
        let last = &mut self.last[node as usize];
        if from < *last {
            self.facts.disordered.add(line);
        }
        *last = from;
        self.rows.push(Row { from, to, node, line: line as u32, up });
    }

    /// The outages.
    pub(super) fn finish(mut self, name: &str) -> Result<Failures, FileError> {
        let spans = self.rows.iter().map(|row| (row.from, row.to));
        let Some((begin, end)) = spans.reduce(|all, row| (all.0.min(row.0), all.1.max(row.1))) else {
            let (problem, hint) = match self.facts.rows {
                0 => (
                    "it has no rows",
                    "a line of the names of columns is expected, then a row a stretch or a failure",
                ),
                _ => (
                    "none of its rows says when a node was down or up",
                    "its times and types are not as expected",
                ),
            };
            return Err(FileError::new(name, 0, problem, hint));
        };
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        order.sort_by(|a, b| natural::compare(&self.names[*a as usize], &self.names[*b as usize]));
        let mut place = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(node, at): (&u32, u32)| place[*node as usize] = at);
        self.rows.iter_mut().for_each(|row| row.node = place[row.node as usize]);
        self.rows.sort_unstable_by_key(|row| (row.node, row.from, row.line));
        let mut nodes = NodeOutages::default();
        let (mut rows, mut down) = (&self.rows[..], 0_u128);
        let span = |from: i64, to: i64| Span::from_micros(to.abs_diff(from));
        for (at, node) in order.iter().enumerate() {
            let own;
            (own, rows) = rows.split_at(rows.partition_point(|row| row.node as usize <= at));
            let outages = outages(own, (self.facts.available > 0).then_some((begin, end)));
            self.facts.overlaps = own
                .windows(2)
                .fold((self.facts.overlaps, i64::MIN), |(mut told, until), pair| {
                    let until = until.max(pair[0].to);
                    if pair[1].from < until {
                        told.add(u64::from(pair[1].line));
                    }
                    (told, until)
                })
                .0;
            self.facts.sound += u64::from(outages.is_empty());
            down += outages.iter().map(|(from, to)| u128::from((*to).min(end).abs_diff(*from))).sum::<u128>();
            let outages = outages.iter().map(|(from, to)| Outage {
                from: span(begin, *from),
                to: if *to == i64::MAX { Span::MAX } else { span(begin, *to) },
            });
            nodes.push(std::mem::take(&mut self.names[*node as usize]), outages);
        }
        let all = (u128::from(end.abs_diff(begin)) * order.len() as u128).max(1);
        self.facts.availability_ppm = ((all - down.min(all)) * 1_000_000 / all) as u64;
        let (begin, end) = (Timestamp::from_micros(begin), Timestamp::from_micros(end));
        Ok(Failures { begin, end, nodes, facts: self.facts })
    }
}

/// The outages of a node, apart from each other and in order; `i64::MAX` is never. With `within`, it was down whenever no row says that it was
/// available from the first instant of the trace to its last, and one that was down in the end stays so.
fn outages(rows: &[Row], within: Option<(i64, i64)>) -> Vec<(i64, i64)> {
    let mut down: Vec<(i64, i64)> = rows.iter().filter(|row| !row.up).map(|row| (row.from, row.to)).collect();
    if let Some((begin, end)) = within {
        let mut told = begin;
        for row in rows.iter().filter(|row| row.up) {
            if row.from > told {
                down.push((told, row.from));
            }
            told = told.max(row.to);
        }
        if told < end {
            down.push((told, end));
        }
        down.sort_unstable();
    }
    let mut merged: Vec<(i64, i64)> = Vec::with_capacity(down.len());
    for (from, to) in down {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    if let (Some((_, end)), Some(last)) = (within, merged.last_mut())
        && last.1 == end
    {
        last.1 = i64::MAX;
    }
    merged
}
