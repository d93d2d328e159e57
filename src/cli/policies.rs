//! `gridemu policies`

use clap::Args as ClapArgs;

use super::say;
use crate::experiment::RunError;
use crate::local::{PolicyInfo, Registry};
use crate::model::Named;

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Describe only this one
    name: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let registry = Registry::standard();
    match &args.name {
        Some(name) => {
            let info = registry.find(name).map_err(RunError::request)?;
            say(&described(info))
        }
        None => {
            let listed: Vec<_> = registry.all().iter().map(|info| line(info)).collect();
            say(&listed.join("\n"))
        }
    }
}

/// As it would be written with all its defaults, and what it does.
fn line(info: &PolicyInfo) -> String {
    let params: Vec<_> = info.params.iter().map(|param| format!("{}={}", param.key, param.default)).collect();
    let written =
        if params.is_empty() { info.name.to_owned() } else { format!("{}[{}]", info.name, params.join(",")) };
    format!("{written}\n    {}", info.doc)
}

fn described(info: &PolicyInfo) -> String {
    let mut text = format!("{}\n  {}\n  Source: {}\n", info.name, info.doc, info.source);
    for param in info.params {
        text += &format!(
            "\n  {} = {}   (default {})\n      {}\n",
            param.key, param.values, param.default, param.doc
        );
    }
    let able = (info.abilities)(&Named::bare(info.name)).words();
    text + &format!("\n  Abilities: {able}")
}
