//! The types of cells.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::rows::Ordered;
use crate::model::{
    Booked, Cause, Elastic, JobKind, MachineState, Origin, Outcome, ProcSet, RejectReason, SliceClass,
    TransferOutcome,
};
use crate::units::{Energy, Money, Rate, Span, Time, unguarded};

pub(super) const SECONDS: &str = "a time in seconds";

/// Names that repeat, stored once.
#[derive(Default)]
pub(super) struct NamePool(FxHashSet<Arc<str>>);

/// A value that is read from a cell.
pub(super) trait Cell: Sized {
    /// Reads a cell; the error says what it should be.
    fn parse(cell: &[u8], names: &mut NamePool) -> Result<Self, &'static str>;
}

/// Cells of one type each: what they should be, and how they are read.
macro_rules! cells {
    ($($type:ty, $wanted:expr, $parse:expr;)*) => {
        $(impl Cell for $type {
            fn parse(cell: &[u8], _: &mut NamePool) -> Result<Self, &'static str> {
                let parse: fn(&[u8]) -> Option<Self> = $parse;
                parse(cell).ok_or($wanted)
            }
        })*
    };
}

cells! {
    u64, "a whole number", whole;
    i32, "a whole number", |cell| std::str::from_utf8(cell).ok()?.parse().ok();
    f64, "a number", number;
    bool, "`yes` or empty", |cell| match cell {
        b"yes" => Some(true),
        b"" => Some(false),
        _ => None,
    };
    Time, SECONDS, |cell| micros(cell).map(Time::from_micros);
    Span, SECONDS, |cell| micros(cell).map(Span::from_micros);
    Energy, "an energy in joules", |cell| decimal(cell, 9).map(Energy::from_nanojoules);
    Money, "an amount of money", money;
    // The multiple of 2⁻²⁰ nearest to the decimals.
    Rate, "a rate", |cell| {
        let units = ((decimal(cell, 9)? << Rate::BITS) + 500_000_000) / 1_000_000_000;
        u64::try_from(units).ok().map(Rate::from_units)
    };
    ProcSet, "intervals of processors, such as `0-3 7`", processors;
    Outcome, "an outcome, such as `completed`", |cell| {
        use Outcome::{Cancelled, Completed, Failed, Killed, Rejected, Unfinished};
        let all = [Completed, Killed, Failed, Rejected(RejectReason::Policy), Cancelled, Unfinished];
        word(cell, all, |outcome| outcome.name())
    };
    Cause, "a cause, such as `run`", |cell| word(cell, Cause::ALL, |cause| cause.name());
    TransferOutcome, "what became of a copy, such as `arrived`", |cell| word(cell, TransferOutcome::ALL, |outcome| outcome.name());
    MachineState, "a state of a machine, such as `busy`", |cell| {
        word(cell, MachineState::ALL, |state| state.name())
    };
    SliceClass, "`short`, `medium` or `long`", |cell| word(cell, SliceClass::ALL, |class| class.name());
    // A table without origins is that of one site.
    Origin, "`local` or `grid`", |cell| match cell {
        b"" => Some(Origin::Local),
        cell => word(cell, Origin::ALL, |origin| origin.name()),
    };
    JobKind, "a kind of job, such as `rigid`", |cell| word(cell, JobKind::ALL, |kind| kind.name());
    Ordered, "an elastic command, such as `ET 60`, or a reservation, such as `reserve 60 120 demo`", |cell| {
        let written = std::str::from_utf8(cell).ok()?;
        let change = || Elastic::read(written).map(Ordered::Change);
        change().or_else(|| Booked::read(written).map(Box::new).map(Ordered::Booked))
    };
}

impl Cell for u32 {
    fn parse(cell: &[u8], names: &mut NamePool) -> Result<Self, &'static str> {
        Self::try_from(u64::parse(cell, names)?).map_err(|_| "a number below 2^32")
    }
}

impl<T: Cell> Cell for Option<T> {
    fn parse(cell: &[u8], names: &mut NamePool) -> Result<Self, &'static str> {
        if cell.is_empty() { Ok(None) } else { T::parse(cell, names).map(Some) }
    }
}

impl Cell for Box<str> {
    fn parse(cell: &[u8], _: &mut NamePool) -> Result<Self, &'static str> {
        std::str::from_utf8(cell).map(|text| unguarded(text).into()).map_err(|_| "text in UTF-8")
    }
}

impl Cell for Arc<str> {
    fn parse(cell: &[u8], NamePool(names): &mut NamePool) -> Result<Self, &'static str> {
        let text = unguarded(std::str::from_utf8(cell).map_err(|_| "text in UTF-8")?);
        if let Some(found) = names.get(text) {
            return Ok(Self::clone(found));
        }
        let name: Self = text.into();
        names.insert(Self::clone(&name));
        Ok(name)
    }
}

/// The value with this name.
fn word<T: Copy, const N: usize>(cell: &[u8], all: [T; N], name: fn(T) -> &'static str) -> Option<T> {
    all.into_iter().find(|value| name(*value).as_bytes() == cell)
}

/// A floating-point number.
pub(super) fn number(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// Seconds as microseconds.
fn micros(cell: &[u8]) -> Option<u64> {
    u64::try_from(decimal(cell, 6)?).ok()
}

/// An amount of money is written with a sign if it is negative; no other decimal of gridemu has one.
fn money(cell: &[u8]) -> Option<Money> {
    let text = std::str::from_utf8(cell).ok()?;
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction: i128 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let whole: i128 = whole.parse().ok()?;
    Some(Money::from_nanos(sign * (whole.checked_mul(1_000_000_000)? + fraction)))
}

fn whole(cell: &[u8]) -> Option<u64> {
    if cell.is_empty() || cell.len() > 19 || !cell.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(cell.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
}

/// `cell` × 10ᵖˡᵃᶜᵉˢ. Further decimals are rounded; a number with an exponent, which gridemu never writes, is parsed
/// as a floating-point number.
fn decimal(cell: &[u8], places: u32) -> Option<u128> {
    let scale = 10_u128.pow(places);
    let (whole_part, fraction) = match cell.iter().position(|sign| *sign == b'.') {
        Some(dot) => (&cell[..dot], &cell[dot + 1..]),
        None => (cell, &b""[..]),
    };
    let digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    if cell.is_empty() || whole_part.len() > 28 || !digits(whole_part) || !digits(fraction) {
        let value: f64 = std::str::from_utf8(cell).ok()?.parse().ok()?;
        let scaled = value * scale as f64;
        return (0.0..1e30).contains(&scaled).then_some((scaled + 0.5) as u128);
    }
    let mut value =
        whole_part.iter().fold(0_u128, |value, digit| value * 10 + u128::from(digit - b'0')) * scale;
    let mut unit = scale;
    for digit in fraction {
        if unit == 1 {
            value += u128::from(*digit >= b'5');
            break;
        }
        unit /= 10;
        value += u128::from(digit - b'0') * unit;
    }
    Some(value)
}

fn processors(cell: &[u8]) -> Option<ProcSet> {
    let mut set = ProcSet::new();
    for interval in cell.split(|sign| *sign == b' ').filter(|interval| !interval.is_empty()) {
        let (first, last) = match interval.iter().position(|sign| *sign == b'-') {
            Some(dash) => (whole(&interval[..dash])?, whole(&interval[dash + 1..])?),
            None => (whole(interval)?, whole(interval)?),
        };
        // Sets are bitmaps, so an absurdly large number would take all memory.
        if first > last || last >= 1 << 28 {
            return None;
        }
        set.insert_all(&ProcSet::range(first as u32, last as u32 + 1));
    }
    Some(set)
}
