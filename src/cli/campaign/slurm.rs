//! `gridemu campaign --slurm`: times a few runs, writes the scripts of a job array, and submits them.

use std::fs;
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args as ClapArgs;

use super::super::{say, talk};
use crate::experiment::RunError;
use crate::output::write_whole;
use crate::scenario::{archive, shell_word};
use crate::study::campaign::{Campaign, Timing};
use crate::study::slurm::{JobArray, Sizes, Wish, refuse_option};
use crate::units::{Bytes, Span, counted};

/// How long runs are timed.
const BUDGET: Duration = Duration::from_secs(20);
/// What was timed, in the folder of the scripts.
const TIMING: &str = "timing.json";

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "On a cluster with SLURM")]
pub(super) struct SlurmArgs {
    /// Write a job array that does the campaign, and the job that merges its parts, as scripts into NAME.slurm; only a few runs are
    /// done, to time them
    #[arg(long, conflicts_with_all = ["shard", "merge", "list", "list_measures", "json"])]
    pub(super) slurm: bool,

    /// Also submit both jobs with `sbatch`
    #[arg(long, requires = "slurm")]
    submit: bool,

    /// The number of tasks, each with a part of the runs [default: as many as their time needs]
    #[arg(long, value_name = "N", requires = "slurm", value_parser = clap::value_parser!(u64).range(1..))]
    shards: Option<u64>,

    /// The longest time of a task, such as '4 h', from which their number follows [default: 1 h, or what one run needs]
    #[arg(long, value_name = "TIME", requires = "slurm", conflicts_with = "shards")]
    time_per_task: Option<Span>,

    /// An option of sbatch for both jobs, such as --slurm-option=--partition=short; may be repeated
    #[arg(long, value_name = "OPTION", requires = "slurm", allow_hyphen_values = true)]
    slurm_option: Vec<String>,

    /// What starts gridemu on a node, such as 'apptainer exec gridemu.sif gridemu' [default: the path of this program]
    #[arg(long, value_name = "COMMAND", requires = "slurm")]
    slurm_command: Option<String>,

    /// Work in this folder on the disk of the node, such as '$TMPDIR', and copy the store of a part from and to NAME.slurm
    #[arg(long, value_name = "DIR", requires = "slurm")]
    scratch: Option<String>,
}

/// What else was typed.
pub(super) struct Typed<'a> {
    pub(super) store: &'a Path,
    pub(super) folders: Option<&'a Path>,
    pub(super) out: Option<&'a Path>,
    pub(super) threads: Option<u16>,
}

pub(super) fn write(args: &SlurmArgs, campaign: &Campaign, typed: &Typed<'_>) -> Result<(), RunError> {
    for option in &args.slurm_option {
        refuse_option(option).map_err(RunError::request)?;
    }
    let texts = [("--scratch", &args.scratch), ("--slurm-command", &args.slurm_command)];
    for (option, text) in texts.iter().filter_map(|(option, text)| Some((option, text.as_ref()?))) {
        let quoted = *option == "--scratch" && text.contains(['"', '\\', '`']);
        if quoted || text.trim().is_empty() || text.contains('\n') {
            return Err(RunError::request(format!("`{option}` cannot be `{}`", text.escape_debug())));
        }
    }
    let shown = folder(typed.store);
    let folder = path(&shown)?;
    if folder.contains(['"', '\\']) {
        return Err(RunError::request(format!("an option of sbatch cannot name the folder `{folder}`"))
            .with_hint("`--store DIR` names another place without quotation marks and backslashes"));
    }
    let work = path(Path::new("."))?;
    let store = path(typed.store)?;
    let [folders, out] = [typed.folders, typed.out].map(|given| given.map(path).transpose());
    let (folders, out) = (folders?, out?);
    let data = archive_folder().map(|data| path(&data)).transpose()?;
    let start = match &args.slurm_command {
        Some(command) => command.clone(),
        None => {
            let program = std::env::current_exe().map_err(RunError::run)?;
            shell_word(&path(&program)?)
        }
    };
    let timing = timed(campaign, &shown)?;
    let wish = Wish { shards: args.shards, task: args.time_per_task, threads: typed.threads.unwrap_or(1) };
    let sizes = Sizes::of(campaign, &timing, wish)?;
    let array = JobArray {
        name: campaign.name(),
        arguments: campaign.arguments(),
        start: &start,
        version: &format!("gridemu {}", env!("CARGO_PKG_VERSION")),
        folder: &folder,
        work: &work,
        store: &store,
        data: data.as_deref(),
        scratch: args.scratch.as_deref(),
        folders: folders.as_deref(),
        out: out.as_deref(),
        options: &args.slurm_option,
        sizes,
    };
    note_others(&shown, sizes.shards);
    let scripts = ["array.sh", "merge.sh"].map(|name| shown.join(name));
    // SLURM makes no folder for the logs: without it a task fails, and says nothing.
    let logs = shown.join("log");
    fs::create_dir_all(&logs)
        .map_err(|error| RunError::run(format!("cannot make `{}`: {error}", logs.display())))?;
    write_whole(&scripts[0], array.array())?;
    write_whole(&scripts[1], array.merge())?;
    say(&told(&sizes, &scripts, typed.store))?;
    match args.submit {
        true => submit(&scripts),
        false => say(&format!("submit both jobs:\n  {}", command(&scripts))),
    }
}

/// The folder of the scripts, beside the store: `study.slurm` for `study.campaign`.
fn folder(store: &Path) -> PathBuf {
    match store.extension().is_some_and(|ending| ending == "campaign") {
        true => store.with_extension("slurm"),
        false => store.with_added_extension("slurm"),
    }
}

/// Names results of another division into parts, which these tasks do not continue.
fn note_others(folder: &Path, shards: u64) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.strip_prefix("parts-") {
            Some(other) if other != shards.to_string() => talk(&format!(
                "note: `{}` has results of {other} parts, which {shards} do not use; `--shards {other}` continues them",
                folder.join(&name).display()
            )),
            _ => {}
        }
    }
}

/// An absolute path, as text.
fn path(path: &Path) -> Result<String, RunError> {
    let whole =
        absolute(path).map_err(|error| RunError::request(format!("`{}`: {error}", path.display())))?;
    // Without the dot at the end of that of `.`.
    let whole: PathBuf = whole.components().collect();
    match whole.to_str().filter(|text| !text.contains('\n')) {
        Some(text) => Ok(text.to_owned()),
        None => Err(RunError::request(format!("a script cannot name `{}`", whole.display()))),
    }
}

/// The folder of archive logs, which the tasks need as this process does.
#[expect(clippy::disallowed_methods, reason = "tasks get the same folder of archive logs")]
fn archive_folder() -> Option<PathBuf> {
    std::env::var_os(archive::VARIABLE).map(PathBuf::from)
}

/// What runs of the campaign take: as it was measured before for the same runs, or measured now.
fn timed(campaign: &Campaign, folder: &Path) -> Result<Timing, RunError> {
    let file = folder.join(TIMING);
    let before = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<Timing>(&text).ok());
    let (timing, when) = match before.filter(|before| before.of == campaign.hash()) {
        Some(before) => (before, "measured before"),
        None => {
            talk("runs are timed, one at a time on this machine ...");
            let timing = campaign.time_some(BUDGET);
            fs::create_dir_all(folder)
                .map_err(|error| RunError::run(format!("cannot make `{}`: {error}", folder.display())))?;
            write_whole(&file, serde_json::to_string_pretty(&timing).map_err(RunError::run)?)?;
            (timing, "measured now")
        }
    };
    let memory = timing.peak.map(|peak| format!(", and at most {}", mebibytes(peak))).unwrap_or_default();
    say(&format!(
        "{when:<16} {} of {}: {} each, the longest {}{memory}",
        timing.runs,
        counted(campaign.runs().len(), "run"),
        timing.mean.told(),
        timing.longest.told()
    ))?;
    if let Some((run, why)) = &timing.failed {
        talk(&format!("warning: run {run} failed, so its time may mean little: {why}"));
    }
    Ok(timing)
}

/// The sizes and the files, with what they are based on.
fn told(sizes: &Sizes, scripts: &[PathBuf], store: &Path) -> String {
    let Sizes { shards, runs, threads, work, time, grace, memory } = *sizes;
    let count = |count: u64, noun| counted(usize::try_from(count).unwrap_or(usize::MAX), noun);
    let memory = memory.map(|memory| format!(", {}", mebibytes(memory))).unwrap_or_default();
    format!(
        "asked for        {} of up to {}, each with {}{memory} and {}\n\
         margin           {margin} times the memory and {margin} times the {} that the runs of a task take, and {} to start and stop\n\
         scripts          {}, {}\n\
         table            {}, once all tasks and the merge have ended",
        count(shards, "task"),
        count(runs, "run"),
        count(threads.into(), "core"),
        time.told(),
        work.told(),
        (grace + Sizes::OVERHEAD).told(),
        scripts[0].display(),
        scripts[1].display(),
        store.join("results.csv").display(),
        margin = Sizes::MARGIN,
    )
}

fn mebibytes(bytes: Bytes) -> String {
    format!("{} MiB", bytes.count().div_ceil(1 << 20))
}

/// The command that submits both jobs. Where several clusters are, sbatch writes that of the job after a semicolon.
fn command(scripts: &[PathBuf]) -> String {
    let [array, merge] = [0, 1].map(|at| shell_word(&scripts[at].display().to_string()));
    format!("array=$(sbatch --parsable {array}) && sbatch --dependency=afterany:${{array%%;*}} {merge}")
}

/// Submits both jobs.
fn submit(scripts: &[PathBuf]) -> Result<(), RunError> {
    let array = sbatch(&[], &scripts[0])
        .map_err(|error| error.with_hint(format!("where SLURM is: `{}`", command(scripts))))?;
    let depends = format!("--dependency=afterany:{array}");
    let merge = sbatch(&[&depends], &scripts[1]).map_err(|error| {
        let script = shell_word(&scripts[1].display().to_string());
        error.with_hint(format!(
            "the job array {array} is submitted; `scancel {array}` takes it back, `sbatch {depends} {script}` adds the merge"
        ))
    })?;
    say(&format!(
        "submitted        job array {array}, and its merge {merge}, which begins when all tasks have ended\n\
         watch them:\n  squeue --jobs={array},{merge}"
    ))
}

/// Submits a script; returns the number of its job.
fn sbatch(options: &[&str], script: &Path) -> Result<String, RunError> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").args(options).arg(script).stdin(Stdio::null());
    let done = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            RunError::run("there is no `sbatch` on this machine; the scripts are written")
        }
        _ => RunError::run(format!("cannot start `sbatch`: {error}")),
    })?;
    let said = String::from_utf8_lossy(&done.stdout);
    let job = said.split([';', '\n']).next().unwrap_or_default().trim();
    if !done.status.success() || job.is_empty() {
        let why = String::from_utf8_lossy(&done.stderr);
        return Err(RunError::run(format!("`sbatch` refuses `{}`: {}", script.display(), why.trim())));
    }
    Ok(job.to_owned())
}
