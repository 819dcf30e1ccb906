//! The resources of one operation: memory and threads.

use std::sync::Arc;

use dataset::layout::ByteSize;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rootfile::{Error, Hint, HintValue, Result};

/// Memory and threads for one operation. Output does not depend on either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes for metadata, scratch buffers and finished output that waits to be appended, all together.
    pub memory: u64,
    /// Worker threads, at least one.
    pub threads: usize,
}

/// Default memory of an operation: 1 GiB, half of what the field's batch systems grant per core.
pub const DEFAULT_MEMORY: u64 = 1 << 30;

/// Most threads of an operation: so many for each core, as some wait for disks and other machines, and on few cores this number. More would
/// only take memory.
const THREADS_PER_CORE: usize = 4;
const MOST_ON_FEW_CORES: usize = 64;

/// Threads keep busy with about so many bytes each.
const KEEPS_BUSY: u64 = 1 << 20;

impl Default for Budget {
    fn default() -> Self {
        Self { memory: DEFAULT_MEMORY, threads: all_cores() }
    }
}

impl Budget {
    /// A budget with `threads` workers, or one per core for 0. Of more than keep a machine busy it has as many as do.
    pub fn new(memory: u64, threads: usize) -> Self {
        let cores = all_cores();
        let most = (cores * THREADS_PER_CORE).max(MOST_ON_FEW_CORES);
        Self { memory, threads: if threads == 0 { cores } else { threads.min(most) } }
    }

    /// The same with no more threads than so many bytes keep busy.
    pub(crate) fn for_bytes(self, bytes: u64) -> Self {
        let busy = usize::try_from(bytes.div_ceil(KEEPS_BUSY)).unwrap_or(usize::MAX);
        Self { threads: self.threads.min(busy).max(1), ..self }
    }

    /// The error for a budget below the smallest possible one of `least` bytes. `why` may explain that size.
    pub(crate) fn too_small(&self, least: u64, why: &str) -> Error {
        too_small(self.memory, least, why)
    }

    /// An error of work that had one of so many parts of this memory, in terms of all of it.
    pub(crate) fn in_whole(&self, error: Error, parts: u64) -> Error {
        let least = |hint: &Hint| match hint.value() {
            HintValue::Text(size) if hint.option() == "memory" => size.parse::<ByteSize>().ok(),
            _ => None,
        };
        let Some(ByteSize(least)) = error.hints().iter().find_map(least) else { return error };
        let told = self.too_small(least.saturating_mul(parts), "");
        error.path().map(std::path::Path::to_path_buf).into_iter().fold(told, Error::file)
    }

    /// A thread pool of the budget's size.
    pub(crate) fn team(&self) -> Result<ThreadPool> {
        let team = ThreadPoolBuilder::new().num_threads(self.threads).thread_name(|n| format!("basketry-{n}")).build();
        team.map_err(|e| Error::from(std::io::Error::other(e)))
    }

    /// A thread pool of the budget's size, if that is more than one thread.
    pub(crate) fn helpers(&self) -> Result<Option<Arc<ThreadPool>>> {
        if self.threads > 1 { Ok(Some(Arc::new(self.team()?))) } else { Ok(None) }
    }

    /// Divides the memory: first metadata, then scratch for each thread, the rest for waiting output. Uses fewer threads if
    /// their scratch does not fit, and fails if one thread does not fit.
    pub(crate) fn share(&self, metadata: u64, scratch: u64) -> Result<Share> {
        let free = self.memory.saturating_sub(metadata);
        if free < scratch {
            let why = format!(
                " ({} MB of metadata, {} MB for the largest piece of work)",
                metadata.div_ceil(1_000_000),
                scratch.div_ceil(1_000_000),
            );
            return Err(self.too_small(metadata.saturating_add(scratch), &why));
        }
        let fitting = free.checked_div(scratch).unwrap_or(u64::MAX);
        let threads = usize::try_from(fitting).unwrap_or(usize::MAX).min(self.threads).max(1);
        Ok(Share { threads, waiting: free - scratch * threads as u64, free })
    }
}

/// The error for a budget of `have` bytes below the smallest possible one of `least` bytes. `why` may explain that size.
pub(crate) fn too_small(have: u64, least: u64, why: &str) -> Error {
    let (have, least) = (ByteSize(have), least.div_ceil(1_000_000));
    let memory = Hint::text("memory", format!("{least}MB"));
    let message = format!("a memory budget of {have} is too small: the smallest that would do is {memory}{why}");
    Error::request(message).hint(memory)
}

/// A budget, divided.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    /// Threads that fit.
    pub threads: usize,
    /// Bytes for waiting output.
    pub waiting: u64,
    /// Bytes for waiting output and the scratch of all threads: the same for any number of threads.
    pub free: u64,
}

impl Share {
    /// The rest of the share when `bytes` of the memory are used for something else, and each thread needs `scratch`.
    pub(crate) fn beside(self, bytes: u64, scratch: u64) -> Self {
        let free = self.free.saturating_sub(bytes);
        let fitting = free.checked_div(scratch).unwrap_or(u64::MAX);
        let threads = usize::try_from(fitting).unwrap_or(usize::MAX).clamp(1, self.threads.max(1));
        Self { threads, waiting: free.saturating_sub(scratch * threads as u64), free }
    }
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_small_a_budget_names_the_smallest_that_would_do() {
        let message = Budget::new(10_000_000, 2).share(4_000_000, 9_000_000).unwrap_err().to_string();
        assert!(message.contains("--memory 13MB"), "{message}");
    }

    #[test]
    fn there_are_no_more_threads_than_keep_busy() {
        assert_eq!(Budget::new(1, 3).threads, 3);
        assert!((64..100_000).contains(&Budget::new(1, 1_000_000).threads));
        let budget = Budget::new(1, 8);
        let threads = [0, 1, 3 << 20, u64::MAX].map(|bytes| budget.for_bytes(bytes).threads);
        assert_eq!(threads, [1, 1, 3, 8]);
    }

    #[test]
    fn threads_give_way_to_memory() {
        let share = Budget::new(40_000_000, 8).share(10_000_000, 9_000_000).unwrap();
        assert_eq!((share.threads, share.waiting), (3, 3_000_000));
    }
}
