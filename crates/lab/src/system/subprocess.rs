//! Runs as subprocesses: starts a program and reads its result, with the memory of a process.
//!
//! All measurements that compare runs use this module, so that all are measured alike.

use std::process::Command;

use rootfile::{Error, Result};
use rustix::process::{Pid, Signal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::kernel::{hear_end_of_parent, own_memory};

/// Shells add this to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;
/// The variable that has the number of the process that started a run.
pub const STARTER: &str = "BASKETRY_STARTED_BY";

/// Runs a program whose last line is JSON, and reads that.
///
/// # Errors
///
/// The program cannot be started, fails, or its last line is not the JSON of `T`.
pub fn measure<T: DeserializeOwned>(command: &mut Command) -> Result<T> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.env(STARTER, std::process::id().to_string());
    let done = command.output().map_err(|e| Error::from(e).file(&name))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if !done.status.success() {
        let stderr = String::from_utf8_lossy(&done.stderr);
        let stderr = stderr.lines().last().unwrap_or_default().to_owned();
        return Err(Error::request(format!("{name} ended with {}: {stderr}", done.status)));
    }
    serde_json::from_str(last).map_err(|e| Error::request(format!("{name} said {last:?}: {e}")))
}

/// Ends this process when its parent ends. Otherwise a run would go on after its result is no longer needed.
pub fn end_with_parent() {
    // Without the signal a run only ends later.
    let _ = hear_end_of_parent(Signal::TERM);
    // The parent may have ended before.
    let starter = std::env::var(STARTER).ok().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw);
    if starter.is_some() && rustix::process::getppid() != starter {
        std::process::exit(SIGNALLED + Signal::TERM.as_raw());
    }
}

/// Bytes of memory and of address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Resident.
    pub rss: u64,
    /// Of address space.
    pub vsize: u64,
}

impl Memory {
    /// The peak memory of this process.
    pub fn peak() -> Self {
        let (rss, vsize) = own_memory(true);
        Self { rss, vsize }
    }

    /// The memory of this process now.
    pub fn now() -> Self {
        let (rss, vsize) = own_memory(false);
        Self { rss, vsize }
    }

    /// The larger of both, each for itself.
    #[must_use]
    pub fn or_more(self, other: Self) -> Self {
        Self { rss: self.rss.max(other.rss), vsize: self.vsize.max(other.vsize) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_bench::Run;

    #[test]
    fn the_last_line_of_json_is_read_and_other_output_is_an_error() {
        let run: Run = measure(Command::new("printf").arg("noise\\n{\"wall\": 1.5, \"bytes\": 7}\\n")).unwrap();
        assert_eq!((run.wall, run.bytes), (1.5, 7));
        assert!(measure::<Run>(Command::new("printf").arg("nothing")).is_err());
        assert!(measure::<Run>(&mut Command::new("false")).unwrap_err().to_string().contains("false ended"));
    }

    #[test]
    fn this_process_has_memory() {
        let (now, peak) = (Memory::now(), Memory::peak());
        assert!(peak.rss > 100_000 && peak.vsize >= peak.rss && now.rss > 100_000, "{now:?} {peak:?}");
    }
}
