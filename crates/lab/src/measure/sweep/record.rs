//! The one-record tree at the end of each output, like the file records of an experiment: as many branches as the events
//! have, and one entry.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use dataset::tree::make::{NewKind, NewLeaf};
use flow::Budget;
use flow::write::{ParallelWriter, TreeColumn, TreeSpec, WriteOptions, WritePool};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

/// The file that it is copied from.
pub(super) const FILE: &str = "record.root";
/// Its name, which no tree of an experiment has.
pub(super) const TREE: &str = "basketry_records";

/// Makes the file, unless it exists.
pub(super) fn make(path: &Path, columns: usize) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let names: Vec<String> = (0..columns.max(1)).map(|i| format!("record_{i:04}")).collect();
    let column = |name: &String| TreeColumn {
        name: name.clone(),
        kind: NewKind::Leaves(vec![NewLeaf { name: name.clone(), letter: 'D', ..NewLeaf::default() }]),
    };
    let spec = TreeSpec {
        path: TREE.to_owned(),
        title: "one record".to_owned(),
        columns: names.iter().map(column).collect(),
        classes: StreamerInfos::new(),
    };
    let schema = Schema::new(names.iter().map(|n| Field::new(n, DataType::Float64, false)).collect::<Vec<_>>());
    let values = names.iter().map(|_| Arc::new(Float64Array::from(vec![1.0])) as ArrayRef).collect();
    let batch = RecordBatch::try_new(Arc::new(schema), values).map_err(|e| Error::request(e.to_string()))?;
    let pool = WritePool::new(Budget::new(flow::DEFAULT_MEMORY, 1));
    let mut writer = ParallelWriter::create(path, &WriteOptions::default(), &pool)?;
    let tree = writer.tree(&spec)?;
    let mut context = writer.fill_context(tree)?;
    context.fill(&batch)?;
    context.finish()?;
    writer.finish().map(|_| ())
}
