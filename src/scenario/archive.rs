//! Logs of public archives by their published names, independent of the folder in which this machine keeps them.
//!
//! `archive:KTH-SP2-1996-2.1-cln.swf.gz` is the log of that name in the folder given by the environment variable
//! `GRIDEMU_DATA`, or in one of its subfolders: `swf`, `reference`, and for workflows `dax`, `gwf` and those of `wfcommons`, for prices and carbon intensities `energy`, for failures `fta`. A scenario or a campaign that replays a published
//! log can thus be passed on to others, and its hash does not depend on the folder.

use std::path::{Component, Path, PathBuf};

/// Prefix of the names of such logs.
pub const PREFIX: &str = "archive:";
/// The environment variable with the folder.
pub const VARIABLE: &str = "GRIDEMU_DATA";
/// Subfolders of that folder that may contain a log.
const FOLDERS: [&str; 12] = [
    "",
    "swf",
    "reference",
    "wfcommons/v1.5",
    "wfcommons/pegasus-instances",
    "wfcommons/makeflow-instances",
    "wfcommons/workflowhub-traces",
    "wfcommons/generated-synthetic",
    "dax",
    "gwf",
    "energy",
    "fta",
];

/// True if `log` is the name of a log of an archive rather than a path.
pub fn names(log: &str) -> bool {
    log.starts_with(PREFIX)
}

/// The path of the log `archive:NAME`, or `NAME`.
///
/// # Errors
/// A sentence about what is missing, with a remedy.
pub fn find(log: &str) -> Result<PathBuf, String> {
    let name = log.strip_prefix(PREFIX).unwrap_or(log);
    if Path::new(name).components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(format!("`{name}` is not the name of an archive log; write a path without `{PREFIX}`"));
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "where a machine keeps its archive is its environment's business"
    )]
    let data = std::env::var_os(VARIABLE).map(PathBuf::from);
    let Some(data) = data else {
        return Err(format!(
            "`{name}` is a file of an archive; set the environment variable {VARIABLE} to its folder"
        ));
    };
    let places = FOLDERS.iter().map(|folder| data.join(folder).join(name));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        format!(
            "`{name}` is not in `{}` ({VARIABLE}), nor in its subfolders `swf`, `reference`, `energy`, `fta`, `dax`, `gwf` and those of `wfcommons`",
            data.display()
        )
    })
}
