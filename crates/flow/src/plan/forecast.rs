//! What is said of a plan before it runs: the depth of each column, and its bytes in the output; and what the samples behind it may
//! take. What is tried on which container is with the plans of it.

use dataset::layout::Container;
use rootfile::codec::{Algorithm, Compression};

use crate::execute::engine::tree::recode_job::Form;
use crate::table::depth::Depths;

/// Seconds of one core of a common machine that the samples of a forecast take at most, unless the caller says another number.
pub const SAMPLE_SECONDS: f64 = 2.0;
/// Bytes a second, before compression, at which entries are read and decompressed for a sample.
const OPENED: f64 = 200e6;
/// The same for entries that are decoded and encoded again as well.
const DECODED: f64 = 60e6;
/// The distance of two sampled places as a share of a step: the golden ratio, which no pattern of columns has as its period.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// The forecast of a table.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Forecast {
    /// Its path.
    pub path: String,
    /// Whether the output is a tree or an RNTuple.
    pub container: Container,
    /// Entries of the inputs.
    pub input_entries: u64,
    /// Entries of the output.
    pub entries: u64,
    /// Clusters of the output, if they are known before.
    pub clusters: Option<u64>,
    /// Branches, or fields, with entries; without columns that are recoded.
    pub columns: Vec<ColumnForecast>,
    /// Columns that get another split level or streaming.
    pub recodes: Vec<RecodeForecast>,
    /// Bytes of its baskets, with keys, or of its pages, with checksums, now.
    pub bytes_before: u64,
    /// Expected bytes of its baskets, with keys, or of its pages, with checksums.
    pub bytes_after: u64,
    /// Expected number of baskets or pages.
    pub baskets: u64,
    /// Expected bytes of its metadata on disk: the tree's record, or anchor, header, footer and page lists; 0 if nothing was sampled.
    pub metadata: u64,
    /// The expected bytes are wrong by more than this in one case of twenty, as far as the samples tell.
    pub uncertainty: u64,
    /// Bytes on disk that were tried.
    pub sampled: u64,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The forecast of a column.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ColumnForecast {
    /// Branch names from the top down, with `/` between, or the path of a field.
    pub name: String,
    /// Clusters by depth.
    pub depths: Depths,
    /// Bytes on disk now, with keys or checksums.
    pub bytes_before: u64,
    /// Expected bytes on disk, the same way. Of a table that changes its container only the sum is known: each column has the same share as now.
    pub bytes_after: u64,
    /// Expected number of baskets or pages.
    pub baskets: u64,
    /// Bytes on disk that were tried; of a table that changes its container they are known for all columns together.
    pub sampled: u64,
    /// Compression of the output.
    #[serde(serialize_with = "as_text")]
    pub compression: Compression,
}

/// The forecast of a column that gets another split level or streaming.
#[derive(Clone, Debug, serde::Serialize)]
pub struct RecodeForecast {
    /// The branch of the first level, or the path of a branch whose streaming alone changes.
    pub name: String,
    /// Its form now.
    pub before: Form,
    /// Its form in the output.
    pub after: Form,
    /// Bytes on disk now, with keys.
    pub bytes_before: u64,
    /// Expected bytes on disk, with keys.
    pub bytes_after: u64,
    /// The branches of the output with their expected bytes on disk, and baskets.
    #[serde(skip)]
    pub(crate) outputs: Vec<(String, u64, u64)>,
}

fn as_text<S: serde::Serializer>(compression: &Compression, s: S) -> std::result::Result<S::Ok, S::Error> {
    s.collect_str(compression)
}

/// Seconds to read and to compress again so many bytes before compression. The speeds are rough: they say how much is tried, and the
/// same is tried on every machine.
pub(crate) fn opening(raw: f64, compression: Compression) -> f64 {
    raw * (1.0 / OPENED + 1.0 / compressing(compression))
}

/// The same where entries are decoded and encoded again.
pub(crate) fn recoding(raw: f64, compression: Compression) -> f64 {
    raw * (1.0 / DECODED + 1.0 / compressing(compression))
}

/// Bytes a second, before compression, at which a codec compresses: numbers of NanoAOD-like columns, by ROOT's level.
fn compressing(compression: Compression) -> f64 {
    let level = compression.level().max(1);
    match (compression.algorithm(), level) {
        (None, _) => 2e9,
        (Some(Algorithm::Lz4), 1..=3) => 400e6,
        (Some(Algorithm::Lz4), _) => 320e6 / f64::from(level),
        (Some(Algorithm::Zstd), 1) => 270e6,
        (Some(Algorithm::Zstd), 2) => 120e6,
        (Some(Algorithm::Zstd), 3) => 64e6,
        (Some(Algorithm::Zstd), 4) => 44e6,
        (Some(Algorithm::Zstd), 5) => 34e6,
        (Some(Algorithm::Zstd), 6) => 25e6,
        (Some(Algorithm::Zstd), 7) => 13e6,
        (Some(Algorithm::Zstd), 8) => 9e6,
        (Some(Algorithm::Zstd), _) => 5e6,
        (Some(Algorithm::Lzma), _) => 12e6 / f64::from(level).sqrt(),
        (Some(_), 1..=3) => 120e6,
        (Some(_), 4..=6) => 70e6,
        (Some(_), _) => 20e6,
    }
}

/// Places that are spread evenly over the work of a table, column after column.
pub(crate) struct Places {
    step: f64,
    next: u64,
    at: f64,
}

impl Places {
    /// So many places over this much work.
    pub fn new(work: f64, places: f64) -> Self {
        Self { step: work / places.max(1.0), next: 0, at: 0.0 }
    }

    /// The places in the next part of the work, each as a share of the part from its start.
    pub fn within(&mut self, work: f64) -> Vec<f64> {
        let (start, end) = (self.at, self.at + work);
        self.at = end;
        let mut found = Vec::new();
        while self.step > 0.0 {
            #[expect(clippy::cast_precision_loss, reason = "places")]
            let number = self.next as f64;
            let place = (number + ((number + 1.0) * GOLDEN).fract()) * self.step;
            if place >= end {
                break;
            }
            found.push(((place - start) / work).clamp(0.0, 1.0));
            self.next += 1;
        }
        found
    }
}

/// What samples showed: bytes on disk now and then, for each with its work, by which places are even.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub before: f64,
    pub after: f64,
    /// One by one, unless all was tried.
    tried: Vec<[f64; 3]>,
}

/// An error in the size of a table that one sample alone gives: seen for pages that are smaller in a sample than in the output.
const ALONE: f64 = 0.08;

impl Tally {
    /// Adds a sample.
    pub fn add(&mut self, before: f64, after: f64, work: f64) {
        if before > 0.0 && work > 0.0 {
            (self.before, self.after) = (self.before + before, self.after + after);
            self.tried.push([before, after, work]);
        }
    }

    /// Adds the samples of another column.
    pub fn join(&mut self, other: &Self) {
        (self.before, self.after) = (self.before + other.before, self.after + other.after);
        self.tried.extend_from_slice(&other.tried);
    }

    /// Adds a part of all, all of which is tried.
    pub fn add_whole(&mut self, before: f64, after: f64) {
        (self.before, self.after) = (self.before + before, self.after + after);
    }

    /// Bytes afterwards over those now. Samples lie evenly over the work, so each of them counts alike for as much.
    pub fn factor(&self) -> Option<f64> {
        if self.tried.is_empty() {
            return (self.before > 0.0).then(|| self.after / self.before);
        }
        let sum = |of: fn(&[f64; 3]) -> f64| self.tried.iter().map(of).sum::<f64>();
        let before = sum(|[before, _, work]| before / work);
        (before > 0.0).then(|| sum(|[_, after, work]| after / work) / before)
    }

    /// The squared error of the bytes afterwards of a column with so many bytes now, from the differences of its samples; none if there
    /// are no two. `part` is the share that was not tried.
    #[expect(clippy::cast_precision_loss, reason = "a number of samples")]
    pub fn variance(&self, bytes: f64, part: f64) -> Option<f64> {
        let factor = self.factor()?;
        let n = self.tried.len() as f64;
        let off = |[before, after, _]: &[f64; 3]| (after / before - factor).powi(2);
        (n > 1.0).then(|| self.tried.iter().map(off).sum::<f64>() / (n * (n - 1.0)) * bytes.powi(2) * part)
    }
}

/// The squared error of a size of which one sample alone is known, but for the share `part`, which was not tried.
pub(crate) fn of_one_sample(bytes: f64, part: f64) -> f64 {
    (bytes * ALONE / 2.0).powi(2) * part
}

/// Bytes as a whole number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, not below zero")]
pub(crate) fn whole(bytes: f64) -> u64 {
    bytes.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_even_over_parts_of_any_size() {
        let mut places = Places::new(100.0, 50.0);
        let counts: Vec<usize> = [1.0, 59.0, 0.0, 40.0].into_iter().map(|part| places.within(part).len()).collect();
        assert_eq!(counts.iter().sum::<usize>(), 50);
        assert!((28..=31).contains(&counts[1]) && counts[2] == 0, "{counts:?}");
        assert!(Places::new(0.0, 5.0).within(0.0).is_empty());
    }

    #[test]
    fn samples_that_differ_are_uncertain() {
        let mut tally = Tally::default();
        assert_eq!(tally.factor(), None);
        tally.add(10.0, 5.0, 20.0);
        assert_eq!((tally.factor(), tally.variance(100.0, 1.0)), (Some(0.5), None));
        tally.add(10.0, 7.0, 20.0);
        assert!((tally.factor().unwrap() - 0.6).abs() < 1e-12);
        // Each is a tenth off, so the mean of two is as well: 10 of 100 bytes.
        assert!((tally.variance(100.0, 1.0).unwrap() - 100.0).abs() < 1e-9);
    }
}
