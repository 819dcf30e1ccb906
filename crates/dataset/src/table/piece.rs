//! Pieces of columns: runs of entries whose bytes are read together, and where these bytes are. A piece reads nothing, and
//! does not know its column.

use std::ops::Range;

use rootfile::Error;

/// Consecutive entries of a column that are read together. If some entries are selected, only these count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First entry, counted from the first of the table.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// Where their bytes are.
    pub stored: Stored,
}

/// Where the bytes of a piece are. Files are numbered among those of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// In a record of a file.
    Record(Record),
    /// In the metadata of the table: a basket inside the record of its tree.
    Embedded {
        /// Index of the file.
        file: u32,
        /// Number among the embedded baskets of the column.
        number: u32,
    },
    /// In the pages of a cluster.
    Pages {
        /// Index of the file.
        file: u32,
        /// Number of the cluster in the table of this file.
        cluster: u32,
        /// Bytes in the file, by the entries' share of the cluster.
        len: u32,
    },
    /// In no file: the entries are the column's default.
    Default,
}

/// A record of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Record {
    /// Index of the file.
    pub file: u32,
    /// Offset of its first byte.
    pub offset: u64,
    /// Number of bytes.
    pub len: u32,
}

impl Record {
    /// Where its bytes are in the file.
    pub fn range(&self) -> Range<u64> {
        self.offset..self.end()
    }

    /// The offset after the last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len.into())
    }
}

impl Piece {
    /// The entry after the last.
    pub fn end(&self) -> u64 {
        self.first_entry + self.entries
    }

    /// Its record, if its bytes are in one.
    pub fn record(&self) -> Option<Record> {
        match self.stored {
            Stored::Record(record) => Some(record),
            _ => None,
        }
    }

    /// Index of its file. None for default entries.
    pub fn file(&self) -> Option<u32> {
        match self.stored {
            Stored::Record(Record { file, .. }) | Stored::Embedded { file, .. } | Stored::Pages { file, .. } => {
                Some(file)
            }
            Stored::Default => None,
        }
    }

    /// Index of the file that is read for it. None if its bytes are in the metadata or in no file.
    pub fn file_read(&self) -> Option<u32> {
        match self.stored {
            Stored::Embedded { .. } => None,
            _ => self.file(),
        }
    }

    /// Bytes that are read for it, compressed.
    pub fn packed_len(&self) -> u32 {
        match self.stored {
            Stored::Record(Record { len, .. }) | Stored::Pages { len, .. } => len,
            Stored::Embedded { .. } | Stored::Default => 0,
        }
    }

    /// The piece with the one behind it, if both are in the pages of one cluster: their entries can be read together.
    #[must_use]
    pub fn with(&self, next: &Self) -> Option<Self> {
        let (Stored::Pages { file, cluster, len }, Stored::Pages { file: its, cluster: of, len: more }) =
            (self.stored, next.stored)
        else {
            return None;
        };
        let is_next = (its, of, next.first_entry) == (file, cluster, self.end());
        let stored = Stored::Pages { file, cluster, len: len.saturating_add(more) };
        is_next.then_some(Self { first_entry: self.first_entry, entries: self.entries + next.entries, stored })
    }

    /// Whether its entries are defaults.
    pub fn is_default(&self) -> bool {
        self.stored == Stored::Default
    }

    /// The same piece in a table that has so many files before its own.
    #[must_use]
    pub fn behind(mut self, files: u32) -> Self {
        match &mut self.stored {
            Stored::Record(Record { file, .. }) | Stored::Embedded { file, .. } | Stored::Pages { file, .. } => {
                *file = file.saturating_add(files);
            }
            Stored::Default => {}
        }
        self
    }

    /// An error in its bytes, with the offset of its record if it has one.
    #[must_use]
    pub fn blame(&self, error: Error) -> Error {
        match self.record() {
            Some(record) => error.at(record.offset),
            None => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_one_cluster_are_one() {
        let piece = |first_entry, cluster, len| Piece {
            first_entry,
            entries: 4,
            stored: Stored::Pages { file: 1, cluster, len },
        };
        let both = piece(3, 2, 5).with(&piece(7, 2, 6)).unwrap();
        assert_eq!((both.first_entry, both.end(), both.packed_len()), (3, 11, 11));
        assert_eq!(both.with(&piece(11, 2, u32::MAX)).map(|all| all.packed_len()), Some(u32::MAX));
        assert_eq!(piece(3, 2, 5).with(&piece(7, 3, 6)), None, "another cluster");
        assert_eq!(piece(3, 2, 5).with(&piece(8, 2, 6)), None, "entries are missing");
        let default = Piece { stored: Stored::Default, ..piece(7, 2, 6) };
        assert_eq!((piece(3, 2, 5).with(&default), default.with(&piece(11, 2, 6))), (None, None));
    }

    #[test]
    fn only_what_is_read_has_a_file_to_read() {
        let record = Record { file: 1, offset: 0, len: 80 };
        let all = [
            (Stored::Record(record), Some(1), Some(1), 80),
            (Stored::Embedded { file: 1, number: 0 }, Some(1), None, 0),
            (Stored::Pages { file: 1, cluster: 0, len: 5 }, Some(1), Some(1), 5),
            (Stored::Default, None, None, 0),
        ];
        for (stored, file, file_read, packed_len) in all {
            let piece = Piece { first_entry: 3, entries: 4, stored };
            assert_eq!((piece.file(), piece.file_read(), piece.packed_len()), (file, file_read, packed_len));
            assert_eq!((piece.behind(2).file(), piece.behind(2).end()), (file.map(|file| file + 2), 7));
            assert_eq!(piece.record().is_some(), piece.blame(Error::corrupt("")).offset().is_some());
        }
        assert_eq!(record.range(), 0..80, "a record may begin with the first byte");
        // The plan of a table has one for each basket.
        assert!(size_of::<Piece>() <= 40);
    }
}
