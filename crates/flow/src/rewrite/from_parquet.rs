//! Parquet files to a tree or an RNTuple, under the name of a conversion: a rewrite with the options and the report of conversions.

use std::path::Path;

use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::table::Join;
use dataset::{EntryFilter, EntrySet};
use rootfile::{Result, check_output};

use super::convert::{BatchColumn, ConvertPlan};
use super::execute::write;
use super::options::{BuildIndex, ContentOptions, Options};
use super::parquet::{Conversion, Converted, ConvertedColumn};
use super::prepare::{StoredSource, open_columns, open_filtered, prepare_table};
use crate::keys::IndexNames;
use crate::plan::inputs::Input;

/// Parquet files, taken as one, and the tree to make of them.
#[derive(Clone, Debug)]
pub struct FromParquet<'a> {
    /// The files, each with the name of its table or without.
    pub inputs: &'a [Input],
    /// The ROOT file.
    pub output: &'a Path,
    /// Path of the tree. If absent, the path in the metadata of the first input, or `Events`.
    pub tree: Option<&'a str>,
    /// The layout of the tree.
    pub layout: &'a Layout,
    /// Replaces missing numbers. If absent, missing numbers are an error.
    pub fill_null: Option<f64>,
    /// The index that the tree gets.
    pub build_index: Option<&'a IndexNames>,
}

/// Makes a tree of Parquet files. Each row group is a cluster, unless the layout has a cluster size.
///
/// # Errors
///
/// An input cannot be read, the output cannot be written, a column has a type that trees cannot hold, or the budget is too
/// small.
pub fn from_parquet(job: &FromParquet<'_>, options: &Conversion<'_>) -> Result<Converted> {
    let inputs = job.inputs.iter().map(|input| input.path.as_path());
    check_output(job.output, options.overwrite, inputs.chain(options.entries.entries.file()))?;
    let tree = job.tree.map(|tree| tree.trim_matches('/'));
    let (dataset, path, _) = open_filtered(job.inputs, &options.filter, tree, Join::Strict, options.budget.memory)?;
    let choice = &options.entries;
    let rewrite = Options {
        layout: job.layout.clone(),
        content: ContentOptions {
            filter: options.filter.clone(),
            defines: choice.defines.clone(),
            entries: EntryFilter { cuts: choice.cuts.clone(), weight: choice.weight.clone(), ..EntryFilter::default() },
            ..ContentOptions::default()
        },
        budget: options.budget,
        overwrite: options.overwrite,
        build_index: job
            .build_index
            .map(|names| BuildIndex { names: names.clone(), beside: Some(job.output.to_path_buf()) }),
        ..Options::default()
    };
    let entries = |all: u64| choice.entries.resolve(all, choice.seed);
    let all = choice.entries == dataset::Entries::All;
    let columns = |filter: &NameFilter| open_columns(job.inputs, filter, &path, Join::Strict, options.budget.memory);
    let source = StoredSource {
        dataset,
        open: &columns,
        path: path.clone(),
        fill: job.fill_null,
        entries: (!all).then_some(&entries as &dyn Fn(u64) -> Result<EntrySet>),
    };
    let mut done = Converted::default();
    let prepared = prepare_table(source, &rewrite, &mut |plan| report(plan, &mut done))?;
    let (summary, staged) = write(prepared, job.output, &rewrite, options.progress)?;
    staged.deliver()?;
    let table = summary.tables.into_iter().next().unwrap_or_default();
    Ok(Converted {
        tree: table.path,
        container: Some(table.container),
        entries: table.entries,
        cuts: summary.cut_flows.into_iter().flat_map(|flow| flow.cuts).collect(),
        notes: summary.notes,
        bytes_written: summary.bytes_written,
        ..done
    })
}

/// Adds what is read of the files, and the columns that are made of it.
fn report(plan: &ConvertPlan, done: &mut Converted) {
    let ConvertPlan { dataset, read, selection, .. } = plan;
    for bounds in dataset.clusters().windows(2) {
        let [start, end] = bounds else { continue };
        if selection.as_ref().is_none_or(|selection| selection.count(&(*start..*end)) > 0) {
            done.row_groups += 1;
            done.bytes_read += read.iter().map(|column| dataset.stored(*column, &(*start..*end)).0).sum::<u64>();
        }
    }
    for column in &plan.columns {
        if let BatchColumn::Shaped { shape, .. } | BatchColumn::Defined { shape, .. } = column {
            done.columns.extend(shape.fields.iter().map(|field| ConvertedColumn::of(field)));
        }
    }
}
