//! Names of the files of figures.

use super::figure::{Figure, Shows};
use crate::study::OF_CLASSES;
use crate::study::claims::{ClaimError, refuse};

/// The name of the file of a figure: the one that is written, or one of what it shows. The figures `before` it have others.
pub(super) fn name_of(
    written: Option<String>,
    shows: &Shows,
    before: &[Figure],
) -> Result<String, ClaimError> {
    let name = match (written, shows) {
        (Some(name), _) if is_file_name(&name) => name,
        (Some(name), _) => {
            let hint = "letters, digits, `-`, `_` and `.` may be in it";
            return refuse(format!("`name = \"{name}\"` is not a file name"), hint);
        }
        (None, Shows::Curves { campaign, measure, .. }) => {
            plain(&format!("{}-{measure}", campaign.trim_end_matches(".toml")))
        }
        (None, Shows::Dates { campaign, measure, .. }) => {
            plain(&format!("{}-{measure}-dates", campaign.trim_end_matches(".toml")))
        }
        (None, Shows::HeatMap { campaign, measure, .. }) => {
            let measure = measure.trim_start_matches(OF_CLASSES);
            plain(&format!("{}-{measure}-classes", campaign.trim_end_matches(".toml")))
        }
        (None, Shows::Pareto { campaign, .. }) => {
            plain(&format!("{}-pareto", campaign.trim_end_matches(".toml")))
        }
        (None, Shows::Gains { .. }) => "gains".to_owned(),
    };
    match before.iter().find(|other| other.name.eq_ignore_ascii_case(&name)) {
        Some(other) => refuse(
            format!("its file would be `{name}`, as that of the figure at line {}", other.line),
            "give it another name: `name = \"...\"`",
        ),
        None => Ok(name),
    }
}

/// A text in a form that is valid in the name of a file.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|sign| if sign.is_ascii_alphanumeric() || sign == '.' { sign } else { '-' }).collect()
}

fn is_file_name(name: &str) -> bool {
    let may_be = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
    !name.starts_with('.') && !name.is_empty() && name.chars().all(may_be)
}
