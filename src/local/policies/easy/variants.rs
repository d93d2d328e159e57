//! The variants of EASY by name (Kumar, Shae and Jamjoom 2012, Table III), and their parameters.

use super::{BackfillOrder, Easy};
use crate::local::policies::elastic::{self, COMMANDS, MANY};
use crate::local::{Abilities, Built, PolicyInfo};
use crate::model::{Named, NamedError, ParamInfo};

const ORDER: ParamInfo = ParamInfo {
    key: "order",
    values: "fcfs, sjf, ljf, saf or lxf",
    default: "fcfs",
    doc: "order in which jobs are tried for backfilling: arrival, shortest or longest estimate first, smallest area (processors × estimate) first, largest expansion factor (wait + estimate) / estimate first",
};

const DEDICATED: ParamInfo = ParamInfo {
    key: "dedicated",
    values: "hold or reserve",
    default: "hold",
    doc: "dedicated jobs are kept back until their requested starts, or hold reservations from then on",
};

const RESERVE: (&str, &str) = (DEDICATED.key, "reserve");

pub(in crate::local::policies) fn info() -> PolicyInfo {
    PolicyInfo::new("easy", build)
        .doc("EASY backfilling: starts jobs in order of arrival; the first that does not fit gets a reservation at the earliest time by the estimates, and other jobs start now if they do not delay it.")
        .source("Lifka 1995; Mu'alem and Feitelson 2001; as used by Kettimuthu 2003 and Kumar 2012")
        .params(&[ORDER, DEDICATED, COMMANDS])
        .alias("easy-d", &[RESERVE], "EASY-D: reservations for dedicated jobs at their requested starts.")
        .alias("easy-e", &[MANY], "EASY-E: processes elastic commands.")
        .alias("easy-de", &[RESERVE, MANY], "EASY-DE: both.")
}

fn build(named: &mut Named) -> Result<Built, NamedError> {
    let order = named.take_choice(ORDER.key, &BackfillOrder::NAMES)?.unwrap_or_default();
    let dedicated =
        named.take_choice(DEDICATED.key, &[("hold", false), ("reserve", true)])?.unwrap_or_default();
    let elastic = elastic::commands(named)?;
    let easy = Easy::new(order);
    let easy = if dedicated { easy.around_dedicated() } else { easy };
    Ok((Box::new(easy), Abilities { keeps_reservations: true, dedicated, elastic, ..Abilities::PLAIN }))
}
