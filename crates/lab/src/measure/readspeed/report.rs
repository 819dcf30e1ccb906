//! The report of `readspeed` as plain values (`docs/readspeed-schema.md`).

use std::path::PathBuf;

use flow::CutStep;
use serde::Serialize;

use super::bottleneck::Bottleneck;
use super::network::Network;
use crate::math::as_f64;
use crate::math::statistics::Figure;

/// Version of the report's JSON form (`docs/readspeed-schema.md`).
pub const SCHEMA: u32 = 1;

/// One reading. Times in seconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Run {
    /// From the clock.
    pub real: f64,
    /// CPU time of the process.
    pub cpu: f64,
    /// Threads' time in fetching.
    pub fetch: f64,
    /// Threads' time in decompressing.
    pub decompress: f64,
    /// Threads' time in decoding.
    pub decode: f64,
    /// Share of the files' bytes that was not in the page cache, if the files were dropped from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<f64>,
    /// What went over the network, if files are on other machines, or a latency is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

/// The cost of a column in the median reading. Times in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnCost {
    /// Its name.
    pub name: String,
    /// Its type, as uproot names types.
    pub typename: String,
    /// Bytes read.
    pub compressed: u64,
    /// Bytes of its entries before compression, as ROOT's rootreadspeed counts: of baskets without keys and offsets of entries.
    pub uncompressed: u64,
    /// Baskets read.
    pub baskets: u64,
    /// Time in fetching.
    pub fetch: f64,
    /// Time in decompressing.
    pub decompress: f64,
    /// Time in decoding.
    pub decode: f64,
    /// Why it is read as bytes, if it cannot be decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<String>,
}

/// Reading on a number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Scaled {
    /// How many.
    pub threads: usize,
    /// Seconds by the clock, of all readings.
    pub real: Figure,
    /// Seconds of CPU, of all readings.
    pub cpu: Figure,
    /// Uncompressed MB/s (10^6), by the median.
    pub throughput: f64,
    /// Against one thread, if that was measured.
    pub speed_up: Option<f64>,
    /// The same of a loop that only computes: the number of cores that so many threads really have.
    pub effective_cores: f64,
    /// The speed-up as a share of the loop's: what reading itself makes of the cores.
    pub of_possible: Option<f64>,
}

/// The report of `readspeed`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// The files.
    pub files: Vec<PathBuf>,
    /// Path of the tree.
    pub tree: String,
    /// Threads used: the requested number, at most the number of processors.
    pub threads: usize,
    /// Entries read, of how many.
    pub entries: u64,
    /// Entries that there are.
    pub all_entries: u64,
    /// What the cuts leave of the entries. Each reading includes them.
    pub cuts: Vec<CutStep>,
    /// Clusters that there are.
    pub clusters: u64,
    /// The limit in bytes a second, if slow storage was simulated.
    pub throttle: Option<u64>,
    /// Seconds from a request to its first byte, if slow storage was simulated with a latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttle_latency: Option<f64>,
    /// Real and CPU seconds for opening the files.
    pub setup: (f64, f64),
    /// Bytes of the entries read, before compression, as ROOT's rootreadspeed counts: of baskets without keys and offsets of entries.
    pub uncompressed: u64,
    /// Bytes read for them: of baskets with keys, of pages with checksums.
    pub compressed: u64,
    /// All readings.
    pub runs: Vec<Run>,
    /// Real time of all readings: how far they are apart.
    pub spread: Figure,
    /// The one with the median real time.
    pub median: Run,
    /// Reading on several numbers of threads, beside a loop that only computes, if several were requested.
    pub scaling: Option<Vec<Scaled>>,
    /// Columns, the slowest first.
    pub columns: Vec<ColumnCost>,
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// Its meaning, and what to do.
    pub advice: String,
    /// Commands that do so, for the first file.
    pub commands: Vec<String>,
    /// Notes about the measurement.
    pub notes: Vec<String>,
    /// Forecasts of other layouts, if requested.
    pub layouts: Option<Vec<LayoutSpeed>>,
}

impl Report {
    /// Uncompressed MB/s (10^6) of the median reading.
    pub fn throughput(&self) -> f64 {
        as_f64(self.uncompressed) / 1e6 / self.median.real.max(1e-9)
    }

    /// Compressed MB/s (10^6) of the median reading.
    pub fn compressed_throughput(&self) -> f64 {
        as_f64(self.compressed) / 1e6 / self.median.real.max(1e-9)
    }

    /// CPU time over threads' real time.
    pub fn efficiency(&self) -> f64 {
        self.median.cpu / (self.median.real * threads(self.threads)).max(1e-9)
    }
}

/// A layout, and how fast the same columns and entries could be read in it.
#[derive(Clone, Debug, Serialize)]
pub struct LayoutSpeed {
    /// A codec for all columns, `as it is`, or `as tune chooses`.
    pub layout: String,
    /// Bytes on disk of all entries of the columns, as expected.
    pub compressed: f64,
    /// Threads' time in fetching, in seconds.
    pub fetch: f64,
    /// Threads' time in decompressing.
    pub decompress: f64,
    /// Threads' time in decoding.
    pub decode: f64,
    /// Seconds from the clock.
    pub real: f64,
    /// Uncompressed MB/s (10^6).
    pub throughput: f64,
}

#[expect(clippy::cast_precision_loss, reason = "threads")]
pub(super) fn threads(n: usize) -> f64 {
    n as f64
}
