//! Writes a file in a layout, and measures the bytes of each column and the reading time against the input. For a small file
//! this is quicker than good samples, and exact.

use std::collections::HashMap;
use std::path::Path;

use dataset::layout::Layout;
use flow::{Budget, unwatched};
use rootfile::{Error, Result};

use super::column::Column;
use super::replay::replay;
use super::statistics::FileStats;
use super::workload::Workload;
use crate::math::as_f64;
use crate::system::clock::process_seconds;

/// Both files are read repeatedly, up to this many CPU seconds, and at most this often.
const READING: f64 = 0.08;
const READINGS: usize = 7;

/// The result of writing a file in a layout.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trial {
    /// Bytes of the output.
    pub size: f64,
    /// Bytes on disk, keys included, and baskets, by path of the tree and name of the branch.
    pub units: HashMap<(String, String), (f64, f64)>,
    /// CPU seconds to read the input for the workload, and the output.
    pub read: [f64; 2],
    /// CPU seconds to write the output.
    pub rewrite: f64,
}

impl Trial {
    /// Reading time of the output over that of the input.
    pub fn ratio(&self) -> f64 {
        self.read[1] / self.read[0].max(f64::MIN_POSITIVE)
    }
}

/// Writes `input` anew into a temporary file.
pub(crate) fn run(
    input: &Path,
    tree: Option<&str>,
    layout: &Layout,
    workload: &Workload,
    budget: Budget,
    seed: u64,
) -> Result<Trial> {
    let folder = rootfile::ScratchFolder::new()?;
    // A file holds its own name.
    let name = input.file_name().ok_or_else(|| Error::request("is not a file name").file(input))?;
    let path = folder.path().join(name);
    let options = flow::Options {
        layout: layout.clone(),
        // Other trees under the same names are part of the output.
        content: flow::ContentOptions {
            tree: tree.map(str::to_owned),
            cycles: flow::Cycles::OtherTrees,
            ..flow::ContentOptions::default()
        },
        budget,
        ..flow::Options::default()
    };
    let start = process_seconds();
    let summary = flow::rewrite(&[input.to_path_buf()], &path, &options, &unwatched)?;
    let rewrite = process_seconds() - start;
    let mut trial = Trial { size: as_f64(summary.bytes_written), rewrite, ..Trial::default() };
    let stats = FileStats::read_written(&path, tree, workload)?;
    for column in stats.now() {
        let tree = stats.trees.get(column.tree).map_or_else(String::new, |tree| tree.path.clone());
        let sum = trial.units.entry((tree, Column::name(column).to_owned())).or_default();
        sum.0 += column.on_disk();
        sum.1 += column.count();
    }
    let mut readings: [Vec<f64>; 2] = Default::default();
    let mut spent = 0.0;
    while readings[0].is_empty() || (spent < READING && readings[0].len() < READINGS) {
        let read = replay(&[input, &path], tree, workload, budget, seed)?;
        for (all, one) in readings.iter_mut().zip(&read) {
            all.push(one.seconds);
            spent += one.seconds;
        }
    }
    trial.read = readings.map(median);
    Ok(trial)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_has_the_sizes_of_a_rewrite() {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("trial.root"), folder.path().join("other.root"));
        crate::synthetic::sample::make(&input, 20_000, 7).unwrap();
        let layout: Layout = "basket = \"32kB\"\n[column.\"*\"]\ncompression = \"zstd:1\"".parse().unwrap();
        let trial = run(&input, None, &layout, &Workload::default(), Budget::new(100_000_000, 1), 1).unwrap();
        let options = flow::Options { layout, ..flow::Options::default() };
        flow::rewrite(std::slice::from_ref(&input), &output, &options, &unwatched).unwrap();
        // The two names are as long as each other.
        assert_eq!(trial.size, as_f64(output.metadata().unwrap().len()));
        let stats = FileStats::read(&output, None, &Workload::default()).unwrap();
        assert_eq!(trial.units.len(), stats.columns.len());
        let sum: f64 = trial.units.values().map(|unit| unit.0).sum();
        assert_eq!(sum, stats.columns.iter().map(Column::on_disk).sum::<f64>());
        assert!(trial.read.iter().all(|&seconds| seconds > 0.0) && trial.rewrite > 0.0);
    }
}
