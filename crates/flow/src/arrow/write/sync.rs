//! The synchronisation primitives of `memory_limiter` and `commit_order`: those of the crate.

pub(crate) use crate::execute::sync::{
    Arc, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, PATIENCE, ThreadId, current,
};
