//! The `basketry` command as a program. The library beside it does all the work.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(basketry_cli::run(std::env::args_os()))
}
