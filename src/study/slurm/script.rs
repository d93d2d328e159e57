//! The two scripts of a job array.

use std::fmt::Write;

use super::Sizes;
use crate::scenario::shell_word;
use crate::units::Span;

/// What the tasks do, after their options and names.
const ARRAY: &str = include_str!("array.sh");
/// What the merge does, after its options and names.
const MERGE: &str = include_str!("merge.sh");

/// Short forms of options that the scripts give.
const SHORT: [(&str, &str); 4] =
    [("-t", "--time"), ("-c", "--cpus-per-task"), ("-J", "--job-name"), ("-o", "--output")];
/// Options by which the scripts would not work.
const NOT_THESE: [&str; 5] = ["--array", "-a", "--dependency", "-d", "--wrap"];

/// A campaign as a job array. All paths are absolute.
#[derive(Clone, Debug)]
pub struct JobArray<'a> {
    /// The name of the campaign.
    pub name: &'a str,
    /// The arguments of gridemu, as words for a shell: `campaign /home/me/study.toml`.
    pub arguments: &'a str,
    /// What starts gridemu on a node, as words for a shell.
    pub start: &'a str,
    /// The version that answers there to `--version`.
    pub version: &'a str,
    /// The folder of the scripts, the parts and the logs.
    pub folder: &'a str,
    /// The working folder of the tasks.
    pub work: &'a str,
    /// The store into which the parts are merged.
    pub store: &'a str,
    /// The folder of archive logs, `GRIDEMU_DATA`.
    pub data: Option<&'a str>,
    /// The folder on a node in which the stores of the parts are worked on, in which variables of the node may stand.
    pub scratch: Option<&'a str>,
    /// The folder for the files of each run.
    pub folders: Option<&'a str>,
    /// Another file for the table.
    pub out: Option<&'a str>,
    /// Options of sbatch for both jobs, which take the place of those that the scripts would have.
    pub options: &'a [String],
    /// The number of tasks, and what each asks for.
    pub sizes: Sizes,
}

impl JobArray<'_> {
    /// The script of the tasks.
    pub fn array(&self) -> String {
        let Sizes { shards, threads, time, grace, .. } = self.sizes;
        let mut own = vec![
            format!("--job-name={}", self.job_name("")),
            format!("--array=1-{shards}"),
            format!("--cpus-per-task={threads}"),
            format!("--time={}", hours(time)),
            // B: to this script alone, which passes it on.
            format!("--signal=B:USR1@{}", grace.micros() / 1_000_000),
            // A node that fails, or a job that is preempted.
            "--requeue".to_owned(),
            "--open-mode=append".to_owned(),
            self.output("%A_%a"),
        ];
        own.extend(self.memory());
        let about = format!(
            "Each task does a part of the campaign, of {shards} in all. One that is stopped or killed is requeued, and continues where it was.\n# Without SLURM: SLURM_ARRAY_TASK_ID=1 sh array.sh"
        );
        let mut more = format!(" --threads {threads}");
        if let Some(folders) = self.folders {
            more += &format!(" --folders {}", shell_word(folders));
        }
        let body = format!("grace={}\n{ARRAY}", grace.micros() / 1_000_000);
        self.script(&own, &about, &more, &body)
    }

    /// The script of the merge.
    pub fn merge(&self) -> String {
        let mut own = vec![
            format!("--job-name={}", self.job_name("-merge")),
            // A hundred results are merged in less than a second.
            format!("--time={}", hours(Span::from_secs(600 + self.sizes.shards * self.sizes.runs / 100))),
            "--open-mode=append".to_owned(),
            self.output("merge-%j"),
        ];
        own.extend(self.memory());
        let mut more = format!(" --store {}", shell_word(self.store));
        if let Some(out) = self.out {
            more += &format!(" --out {}", shell_word(out));
        }
        self.script(&own, "Joins the parts of the campaign when all tasks have ended.", &more, MERGE)
    }

    fn script(&self, own: &[String], about: &str, more: &str, body: &str) -> String {
        let mut text = "#!/bin/sh\n".to_owned();
        let named = |option: &str| {
            let name = option.split(['=', ' ']).next().unwrap_or(option).to_owned();
            SHORT.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| (*long).to_owned())
        };
        let is_given = |own: &str| {
            let name = named(own);
            self.options
                .iter()
                .map(|option| named(option))
                .any(|given| given == name || given.starts_with(&format!("{name}-per-")))
        };
        for option in own.iter().filter(|own| !is_given(own)).chain(self.options) {
            let _ = writeln!(text, "#SBATCH {option}");
        }
        let _ = writeln!(text, "# {about}\n\nversion={}", shell_word(self.version));
        let _ = writeln!(text, "shards={}\nfolder={}", self.sizes.shards, shell_word(self.folder));
        if let Some(data) = self.data {
            let _ = writeln!(text, "export GRIDEMU_DATA={}", shell_word(data));
        }
        // In quotes, for variables.
        match self.scratch {
            Some(scratch) => {
                let _ = writeln!(text, "scratch=\"{scratch}\"\n: \"${{scratch:?is empty on this node}}\"");
            }
            None => text += "scratch=\n",
        }
        let _ = writeln!(text, "gridemu() {{ exec {} \"$@\"; }}", self.start);
        let _ = writeln!(text, "campaign() {{ gridemu {}{more} \"$@\"; }}", self.arguments);
        let _ = writeln!(text, "cd {} || exit 1\n\n{body}", shell_word(self.work));
        text
    }

    /// The name of the jobs, without what an option of sbatch cannot have.
    fn job_name(&self, end: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        self.name.chars().map(plain).chain(end.chars()).collect()
    }

    /// The option for the log. A `%` in a path is doubled.
    fn output(&self, name: &str) -> String {
        format!("--output=\"{}/log/{name}.txt\"", self.folder.replace('%', "%%"))
    }

    fn memory(&self) -> Option<String> {
        self.sizes.memory.map(|memory| format!("--mem={}M", memory.count() >> 20))
    }
}

/// Refuses an option of sbatch with which the scripts would not work.
///
/// # Errors
/// A sentence about it.
pub fn refuse_option(option: &str) -> Result<(), String> {
    if !option.starts_with('-') || option.contains(['\n', '\r']) {
        return Err(format!(
            "`{}` is not an option of sbatch such as `--partition=short`",
            option.escape_debug()
        ));
    }
    let name = option.split(['=', ' ']).next().unwrap_or(option);
    match NOT_THESE.contains(&name) {
        true => Err(format!("`{name}` is what gridemu sets itself: `--shards` is the number of tasks")),
        false => Ok(()),
    }
}

/// A time in whole minutes, as sbatch reads it: `1:05:00`.
fn hours(time: Span) -> String {
    let minutes = time.micros() / 60_000_000;
    format!("{}:{:02}:00", minutes / 60, minutes % 60)
}
