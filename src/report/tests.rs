//! Tests of the text of tables.

mod grid;
mod shown;
