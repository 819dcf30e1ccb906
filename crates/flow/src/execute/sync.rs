//! The synchronisation primitives of `shared_work`, and of the writer's `memory_limiter` and `commit_order`, in one place, so that
//! `tests/write_model.rs` can replace them by those of loom.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::{ThreadId, current};

/// How often in a row a thread that waits for memory finds nothing changed, before it takes that for a standstill.
pub(crate) const PATIENCE: u32 = 4;
