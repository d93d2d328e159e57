//! The check that links, uplinks and storages carry no more than they can.
//!
//! Each copy needs so many bits of what it passes, between when it began and when it was through. There is a way to carry all of them in their times
//! if and only if earliest deadline first does it (Horn 1974, "Some simple scheduling algorithms"). However they share what they pass, no more is
//! possible.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use super::violation;
use crate::units::{Bandwidth, Time};
use crate::verify::findings::{Row, Rule, Verdict};

/// What copies share.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cable {
    /// The link of two places.
    Link(u32, u32),
    /// The way out of a place.
    Out(u32),
    /// The way into a place.
    In(u32),
    /// The storage of a place.
    Storage(u32),
}

/// A copy on its way.
#[derive(Debug)]
pub(super) struct Use<'a> {
    pub(super) began: Time,
    /// When it was through.
    pub(super) due: Time,
    pub(super) bytes: u64,
    /// Its file, its line, and the job for which it was asked.
    pub(super) row: (&'a Arc<str>, u64, u64),
}

/// The copies that passed each.
#[derive(Debug, Default)]
pub(super) struct Carried<'a>(BTreeMap<Cable, (Bandwidth, Vec<Use<'a>>)>);

impl<'a> Carried<'a> {
    pub(super) fn add(&mut self, cable: Cable, rate: Bandwidth, copy: Use<'a>) {
        self.0.entry(cable).or_insert_with(|| (rate, Vec::new())).1.push(copy);
    }

    /// Reports for each the first copy that cannot have been through in time.
    pub(super) fn check<'n>(self, name: impl Fn(u32) -> &'n str, verdict: &mut Verdict) {
        for (cable, (rate, mut copies)) in self.0 {
            copies.sort_by_key(|copy| copy.began);
            verdict.count_check(Rule::Data);
            let Some(late) = late(&copies, u128::from(rate.bits().max(1))) else { continue };
            let through = match cable {
                Cable::Link(a, b) => format!("the link of {} and {}", name(a), name(b)),
                Cable::Out(a) => format!("the uplink out of {}", name(a)),
                Cable::In(a) => format!("the uplink into {}", name(a)),
                Cable::Storage(a) => format!("the storage of {}", name(a)),
            };
            let (file, line, job) = late.row;
            let message = format!(
                "a copy of file `{file}` is through at {} s, and {through} does not carry all copies up to then at {rate}",
                late.due
            );
            let row = Row { file: "transfers.csv", line };
            verdict.report(violation(Rule::Data, late.due, job, message, row));
        }
    }
}

/// The first copy, in order of deadlines, that cannot be through in time. They are in the order in which they began.
fn late<'u, 'a>(copies: &'u [Use<'a>], rate: u128) -> Option<&'u Use<'a>> {
    // Amounts are in 10⁻⁶ bits, and so is time: as what passes until then.
    let until = |time: Time| u128::from(time.micros()) * rate;
    let mut open = BinaryHeap::new();
    let (mut now, mut next) = (0, 0);
    loop {
        if open.is_empty() {
            now = now.max(until(copies.get(next)?.began));
        }
        while let Some(copy) = copies.get(next).filter(|copy| until(copy.began) <= now) {
            open.push(Reverse((copy.due, next, u128::from(copy.bytes) * 8_000_000)));
            next += 1;
        }
        let Some(Reverse((due, at, left))) = open.pop() else { continue };
        let break_off = copies.get(next).map_or(u128::MAX, |copy| until(copy.began));
        if now + left > break_off {
            open.push(Reverse((due, at, now + left - break_off)));
            now = break_off;
            continue;
        }
        now += left;
        if now > until(due) {
            return Some(&copies[at]);
        }
    }
}
