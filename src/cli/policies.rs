//! `gridemu policies`

use clap::Args as ClapArgs;
use serde::Serialize;

use super::{say, say_json};
use crate::experiment::RunError;
use crate::grid::Policies;
use crate::model::{About, Named, did_you_mean, nearest};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Describe only this one
    name: Option<String>,

    /// Print JSON: an array of policies
    #[arg(long)]
    json: bool,
}

/// A policy of any kind, as the command prints it.
#[derive(Serialize)]
struct Shown<'a> {
    /// `local` and `power` for a site, `broker` for the grid.
    kind: &'static str,
    #[serde(flatten)]
    about: &'a About,
    abilities: String,
}

impl Shown<'_> {
    /// The policy with all its defaults written out, its description, and its other names.
    fn line(&self) -> String {
        let About { name, doc, params, aliases, .. } = self.about;
        let params: Vec<_> = params.iter().map(|param| format!("{}={}", param.key, param.default)).collect();
        let params = if params.is_empty() { String::new() } else { format!("[{}]", params.join(",")) };
        let aliases = aliases.iter().map(|alias| format!("\n    {} = {}", alias.name, alias.stands_for));
        format!("{name}{params}\n    {doc}{}", aliases.collect::<String>())
    }

    fn described(&self) -> String {
        let About { name, doc, source, params, aliases, .. } = self.about;
        let mut text = format!("{name} ({} policy)\n  {doc}\n", self.kind);
        if !source.is_empty() {
            text += &format!("  Source: {source}\n");
        }
        for param in &**params {
            text += &format!(
                "\n  {} = {}   (default {})\n      {}\n",
                param.key, param.values, param.default, param.doc
            );
        }
        for alias in aliases {
            text += &format!("\n  {} = {}\n      {}\n", alias.name, alias.stands_for, alias.doc);
        }
        // A power policy has none.
        match self.kind {
            "power" => text.trim_end().to_owned(),
            _ => text + &format!("\n  Abilities: {}", self.abilities),
        }
    }
}

/// All policies; their abilities are those with default parameters.
fn all(policies: &Policies) -> Result<Vec<Shown<'_>>, RunError> {
    let mut all = Vec::new();
    for info in policies.local.all() {
        let (_, abilities) =
            policies.local.build(&Named::bare(&info.about.name)).map_err(RunError::request)?;
        all.push(Shown { kind: "local", about: &info.about, abilities: abilities.words() });
    }
    for info in policies.broker.all() {
        let built = policies.broker.build(&Named::bare(&info.about.name), 0);
        let (_, abilities) = built.map_err(RunError::request)?;
        all.push(Shown { kind: "broker", about: &info.about, abilities: abilities.words() });
    }
    for info in policies.power.all() {
        all.push(Shown { kind: "power", about: &info.about, abilities: String::new() });
    }
    Ok(all)
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let mut all = all(policies)?;
    if let Some(name) = &args.name {
        let known: Vec<_> = all.iter().flat_map(|shown| shown.about.names()).collect();
        if !known.contains(&name.as_str()) {
            let near = did_you_mean(nearest(name, known.iter().copied()));
            return Err(RunError::request(format!(
                "there is no policy `{name}`{near}; there are {}",
                known.join(", ")
            )));
        }
        all.retain(|shown| shown.about.names().any(|own| own == name));
    }
    if args.json {
        return say_json(&all);
    }
    if args.name.is_some() {
        let described: Vec<_> = all.iter().map(Shown::described).collect();
        return say(&described.join("\n\n"));
    }
    let mut text = String::new();
    for (kind, heading) in [
        ("local", "Local policies (of a site)"),
        ("broker", "Broker policies (of the grid)"),
        ("power", "Power policies (of a site: `power_policy`)"),
    ] {
        let lines: Vec<_> = all.iter().filter(|shown| shown.kind == kind).map(Shown::line).collect();
        let apart = if text.is_empty() { "" } else { "\n\n" };
        text += &format!("{apart}{heading}\n\n{}", lines.join("\n"));
    }
    say(&text)
}
