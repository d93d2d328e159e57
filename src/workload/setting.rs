//! What the help says about a key of a generator or a shaper.

/// A key, for the help, the schema and the documentation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// As written.
    pub key: &'static str,
    /// The default, as written; empty if there is none.
    pub default: &'static str,
    /// One line for the help.
    pub doc: &'static str,
}

impl Setting {
    /// The key `key` with its default and its line.
    pub(crate) const fn new(key: &'static str, default: &'static str, doc: &'static str) -> Self {
        Self { key, default, doc }
    }
}
