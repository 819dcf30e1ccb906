//! Buffers of clusters that are in the file, for those that are filled next: whoever writes a cluster need not be who
//! fills the next, and what an allocator is given back by one thread it keeps from the others. They take what memory
//! nobody else wants.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::plan::TreePlan;
use crate::sink::Chunk;

/// The buffers, those that came last behind the others.
#[derive(Debug, Default)]
pub(super) struct Spares(Mutex<Vec<Spare>>);

/// One cluster's.
#[derive(Debug)]
struct Spare {
    of: Arc<TreePlan>,
    chunks: Vec<Chunk>,
    bytes: u64,
}

impl Spares {
    fn lock(&self) -> MutexGuard<'_, Vec<Spare>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the buffers of a cluster that was written.
    pub fn put(&self, of: &Arc<TreePlan>, chunks: Vec<Chunk>) {
        let bytes = chunks.iter().map(|chunk| chunk.bytes.capacity() as u64).sum();
        self.lock().push(Spare { of: Arc::clone(of), chunks, bytes });
    }

    /// Buffers for a cluster of this tree.
    pub fn take(&self, of: &Arc<TreePlan>) -> Option<Vec<Chunk>> {
        let mut spares = self.lock();
        let found = spares.iter().rposition(|spare| Arc::ptr_eq(&spare.of, of))?;
        Some(spares.remove(found).chunks)
    }

    /// Drops what is more than so many bytes.
    pub fn trim(&self, most: u64) {
        let mut spares = self.lock();
        let mut bytes: u64 = spares.iter().map(|spare| spare.bytes).sum();
        while bytes > most && !spares.is_empty() {
            bytes -= spares.remove(0).bytes;
        }
    }

    /// Drops what is of this tree.
    pub fn forget(&self, of: &Arc<TreePlan>) {
        self.lock().retain(|spare| !Arc::ptr_eq(&spare.of, of));
    }
}
