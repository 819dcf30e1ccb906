//! One verb over many files as tasks for a batch system. A task is the argument list of one command, so that a task does just
//! what the command does. This module knows tasks, their states in files, and submit files; it runs nothing.

mod bins;
mod collect;
mod lock;
mod model;
mod names;
mod state;
mod submit;

pub use bins::bins;
pub use collect::{Collected, Failure, collect};
pub use lock::TaskLock;
pub use model::{BadInput, Jobs, SCHEMA, Task};
pub use names::{output_name, stem};
pub use state::{Ended, Found, Output, State, StateFolder, runner};
pub use submit::{Batch, run_command, submit_file};
