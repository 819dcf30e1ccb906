//! The synchronisation primitives of `memory_limiter` and `commit_order`, in one place, so that `tests/write_model.rs` can
//! replace them by those of loom.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::{ThreadId, current};
