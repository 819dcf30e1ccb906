//! Columns that are defined, as branches of the trees of the inputs: their baskets are written into a file of their own before the rewrite
//! is planned, in the clusters of the trees, and then move as all others do. Entries that are not selected get no values there.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use dataset::EntrySet;
use dataset::layout::Layout;
use rootfile::codec::Compression;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, FileWriter, LocalFile, Result, RootFile, ScratchFolder, Source};

use crate::arrow::read::{Dataset, steps};
use crate::arrow::shapes::{Shapes, shapes};
use crate::arrow::write::{TableSource, TableWriter, TreeColumn, TreeSpec};
use crate::execute::progress::unwatched;
use crate::plan::request::Select;
use crate::select::define::Define;
use crate::select::defined::Defined;
use crate::select::defined_values::{DefinedReading, DefinedValues};
use crate::select::source::SourceTree;
use crate::select::steps::STEP;
use crate::table::tree::added::{AddedBranches, AddedFile, AddedTree};

/// A cluster in memory takes at most one part in this many of the budget.
const CLUSTER_SHARE: u64 = 8;
/// The name of the file.
const FILE: &str = "defined.root";

/// What is defined in a tree.
#[derive(Default)]
pub(crate) struct DefinedBranches {
    /// None if nothing is.
    pub branches: Option<AddedBranches>,
    /// The columns that are defined.
    pub names: Vec<String>,
    /// Why others are not: columns that the tree does not have.
    pub lacking: Vec<(String, expr::Error)>,
    pub notes: Vec<String>,
}

/// How the branches are written.
pub(crate) struct DefinedLayout<'a> {
    pub layout: &'a Layout,
    /// The date of their records.
    pub date: u32,
}

/// Writes the columns that are defined in a tree, for its selected entries.
pub(crate) fn defined_branches(
    tree: &SourceTree<'_>,
    defines: &[Define],
    entries: Select<'_>,
    how: &DefinedLayout<'_>,
) -> Result<DefinedBranches> {
    let (dataset, defined) = Defined::open(tree.path, &|filter| tree.open(filter), defines)?;
    let lacking = defined.lacking.clone();
    if defined.is_empty() {
        return Ok(DefinedBranches { lacking, ..DefinedBranches::default() });
    }
    let selection = entries.map(|chosen| chosen(dataset.entries())).transpose()?;
    let folder = ScratchFolder::new()?;
    let path = folder.path().join(FILE);
    let work = Work { dataset: &dataset, defined: &defined, selection: selection.as_ref(), tree, how };
    let notes = work.write(&path)?;
    let file = RootFile::open(&path)?;
    let walk = file.walk();
    let keys = walk.directories.first().map_or(&[][..], |top| top.keys.as_slice());
    let numbers = tree.inputs.iter().map(|(number, ..)| *number).enumerate();
    let named = numbers
        .filter_map(|(place, number)| Some((number, keys.iter().find(|key| key.name == name_of(place)).cloned()?)));
    let trees = named.map(|(number, key)| (number, AddedTree { key, entries: None })).collect();
    let source = Arc::new(Scratch { file: LocalFile::open(&path)?, _folder: folder });
    let names: Vec<String> = defined.names().map(str::to_owned).collect();
    let files = vec![AddedFile { file, trees, source, number: None, renamed: Vec::new() }];
    let branches = Some(AddedBranches { files, names: names.clone() });
    Ok(DefinedBranches { branches, names, lacking, notes })
}

/// The name of the tree for the input at a place.
fn name_of(place: usize) -> String {
    format!("t{place}")
}

/// Writes the columns.
struct Work<'a> {
    dataset: &'a Dataset,
    defined: &'a Defined,
    selection: Option<&'a EntrySet>,
    tree: &'a SourceTree<'a>,
    how: &'a DefinedLayout<'a>,
}

impl Work<'_> {
    /// Writes a tree for each input. Returns notes.
    fn write(&self, path: &Path) -> Result<Vec<String>> {
        let fields = self.defined.fields();
        let shapes = shapes(&fields)?;
        let layout = self.layout();
        let setting = layout.common.compression.unwrap_or(Compression::NONE);
        let mut file = FileWriter::create(path, false, setting.to_root_setting(), self.how.date, "")?;
        let budget = self.tree.budget;
        let team = budget.helpers()?;
        let each = self.dataset.bytes_of(self.defined.columns()) / self.dataset.entries().max(1) + 8;
        let bounds = self.bounds(each);
        let reading = DefinedReading {
            dataset: self.dataset,
            selection: self.selection,
            steps: &bounds,
            budget,
            team: team.clone(),
            progress: &unwatched,
        };
        let mut values = DefinedValues::new(self.defined, reading);
        let mut first = 0;
        let mut ends = bounds.iter().copied().skip(1).peekable();
        for (place, count) in self.dataset.entries_by_file().iter().enumerate() {
            let all = first..first + count;
            first = all.end;
            let table = TableSource::stored(&spec(place, &shapes), &layout, budget.memory)?;
            let top = file.top();
            let limit = (budget.memory / CLUSTER_SHARE).max(1 << 20);
            let mut writer = TableWriter::new(&mut file, top, table, (team.clone(), limit))?;
            let mut at = all.start;
            while let Some(end) = ends.next_if(|end| *end <= all.end && *end > at) {
                writer.fill(&mut file, &batch(&shapes, &values.next_of_all(end)?)?)?;
                at = end;
                if self.dataset.clusters().binary_search(&end).is_ok() {
                    writer.end_cluster(&mut file)?;
                }
            }
            writer.finish(&mut file, setting)?;
        }
        file.finish()?;
        Ok(shapes.notes)
    }

    /// The layout of the branches: compressed as the table's columns are.
    fn layout(&self) -> Layout {
        let asked = self.how.layout.resolve_tree(self.tree.path).compression;
        let own = self.tree.inputs.first().and_then(|(_, file, _)| {
            Compression::from_root_setting(file.header().compress).filter(|own| *own != Compression::NONE)
        });
        let mut layout = Layout::default();
        layout.common.compression = asked.or(own);
        layout
    }

    /// The bounds of the steps: they end where clusters and files do.
    fn bounds(&self, each: u64) -> Vec<u64> {
        let room = STEP.min(self.tree.budget.memory / CLUSTER_SHARE);
        let mut bounds: Vec<u64> =
            self.dataset.clusters().windows(2).flat_map(|cluster| steps(cluster, each, room)).collect();
        let mut first = 0;
        bounds.push(0);
        for count in self.dataset.entries_by_file() {
            first += count;
            bounds.push(first);
        }
        bounds.sort_unstable();
        bounds.dedup();
        bounds
    }
}

/// A tree with the columns, for the input at a place.
fn spec(place: usize, shapes: &Shapes) -> TreeSpec {
    let column =
        |branch: &dataset::tree::make::NewColumn| TreeColumn { name: branch.name.clone(), kind: branch.kind.clone() };
    TreeSpec {
        path: name_of(place),
        title: String::new(),
        columns: shapes.branches.iter().map(column).collect(),
        classes: StreamerInfos::new(),
    }
}

/// The values as the writer takes them. What has no value becomes zero or empty: such entries are not selected.
fn batch(shapes: &Shapes, arrays: &[arrow_array::ArrayRef]) -> Result<RecordBatch> {
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (shape, array) in shapes.columns.iter().zip(arrays) {
        for flat in shape.values(array, Some(0.0))? {
            fields.push(Field::new(flat.name, flat.array.data_type().clone(), true));
            columns.push(flat.array);
        }
    }
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
    batch.map_err(|e| Error::unsupported(format!("internal error: {e}")))
}

/// A file in a scratch folder, which goes with it.
struct Scratch {
    file: LocalFile,
    _folder: ScratchFolder,
}

impl Source for Scratch {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_exact_at(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(offset, buf)
    }

    fn will_need(&self, ranges: &[Range<u64>]) {
        self.file.will_need(ranges);
    }

    fn name(&self) -> &Path {
        self.file.name()
    }
}
