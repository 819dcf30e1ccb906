//! Finished pages of the columns of one cluster, in memory. Pages with the same bytes are found here, so that they are stored once.

use std::collections::HashMap;

use dataset::layout::Compression;
use dataset::ntuple::page::CHECKSUM;
use rootfile::bytes::make_room;
use rootfile::codec::CODEC_ROOM;

/// The pages of one column in a cluster, one after the other. Their checksums lie apart: pages that need no encoding are the elements
/// as they came.
#[derive(Debug)]
pub(crate) struct ColumnPages {
    pub bytes: Vec<u8>,
    pub pages: Vec<MadePage>,
    pub compression: Compression,
}

/// A page of [`ColumnPages`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadePage {
    pub elements: u32,
    /// Its offset in the bytes.
    pub offset: usize,
    /// Its bytes in the file, without the checksum.
    pub len: usize,
    /// Its bytes before compression.
    pub raw: usize,
    pub has_checksum: bool,
    /// That of its bytes, which follows them if `has_checksum`.
    pub checksum: u64,
    /// An earlier page with the same bytes: its column and its number there.
    pub same_as: Option<(usize, usize)>,
}

impl MadePage {
    /// Its bytes in the file, with the checksum.
    pub fn stored_len(&self) -> u64 {
        self.len as u64 + if self.has_checksum { CHECKSUM } else { 0 }
    }
}

impl Default for ColumnPages {
    fn default() -> Self {
        Self::new(Compression::NONE)
    }
}

impl ColumnPages {
    /// No pages.
    pub fn new(compression: Compression) -> Self {
        Self { bytes: Vec::new(), pages: Vec::new(), compression }
    }

    /// Makes room for a page of `raw` bytes, and returns its offset.
    pub fn begin(&mut self, raw: usize) -> usize {
        make_room(&mut self.bytes, raw + CODEC_ROOM);
        self.bytes.len()
    }

    /// Appends other pages of the same column.
    pub fn append(&mut self, other: &Self) {
        let offset = self.begin(other.bytes.len());
        self.bytes.extend_from_slice(&other.bytes);
        self.pages.extend(other.pages.iter().map(|page| MadePage { offset: offset + page.offset, ..*page }));
    }

    /// The bytes of a page.
    pub fn stored(&self, page: &MadePage) -> &[u8] {
        self.bytes.get(page.offset..page.offset + page.len).unwrap_or_default()
    }
}

/// Finds pages with the same bytes and compression as an earlier one of the cluster.
pub(crate) fn share(columns: &mut [ColumnPages]) {
    let mut known: HashMap<(u64, usize, i32), (usize, usize)> = HashMap::new();
    for column in 0..columns.len() {
        for number in 0..columns.get(column).map_or(0, |column| column.pages.len()) {
            let Some((pages, page)) = columns.get(column).and_then(|pages| Some((pages, *pages.pages.get(number)?)))
            else {
                continue;
            };
            let key = (page.checksum, page.len, pages.compression.to_root_setting());
            let Some(&first) = known.get(&key) else {
                known.insert(key, (column, number));
                continue;
            };
            let earlier = columns.get(first.0).and_then(|pages| Some(pages.stored(pages.pages.get(first.1)?)));
            if earlier == Some(pages.stored(&page))
                && let Some(page) = columns.get_mut(column).and_then(|pages| pages.pages.get_mut(number))
            {
                page.same_as = Some(first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(all: &[&[u8]]) -> ColumnPages {
        let mut made = ColumnPages::default();
        for bytes in all {
            let offset = made.begin(bytes.len());
            made.bytes.extend_from_slice(bytes);
            let checksum = bytes.iter().map(|byte| u64::from(*byte)).sum();
            let len = bytes.len();
            made.pages.push(MadePage {
                elements: 1,
                offset,
                len,
                raw: 0,
                has_checksum: false,
                checksum,
                same_as: None,
            });
        }
        made
    }

    #[test]
    fn only_equal_bytes_are_shared() {
        // The sums of "ad" and "bc" are the same, their bytes are not.
        let mut columns = [pages(&[b"ad", b"bc", b"ad"]), pages(&[b"x", b"ad"])];
        columns[1].append(&pages(&[b"x"]));
        share(&mut columns);
        let same = |column: usize| columns[column].pages.iter().map(|page| page.same_as).collect::<Vec<_>>();
        assert_eq!(same(0), [None, None, Some((0, 0))]);
        assert_eq!(same(1), [None, Some((0, 0)), Some((1, 0))]);
        assert_eq!(columns[1].stored(&columns[1].pages[2]), b"x");
    }
}
