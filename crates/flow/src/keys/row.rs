//! A key with the place of its entry: what is sorted, and what waits on disk.

/// Bytes of a row on disk.
pub(super) const ROW: usize = 24;
/// Bits of a place that are the number of an entry; the others are the number of its file.
const ENTRY_BITS: u32 = 40;
/// Most entries of a table with a place in a row, and most files.
pub(super) const MOST_ENTRIES: u64 = 1 << ENTRY_BITS;
pub(super) const MOST_FILES: usize = 1 << (u64::BITS - ENTRY_BITS);

/// A key and the place of its entry. Rows are in the order of keys, and those of one key in the order of places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    // Two halves, so that a row takes no more bytes than it has.
    high: u64,
    low: u64,
    place: u64,
}

impl Row {
    /// A key, and the place of an entry that has it.
    pub fn new(key: u128, place: u64) -> Self {
        Self { high: (key >> 64) as u64, low: key as u64, place }
    }

    pub fn key(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }

    pub fn place(self) -> u64 {
        self.place
    }

    /// The number of the file.
    pub fn file(self) -> usize {
        (self.place >> ENTRY_BITS) as usize
    }

    /// The number of the entry in its file.
    pub fn entry(self) -> u64 {
        self.place & (MOST_ENTRIES - 1)
    }

    pub fn to_bytes(self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        for (bytes, word) in bytes.chunks_exact_mut(8).zip([self.high, self.low, self.place]) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        let mut next = || words.next().unwrap_or(0);
        Self { high: next(), low: next(), place: next() }
    }
}

/// The place of the first entry of a file.
pub(crate) fn first_place(file: usize) -> u64 {
    (file as u64) << ENTRY_BITS
}
