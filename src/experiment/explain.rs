//! Why did a job not start before it did? The run of a folder is built anew and run to the job's submission, then one instant after
//! the other until it starts; at each the policy of the site where it waits is asked.

mod stretches;
mod watch;

use super::{Progress, RunError, StoredRun, rerun};
use crate::broker::BrokerRegistry;
use crate::entity::Site;
use crate::grid::{Grid, Leg, Merge, WindowOptions};
use crate::local::Registry;
use crate::model::{JobId, Origin};
use crate::report::{Explained, JobRow, RunFolder};
use crate::units::{Span, Time};
use stretches::Stretches;
use watch::{Place, Watch};

/// Which job, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplainOptions {
    /// Its number.
    pub job: u64,
    /// Whose job it is, where several have the number.
    pub origin: Option<Origin>,
    /// The site at which it ended, where several have the number.
    pub site: Option<String>,
    /// The instant asked about; the whole wait if there is none.
    pub at: Option<Time>,
}

/// After so many questions only every second instant is looked at, after as many again every fourth, and so on.
const LOOKS: u64 = 8_192;

/// Explains the wait of a job of the run that left `folder`.
///
/// # Errors
/// [`RunError::Request`] if there is no such job, or the folder does not say what was run; [`RunError::Run`] if the run breaks.
pub fn explain(
    folder: &RunFolder,
    options: &ExplainOptions,
    registry: &Registry,
    brokers: &BrokerRegistry,
    progress: &Progress,
) -> Result<Explained, RunError> {
    let row = find(folder, options)?;
    let stored = rerun(folder, registry.clone(), brokers.clone())?;
    let (mut grid, until, alone) = match &stored {
        StoredRun::Run(run) => (run.begun(progress)?, run.scenario().meaning.until, false),
        StoredRun::Replay(replay) => (replay.begun(progress)?, None, true),
    };
    let site = grid.sites().find(|site| site.spec().name == *row.site).map(Site::id);
    let mut watch = Watch::new(JobId(row.job), row.origin, site.filter(|_| row.origin == Origin::Own));
    let mut explained = Explained {
        job: told(&row, grid.sites().len() > 1),
        submit_s: row.submit.as_secs_f64(),
        start_s: row.start.map(Time::as_secs_f64),
        end_s: row.end.as_secs_f64(),
        outcome: row.outcome.name().to_owned(),
        requested: row.requested,
        stretches: Vec::new(),
        instead: None,
        looks: 0,
        notes: Vec::new(),
    };
    let cut = options.at.map_or(row.submit, |at| at + Span::TICK);
    let mut merge = Merge::new(grid.nodes().len());
    let ran = if alone {
        grid.replay_leg(Some(cut), None, &mut watch)
    } else {
        grid.run_leg(until, Some(cut), WindowOptions::default(), &mut merge, &mut watch)
    };
    let leg = ran.map_err(|error| RunError::from_running(&error))?;
    if let Some(at) = options.at {
        return at_instant(&grid, &mut watch, &row, at, leg, explained);
    }
    let mut stretches = Stretches::default();
    let last = row.start.unwrap_or(row.end);
    let (mut every, mut looks, mut seen) = (1, 0, 0_u64);
    let mut started = None;
    while let Some(next) = grid.next_event().filter(|next| next.time <= last) {
        grid.step(&mut watch).map_err(|error| RunError::from_running(&error))?;
        let now = next.time;
        // Several rounds may belong to one instant.
        if grid.next_event().is_some_and(|after| after.time == now) {
            continue;
        }
        seen += 1;
        let place = watch.find(&grid);
        if let Place::Runs { .. } | Place::Over = place {
            started = Some(watch.started.unwrap_or(now));
            stretches.end(now);
            break;
        }
        if seen.is_multiple_of(every) || stretches.is_elsewhere(&place) {
            stretches.look(&grid, &place, now);
            looks += 1;
            if looks >= LOOKS {
                (every, looks) = (every * 2, 0);
            }
        }
    }
    stretches.end(last);
    explained.looks = stretches.looks;
    explained.stretches = stretches.into_told();
    if every > 1 {
        explained.notes.push(format!(
            "the policy was asked at every instant at first, and at every {every}th in the end: shorter changes of the reason may be missing"
        ));
    }
    compare(&row, started, &mut explained);
    Ok(explained)
}

/// The state right after what happens at an instant.
fn at_instant(
    grid: &Grid,
    watch: &mut Watch,
    row: &JobRow,
    at: Time,
    leg: Leg,
    mut explained: Explained,
) -> Result<Explained, RunError> {
    let place = watch.find(grid);
    let mut stretches = Stretches::default();
    let secs = |time: Time| format!("{time} s");
    explained.instead = match &place {
        Place::Runs { place, since } => {
            Some(format!("at {} it runs at {place}, since {}", secs(at), secs(*since)))
        }
        Place::Over => Some(format!("at {} it has ended", secs(at))),
        Place::Nowhere if at < row.submit => {
            Some(format!("at {} it has not been submitted: it comes at {}", secs(at), secs(row.submit)))
        }
        Place::Nowhere if leg == Leg::Over && at > row.end => {
            Some(format!("at {} the run is over", secs(at)))
        }
        _ => {
            stretches.look(grid, &place, at);
            None
        }
    };
    explained.looks = stretches.looks;
    stretches.end(at);
    explained.stretches = stretches.into_told();
    if row.start.is_none_or(|start| start > at) && matches!(place, Place::Runs { .. }) {
        compare(row, watch.started, &mut explained);
    }
    Ok(explained)
}

/// Whether the run built anew is the one of the folder, as far as this job tells.
fn compare(row: &JobRow, started: Option<Time>, explained: &mut Explained) {
    if started != row.start {
        let word = |time: Option<Time>| time.map_or("never".to_owned(), |time| format!("at {time} s"));
        explained.notes.push(format!(
            "run again, the job starts {}, and by the folder {}: the folder is of another version of gridemu, of another log, or was given commands; this explains the run as it is now",
            word(started),
            word(row.start)
        ));
    }
}

/// The row of the job.
fn find(folder: &RunFolder, options: &ExplainOptions) -> Result<JobRow, RunError> {
    let mut found: Vec<JobRow> = Vec::new();
    let (mut least, mut most) = (u64::MAX, 0);
    for row in folder.jobs()? {
        let row = row?;
        (least, most) = (least.min(row.job), most.max(row.job));
        let origin = options.origin.is_none_or(|origin| origin == row.origin);
        let site = options.site.as_deref().is_none_or(|site| site == &*row.site);
        if row.job == options.job && origin && site {
            found.push(row);
        }
    }
    let table = folder.jobs_path().display();
    match found.len() {
        1 => found.pop().ok_or_else(|| RunError::request("no job")),
        0 => Err(RunError::request(format!("there is no such job {} in `{table}`", options.job)).with_hint(
            match least > most {
                true => "there is no job in it at all".to_owned(),
                false => format!("its jobs have numbers from {least} to {most}"),
            },
        )),
        many => {
            let each: Vec<String> =
                found.iter().map(|row| format!("{} at {}", row.origin.name(), row.site)).collect();
            Err(RunError::request(format!(
                "{many} jobs in `{table}` have the number {}: {}",
                options.job,
                each.join(", ")
            ))
            .with_hint("say which: `--origin local|grid`, and `--site S` for a local one"))
        }
    }
}

fn told(row: &JobRow, several: bool) -> String {
    match row.origin {
        Origin::Own if several => format!("local job {} of {}", row.job, row.site),
        Origin::Own => format!("job {}", row.job),
        Origin::Sent => format!("grid job {}", row.job),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_without_jobs_has_no_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let header = "job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin\n";
        let table = dir.path().join("jobs.csv");
        let asked = |text: &str| {
            std::fs::write(&table, text).unwrap();
            let options = ExplainOptions { job: 7, ..ExplainOptions::default() };
            find(&RunFolder::open(&table).unwrap(), &options).unwrap_err()
        };
        assert_eq!(asked(header).hint(), Some("there is no job in it at all"));
        let one = format!("{header}3,0,0,1,1,here,completed,1,1,1,0,1,1,-1,all,1,0,0,,p,local\n");
        assert_eq!(asked(&one).hint(), Some("its jobs have numbers from 3 to 3"));
    }
}
