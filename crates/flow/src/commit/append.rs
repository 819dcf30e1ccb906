//! What is appended to the output, and who appends it. The caller decides the order.

use rootfile::{FileWriter, Result};

/// Finished records, one after the other. Their positions in the file are not known yet.
pub(crate) trait Batch: Default + Send {
    /// Bytes that will be appended.
    fn bytes(&self) -> u64;

    /// Bytes that the records take of the memory for waiting output.
    fn held(&self) -> u64 {
        self.bytes()
    }

    /// Forgets the records. Their bytes may stay, to be overwritten.
    fn forget(&mut self);
}

/// Appends batches to a file, and keeps what its metadata need to know of them.
pub(crate) trait Append: Send {
    /// What is appended.
    type Batch: Batch;

    /// Appends a batch.
    fn append(&mut self, writer: &mut FileWriter, batch: &mut Self::Batch) -> Result<()>;
}
