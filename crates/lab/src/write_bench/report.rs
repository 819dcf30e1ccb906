//! The results as medians, one line for each combination.

use serde::{Deserialize, Serialize};

use super::grid::{Grid, Point, Run};
use crate::math::as_f64;
use crate::math::statistics::{self, Figure};

/// All that was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The data set.
    pub kind: String,
    /// Bytes of its payload.
    pub size: u64,
    /// Number of files to write at once.
    pub outputs: usize,
    /// Whether output was made but not written.
    pub no_write: bool,
    /// Whether entries were only made, and not filled.
    pub no_fill: bool,
    /// A line for each combination.
    pub lines: Vec<Line>,
}

/// One combination: medians over its runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Line {
    /// Which.
    #[serde(flatten)]
    pub point: Point,
    /// Seconds by the clock, without the flush of the disk cache.
    pub wall: f64,
    /// Seconds of CPU.
    pub cpu: f64,
    /// Additional seconds until the output is on disk.
    pub sync: f64,
    /// Bytes of memory at most.
    pub peak_rss: u64,
    /// Bytes of address space at most.
    pub vsize: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Payload by the clock, in 10⁶ bytes a second.
    pub mb_per_s: f64,
    /// The seconds by the clock of all runs: how far they are apart.
    #[serde(default)]
    pub spread: Figure,
    /// Seconds until the output is on disk, of all runs: `wall` and `sync` together.
    #[serde(default)]
    pub to_disk: Figure,
    /// Payload by the clock until it is on disk, in 10⁶ bytes a second.
    #[serde(default)]
    pub mb_per_s_to_disk: f64,
    /// Against one thread of the same writer, if that was measured.
    pub speed_up: Option<f64>,
    /// Every run.
    pub runs: Vec<Run>,
}

impl Report {
    pub(super) fn new(grid: &Grid, measured: impl Iterator<Item = (Point, Vec<Run>)>) -> Self {
        let mut lines: Vec<Line> = measured.map(|(point, runs)| Line::new(grid.size, point, runs)).collect();
        let single: Vec<(Point, f64)> =
            lines.iter().filter(|line| line.point.threads == 1).map(|line| (line.point.clone(), line.wall)).collect();
        for line in &mut lines {
            let alone = Point { threads: 1, ..line.point.clone() };
            let wall = single.iter().find(|(point, _)| *point == alone).map(|(_, wall)| *wall);
            line.speed_up = wall.filter(|_| line.wall > 0.0).map(|wall| wall / line.wall);
        }
        let Grid { kind, size, outputs, no_write, no_fill, .. } = grid;
        Self { kind: kind.clone(), size: *size, outputs: *outputs, no_write: *no_write, no_fill: *no_fill, lines }
    }
}

impl Line {
    fn new(size: u64, point: Point, runs: Vec<Run>) -> Self {
        let wall = median(&runs, |run| run.wall);
        let speed = |seconds: f64| if seconds > 0.0 { as_f64(size) / seconds / 1e6 } else { 0.0 };
        let figure = |of: fn(&Run) -> f64| Figure::of(&runs.iter().map(of).collect::<Vec<_>>()).unwrap_or_default();
        let to_disk = figure(|run| run.wall + run.sync);
        let whole = |of: &dyn Fn(&Run) -> u64| {
            let mut values: Vec<u64> = runs.iter().map(of).collect();
            values.sort_unstable();
            values.get(values.len() / 2).copied().unwrap_or(0)
        };
        Self {
            wall,
            cpu: median(&runs, |run| run.cpu),
            sync: median(&runs, |run| run.sync),
            peak_rss: whole(&|run| run.peak_rss),
            vsize: whole(&|run| run.vsize),
            bytes: whole(&|run| run.bytes),
            mb_per_s: speed(wall),
            spread: figure(|run| run.wall),
            mb_per_s_to_disk: speed(to_disk.median),
            to_disk,
            speed_up: None,
            point,
            runs,
        }
    }
}

fn median(runs: &[Run], of: impl Fn(&Run) -> f64) -> f64 {
    let values: Vec<f64> = runs.iter().map(of).collect();
    statistics::median(&values).unwrap_or(0.0)
}
