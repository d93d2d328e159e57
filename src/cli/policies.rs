//! `gridemu policies`

use clap::Args as ClapArgs;
use serde::Serialize;

use super::say;
use crate::broker::{BrokerPolicyInfo, BrokerRegistry};
use crate::experiment::RunError;
use crate::local::{PolicyInfo, Registry};
use crate::model::{Named, ParamInfo, did_you_mean, nearest};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Describe only this one
    name: Option<String>,

    /// Print JSON: an array of policies
    #[arg(long)]
    json: bool,
}

/// A policy of either kind, as it is told.
#[derive(Serialize)]
struct Told {
    /// `local` at a site, `broker` for the grid.
    kind: &'static str,
    name: &'static str,
    doc: &'static str,
    source: &'static str,
    params: &'static [ParamInfo],
    abilities: String,
}

impl Told {
    fn local(info: &PolicyInfo) -> Self {
        let abilities = (info.abilities)(&Named::bare(info.name)).words();
        let PolicyInfo { name, doc, source, params, .. } = *info;
        Self { kind: "local", name, doc, source, params, abilities }
    }

    fn broker(info: &BrokerPolicyInfo) -> Self {
        let BrokerPolicyInfo { name, doc, source, params, abilities, .. } = *info;
        let words = [(abilities.pulls, "sites ask for work"), (abilities.random, "draws at random")];
        let words: Vec<_> = words.into_iter().filter(|(able, _)| *able).map(|(_, word)| word).collect();
        let abilities = if words.is_empty() { "plans over the picture".to_owned() } else { words.join(", ") };
        Self { kind: "broker", name, doc, source, params, abilities }
    }

    /// As it would be written with all its defaults, and what it does.
    fn line(&self) -> String {
        let params: Vec<_> =
            self.params.iter().map(|param| format!("{}={}", param.key, param.default)).collect();
        let params = if params.is_empty() { String::new() } else { format!("[{}]", params.join(",")) };
        format!("{}{params}\n    {}", self.name, self.doc)
    }

    fn described(&self) -> String {
        let kind = if self.kind == "local" { "local policy" } else { "broker policy" };
        let mut text = format!("{} ({kind})\n  {}\n  Source: {}\n", self.name, self.doc, self.source);
        for param in self.params {
            text += &format!(
                "\n  {} = {}   (default {})\n      {}\n",
                param.key, param.values, param.default, param.doc
            );
        }
        text + &format!("\n  Abilities: {}", self.abilities)
    }
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let (registry, brokers) = (Registry::standard(), BrokerRegistry::standard());
    let local = registry.all().iter().map(|info| Told::local(info));
    let mut all: Vec<Told> = local.chain(brokers.all().iter().map(|info| Told::broker(info))).collect();
    if let Some(name) = &args.name {
        let known: Vec<_> = all.iter().map(|told| told.name).collect();
        if !known.contains(&name.as_str()) {
            let near = did_you_mean(nearest(name, known.iter().copied()));
            return Err(RunError::request(format!(
                "there is no policy `{name}`{near}; there are {}",
                known.join(", ")
            )));
        }
        all.retain(|told| told.name == name);
    }
    if args.json {
        return say(&serde_json::to_string_pretty(&all).map_err(RunError::run)?);
    }
    if args.name.is_some() {
        let described: Vec<_> = all.iter().map(Told::described).collect();
        return say(&described.join("\n\n"));
    }
    let mut text = String::new();
    for (kind, heading) in
        [("local", "Local policies, of a site"), ("broker", "Broker policies, of the grid")]
    {
        let lines: Vec<_> = all.iter().filter(|told| told.kind == kind).map(Told::line).collect();
        let apart = if text.is_empty() { "" } else { "\n\n" };
        text += &format!("{apart}{heading}\n\n{}", lines.join("\n"));
    }
    say(&text)
}
