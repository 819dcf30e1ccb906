//! The `basketry` command, as a program of its own. All that it does lies in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(basketry_cli::run(std::env::args_os()))
}
