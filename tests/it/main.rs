//! Integration tests: one binary, a module a subject.

mod archive_batsim;
mod archive_census;
mod archive_published;
mod archive_swf;
mod cli;
mod golden;
mod oracle;
mod source_marks;
mod support;
