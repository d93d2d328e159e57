//! Engines on toy entities: any engine, windows and number of threads give the same records in the same order, and failures are
//! named.

mod actors;
mod faults;
mod paced;
mod same;
mod toy;
