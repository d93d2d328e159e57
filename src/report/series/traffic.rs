//! Copies of files into and out of each place, over time.

use super::links::{LinkUse, use_of_links};
use super::steps::Accrual;
use crate::model::{NetworkSpec, TransferOutcome};
use crate::output::{ReadError, RunFolder, TransferRow};

/// Bins from the first copy to the last.
pub(crate) const TRAFFIC_BINS: u32 = 120;

/// The copies of files that arrived, by place.
pub(crate) struct Traffic {
    /// From the begin of the first copy to the end of the last, in microseconds.
    pub(crate) span: (u64, u64),
    /// The places from or to which copies went, in the order of their names, the portal first.
    pub(crate) places: Vec<Flow>,
    /// Number of copies that arrived.
    pub(crate) arrived: u64,
    /// Number of copies that did not arrive, of which it is not known how much was moved.
    pub(crate) broken: u64,
    /// What the copies used of links and uplinks with a bandwidth.
    pub(crate) links: Vec<LinkUse>,
}

/// Bytes into and out of a place.
pub(crate) struct Flow {
    /// Its name.
    pub(crate) name: String,
    /// What arrived.
    pub(crate) into: Accrual,
    /// What left.
    pub(crate) out: Accrual,
}

impl Traffic {
    /// Reads the copies of a run; `None` if no file was moved. The use of links is that of this network, if it is known.
    pub(crate) fn read(folder: &RunFolder, network: Option<&NetworkSpec>) -> Result<Option<Self>, ReadError> {
        let Some(rows) = folder.transfers()? else { return Ok(None) };
        let rows = rows.collect::<Result<Vec<TransferRow>, _>>()?;
        let arrived = |row: &&TransferRow| row.outcome == TransferOutcome::Arrived;
        let first = rows.iter().filter(arrived).filter_map(|row| row.began).min();
        let last = rows.iter().filter(arrived).map(|row| row.ended).max();
        let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
        let span = (first.micros(), last.micros().max(first.micros() + 1));
        let mut traffic = Self { span, places: Vec::new(), arrived: 0, broken: 0, links: Vec::new() };
        let (moved, broken): (Vec<TransferRow>, Vec<TransferRow>) =
            rows.into_iter().filter(|row| row.began.is_some()).partition(|row| arrived(&row));
        (traffic.arrived, traffic.broken) = (moved.len() as u64, broken.len() as u64);
        if let Some(network) = network {
            traffic.links = use_of_links(&moved, span, network, &sites_of(folder));
        }
        for row in moved {
            let Some(began) = row.began else { continue };
            let (from, to, bytes) = (began.micros(), row.ended.micros(), i128::from(row.bytes));
            traffic.place(&row.to).into.add(from, to, bytes);
            traffic.place(&row.from).out.add(from, to, bytes);
        }
        traffic.places.sort_by(|a, b| (a.name != "portal", &a.name).cmp(&(b.name != "portal", &b.name)));
        Ok(Some(traffic).filter(|traffic| traffic.places.iter().any(|place| place.moved() > 0)))
    }

    fn place(&mut self, name: &str) -> &mut Flow {
        let known = self.places.iter().position(|place| place.name == name);
        let at = known.unwrap_or_else(|| {
            let [into, out] = [(); 2].map(|()| Accrual::new(self.span, TRAFFIC_BINS));
            self.places.push(Flow { name: name.to_owned(), into, out });
            self.places.len() - 1
        });
        &mut self.places[at]
    }
}

/// The names of the sites of a run, by number.
fn sites_of(folder: &RunFolder) -> Vec<String> {
    let sites = folder.summary().and_then(|summary| summary["sites"].as_array());
    let names = sites.into_iter().flatten().map(|site| site["name"].as_str().unwrap_or_default());
    names.map(str::to_owned).collect()
}

impl Flow {
    /// Bytes into and out of the place.
    pub(crate) fn moved(&self) -> i128 {
        self.into.sum() + self.out.sum()
    }
}
