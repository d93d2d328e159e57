//! The tests of the library as a whole, in one binary.

mod chaos;
mod invariants;
mod oracle;
mod support;
