//! Plans a tree, or an RNTuple, with the content of a table whose columns are Arrow arrays: of any container that is neither. Nothing
//! here knows which one it is.

use std::sync::Arc;

use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::model::{BatchColumn, ConvertPlan, DefinedColumns};
use crate::arrow::read::Dataset;
use crate::arrow::shapes::{Shapes, shapes};
use crate::arrow::write::{TableSource, TreeColumn, TreeSpec};
use crate::plan::request::TableRequest;

/// The plan of a table with the columns of a data set and those that are defined, and notes. Missing numbers become `fill`, or are an error where they are found.
pub(crate) fn arrays_to_table(
    source: &TableRequest<'_>,
    memory: u64,
    dataset: Dataset,
    fill: Option<f64>,
    defined: Option<DefinedColumns>,
) -> Result<(ConvertPlan, Vec<String>)> {
    let path = source.path;
    let kept = |column: &usize| {
        let name = dataset.columns().get(*column).map(|column| column.field().name());
        name.is_some_and(|name| source.filter.keeps(path, &[name]))
    };
    let read: Vec<usize> = dataset.default_columns().into_iter().filter(kept).collect();
    if read.is_empty() {
        return Err(Error::request("no column to convert"));
    }
    let mut fields: Vec<_> =
        read.iter().filter_map(|column| Some(Arc::clone(dataset.columns().get(*column)?.field()))).collect();
    fields.extend(defined.iter().flat_map(|columns| columns.defined.fields()));
    let Shapes { mut columns, branches, notes } = shapes(&fields)?;
    let shapes_of_defined = columns.split_off(read.len().min(columns.len()));
    let branches = branches.into_iter().map(|branch| TreeColumn { name: branch.name, kind: branch.kind }).collect();
    let title = dataset.names().1.to_owned();
    let spec = TreeSpec { path: path.to_owned(), title, columns: branches, classes: StreamerInfos::new() };
    let table = TableSource::stored(&spec, source.layout, memory)?;
    let columns = columns.into_iter().enumerate().map(|(place, shape)| BatchColumn::Shaped { place, shape, fill });
    let plan = ConvertPlan::new(source, memory, dataset, read, columns.collect(), table)?;
    let plan = plan.with_defined(defined, shapes_of_defined);
    let keeps_clusters = source.layout.resolve_tree(path).cluster.is_none();
    Ok((ConvertPlan { keeps_clusters, ..plan }, notes))
}
