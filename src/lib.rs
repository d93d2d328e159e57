//! gridemu: a grid broker emulator.
//!
//! The rooms of this library, ground floor first; a room uses only the rooms above it in this list.
//! `ARCHITECTURE.md` in the repository is the map.

pub mod metrics;
pub mod model;
pub mod platform;
pub mod report;
pub mod units;
pub mod workload;
