//! Integration tests: one binary, a module a subject.

mod archive_batsim;
mod archive_census;
mod archive_published;
mod archive_swf;
mod booking;
mod brokers;
mod chaos;
mod churn;
mod churn_invariants;
mod cli;
mod driver;
mod golden;
mod grid;
mod hand_worked;
mod invariants;
mod lawful;
mod omniscient;
mod oracle;
mod runtime;
mod scenario;
mod source_marks;
mod support;
mod tariffs;
