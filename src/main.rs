//! The `gridemu` command.

fn main() {}
