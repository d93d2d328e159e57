//! A figure of the greatest gain of each seed, with the published gain.

use super::charts::{Axis, Chart, Paint, Spread, SpreadChart, SpreadRow, Theme};
use super::figures::signed;
use crate::study::claims::{Measured, Sample};

/// Width of a figure, in pixels.
const WIDTH: u32 = 760;

/// A claim on the greatest gain along an axis, as a figure shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownGains<'a> {
    /// Name of the claim in the figure.
    pub name: &'a str,
    /// The published gain, as a share.
    pub published: f64,
    /// The axis along which the gain is the greatest.
    pub along: &'a str,
    /// The measured gains, one for each seed.
    pub measured: &'a Measured,
}

/// A figure as SVG with a row for each claim and each point that it leaves open: the spread of the greatest gains of the seeds, and
/// the published gain. `None` if no row has gains.
pub fn gains_figure(claims: &[ShownGains<'_>]) -> Option<String> {
    let rows: Vec<SpreadRow> = claims.iter().flat_map(rows_of).collect();
    if rows.iter().all(|row| row.values.is_empty()) {
        return None;
    }
    let along = claims.first().map(|claim| claim.along);
    let along = along.filter(|along| claims.iter().all(|claim| claim.along == *along));
    let title = along.map_or("greatest gain (%)".to_owned(), |along| format!("greatest gain by {along} (%)"));
    let all = || rows.iter().flat_map(|row| row.values.iter().copied().chain(row.mark)).chain([0.0]);
    let chart = SpreadChart {
        x: Axis::linear(&title, all().fold(0.0, f64::min), all().fold(0.0, f64::max), false),
        title,
        rows,
        value: "seed".to_owned(),
        mark: "published".to_owned(),
        width: WIDTH,
    };
    Some(chart.svg(Paint::File(Theme::Light)))
}

fn rows_of(claim: &ShownGains<'_>) -> Vec<SpreadRow> {
    match claim.measured {
        Measured::Samples(samples) => samples.iter().map(|sample| row_of(claim, sample)).collect(),
        Measured::Missing(why) => {
            let mark = Some(claim.published * 100.0);
            let (name, note) = (claim.name.to_owned(), format!("not measured: {why}"));
            vec![SpreadRow { name, values: Vec::new(), mark, note, title: String::new() }]
        }
    }
}

fn row_of(claim: &ShownGains<'_>, sample: &Sample) -> SpreadRow {
    let name = match sample.at.as_str() {
        "" => claim.name.to_owned(),
        at => format!("{}, {at}", claim.name),
    };
    // Copies of one run count as one run.
    let count = if sample.one_run { 1 } else { sample.of.len() };
    let values: Vec<f64> = sample.of.iter().take(count).map(|gain| gain * 100.0).collect();
    let seeds = format!("{} {}", values.len(), if values.len() == 1 { "seed" } else { "seeds" });
    let published = signed(claim.published * 100.0, 2);
    let title = Spread::of(&values).map(|Spread { low, lower, median, upper, high }| {
        let [low, lower, median, upper, high] =
            [low, lower, median, upper, high].map(|gain| format!("{} %", signed(gain, 1)));
        format!(
            "{name}\n{seeds}: median {median}, half from {lower} to {upper}, 95 of 100 from {low} to {high}\npublished {published} %"
        )
    });
    let note = sample.note.clone().unwrap_or_else(|| "no seed has a gain".to_owned());
    SpreadRow { values, mark: Some(claim.published * 100.0), note, title: title.unwrap_or_default(), name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::statistics::Draws;

    fn sample(at: &str, of: &[f64]) -> Sample {
        Sample {
            measure: 0,
            of_measure: String::new(),
            at: at.to_owned(),
            of: of.to_vec(),
            than: Vec::new(),
            note: None,
            seeds: of.len(),
            one_run: false,
            draws: Draws::Independent,
            weeks: None,
        }
    }

    #[test]
    fn a_row_has_the_gains_of_the_seeds_and_the_published_one() {
        let gains: Vec<f64> = (0..=40).rev().map(|seed| f64::from(seed) / 100.0).collect();
        let measured = Measured::Samples(vec![sample("", &gains), sample("ps 0.5", &[0.25])]);
        let claim = ShownGains { name: "wait", published: 0.25, along: "load", measured: &measured };
        let rows = rows_of(&claim);
        assert_eq!((rows[0].name.as_str(), rows[1].name.as_str()), ("wait", "wait, ps 0.5"));
        assert_eq!((rows[0].mark, rows[1].values.as_slice()), (Some(25.0), &[25.0][..]));
        assert_eq!(
            rows[0].title,
            "wait\n41 seeds: median +20.0 %, half from +10.0 % to +30.0 %, 95 of 100 from +1.0 % to +39.0 %\npublished +25.00 %"
        );
        let missing = Measured::Missing("`x.swf` is not at hand".to_owned());
        let other = ShownGains { name: "other", published: 0.1, along: "cs", measured: &missing };
        let svg = gains_figure(&[claim.clone(), other.clone()]).unwrap();
        assert!(svg.contains(">greatest gain (%)<"), "of two axes none is named: {svg}");
        assert!(svg.contains("not measured: `x.swf` is not at hand"), "{svg}");
        assert!(gains_figure(&[claim]).unwrap().contains(">greatest gain by load (%)<"));
        assert_eq!(gains_figure(&[other]), None, "nothing was measured");
    }
}
