//! How fast codecs are on a common machine, in one table. These numbers plan samples ([`super::nominal`]) and weigh findings
//! ([`crate::inspect`]) before anything is measured; what columns cost is measured in [`super::measure`].

use rootfile::codec::Algorithm;

use crate::math::as_f64;

/// The speeds of a codec on one core.
pub(crate) struct CodecSpeeds {
    /// Nanoseconds for each byte of a trial: to compress and decompress it. Only proportions matter.
    pub trial: ByLevel,
    /// Nanoseconds for each byte to decompress it, in the same plan.
    pub decompression: f64,
    /// What a reader takes to decompress; the numbers are fitted to files of the corpus.
    pub reading: Reading,
    /// Bytes a second that are compressed when written.
    pub writing: ByLevel,
}

/// A number that changes with ROOT's level of a codec.
pub(crate) struct ByLevel {
    /// Up to these levels, rising.
    up_to: &'static [(u8, f64)],
    above: f64,
}

impl ByLevel {
    const fn fixed(number: f64) -> Self {
        Self { up_to: &[], above: number }
    }

    /// The number at a level.
    pub fn at(&self, level: u8) -> f64 {
        self.up_to.iter().find(|(most, _)| level <= *most).map_or(self.above, |(_, number)| *number)
    }
}

/// Seconds to decompress. A codec's time follows mostly its input: very compressible data are mostly copies.
pub(crate) struct Reading {
    /// For each byte on disk.
    stored: f64,
    /// For each byte that comes out.
    made: f64,
    /// For each basket or page.
    start: f64,
}

impl Reading {
    /// Seconds for `records` baskets or pages of `raw` bytes before compression and `zip` on disk.
    pub fn seconds(&self, raw: u64, zip: u64, records: u64) -> f64 {
        as_f64(zip) * self.stored + as_f64(raw) * self.made + as_f64(records) * self.start
    }
}

impl CodecSpeeds {
    /// Of an algorithm, or of bytes that are not compressed.
    pub fn of(algorithm: Option<Algorithm>) -> Self {
        match algorithm {
            None => Self {
                trial: ByLevel::fixed(0.3),
                decompression: 0.1,
                reading: Reading { stored: 0.0, made: 0.0, start: 0.0 },
                writing: ByLevel::fixed(10e9),
            },
            Some(Algorithm::Lz4) => Self {
                trial: ByLevel { up_to: &[(3, 3.0)], above: 18.0 },
                decompression: 0.7,
                reading: Reading { stored: 0.4e-9, made: 0.1e-9, start: 0.3e-6 },
                writing: ByLevel { up_to: &[(3, 500e6)], above: 60e6 },
            },
            Some(Algorithm::Zlib | Algorithm::OldCs) => Self {
                trial: ByLevel { up_to: &[(2, 10.0)], above: 18.0 },
                decompression: 2.5,
                reading: Reading { stored: 3.0e-9, made: 0.08e-9, start: 1e-6 },
                writing: ByLevel { up_to: &[(5, 70e6)], above: 25e6 },
            },
            Some(Algorithm::Zstd) => Self {
                trial: ByLevel { up_to: &[(1, 6.0), (3, 11.0), (6, 27.0), (8, 80.0)], above: 150.0 },
                decompression: 1.6,
                reading: Reading { stored: 1.9e-9, made: 0.15e-9, start: 1e-6 },
                writing: ByLevel { up_to: &[(4, 300e6)], above: 60e6 },
            },
            Some(Algorithm::Lzma) => Self {
                trial: ByLevel { up_to: &[(2, 110.0)], above: 200.0 },
                decompression: 22.0,
                reading: Reading { stored: 38e-9, made: 0.3e-9, start: 3e-6 },
                writing: ByLevel::fixed(4e6),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_codec_is_free_and_more_levels_are_no_faster() {
        let none = CodecSpeeds::of(None);
        for algorithm in Algorithm::WRITTEN.into_iter().chain([Algorithm::OldCs]) {
            let speeds = CodecSpeeds::of(Some(algorithm));
            assert!(speeds.decompression > none.decompression, "{algorithm}");
            assert!(speeds.reading.seconds(1000, 500, 1) > none.reading.seconds(1000, 500, 1), "{algorithm}");
            for level in 1..=algorithm.facts().max_level {
                assert!(speeds.trial.at(level) > speeds.decompression, "{algorithm}:{level}");
                assert!(speeds.trial.at(level + 1) >= speeds.trial.at(level), "{algorithm}:{level}");
                assert!(speeds.writing.at(level) < none.writing.at(level), "{algorithm}:{level}");
                assert!(speeds.writing.at(level + 1) <= speeds.writing.at(level), "{algorithm}:{level}");
            }
        }
    }
}
