//! Resolves what a kilowatt-hour costs and causes: flat, by the hour, over a day, or along a trace on the calendar.

use super::Checker;
use crate::formats::series::{SeriesFacts, SeriesOptions, Unit};
use crate::model::{DayRates, PerKwh, SiteTariff, Trace};
use crate::scenario::keys::{Flat, PerKwhKey, SeriesKeys, SiteKeys};
use crate::scenario::kind::quantity::Quantity;
use crate::scenario::kind::words::Or;
use crate::scenario::traces::{Traces, short};
use crate::scenario::tree::Path;
use crate::units::{Span, Timestamp, Zone};

const DAY: Span = Span::from_secs(86_400);

/// Where a price of a site is.
pub(super) fn at_site(name: &str) -> String {
    format!("at site `{name}`")
}

/// What is known of time and money beyond a site.
#[derive(Default)]
pub(in crate::scenario) struct Calendar {
    /// When the run begins.
    pub(super) begins: Option<Timestamp>,
    /// The latest end of the run.
    pub(super) until: Option<Span>,
    /// Its earliest end.
    pub(super) at_least: Option<Span>,
    /// Whether anything depends on `begins`.
    pub(super) is_used: bool,
    /// The first currency that is named, and where.
    currency: Option<(String, String)>,
    /// The traces that have been read.
    pub(in crate::scenario) traces: Traces,
    /// What has been told of traces of failures.
    pub(super) failures: super::churn::ToldFailures,
    /// Those that have been told of, by file and how it is read.
    told: Vec<(String, SeriesOptions)>,
    /// A line for each of them.
    pub(in crate::scenario) lines: Vec<String>,
    /// A line for each partition whose machines fail in groups.
    pub(in crate::scenario) groups: Vec<String>,
    /// What a reader of figures should know of them.
    pub(in crate::scenario) notes: Vec<String>,
}

impl Checker<'_> {
    /// Prices by the hour, and price and carbon intensity of the electricity of a site.
    pub(super) fn tariff(&mut self, path: &Path, keys: &SiteKeys) -> SiteTariff {
        let hours = |rates: DayRates| Some(rates).filter(|rates| *rates != DayRates::FLAT);
        let mut tariff = SiteTariff {
            price_by_hour: hours(keys.price_by_hour),
            electricity_by_hour: hours(keys.electricity_by_hour),
            carbon_by_hour: keys.carbon_by_hour.and_then(hours),
            starts_at: self.starts_at(path, keys),
            ..SiteTariff::default()
        };
        let site = keys.name.as_deref().unwrap_or_default();
        if let Some(price) = keys.electricity.as_value() {
            tariff.electricity = self.per_kwh(&path.key("electricity"), price, site);
        }
        let carbon = keys.carbon.as_ref().and_then(Or::as_value);
        if let Some(carbon) = carbon {
            tariff.carbon = self.per_kwh(&path.key("carbon"), carbon, site);
        }
        for (key, factors, has_series, none, add) in [
            (
                "electricity",
                &mut tariff.electricity_by_hour,
                matches!(keys.electricity.as_value(), Some(PerKwhKey::Series(_))),
                keys.electricity.as_value().is_none(),
                "the factors need a price; add `electricity = \"0.25/kWh\"`",
            ),
            (
                "carbon",
                &mut tariff.carbon_by_hour,
                matches!(carbon, Some(PerKwhKey::Series(_))),
                carbon.is_none(),
                "the factors need a carbon intensity; add `carbon = \"300 g/kWh\"`",
            ),
        ] {
            let path = path.key(&format!("{key}_by_hour"));
            if factors.is_some() && none {
                self.wrong(&path, add);
            } else if factors.is_some() && has_series {
                let message = format!("`{key}` has its values over time already; remove one of the two");
                self.wrong(&path, message);
            }
        }
        let is_day = |of: &Option<PerKwh>| matches!(of, Some(PerKwh::Day(_)));
        let by_hour = tariff.price_by_hour.is_some()
            || tariff.electricity_by_hour.is_some()
            || tariff.carbon_by_hour.is_some()
            || is_day(&tariff.electricity)
            || is_day(&tariff.carbon);
        self.calendar.is_used |= by_hour;
        if keys.zone.is_some() && !by_hour {
            let message = "the zone has no effect: nothing at the site depends on the hour of its day";
            self.warn(&path.key("zone"), message);
        }
        tariff
    }

    /// The time of day at the site when the run begins.
    fn starts_at(&mut self, path: &Path, keys: &SiteKeys) -> Span {
        if keys.starts_at >= DAY {
            let message =
                format!("`{}` is not a time of day; it must be less than 24 h", keys.starts_at.text());
            self.wrong(&path.key("starts_at"), message);
        }
        let zone = self.zone(path, keys.zone.as_deref());
        match (self.calendar.begins, &keys.zone) {
            (None, Some(_)) => {
                let message = "a zone needs a `calendar`, which says when the run begins, such as `calendar = \"2023-01-02T00:00Z\"`; or give the time of day as `starts_at`";
                self.wrong(&path.key("zone"), message);
            }
            (_, Some(_)) if !keys.starts_at.is_zero() => {
                let message = "`zone` and `starts_at` both say the time of day at which the site starts; remove one of them";
                self.wrong(&path.key("starts_at"), message);
            }
            (Some(begins), _) if keys.starts_at.is_zero() => return zone.time_of_day(begins),
            _ => {}
        }
        keys.starts_at
    }

    /// The zone that the key `zone` at `path` names.
    pub(super) fn zone(&mut self, path: &Path, written: Option<&str>) -> Zone {
        let read = written.map_or_else(|| Ok(Zone::default()), str::parse);
        read.unwrap_or_else(|error| {
            self.wrong(&path.key("zone"), error.to_string());
            Zone::default()
        })
    }

    /// A price or an intensity.
    fn per_kwh<T: Flat + Into<PerKwh> + Copy>(
        &mut self,
        path: &Path,
        key: &PerKwhKey<T>,
        site: &str,
    ) -> Option<PerKwh> {
        let keys = match key {
            PerKwhKey::Flat { value, below_zero, currency } => {
                self.currency(path, currency.as_deref(), &at_site(site));
                let of = match (*value).into() {
                    PerKwh::Flat(value) if *below_zero => PerKwh::Flat(-value),
                    of => of,
                };
                let (most, told) = if T::MONEY {
                    (100_000_000_000_000, "100000/kWh")
                } else {
                    (100_000_000_000, "100000 g/kWh")
                };
                if of.range().is_some_and(|(least, largest)| largest.max(-least) > most) {
                    self.beyond_reason(path, &value.text(), told);
                }
                return Some(of);
            }
            PerKwhKey::Series(keys) => keys,
        };
        let unit = match (&keys.unit, T::MONEY) {
            (None, true) => {
                Err("of which unit are the prices? Add `unit = \"EUR/MWh\"`, or `\"EUR/kWh\"`".to_owned())
            }
            (Some(written), true) => Unit::price(written),
            (written, false) => Unit::carbon(written.as_deref().unwrap_or("g/kWh")),
        };
        let unit = match unit {
            Ok(unit) => unit,
            Err(message) if keys.unit.is_none() => return self.refuse(path, message),
            Err(message) => return self.refuse(&path.key("unit"), message),
        };
        self.currency(&path.key("unit"), unit.currency(), &at_site(site));
        match (&keys.trace, &keys.day) {
            (Some(file), None) => self.trace(path, keys, file, unit),
            (None, Some(day)) => self.day(path, keys, day, &unit),
            (None, None) => self.refuse(path, "give a `trace`, the name of a file, or the values of a `day`"),
            (Some(_), Some(_)) => {
                self.refuse(&path.key("day"), "`trace` and `day` exclude each other; keep one of them")
            }
        }
    }

    /// Checks that all prices name the same currency, if any; `place` says where this one is, as a sentence goes on.
    pub(super) fn currency(&mut self, path: &Path, currency: Option<&str>, place: &str) {
        let Some(currency) = currency else { return };
        let first = self.calendar.currency.get_or_insert_with(|| (currency.to_owned(), place.to_owned()));
        if first.0 != currency {
            let (other, there) = first;
            let message = format!(
                "prices are in {currency} here and in {other} {there}, and what things cost is compared and summed; convert one of them"
            );
            self.wrong(path, message);
        }
    }

    fn day(&mut self, path: &Path, keys: &SeriesKeys, day: &[f64], unit: &Unit) -> Option<PerKwh> {
        for (key, given) in [("column", &keys.column), ("time", &keys.time), ("zone", &keys.zone)] {
            if given.is_some() {
                self.wrong(&path.key(key), format!("`{key}` is about a `trace`; a `day` has none"));
            }
        }
        if !PerKwh::fill_a_day(day.len()) {
            let message = format!(
                "{} values are not steps of equal length of a day; give 24 of an hour each, 48, 96, or another number of whole minutes",
                day.len()
            );
            return self.refuse(&path.key("day"), message);
        }
        let mut values = Vec::with_capacity(day.len());
        for (at, number) in day.iter().enumerate() {
            match unit.value(&number.to_string()) {
                Ok(value) => values.push(value),
                Err(message) => self.wrong(&path.key("day").item(at), message),
            }
        }
        (values.len() == day.len()).then_some(PerKwh::Day(values))
    }

    fn trace(&mut self, path: &Path, keys: &SeriesKeys, file: &str, unit: Unit) -> Option<PerKwh> {
        let zone = self.zone(path, keys.zone.as_deref());
        let at = path.key("trace");
        self.file(&at, file, "trace")?;
        self.calendar.is_used = true;
        let (time, column) = (keys.time.clone(), keys.column.clone());
        let options = SeriesOptions { time, column, unit, zone };
        let trace = match self.calendar.traces.read(file, &options) {
            Ok((trace, facts)) => {
                let way = (file.to_owned(), options);
                if !self.calendar.told.contains(&way) {
                    self.tell(&at, &trace, &facts, &way.1.unit);
                    self.calendar.told.push(way);
                }
                trace
            }
            // The files of a run that is over need not be there any more.
            Err(_) if self.document.kept => Trace::absent(short(file)),
            Err(error) => {
                self.wrong_so(&at, &error, error.hint());
                return None;
            }
        };
        let (Some(begin), Some(end)) = (trace.begin(), trace.end()) else {
            return Some(PerKwh::Trace { trace, origin: Span::ZERO });
        };
        let Some(begins) = self.calendar.begins else {
            let message = format!(
                "a trace needs a `calendar`, which says when the run begins, such as `calendar = \"{begin}\"`, where the trace begins"
            );
            return self.refuse(&at, message);
        };
        let Some(origin) = begins.since(begin).filter(|_| begins < end) else {
            let message =
                format!("the trace is of {begin} to {end}, and the run begins at {begins} (`calendar`)");
            return self.refuse(&at, message);
        };
        let (last, lasts) = match (self.calendar.until, self.calendar.at_least) {
            (Some(until), _) => (Some(until), "may last until"),
            (None, least) => (least, "is accounted at least until"),
        };
        if let Some(last) = last.and_then(|last| begins.plus(last)).filter(|last| *last > end) {
            let message =
                format!("the trace ends at {end}, and the run {lasts} {last}: its last value goes on");
            self.warn(&at, message);
        }
        Some(PerKwh::Trace { trace, origin })
    }

    /// Keeps a line about a trace, and what a reader of figures should know of it.
    fn tell(&mut self, path: &Path, trace: &Trace, facts: &SeriesFacts, unit: &Unit) {
        let name = trace.name();
        for warning in facts.warnings() {
            let note = format!("the trace `{name}`: {warning}");
            self.calendar.notes.push(note.clone());
            self.warn(path, note);
        }
        let line = trace.begin().map(|begin| format!("`{name}`: {}", facts.line(begin, unit)));
        self.calendar.lines.extend(line);
    }
}
