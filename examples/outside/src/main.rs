//! The `gridemu` command with a local policy and a broker policy of one's own, which all of its commands know.

mod smallest_first;
mod tightest;

use std::process::ExitCode;

use gridemu::grid::Policies;

fn main() -> ExitCode {
    let policies = Policies::standard().with_local(smallest_first::info()).with_broker(tightest::info());
    gridemu::cli::main_with(policies)
}
