//! The host that measurements are made on. Results of different hosts are never combined.

use rustix::system::uname;
use serde::{Deserialize, Serialize};

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Its name in the network.
    pub host: String,
    /// Kernel.
    pub kernel: String,
    /// Model of its processors.
    pub processor: String,
    /// Processors that may be used.
    pub processors: usize,
    /// Bytes of memory.
    pub memory: u64,
}

impl HostInfo {
    /// This one.
    pub fn here() -> Self {
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let value = |text: &str, key: &str| {
            let line = text.lines().find(|line| line.starts_with(key))?;
            line.split_once(':').map(|(_, value)| value.trim().to_owned())
        };
        let memory = value(&text("/proc/meminfo"), "MemTotal");
        let kilobytes = memory.and_then(|memory| memory.split(' ').next()?.parse::<u64>().ok());
        let names = uname();
        Self {
            host: names.nodename().to_string_lossy().into_owned(),
            kernel: format!("{} {}", names.sysname().to_string_lossy(), names.release().to_string_lossy()),
            processor: value(&text("/proc/cpuinfo"), "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            memory: kilobytes.unwrap_or(0) * 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_name_and_memory() {
        let here = HostInfo::here();
        assert!(!here.host.is_empty() && !here.processor.is_empty() && here.memory > 1 << 20, "{here:?}");
    }
}
