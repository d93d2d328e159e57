//! EASY and its relatives as they are named (Kumar, Shae and Jamjoom 2012, Table III), and their parameters.

use super::{BackfillOrder, Easy};
use crate::local::policies::elastic;
use crate::local::{Abilities, LocalPolicy, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};

const ORDER: ParamInfo = ParamInfo {
    key: "order",
    values: "fcfs, sjf, ljf, saf or lxf",
    default: "fcfs",
    doc: "order in which jobs are tried for backfilling: arrival, shortest or longest estimate first, smallest area (processors × estimate) first, largest expansion factor (wait + estimate) / estimate first",
};

const ABLE: Abilities = Abilities { keeps_reservations: true, ..Abilities::PLAIN };
const ABLE_D: Abilities = Abilities { dedicated: true, ..ABLE };

fn build(mut named: Named) -> Result<Box<dyn LocalPolicy>, NamedError> {
    let order: BackfillOrder = named.take_choice("order", &BackfillOrder::NAMES)?.unwrap_or_default();
    let mut known = vec!["order"];
    if named.name.ends_with("-e") || named.name.ends_with("-de") {
        known.push(elastic::COMMANDS.key);
        elastic::check(&mut named)?;
    }
    let around = named.name.ends_with("-d") || named.name.ends_with("-de");
    named.finish(&known)?;
    let easy = Easy::new(order);
    Ok(Box::new(if around { easy.around_dedicated() } else { easy }))
}

/// EASY.
pub(in crate::local::policies) const EASY: PolicyInfo = PolicyInfo {
    name: "easy",
    doc: "Starts jobs in order of arrival; when the first does not fit, it gets a reservation at the earliest time the estimates allow, and others may start now if they do not delay it.",
    source: "Lifka 1995; Mu'alem and Feitelson 2001; as used by Kettimuthu 2003 and Kumar 2012",
    params: &[ORDER],
    abilities: |_| ABLE,
    build,
};

/// EASY-D.
pub(in crate::local::policies) const EASY_D: PolicyInfo = PolicyInfo {
    name: "easy-d",
    doc: "As `easy`, around reservations of dedicated jobs from their requested starts on.",
    abilities: |_| ABLE_D,
    ..EASY
};

/// EASY-E.
pub(in crate::local::policies) const EASY_E: PolicyInfo = PolicyInfo {
    name: "easy-e",
    doc: "As `easy`, with a processor of elastic commands.",
    params: &[ORDER, elastic::COMMANDS],
    abilities: |named| elastic::able(ABLE, named),
    ..EASY
};

/// EASY-DE.
pub(in crate::local::policies) const EASY_DE: PolicyInfo = PolicyInfo {
    name: "easy-de",
    doc: "As `easy-d`, with a processor of elastic commands.",
    params: &[ORDER, elastic::COMMANDS],
    abilities: |named| elastic::able(ABLE_D, named),
    ..EASY
};
