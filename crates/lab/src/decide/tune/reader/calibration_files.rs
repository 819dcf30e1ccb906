//! The files of a calibration: generated data sets, each in several codecs and basket sizes.

use std::path::{Path, PathBuf};

use dataset::glob::NameFilter;
use dataset::layout::Container;
use flow::write::WriteOptions;
use flow::{Budget, unwatched};
use rootfile::Result;

use crate::synthetic::generate::{Job, generate};
use crate::synthetic::models::{Model, ModelOptions};

/// So many times less data to show that it works.
pub(super) const QUICK: u64 = 10;

/// A data set, and the layouts in which it is written.
pub(super) struct Recipe {
    model: &'static str,
    /// Bytes of values.
    pub size: u64,
    /// Branches of `multi`.
    branches: u32,
    /// The branches that are kept.
    keep: &'static [&'static str],
    /// The layout that it is generated in.
    layout: &'static str,
    /// What its files are.
    container: Container,
    /// Compression and basket sizes of the files.
    pub files: &'static [(&'static str, &'static str)],
}

const ALL: &[&str] = &[];
const EVERY_CODEC: &[(&str, &str)] =
    &[("none", "32kB"), ("zlib:1", "32kB"), ("lz4:4", "32kB"), ("zstd:5", "32kB"), ("lzma:1", "32kB")];
const TWICE: &[(&str, &str)] = &[("none", "32kB"), ("zlib:1", "16kB")];
const SPLIT: &str = "split-level = 99\ncompression = \"none\"";
const WHOLE: &str = "split-level = 0\ncompression = \"none\"";

/// What the recipes of trees have unless they say otherwise, and those of RNTuples.
const TREE: Recipe = Recipe {
    model: "nano",
    size: 0,
    branches: 1,
    keep: ALL,
    layout: "compression = \"none\"",
    container: Container::Ttree,
    files: &[],
};
const NTUPLE: Recipe = Recipe { container: Container::Rntuple, ..TREE };

/// The generated data: wide rows and long columns, numbers that compress well and badly, all kinds of values.
pub(super) const RECIPES: [Recipe; 26] = [
    // The same with next to no entries, and with more.
    Recipe { size: 250_000, files: &[("none", "32kB"), ("zlib:1", "32kB"), ("lz4:4", "32kB")], ..TREE },
    Recipe { size: 1_500_000, files: &[("none", "32kB"), ("zlib:6", "32kB")], ..TREE },
    // A thousand branches of leaves: the branches and baskets cost most.
    Recipe {
        size: 5_000_000,
        files: &[
            ("none", "2kB"),
            ("none", "32kB"),
            ("zlib:6", "32kB"),
            ("zlib:1", "4kB"),
            ("lz4:4", "8kB"),
            ("zstd:5", "32kB"),
            ("lzma:1", "32kB"),
        ],
        ..TREE
    },
    // Some columns of many entries.
    Recipe {
        size: 40_000_000,
        keep: &["nMuon", "Muon_*", "MET_*", "HLT_path1*"],
        files: &[("none", "64kB"), ("zlib:6", "64kB"), ("zstd:5", "8kB"), ("lz4:4", "64kB"), ("zlib:1", "2kB")],
        ..TREE
    },
    // Long arrays: nearly all is decompression.
    Recipe { size: 60_000_000, keep: &["nLHEPdfWeight", "LHEPdfWeight"], files: EVERY_CODEC, ..TREE },
    // One column of many entries: the entries cost most.
    Recipe {
        model: "single",
        size: 6_000_000,
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("zstd:1", "1MB"), ("lz4:1", "256kB"), ("none", "4kB")],
        ..TREE
    },
    Recipe {
        model: "lhcb",
        size: 6_000_000,
        layout: SPLIT,
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("zstd:5", "4kB"), ("lz4:4", "32kB")],
        ..TREE
    },
    Recipe {
        model: "lhcb",
        size: 6_000_000,
        layout: WHOLE,
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("zstd:5", "8kB")],
        ..TREE
    },
    Recipe {
        model: "aod",
        size: 8_000_000,
        layout: SPLIT,
        files: &[("none", "256kB"), ("zlib:1", "32kB"), ("zstd:5", "32kB"), ("lzma:1", "32kB")],
        ..TREE
    },
    Recipe {
        model: "aod",
        size: 8_000_000,
        layout: WHOLE,
        files: &[("none", "32kB"), ("zlib:1", "32kB"), ("lz4:4", "256kB")],
        ..TREE
    },
    Recipe {
        model: "multi",
        size: 8_000_000,
        branches: 10,
        layout: SPLIT,
        files: &[("none", "32kB"), ("zlib:1", "4kB"), ("zstd:1", "32kB")],
        ..TREE
    },
    Recipe { model: "multi", size: 8_000_000, layout: WHOLE, files: &[("none", "32kB"), ("lz4:1", "8kB")], ..TREE },
    // What entries can be: texts, vectors, vectors of vectors and of texts, one object, a few objects.
    Recipe { model: "kinds", size: 2_000_000, keep: &["text*"], layout: SPLIT, files: TWICE, ..TREE },
    Recipe { model: "kinds", size: 6_000_000, keep: &["vector*"], layout: SPLIT, files: TWICE, ..TREE },
    Recipe { model: "kinds", size: 6_000_000, keep: &["nested*"], layout: SPLIT, files: TWICE, ..TREE },
    Recipe { model: "kinds", size: 1_000_000, keep: &["single*"], layout: WHOLE, files: TWICE, ..TREE },
    Recipe { model: "kinds", size: 1_000_000, keep: &["few*"], layout: WHOLE, files: TWICE, ..TREE },
    Recipe { model: "kinds", size: 1_000_000, keep: &["few*"], layout: SPLIT, files: TWICE, ..TREE },
    // RNTuples of the same: pages that hold a cluster, and small ones.
    Recipe { size: 250_000, files: &[("none", "64kB"), ("zlib:1", "64kB"), ("lz4:4", "64kB")], ..NTUPLE },
    Recipe {
        size: 5_000_000,
        files: &[
            ("none", "2kB"),
            ("none", "1MB"),
            ("zlib:6", "1MB"),
            ("zlib:1", "4kB"),
            ("lz4:4", "16kB"),
            ("zstd:5", "64kB"),
            ("lzma:1", "1MB"),
        ],
        ..NTUPLE
    },
    Recipe {
        size: 40_000_000,
        keep: &["nMuon", "Muon_*", "MET_*", "HLT_path1*"],
        files: &[("none", "64kB"), ("zlib:6", "1MB"), ("zstd:5", "16kB"), ("lz4:4", "64kB"), ("zlib:1", "4kB")],
        ..NTUPLE
    },
    Recipe {
        size: 60_000_000,
        keep: &["nLHEPdfWeight", "LHEPdfWeight"],
        files: &[("none", "64kB"), ("zlib:1", "1MB"), ("lz4:4", "64kB"), ("zstd:5", "256kB"), ("lzma:1", "64kB")],
        ..NTUPLE
    },
    Recipe {
        model: "single",
        size: 6_000_000,
        files: &[("none", "64kB"), ("zlib:1", "64kB"), ("zstd:1", "1MB"), ("lz4:1", "256kB"), ("none", "4kB")],
        ..NTUPLE
    },
    Recipe {
        model: "lhcb",
        size: 6_000_000,
        layout: SPLIT,
        files: &[("none", "64kB"), ("zlib:1", "1MB"), ("zstd:5", "8kB")],
        ..NTUPLE
    },
    Recipe {
        model: "aod",
        size: 8_000_000,
        layout: SPLIT,
        files: &[("none", "1MB"), ("zlib:1", "64kB"), ("lz4:4", "256kB")],
        ..NTUPLE
    },
    Recipe {
        model: "multi",
        size: 8_000_000,
        branches: 10,
        layout: SPLIT,
        files: &[("none", "64kB"), ("zlib:1", "8kB"), ("zstd:1", "1MB")],
        ..NTUPLE
    },
];

/// Number of files of a calibration.
pub fn files() -> usize {
    RECIPES.iter().map(|recipe| recipe.files.len()).sum()
}

impl Recipe {
    pub fn name(&self, compression: &str, basket: &str) -> String {
        let split = if self.layout == WHOLE { ", unsplit" } else { "" };
        let some = if self.keep.is_empty() { "" } else { ", some branches" };
        let container = if self.container == Container::Rntuple { ", RNTuple" } else { "" };
        format!("{}{container}{split}{some}, {compression}, {basket}", self.model)
    }

    /// Generates the data set.
    pub fn make(&self, folder: &Path, number: usize, size: u64, budget: Budget) -> Result<PathBuf> {
        let options = ModelOptions { size, branches: self.branches, ..ModelOptions::default() };
        let model = Model::named(self.model, &options)?;
        let path = folder.join(format!("{number}.root"));
        let options = WriteOptions { layout: self.layout.parse()?, ..WriteOptions::default() };
        generate(
            &Job {
                model: &model,
                outputs: vec![path.clone()],
                options,
                budget,
                fill: true,
                rate: None,
                timeline: false,
            },
            &unwatched,
        )?;
        Ok(path)
    }

    fn layout_of(&self, codec: &str, basket: &str) -> String {
        let container = self.container;
        format!("container = \"{container}\"\ncompression = \"{codec}\"\nbasket = \"{basket}\"")
    }

    /// Writes it with another codec and baskets of another size.
    pub fn rewrite(&self, made: &Path, path: &Path, codec: &str, basket: &str, budget: Budget) -> Result<()> {
        let keep: Vec<String> = self.keep.iter().map(|&name| name.to_owned()).collect();
        let content = flow::ContentOptions { filter: NameFilter::new(&keep, &[])?, ..flow::ContentOptions::default() };
        let options = flow::Options {
            layout: self.layout_of(codec, basket).parse()?,
            content,
            budget,
            overwrite: true,
            ..flow::Options::default()
        };
        flow::rewrite(&[made.to_path_buf()], path, &options, &unwatched).map(drop)
    }
}
