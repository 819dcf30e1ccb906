//! A runner for tests: planted costs, a clock of its own, and known noise.

use std::collections::BTreeMap;
use std::path::Path;

use rootfile::{Error, Result};

use super::input::SweepInput;
use super::plan::Kind;
use super::runner::{Measured, Runner, Task};
use crate::system::subprocess::Memory;

/// Deviations from the planted value in units of the noise, round by round. The median is then the planted value, and
/// the median of the absolute deviations is the noise.
const AWAY: [f64; 5] = [0.0, 1.0, -1.0, 2.0, -2.0];

/// Planted costs.
#[derive(Debug, Default)]
pub(crate) struct Mock {
    /// Noise of times, as a share.
    pub noise: f64,
    /// Seconds by the virtual clock.
    pub clock: f64,
    /// Jobs that were run.
    pub jobs: usize,
    /// Jobs after which it is killed.
    pub killed_after: Option<usize>,
    /// Jobs of estimates among them.
    pub probes: usize,
    /// Whether reading costs the same, however columns are split and compressed.
    pub reads_alike: bool,
}

impl Mock {
    /// Seconds of CPU to copy an entry: deeper splitting and stronger codecs cost more.
    pub fn copy_each(task: &Task) -> f64 {
        let split = if task.layout.common.split_level == Some(0) { 1.0 } else { 2.0 };
        split * 1e-3 * (1.0 + Self::level(task))
    }

    /// Seconds of CPU to read an entry.
    pub fn read_each(task: &Task) -> f64 {
        let split = if task.layout.common.split_level == Some(0) { 2.0 } else { 1.0 };
        split * 1e-3 * (2.0 - 0.1 * Self::level(task))
    }

    fn level(task: &Task) -> f64 {
        task.layout.common.compression.map_or(0.0, |codec| f64::from(codec.to_root_setting() % 100))
    }
}

impl Runner for Mock {
    fn versions(&self) -> BTreeMap<String, String> {
        BTreeMap::from([("mock".to_owned(), "1".to_owned())])
    }

    fn prepare(&mut self, _: &Path, _: &SweepInput) -> Result<()> {
        Ok(())
    }

    fn run(&mut self, task: &Task) -> Result<Measured> {
        if self.killed_after == Some(self.jobs) {
            return Err(Error::request("killed"));
        }
        self.jobs += 1;
        let is_probe = |path: &std::path::PathBuf| path.to_string_lossy().contains("probe-");
        self.probes += usize::from(is_probe(&task.input) || task.outputs.iter().any(is_probe));
        #[expect(clippy::cast_precision_loss, reason = "a test's entries")]
        let entries = task.entries as f64;
        let noisy = 1.0 + self.noise * AWAY[task.job.round % AWAY.len()];
        let streams = task.outputs.len() as u64;
        let megabytes = |n: u64| n * 1_000_000;
        let basket = task.layout.common.basket.map_or(0, |size| size.bytes());
        let mut measured = Measured {
            entries: task.entries * streams.max(1),
            start: Memory { rss: megabytes(10), vsize: megabytes(100) },
            baskets: 100,
            clusters: 4,
            ..Measured::default()
        };
        match task.job.kind {
            Kind::Copy => {
                for output in &task.outputs {
                    std::fs::write(output, "")?;
                }
                #[expect(clippy::cast_precision_loss, reason = "streams")]
                let each = Self::copy_each(task) * streams as f64;
                measured.user = noisy * (0.5 + each * entries);
                // 100 MB, and 19 for each stream; a buffer more for each of a thousand branches.
                let rss = megabytes(100 + 19 * streams) + 1000 * basket;
                measured.events = Memory { rss, vsize: rss + megabytes(300) };
                measured.peak = Memory { rss: rss + 500 * basket, vsize: rss + megabytes(300) + 500 * basket };
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
                let each = (1000.0 - 50.0 * Self::level(task)) as u64;
                measured.bytes = each * task.entries;
            }
            kind => {
                let share = if kind == Kind::Sparse { 0.1 } else { 1.0 };
                let each = if self.reads_alike { 1e-3 } else { Self::read_each(task) };
                measured.user = noisy * share * each * entries;
                measured.events = Memory { rss: megabytes(50) + 10 * basket, vsize: megabytes(400) };
                measured.peak = measured.events;
                measured.first = (kind == Kind::Sparse).then_some(0.25);
                if kind == Kind::Columns {
                    measured.columns =
                        vec![("a".to_owned(), measured.user / 4.0), ("b".to_owned(), 0.75 * measured.user)];
                }
            }
        }
        measured.wall = measured.user;
        self.clock += measured.wall;
        Ok(measured)
    }
}
