//! The operating system: subprocesses, CPU clocks, the host, and shell quoting. Nothing here knows ROOT files.

pub(crate) mod clock;
pub mod host;
pub(crate) mod shell;
pub mod subprocess;
