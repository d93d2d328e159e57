//! Comparisons with their confidence intervals, as text.

use super::figures::{count, decimals, duration, jobs, number, signed};
use super::tables::text_table;
use crate::model::Outcome;
use crate::study::MeasureInfo;
use crate::study::comparison::{
    Charge, Contrast, JobChange, JobComparison, RunsComparison, Says, StudyComparison, tests_of,
};
use crate::study::statistics::Evidence;

/// Advice for a study with only one run per point.
const ONE_LOG: &str = "one run per point has no interval; with a log, keep the runs (`gridemu campaign FILE --folders DIR`) and compare two of \
                       the folders job by job\n";

/// Compares the variants of a study: a line for each point, measure and variant.
pub fn study_contrasts(found: &StudyComparison) -> String {
    let mut out = format!(
        "{} of {}: {} against {}, paired by seed\n",
        found.by,
        found.study,
        found.variants.join(", "),
        found.baseline
    );
    out.push_str(&match found.seeds {
        None if found.cells.iter().any(|cell| cell.one_run) => {
            let all = found.cells.iter().all(|cell| cell.one_run);
            let place = if all { "" } else { "where runs can be compared, " };
            format!(
                "{place}every seed gave the same run, because nothing is drawn: no interval and no verdict\n{ONE_LOG}"
            )
        }
        None => "no pair of runs can be compared\n".to_owned(),
        Some((least, most)) => {
            let seeds = match (least, most) {
                (1, 1) => "1 seed".to_owned(),
                (least, most) if least == most => format!("{least} seeds"),
                (least, most) => format!("{least} to {most} seeds"),
            };
            let hint = if most == 1 { ONE_LOG } else { "" };
            format!("{seeds}: {}\n{hint}", weight(found.evidence, "seeds", Evidence::VERDICT))
        }
    });
    if found.failed > 0 {
        out.push_str(&format!(
            "warning: {} failed; {}\n",
            runs(found.failed),
            if found.charge.is_none() { "what needs them is refused" } else { "left out" }
        ));
    }
    if found.charge == Some(Charge::LeaveOut) {
        out.push_str("seeds with different outcomes are left out of both sides\n");
    }
    let one_variant = found.variants.len() == 1;
    let mut header: Vec<String> = found.axes.clone();
    header.push("measure".to_owned());
    if !one_variant {
        header.push(found.by.clone());
    }
    let texts = header.len();
    let variant = if one_variant { found.variants[0].clone() } else { "variant".to_owned() };
    header.extend([found.baseline.clone(), variant]);
    header.extend(numbers_header(found.level));
    let mut notes = Notes::default();
    let mut last: Option<&[String]> = None;
    let rows = found.cells.iter().map(|cell| {
        let same = last == Some(cell.of.as_slice());
        last = Some(&cell.of);
        // Cells that repeat the line above stay empty.
        let mut row: Vec<String> =
            cell.of.iter().map(|label| if same { String::new() } else { label.clone() }).collect();
        row.push(title(&cell.measure));
        if !one_variant {
            row.push(cell.variant.clone());
        }
        row.extend(numbers(cell, &mut notes));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    out.push('\n');
    out.push_str(&text_table(texts, &header.iter().map(String::as_str).collect::<Vec<_>>(), rows));
    out.push('\n');
    out.push_str(&notes.after(&found.cells.iter().collect::<Vec<_>>()));
    out
}

/// Compares runs with the first of them, job by job.
pub fn runs_contrasts(found: &RunsComparison) -> String {
    let mut out = String::new();
    let mut notes = Notes::default();
    for run in found.runs.iter().filter(|run| run.unstable) {
        out.push_str(&format!(
            "warning: {} is unstable (its backlog grows until the end), so it has no means\n",
            run.name
        ));
    }
    for pair in &found.pairs {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&one_pair(pair, found, &mut notes));
    }
    let cells: Vec<&Contrast> = found.pairs.iter().flat_map(|pair| &pair.cells).collect();
    out.push_str(&notes.after(&cells));
    if !found.whole.is_empty() {
        out.push_str("\nthe runs as a whole (one run each: no interval)\n\n");
        let mut header = vec![""];
        header.extend(found.runs.iter().map(|run| run.name.as_str()));
        let rows = found.whole.iter().map(|(measure, values)| {
            let places = places(measure, values);
            [title(measure)].into_iter().chain(values.iter().map(|value| number(*value, places))).collect()
        });
        out.push_str(&text_table(1, &header, rows.collect::<Vec<Vec<String>>>()));
        out.push('\n');
    }
    out
}

fn one_pair(pair: &JobComparison, found: &RunsComparison, notes: &mut Notes) -> String {
    let mut out =
        format!("{} against {}, paired by job: {}", pair.variant, pair.baseline, jobs(pair.jobs as u64));
    let [only_a, only_b] = pair.unpaired;
    if only_a + only_b > 0 {
        let only = |name: &str, number: usize| format!("{} only in {name}", jobs(number as u64));
        out.push_str(&format!(
            " in both, {}, {}\n",
            only(&pair.baseline, only_a),
            only(&pair.variant, only_b)
        ));
        out.push_str("warning: this is not the same workload, so nothing can be paired\n");
        return out;
    }
    out.push_str(&format!(" of {} weeks\n", pair.weeks));
    out.push_str(&match pair.block {
        Some(block) => {
            let evidence = Evidence::of_seeds(pair.weeks_with_jobs);
            format!(
                "intervals from a bootstrap over the weeks of this log, in blocks of {block}: {}; it is valid for this log only\n\
                 (expanded percentile intervals; p before the correction is below 0.05 where the 95 % interval does not contain zero)\n\
                 where weeks are correlated, these intervals are slightly too narrow: about 85 of 100 intervals of 95 % contain the true value\n",
                weight(evidence, "weeks", Evidence::VERDICT)
            )
        }
        None => "jobs of one run are not independent samples, and the run is too short for a bootstrap over weeks \
                 (15 are needed): no intervals and no verdict\n\
                 with a log, compare a longer part; with a model, 30 seeds (`gridemu campaign`)\n"
            .to_owned(),
    });
    let [sooner, same, later] = pair.started.map(|number| count(number as u64));
    out.push_str(&format!("{sooner} jobs start sooner, {same} at the same instant, {later} later\n"));
    if pair.unlike > 0 {
        let [a, b] = pair.outcomes.map(|outcomes| outcomes.counts());
        let unlike: Vec<String> = (0..Outcome::NAMES.len())
            .filter(|at| a[*at] != b[*at])
            .map(|at| format!("{} {} and {}", Outcome::NAMES[at], count(a[at]), count(b[at])))
            .collect();
        let unlike = if unlike.is_empty() {
            "in the same numbers, but not the same jobs".to_owned()
        } else {
            unlike.join(", ")
        };
        out.push_str(&format!("warning: {} have different outcomes: {unlike}\n", jobs(pair.unlike as u64)));
    }
    let mut header = vec!["jobs of".to_owned(), "measure".to_owned(), "jobs".to_owned()];
    header.extend([pair.baseline.clone(), pair.variant.clone()]);
    header.extend(numbers_header(found.level));
    let mut last: Option<&[String]> = None;
    let rows = pair.cells.iter().map(|cell| {
        let same = last == Some(cell.of.as_slice());
        last = Some(&cell.of);
        let shown = |text: String| if same { String::new() } else { text };
        let mut row = vec![shown(cell.of.join(" ")), title(&cell.measure), shown(count(cell.pairs as u64))];
        row.extend(numbers(cell, notes));
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    out.push('\n');
    if !rows.is_empty() {
        out.push_str(&text_table(2, &header.iter().map(String::as_str).collect::<Vec<_>>(), rows));
        out.push('\n');
    }
    for (name, changes) in [("less", &pair.gained), ("longer", &pair.lost)] {
        if !changes.is_empty() {
            out.push_str(&format!(
                "\njobs that wait {name} in {}: largest differences\n\n{}\n",
                pair.variant,
                changes_table(changes)
            ));
        }
    }
    out
}

fn changes_table(changes: &[JobChange]) -> String {
    let rows = changes.iter().map(|change| {
        let job = if change.origin == "local" { String::new() } else { format!("{} ", change.origin) };
        vec![
            format!("{job}{}", change.job),
            change.class.clone(),
            duration(change.submit_s),
            count(u64::from(change.procs)),
            duration(change.run_s),
            duration(change.baseline_wait_s),
            duration(change.variant_wait_s),
            signed_duration(change.variant_wait_s - change.baseline_wait_s),
        ]
    });
    let header =
        ["job", "class", "submitted at", "procs", "run", "wait, baseline", "wait, variant", "change"];
    text_table(2, &header, rows.collect::<Vec<_>>())
}

fn signed_duration(secs: f64) -> String {
    format!("{}{}", if secs < 0.0 { "-" } else { "+" }, duration(secs.abs()))
}

fn runs(number: usize) -> String {
    format!("{number} {}", if number == 1 { "run" } else { "runs" })
}

fn title(measure: &str) -> String {
    let info = MeasureInfo::of(measure);
    if info.unit.is_empty() { info.title } else { format!("{} ({})", info.title, info.unit) }
}

/// How much evidence this number of seeds or weeks gives.
fn weight(evidence: Evidence, of: &str, needed: usize) -> String {
    match evidence {
        Evidence::Verdict => "enough for a verdict".to_owned(),
        Evidence::SmokeTest => format!("a smoke test only: a verdict needs {needed} {of}"),
        Evidence::Nothing => format!(
            "too few for a statement ({} {of} make a smoke test, {needed} a verdict)",
            Evidence::SMOKE_TEST
        ),
    }
}

fn numbers_header(level: f64) -> [String; 4] {
    let interval =
        format!("{} % interval", number(Some(level * 100.0), usize::from(level * 100.0 % 1.0 != 0.0)));
    ["difference".to_owned(), interval, "p (Holm)".to_owned(), "verdict".to_owned()]
}

/// Baseline, variant, difference, interval, p-value and verdict of a cell.
fn numbers(cell: &Contrast, notes: &mut Notes) -> Vec<String> {
    let places = places(&cell.measure, &[cell.baseline_mean, cell.variant_mean]);
    let fine = cell
        .difference
        .map_or(places, |difference| places.max(decimals([Some(difference.abs())]).min(places + 2)));
    let signed = |value: f64| signed(value, fine);
    let interval = cell.low.zip(cell.high).map(|(low, high)| format!("{} to {}", signed(low), signed(high)));
    let mark = cell.note.as_ref().map(|note| notes.mark(note)).unwrap_or_default();
    vec![
        number(cell.baseline_mean, places),
        number(cell.variant_mean, places),
        cell.difference.map_or_else(|| "-".to_owned(), signed),
        interval.unwrap_or_else(|| "-".to_owned()),
        cell.adjusted_p.map_or_else(|| "-".to_owned(), p_value),
        format!("{}{mark}", verdict(cell)),
    ]
}

/// Number of decimals: shares need more than seconds.
fn places(measure: &str, values: &[Option<f64>]) -> usize {
    let largest = values.iter().flatten().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if MeasureInfo::of(measure).unit.is_empty() && largest <= 1.0 {
        4
    } else {
        decimals(values.iter().copied())
    }
}

fn p_value(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

fn verdict(cell: &Contrast) -> String {
    let word = match cell.leans {
        Says::Better => "better",
        Says::Worse => "worse",
        Says::Lower => "lower",
        Says::Higher => "higher",
        Says::NoDifference => "no difference seen",
        Says::Same => return "same".to_owned(),
        Says::Nothing => return "-".to_owned(),
    };
    match cell.evidence {
        Evidence::Verdict => word.to_owned(),
        _ => format!("({word}?)"),
    }
}

/// Notes below a table, each text once.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn mark(&mut self, note: &str) -> String {
        let at = self.0.iter().position(|known| known == note).unwrap_or_else(|| {
            self.0.push(note.to_owned());
            self.0.len() - 1
        });
        format!(" [{}]", at + 1)
    }

    /// Returns the notes, to follow a table that ends with a line break.
    fn after(&self, cells: &[&Contrast]) -> String {
        let mut lines: Vec<String> =
            self.0.iter().enumerate().map(|(at, note)| format!("[{}] {note}", at + 1)).collect();
        let corrected = tests_of(cells);
        if corrected > 1 {
            lines.push(format!("p values are corrected for {corrected} comparisons (Holm)"));
        }
        // A measure that is equal in every pair was not tested, so it gets no brackets.
        let is_verdict = |cell: &Contrast| !matches!(cell.leans, Says::Nothing | Says::Same);
        if cells.iter().any(|cell| is_verdict(cell) && cell.evidence != Evidence::Verdict) {
            lines.push("a verdict in brackets is that of a smoke test".to_owned());
        }
        if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
    }
}
