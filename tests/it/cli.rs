//! Whole commands: their output, the files they leave, and their error messages.

mod bad;
mod canonical;
mod cloud;
mod compare;
mod energy;
mod engines;
mod failures;
mod faults;
mod figures;
mod forked;
mod forked_workflows;
mod good;
mod guarded;
mod options;
mod pages;
mod reports;
mod reproduce;
mod scenario;
mod stopped;
mod stores;
mod studies;
mod workflows;

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::validating::legal;

/// What a command left: exit code, standard output, standard error.
pub(crate) struct Ran {
    args: String,
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs the command with nothing on standard input.
pub(crate) fn gridemu(args: &[&str]) -> Ran {
    with_input(args, "")
}

fn with_input(args: &[&str], input: &str) -> Ran {
    ran(&[], args, input)
}

/// Runs the command with these variables in its environment.
fn with_environment(variables: &[(&str, String)], args: &[&str]) -> Ran {
    ran(variables, args, "")
}

fn ran(variables: &[(&str, String)], args: &[&str], input: &str) -> Ran {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("gridemu");
    let variables = variables.iter().map(|(name, value)| (name, value));
    let done = command.envs(variables).args(args).write_stdin(input).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran {
        args: args.join(" "),
        code: done.status.code(),
        out: text(done.stdout),
        err: text(done.stderr),
    };
    assert!(!ran.err.contains("panicked"), "`gridemu {}` panicked: {}", ran.args, ran.err);
    // Whatever a run leaves is a legal schedule.
    if let (["run" | "replay", ..], Some(at), Some(0)) =
        (args, args.iter().position(|arg| *arg == "--out"), ran.code)
    {
        legal(Path::new(args[at + 1]));
    }
    ran
}

impl Ran {
    /// It ended with this code, and standard error has all of this.
    #[track_caller]
    pub(crate) fn ends(&self, code: i32, says: &[&str]) -> &Self {
        let told = format!("`gridemu {}`: {:?}\n{}", self.args, self.code, self.err);
        assert_eq!(self.code, Some(code), "{told}");
        for part in says {
            assert!(self.err.contains(part), "no `{part}` in {told}");
        }
        self
    }

    /// It succeeded.
    #[track_caller]
    pub(crate) fn well(&self) -> &Self {
        self.ends(0, &[])
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.well().out).unwrap()
    }
}

/// A log of 10 processors with these rows.
fn log(rows: &[&str]) -> String {
    format!("; MaxProcs: 10\n{}\n", rows.join("\n"))
}

/// A row of SWF that is a job, with these of its 18 columns (from 1) replaced.
fn row(number: u64, changed: &[(usize, &str)]) -> String {
    let (number, submit) = (number.to_string(), (number * 10).to_string());
    let mut columns = [&*number, &submit, "-1", "10", "2", "-1", "-1", "2", "20"].to_vec();
    columns.extend(["-1", "1", "1", "1", "1", "1", "1", "-1", "-1"]);
    for (column, value) in changed {
        columns[column - 1] = value;
    }
    columns.join(" ")
}

pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Writes a file and gives its path as an argument.
fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    argument(&path)
}

fn argument(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Complete rows of a table, which must have its header and end with a line.
#[track_caller]
fn rows_of(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{} ends in the middle of a row", path.display());
    let mut table = csv::Reader::from_reader(text.as_bytes());
    assert!(table.headers().unwrap().iter().any(|column| column == "job"));
    table.records().filter(Result::is_ok).count()
}
