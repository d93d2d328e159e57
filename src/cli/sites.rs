//! `gridemu sites`

use std::path::Path;

use clap::Args as ClapArgs;
use serde::Serialize;

use super::{say, say_json};
use crate::experiment::RunError;
use crate::grid::Policies;
use crate::model::{PartitionSpec, did_you_mean, nearest};
use crate::scenario::{CATALOGUE, CatalogueFile, Scenario, from_catalogue};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Print the file of only this one, such as `sites/das2-32.toml`
    name: Option<String>,

    /// Print JSON: an array of sites
    #[arg(long)]
    json: bool,
}

/// A site file, as the command prints it.
#[derive(Serialize)]
struct Shown {
    /// What a scenario writes after `use`.
    r#use: &'static str,
    machines: u64,
    processors: u64,
    policy: String,
    /// The first sentence of the file.
    about: String,
    text: &'static str,
}

impl Shown {
    fn of(file: &'static CatalogueFile, policies: &Policies) -> Result<Self, RunError> {
        let scenario = format!("[[site]]\nname = \"site\"\nuse = \"{}\"\n", file.path);
        let scenario = Scenario::read(Path::new(file.path), &scenario, &[], policies)?;
        let site = &scenario.resolved.grid.sites[0];
        let sum =
            |of: fn(&PartitionSpec) -> u32| site.partitions.iter().map(|part| u64::from(of(part))).sum();
        Ok(Self {
            r#use: file.path,
            machines: sum(|part| part.machines()),
            processors: sum(PartitionSpec::processors),
            policy: site.policy.to_string(),
            about: first_sentence(file.text),
            text: file.text,
        })
    }

    fn line(&self) -> String {
        let Self { r#use, machines, processors, policy, about, .. } = self;
        format!("{use}\n    {processors} processors of {machines} machines, {policy}. {about}")
    }
}

/// The first sentence of the comment at the beginning of a file.
fn first_sentence(text: &str) -> String {
    let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim).collect();
    let comment = comment.join(" ");
    comment.split_once(". ").map_or(comment.trim_end_matches('.'), |(first, _)| first).to_owned() + "."
}

pub(super) fn run(args: &Args, policies: &Policies) -> Result<(), RunError> {
    let mut files: Vec<&'static CatalogueFile> = CATALOGUE.iter().collect();
    if let Some(name) = &args.name {
        let bare = |path: &'static str| path.trim_start_matches("sites/").trim_end_matches(".toml");
        let known = || CATALOGUE.iter().map(|file| bare(file.path));
        let Some(file) = from_catalogue(name).or_else(|| from_catalogue(&format!("sites/{name}.toml")))
        else {
            let near = did_you_mean(nearest(name, known()));
            let all = known().collect::<Vec<_>>().join(", ");
            return Err(RunError::request(format!(
                "there is no built-in site `{name}`{near}; there are {all}"
            )));
        };
        files = vec![file];
    }
    let shown = files.into_iter().map(|file| Shown::of(file, policies)).collect::<Result<Vec<_>, _>>()?;
    if args.json {
        return say_json(&shown);
    }
    match &shown[..] {
        [only] if args.name.is_some() => say(only.text),
        _ => {
            let lines: Vec<String> = shown.iter().map(Shown::line).collect();
            say(&format!("Built-in sites (`use = \"...\"` of a site)\n\n{}", lines.join("\n")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_file_is_told_by_its_first_sentence() {
        assert_eq!(
            first_sentence("# A cluster: 2\n# nodes. More of it.\nname = 1\n# no"),
            "A cluster: 2 nodes."
        );
        assert_eq!(first_sentence("# A cluster.\nname = 1\n"), "A cluster.");
    }
}
