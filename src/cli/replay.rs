//! `gridemu replay`

mod values;

use std::path::PathBuf;

use clap::Args as ClapArgs;

use self::values::{Typed, Wanted, former, interval, power, pue, reservation, speed};
use super::report::PageOfRun;
use super::run::after;
use super::{progress, say, signals, talk, trace};
use crate::experiment::workload::read_once;
use crate::experiment::{Anew, Control, Progress, ReplayScenario, Run, RunError};
use crate::formats::swf::Clean;
use crate::grid::Policies;
use crate::metrics::GridSummary;
use crate::model::{JobClasses, MachineGroup, Named};
use crate::report;
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::{EstimateSource, Override, Shaping, Workload};
use crate::units::{Power, Price, Rate, Span, Time};
use crate::workload::{Factor, MalleableSpec};

const EXAMPLES: &str = "\
Examples:
  gridemu replay 'lublin[jobs=10000,load=0.8]' --policy easy
  gridemu replay KTH-SP2-1996-2.1-cln.swf.gz --policy fcfs --policy easy --policy conservative
  gridemu replay log.swf.gz --policy 'easy[order=sjf]' --estimates exact --classes kettimuthu-16 --out results";

#[derive(Debug, ClapArgs)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// A log in SWF or CWF (plain or gzipped), a Batsim workload (.json), `-` for a log on standard input, or a generator: `lublin[jobs=N,load=L,...]`, `poisson[...]`, `cwf[...]`
    #[arg(value_name = "LOG|MODEL[...]")]
    workload: Workload,

    /// A local policy, such as `easy[order=sjf]`; several run side by side (see `gridemu policies`)
    #[arg(long = "policy", value_name = "POLICY", required = true)]
    policies: Vec<Named>,

    #[command(flatten)]
    shaping: ShapingArgs,

    #[command(flatten)]
    machine: MachineArgs,

    /// Order within an instant: one scheduling pass per instant, or one per event with arrivals before ends
    #[arg(long, value_parser = ["instant", "event"], default_value = "instant")]
    order: String,

    /// Let jobs run beyond their estimate, instead of killing them there
    #[arg(long)]
    overrun: bool,

    /// Submit a job its think time after the end of the preceding job (SWF columns 17 and 18)
    #[arg(long)]
    feedback: bool,

    /// Make jobs malleable: commands may change their processors (`EP` and `RP` of a log, under a policy that processes elastic commands): from one to the whole
    /// machine, with run times in inverse proportion
    #[arg(long)]
    malleable: bool,

    /// Bound of the bounded slowdown, in seconds or with a unit
    #[arg(long, value_name = "TIME", default_value = "10 s", allow_negative_numbers = true)]
    tau: Span,

    /// Job classes of the summary: none, kettimuthu-16, kettimuthu-32, kettimuthu-4, kettimuthu-estimates, kanavallil, huang-1, huang-2, or own ones such as
    /// `cuts[run=10 min/1 h,size=1/8/32]`
    #[arg(long, value_name = "CLASSES", default_value = "none")]
    classes: JobClasses,

    /// Write jobs.csv, segments.csv, events.csv, summary.json and scenario.toml to this folder (one folder per policy inside, if there are several)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Also write machines.csv, the changes of machine state
    #[arg(long, requires = "out")]
    machines: bool,

    /// Also write batsim/out_jobs.csv, in Batsim's columns
    #[arg(long, requires = "out")]
    batsim: bool,

    /// Also write trace.json, which Perfetto and chrome://tracing open
    #[arg(long, requires = "out")]
    trace: bool,

    /// Store snapshots in this folder, for `gridemu resume`
    #[arg(long, value_name = "STORE")]
    checkpoint: Option<PathBuf>,

    /// Interval of snapshots, in wall-clock time
    #[arg(long, value_name = "TIME", default_value = "30 s", requires = "checkpoint", value_parser = interval)]
    checkpoint_every: Span,

    /// Take a snapshot at this time of the run, such as `1 d`, and keep it; may be repeated
    #[arg(long, value_name = "TIME", requires = "checkpoint", value_parser = interval)]
    checkpoint_keep_at: Vec<Span>,

    /// Remove an earlier run's snapshots from the folder, instead of refusing to start
    #[arg(long, requires = "checkpoint")]
    checkpoint_anew: bool,

    /// Also make an HTML page with tables and figures (`gridemu report`) [default: report.html in the output folder, or here without one]
    #[arg(long, value_name = "FILE.html", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,

    /// Print the summary as JSON: an object for one policy, an array for several
    #[arg(long)]
    json: bool,
}

/// What is done to the workload.
#[derive(Debug, ClapArgs)]
pub(super) struct ShapingArgs {
    /// Processors of the machine [default: what the workload says]
    #[arg(long, value_name = "N")]
    procs: Option<u32>,

    /// Where estimates come from: log (a job without one gets its run time), exact, factor:F (run time times F) or tsafrir (a
    /// model of users)
    #[arg(long, value_name = "HOW", default_value = "log")]
    estimates: EstimateSource,

    /// Which rows of a log are skipped: `none` only those that cannot be run, `strict` also jobs without a requested time or larger
    /// than the machine, and cuts run times to the request (the filter of the studies on predicted run times)
    #[arg(long, value_name = "HOW", default_value = "none")]
    clean: Clean,

    /// Reduce jobs of a log that are larger than the machine to its size, instead of rejecting them
    #[arg(long)]
    cap: bool,

    /// Scale the gaps between submissions so that the offered load becomes this (run times at speed 1; think times stay)
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    load: Option<f64>,

    /// Divide arrival times by this, such as `1.2` for a load 1.2 times as high: the gaps between submissions are divided
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    load_factor: Option<Factor>,

    /// Leave out the first N jobs, in order of submission; the others keep their times
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    skip: u64,

    /// Only the first N jobs, in order of submission, of those that `--skip` leaves
    #[arg(long, value_name = "N")]
    first: Option<u64>,

    /// Seed of all random draws, unless the generator has its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// What the machine is like.
#[derive(Debug, ClapArgs)]
struct MachineArgs {
    /// Allocate processors in multiples of this number: sizes are rounded up, and allocated processors count as used
    #[arg(long, value_name = "Q", default_value_t = 1)]
    allocation_unit: u32,

    /// The former name of `--allocation-unit`
    #[arg(long = "quantum", hide = true, value_parser = former)]
    _quantum: Option<u32>,

    /// Speed of a processor; run times and estimates of the workload are at speed 1
    #[arg(long, value_name = "V", default_value = "1", value_parser = speed, allow_negative_numbers = true)]
    speed: Rate,

    /// Reserve processors, from and to an instant of the workload's own clock (for a log since its start, which may be
    /// long before its first job): `7200..14400:64`, `2h..4h:64`, `10d..12d:100`; for the job of that number alone `2h..4h:64:1207`; may be repeated
    #[arg(long = "reserve", value_name = "FROM..TO:PROCS[:JOB]", value_parser = reservation)]
    reservations: Vec<Typed<Wanted>>,

    /// Power of an idle processor, such as `40 W/core`; counted from the first submission to the last end
    #[arg(long, value_name = "POWER", default_value = "0 W/core", value_parser = power)]
    idle: Typed<Power>,

    /// Power of a busy processor, such as `95 W/core`
    #[arg(long, value_name = "POWER", default_value = "0 W/core", value_parser = power)]
    busy: Typed<Power>,

    /// Power usage effectiveness: energy of the facility over that of its processors
    #[arg(long, value_name = "PUE", default_value = "1", value_parser = pue, allow_negative_numbers = true)]
    pue: u64,

    /// Price of a processor-hour, in any currency
    #[arg(long, value_name = "PRICE", default_value = "0", allow_negative_numbers = true)]
    price: Price,
}

impl ShapingArgs {
    pub(super) fn shaping(&self) -> Shaping {
        Shaping {
            clean: self.clean,
            cap: self.cap,
            skip: self.skip,
            first: self.first,
            load: self.load,
            load_factor: self.load_factor,
            estimates: self.estimates.clone(),
            feedback: false,
            malleable: None,
            procs: self.procs,
            seed: self.seed,
        }
    }
}

impl Args {
    /// Converts the options to the keys of the scenario that they stand for, so they become part of it.
    fn overrides(&self) -> Vec<Override> {
        let mut overrides = Vec::new();
        let mut set = |typed: &str, key: &str, value: &str| {
            overrides.push(Override::typed(typed, key, value));
        };
        let flags = [
            ("--overrun", "site.site.overrun", self.overrun),
            ("--machines", "output.machines", self.machines),
            ("--batsim", "output.batsim", self.batsim),
        ];
        for (option, key, _) in flags.iter().filter(|(.., given)| *given) {
            set(option, key, "true");
        }
        let (machine, plain) = (&self.machine, MachineGroup::plain("", 1));
        let class = "site.site.machines.default";
        let powered = machine.idle.value != plain.idle || machine.busy.value != plain.busy;
        for (option, power) in [("idle", &machine.idle), ("busy", &machine.busy)] {
            if powered {
                let (typed, key) = (format!("--{option} {}", power.typed), format!("{class}.{option}"));
                set(&typed, &key, &format!("{}/core", power.value));
            }
        }
        let pue = machine.pue as f64 / 1e6;
        let values = [
            ("--order", "site.site.order", self.order.clone()),
            ("--tau", "tau", self.tau.text()),
            ("--classes", "classes", self.classes.name().to_owned()),
            ("--allocation-unit", &format!("{class}.allocation_unit"), machine.allocation_unit.to_string()),
            ("--pue", "site.site.pue", pue.to_string()),
            ("--price", &format!("{class}.price"), machine.price.text()),
        ];
        for (option, key, value) in values {
            set(&format!("{option} {value}"), key, &value);
        }
        if !machine.reservations.is_empty() {
            let none = vec!["{}"; machine.reservations.len()];
            set("--reserve", "site.site.reservation", &format!("[{}]", none.join(", ")));
        }
        let secs = |time: Time| time.since(Time::ZERO).text();
        for (at, Typed { typed, value: (from, to, procs, job) }) in machine.reservations.iter().enumerate() {
            let (key, (from, to)) = (format!("site.site.reservation[{at}]"), (secs(*from), secs(*to)));
            let job = job.map(|job| format!(", job = {job}")).unwrap_or_default();
            let value = format!("{{ from = \"{from}\", to = \"{to}\", procs = {procs}{job} }}");
            set(&format!("--reserve {typed}"), &key, &value);
        }
        if let Some(store) = &self.checkpoint {
            set("--checkpoint-every", "checkpoint.every", &self.checkpoint_every.text());
            let keep: Vec<String> =
                self.checkpoint_keep_at.iter().map(|time| format!("{:?}", time.text())).collect();
            set("--checkpoint-keep-at", "checkpoint.keep_at", &format!("[{}]", keep.join(", ")));
            overrides.push(Override::path("--checkpoint", "checkpoint.store", store));
        }
        overrides
    }

    /// The folder for the files of one policy.
    fn folder(&self, policy: &Named) -> Option<PathBuf> {
        let out = self.out.as_ref()?;
        if self.policies.len() == 1 {
            return Some(out.clone());
        }
        // Brackets and commas are awkward to type in a shell.
        let plain: String = policy.to_string().replace(['[', ','], "-").replace([']', ' '], "");
        Some(out.join(plain))
    }

    /// A run for each policy; their scenarios are otherwise equal.
    ///
    /// # Errors
    /// Returns `RunErrorKind::Request` if one of them cannot be run.
    fn runs(&self, policies: &Policies) -> Result<Vec<Run>, RunError> {
        for (at, policy) in self.policies.iter().enumerate() {
            if self.policies[..at].contains(policy) {
                return Err(RunError::request(format!("the policy `{policy}` is given twice")));
            }
        }
        let several = self.policies.len() > 1;
        if several && self.workload.is_once() {
            let name = match &self.workload {
                Workload::File(path) => path.display().to_string(),
                _ => "standard input".to_owned(),
            };
            return Err(read_once(name, "several policies need"));
        }
        if several && self.checkpoint.is_some() {
            return Err(RunError::request("a store holds one run, and there are several policies")
                .with_hint("replay each policy with its own `--checkpoint`"));
        }
        if self.checkpoint.is_some() && self.workload.is_once() {
            return Err(RunError::request("a workload that can be read only once cannot be resumed")
                .with_hint("give it as a file, or leave `--checkpoint` out"));
        }
        let malleable = self.malleable.then(MalleableSpec::default);
        let shaping = Shaping { feedback: self.feedback, malleable, ..self.shaping.shaping() };
        let (workload, speed) = (self.workload.clone(), self.machine.speed);
        let replay = ReplayScenario { workload, shaping, speed };
        let overrides = self.overrides();
        let run = |policy: &Named| {
            let mut sets = overrides.clone();
            sets.push(Override::option("--policy", "site.site.policy", &policy.to_string()));
            sets.extend(self.folder(policy).map(|folder| Override::path("--out", "output.folder", &folder)));
            replay.run(&sets, policies)
        };
        self.policies.iter().map(run).collect()
    }
}

pub(super) fn run(mut args: Args, policies: &Policies) -> Result<(), RunError> {
    let json = args.json;
    let anew = if args.checkpoint_anew { Anew::Remove } else { Anew::Refuse };
    let page = PageOfRun::requested(args.report.as_ref(), args.out.as_deref())?;
    if let Some(scratch) = page.as_ref().and_then(PageOfRun::scratch) {
        args.out = Some(scratch.to_owned());
    }
    let after = after(args.trace, page.as_ref(), args.checkpoint.is_some())?;
    let runs = args.runs(policies)?.into_iter().map(|run| run.followed_by(after.clone()));
    let runs: Vec<Run> = runs.collect();
    // Until here, Ctrl-C ends the process: reading may wait for standard input.
    let control = Control::new();
    signals::stop_cleanly(&control, args.checkpoint.is_some());
    let several = runs.len() > 1;
    if let Some(scratch) = page.as_ref().and_then(PageOfRun::scratch) {
        signals::remove_at_end(scratch);
    }
    let mut summaries: Vec<GridSummary> = Vec::new();
    let mut ended = Ok(());
    for (policy, run) in args.policies.iter().zip(&runs) {
        let progress = Progress::default();
        let label = policy.to_string();
        let summary =
            progress::shown(&label, &progress, || run.run_with_snapshots(&progress, &control, anew, None));
        let summary = match summary {
            Ok(summary) => summary,
            Err(error) => {
                ended = Err(PageOfRun::without_scratch(page.as_ref(), error));
                break;
            }
        };
        if json {
            summary.facts.notes.iter().for_each(|note| talk(&format!("note: {note}")));
        } else {
            let apart = if summaries.is_empty() { "" } else { "\n" };
            say(&format!("{apart}{}", report::grid_tables(&summary, report::Detail::Headline)))?;
        }
        summaries.push(summary);
    }
    // The result comes first, of the policies before one that failed or was stopped too: whatever fails after it loses nothing.
    if json && several && !summaries.is_empty() {
        say(&serde_json::to_string_pretty(&summaries).map_err(RunError::run)?)?;
    } else if json && ended.is_ok() {
        say(&report::json(&summaries).map_err(RunError::run)?)?;
    } else if summaries.len() > 1 {
        say(&format!("\n{}", report::comparison_table(&summaries)))?;
    }
    ended?;
    let folders: Vec<PathBuf> = args.policies.iter().filter_map(|policy| args.folder(policy)).collect();
    if args.trace {
        folders.iter().try_for_each(|folder| trace::write(folder))?;
    }
    page.map_or(Ok(()), |page| page.write(&folders, policies))
}
