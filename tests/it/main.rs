//! The tests of the library as a whole, in one binary.

mod chaos;
mod hand_worked;
mod invariants;
mod oracle;
mod support;
