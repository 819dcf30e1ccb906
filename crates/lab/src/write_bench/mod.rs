//! The benchmark of parallel writing: the same data in every combination of shapes, codecs, threads and media.
//!
//! Each run is a process of its own ([`child`](crate::child)), started by whoever has the command; runs take turns, so
//! that whatever else the machine does meets all alike. What a run does is [`generate`](crate::generate)'s, what the
//! rivals do `rivals` knows. The published study is G. Amadio's of TBufferMerger.

mod report;
mod rivals;

use std::path::PathBuf;

use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};

pub use report::{Line, Report};
pub use rivals::Rivals;
pub(crate) use rivals::compile;

/// What is measured: every combination of these.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Data sets, as [`models`](crate::models) names them.
    pub kind: String,
    /// Bytes of payload.
    pub size: u64,
    /// Branches, and events in an entry of each: `multi` alone has them.
    pub shapes: Vec<(u32, u32)>,
    /// Codecs.
    pub compressions: Vec<String>,
    /// Threads.
    pub threads: Vec<usize>,
    /// A folder for each medium.
    pub media: Vec<PathBuf>,
    /// How often each is run.
    pub repeat: usize,
    /// Options of a run that are the same for all.
    pub common: Vec<String>,
    /// Files written at once.
    pub outputs: usize,
    /// Whether what would be written is only made.
    pub no_write: bool,
    /// Whether entries are only made, and not filled.
    pub no_fill: bool,
}

/// One combination, by one writer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// `basketry`, or the rival's name.
    pub writer: String,
    /// Branches.
    pub branches: u32,
    /// Events in an entry of a branch.
    pub events: u32,
    /// Codec.
    pub compression: String,
    /// Threads.
    pub threads: usize,
    /// The folder.
    pub medium: PathBuf,
}

/// What one run took.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// Seconds by the clock, without the flush of the disk cache.
    pub wall: f64,
    /// Seconds of CPU.
    pub cpu: f64,
    /// Seconds to get what was written on disk.
    pub sync: f64,
    /// Bytes of memory at most.
    pub peak_rss: u64,
    /// Bytes of address space at most.
    pub vsize: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Seconds that threads waited for memory, all together.
    pub waiting: f64,
}

impl Grid {
    /// All combinations for these writers.
    pub fn points(&self, writers: &[String]) -> Vec<Point> {
        let mut points = Vec::new();
        for &(branches, events) in &self.shapes {
            for compression in &self.compressions {
                for medium in &self.media {
                    for &threads in &self.threads {
                        points.extend(writers.iter().map(|writer| Point {
                            writer: writer.clone(),
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

/// Measures all points in turn, as often as asked; `run` makes one run, `done` is told after each.
pub fn bench(
    grid: &Grid,
    writers: &[String],
    run: impl Fn(&Point) -> Result<Run>,
    mut done: impl FnMut(),
) -> Result<Report> {
    let points = grid.points(writers);
    if points.is_empty() {
        return Err(Error::request("nothing to measure: name at least one of each: threads, compression, media"));
    }
    let mut runs = vec![Vec::with_capacity(grid.repeat); points.len()];
    for _ in 0..grid.repeat.max(1) {
        for (point, runs) in points.iter().zip(&mut runs) {
            runs.push(run(point)?);
            done();
        }
    }
    Ok(Report::new(grid, points.into_iter().zip(runs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid {
            kind: "multi".to_owned(),
            size: 1_000_000,
            shapes: vec![(1, 100), (10, 10)],
            compressions: vec!["none".to_owned(), "lz4:4".to_owned()],
            threads: vec![1, 2],
            media: vec![PathBuf::from("/a")],
            repeat: 3,
            common: Vec::new(),
            outputs: 2,
            no_write: true,
            no_fill: false,
        }
    }

    #[test]
    fn runs_take_turns_and_medians_are_told() {
        let order = std::cell::RefCell::new(Vec::new());
        let run = |point: &Point| {
            order.borrow_mut().push(point.clone());
            let n = order.borrow().len() as f64;
            let wall = point.branches as f64 / point.threads as f64;
            Ok(Run { wall, cpu: n, bytes: 500_000, ..Run::default() })
        };
        let mut told = 0;
        let report = bench(&grid(), &["basketry".to_owned()], run, || told += 1).unwrap();
        let order = order.into_inner();
        assert_eq!((order.len(), told), (24, 24));
        assert_eq!(order[..8], order[8..16], "one after the other, then all again");
        let line = report.lines.iter().find(|l| l.point.branches == 10 && l.point.threads == 2).unwrap();
        assert_eq!((line.wall, line.speed_up), (5.0, Some(2.0)));
        assert!((line.mb_per_s - 0.2).abs() < 1e-9);
        // The fourth of the first round, and eight and sixteen later.
        let second = &report.lines[1];
        assert_eq!((second.cpu, second.point.threads), (10.0, 2));
    }

    #[test]
    fn nothing_to_measure_is_said() {
        let empty = Grid { threads: Vec::new(), ..grid() };
        assert!(bench(&empty, &["basketry".to_owned()], |_| Ok(Run::default()), || ()).is_err());
    }
}
