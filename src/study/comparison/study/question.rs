//! What is asked of a study: axis, baseline, variants and measures that it has.

use std::collections::BTreeMap;

use super::CompareOptions;
use crate::experiment::RunError;
use crate::model::{did_you_mean, suggestion};
use crate::scenario::listed;
use crate::study::{StudyTable, stands_for};

/// Which labels of a table are compared.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// The axis.
    pub(super) by: usize,
    /// The labels that count on an axis, where not all do.
    pub(super) only: BTreeMap<usize, Vec<&'a str>>,
    /// The label with which the others are compared.
    pub(super) baseline: String,
    /// The others.
    pub(super) variants: Vec<String>,
}

impl<'a> Asked<'a> {
    /// What `options` ask of a table, of which only axes, labels and baseline count.
    ///
    /// # Errors
    /// A bad request, if the options name what the table does not have.
    pub(crate) fn of(table: &StudyTable, options: &'a CompareOptions) -> Result<Self, RunError> {
        let by = axis_of(table, options)?;
        let labels: Vec<String> = table.labels(by).into_iter().map(str::to_owned).collect();
        let mut only: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for (axis, wanted) in &options.only {
            let at = find_axis(table, axis)?;
            check_label(table, at, wanted)?;
            only.entry(at).or_default().push(wanted);
        }
        let counts = |label: &str| only.get(&by).is_none_or(|wanted| wanted.contains(&label));
        let baseline = match &options.baseline {
            Some(wanted) => {
                check_label(table, by, wanted)?;
                wanted.clone()
            }
            None => {
                let possible: Vec<&String> = labels.iter().filter(|label| counts(label)).collect();
                let named = table.baseline.as_ref().filter(|named| possible.contains(named));
                named.or(possible.first().copied()).cloned().unwrap_or_default()
            }
        };
        let variants: Vec<String> =
            labels.into_iter().filter(|label| *label != baseline && counts(label)).collect();
        if variants.is_empty() {
            let axis = &table.axes[by];
            let problem = format!("axis `{axis}` has `{baseline}` only: there is nothing to compare it with");
            return Err(RunError::request(problem).with_hint("compare by another axis, with `--by`"));
        }
        Ok(Self { by, only, baseline, variants })
    }
}

fn check_label(table: &StudyTable, axis: usize, label: &str) -> Result<(), RunError> {
    let known = table.labels(axis);
    if known.contains(&label) {
        return Ok(());
    }
    let problem =
        format!("axis `{}` has no `{label}`; it has {}", table.axes[axis], listed(known.iter().copied()));
    Err(RunError::request(problem).with_maybe_hint(suggestion(label, known)))
}

fn find_axis(table: &StudyTable, axis: &str) -> Result<usize, RunError> {
    table.axis(axis).ok_or_else(|| {
        let known = || table.axes.iter().map(String::as_str);
        let problem = format!("the campaign has no axis `{axis}`; its axes are {}", listed(known()));
        RunError::request(problem).with_maybe_hint(suggestion(axis, known()))
    })
}

fn axis_of(table: &StudyTable, options: &CompareOptions) -> Result<usize, RunError> {
    match (&options.by, table.axes.as_slice()) {
        (Some(axis), _) => find_axis(table, axis),
        (None, [_]) => Ok(0),
        (None, axes) => table.axis("policy").ok_or_else(|| {
            let known = listed(axes.iter().map(String::as_str));
            RunError::request(format!("the campaign has several axes ({known}); select one"))
                .with_maybe_hint(axes.first().map(|axis| format!("use `--by {axis}`")))
        }),
    }
}

/// The measures to compare, with their columns: those that the options name, in which a `*` stands for any name, else those shown.
///
/// # Errors
/// Names a measure that the table does not have.
pub(super) fn measures_of(
    table: &StudyTable,
    options: &CompareOptions,
) -> Result<Vec<(String, usize)>, RunError> {
    let of = |at: usize| (table.measures[at].clone(), at);
    if options.measures.is_empty() {
        return Ok(table.shown().into_iter().map(of).collect());
    }
    let mut found: Vec<(String, usize)> = Vec::new();
    for wanted in &options.measures {
        let known = || 0..table.measures.len();
        let named: Vec<usize> = match wanted.contains('*') {
            true => table.shown().into_iter().filter(|at| stands_for(wanted, &table.measures[*at])).collect(),
            false => known().filter(|at| table.measures[*at] == *wanted).collect(),
        };
        if named.is_empty() {
            let near = did_you_mean(table.nearest_measure(wanted));
            let known = listed(table.shown().into_iter().map(|at| table.measures[at].as_str()));
            return Err(RunError::request(format!("the table has no measure `{wanted}`{near}; it has {known}"))
                .with_hint(
                    "a campaign keeps all measures of its runs: `gridemu compare FILE` of the campaign's file takes any of them",
                ));
        }
        found.extend(named.into_iter().map(of).filter(|one| !found.contains(one)).collect::<Vec<_>>());
    }
    Ok(found)
}
