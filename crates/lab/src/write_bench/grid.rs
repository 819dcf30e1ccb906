//! The grid of points to measure, and the cost of one run.

use std::path::PathBuf;

use dataset::layout::Container;
use serde::{Deserialize, Serialize};

use crate::synthetic::timeline::Stretch;

/// The grid: every combination is measured.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Data sets, as [`models`](crate::synthetic::models) names them.
    pub kind: String,
    /// Bytes of payload.
    pub size: u64,
    /// Branches, and events in an entry of each: `multi` alone has them.
    pub shapes: Vec<(u32, u32)>,
    /// Trees, RNTuples or both.
    pub containers: Vec<Container>,
    /// Codecs.
    pub compressions: Vec<String>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// A folder for each medium.
    pub media: Vec<PathBuf>,
    /// How often each is run.
    pub repeat: usize,
    /// Options of a run that are the same for all.
    pub common: Vec<String>,
    /// Number of files to write at once.
    pub outputs: usize,
    /// Whether output is made but not written.
    pub no_write: bool,
    /// Whether entries are only made, and not filled.
    pub no_fill: bool,
}

/// A writer, and the containers that it writes.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    /// Its name in the report.
    pub name: &'static str,
    /// Its containers; it is not run for others.
    pub containers: &'static [Container],
}

/// One combination, by one writer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// `basketry`, or the rival's name.
    pub writer: String,
    /// `ttree` or `rntuple`. Reports of older versions have none.
    #[serde(default)]
    pub container: String,
    /// Branches.
    pub branches: u32,
    /// Events in an entry of a branch.
    pub events: u32,
    /// Codec.
    pub compression: String,
    /// Numbers of threads.
    pub threads: usize,
    /// The folder.
    pub medium: PathBuf,
}

/// The cost of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// Seconds by the clock, without the flush of the disk cache.
    pub wall: f64,
    /// Seconds of CPU.
    pub cpu: f64,
    /// Additional seconds until the output is on disk, also those for which a writer waits while it writes.
    pub sync: f64,
    /// Bytes of memory at most.
    pub peak_rss: u64,
    /// Bytes of address space at most.
    pub vsize: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Seconds that threads waited for memory, all together.
    pub waiting: f64,
    /// What each thread did, if that was recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Stretch>,
}

impl Grid {
    /// All combinations for these writers.
    pub fn points(&self, writers: &[Writer]) -> Vec<Point> {
        let mut points = Vec::new();
        for &(branches, events) in &self.shapes {
            for compression in &self.compressions {
                for medium in &self.media {
                    for &threads in &self.threads {
                        let of = |container| writers.iter().filter(move |writer| writer.containers.contains(container));
                        let pairs = self.containers.iter().flat_map(|one| of(one).map(move |writer| (one, writer)));
                        points.extend(pairs.map(|(container, writer)| Point {
                            writer: writer.name.to_owned(),
                            container: container.to_string(),
                            branches,
                            events,
                            compression: compression.clone(),
                            threads,
                            medium: medium.clone(),
                        }));
                    }
                }
            }
        }
        points
    }
}
