//! `gridemu generate`

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::{talk, unless_closed};
use crate::experiment::RunError;
use crate::formats::swf::{self, Heading};
use crate::formats::{cwf, wfformat};
use crate::model::{Named, NamedError};
use crate::output::{files, hint_for};
use crate::scenario::{listed, near};
use crate::workflow::Workflow;
use crate::workflow::shapes::ShapeSpec;
use crate::workload::cwf::CwfSpec;
use crate::workload::huang::HuangSpec;
use crate::workload::lublin::{LublinSpec, Pace};
use crate::workload::poisson::PoissonSpec;
use crate::workload::{Drawn, Generated, Generator, Source, SourceError, Spec};

/// Bytes that are written at a time.
const BLOCK: usize = 1 << 16;

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  gridemu generate 'lublin[jobs=1000,load=0.7,seed=7]' > lublin.swf\n  gridemu generate lublin jobs=1000 procs=256 types=typed -o lublin.swf\n  gridemu generate 'poisson[jobs=1000,every=2 s,size=1..32,runtime=exponential[mean=10 min]]'\n  gridemu generate cwf jobs=500 load=0.9 ps=0.2 pd=0.5 pe=0.2 pr=0.1 -o cloud.cwf\n  gridemu generate montage tasks=1000 -o montage.json"
)]
pub(super) struct Args {
    /// The model: `lublin`, `poisson`, `huang` or `cwf`, with its parameters in brackets or as the next arguments. The first three are
    /// written as SWF (of `huang` with the sizes that jobs prefer), the last as CWF. Or a workflow, written as WfFormat 1.5: `bag`, `fork-join`, `pipeline`, `layered`, `montage` or
    /// `epigenomics`
    #[arg(value_name = "MODEL")]
    model: Named,

    /// Parameters, as `key=value`
    #[arg(value_name = "KEY=VALUE")]
    params: Vec<String>,

    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<(), RunError> {
    let mut named = args.model.clone();
    for pair in &args.params {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| RunError::request(format!("`{pair}` is not of the form key=value")))?;
        if named.params.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(RunError::request(NamedError::Twice {
                key: key.to_owned(),
                written: named.to_string(),
            }));
        }
    }
    // The default seed of `replay`, so that a generated log and a run of the same model have the same jobs.
    named.params.entry("seed".to_owned()).or_insert_with(|| "1".to_owned());
    let made = model(named)?;
    match &args.output {
        Some(path) => {
            let place = |error: &io::Error| format!("cannot write `{}`: {error}", path.display());
            let file = files::create(path)
                .map_err(|error| RunError::request(place(&error)).with_hint(hint_for(error.kind())))?;
            write(made, BufWriter::with_capacity(BLOCK, file))
                .map_err(|error| RunError::run(place(&error)).with_hint(hint_for(error.kind())))?
                .map_err(RunError::from_reading)
        }
        None => {
            if io::stdout().is_terminal() {
                talk("writing to the terminal; `-o FILE` or `> FILE` puts it into a file");
            }
            let mut generated = Ok(());
            unless_closed(write(made, io::stdout().lock()).map(|done| generated = done))?;
            generated.map_err(RunError::from_reading)
        }
    }
}

/// What is lost of moldable and malleable jobs.
const RIGID: &str = "SWF has one size of a job: of moldable and malleable ones this is the size that they prefer, and a replay of the log has rigid jobs";

/// What a model gives.
enum Made {
    Jobs(Box<dyn Source>, Log),
    Workflow(Workflow),
}

/// A log to be written.
struct Log {
    heading: Heading,
    /// The writer of a log in the cloud workload format; other logs are SWF.
    cwf: Option<cwf::Writer>,
}

/// The jobs of a model, and the log that they go to, or its workflow.
fn model(named: Named) -> Result<Made, RunError> {
    let swf = |heading| Log { heading, cwf: None };
    match named.name.as_str() {
        LublinSpec::NAME => {
            let (jobs, heading) = drawn::<LublinSpec>(named, "model of Lublin and Feitelson")?;
            Ok(Made::Jobs(Box::new(jobs), swf(heading)))
        }
        PoissonSpec::NAME => {
            let (jobs, heading) = drawn::<PoissonSpec>(named, "jobs with exponential gaps")?;
            Ok(Made::Jobs(Box::new(jobs), swf(heading)))
        }
        HuangSpec::NAME => {
            let (jobs, mut heading) = drawn::<HuangSpec>(named, "workload of Huang 2004")?;
            // What SWF cannot say is not lost without a word.
            heading.notes.push(RIGID.to_owned());
            Ok(Made::Jobs(Box::new(jobs), swf(heading)))
        }
        CwfSpec::NAME => {
            let (jobs, mut heading) = drawn::<CwfSpec>(named, "generator of Kumar et al. 2012")?;
            if let Pace::Load(_) = jobs.spec().pace {
                let (barr, scale) = (jobs.barr(), jobs.scale());
                let found = format!("for the load: barr={barr}, and arrival times multiplied by {scale}");
                heading.notes.push(found);
            }
            // The number of commands is only known when all of them have been drawn.
            heading.max_records = None;
            Ok(Made::Jobs(Box::new(jobs), Log { heading, cwf: Some(cwf::Writer::default()) }))
        }
        shape if ShapeSpec::names(shape) => {
            let spec = ShapeSpec::from_named(named).map_err(RunError::request)?;
            spec.workflow(1).map(Made::Workflow).map_err(RunError::request)
        }
        name => {
            let known: Vec<&str> = [LublinSpec::NAME, PoissonSpec::NAME, HuangSpec::NAME, CwfSpec::NAME]
                .into_iter()
                .chain(ShapeSpec::all())
                .collect();
            let (near, listed) = (near(name, known.iter().copied()), listed(known));
            Err(RunError::request(format!("there is no model `{name}`{near}; there are {listed}")))
        }
    }
}

/// The jobs of the generator `G`, and the header of a log of them.
fn drawn<G: Generator>(named: Named, computer: &str) -> Result<(Generated<G>, Heading), RunError> {
    let spec = G::from_named(named).map_err(RunError::request)?;
    let Drawn { jobs, procs, .. } = spec.drawn();
    let heading = Heading {
        computer: computer.to_owned(),
        max_procs: Some(procs),
        max_jobs: Some(jobs),
        max_records: Some(jobs),
        notes: vec![
            format!("generated by gridemu {}", env!("CARGO_PKG_VERSION")),
            spec.to_named().to_string(),
        ],
        unix_start: 0,
    };
    Ok((Generated::new(spec, 1, "").map_err(RunError::request)?, heading))
}

fn write(made: Made, mut out: impl Write) -> io::Result<Result<(), SourceError>> {
    let (mut jobs, mut log) = match made {
        Made::Jobs(jobs, log) => (jobs, log),
        Made::Workflow(workflow) => {
            let mut blocks = BufWriter::with_capacity(BLOCK, out);
            wfformat::write(&workflow, &mut blocks)?;
            return blocks.flush().map(Ok);
        }
    };
    let mut block = Vec::with_capacity(2 * BLOCK);
    let Log { heading, cwf } = &mut log;
    match cwf {
        Some(_) => cwf::write_header(&mut block, heading),
        None => swf::write_header(&mut block, heading),
    }
    loop {
        match (jobs.next_job(), &mut *cwf) {
            (Ok(Some(job)), Some(writer)) => writer.write_job(&mut block, &job),
            (Ok(Some(job)), None) => swf::write_job(&mut block, &job),
            (Ok(None), _) => break,
            (Err(error), _) => return Ok(Err(error)),
        }
        if block.len() >= BLOCK {
            out.write_all(&block)?;
            block.clear();
        }
    }
    if let Some(writer) = cwf {
        writer.finish(&mut block);
    }
    out.write_all(&block)?;
    out.flush()?;
    jobs.notes().iter().for_each(|note| talk(&format!("note: {note}")));
    Ok(Ok(()))
}
