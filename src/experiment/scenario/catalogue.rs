//! Site files that come with the program, so that an installed binary finds them.

/// A site file of the catalogue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CatalogueFile {
    /// As written behind `use`.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(CatalogueFile {
            path: concat!("sites/", $name, ".toml"),
            text: include_str!(concat!("../../../sites/", $name, ".toml")),
        }),+]
    };
}

/// All of them, in order of name.
pub const CATALOGUE: &[CatalogueFile] = files!["das2-32", "das2-72"];

/// The file of that path.
pub fn from_catalogue(path: &str) -> Option<&'static CatalogueFile> {
    CATALOGUE.iter().find(|file| file.path == path)
}
