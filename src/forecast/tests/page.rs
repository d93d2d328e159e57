//! `docs/forecasting.md` says which predictors there are and what their errors are.

use std::fmt::Write as _;
use std::fs;

use super::log::Kth;
use super::series::{cycle, noisy_cycle};
use super::*;

/// A number of four digits.
fn digits(value: f64) -> String {
    let whole = format!("{value:.0}").len();
    if value >= 1.0 { format!("{value:.*}", 4_usize.saturating_sub(whole)) } else { format!("{value:.4}") }
}

/// The kinds of predictors, each with the names of its own.
fn predictors() -> String {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for predictor in Predictor::all() {
        let told = format!("{} | {} |", predictor.doc(), predictor.source());
        let name = format!("`{predictor}`");
        match rows.iter_mut().find(|(other, _)| *other == told) {
            Some((_, names)) => names.push(name),
            None => rows.push((told, vec![name])),
        }
    }
    let mut page = "| predictors | forecast | source |\n|---|---|---|\n".to_owned();
    for (told, names) in rows {
        let _ = writeln!(page, "| {} | {told}", names.join(", "));
    }
    page
}

/// The errors of each predictor over the daily cycles; the least in bold.
fn cycles() -> String {
    let series = [cycle(24, 60), cycle(96, 60), noisy_cycle()];
    let errors: Vec<Vec<Errors>> = series
        .iter()
        .map(|values| {
            let forecaster = after(Criterion::Squared, values);
            forecaster.standings().map(|standing| standing.errors.unwrap()).collect()
        })
        .collect();
    let mut page =
        "| predictor | 24 a day | | 96 a day | | 24 a day with noise | |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    page += "| | RMSE | MAE | RMSE | MAE | RMSE | MAE |\n";
    for (at, predictor) in Predictor::all().enumerate() {
        let _ = write!(page, "| `{predictor}` |");
        for errors in &errors {
            for error in [|errors: &Errors| errors.root_mean_square, |errors: &Errors| errors.mean_absolute] {
                let (own, least) =
                    (error(&errors[at]), errors.iter().map(error).fold(f64::INFINITY, f64::min));
                let mark = if own == least { "**" } else { "" };
                let _ = write!(page, " {mark}{}{mark} |", digits(own));
            }
        }
        page.push('\n');
    }
    page
}

/// The errors of the answers that a forecaster gave.
fn answers(criterion: Criterion, values: &[f64]) -> Errors {
    let (mut forecaster, mut squares, mut absolute) = (Forecaster::new(criterion), 0.0, 0.0);
    for value in values {
        if let Some(forecast) = forecaster.forecast() {
            let error = value - forecast.value;
            squares += error * error;
            absolute += error.abs();
        }
        forecaster.observe(*value).unwrap();
    }
    let forecasts = values.len() as u64 - 1;
    Errors {
        root_mean_square: (squares / forecasts as f64).sqrt(),
        mean_absolute: absolute / forecasts as f64,
        forecasts,
    }
}

/// The best predictors over a series, `last` and `mean`, and the answers of forecasters.
fn log(values: &[f64]) -> String {
    let forecaster = after(Criterion::Squared, values);
    let mut standings: Vec<(Predictor, Errors)> =
        forecaster.standings().map(|standing| (standing.predictor, standing.errors.unwrap())).collect();
    standings.sort_by(|one, other| one.1.root_mean_square.total_cmp(&other.1.root_mean_square));
    let row = |name: &str, errors: Errors| {
        format!("| {name} | {} | {} |\n", digits(errors.root_mean_square), digits(errors.mean_absolute))
    };
    let mut page = "| | RMSE | MAE |\n|---|---|---|\n".to_owned();
    for (at, (predictor, errors)) in standings.iter().enumerate() {
        if at < 5 || ["last", "mean"].contains(&predictor.name()) {
            page += &row(&format!("{}. `{predictor}`", at + 1), *errors);
        }
    }
    let least = standings.iter().min_by(|one, other| one.1.mean_absolute.total_cmp(&other.1.mean_absolute));
    let (predictor, errors) = least.unwrap();
    page += &row(&format!("least MAE: `{predictor}`"), *errors);
    for (name, criterion) in [
        ("`Squared`", Criterion::Squared),
        ("`Absolute`", Criterion::Absolute),
        ("`RecentSquared(50)`", Criterion::RecentSquared(Criterion::RECENT)),
        ("`RecentAbsolute(50)`", Criterion::RecentAbsolute(Criterion::RECENT)),
    ] {
        page += &row(&format!("the answers by {name}"), answers(criterion, values));
    }
    page
}

#[test]
fn the_page_is_fresh() {
    let mut parts = vec![("predictors", predictors()), ("cycles", cycles())];
    if let Some(kth) = Kth::read() {
        parts.push(("in-use", log(&kth.in_use)));
        parts.push(("waits", log(&kth.waits)));
    }
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/forecasting.md");
    let old = fs::read_to_string(file).expect("the page can be read");
    let mut new = old.clone();
    for (name, part) in parts {
        let (begin, end) = (format!("<!-- {name}:begin -->\n"), format!("<!-- {name}:end -->"));
        let (before, rest) = new.split_once(&begin).expect(name);
        let (_, after) = rest.split_once(&end).expect(name);
        new = format!("{before}{begin}{part}{end}{after}");
    }
    #[expect(clippy::disallowed_methods, reason = "a switch of the test, not of the library")]
    if std::env::var_os("GRIDEMU_BLESS").is_some() {
        fs::write(file, new).expect("the page can be written");
    } else {
        assert_eq!(
            old, new,
            "docs/forecasting.md is stale; `GRIDEMU_BLESS=1 cargo test forecast::tests::page` writes its tables anew"
        );
    }
}
