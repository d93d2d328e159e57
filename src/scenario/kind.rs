//! Kinds of values: how a value is read from the tree, shown again, and described.
//!
//! A kind is a Rust type. `Span` reads `"10 min"`, `Vec<Span>` a list of such texts, `Or<Done, Span>` also the word
//! `"done"`. The methods of a kind serve every key of it, so the declaration of a key only names its kind:
//!
//! - [`plain`] has numbers, switches, texts and lists; [`quantity`] texts with a unit and [`forms`] others of a form; [`named`] names with
//!   parameters; [`words`] fixed words, and [`Or`](words::Or) for a word beside another kind.
//! - A table of keys is a kind too: [`keys!`](key::keys) makes one.

pub(crate) mod forms;
pub(crate) mod key;
mod limits;
pub(crate) mod named;
pub(crate) mod plain;
pub(crate) mod priced;
pub(crate) mod quantity;
pub(crate) mod reading;
pub(crate) mod words;

use serde_json::Value as Json;
use toml::Value;

use self::reading::Reading;
use super::tree::Node;

/// The name of a kind, from its schema.
pub(crate) fn title(schema: &Json) -> String {
    schema["title"].as_str().unwrap_or_default().to_owned()
}

/// A kind of values.
pub(crate) trait Kind: Sized {
    /// True if it is a table of keys.
    const TABLE: bool = false;

    /// Reads a value; `None` if it is invalid, which is then noted.
    fn read(node: &Node, reading: &mut Reading<'_>) -> Option<Self>;

    /// The value as it is shown; `None` if the key is left out.
    fn show(&self) -> Option<Value>;

    /// The JSON schema of a value. Its `title` is the name of the kind on the pages.
    fn schema() -> Json;

    /// The expected form of a value in words: it completes the sentence "`x` is not ...".
    fn expected() -> String {
        title(&Self::schema())
    }

    /// The value of a key without a default if it is left out; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }
}
