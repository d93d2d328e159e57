//! Logs of public archives, by their published names, wherever this machine keeps them.
//!
//! `archive:KTH-SP2-1996-2.1-cln.swf.gz` is the log of that name in the folder that the environment variable `GRIDEMU_DATA` names, or in
//! one of its folders `swf` and `reference`. So a scenario or a campaign that replays a published log can be handed to others, and its hash does
//! not depend on where they keep it.

use std::path::{Component, Path, PathBuf};

/// What the names of such logs begin with.
pub const PREFIX: &str = "archive:";
/// The environment variable that names the folder.
pub const VARIABLE: &str = "GRIDEMU_DATA";
/// Where in that folder a log may lie.
const FOLDERS: [&str; 3] = ["", "swf", "reference"];

/// True if `log` is the name of a log of an archive, and no path.
pub fn names(log: &str) -> bool {
    log.starts_with(PREFIX)
}

/// Where the log `archive:NAME`, or `NAME`, lies.
///
/// # Errors
/// A sentence on what is missing, and what to do about it.
pub fn find(log: &str) -> Result<PathBuf, String> {
    let name = log.strip_prefix(PREFIX).unwrap_or(log);
    if Path::new(name).components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(format!("`{name}` is no name of a log in an archive; write a path without `{PREFIX}`"));
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "where a machine keeps its archive is its environment's business"
    )]
    let data = std::env::var_os(VARIABLE).map(PathBuf::from);
    let Some(data) = data else {
        return Err(format!(
            "`{name}` is a log of an archive; say in the environment variable {VARIABLE} which folder it lies in"
        ));
    };
    let places = FOLDERS.iter().map(|folder| data.join(folder).join(name));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| {
        format!(
            "`{name}` is not in `{}`, where {VARIABLE} points, nor in its folders `swf` and `reference`",
            data.display()
        )
    })
}
