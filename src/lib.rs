//! gridemu: a grid broker emulator.
//!
//! The modules of this library; a module uses only the modules above it in this list. `ARCHITECTURE.md` in the repository is the map.

pub mod units;

pub mod model;

pub mod workload;

pub mod workflow;

pub mod formats;

pub mod platform;

pub mod search;

pub mod forecast;

pub mod sharing;

pub mod agreement;

pub mod local;

pub mod broker;

pub mod entity;

pub mod grid;

pub mod store;

pub mod runtime;

pub mod metrics;

pub mod output;

pub mod verify;

pub mod scenario;

pub mod experiment;

pub mod study;

pub mod report;

pub mod cli;
