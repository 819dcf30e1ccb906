//! The entries of a basket as bytes, with their ends.

/// The bytes of consecutive entries, as a basket holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedEntries {
    /// The bytes of all entries.
    pub bytes: Vec<u8>,
    /// Where the first entry begins in `bytes`. Other bytes may come before.
    pub start: usize,
    /// The end of each entry, counted from `start`; empty if all entries have the same size.
    pub ends: Vec<u32>,
}

impl EncodedEntries {
    /// Frees memory that holds no entries.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Removes the entries and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.start = 0;
        self.ends.clear();
    }
}
