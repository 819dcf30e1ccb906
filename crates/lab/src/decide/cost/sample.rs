//! Samples of a column: entries from a few places of the file, cut into baskets of any size. [`super::page_sample`] has those
//! of RNTuples.

use std::ops::Range;

use dataset::tree::basket::{BasketHeader, Entries};
use rootfile::bytes::Cursor;
use rootfile::{Error, Result, Source};

use super::bench::CodecBench;
use super::column::Column;
use super::line::Point;
use super::packing::Packing;
use super::page_sample::{self, ElementRun, PageSample};
use super::piece::{Piece, Places, Wanted};
use crate::math::as_f64;

/// A part of a column.
#[derive(Debug)]
pub(crate) enum Run {
    Entries(EntryRun),
    Elements(ElementRun),
}

/// Consecutive entries.
#[derive(Debug, Default)]
pub(crate) struct EntryRun {
    data: Vec<u8>,
    /// Where each entry ends.
    ends: Vec<usize>,
    has_offsets: bool,
    keylen: u32,
}

/// Entries of a column, and the figures of their baskets in the file.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    pub runs: Vec<Run>,
    /// The file's own baskets: their bytes before compression, and seconds to decompress them.
    pub today: Point,
    /// Pages: seconds to decode the elements of the same.
    pub elements: Point,
    /// Their bytes on disk, without keys.
    pub stored: f64,
    /// Seconds to decode them: baskets as a whole, and entries each by itself. Nothing where they are not decoded.
    pub decode: [Point; 2],
}

impl Sample {
    /// Bytes before compression.
    pub fn raw(&self) -> usize {
        self.runs.iter().map(Run::payload).sum()
    }

    /// Whether a packing can be tried on it.
    pub fn takes(&self, packing: Packing) -> bool {
        !packing.is_exact() || (!self.runs.is_empty() && self.runs.iter().all(Run::can_be_exact))
    }

    /// Bytes on disk of the whole column over the bytes that the sampled baskets predict. Results on the
    /// sample are corrected by this factor.
    pub fn scale(&self, column: &Column) -> f64 {
        let expected = self.stored * column.raw / self.today.raw.max(1.0);
        if expected > 0.0 { (column.zip / expected).clamp(0.5, 2.0) } else { 1.0 }
    }
}

/// Where the pieces are that [`take`] reads. Their number is a guess: a basket tells its bytes before compression when it is read.
pub(crate) fn places(column: &Column, target: usize, largest: usize, seed: u64) -> Vec<Range<u64>> {
    let places = Places::new(column, target, 0);
    let expansion = (column.raw / column.zip.max(1.0)).max(1.0);
    let most = as_f64(target as u64) / as_f64(places.count as u64);
    let (mut found, mut next) = (Vec::new(), 0);
    for place in 0..places.count {
        let at = places.piece(column, place, seed).max(next);
        next = at;
        let mut raw = 0.0;
        for (number, piece) in column.baskets.iter().enumerate().skip(at).filter(|(_, piece)| piece.seek > 0) {
            if raw >= most && raw > 0.0 || piece.nbytes as usize > largest {
                break;
            }
            found.push(piece.seek..piece.seek.saturating_add(u64::from(piece.nbytes)));
            raw += expansion * f64::from(piece.nbytes);
            next = number + 1;
        }
    }
    found
}

/// Reads about as many bytes of a column.
pub(crate) fn take(
    file: &dyn Source,
    column: &Column,
    wanted: Wanted,
    bench: &mut (dyn CodecBench + '_),
    buffer: &mut Vec<u8>,
) -> Result<Sample> {
    let Wanted { target, least, largest, seed } = wanted;
    if let Some(pages) = &column.pages {
        let PageSample { runs, today, elements, stored } =
            page_sample::take(file, (column, pages), wanted, bench, buffer)?;
        let runs = runs.into_iter().map(Run::Elements).collect();
        return Ok(Sample { runs, today, elements, stored, ..Sample::default() });
    }
    let places = Places::new(column, target, least);
    let mut sample = Sample::default();
    let mut next = 0;
    for place in 0..places.count {
        let at = places.piece(column, place, seed).max(next);
        let mut run = EntryRun { has_offsets: column.has_offsets, keylen: column.keylen, ..EntryRun::default() };
        next = at;
        for (number, basket) in column.baskets.iter().enumerate().skip(at).filter(|(_, basket)| basket.seek > 0) {
            if basket.nbytes as usize > largest {
                break;
            }
            let named = |e: Error| e.at(basket.seek).object(format!("branch {}", column.name())).file(file.name());
            let record = file.read(basket.seek, basket.nbytes as usize).map_err(named)?;
            let header = BasketHeader::parse(&mut Cursor::new(&record)).map_err(named)?;
            let stored = record.get(header.keylen()..).unwrap_or_default();
            let objlen = header.key.objlen as usize;
            if objlen > largest {
                break;
            }
            let seconds = bench.unpack(stored, objlen, buffer).map_err(named)?;
            sample.today.add(as_f64(u64::from(header.key.objlen)), seconds);
            sample.stored += as_f64(stored.len() as u64);
            let data = header.open(std::mem::take(buffer)).map_err(named)?;
            let plan = column.plan.as_ref().filter(|plan| plan.counters().is_empty());
            if let Some(points) = plan.and_then(|plan| bench.decode(plan, &data)) {
                sample.decode.iter_mut().zip(&points).for_each(|(sum, point)| sum.merge(point));
            }
            let base = run.data.len();
            match data.entries {
                Entries::Fixed(len) => {
                    run.ends.extend((1..=data.count as usize).map(|i| base + i.saturating_mul(len as usize)));
                }
                Entries::Offsets(offsets) => {
                    run.ends.extend(offsets.iter().skip(1).map(|&end| base + end as usize));
                }
                Entries::Generated => run.ends.push(base + data.data.len()),
            }
            run.data.extend_from_slice(&data.data);
            // The memory was used before, so the time is that of the codec and not of page faults.
            *buffer = data.data.into_buffer();
            next = number + 1;
            if run.payload() * places.count >= target {
                break;
            }
        }
        run.shorten(target / places.count);
        sample.runs.push(Run::Entries(run));
    }
    Ok(sample)
}

impl Run {
    /// Bytes before compression of all of it in one piece.
    pub fn payload(&self) -> usize {
        match self {
            Self::Entries(run) => run.payload(),
            Self::Elements(run) => run.payload(),
        }
    }

    /// Whether its values take fewer bits than in the file, or are of a kind that stays as it is where others do.
    pub fn can_be_exact(&self) -> bool {
        match self {
            Self::Entries(_) => false,
            Self::Elements(run) => run.can_be_exact(),
        }
    }

    /// Hands out pieces of about `size` bytes before compression, of the first `most`. A small rest is left out.
    pub fn pieces(
        &self,
        packing: Packing,
        (size, most): (usize, usize),
        each: &mut dyn FnMut(Piece<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Entries(run) => {
                run.baskets(size, most, |payload| each(Piece { payload, raw: payload.len(), page: None }))
            }
            Self::Elements(run) => run.pages(packing, (size, most), each),
        }
    }
}

impl EntryRun {
    /// Bytes of all entries in one basket, before compression.
    pub fn payload(&self) -> usize {
        self.data.len() + if self.has_offsets { 4 * self.ends.len() + 8 } else { 0 }
    }

    /// Leaves only the first entries, of about `size` bytes.
    fn shorten(&mut self, size: usize) {
        let offset = if self.has_offsets { 4 } else { 0 };
        let mut kept = 0;
        while self.ends.get(kept).is_some_and(|end| end + offset * kept < size) {
            kept += 1;
        }
        self.ends.truncate(kept + 1);
        self.data.truncate(self.ends.last().copied().unwrap_or(0));
        // A basket may be a thousand times larger than the wanted sample.
        self.data.shrink_to(2 * self.data.len());
        self.ends.shrink_to(2 * self.ends.len());
    }

    /// Hands out baskets of about `size` bytes before compression, of the first `most`. A small rest is left out.
    pub fn baskets(&self, size: usize, most: usize, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let offset = if self.has_offsets { 4 } else { 0 };
        let mut payload = Vec::new();
        let (mut from, mut first, mut given) = (0, 0, false);
        for (i, &end) in self.ends.iter().enumerate() {
            if given && end > most {
                break;
            }
            let bytes = end.saturating_sub(from) + offset * (i + 1 - first);
            let is_last = i + 1 == self.ends.len();
            if bytes < size && !(is_last && (!given || 2 * bytes > size)) {
                continue;
            }
            payload.clear();
            payload.extend_from_slice(self.data.get(from..end).unwrap_or_default());
            if self.has_offsets {
                self.append_offsets(&mut payload, first..i + 1, from);
            }
            each(&payload)?;
            (from, first, given) = (end, i + 1, true);
        }
        Ok(())
    }

    /// The array behind the entries: a count, the offset of each entry from the start of the key, and a zero.
    fn append_offsets(&self, payload: &mut Vec<u8>, entries: std::ops::Range<usize>, from: usize) {
        let count = u32::try_from(entries.len() + 1).unwrap_or(u32::MAX);
        payload.extend_from_slice(&count.to_be_bytes());
        let mut begin = from;
        for &end in self.ends.get(entries).unwrap_or_default() {
            let offset = u32::try_from(begin - from).unwrap_or(u32::MAX).wrapping_add(self.keylen);
            payload.extend_from_slice(&offset.to_be_bytes());
            begin = end;
        }
        payload.extend_from_slice(&[0; 4]);
    }
}

#[cfg(test)]
mod tests {
    use flow::uniform;

    use super::*;

    #[test]
    fn runs_are_cut_into_baskets_with_their_offsets() {
        let run =
            EntryRun { data: vec![7; 100], ends: (1..=10).map(|i| i * 10).collect(), has_offsets: true, keylen: 50 };
        let mut sizes = Vec::new();
        let mut first = Vec::new();
        run.baskets(42, usize::MAX, |basket| {
            sizes.push(basket.len());
            if first.is_empty() {
                first = basket.to_vec();
            }
            Ok(())
        })
        .unwrap();
        // Three entries of 14 bytes each with their offsets, and 8 besides; the last one alone is left out.
        assert_eq!(sizes, [50, 50, 50]);
        assert_eq!(first[30..], [0, 0, 0, 4, 0, 0, 0, 50, 0, 0, 0, 60, 0, 0, 0, 70, 0, 0, 0, 0]);
        let mut whole = 0;
        run.baskets(usize::MAX, usize::MAX, |basket| {
            whole += basket.len();
            Ok(())
        })
        .unwrap();
        assert_eq!(whole, run.payload());
    }

    #[test]
    fn places_are_the_same_each_time_and_spread() {
        let all: Vec<f64> = (0..1000).map(|i| uniform(1, i)).collect();
        assert_eq!(all, (0..1000).map(|i| uniform(1, i)).collect::<Vec<_>>());
        assert!(all.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = all.iter().sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
        assert_ne!(uniform(1, 0), uniform(2, 0));
    }
}
