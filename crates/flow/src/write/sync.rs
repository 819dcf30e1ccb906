//! What gate and line are made of, in one place, so that `tests/write_model.rs` can put loom's in its stead.

pub(super) use std::sync::atomic::{AtomicU64, Ordering};
pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub(super) use std::thread::{ThreadId, current};
