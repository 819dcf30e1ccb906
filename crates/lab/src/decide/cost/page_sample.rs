//! Samples of a column of an RNTuple: elements of pages from a few places, cut into pages of any size, in any encoding.

use std::ops::Range;

use dataset::layout::ColumnEncoding;
use dataset::ntuple::element::{ColumnType, Elements, Encoding, NeededBits};
use dataset::ntuple::model::Locator;
use rootfile::{Error, Result, Source};

use super::bench::CodecBench;
use super::column::{Column, PageColumn};
use super::line::Point;
use super::packing::Packing;
use super::piece::{Piece, Places, Wanted};
use crate::math::as_f64;
use crate::system::clock::thread_seconds;

/// Elements of a column, and the figures of their pages in the file.
#[derive(Debug, Default)]
pub(super) struct PageSample {
    pub runs: Vec<ElementRun>,
    /// Bytes of the pages before compression, and seconds to decompress them.
    pub today: Point,
    /// Seconds to decode their elements.
    pub elements: Point,
    /// Their bytes on disk, without checksums.
    pub stored: f64,
}

/// Elements of consecutive pages, as they are in memory.
#[derive(Debug)]
pub(super) struct ElementRun {
    encoding: Encoding,
    /// Ends of collections count from the start of their cluster, so those of different clusters are apart.
    parts: Vec<Elements>,
    /// The encoding of fewer bits that keeps the elements of all runs of the sample.
    narrow: Option<Encoding>,
}

impl ElementRun {
    fn new(encoding: Encoding) -> Self {
        Self { encoding, parts: Vec::new(), narrow: None }
    }

    /// Whether the elements take fewer bits than in the file, or are of a kind that stays as it is where others do.
    pub fn can_be_exact(&self) -> bool {
        self.narrow.is_some() || !self.encoding.can_be_narrower()
    }

    /// Bytes of all elements in a page, before compression.
    pub fn payload(&self) -> usize {
        self.parts.iter().filter_map(|part| self.encoding.page_len(part.len())).sum()
    }

    fn append(&mut self, page: &[u8], elements: usize, first: usize) -> Result<()> {
        let range = 0..first.min(elements);
        if let Some(last) = self.parts.last_mut()
            && last.decode(&self.encoding, page, elements, range.clone()).is_ok()
        {
            return Ok(());
        }
        let mut part = Elements::new(self.encoding.kind(), false);
        part.decode(&self.encoding, page, elements, range)?;
        self.parts.push(part);
        Ok(())
    }

    /// Hands out pages of about `size` bytes before compression, of the first `most`. A small rest is left out.
    pub fn pages(
        &self,
        packing: Packing,
        (size, most): (usize, usize),
        each: &mut dyn FnMut(Piece<'_>) -> Result<()>,
    ) -> Result<()> {
        let encoding = match self.narrow.filter(|_| packing.is_exact()) {
            Some(narrow) => narrow,
            None => encoding(&self.encoding, packing)?,
        };
        let in_bytes = |bytes: usize| (bytes.saturating_mul(8) / usize::from(self.encoding.bits().max(1))).max(1);
        let (count, mut left) = (in_bytes(size), in_bytes(most));
        let (mut payload, mut given) = (Vec::new(), false);
        for part in &self.parts {
            for range in cuts(part.len(), count, given) {
                if given && left < range.len() {
                    return Ok(());
                }
                left = left.saturating_sub(range.len());
                payload.clear();
                let started = thread_seconds();
                part.encode(&encoding, range.clone(), &mut payload)?;
                let seconds = thread_seconds() - started;
                let raw = self.encoding.page_len(range.len()).unwrap_or(payload.len());
                each(Piece { payload: &payload, raw, page: Some((&encoding, range.len(), seconds)) })?;
                given = true;
            }
        }
        Ok(())
    }
}

/// Ranges of `count` elements; the last is left out if it is small and not the only one.
fn cuts(len: usize, count: usize, given: bool) -> impl Iterator<Item = Range<usize>> {
    let all = (0..len).step_by(count).map(move |start| start..(start + count).min(len));
    all.filter(move |range| range.len() == count || 2 * range.len() > count || (!given && range.start == 0))
}

/// The encoding of a packing, for elements in another one.
fn encoding(own: &Encoding, packing: Packing) -> Result<Encoding> {
    let plain = own.column_type().unsplit();
    let wanted = match packing.encoding {
        // ROOT does not read this one.
        // Columns beside those of fewer bits are split where they are compressed.
        Some(ColumnEncoding::Exact(_)) if packing.is_none() => plain,
        Some(ColumnEncoding::Split | ColumnEncoding::Exact(_)) => {
            plain.split().filter(|split| *split != ColumnType::SplitReal16).unwrap_or(plain)
        }
        _ => plain,
    };
    Encoding::new(wanted, own.bits(), Some(own.range()))
}

/// Reads bytes of a column, as [`super::sample::take`] does.
pub(super) fn take(
    file: &dyn Source,
    (column, own): (&Column, &PageColumn),
    Wanted { target, least, largest, seed }: Wanted,
    bench: &mut (dyn CodecBench + '_),
    buffer: &mut Vec<u8>,
) -> Result<PageSample> {
    let places = Places::new(column, target, least);
    let mut sample = PageSample::default();
    let mut next = 0;
    for place in 0..places.count {
        let at = places.piece(column, place, seed).max(next);
        let mut run = ElementRun::new(own.encoding);
        next = at;
        // Shared pages are in the file once, and are sampled once.
        let pages = own.pages.iter().zip(&column.baskets).enumerate().skip(at).filter(|(_, (_, piece))| piece.seek > 0);
        for (number, (page, _)) in pages {
            let Locator::File { size: stored, .. } = page.locator else { continue };
            let named = |e: Error| e.object(format!("field {}", column.name())).file(file.name());
            let objlen = page.raw_len(&own.encoding).map_err(named)?;
            if objlen > largest {
                break;
            }
            let record = page.read(file, own.max_key_size).map_err(named)?;
            page.check(&own.encoding, &record).map_err(named)?;
            let stored = record.get(..usize::try_from(stored).unwrap_or(usize::MAX)).unwrap_or_default();
            let elements = usize::try_from(page.elements).unwrap_or(usize::MAX);
            let unpack = bench.unpack(stored, objlen, buffer).map_err(named)?;
            let decode = bench.decode_page(&own.encoding, buffer, elements).map_err(named)?;
            sample.today.add(as_f64(objlen as u64), unpack);
            sample.elements.add(as_f64(objlen as u64), decode);
            sample.stored += as_f64(stored.len() as u64);
            let room = (target / places.count).saturating_sub(run.payload());
            // Rounded up, so that no other page is read for one element.
            let first = room.saturating_mul(8).div_ceil(usize::from(own.encoding.bits().max(1))).max(1);
            run.append(buffer, elements, first).map_err(named)?;
            next = number + 1;
            if run.payload() * places.count >= target {
                break;
            }
        }
        sample.runs.push(run);
    }
    let mut needed = NeededBits::default();
    sample.runs.iter().flat_map(|run| &run.parts).for_each(|part| needed.add(part));
    let narrow = needed.narrower(&own.encoding, 0);
    let narrow = narrow.map(|(column_type, bits)| Encoding::new(column_type, bits, None)).transpose()?;
    sample.runs.iter_mut().for_each(|run| run.narrow = narrow);
    Ok(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(run: &ElementRun, packing: Packing, size: usize, most: usize) -> Vec<usize> {
        let mut found = Vec::new();
        run.pages(packing, (size, most), &mut |piece| {
            found.push(piece.payload.len());
            Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn ends_of_clusters_are_apart_and_pages_are_cut_in_any_encoding() {
        let split = Encoding::new(ColumnType::SplitIndex64, 64, None).unwrap();
        let page = |ends: &[u64]| {
            let mut all = Elements::new(split.kind(), false);
            let plain = Encoding::new(ColumnType::Index64, 64, None).unwrap();
            let bytes: Vec<u8> = ends.iter().flat_map(|end| end.to_le_bytes()).collect();
            all.decode(&plain, &bytes, ends.len(), 0..ends.len()).unwrap();
            let mut page = Vec::new();
            all.encode(&split, 0..ends.len(), &mut page).unwrap();
            page
        };
        let mut run = ElementRun::new(split);
        let ascending: Vec<u64> = (1..=100).collect();
        run.append(&page(&ascending), 100, 100).unwrap();
        run.append(&page(&ascending), 100, 50).unwrap();
        assert_eq!((run.parts.len(), run.payload()), (2, 1200));
        let plain = Packing { compression: "zstd:1".parse().unwrap(), encoding: Some(ColumnEncoding::Plain) };
        // Forty elements each; the rest of twenty is as small as half.
        assert_eq!(sizes(&run, plain, 320, usize::MAX), [320, 320, 320]);
        assert_eq!(sizes(&run, plain, 320, 700), [320, 320]);
        assert_eq!(sizes(&run, plain, 8000, usize::MAX), [800]);
    }
}
