//! Integration tests: one binary, a module a subject.

mod archive_batsim;
mod archive_census;
mod archive_swf;
mod chaos;
mod invariants;
mod oracle;
mod source_marks;
mod support;
