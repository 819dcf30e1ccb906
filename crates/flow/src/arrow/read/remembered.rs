//! What an open table remembers of the values of columns in its clusters, and the memory that it takes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use expr::Extent;

/// Bytes that an extent takes where it is kept.
pub(super) const KEPT: u64 = (size_of::<Place>() + size_of::<Extent>() + 16) as u64;
/// Of a budget, the part that all of them may take.
pub(super) const SHARE: u64 = 64;

/// A column in a cluster, by their numbers.
pub(super) type Place = (usize, usize);

/// What is remembered of columns in clusters.
#[derive(Default)]
pub(super) struct Remembered(Mutex<HashMap<Place, Extent>>);

impl Remembered {
    pub fn all(&self) -> MutexGuard<'_, HashMap<Place, Extent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> u64 {
        KEPT * self.all().len() as u64
    }
}
