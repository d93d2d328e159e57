//! Comparisons with their confidence intervals, as text.

use super::figures::{count, decimals, duration, jobs, number, signed};
use super::lists::index_in;
use super::series::measure_title;
use super::tables::text_table;
use crate::model::Outcome;
use crate::study::MeasureInfo;
use crate::study::comparison::{
    Charge, Conclusion, Contrast, JobChange, JobComparison, RunsComparison, StudyComparison, tests_of,
};
use crate::study::statistics::Evidence;

/// Advice for a study with only one run per point.
const ONE_LOG: &str = "one run per point has no interval; with a log, keep the runs (`gridemu campaign FILE --folders DIR`) and compare two of \
                       the folders job by job\n";

/// Advice for a study with one seed, of which it is not known whether others would give other runs.
const ONE_SEED: &str = "one run per point has no interval; give the campaign more seeds (`seeds = 30`), or, with a log, keep the runs \
                        (`gridemu campaign FILE --folders DIR`) and compare two of the folders job by job\n";

/// Compares the variants of a study: a line for each point, measure and variant.
pub fn study_contrasts(found: &StudyComparison) -> String {
    let mut out = format!(
        "{} of {}: {} against {}, paired by seed\n",
        found.by,
        found.study,
        found.variants.join(", "),
        found.baseline
    );
    out += &match found.seeds {
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
            let hint = if most == 1 { ONE_SEED } else { "" };
            let weight = match found.evidence {
                Evidence::Verdict => weight(Evidence::Verdict, "seeds", Evidence::VERDICT),
                _ if most >= Evidence::VERDICT => {
                    format!("enough for a verdict where there are {}", Evidence::VERDICT)
                }
                evidence => weight(evidence, "seeds", Evidence::VERDICT),
            };
            format!("{seeds}: {weight}\n{hint}")
        }
    };
    if found.failed > 0 {
        let runs = if found.failed == 1 { "run" } else { "runs" };
        let then = if found.charge.is_none() {
            "comparisons that need a failed run are refused"
        } else {
            "left out"
        };
        out += &format!("warning: {} {runs} failed; {then}\n", found.failed);
    }
    out += match found.charge {
        Some(Charge::LeaveOut) => "seeds with different outcomes are left out of both sides\n",
        Some(Charge::ToTheEnd) => {
            "jobs that did not run to their end count as if they had started at the end of their run\n"
        }
        None => "",
    };
    let variant = match &found.variants[..] {
        [only] => Some(only),
        _ => None,
    };
    let mut texts: Vec<&str> = found.axes.iter().map(String::as_str).chain(["measure"]).collect();
    texts.extend(variant.is_none().then_some(found.by.as_str()));
    let sides = [found.baseline.as_str(), variant.map_or("variant", String::as_str)];
    let mut notes = Notes::default();
    let table = contrast_table(&found.cells, (&texts, &[]), sides, found.level, &mut notes, |cell, same| {
        // Cells that repeat the line above stay empty.
        let mut row: Vec<String> =
            cell.of.iter().map(|label| if same { String::new() } else { label.clone() }).collect();
        row.push(measure_title(&cell.measure));
        row.extend(variant.is_none().then(|| cell.variant.clone()));
        row
    });
    out + "\n" + &table + "\n" + &notes.after(&found.cells.iter().collect::<Vec<_>>())
}

/// A table of contrasts: columns of text and of numbers, whose cells `lead` gives, then the figures of both sides. `lead` gets
/// whether the line above is of the same group.
fn contrast_table(
    cells: &[Contrast],
    (texts, numbers): (&[&str], &[&str]),
    sides: [&str; 2],
    level: f64,
    notes: &mut Notes,
    lead: impl Fn(&Contrast, bool) -> Vec<String>,
) -> String {
    let percent = level * 100.0;
    let interval = format!("{} % interval", number(Some(percent), usize::from(percent % 1.0 != 0.0)));
    let charged = cells.iter().any(|cell| cell.charged.is_some());
    let charged: &[&str] = if charged { &["charged"] } else { &[] };
    let header =
        [texts, numbers, &sides, &["difference"], charged, &[&interval, "p (Holm)", "verdict"]].concat();
    let mut last: Option<&[String]> = None;
    let rows = cells.iter().map(|cell| {
        let mut row = lead(cell, last == Some(&cell.of));
        last = Some(&cell.of);
        row.extend(figures(cell, !charged.is_empty(), notes));
        row
    });
    text_table(texts.len(), &header, rows)
}

/// Compares runs with the first of them, job by job.
pub fn runs_contrasts(found: &RunsComparison) -> String {
    let mut out = String::new();
    let mut notes = Notes::default();
    for run in found.runs.iter().filter(|run| run.unstable) {
        out += &format!(
            "warning: {} is unstable (its backlog grows until the end), so it has no means\n",
            run.name
        );
    }
    for pair in &found.pairs {
        if !out.is_empty() {
            out.push('\n');
        }
        out += &one_pair(pair, found.level, &mut notes);
    }
    let cells: Vec<&Contrast> = found.pairs.iter().flat_map(|pair| &pair.cells).collect();
    out += &notes.after(&cells);
    if !found.whole.is_empty() {
        let mut header = vec![""];
        header.extend(found.runs.iter().map(|run| run.name.as_str()));
        let rows = found.whole.iter().map(|(measure, values)| {
            let places = places(measure, values);
            let values = values.iter().map(|value| number(*value, places));
            [measure_title(measure)].into_iter().chain(values).collect()
        });
        let table = text_table(1, &header, rows);
        out += &format!("\nthe runs as a whole (one run each: no interval)\n\n{table}\n");
    }
    out
}

fn one_pair(pair: &JobComparison, level: f64, notes: &mut Notes) -> String {
    let mut out =
        format!("{} against {}, paired by job: {}", pair.variant, pair.baseline, jobs(pair.jobs as u64));
    let [only_a, only_b] = pair.unpaired;
    if only_a + only_b > 0 {
        let [a, b] = [only_a, only_b].map(|number| jobs(number as u64));
        out += &format!(" in both, {a} only in {}, {b} only in {}\n", pair.baseline, pair.variant);
        if pair.cells.is_empty() {
            return out + "warning: this is not the same workload, so nothing can be paired\n";
        }
        out += "warning: these are not the same jobs, so only workflows are paired\n\n";
        return out + &cells_table(pair, level, notes);
    }
    out += &format!(
        " of {}\n",
        if pair.weeks == 1 { "1 week".to_owned() } else { format!("{} weeks", pair.weeks) }
    );
    out += &match pair.block {
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
    };
    let [sooner, same, later] = pair.started.map(|number| count(number as u64));
    out += &format!("{sooner} jobs start sooner, {same} at the same instant, {later} later\n");
    if pair.unlike > 0 {
        let [a, b] = pair.outcomes.map(|outcomes| outcomes.counts());
        let unlike: Vec<String> = (0..Outcome::NAMES.len())
            .filter(|at| a[*at] != b[*at])
            .map(|at| format!("{} {} and {}", Outcome::NAMES[at], count(a[at]), count(b[at])))
            .collect();
        let unlike = match unlike.is_empty() {
            true => "in the same numbers, but not the same jobs".to_owned(),
            false => unlike.join(", "),
        };
        out += &format!("warning: {} have different outcomes: {unlike}\n", jobs(pair.unlike as u64));
    }
    out.push('\n');
    if !pair.cells.is_empty() {
        out += &cells_table(pair, level, notes);
    }
    for (name, changes) in [("less", &pair.gained), ("longer", &pair.lost)] {
        if !changes.is_empty() {
            let (variant, table) = (&pair.variant, changes_table(changes));
            out += &format!("\njobs that wait {name} in {variant}: largest differences\n\n{table}\n");
        }
    }
    out
}

/// The measures of a pair.
fn cells_table(pair: &JobComparison, level: f64, notes: &mut Notes) -> String {
    let (names, sides) = ((&["jobs of", "measure"][..], &["jobs"][..]), [&*pair.baseline, &*pair.variant]);
    let table = contrast_table(&pair.cells, names, sides, level, notes, |cell, same| {
        let shown = |text: String| if same { String::new() } else { text };
        vec![shown(cell.of.join(" ")), measure_title(&cell.measure), shown(count(cell.pairs as u64))]
    });
    table + "\n"
}

fn changes_table(changes: &[JobChange]) -> String {
    let rows = changes.iter().map(|change| {
        let origin = if change.origin == "local" { String::new() } else { format!("{} ", change.origin) };
        let difference = change.variant_wait_s - change.baseline_wait_s;
        let sign = if difference < 0.0 { "-" } else { "+" };
        vec![
            format!("{origin}{}", change.job),
            change.class.clone(),
            duration(change.submit_s),
            count(u64::from(change.procs)),
            duration(change.run_s),
            duration(change.baseline_wait_s),
            duration(change.variant_wait_s),
            format!("{sign}{}", duration(difference.abs())),
        ]
    });
    let header =
        ["job", "class", "submitted at", "procs", "run", "wait, baseline", "wait, variant", "change"];
    text_table(2, &header, rows)
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

/// Baseline, variant, difference, with `charged` its other end, interval, p-value and verdict of a cell.
fn figures(cell: &Contrast, charged: bool, notes: &mut Notes) -> Vec<String> {
    let places = places(&cell.measure, &[cell.baseline_mean, cell.variant_mean]);
    let finer = cell
        .difference
        .map_or(places, |difference| places.max(decimals([Some(difference.abs())]).min(places + 2)));
    let signed = |value: f64| signed(value, finer);
    let interval = cell.low.zip(cell.high).map(|(low, high)| format!("{} to {}", signed(low), signed(high)));
    let p = cell.adjusted_p.map(|p| if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") });
    let mark = cell.note.as_ref().map(|note| notes.mark(note)).unwrap_or_default();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let mut row = vec![
        number(cell.baseline_mean, places),
        number(cell.variant_mean, places),
        or_dash(cell.difference.map(signed)),
    ];
    row.extend(charged.then(|| or_dash(cell.charged.map(signed))));
    row.extend([or_dash(interval), or_dash(p), verdict(cell) + &mark]);
    row
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

fn verdict(cell: &Contrast) -> String {
    let word = match cell.leans {
        Conclusion::Better => "better",
        Conclusion::Worse => "worse",
        Conclusion::Lower => "lower",
        Conclusion::Higher => "higher",
        Conclusion::NoDifference => "no difference seen",
        Conclusion::Same => return "same".to_owned(),
        Conclusion::Nothing => return "-".to_owned(),
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
    fn mark(&mut self, note: &String) -> String {
        format!(" [{}]", index_in(&mut self.0, note) + 1)
    }

    /// Returns the notes, to follow a table that ends with a line break.
    fn after(&self, cells: &[&Contrast]) -> String {
        let mut lines: Vec<String> =
            self.0.iter().enumerate().map(|(at, note)| format!("[{}] {note}", at + 1)).collect();
        let corrected = tests_of(cells);
        if corrected > 1 {
            lines.push(format!(
                "p values and verdicts are corrected for {corrected} comparisons (Holm), intervals are not"
            ));
        }
        if cells.iter().any(|cell| cell.charged.is_some()) {
            lines.push(
                "charged: the difference if the jobs that did not run to their end had started at the end of the run; the other figures are \
                 without them"
                    .to_owned(),
            );
        }
        // A measure that is equal in every pair was not tested, so it gets no brackets.
        let is_verdict = |cell: &Contrast| !matches!(cell.leans, Conclusion::Nothing | Conclusion::Same);
        if cells.iter().any(|cell| is_verdict(cell) && cell.evidence != Evidence::Verdict) {
            lines.push("a verdict in brackets is that of a smoke test".to_owned());
        }
        if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
    }
}
