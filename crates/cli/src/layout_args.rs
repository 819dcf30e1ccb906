//! The layout options, which all writing verbs share.

use std::path::{Path, PathBuf};

use clap::Args;
use dataset::glob::{ColumnPattern, NameFilter, TreePattern};
use dataset::layout::{
    ByteSize, ClusterSize, ColumnEncoding, ColumnLayout, Compression, Container, Layout, Streaming, TreeLayout,
};
use flow::EntryFilter;
use rootfile::{Error, Hint, Result};

/// The layout of the output. Settings that are not given stay as in the input.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Layout")]
pub struct LayoutArgs {
    /// Codec and level: none, zlib:1, lz4:4, zstd:5, lzma:7, or ROOT's own code (505).
    #[arg(long, value_name = "CODEC")]
    compression: Option<Compression>,
    #[command(flatten)]
    rest: UncompressedArgs,
}

/// The layout options without compression, which `convert` defines for two formats.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Layout")]
pub struct UncompressedArgs {
    /// Read the layout from a TOML file, as `inspect --layout` prints it. Other options override it.
    #[arg(long, value_name = "FILE")]
    layout: Option<PathBuf>,
    /// Write tables as ttree or rntuple, whatever they are in the input.
    #[arg(long, value_name = "KIND")]
    container: Option<Container>,
    /// Size of a cluster: compressed bytes (30MB) or entries (1000).
    #[arg(long, value_name = "SIZE")]
    cluster: Option<ClusterSize>,
    /// Buffer size at which a basket is closed, as in ROOT; in an RNTuple the largest size of a page.
    #[arg(long, visible_alias = "page-size", value_name = "SIZE")]
    basket: Option<ByteSize>,
    /// Encoding of the columns of RNTuples: plain, split, and for floats half (16 bits), single (32), double (64, where the field is one),
    /// truncated:BITS or quantized:BITS:LEAST:MOST. `verify --tolerance` proves the error.
    #[arg(long, value_name = "HOW", allow_hyphen_values = true)]
    encoding: Option<ColumnEncoding>,
    /// Memory that the baskets of all branches share (ROOT's OptimizeBaskets).
    #[arg(long, value_name = "SIZE")]
    basket_memory: Option<ByteSize>,
    /// Write one basket for each branch in each cluster, of any size.
    #[arg(long)]
    one_basket_per_cluster: bool,
    /// Record buffer sizes as this multiple of the largest basket, such as 1.1.
    #[arg(long, value_name = "RATIO")]
    memory_ratio: Option<f64>,
    /// Split objects into branches: 0 not at all, 1 into their members, 99 as deeply as ROOT does.
    #[arg(long, value_name = "LEVEL")]
    split_level: Option<u32>,
    /// Streaming of unsplit collections: member-wise or object-wise.
    #[arg(long, value_name = "HOW")]
    streaming: Option<Streaming>,
    /// Settings for matching trees, such as --tree-set 'Meta*' basket=1kB,compression=none.
    #[arg(long, value_names = ["PATTERN", "KEY=VALUE,..."], num_args = 2, action = clap::ArgAction::Append)]
    tree_set: Vec<String>,
    /// Settings for matching branches, such as --column-set 'Muon_*' compression=lz4:4. The last match wins.
    #[arg(long, value_names = ["PATTERN", "KEY=VALUE,..."], num_args = 2, action = clap::ArgAction::Append)]
    column_set: Vec<String>,
}

impl LayoutArgs {
    /// The layout options of a verb that has only some of them.
    pub fn plain(
        container: Container,
        compression: Option<Compression>,
        cluster: Option<ClusterSize>,
        basket: Option<ByteSize>,
        one_basket_per_cluster: bool,
    ) -> Self {
        let rest = UncompressedArgs {
            container: Some(container),
            cluster,
            basket,
            one_basket_per_cluster,
            ..UncompressedArgs::default()
        };
        Self { compression, rest }
    }

    /// The file that the layout is read from, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.rest.file()
    }

    /// The layout of the options.
    pub fn layout(&self) -> Result<Layout> {
        self.rest.layout(self.compression)
    }
}

/// The layout in a file. Programs may pass the text itself, which has line breaks, as no file name has.
pub fn layout_of(file: &Path) -> Result<Layout> {
    if file.as_os_str().as_encoded_bytes().contains(&b'\n') {
        return Layout::from_toml(&file.to_string_lossy());
    }
    let text = std::fs::read_to_string(file).map_err(|e| Error::from(e).file(file))?;
    Layout::from_toml(&text).map_err(|e| e.file(file))
}

impl UncompressedArgs {
    /// The file that the layout is read from, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.layout.as_deref()
    }

    /// The layout of the options; `compression` overrides that of a file.
    pub fn layout(&self, compression: Option<Compression>) -> Result<Layout> {
        let mut layout = match &self.layout {
            Some(file) => layout_of(file)?,
            None => Layout::default(),
        };
        layout.common.overlay(&TreeLayout {
            compression,
            container: self.container,
            encoding: self.encoding,
            cluster: self.cluster,
            basket: self.basket,
            basket_memory: self.basket_memory,
            one_basket_per_cluster: self.one_basket_per_cluster.then_some(true),
            memory_ratio: self.memory_ratio,
            streaming: self.streaming,
            ..TreeLayout::default()
        });
        if let Some(level) = self.split_level {
            layout.common.set("split-level", &level.to_string())?;
        }
        for pair in self.tree_set.chunks_exact(2) {
            let mut keys = TreeLayout::default();
            for (key, value) in settings(&pair[1])? {
                keys.set(key, value)?;
            }
            layout.set_tree(TreePattern::new(&pair[0])?, &keys);
        }
        for pair in self.column_set.chunks_exact(2) {
            let mut keys = ColumnLayout::default();
            for (key, value) in settings(&pair[1])? {
                keys.set(key, value)?;
            }
            layout.set_column(ColumnPattern::new(&pair[0])?, &keys);
        }
        Ok(layout)
    }
}

fn settings(text: &str) -> Result<Vec<(&str, &str)>> {
    let pair = |part: &'_ str| -> Option<(usize, usize)> { part.find('=').map(|i| (i, i + 1)) };
    text.split(',')
        .map(|part| match pair(part) {
            Some((end, start)) => Ok((part[..end].trim(), part[start..].trim())),
            None => Err(Error::request(format!("{part:?} is no setting; write KEY=VALUE, such as compression=zstd:5"))),
        })
        .collect()
}

/// The branches and entries to keep.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Selection")]
pub struct SelectArgs {
    /// Keep only branches that match a glob or /regex/, with the branches below them and their counters.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Drop branches that match a glob or /regex/.
    #[arg(long, value_name = "PATTERN")]
    drop: Vec<String>,
    /// First entry to keep, of all trees.
    #[arg(long, value_name = "ENTRY", conflicts_with = "entries")]
    first: Option<u64>,
    /// Last entry to keep, of all trees.
    #[arg(long, value_name = "ENTRY", conflicts_with = "entries")]
    last: Option<u64>,
    /// Keep only these entries: ranges as in Python (100:200, or :10,-10:), a random share (1%), or entries listed in a
    /// file. They apply to all trees, or to trees that match a pattern (Events=100:200). Several inputs count as one.
    #[arg(long, value_name = "[TREE=]A:B,...|1%|FILE", allow_hyphen_values = true)]
    entries: Vec<String>,
    /// Keep only entries for which a column (COLUMN, or TREE/COLUMN) is true or not zero. Trees without the column are
    /// kept whole.
    #[arg(long = "where", value_name = "COLUMN")]
    conditions: Vec<String>,
}

impl SelectArgs {
    /// The filter of branches.
    pub fn filter(&self) -> Result<NameFilter> {
        NameFilter::new(&self.keep, &self.drop)
    }

    /// The filter of entries.
    pub fn entries(&self) -> Result<EntryFilter> {
        let mut filter = EntryFilter::default();
        if self.first.is_some() || self.last.is_some() {
            let (first, last) = (self.first.unwrap_or(0), self.last.unwrap_or(u64::MAX - 1));
            if first > last {
                let (first, last) = (Hint::number("first", first), Hint::number("last", last));
                return Err(Error::request(format!("{first} is after {last}")).hint(first).hint(last));
            }
            filter = (first..last.saturating_add(1)).into();
        }
        self.entries.iter().try_for_each(|text| filter.add(text))?;
        filter.conditions = self.conditions.iter().map(|text| ColumnPattern::new(text)).collect::<Result<_>>()?;
        Ok(filter)
    }
}
