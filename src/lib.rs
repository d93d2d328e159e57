//! gridemu: a grid broker emulator.
//!
//! The rooms of this library, ground floor first; a room uses only the rooms above it in this list.
//! `ARCHITECTURE.md` in the repository is the map.

pub mod units;

pub mod model;

pub mod workload;

pub mod formats;

pub mod platform;

pub mod local;

pub mod broker;

pub mod entity;

pub mod grid;

pub mod store;

pub mod runtime;

pub mod metrics;

pub mod report;

pub mod experiment;

pub mod cli;
