//! Quantities as integers: time, rates and work, power and energy, money, data; the calendar.
//!
//! Every quantity is a newtype over an integer, so sums are exact and a result does not depend on the
//! order of summation or on the machine. Text such as `"10 min"` or `"350 W"` is read and written
//! here; a lossy conversion is an error. What the quantities *mean* for a job or a
//! machine belongs to [`crate::model`].

mod calendar;
mod carbon;
mod data;
mod energy;
mod money;
mod quantity;
mod stamp;
mod text;
mod time;
mod told;
mod work;

pub(crate) use calendar::Local;
pub use calendar::{CalendarError, Timestamp, Zone};
pub use carbon::{Carbon, CarbonIntensity};
pub use data::{Bandwidth, Bytes, DataEnergy, DataPrice};
pub use energy::{Energy, Power};
pub use money::{EnergyPrice, Money, Price};
pub use stamp::Stamp;
pub use text::UnitError;
pub(crate) use text::{
    counted, exponential, line, lines, no_formula, parse as parse_units, unguarded, unsigned_zero, visible,
};
pub use time::{Clock, Span, Time, write_seconds};
pub(crate) use told::grouped;
pub use work::{Rate, Work};
