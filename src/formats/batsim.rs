//! Batsim's workloads: JSON with jobs and profiles (Batsim 4 and 5).
//!
//! Only profiles of type `delay` are read: rigid jobs of a given run time. All others describe computations and
//! transfers on a platform of SimGrid, which has no counterpart here, and are errors.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read;

use rustc_hash::FxHashSet;
use serde::Deserialize;
use thiserror::Error;

use super::input;
use crate::model::Job;
use crate::units::{Span, Time, exponential, line};

/// The longest time that is accepted, three centuries.
const MAX_SPAN: Span = Span::from_secs(10_000_000_000);

/// The content of a workload file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatsimWorkload {
    /// Machines of the platform that the workload is made for.
    pub nb_res: u32,
    /// The jobs, in the order of the file; [`crate::workload::Jobs`] makes a source of them.
    pub jobs: Vec<Job>,
}

/// A workload that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BatsimError {
    /// Reading failed.
    #[error("`{name}`: {problem}")]
    Read {
        /// The file.
        name: String,
        /// What is wrong.
        problem: String,
        /// What the user can do.
        hint: &'static str,
    },
    /// The file is not JSON.
    #[error("`{name}`, {place}: {problem}")]
    Json {
        /// The file.
        name: String,
        /// The line and the column.
        place: String,
        /// What is wrong.
        problem: String,
    },
    /// The file is not a workload.
    #[error("`{name}` is not a Batsim workload: {problem}")]
    Form {
        /// The file.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A job that makes no sense, or has a profile that is not supported.
    #[error("`{name}`: job `{job}`{problem}")]
    Job {
        /// The file.
        name: String,
        /// The id of the job.
        job: String,
        /// What is wrong, as the end of a sentence that begins with the job.
        problem: String,
        /// What the user can do.
        hint: &'static str,
    },
}

impl BatsimError {
    /// What the user can do about it, if anything.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Read { hint, .. } | Self::Job { hint, .. } if !hint.is_empty() => Some(hint),
            _ => None,
        }
    }
}

/// The file as it is written. Unknown fields are ignored: Batsim 4 allows any.
#[derive(Deserialize)]
struct Written {
    nb_res: u32,
    jobs: Vec<WrittenJob>,
    profiles: BTreeMap<String, Profile>,
}

#[derive(Deserialize)]
struct WrittenJob {
    id: WrittenId,
    subtime: f64,
    res: u32,
    profile: String,
    walltime: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenId {
    Number(u64),
    Text(String),
}

#[derive(Deserialize)]
struct Profile {
    #[serde(rename = "type")]
    kind: String,
    delay: Option<f64>,
}

/// Reads a workload, plain or compressed with gzip; `name` is its name in messages. The whole file is held in memory.
///
/// Times are rounded to the microsecond. A job without a wall time (or with −1) has its run time as estimate. The
/// number of a job is its id, or what follows the `!` of `workload!job`.
///
/// # Errors
/// [`BatsimError`] names the file and, where there is one, the job.
pub fn read(name: &str, input: Box<dyn Read + Send>) -> Result<BatsimWorkload, BatsimError> {
    let failure = |error: &std::io::Error| BatsimError::Read {
        name: name.to_owned(),
        problem: error.to_string(),
        hint: input::hint(error),
    };
    let text = input::whole(input).map_err(|error| failure(&error))?;
    if let Some(problem) = input::too_many_in_json(&text) {
        return Err(BatsimError::Form { name: name.to_owned(), problem });
    }
    let written: Written = serde_json::from_slice(&text).map_err(|error| match input::not_json(&error) {
        Some((place, problem)) => BatsimError::Json { name: name.to_owned(), place, problem },
        None => BatsimError::Form { name: name.to_owned(), problem: line(&error.to_string()).into_owned() },
    })?;
    drop(text);
    let mut ids = FxHashSet::default();
    let mut jobs = Vec::with_capacity(written.jobs.len());
    for written_job in &written.jobs {
        let fail = |job: String, problem: String, hint| {
            let [job, problem] = [job, problem].map(|text| line(&text).into_owned());
            BatsimError::Job { name: name.to_owned(), job, problem, hint }
        };
        let job = job_of(written_job, &written.profiles)
            .map_err(|(problem, hint)| fail(written_job.id.shown(), problem, hint))?;
        if !ids.insert(job.id) {
            let problem = format!(": `id` is {}, not a number that no other job has", job.id);
            return Err(fail(job.id.to_string(), problem, ""));
        }
        jobs.push(job);
    }
    Ok(BatsimWorkload { nb_res: written.nb_res, jobs })
}

impl WrittenId {
    fn shown(&self) -> String {
        match self {
            Self::Number(id) => id.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// The job as it is meant, or what is wrong with it, with a hint.
fn job_of(job: &WrittenJob, profiles: &BTreeMap<String, Profile>) -> Result<Job, (String, &'static str)> {
    let wrong =
        |field, value: &dyn Display, expected| (format!(": `{field}` is {value}, not {expected}"), "");
    let shown = job.id.shown();
    let id = shown.rsplit('!').next().and_then(|id| id.parse().ok());
    let id = id.ok_or_else(|| wrong("id", &shown, "a number, or a number behind `workload!`"))?;
    let span = |field, secs: f64| {
        Span::from_secs_f64(secs)
            .filter(|span| *span <= MAX_SPAN)
            .ok_or_else(|| wrong(field, &exponential(secs), "a time from 0 to 10000000000 seconds"))
    };
    let name = &job.profile;
    let profile = profiles
        .get(name)
        .ok_or_else(|| (format!(" has the profile `{name}`, which the file does not define"), ""))?;
    if profile.kind != "delay" {
        let kind = &profile.kind;
        return Err((
            format!(" has the profile `{name}` of type `{kind}`; only `delay` is supported"),
            "replace the profile by a `delay` profile with the run time measured under Batsim",
        ));
    }
    if job.res == 0 {
        return Err(wrong("res", &job.res, "at least 1"));
    }
    let delay =
        profile.delay.ok_or_else(|| wrong("delay", &"not given in its profile", "a time in seconds"))?;
    let runtime = span("delay", delay)?;
    let submit = Time::ZERO + span("subtime", job.subtime)?;
    let estimate = match job.walltime {
        None | Some(-1.0) => runtime,
        Some(walltime) => span("walltime", walltime)?,
    };
    Ok(Job::rigid(id, submit, job.res, runtime).estimated(estimate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_text(text: &str) -> Result<BatsimWorkload, BatsimError> {
        read("w.json", Box::new(std::io::Cursor::new(text.to_owned().into_bytes())))
    }

    fn one(job: &str, profile: &str) -> String {
        format!(r#"{{"nb_res": 4, "jobs": [{job}], "profiles": {{"p": {profile}}}, "date": "today"}}"#)
    }

    const DELAY: &str = r#"{"type": "delay", "delay": 88.51, "np": 1}"#;

    #[test]
    fn delay_profiles_are_rigid_jobs() {
        let jobs = r#"{"id": 7, "subtime": 4.709164021244639, "res": 2, "profile": "p", "walltime": 149, "user": "x"},
                      {"id": "w!12", "subtime": 0, "res": 1, "profile": "p"}, {"id": "3", "subtime": 1e-7, "res": 1, "profile": "p", "walltime": -1}"#;
        let workload = read_text(&one(jobs, DELAY)).unwrap();
        assert_eq!(workload.nb_res, 4);
        let run = Span::from_micros(88_510_000);
        assert_eq!(
            workload.jobs,
            [
                Job::rigid(7, Time::from_micros(4_709_164), 2, run).estimated(Span::from_secs(149)),
                Job::rigid(12, Time::ZERO, 1, run),
                Job::rigid(3, Time::ZERO, 1, run),
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let job = |fields: &str| format!(r#"{{"id": "w!1", "profile": "p", {fields}}}"#);
        let error = |job: &str, profile: &str| read_text(&one(job, profile)).unwrap_err();
        let good = job(r#""subtime": 0, "res": 1"#);
        let parallel = error(&good, r#"{"type": "parallel_homogeneous", "cpu": 1e6, "com": 0}"#);
        assert_eq!(
            parallel.to_string(),
            "`w.json`: job `w!1` has the profile `p` of type `parallel_homogeneous`; only `delay` is supported"
        );
        assert!(parallel.hint().is_some());
        for (fields, told) in [
            (r#""subtime": -1, "res": 1"#, "`subtime` is -1, not a time from 0 to 10000000000 seconds"),
            (r#""subtime": 1e300, "res": 1"#, "`subtime` is 1e300, not a time"),
            (r#""subtime": 0, "res": 0"#, "`res` is 0, not at least 1"),
            (r#""subtime": 0, "res": 1, "walltime": -2"#, "`walltime` is -2"),
            (r#""subtime": 0"#, "missing field `res`"),
            (r#""subtime": 0, "res": -1"#, "is not a Batsim workload"),
        ] {
            let told_now = error(&job(fields), DELAY).to_string();
            assert!(told_now.contains(told), "{told_now}");
        }
        let twice = error(&format!("{good}, {good}"), DELAY).to_string();
        assert!(twice.contains("`id` is 1, not a number that no other job has"), "{twice}");
        let broken = read_text("{\"nb_res\": 4,\n \"jobs\": [").unwrap_err().to_string();
        assert_eq!(broken, "`w.json`, line 2, column 10: not JSON: EOF while parsing a list");
        assert!(error(&good, r#"{"type": "delay"}"#).to_string().contains("`delay` is not given"));
        assert!(error(&good.replace("\"p\"", "\"q\""), DELAY).to_string().contains("does not define"));
        assert!(read_text("").is_err());
        assert!(read_text("[]").is_err());
    }

    proptest! {
        #[test]
        fn takes_any_text(text in "[\\PC{}\\[\\]\":,0-9]{0,200}") {
            let _ = read_text(&text);
        }
    }
}
