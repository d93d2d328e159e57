//! The `gridemu` command. Everything it does is in the library.

use std::process::ExitCode;

use gridemu::grid::Policies;

fn main() -> ExitCode {
    gridemu::cli::main_with(Policies::standard())
}
