//! `gridemu replay`

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, ValueEnum};

use super::report::Asked;
use super::{progress, say, signals, talk, trace};
use crate::experiment::{
    Anew, CheckpointPlan, Control, EstimateSource, Progress, Replay, ReplayOptions, RunError, Shaping,
    Workload,
};
use crate::formats::swf::Clean;
use crate::local::Registry;
use crate::metrics::RunSummary;
use crate::model::{InstantOrder, JobClasses, Named, Reservation};
use crate::report;
use crate::units::{Power, Price, Rate, Span, Time};

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

    /// What happens first at one instant: one scheduling pass an instant, or one an event with arrivals before ends
    #[arg(long, value_enum, default_value_t = OrderArg::Instant)]
    order: OrderArg,

    /// Let jobs run beyond their estimate, instead of killing them there as is the default
    #[arg(long)]
    overrun: bool,

    /// Submit a job its think time after the job it follows has ended (SWF columns 17 and 18)
    #[arg(long)]
    feedback: bool,

    /// Let the processors of its jobs be changed (`EP` and `RP` of a log, under a policy that processes elastic commands): from one to the whole
    /// machine, with run times in inverse proportion
    #[arg(long)]
    malleable: bool,

    /// Bound of the bounded slowdown, in seconds or with a unit
    #[arg(long, value_name = "TIME", default_value = "10 s", allow_negative_numbers = true)]
    tau: Span,

    /// Job classes of the summary: none, kettimuthu-16, kettimuthu-4, kanavallil, huang-1, huang-2, or own ones such as `cuts[run=10 min/1 h,size=1/8/32]`
    #[arg(long, value_name = "CLASSES", default_value = "none")]
    classes: JobClasses,

    /// Write jobs.csv, segments.csv and summary.json to this folder (one folder a policy inside, if there are several)
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

    /// Take snapshots into this folder, from which an interrupted replay goes on (`gridemu resume`)
    #[arg(long, value_name = "STORE")]
    checkpoint: Option<PathBuf>,

    /// How often, by the wall clock
    #[arg(long, value_name = "TIME", default_value = "30 s", requires = "checkpoint", value_parser = interval)]
    checkpoint_every: Span,

    /// Take a snapshot at this time of the run, such as `1 d`, and keep it; may be repeated
    #[arg(long, value_name = "TIME", requires = "checkpoint", value_parser = interval)]
    checkpoint_keep_at: Vec<Span>,

    /// Remove an earlier run's snapshots from the folder, instead of refusing to begin
    #[arg(long, requires = "checkpoint")]
    checkpoint_anew: bool,

    /// Also make a page of tables and pictures (`gridemu report`) [default: report.html in the output folder, or here without one]
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

    /// Which rows of a log are left out: `none` only those that cannot be run, `strict` also jobs without a requested time or larger
    /// than the machine, and cuts run times to the request (the filter of the studies on predicted run times)
    #[arg(long, value_name = "HOW", default_value = "none")]
    clean: Clean,

    /// Cut jobs of a log that are larger than the machine to its size, instead of rejecting them
    #[arg(long)]
    cap: bool,

    /// Scale the gaps between submissions so that the offered load becomes this (run times at speed 1; think times stay)
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    load: Option<f64>,

    /// Only the first N jobs, in order of submission
    #[arg(long, value_name = "N")]
    first: Option<u64>,

    /// Seed of whatever is drawn, unless the generator names its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

/// What the machine is like.
#[derive(Debug, ClapArgs)]
struct MachineArgs {
    /// Give processors in blocks of this many: sizes are rounded up, and what is given counts as used
    #[arg(long, value_name = "Q", default_value_t = 1)]
    quantum: u32,

    /// Speed of a processor; run times and estimates of the workload are at speed 1
    #[arg(long, value_name = "V", default_value = "1", value_parser = speed, allow_negative_numbers = true)]
    speed: Rate,

    /// Keep processors from the queue, from and to an instant of the workload's own clock (for a log since its start, which may be
    /// long before its first job): `7200..14400:64`, `2h..4h:64`, `10d..12d:100`; may be repeated
    #[arg(long = "reserve", value_name = "FROM..TO:PROCS", value_parser = reservation)]
    reservations: Vec<(Time, Time, u32)>,

    /// Power of an idle processor, such as `40 W`; counted from the first submission to the last end
    #[arg(long, value_name = "POWER", default_value = "0 W")]
    idle: Power,

    /// Power of a busy processor, such as `95 W`
    #[arg(long, value_name = "POWER", default_value = "0 W")]
    busy: Power,

    /// Power usage effectiveness: energy of the facility over that of its processors
    #[arg(long, value_name = "PUE", default_value = "1", value_parser = pue, allow_negative_numbers = true)]
    pue: u64,

    /// Price of a processor-hour, in whatever currency
    #[arg(long, value_name = "PRICE", default_value = "0", allow_negative_numbers = true)]
    price: Price,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum OrderArg {
    Instant,
    Event,
}

impl ShapingArgs {
    pub(super) fn shaping(&self) -> Shaping {
        Shaping {
            clean: self.clean,
            cap: self.cap,
            first: self.first,
            load: self.load,
            estimates: self.estimates.clone(),
            feedback: false,
            malleable: false,
            procs: self.procs,
            seed: self.seed,
        }
    }
}

impl Args {
    fn options(self) -> ReplayOptions {
        let reservations = (1..).zip(self.machine.reservations).map(|(number, (start, end, procs))| {
            Reservation { name: format!("reservation-{number}"), start, end, procs }
        });
        ReplayOptions {
            shaping: Shaping { feedback: self.feedback, malleable: self.malleable, ..self.shaping.shaping() },
            order: match self.order {
                OrderArg::Instant => InstantOrder::Instant,
                OrderArg::Event => InstantOrder::Event,
            },
            overrun: self.overrun,
            quantum: self.machine.quantum,
            speed: self.machine.speed,
            reservations: reservations.collect(),
            idle: self.machine.idle,
            busy: self.machine.busy,
            pue_ppm: self.machine.pue,
            price: self.machine.price,
            tau: self.tau,
            classes: self.classes,
            out: self.out,
            machines: self.machines,
            batsim: self.batsim,
            checkpoint: self.checkpoint.map(|store| CheckpointPlan {
                every: Some(Duration::from_micros(self.checkpoint_every.micros())),
                keep_at: sorted(&self.checkpoint_keep_at),
                ..CheckpointPlan::new(store)
            }),
            ..ReplayOptions::new(self.workload, self.policies)
        }
    }
}

pub(super) fn run(args: Args) -> Result<(), RunError> {
    let (json, traced) = (args.json, args.trace);
    let anew = if args.checkpoint_anew { Anew::Remove } else { Anew::Refuse };
    let asked =
        args.report.as_ref().map(|page| Asked::of(page.as_deref(), args.out.as_deref())).transpose()?;
    let mut options = args.options();
    if let Some(scratch) = asked.as_ref().and_then(Asked::scratch) {
        options.out = Some(scratch.to_owned());
    }
    let replay = Replay::new(options, Registry::standard())?;
    let several = replay.policies().len() > 1;
    let control = Control::new();
    if replay.checkpoint().is_some() {
        signals::stop_cleanly(&control);
    }
    let mut summaries: Vec<RunSummary> = Vec::new();
    for policy in replay.policies() {
        let progress = Progress::default();
        let label = policy.to_string();
        let summary = progress::shown(&label, &progress, || {
            replay.run_with_snapshots(policy, &progress, &control, anew)
        })?;
        if json {
            summary.facts.notes.iter().for_each(|note| talk(&format!("note: {note}")));
        } else {
            let apart = if summaries.is_empty() { "" } else { "\n" };
            say(&format!("{apart}{}", report::summary_table(&summary)))?;
        }
        summaries.push(summary);
        if let Some(folder) = replay.folder(policy).filter(|_| traced) {
            trace::write(&folder)?;
        }
    }
    if let Some(asked) = &asked {
        let folders: Vec<PathBuf> =
            replay.policies().iter().filter_map(|policy| replay.folder(policy)).collect();
        asked.write(&folders)?;
    }
    if json {
        let text = report::json(&summaries).map_err(RunError::run)?;
        say(&text)?;
    } else if several {
        say(&format!("\n{}", report::comparison_table(&summaries)))?;
    }
    Ok(())
}

fn speed(written: &str) -> Result<Rate, String> {
    let value: f64 = written.parse().map_err(|_| "it is not a number".to_owned())?;
    // In steps of 2⁻²⁰: from a thousandth on, a speed is right to a thousandth.
    let rate = Rate::from_f64(value).filter(|_| (0.001..=1e6).contains(&value));
    rate.ok_or_else(|| "it must be above 0: from 0.001 to 1000000".to_owned())
}

fn sorted(times: &[Span]) -> Vec<Time> {
    let mut times: Vec<Time> = times.iter().map(|span| Time::ZERO + *span).collect();
    times.sort_unstable();
    times.dedup();
    times
}

fn interval(written: &str) -> Result<Span, String> {
    let span: Span = written.parse().map_err(|error: crate::units::UnitError| error.to_string())?;
    if span.is_zero() { Err("snapshots all the time leave no time for the run".to_owned()) } else { Ok(span) }
}

fn pue(written: &str) -> Result<u64, String> {
    let value: f64 = written.parse().map_err(|_| "it is not a number".to_owned())?;
    if (1.0..=10.0).contains(&value) {
        Ok((value * 1e6).round() as u64)
    } else {
        Err("it must be from 1 to 10".to_owned())
    }
}

fn reservation(written: &str) -> Result<(Time, Time, u32), String> {
    let form = || format!("`{written}` is not of the form FROM..TO:PROCS, such as `2h..4h:64`");
    let (window, procs) = written.rsplit_once(':').ok_or_else(form)?;
    let (from, to) = window.split_once("..").ok_or_else(form)?;
    let time =
        |text: &str| text.parse::<Span>().map(|span| Time::ZERO + span).map_err(|error| error.to_string());
    Ok((time(from)?, time(to)?, procs.trim().parse().map_err(|_| form())?))
}
