//! The operating system: subprocesses and what descends from them, threads, CPU clocks, the host, and shell quoting. Nothing here knows ROOT
//! files.

pub(crate) mod clock;
pub mod descendants;
pub mod host;
pub(crate) mod kernel;
pub(crate) mod on_each;
pub(crate) mod shell;
pub mod subprocess;
