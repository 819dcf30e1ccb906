//! Some numbers of a column, in runs from even distances, and the bytes that they take in an encoding. The codec is the file's.

use dataset::layout::{ColumnEncoding, Compression, Container};
use dataset::ntuple::element::{Elements, Encoding};
use dataset::ntuple::make::FieldEncoding;
use dataset::precision::{Reduction, plain_bytes};
use rootfile::Result;
use rootfile::codec::Compressor;

use crate::math::as_f64;

/// Most runs of a column.
pub(super) const RUNS: u64 = 8;

/// Numbers that are settled at a time.
const BLOCK: usize = 2048;

/// Bytes of memory for each number of a run while it is weighed: as elements, as a page or basket, and compressed.
const WEIGHING: u64 = 3 * size_of::<f64>() as u64;
/// The same of a codec with large tables: a dictionary of up to a quarter of the run, and what finds matches in it.
const CODEC: u64 = WEIGHING;
/// What a codec takes besides.
const CODEC_BYTES: u64 = 4 << 20;

/// Bytes of so many numbers in memory.
pub(super) fn bytes_of(numbers: u64) -> u64 {
    numbers.saturating_mul(size_of::<f64>() as u64)
}

/// Runs of numbers.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Numbers in a run: about as many as a basket or page has, since codecs see no more.
    run: u64,
    /// Numbers from the start of one run to that of the next.
    step: u64,
    /// Numbers seen so far.
    at: u64,
    runs: Vec<Vec<f64>>,
}

impl Sample {
    /// A sample of `all` numbers, of at most `most`, in runs of about `run`.
    pub fn new(all: u64, run: u64, most: u64) -> Self {
        let run = run.min(most).clamp(1, all.max(1));
        let runs = (most / run).min(RUNS).min(all / run).max(1);
        Self { run, step: (all / runs).max(run), at: 0, runs: Vec::new() }
    }

    /// Shows it the next numbers of the column.
    pub fn see(&mut self, values: &[f64]) {
        let mut rest = values;
        while !rest.is_empty() {
            let within = self.at % self.step;
            let (left, taken) = if within < self.run { (self.run - within, true) } else { (self.step - within, false) };
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            let (part, others) = rest.split_at_checked(n).unwrap_or((rest, &[]));
            if taken {
                if within == 0 || self.runs.is_empty() {
                    self.runs.push(Vec::with_capacity(usize::try_from(self.run).unwrap_or(0)));
                }
                if let Some(run) = self.runs.last_mut() {
                    run.extend_from_slice(part);
                }
            }
            self.at += n as u64;
            rest = others;
        }
    }

    /// Bytes of memory that [`bytes`](Self::bytes) takes.
    pub fn weighing(&self) -> u64 {
        let longest = self.runs.iter().map(Vec::len).max().unwrap_or(0) as u64;
        longest.saturating_mul(WEIGHING + CODEC).saturating_add(CODEC_BYTES)
    }

    /// Bytes of a number in the sample after compression, in an encoding or as it is.
    pub fn bytes(&self, stored: &Stored, candidate: Option<(ColumnEncoding, &Reduction)>) -> Result<f64> {
        let (mut compressor, mut raw, mut packed) = (Compressor::new(), Vec::new(), Vec::new());
        let (mut bytes, mut numbers) = (0u64, 0u64);
        for run in &self.runs {
            raw.clear();
            packed.clear();
            stored.write(run, candidate, &mut raw)?;
            let smaller = compressor.compress(stored.compression, &raw, &mut packed)?;
            bytes += if smaller { packed.len() } else { raw.len() } as u64;
            numbers += run.len() as u64;
        }
        Ok(as_f64(bytes) / as_f64(numbers.max(1)))
    }
}

/// How a column is stored in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub container: Container,
    pub double: bool,
    pub compression: Compression,
    /// Of an RNTuple, how the elements of pages are encoded.
    pub encoding: Option<Encoding>,
}

impl Stored {
    /// Writes numbers as a basket or page has them.
    fn write(&self, values: &[f64], candidate: Option<(ColumnEncoding, &Reduction)>, out: &mut Vec<u8>) -> Result<()> {
        if self.container == Container::Ttree {
            match candidate {
                Some((_, reduction)) => values.chunks(BLOCK).for_each(|block| reduction.basket_bytes(block, out)),
                None => plain_bytes(values.iter().copied(), self.double, out),
            }
            return Ok(());
        }
        let compressed = !self.compression.is_none();
        let encoding = match (candidate, self.encoding) {
            (None, Some(own)) => own,
            (candidate, _) => {
                FieldEncoding { column: candidate.map(|(encoding, _)| encoding), compressed }.element(self.double)?
            }
        };
        // Pages are made of what is read back: another encoding of it loses nothing more.
        let settled = |take: &mut dyn FnMut(f64)| {
            let mut read = Vec::new();
            for block in values.chunks(BLOCK) {
                if let Some((_, reduction)) = candidate {
                    reduction.read_back(block, &mut read);
                }
                let value = |(at, value): (usize, &f64)| read.get(at).copied().flatten().unwrap_or(*value);
                block.iter().enumerate().map(value).for_each(&mut *take);
            }
        };
        #[expect(clippy::cast_possible_truncation, reason = "the numbers are floats")]
        let elements = match self.double {
            true => {
                let mut doubles = Vec::with_capacity(values.len());
                settled(&mut |value| doubles.push(value));
                Elements::F64(doubles)
            }
            false => {
                let mut floats = Vec::with_capacity(values.len());
                settled(&mut |value| floats.push(value as f32));
                Elements::F32(floats)
            }
        };
        // A number that the encoding does not hold: it is not proposed, so its size does not matter.
        let end = elements.len();
        if elements.encode(&encoding, 0..end, out).is_err() {
            let plain = FieldEncoding { column: None, compressed }.element(self.double)?;
            elements.encode(&plain, 0..end, out)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_at_even_distances_whatever_the_batches() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        for batch in [1, 7, 333, 1000] {
            let mut sample = Sample::new(1000, 20, 80);
            values.chunks(batch).for_each(|part| sample.see(part));
            let firsts: Vec<f64> = sample.runs.iter().map(|run| run[0]).collect();
            assert_eq!(firsts, [0.0, 250.0, 500.0, 750.0]);
            assert!(sample.runs.iter().all(|run| run.len() == 20));
        }
        let mut all = Sample::new(10, 100, 1000);
        all.see(&values[..10]);
        assert_eq!(all.runs, [values[..10].to_vec()]);
    }

    #[test]
    fn fewer_bits_are_fewer_bytes() {
        let mut sample = Sample::new(4000, 2000, 8000);
        sample.see(&(0..4000).map(|i| f64::from((f64::from(i) * 0.7).sin() as f32)).collect::<Vec<_>>());
        for container in [Container::Ttree, Container::Rntuple] {
            let stored = Stored { container, double: false, compression: "zstd:5".parse().unwrap(), encoding: None };
            let bytes = |text: &str| {
                let encoding = text.parse().unwrap();
                let reduction = Reduction::new(encoding, container, false).unwrap();
                sample.bytes(&stored, Some((encoding, &reduction))).unwrap()
            };
            let today = sample.bytes(&stored, None).unwrap();
            assert!(bytes("mantissa:6") < bytes("mantissa:10") && bytes("mantissa:10") < today);
            assert!(bytes("quantized:8:-1:1") < bytes("quantized:16:-1:1"));
        }
    }
}
