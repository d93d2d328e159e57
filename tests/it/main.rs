//! The tests of the library as a whole, in one binary.

mod invariants;
mod oracle;
mod support;
