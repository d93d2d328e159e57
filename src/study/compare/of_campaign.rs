//! Compares the variants of a campaign with all that its store has.

use std::path::Path;

use super::Comparison;
use crate::experiment::RunError;
use crate::study::campaign::Campaign;
use crate::study::comparison::{Asked, CompareOptions, compare_study};
use crate::study::stands_for;

/// Measures of whole runs that a comparison of a campaign shows where the grid has them, whatever the table of the campaign has.
const OF_CAMPAIGNS: [&str; 3] = ["energy.facility_kwh", "cost", "usage.wasted"];

/// Checks what is asked of a campaign, before its runs.
///
/// # Errors
/// `RunErrorKind::Request` if the options name an axis, a label or a measure that it does not have.
pub fn check_question(campaign: &Campaign, options: &CompareOptions) -> Result<(), RunError> {
    Asked::of(&campaign.planned(), options)?;
    campaign.check_measures(&options.measures)
}

/// Compares the variants of a campaign with all its results in `store`: the measures of its table, and energy, cost and wasted work where
/// the grid has them. Other measures may be requested, as a campaign keeps all of them.
///
/// # Errors
/// `RunErrorKind::Request` if the store cannot be used, or if the requested comparison is not possible.
pub fn compare_campaign(
    campaign: Campaign,
    store: &Path,
    options: &CompareOptions,
) -> Result<Comparison, RunError> {
    let own: Vec<String> = campaign.measures().map(str::to_owned).collect();
    let mut table = campaign.with_measures(&OF_CAMPAIGNS, &options.measures)?.table(store)?;
    // A grid without prices has a cost of zero.
    let is_there = |at: usize| table.rows.iter().any(|row| row.values[at].is_some_and(|value| value != 0.0));
    let shown = |at: &usize| {
        let id = &table.measures[*at];
        !OF_CAMPAIGNS.contains(&id.as_str())
            || own.contains(id)
            || options.measures.iter().any(|wanted| stands_for(wanted, id))
            || is_there(*at)
    };
    let kept: Vec<usize> = (0..table.measures.len()).filter(shown).collect();
    for row in &mut table.rows {
        row.values = kept.iter().map(|at| row.values[*at]).collect();
    }
    table.measures = kept.iter().map(|at| table.measures[*at].clone()).collect();
    compare_study(&table, options).map(Comparison::Study)
}
