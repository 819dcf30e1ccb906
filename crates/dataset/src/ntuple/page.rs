//! Pages: from their bytes in the file to the bytes that [`element`](super::element) decodes. The checksum is verified and
//! the page decompressed. Also which pages of a cluster hold some entries.

use std::fmt;
use std::ops::Range;

use rootfile::codec::{Compression, Compressor, Decompressor};
use rootfile::{Error, RangeBuffer, RangeBytes, RangeReader, Result, Source};

use super::blob::{is_one_key, read_blob};
use super::element::Encoding;
use super::model::{Cluster, Locator, Page, PageList};

/// Bytes of the checksum that may follow a page: XXH3 of 64 bits, little-endian.
pub const CHECKSUM: u64 = 8;

/// Which page an error concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The path of the column's field, or the name of the RNTuple.
    pub field: &'a str,
    /// The physical ID of the column.
    pub column: usize,
    /// The number of the cluster.
    pub cluster: usize,
    /// The number of the page among those of the column in the cluster.
    pub page: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, column, cluster, page } = self;
        write!(f, "{field}: page {page} of column {column} in cluster {cluster}")
    }
}

impl Place<'_> {
    /// The error with this page in its message.
    #[must_use]
    pub fn blame(&self, error: Error) -> Error {
        error.object(self.to_string())
    }
}

impl Cluster {
    /// Where the pages of a column are that hold some entries, counted from the first of the cluster, in the order of entries. Which
    /// pages of a collection's values hold them is known only from its sizes; here their share is a guess.
    ///
    /// # Errors
    ///
    /// A page is not in the file.
    pub fn page_ranges(&self, list: &PageList, column: usize, entries: &Range<u64>) -> Result<Vec<Range<u64>>> {
        let pages = self.pages(list, column).unwrap_or_default();
        let elements: u64 = pages.iter().map(|page| u64::from(page.elements)).sum();
        let share = |entry: u64, up: u64| {
            let (all, entry) = (u128::from(self.entries.max(1)), u128::from(entry.min(self.entries)));
            u64::try_from((entry * u128::from(elements) + u128::from(up) * (all - 1)) / all).unwrap_or(u64::MAX)
        };
        let wanted = share(entries.start, 0)..share(entries.end, 1);
        let (mut ranges, mut end) = (Vec::new(), 0);
        for page in pages {
            let start = end;
            end += u64::from(page.elements);
            if start < wanted.end && end > wanted.start {
                let (offset, size) = page.extent()?;
                ranges.push(offset..offset.saturating_add(size));
            }
        }
        Ok(ranges)
    }
}

impl Page {
    /// Bytes in the file: the compressed page and its checksum. None if the page is not in a file.
    pub fn stored_len(&self) -> Option<u64> {
        match self.locator {
            Locator::File { size, .. } => size.checked_add(if self.has_checksum { CHECKSUM } else { 0 }),
            Locator::Unknown { .. } => None,
        }
    }

    /// Offset and length of the page's bytes in the file, with its checksum.
    ///
    /// # Errors
    ///
    /// If the page is not in a file, or if its length is not possible.
    pub fn extent(&self) -> Result<(u64, u64)> {
        match (self.locator, self.stored_len()) {
            (Locator::File { offset, .. }, Some(len)) => Ok((offset, len)),
            (Locator::File { .. }, None) => Err(Error::corrupt("a page of 2^64 bytes")),
            (Locator::Unknown { kind }, _) => {
                Err(Error::unsupported(format!("a page is not in the file, but in storage of type {kind:#04x}")))
            }
        }
    }

    /// The same as [`extent`](Self::extent), within a file of `size` bytes.
    ///
    /// # Errors
    ///
    /// Also if the page lies beyond the file's end.
    pub fn extent_in(&self, size: u64) -> Result<(u64, u64)> {
        let (offset, len) = self.extent()?;
        check_within((offset, len), size)?;
        Ok((offset, len))
    }

    /// The page's bytes in a file, with its checksum. Those of a page in several keys are put together in `joined`. `next` are the
    /// pages that will be asked for after it.
    ///
    /// # Errors
    ///
    /// If the page is not in a file, or if its bytes cannot be read.
    pub fn record<'b>(
        &self,
        next: &[Self],
        (bytes, file): (&'b mut dyn RangeBytes, u32),
        max_key_size: u64,
        joined: &'b mut Vec<u8>,
    ) -> Result<&'b [u8]> {
        let (offset, size) = self.extent()?;
        if !is_one_key(size, max_key_size) {
            *joined = read_blob((bytes, file), &Locator::File { offset, size }, max_key_size)?;
            return Ok(joined);
        }
        check_within((offset, size), bytes.size(file)).map_err(|e| e.file(bytes.name(file)))?;
        let range = |page: &Self| page.extent().ok().map(|(offset, size)| offset..offset.saturating_add(size));
        bytes.get(file, offset..offset.saturating_add(size), &mut next.iter().map_while(range))
    }

    /// Reads the page's bytes, with its checksum, from one key or several.
    ///
    /// # Errors
    ///
    /// As for [`record`](Self::record).
    pub fn read(&self, source: &dyn Source, max_key_size: u64) -> Result<Vec<u8>> {
        let (offset, size) = self.extent()?;
        if is_one_key(size, max_key_size) {
            check_within((offset, size), source.size()).map_err(|e| e.file(source.name()))?;
        }
        let mut buffer = RangeBuffer::default();
        let mut bytes = RangeReader::of(source, &mut buffer);
        read_blob((&mut bytes, 0), &Locator::File { offset, size }, max_key_size)
    }

    /// Verifies the checksum of `record`, the page's bytes in the file, and decompresses them. The result lies in `record` if
    /// the page is stored, else in `scratch`, which callers reuse: its content beforehand does not matter, and it only grows.
    ///
    /// `record` has [`stored_len`](Self::stored_len) bytes. Callers that fetch many pages with one read pass a part of what they
    /// read. [`Place::blame`] says in an error which page it is.
    ///
    /// # Errors
    ///
    /// If the checksum does not match, or if the bytes do not decompress to what the page's elements need.
    pub fn open<'a>(
        &self,
        encoding: &Encoding,
        record: &'a [u8],
        decompressor: &mut Decompressor,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        self.open_at(encoding, record, decompressor, scratch).map_err(|error| self.located(error))
    }

    /// Verifies the checksum of `record`, the page's bytes in the file, and that they can be the page's elements. Nothing is
    /// decompressed.
    ///
    /// # Errors
    ///
    /// If the checksum does not match, or if the bytes are too many for the page's elements.
    pub fn check(&self, encoding: &Encoding, record: &[u8]) -> Result<()> {
        self.packed(encoding, record).map(|_| ()).map_err(|error| self.located(error))
    }

    /// Verifies the checksum of `record` alone: for column types of later versions.
    ///
    /// # Errors
    ///
    /// If the checksum does not match.
    pub fn check_sum(&self, record: &[u8]) -> Result<()> {
        if self.has_checksum { verify(record).map(|_| ()).map_err(|error| self.located(error)) } else { Ok(()) }
    }

    /// Bytes when decompressed.
    ///
    /// # Errors
    ///
    /// If they are more than memory can address.
    pub fn raw_len(&self, encoding: &Encoding) -> Result<usize> {
        let elements = usize::try_from(self.elements).unwrap_or(usize::MAX);
        encoding.page_len(elements).ok_or_else(|| Error::corrupt(format!("a page with {elements} elements")))
    }

    /// Whether it is in the file as it is, by its length there.
    ///
    /// # Errors
    ///
    /// If its elements are more than memory can address.
    pub fn is_stored(&self, encoding: &Encoding) -> Result<bool> {
        let Locator::File { size, .. } = self.locator else { return Ok(false) };
        Ok(usize::try_from(size) == Ok(self.raw_len(encoding)?))
    }

    fn located(&self, error: Error) -> Error {
        match self.locator {
            Locator::File { offset, .. } => error.at(offset),
            Locator::Unknown { .. } => error,
        }
    }

    /// The page in its bytes in the file, without the checksum, which is verified.
    fn packed<'a>(&self, encoding: &Encoding, record: &'a [u8]) -> Result<&'a [u8]> {
        let (_, stored) = self.extent()?;
        if usize::try_from(stored) != Ok(record.len()) {
            let (len, checksum) = (record.len(), if self.has_checksum { " and its checksum" } else { "" });
            return Err(Error::request(format!("{len} bytes are not the page{checksum}")));
        }
        let packed = if self.has_checksum { verify(record)? } else { record };
        match (packed.len(), self.raw_len(encoding)?) {
            (stored, len) if stored > len => {
                Err(Error::corrupt(format!("a page of {len} bytes is stored in {stored}")))
            }
            _ => Ok(packed),
        }
    }

    fn open_at<'a>(
        &self,
        encoding: &Encoding,
        record: &'a [u8],
        decompressor: &mut Decompressor,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let packed = self.packed(encoding, record)?;
        let len = self.raw_len(encoding)?;
        if packed.len() == len {
            return Ok(packed);
        }
        // A vector that is large enough is not zeroed again. Others grow with the blocks that prove to be sound.
        if scratch.len() < len {
            scratch.clear();
            decompressor.decompress(packed, len, scratch)?;
        } else {
            decompressor.decompress_into(packed, scratch.get_mut(..len).unwrap_or_default())?;
        }
        Ok(scratch.get(..len).unwrap_or_default())
    }
}

/// Checks that pages with these offset and length lie in a file of `size` bytes.
///
/// # Errors
///
/// If they lie beyond its end.
pub fn check_within((offset, len): (u64, u64), size: u64) -> Result<()> {
    match offset.checked_add(len) {
        Some(end) if end <= size => Ok(()),
        _ => Err(Error::corrupt(format!("a page of {len} bytes lies beyond the file's end")).at(offset)),
    }
}

/// Appends a page to `out`, compressed if that makes it smaller, and its checksum if it has one. Returns its bytes without the
/// checksum, and the checksum.
///
/// # Errors
///
/// If the codec fails.
pub fn put_page(
    raw: &[u8],
    compression: Compression,
    compressor: &mut Compressor,
    has_checksum: bool,
    out: &mut Vec<u8>,
) -> Result<(usize, u64)> {
    let start = out.len();
    if !compressor.compress(compression, raw, out)? {
        out.extend_from_slice(raw);
    }
    let (len, checksum) = (out.len() - start, checksum(out.get(start..).unwrap_or_default()));
    if has_checksum {
        out.extend_from_slice(&checksum.to_le_bytes());
    }
    Ok((len, checksum))
}

/// The checksum of a page's bytes in the file: XXH3 of 64 bits.
pub fn checksum(page: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(page)
}

/// The bytes before the checksum.
fn verify(record: &[u8]) -> Result<&[u8]> {
    let Some((bytes, stated)) = record.split_last_chunk::<{ CHECKSUM as usize }>() else {
        return Err(Error::corrupt("a page is shorter than its checksum"));
    };
    let (stated, found) = (u64::from_le_bytes(*stated), checksum(bytes));
    if stated != found {
        return Err(Error::corrupt(format!("the checksum of a page is {found:016x}, not {stated:016x}")));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use rootfile::codec::{Compression, Compressor};

    use super::*;
    use crate::ntuple::element::ColumnType;

    fn bytes() -> Encoding {
        Encoding::new(ColumnType::Byte, 8, None).unwrap()
    }

    fn content(len: u64) -> Vec<u8> {
        (0..len).map(|i| (i * i / 7 + i * 3 + 1) as u8).collect()
    }

    fn page(elements: usize, record: &[u8], has_checksum: bool) -> Page {
        let size = record.len() as u64 - if has_checksum { CHECKSUM } else { 0 };
        Page { elements: elements.try_into().unwrap(), has_checksum, locator: Locator::File { offset: 1000, size } }
    }

    fn open(page: &Page, record: &[u8]) -> Result<Vec<u8>> {
        let mut scratch = vec![7; 10];
        page.open(&bytes(), record, &mut Decompressor::new(), &mut scratch).map(<[u8]>::to_vec)
    }

    #[test]
    fn checksums_are_those_of_xxhash() {
        // By the `xxhash` library. Lengths 1 mod 64 above 240 are an edge of the algorithm: the last stripe overlaps the one
        // before by all but one byte.
        let known: [(u64, u64); 14] = [
            (0, 0x2d06_8005_38d3_94c2),
            (1, 0xe12e_f9d2_eb86_ceeb),
            (16, 0xd2b1_1291_2dae_5526),
            (129, 0xe270_f516_c3ca_ef82),
            (240, 0x1200_14d1_1f00_4a47),
            (241, 0x6f41_639c_5133_9ffb),
            (257, 0x65e7_104f_ca49_e43a),
            (321, 0x9c33_c205_2c6f_cb32),
            (1023, 0xfc3b_62e7_9a87_526f),
            (1024, 0x70d1_0f72_cf30_18ef),
            (1025, 0xdea3_8c31_99fc_3658),
            (1089, 0x45f3_c0b1_d88d_3b0d),
            (65537, 0x4d56_5146_6b6c_18db),
            (1_048_577, 0xe82d_4e93_5393_59bf),
        ];
        for (len, checksum) in known {
            let content = content(len);
            let record = [&content[..], &checksum.to_le_bytes()].concat();
            let page = page(content.len(), &record, true);
            assert!(open(&page, &record).unwrap() == content, "{len} bytes");
        }
    }

    #[test]
    fn a_changed_bit_is_found() {
        let content = content(300);
        let record = [&content[..], &twox_hash::XxHash3_64::oneshot(&content).to_le_bytes()].concat();
        let page = page(300, &record, true);
        assert!(open(&page, &record).is_ok());
        for at in 0..record.len() {
            let mut record = record.clone();
            record[at] ^= 0x10;
            let error = open(&page, &record).unwrap_err().to_string();
            assert!(error.starts_with("at byte 1000: the checksum of a page is "), "{error}");
        }
    }

    #[test]
    fn pages_are_decompressed_into_a_buffer_that_grows() {
        let (mut decompressor, mut scratch) = (Decompressor::new(), Vec::new());
        // The last has more than one block.
        for (len, setting) in [(3000, 505), (1000, 101), (5000, 404), (700, 207), (17 << 20, 505)] {
            let content: Vec<u8> = (0..len).map(|i: u32| (i / 100) as u8).collect();
            let mut record = Vec::new();
            let setting = Compression::from_root_setting(setting).unwrap();
            assert!(Compressor::new().compress(setting, &content, &mut record).unwrap());
            let page = page(content.len(), &record, false);
            assert_eq!(page.stored_len(), Some(record.len() as u64));
            assert!(page.open(&bytes(), &record, &mut decompressor, &mut scratch).unwrap() == content);
            let damaged = &mut record.clone()[..];
            damaged[0] ^= 0xff;
            assert!(page.open(&bytes(), damaged, &mut decompressor, &mut scratch).is_err());
            let fewer = Page { elements: page.elements - 1, ..page };
            assert!(fewer.open(&bytes(), &record, &mut decompressor, &mut scratch).is_err());
        }
    }

    #[test]
    fn pages_that_do_not_fit_are_refused() {
        let error = |page: &Page, record: &[u8]| open(page, record).unwrap_err().to_string();
        let stored = page(3, b"abc", false);
        assert_eq!(open(&stored, b"abc").unwrap(), b"abc");
        assert_eq!(error(&stored, b"abcd"), "at byte 1000: 4 bytes are not the page");
        assert_eq!(error(&page(2, b"abc", false), b"abc"), "at byte 1000: a page of 2 bytes is stored in 3");
        assert_eq!(
            error(&page(4, b"abc", false), b"abc"),
            "at byte 1000: compressed block: 3 bytes cannot hold its header"
        );
        let checked = Page { has_checksum: true, ..stored };
        assert_eq!(checked.stored_len(), Some(11));
        assert_eq!(error(&checked, b"abc"), "at byte 1000: 3 bytes are not the page and its checksum");

        let elsewhere = Page { locator: Locator::Unknown { kind: 2 }, ..stored };
        assert_eq!(elsewhere.stored_len(), None);
        let place = Place { field: "Muon.pt", column: 7, cluster: 3, page: 0 };
        let error = place.blame(open(&elsewhere, b"abc").unwrap_err());
        assert_eq!(
            error.to_string(),
            "Muon.pt: page 0 of column 7 in cluster 3: a page is not in the file, but in storage of type 0x02"
        );
    }
}
