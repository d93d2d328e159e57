//! What energy, money and carbon were spent on.

use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::platform::{Amounts, DataBill};
use crate::units::{Carbon, Energy, Money};

/// The line of moved data.
const DATA: &str = "data";

/// What energy, electricity and carbon were spent on. `useful + wasted + overhead + idle + asleep + transitions + cooling + data = total`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Purposes {
    /// Energy, in kilowatt-hours.
    pub energy_kwh: Purpose,
    /// Cost of the electricity, at the sites where it has a price; left out if it has a price nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub electricity: Option<Purpose>,
    /// Carbon in kilograms of CO₂ equivalent, at the sites whose carbon intensity is known; left out if it is known nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carbon_kg: Option<Purpose>,
}

/// What an amount was spent on.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Purpose {
    /// Jobs that completed, and what checkpoints kept of failed attempts.
    pub useful: f64,
    /// Jobs that did not complete, and failed attempts.
    pub wasted: f64,
    /// Suspending, resuming, checkpointing and staging.
    pub overhead: f64,
    /// Idle processors of machines that were awake.
    pub idle: f64,
    /// Machines that slept.
    pub asleep: f64,
    /// Machines on their way to sleep and back.
    pub transitions: f64,
    /// What the facility draws beside its machines: its PUE.
    pub cooling: f64,
    /// Data that was moved between places; only of all sites together, where it takes or costs anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<f64>,
    /// All of it: what the facility draws, and the network.
    pub total: f64,
}

impl Ledger {
    /// What energy, electricity and carbon were spent on, exactly: each purpose by its name, and all of them as `total`. Those whose price or
    /// intensity is not known are zero.
    pub fn purposes(&self) -> impl Iterator<Item = (&'static str, Amounts)> {
        self.lines().into_iter().filter(|(purpose, _)| *purpose != DATA || self.data.is_some())
    }

    /// What the facilities drew.
    fn facilities(&self) -> Amounts {
        Amounts {
            energy: self.facility,
            electricity: self.electricity.unwrap_or_default(),
            carbon: self.carbon.unwrap_or_default(),
        }
    }

    /// What the facilities drew, and the network.
    pub(super) fn total(&self) -> Amounts {
        let mut total = self.facilities();
        total += self.data.unwrap_or_default().amounts;
        total
    }

    fn lines(&self) -> [(&'static str, Amounts); 9] {
        let bill = &self.bill;
        let data = self.data.unwrap_or_default().amounts;
        [
            ("useful", bill.useful),
            ("wasted", bill.wasted),
            ("overhead", bill.overhead),
            ("idle", bill.idle()),
            ("asleep", bill.asleep),
            ("transitions", bill.transitions),
            ("cooling", self.facilities() - bill.meter),
            (DATA, data),
            ("total", self.total()),
        ]
    }

    /// The ledger of all sites and of the network between them.
    pub fn of_all<'a>(sites: impl Iterator<Item = &'a Self>, data: Option<DataBill>) -> Self {
        let mut all = Self::default();
        sites.for_each(|ledger| all.merge(ledger));
        all.data = data;
        all
    }

    /// The part of the carbon of making the machines that falls to the run, if it is known of any. It is no part of the total.
    pub const fn embodied(&self) -> Option<Carbon> {
        self.embodied
    }

    /// Whether anything was drawn, or data takes or costs anything.
    pub fn draws(&self) -> bool {
        self.facility > Energy::ZERO || self.data.is_some()
    }

    /// Whether electricity has a price, and whether its carbon intensity is known, at any of the sites, or of moved data.
    pub fn knows(&self) -> (bool, bool) {
        let data = self.data.unwrap_or_default();
        (self.electricity.is_some() || data.priced, self.carbon.is_some() || data.emitted)
    }

    /// The same for people, if anything was drawn.
    pub(super) fn spent(&self) -> Option<Purposes> {
        if !self.draws() {
            return None;
        }
        let of = |amount: fn(&Amounts) -> f64| {
            let [useful, wasted, overhead, idle, asleep, transitions, cooling, data, total] =
                self.lines().map(|(_, amounts)| amount(&amounts));
            let data = self.data.map(|_| data);
            Purpose { useful, wasted, overhead, idle, asleep, transitions, cooling, data, total }
        };
        let (priced, emitted) = self.knows();
        Some(Purposes {
            energy_kwh: of(|amounts| Energy::as_kwh_f64(amounts.energy)),
            electricity: priced.then(|| of(|amounts| Money::as_f64(amounts.electricity))),
            carbon_kg: emitted.then(|| of(|amounts| Carbon::as_kg_f64(amounts.carbon))),
        })
    }
}
