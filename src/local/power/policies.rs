//! The power policies: one file and one line in this list for each.

use super::PowerRegistry;
use crate::model::{Named, NamedError, ParamInfo};

crate::model::standard_policies! { PowerRegistry:
    always_on
    sleep_idle
    break_even
    lowest_level
}

const RESERVE: ParamInfo = ParamInfo {
    key: "reserve",
    values: "a number of machines",
    default: "0",
    doc: "so many idle machines are kept awake in each partition, and woken up where fewer are",
};

fn reserve(named: &mut Named) -> Result<u32, NamedError> {
    Ok(named.take(RESERVE.key, RESERVE.values)?.unwrap_or(0))
}
