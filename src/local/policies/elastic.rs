//! What the members of a family have in common that process elastic commands (Kumar, Shae and Jamjoom 2012, section III-C).

use crate::local::Abilities;
use crate::model::{Named, NamedError, ParamInfo};

/// The parameter of all of them.
pub(super) const COMMANDS: ParamInfo = ParamInfo {
    key: "commands",
    values: "1 or more",
    default: "1000",
    doc: "most elastic commands a job may have carried out",
};

/// Most elastic commands a job, unless `commands` says otherwise.
const MOST: u32 = 1000;

/// With an ECC processor.
pub(super) fn able(abilities: Abilities, named: &Named) -> Abilities {
    let most = named.params.get(COMMANDS.key).and_then(|most| most.parse().ok());
    Abilities { elastic: most.unwrap_or(MOST), ..abilities }
}

/// Takes the parameter out of the name.
///
/// # Errors
/// [`NamedError::BadValue`] if it is no number, or zero.
pub(super) fn check(named: &mut Named) -> Result<(), NamedError> {
    const EXPECTED: &str = "a number of commands, 1 or more";
    let value = named.params.get(COMMANDS.key).cloned().unwrap_or_default();
    if named.take::<u32>(COMMANDS.key, EXPECTED)? == Some(0) {
        let (name, key, expected) = (named.name.clone(), COMMANDS.key.to_owned(), EXPECTED.to_owned());
        return Err(NamedError::BadValue { name, key, value, expected });
    }
    Ok(())
}
