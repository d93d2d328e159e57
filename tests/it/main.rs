//! The tests of the library as a whole, in one binary.

mod oracle;
mod support;
