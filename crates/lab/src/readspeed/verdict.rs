//! Which of storage, decompression, decoding or the user's own job holds reading back, by the rules of
//! root-readspeed's documentation: but from stages that were timed apart, and not from real and CPU time alone.

use serde::Serialize;

/// What holds reading back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// The user's own job takes much longer than reading.
    Application,
    /// Threads wait for bytes.
    Storage,
    /// There is less to deal out than there are threads.
    TooFewClusters,
    /// Threads are busy decompressing.
    Decompression,
    /// Threads are busy turning bytes into columns.
    Decoding,
}

/// What was measured, as far as the verdict goes. Seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stages {
    pub real: f64,
    pub cpu: f64,
    pub fetch: f64,
    pub decompress: f64,
    pub decode: f64,
    pub threads: f64,
    /// Pieces of work that could be done side by side.
    pub tasks: f64,
    pub application: Option<f64>,
}

/// An application is the bottleneck if it takes so many times what reading takes.
const MUCH_LONGER: f64 = 1.5;
/// Threads wait if they are busy for less than this share of the time.
const BUSY: f64 = 0.75;

pub(super) fn verdict(s: &Stages) -> Bottleneck {
    if s.application.is_some_and(|seconds| seconds > s.real * MUCH_LONGER) {
        return Bottleneck::Application;
    }
    let busy = s.cpu / (s.real * s.threads).max(1e-9);
    if busy < BUSY && s.tasks < 2.0 * s.threads && s.threads > 1.0 {
        return Bottleneck::TooFewClusters;
    }
    // Time in fetching is waiting, as far as it is not the kernel copying.
    if busy < BUSY && s.fetch > s.decompress.max(s.decode) {
        return Bottleneck::Storage;
    }
    if s.fetch > s.decompress + s.decode {
        return Bottleneck::Storage;
    }
    if s.decompress >= s.decode { Bottleneck::Decompression } else { Bottleneck::Decoding }
}

impl Bottleneck {
    /// What it is, and what to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Application => {
                "the application is the bottleneck: reading takes much less than the job; make its logic faster or run \
                 it on more threads; no layout of the file will help"
            }
            Self::Storage => {
                "raw I/O is the bottleneck: threads wait for bytes; bring the columns that are needed near \
                 (basketry rewrite --keep), or compress harder (basketry tune); more threads will not help"
            }
            Self::TooFewClusters => {
                "there are too few clusters for the threads: rewrite with smaller ones (basketry rewrite --cluster), or \
                 use fewer threads"
            }
            Self::Decompression => {
                "decompression is the bottleneck: a faster codec (basketry tune, or rewrite --compression lz4:4 or \
                 zstd:1) or more threads will help"
            }
            Self::Decoding => {
                "decoding is the bottleneck: read fewer columns or use more threads; columns that are not split decode \
                 slowest"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let busy = Stages {
            real: 1.0,
            cpu: 2.0,
            fetch: 0.1,
            decompress: 1.5,
            decode: 0.4,
            threads: 2.0,
            tasks: 99.0,
            application: None,
        };
        for (stages, expected) in [
            (busy, Bottleneck::Decompression),
            (Stages { decode: 1.6, ..busy }, Bottleneck::Decoding),
            (Stages { application: Some(1.4), ..busy }, Bottleneck::Decompression),
            (Stages { application: Some(9.0), ..busy }, Bottleneck::Application),
            (Stages { cpu: 0.5, fetch: 1.8, decompress: 0.2, ..busy }, Bottleneck::Storage),
            (Stages { cpu: 1.0, tasks: 1.0, ..busy }, Bottleneck::TooFewClusters),
        ] {
            assert_eq!(verdict(&stages), expected, "{stages:?}");
        }
    }
}
