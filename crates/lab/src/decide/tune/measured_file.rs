//! The file that `tune` measures: the input, or a temporary copy that stands for several inputs or some branches.
//!
//! Many similar files get one decision: files at even distances in the list are merged, with their baskets copied, and the
//! merged file is measured. Branches that are left out are left out of the copy.

use std::path::{Path, PathBuf};

use dataset::glob::NameFilter;
use dataset::table::catalog::split_cycle;
use flow::{Budget, Progress};
use rootfile::{Error, Result, ScratchFolder, open_source, public_path};

use super::options::Options;
use crate::math::evenly_spaced;

/// Bytes of the inputs that are merged, about.
const BYTES: u64 = 256 << 20;

/// The file that is measured for the inputs.
pub struct MeasuredFile {
    path: PathBuf,
    /// The folder of the copy, if there is one; removed when dropped.
    folder: Option<ScratchFolder>,
    /// How the inputs are named in the report.
    name: String,
    /// Number of inputs, and how many of them are measured.
    files: (usize, usize),
}

impl MeasuredFile {
    /// Makes a copy where one is needed, in `folder`. All inputs must have the same branches.
    ///
    /// # Errors
    ///
    /// An input cannot be read, inputs have other branches than the first, the copy cannot be written, or the callback ends the work.
    pub fn new(
        inputs: &[PathBuf],
        tree: Option<&str>,
        filter: &NameFilter,
        folder: &Path,
        budget: Budget,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let first = inputs.first().ok_or_else(|| Error::request("no input"))?;
        if inputs.len() == 1 && filter.keeps_all() {
            let name = public_path(first).display().to_string();
            return Ok(Self { path: first.clone(), folder: None, name, files: (1, 1) });
        }
        let copies = ScratchFolder::within(folder).map_err(|e| e.file(folder))?;
        let path = copies.path().join("sample.root");
        let content = flow::ContentOptions {
            filter: filter.clone(),
            tree: tree.map(str::to_owned),
            ..flow::ContentOptions::default()
        };
        let options = flow::Options { content, budget, ..flow::Options::default() };
        // The plan of all inputs refuses inputs with other branches, and names the differences.
        if inputs.len() > 1 {
            flow::forecast(inputs, &path, &options, false)?;
        }
        let chosen = spread_over(inputs)?;
        flow::rewrite(&chosen, &path, &options, progress)?;
        let name = match inputs.len() {
            1 => public_path(first).display().to_string(),
            files => format!("{} and {} more", public_path(first).display(), files - 1),
        };
        Ok(Self { path, folder: Some(copies), name, files: (inputs.len(), chosen.len()) })
    }

    /// The file that is measured.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The options for this file: what was one cycle of several in an input is the newest of its path in a copy.
    pub fn options(&self, options: &Options) -> Options {
        match &self.folder {
            Some(_) => Options { tree: path_alone(options.tree.as_deref()), ..options.clone() },
            None => options.clone(),
        }
    }

    /// How the inputs are named in the report.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of inputs, and how many of them are measured.
    pub fn files(&self) -> (usize, usize) {
        self.files
    }
}

/// The path of a tree that is named by path and cycle.
pub(super) fn path_alone(tree: Option<&str>) -> Option<String> {
    tree.map(|tree| split_cycle(tree).map_or(tree, |(path, _)| path).to_owned())
}

/// Inputs at even distances, as many as have about [`BYTES`] together.
fn spread_over(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let size = |path: &PathBuf| open_source(path).map(|source| source.size());
    let all = inputs.iter().map(size).sum::<Result<u64>>()?;
    let n = inputs.len() as u64;
    let wanted = if all <= BYTES { n } else { (BYTES.saturating_mul(n) / all).clamp(1, n) };
    let sample = evenly_spaced(inputs.len(), usize::try_from(wanted).unwrap_or(usize::MAX));
    Ok(sample.filter_map(|place| inputs.get(place).cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_inputs_are_all_taken() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..5).map(|i| folder.path().join(i.to_string())).collect();
        paths.iter().for_each(|path| std::fs::write(path, "x").unwrap());
        assert_eq!(spread_over(&paths).unwrap(), paths);
        let sparse = |path: &PathBuf| std::fs::File::create(path).unwrap().set_len(BYTES / 2).unwrap();
        paths.iter().for_each(sparse);
        assert_eq!(spread_over(&paths).unwrap(), [paths[0].clone(), paths[4].clone()]);
        assert!(spread_over(&[folder.path().join("absent")]).is_err());
    }
}
