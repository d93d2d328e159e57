//! Integration tests: one binary, a module a subject.

mod archive_batsim;
mod archive_census;
mod archive_published;
mod archive_swf;
mod booking;
mod chaos;
mod cli;
mod golden;
mod hand_worked;
mod invariants;
mod oracle;
mod scenario;
mod source_marks;
mod support;
mod tariffs;
