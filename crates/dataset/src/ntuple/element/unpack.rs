//! From the bytes of a page to words: plain, split, delta-encoded and packed bit by bit.

use std::ops::Range;

use rootfile::{Error, Result};

use super::encoding::Encoding;
use super::ends::Ends;
use super::word::{BLOCK, Word};
use crate::known_ends::KnownEnds;

/// An uncompressed page and which of its elements are wanted, checked.
pub(super) struct PageBytes<'a> {
    bytes: &'a [u8],
    elements: usize,
    range: Range<usize>,
    bits: usize,
}

impl<'a> PageBytes<'a> {
    /// The wanted elements of a page.
    pub(super) fn new(encoding: &Encoding, bytes: &'a [u8], elements: usize, range: Range<usize>) -> Result<Self> {
        if encoding.page_len(elements) != Some(bytes.len()) {
            let (len, column_type, bits) = (bytes.len(), encoding.column_type(), encoding.bits());
            return Err(Error::corrupt(format!(
                "a page of {len} bytes cannot hold exactly {elements} elements of type {column_type} with {bits} bits"
            )));
        }
        if range.start > range.end || range.end > elements {
            return Err(Error::request(format!("elements {range:?} of a page with {elements} elements")));
        }
        Ok(Self { bytes, elements, range, bits: encoding.bits().into() })
    }

    /// How many elements are wanted.
    pub(super) fn len(&self) -> usize {
        self.range.len()
    }

    /// The elements that are wanted.
    pub(super) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// All bytes of the page.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes of the wanted elements, for elements of `size` bytes one after the other.
    fn wanted(&self, size: usize) -> &'a [u8] {
        self.bytes.get(self.range.start * size..self.range.end * size).unwrap_or_default()
    }

    fn words<W: Word>(&self) -> impl Iterator<Item = W> + use<'a, W> {
        self.wanted(W::BYTES).chunks_exact(W::BYTES).map(W::from_le)
    }

    /// Words one after the other.
    pub(super) fn plain<W: Word, T>(&self, out: &mut Vec<T>, value: impl Fn(W) -> T) {
        out.extend(self.words().map(value));
    }

    /// Blocks of words from `range` in split encoding.
    fn split_blocks<W: Word>(&self, range: Range<usize>, mut sink: impl FnMut(&[W])) {
        let plane = |byte: usize| {
            let start = byte * self.elements;
            self.bytes.get(start + range.start..start + range.end).unwrap_or_default()
        };
        let planes: [&[u8]; 8] = std::array::from_fn(|byte| if byte < W::BYTES { plane(byte) } else { &[] });
        let chunks = planes.map(|plane| plane.as_chunks::<BLOCK>());
        let mut block = [W::default(); BLOCK];
        let whole = range.len() / BLOCK;
        for i in 0..whole {
            let planes = chunks.each_ref().map(|(blocks, _)| blocks.get(i).unwrap_or(&[0; BLOCK]));
            W::join(&planes, &mut block);
            sink(&block);
        }
        let rest = range.len() - whole * BLOCK;
        if rest > 0 {
            let planes = chunks.each_ref().map(|(_, rest)| {
                let mut padded = [0; BLOCK];
                padded.iter_mut().zip(*rest).for_each(|(to, from)| *to = *from);
                padded
            });
            W::join(&planes.each_ref(), &mut block);
            sink(block.get(..rest).unwrap_or_default());
        }
    }

    /// Words whose first bytes are all before their second bytes, and so on.
    pub(super) fn split<W: Word, T>(&self, out: &mut Vec<T>, value: impl Fn(W) -> T) {
        self.split_blocks(self.range(), |words: &[W]| out.extend(words.iter().map(|w| value(*w))));
    }

    /// Ends one after the other.
    pub(super) fn ends<W: Word>(&self, out: &mut Ends) -> Result<()> {
        let from = out.len();
        out.extend(self.words().map(|word: W| word.into()));
        out.check(from)
    }

    /// Ends as differences to the end before, in split encoding. The differences before the wanted ones count, too: from the last known
    /// end on.
    pub(super) fn split_ends<W: Word>(&self, out: &mut Ends, known: &mut KnownEnds) -> Result<()> {
        let from = out.len();
        let (first, before) = known.before(self.range.start);
        let (mut end, mut last) = (W::truncate(before), W::default());
        self.split_blocks(first..self.range.start, |words: &[W]| {
            end = words.iter().fold(end, |sum, word| sum.wrapping_add(*word));
        });
        self.split_blocks(self.range(), |words: &[W]| {
            out.extend(words.iter().map(|difference| {
                end = end.wrapping_add(*difference);
                end.into()
            }));
            last = words.last().copied().unwrap_or_default();
        });
        out.check(from)?;
        if let Some(place) = self.range.end.checked_sub(1).filter(|_| !self.range.is_empty()) {
            known.add(place, end.wrapping_sub(last).into());
        }
        Ok(())
    }

    /// Words of up to 32 bits without gaps, from the least significant bit of each byte on.
    pub(super) fn unpack<T>(&self, out: &mut Vec<T>, value: impl Fn(u32) -> T) {
        let mask = u32::MAX >> (32 - self.bits.clamp(1, 32));
        out.extend(self.range().map(|i| {
            let at = i * self.bits;
            let bytes = self.bytes.get(at / 8..).unwrap_or_default();
            let word =
                bytes.first_chunk::<8>().map_or_else(|| <u64 as Word>::from_le(bytes), |b| u64::from_le_bytes(*b));
            value((word >> (at % 8)) as u32 & mask)
        }));
    }

    /// Values of variants: an index of 64 and a number of 32 bits.
    pub(super) fn switches(&self, out: &mut Vec<(u64, u32)>) {
        out.extend(self.wanted(12).as_chunks::<12>().0.iter().map(|switch| {
            let (index, tag) = switch.split_at(8);
            (<u64 as Word>::from_le(index), <u32 as Word>::from_le(tag))
        }));
    }
}
