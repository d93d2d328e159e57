//! Site files that are part of the program, so that an installed binary has them.

/// A site file of the catalogue.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CatalogueFile {
    /// The path as written after `use`.
    pub path: &'static str,
    /// The text of the file.
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        &[$(CatalogueFile {
            path: concat!("sites/", $name, ".toml"),
            text: include_str!(concat!("../../sites/", $name, ".toml")),
        }),+]
    };
}

/// All site files, in order of path.
pub const CATALOGUE: &[CatalogueFile] = files![
    "bluegene-p-320",
    "ctc-sp2",
    "das2-32",
    "das2-72",
    "horus",
    "huang-2004",
    "kanavallil-2007",
    "kth-sp2",
    "lanl-cm5",
    "modern-cloud",
    "modern-cluster",
    "modern-office",
    "paul-2013-12",
    "paul-2013-15",
    "sdsc-blue",
    "sdsc-sp2",
    "sharcnet-large",
    "sharcnet-medium",
    "sharcnet-small",
];

/// The file of this path.
pub fn from_catalogue(path: &str) -> Option<&'static CatalogueFile> {
    CATALOGUE.iter().find(|file| file.path == path)
}
