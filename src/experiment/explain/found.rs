//! Finds the row of the job to explain.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ExplainOptions;
use crate::experiment::RunError;
use crate::model::{Origin, nearest};
use crate::output::{JobRow, RunFolder};
use crate::scenario::listed;

/// The row of the job to explain.
///
/// # Errors
/// `RunErrorKind::Request` if no job or several jobs fit, with a hint at the likely one.
pub(super) fn find(folder: &RunFolder, options: &ExplainOptions) -> Result<JobRow, RunError> {
    // The rows with the number, and the other numbers, sites and origins for the hint.
    let mut numbered: Vec<JobRow> = Vec::new();
    let mut sites: BTreeSet<Arc<str>> = BTreeSet::new();
    let mut origins = [false; 2];
    let (mut least, mut most) = (u64::MAX, 0);
    for row in folder.jobs()? {
        let row = row?;
        (least, most) = (least.min(row.job), most.max(row.job));
        origins[usize::from(row.origin == Origin::Grid)] = true;
        if options.site.is_some() && !sites.contains(&row.site) {
            sites.insert(Arc::clone(&row.site));
        }
        if row.job == options.job {
            // A task that ran again has several rows, of which the last one tells all.
            numbered.retain(|before: &JobRow| (before.origin, row.origin) != (Origin::Grid, Origin::Grid));
            numbered.push(row);
        }
    }
    let table = folder.jobs_path().display();
    if least > most {
        let said = format!("there is no job {} in `{table}`", options.job);
        return Err(RunError::request(said).with_hint("there is no job in it at all"));
    }
    if let Some(site) = options.site.as_deref().filter(|site| !sites.contains(*site)) {
        let said = format!("no job in `{table}` ended at a site `{site}`");
        let near = nearest(site, sites.iter().map(|known| &**known));
        return Err(RunError::request(said).with_hint(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("its jobs ended at {}", listed(sites.iter().map(|site| &**site))),
        }));
    }
    if let Some(origin) = options.origin.filter(|origin| !origins[usize::from(*origin == Origin::Grid)]) {
        let (whose, others) = match origin {
            Origin::Grid => ("of the grid", "all are local: omit `--origin`, or use `--origin local`"),
            Origin::Local => ("of a site's own users", "all came through the broker: omit `--origin`"),
        };
        return Err(RunError::request(format!("there are no jobs {whose} in `{table}`")).with_hint(others));
    }
    if numbered.is_empty() {
        let said = format!("there is no job {} in `{table}`", options.job);
        return Err(
            RunError::request(said).with_hint(format!("its jobs have numbers from {least} to {most}"))
        );
    }
    let fits = |row: &JobRow| {
        options.origin.is_none_or(|origin| origin == row.origin)
            && options.site.as_deref().is_none_or(|site| site == &*row.site)
    };
    let each = |rows: &[JobRow]| {
        let told = rows.iter().map(|row| match row.origin {
            Origin::Local => format!("local at {}", place(row)),
            Origin::Grid => format!("of the grid, at {}", place(row)),
        });
        told.collect::<Vec<String>>().join("; ")
    };
    let known = each(&numbered);
    numbered.retain(fits);
    match numbered.len() {
        1 => numbered.pop().ok_or_else(|| RunError::request("no job")),
        0 => {
            Err(RunError::request(format!("job {} in `{table}` is another one: it is {known}", options.job))
                .with_hint("give its `--origin` and its `--site`, or omit them"))
        }
        many => Err(RunError::request(format!(
            "{many} jobs in `{table}` have the number {}: {}",
            options.job,
            each(&numbered)
        ))
        .with_hint("select one with `--origin local|grid`, and `--site S` for a local one")),
    }
}

fn place(row: &JobRow) -> &str {
    match &*row.site {
        "" => "the only site",
        "grid" => "no site",
        site => site,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "job,submit,start,end,procs,site,outcome,requested,run,estimate,wait,response,bsld,user,class,attempts,energy_j,cost,reason,partition,origin\n";

    #[test]
    fn a_table_without_jobs_has_no_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let table = dir.path().join("jobs.csv");
        let asked = |text: &str| {
            std::fs::write(&table, text).unwrap();
            let options = ExplainOptions { job: 7, ..ExplainOptions::default() };
            find(&RunFolder::open(&table).unwrap(), &options).unwrap_err()
        };
        assert_eq!(asked(HEADER).hint(), Some("there is no job in it at all"));
        let one = format!("{HEADER}3,0,0,1,1,here,completed,1,1,1,0,1,1,-1,all,1,0,0,,p,local\n");
        assert_eq!(asked(&one).hint(), Some("its jobs have numbers from 3 to 3"));
    }

    #[test]
    fn a_site_or_an_origin_that_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let table = dir.path().join("jobs.csv");
        let row = |job: u64, site: &str, origin: &str| {
            format!("{job},0,0,1,1,{site},completed,1,1,1,0,1,1,-1,all,1,0,0,,p,{origin}\n")
        };
        let ask = |rows: &[String], site: Option<&str>, origin: Option<Origin>| {
            std::fs::write(&table, format!("{HEADER}{}", rows.concat())).unwrap();
            let site = site.map(str::to_owned);
            let options = ExplainOptions { job: 7, origin, site, ..ExplainOptions::default() };
            let error = find(&RunFolder::open(&table).unwrap(), &options).unwrap_err();
            format!("{error}; {}", error.hint().unwrap_or_default())
        };
        let local = [row(7, "delft", "local"), row(8, "leiden", "local")];
        let told = ask(&local, Some("dleft"), None);
        assert!(told.ends_with("ended at a site `dleft`; did you mean `delft`?"), "{told}");
        let told = ask(&local, Some("nowhere"), None);
        assert!(told.ends_with("its jobs ended at `delft`, `leiden`"), "{told}");
        let told = ask(&local, None, Some(Origin::Grid));
        assert!(told.contains("there are no jobs of the grid in"), "{told}");
        let told = ask(&local, Some("leiden"), None);
        assert!(told.contains("is another one: it is local at delft"), "{told}");
        let both = [row(7, "delft", "local"), row(7, "leiden", "grid")];
        let told = ask(&both, None, None);
        assert!(told.contains("have the number 7: local at delft; of the grid, at leiden"), "{told}");
    }
}
