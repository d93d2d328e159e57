//! Checks `ledger.csv`: the lines of each site are its total, and what jobs drew is what their segments drew.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use crate::output::RunFolder;
use crate::units::Time;
use crate::verify::{Row, Rule, Verdict, Violation};

const FILE: &str = "ledger.csv";
/// Energy in nanojoules, money in 10⁻⁹, carbon in nanograms.
type Amounts = [i128; 3];

/// Checks the lines, if the folder has any: for each site, and for all, against the energy of the segments of each site, if that is known.
pub(super) fn check(
    folder: &RunFolder,
    segments: Option<&BTreeMap<Arc<str>, u128>>,
    last: Time,
    verdict: &mut Verdict,
) {
    let Ok(text) = fs::read_to_string(folder.dir().join(FILE)) else { return };
    let mut fault = |line: u64, message: String| {
        let row = Row { file: FILE, line };
        verdict.report(Violation { time: last, rule: Rule::Columns, jobs: Vec::new(), message, row });
    };
    let mut sites: BTreeMap<&str, BTreeMap<&str, Amounts>> = BTreeMap::new();
    let mut count = 0;
    for (line, row) in (2..).zip(text.lines().skip(1)) {
        let cells: Vec<&str> = row.rsplitn(5, ',').collect();
        let [carbon, electricity, energy, purpose, site] = cells[..] else {
            fault(line, format!("`{row}` has fewer columns than there are"));
            continue;
        };
        let [Some(energy), Some(electricity), Some(carbon)] = [energy, electricity, carbon].map(decimal)
        else {
            fault(line, format!("`{row}` has a cell that is no number"));
            continue;
        };
        count += 1;
        sites.entry(site).or_default().insert(purpose, [energy, electricity, carbon]);
    }
    let mut all: BTreeMap<&str, Amounts> = BTreeMap::new();
    for (site, lines) in &sites {
        let mut sum = Amounts::default();
        for (purpose, amounts) in lines.iter().filter(|(purpose, _)| **purpose != "embodied") {
            if *purpose != "total" {
                add(&mut sum, amounts);
            }
            if *site != "grid" {
                add(all.entry(purpose).or_default(), amounts);
            }
        }
        if lines.get("total") != Some(&sum) {
            fault(0, format!("the lines of {site} are not its total"));
        }
        let jobs = ["useful", "wasted", "overhead"].iter().filter_map(|purpose| lines.get(purpose));
        let drawn: i128 = jobs.map(|[energy, ..]| energy).sum();
        let written = segments.filter(|_| *site != "grid").map(|of| of.get(*site).copied().unwrap_or(0));
        if let Some(written) = written.filter(|written| i128::try_from(*written) != Ok(drawn)) {
            let message = format!("jobs of {site} drew {drawn} nJ, and their segments {written} nJ");
            fault(0, message);
        }
    }
    if let Some(grid) = sites.get("grid") {
        let moved = grid.get("data").copied().unwrap_or_default();
        add(all.entry("total").or_default(), &moved);
        let differs = |(purpose, sum): &(&&str, &Amounts)| grid.get(**purpose) != Some(*sum);
        if let Some((purpose, _)) = all.iter().find(differs) {
            fault(0, format!("`{purpose}` of the grid is not the sum of its sites"));
        }
    }
    for _ in 0..count {
        verdict.count_check(Rule::Columns);
    }
}

fn add(sum: &mut Amounts, amounts: &Amounts) {
    sum.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += amount);
}

/// A decimal number × 10⁹; zero for an empty cell.
fn decimal(cell: &str) -> Option<i128> {
    let (sign, digits) = cell.strip_prefix('-').map_or((1, cell), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if cell.is_empty() {
        return Some(0);
    }
    let nanos: i128 = if part.len() > 9 { None } else { format!("{whole}{part:0<9}").parse().ok() }?;
    Some(sign * nanos)
}
