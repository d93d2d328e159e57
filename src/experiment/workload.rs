//! Opens a workload as a user names it: a log, standard input, or a generator.

mod generated;
mod log;
mod shared;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::timed::{Read, Timed};
use super::{Progress, RunError};
use crate::formats::batsim;
use crate::formats::swf::{Clean, Header};
use crate::model::{Named, nearest};
use crate::output::files;
use crate::scenario::{EstimateSource, Shaping, Workload};
use crate::units::Span;
use crate::workflow::shapes::ShapeSpec;
use crate::workload::cwf::CwfSpec;
use crate::workload::huang::HuangSpec;
use crate::workload::lublin::LublinSpec;
use crate::workload::poisson::PoissonSpec;
use crate::workload::random::Stream;
use crate::workload::tsafrir::{TsafrirError, TsafrirSpec};
use crate::workload::{Estimated, Estimates, Factor, Feedback, First, Jobs, Resizable, Scaled, Source, Spec};
use generated::{completed, open};

pub(crate) use shared::Logs;

/// A workload that is ready to run.
pub struct Opened {
    /// The jobs.
    pub source: Box<dyn Source>,
    /// The name of the workload in results.
    pub name: String,
    /// Processors of the workload's machine.
    pub procs: u32,
    /// The header of a log.
    pub header: Option<Header>,
    pub(super) read: Arc<Mutex<Read>>,
}

/// A workload that has been inspected before the run.
pub(super) struct Inspected {
    /// The workload with all parameters that follow from its shaping.
    pub(super) workload: Workload,
    /// The name of the workload.
    pub(super) name: String,
    /// Processors of the workload's machine.
    pub(super) procs: u32,
    /// The opened workload, if it can be opened only once.
    pub(super) opened: Option<Opened>,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Opened {
    /// Takes the source of jobs; it can be taken once.
    pub(crate) fn take_source(&mut self) -> Box<dyn Source> {
        std::mem::replace(&mut self.source, Box::new(Jobs::new(Vec::new())))
    }

    /// The same workload, whose jobs wait for those that they follow if `shaping` says so.
    pub(super) fn waiting(self, shaping: &Shaping) -> Self {
        if shaping.feedback { Self { source: Box::new(Feedback::new(self.source)), ..self } } else { self }
    }

    /// The offered load so far: processors × run time of the jobs read, over the machine × the span of submissions.
    pub fn offered_load(&self) -> Option<f64> {
        self.read().offered_load(self.procs)
    }

    pub(super) fn read(&self) -> Read {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shaping {
    /// Refuses shapings that are invalid for every workload.
    fn check(&self) -> Result<(), RunError> {
        if self.load.is_some() && self.load_factor.is_some() {
            let problem = "`--load` and `--load-factor` both give the load";
            return Err(RunError::request(problem).with_hint("leave one of them out"));
        }
        let problem = match (self.load, self.first, self.procs) {
            (Some(load), ..) if !(0.001..=1000.0).contains(&load) => {
                format!("a load of {load} cannot be reached; it must be from 0.001 to 1000")
            }
            (_, Some(0), _) => "`first` must be 1 or more".to_owned(),
            (.., Some(0)) => "the number of processors must be 1 or more".to_owned(),
            _ => return Ok(()),
        };
        Err(RunError::request(problem))
    }

    /// The shaping with which a log is read: only as far as it is used, unless its beginning is left out. Then all parts of it share what is
    /// read.
    fn of_log(&self) -> Self {
        Self { first: self.first.filter(|_| self.skip == 0), ..self.clone() }
    }

    /// The part of a log that is used, which was read as [`Shaping::of_log`] says.
    fn part(&self, base: Base) -> Result<Base, RunError> {
        if self.skip == 0 {
            return Ok(base);
        }
        Ok(Base { source: self.cut(&base.name, base.source)?, ..base })
    }

    /// The jobs of `source` between those that are left out at its beginning and those behind the last one. Its mark is as if all had been
    /// taken, so it needs no state of its own.
    fn cut(&self, name: &str, mut source: Box<dyn Source>) -> Result<Box<dyn Source>, RunError> {
        let mut skipped = 0;
        while skipped < self.skip && source.next_job().map_err(RunError::from_opening)?.is_some() {
            skipped += 1;
        }
        if self.skip > 0 && source.peek_time().map_err(RunError::from_opening)?.is_none() {
            let problem = format!("`skip` leaves out {} jobs, and `{name}` has {skipped}", self.skip);
            return Err(RunError::request(problem).with_hint("leave out fewer"));
        }
        Ok(match self.first {
            Some(first) => Box::new(First::new(source, first)),
            None => source,
        })
    }
}

impl Workload {
    /// Opens the workload and shapes it.
    ///
    /// # Errors
    /// `RunErrorKind::Request` if it cannot be opened, is not a workload, or cannot be shaped like that.
    pub fn open(&self, shaping: &Shaping, progress: &Progress) -> Result<Opened, RunError> {
        self.open_for("", shaping, progress)
    }

    /// Opens the workload of `entity`. Random streams are named by the entity, so that two entities with the same
    /// generator have different jobs. With an empty name the seed is that of the generator, as in [`Workload::open`].
    ///
    /// # Errors
    /// See [`Workload::open`].
    pub fn open_for(&self, entity: &str, shaping: &Shaping, progress: &Progress) -> Result<Opened, RunError> {
        Ok(self.open_with(entity, shaping, progress, None)?.waiting(shaping))
    }

    /// As [`Workload::open_for`], with logs shared between runs. Under feedback, jobs only name the job that they follow, and do not wait
    /// for it.
    pub(crate) fn open_with(
        &self,
        entity: &str,
        shaping: &Shaping,
        progress: &Progress,
        logs: Option<&Logs>,
    ) -> Result<Opened, RunError> {
        shaping.check()?;
        if let (Self::File(path), Some(found)) = (self, self.file().map_err(RunError::request)?)
            && found != *path
        {
            return Self::File(found).open_with(entity, shaping, progress, logs);
        }
        let base = match self {
            Self::File(path) if generator(path).is_some() => return Err(self.no_jobs()),
            Self::File(path) if is_json(path) => open_batsim(path, shaping, self.is_once())?,
            Self::File(path) => self.open_log(path, shaping, progress, logs)?,
            Self::Stdin if shaping.load.is_some() => {
                return Err(read_once("standard input", "`--load` needs"));
            }
            Self::Stdin => shaping.part(log::open_stdin(&shaping.of_log())?)?,
            Self::Workflows(_) => return Err(self.no_jobs()),
            Self::Lublin(named) => open::<LublinSpec>(named, entity, shaping, progress)?,
            Self::Poisson(named) => open::<PoissonSpec>(named, entity, shaping, progress)?,
            Self::Cwf(named) => open::<CwfSpec>(named, entity, shaping, progress)?,
            Self::Huang(named) => open::<HuangSpec>(named, entity, shaping, progress)?,
        };
        let Base { mut source, name, procs, header } = base;
        let Some(procs) = shaping.procs.or(procs) else {
            let message = header.as_ref().and_then(|header| header.with_line("MaxProcs"));
            let problem = match message {
                None => format!("`{name}` does not contain the number of processors of its machine"),
                Some((value, line)) => {
                    format!("{name}, line {line}: `MaxProcs: {value}` is not a number of processors")
                }
            };
            return Err(RunError::request(problem).with_hint("add `--procs N`"));
        };
        if let Some(factor) = shaping.load_factor {
            source = Box::new(Scaled::new(source, factor.inverse()));
        }
        match &shaping.estimates {
            EstimateSource::Plain(Estimates::Log) => {}
            EstimateSource::Plain(estimates) => source = Box::new(Estimated::new(source, *estimates)),
            EstimateSource::Tsafrir(named) => {
                source = estimated_by_users(source, named.clone(), shaping.seed, entity)?;
            }
        }
        if let Some(spec) = shaping.malleable {
            source = Box::new(Resizable::new(source, spec, procs, shaping.seed, entity));
        }
        let (timed, read) = Timed::new(source);
        Ok(Opened { source: Box::new(timed), name, procs, header, read })
    }

    fn no_jobs(&self) -> RunError {
        let problem = format!("`{}` has workflows, where jobs are wanted", self.title());
        RunError::request(problem).with_hint("submit them at the portal of a grid")
    }

    /// Inspects the workload before a replay: a generator gets all its random parameters.
    ///
    /// # Errors
    /// As [`Workload::open`].
    pub(super) fn inspect(&self, shaping: &Shaping) -> Result<Inspected, RunError> {
        shaping.check()?;
        let (named, procs) = match self {
            Self::Lublin(named) => completed::<LublinSpec>(named, "", shaping)?,
            Self::Poisson(named) => completed::<PoissonSpec>(named, "", shaping)?,
            Self::Cwf(named) => completed::<CwfSpec>(named, "", shaping)?,
            Self::Huang(named) => completed::<HuangSpec>(named, "", shaping)?,
            Self::File(_) | Self::Stdin | Self::Workflows(_) => {
                let once = self.is_once();
                // Shaping that needs the whole log is left to the run.
                let light = Shaping {
                    load: None,
                    estimates: EstimateSource::Plain(Estimates::Log),
                    malleable: None,
                    ..shaping.clone()
                };
                let opened = self.open(if once { shaping } else { &light }, &Progress::default())?;
                let (workload, name, procs) = (self.clone(), opened.name.clone(), opened.procs);
                return Ok(Inspected { workload, name, procs, opened: Some(opened).filter(|_| once) });
            }
        };
        let (mut workload, name) = (self.clone(), named.to_string());
        if let Some(own) = workload.generator_mut() {
            *own = named;
        }
        Ok(Inspected { workload, name, procs: shaping.procs.unwrap_or(procs), opened: None })
    }

    fn open_log(
        &self,
        path: &Path,
        shaping: &Shaping,
        progress: &Progress,
        logs: Option<&Logs>,
    ) -> Result<Base, RunError> {
        let factor = match shaping.load {
            Some(_) if self.is_once() => return Err(read_once(path.display(), "`--load` needs")),
            None => None,
            Some(load) => Some(self.factor_for(load, shaping, logs)?),
        };
        let read = shaping.of_log();
        let shared = logs.filter(|_| !self.is_once()).map(|logs| logs.open(path, &read)).transpose()?;
        let base = match shared.flatten() {
            Some(base) => base,
            None => log::open(path, &read, progress, self.is_once())?,
        };
        let mut base = shaping.part(base)?;
        if let Some(factor) = factor {
            base.source = Box::new(Scaled::new(base.source, factor));
        }
        Ok(base)
    }

    /// Reads the whole log once to find the factor that gives the requested load.
    fn factor_for(&self, load: f64, shaping: &Shaping, logs: Option<&Logs>) -> Result<Factor, RunError> {
        let plain = Shaping {
            load: None,
            feedback: false,
            estimates: EstimateSource::Plain(Estimates::Log),
            ..shaping.clone()
        };
        let mut opened = self.open_with("", &plain, &Progress::default(), logs)?;
        while opened.source.next_job().map_err(RunError::from_opening)?.is_some() {}
        let impossible =
            || RunError::request(format!("`{}` cannot be scaled to a load of {load}", opened.name));
        let now = opened.offered_load().filter(|now| *now > 0.0).ok_or_else(impossible)?;
        Factor::from_f64(now / load).ok_or_else(impossible)
    }
}

/// The error of a pipe that would have to be read a second time.
pub(crate) fn read_once(name: impl fmt::Display, who: &str) -> RunError {
    RunError::request(format!("{name} cannot be read twice, as {who}")).with_hint("write it to a file first")
}

/// A workload before it is shaped.
struct Base {
    source: Box<dyn Source>,
    name: String,
    procs: Option<u32>,
    header: Option<Header>,
}

fn open_batsim(path: &Path, shaping: &Shaping, once: bool) -> Result<Base, RunError> {
    let options =
        [("--load", shaping.load.is_some()), ("--feedback", shaping.feedback), ("--cap", shaping.cap)];
    only_for_logs(&options, shaping, "Batsim workloads")?;
    let name = file_name(path);
    let (file, _) = open_file(path)?;
    let read = batsim::read(&name, Box::new(file))
        .map_err(|error| RunError::request(&error).with_maybe_hint(error.hint()))?;
    let source = shaping.cut(&name, Box::new(Jobs::new(read.jobs).had_once(once)))?;
    Ok(Base { source, name, procs: Some(read.nb_res), header: None })
}

/// Refuses options that only a log supports, so that no option is ignored silently.
fn only_for_logs(options: &[(&str, bool)], shaping: &Shaping, what: &str) -> Result<(), RunError> {
    let strict = ("--clean strict", shaping.clean != Clean::None);
    match options.iter().chain([&strict]).find(|(_, asked)| *asked) {
        Some((option, _)) => Err(RunError::request(format!("`{option}` works on SWF logs, not on {what}"))),
        None => Ok(()),
    }
}

/// Gives the jobs estimates as users would. All jobs must be known beforehand.
fn estimated_by_users(
    mut source: Box<dyn Source>,
    mut named: Named,
    seed: u64,
    entity: &str,
) -> Result<Box<dyn Source>, RunError> {
    let once = source.mark().is_none();
    let mut jobs = Vec::new();
    while let Some(job) = source.next_job().map_err(RunError::from_opening)? {
        jobs.push(job);
    }
    named.params.entry("max".to_owned()).or_insert_with(|| {
        let longest = jobs.iter().map(|job| job.runtime.max(job.estimate)).max().unwrap_or_default();
        format!("{} h", longest.micros().div_ceil(Span::from_secs(3_600).micros()).max(1))
    });
    let spec = TsafrirSpec::from_named(named).map_err(RunError::request)?;
    // A seed given for the estimates makes them the same for every entity.
    let (seed, entity) = spec.seed.map_or((seed, entity), |own| (own, ""));
    let stream = Stream::new(seed, entity, "estimates");
    let estimated = spec.estimated(jobs, source.notes(), stream);
    let estimated = estimated.map_err(|error| RunError::request(&error).with_hint(TsafrirError::HINT))?;
    Ok(Box::new(estimated.had_once(once)))
}

pub(super) fn open_file(path: &Path) -> Result<(File, u64), RunError> {
    let refuse = |error: io::Error| {
        let problem = RunError::request(format!("cannot open `{}`: {error}", path.display()));
        problem.with_hint(match error.kind() {
            io::ErrorKind::NotFound => generator_meant(path),
            io::ErrorKind::PermissionDenied => "make it readable, or pipe it in and give `-`".to_owned(),
            _ => "check the disk and the path".to_owned(),
        })
    };
    let file = files::open(path).map_err(refuse)?;
    let about = file.metadata().map_err(refuse)?;
    if about.is_dir() {
        return Err(RunError::request(format!("`{}` is a folder, not a log", path.display()))
            .with_hint("name a file in it"));
    }
    Ok((file, about.len()))
}

/// What to give instead of a path that is not there: perhaps it was meant as a generator.
fn generator_meant(path: &Path) -> String {
    let written = file_name(path);
    let name = written.split('[').next().unwrap_or_default();
    let jobs = [LublinSpec::NAME, PoissonSpec::NAME, CwfSpec::NAME, HuangSpec::NAME];
    match nearest(name, jobs.into_iter().chain(ShapeSpec::all())).filter(|_| !name.contains('.')) {
        Some(shape) if ShapeSpec::names(shape) => {
            format!("give a file, or a generator of workflows such as `{shape}[tasks=100]`")
        }
        near => {
            format!("give a log, or a generator such as `{}[jobs=1000]`", near.unwrap_or(LublinSpec::NAME))
        }
    }
}

/// The path as a generator of workflows, if it begins like one.
pub(super) fn generator(path: &Path) -> Option<&str> {
    let written = path.to_str()?;
    let name = written.split('[').next().unwrap_or_default();
    (ShapeSpec::names(name) && !path.exists()).then_some(written)
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
