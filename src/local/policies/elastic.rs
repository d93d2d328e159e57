//! The common part of policies that process elastic commands and support dedicated jobs (Kumar, Shae and Jamjoom 2012, sections
//! III-B and III-C).

use crate::model::{Named, NamedError, ParamInfo};

/// The parameter for elastic commands.
pub(super) const COMMANDS: ParamInfo = ParamInfo {
    key: "commands",
    values: "0 or more",
    default: "0",
    doc: "maximum number of elastic commands per job; with 0 all are refused",
};

/// The parameter value of the names that end in `-e`.
pub(super) const MANY: (&str, &str) = (COMMANDS.key, "1000");

/// Takes the parameter out of the name.
///
/// # Errors
/// [`NamedError::BadValue`] if its value is not a number.
pub(super) fn commands(named: &mut Named) -> Result<u32, NamedError> {
    Ok(named.take(COMMANDS.key, "a number of commands, 0 or more")?.unwrap_or(0))
}
