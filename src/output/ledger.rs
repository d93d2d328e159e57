//! `ledger.csv`: what energy, money and carbon were spent on.

use super::cells::{self, Label};
use crate::metrics::Ledger;
use crate::model::SiteSpec;
use crate::platform::DataBill;
use crate::units::Money;

/// The columns of `ledger.csv`.
pub(super) const HEADER: &str = "site,purpose,energy_j,electricity,carbon_g";
/// The name of the rows of all sites together; no site may have it.
const ALL: &str = "grid";

/// The file: a row for each purpose of each site that drew anything, and of all together if there are several, or data takes or costs anything. Empty
/// if nothing was drawn.
pub(super) fn text(sites: &[(SiteSpec, Ledger)], data: Option<DataBill>) -> Vec<u8> {
    let all = Ledger::of_all(sites.iter().map(|(_, ledger)| ledger), data);
    let several = (sites.len() > 1 || data.is_some()).then_some((ALL, &all));
    let each = sites.iter().map(|(spec, ledger)| (spec.name.as_str(), ledger)).chain(several);
    let mut out = Vec::new();
    for (name, ledger) in each.filter(|(_, ledger)| ledger.draws()) {
        let (priced, emitted) = ledger.knows();
        for (purpose, amounts) in ledger.purposes() {
            Label::new(name).write(&mut out);
            Label::new(purpose).write(&mut out);
            cells::joules(&mut out, amounts.energy);
            if priced {
                cells::money(&mut out, amounts.electricity)
            } else {
                out.push(b',')
            }
            if emitted {
                // Nanograms are to grams what the units of money are to its.
                cells::money(&mut out, Money::from_nanos(amounts.carbon.nanograms()));
            } else {
                out.push(b',');
            }
            out.pop();
            out.push(b'\n');
        }
        if let Some(carbon) = ledger.embodied() {
            Label::new(name).write(&mut out);
            out.extend_from_slice(b"embodied,0,,");
            cells::money(&mut out, Money::from_nanos(carbon.nanograms()));
            out.pop();
            out.push(b'\n');
        }
    }
    if out.is_empty() {
        return out;
    }
    [HEADER.as_bytes(), b"\n", &out].concat()
}
