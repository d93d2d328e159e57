//! Small text files that carry their own check: JSON, and a last line with the hash of everything before it.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_128;

const CHECK: &str = "xxh3-128 of the above: ";

/// The text of `value`.
pub(super) fn encode(value: &impl Serialize) -> Result<String, String> {
    let body = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    let hash = xxh3_128(body.as_bytes());
    Ok(format!("{body}\n{CHECK}{hash:032x}\n"))
}

/// What is wrong with a text.
pub(super) enum Fault {
    /// It has no last line.
    Short,
    /// It differs from what was written.
    Changed(String),
}

/// The JSON of a text with a valid hash.
pub(super) fn body(text: &[u8]) -> Result<&str, Fault> {
    let text = str::from_utf8(text).map_err(|_| Fault::Changed("is not text".to_owned()))?;
    let Some((body, check)) = text.rsplit_once(&format!("\n{CHECK}")) else {
        return Err(Fault::Short);
    };
    let hash = format!("{:032x}\n", xxh3_128(body.as_bytes()));
    match check {
        check if check == hash => Ok(body),
        check if hash.starts_with(check) => Err(Fault::Short),
        _ => Err(Fault::Changed("does not have the hash that its last line says".to_owned())),
    }
}

/// The value in a text.
pub(super) fn decode<T: DeserializeOwned>(text: &[u8]) -> Result<T, Fault> {
    serde_json::from_str(body(text)?).map_err(|error| Fault::Changed(format!("cannot be read: {error}")))
}
