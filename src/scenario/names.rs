//! Names in messages.

use crate::model::{did_you_mean, nearest};

/// ` (did you mean ...?)`, or nothing.
pub(crate) fn near<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(nearest(written, known))
}

/// `there is only ...`, `there are ...`.
pub(super) fn there<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let are = if names.len() == 1 { "there is only" } else { "there are" };
    format!("{are} {}", listed(names))
}

/// Names in backticks; of many only the first ones.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        _ if names.len() > 12 => format!("`{}` and {} more", names[..12].join("`, `"), names.len() - 12),
        _ => format!("`{}`", names.join("`, `")),
    }
}
