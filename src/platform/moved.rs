//! What moving data took, cost and caused.

use ethnum::I256;
use serde::{Deserialize, Serialize};

use super::bill::Amounts;
use crate::model::DataRates;
use crate::units::{Bytes, Carbon, Energy, Money};

/// The bytes of a gigabyte.
const GIGA: u128 = 1_000_000_000;
/// The nanojoules of a kilowatt-hour.
const KWH: u128 = 3_600_000_000_000_000;

/// The account of a network: data that has arrived, and what it took. Each sum is rounded down once for each time in which rates are the same.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    rates: DataRates,
    /// The bytes at these rates.
    bytes: u128,
    /// What the bytes at earlier rates took.
    earlier: Amounts,
}

/// The line of data in a ledger.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataBill {
    /// What it took; as money what was paid for moving it.
    pub amounts: Amounts,
    /// Whether it has a price.
    pub priced: bool,
    /// Whether the carbon intensity of its energy is known.
    pub emitted: bool,
}

impl Moved {
    /// The account at these rates.
    pub fn new(rates: DataRates) -> Self {
        Self { rates, ..Self::default() }
    }

    /// Counts data that has arrived.
    pub fn add(&mut self, data: Bytes) {
        self.bytes += u128::from(data.count());
    }

    /// Other rates hold from now on.
    pub fn change(&mut self, rates: DataRates) {
        if self.rates != rates {
            *self = Self { rates, bytes: 0, earlier: self.amounts() };
        }
    }

    /// The line of the ledger; `None` if data takes and costs nothing.
    pub fn bill(&self) -> Option<DataBill> {
        let DataRates { price, carbon, .. } = self.rates;
        let amounts = self.amounts();
        let nothing = self.rates.is_none() && amounts == Amounts::default();
        let Amounts { electricity, carbon: emitted, .. } = self.earlier;
        (!nothing).then(|| DataBill {
            amounts,
            priced: price.is_some() || electricity != Money::ZERO,
            emitted: carbon.is_some() || emitted != Carbon::ZERO,
        })
    }

    fn amounts(&self) -> Amounts {
        let DataRates { energy, price, carbon } = self.rates;
        let of = |rate: u64| self.bytes * u128::from(rate);
        let energy = of(energy.nanojoules());
        let intensity = carbon.map_or(0, |carbon| carbon.micrograms());
        // A microgram is 1000 nanograms. In two steps: more than an exabyte at a high intensity does not fit in 128 bits.
        let emitted = I256::from(energy).wrapping_mul(I256::from(intensity)) / I256::from(GIGA / 1_000 * KWH);
        let mut all = self.earlier;
        all += Amounts {
            energy: Energy::from_nanojoules(energy / GIGA),
            electricity: Money::from_nanos((of(price.map_or(0, |price| price.nanos())) / GIGA).cast_signed()),
            carbon: Carbon::from_nanograms(i128::try_from(emitted).unwrap_or(i128::MAX)),
        };
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(energy: &str, price: Option<&str>, carbon: Option<&str>) -> DataRates {
        DataRates {
            energy: energy.parse().unwrap(),
            price: price.map(|price| price.parse().unwrap()),
            carbon: carbon.map(|carbon| carbon.parse().unwrap()),
        }
    }

    #[test]
    fn a_gigabyte_and_a_half_by_hand() {
        let mut moved = Moved::new(rates("7.2 kJ/GB", Some("0.09/GB"), Some("300 g/kWh")));
        assert_eq!(moved.bill().unwrap().amounts, Amounts::default());
        moved.add(Bytes::new(1_000_000_000));
        moved.add(Bytes::new(500_000_000));
        // 10.8 kJ are 0.003 kWh: 0.9 g.
        let expected = Amounts {
            energy: Energy::from_nanojoules(10_800_000_000_000),
            electricity: Money::from_nanos(135_000_000),
            carbon: Carbon::from_nanograms(900_000_000),
        };
        assert_eq!(moved.bill(), Some(DataBill { amounts: expected, priced: true, emitted: true }));
        // What was moved keeps its price.
        moved.change(rates("0 J/GB", None, None));
        moved.add(Bytes::new(1 << 40));
        assert_eq!(moved.bill(), Some(DataBill { amounts: expected, priced: true, emitted: true }));
    }

    #[test]
    fn data_without_rates_has_no_line_and_exabytes_fit() {
        let mut moved = Moved::default();
        moved.add(Bytes::new(5));
        assert_eq!(moved.bill(), None);
        let mut moved = Moved::new(rates("5000 kWh/GB", Some("18/GB"), Some("100 kg/kWh")));
        moved.add(Bytes::new(u64::MAX));
        // 18446744073.709551615 GB × 5000 kWh × 10¹⁴ ng.
        assert_eq!(moved.bill().unwrap().amounts.carbon.nanograms(), 9_223_372_036_854_775_807_500_000_000);
    }
}
