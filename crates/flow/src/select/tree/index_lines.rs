//! The lines of an index (`TTreeIndex`) of one input, from the columns that its expressions name. They are read before the
//! rewrite is planned. Other expressions than columns and whole numbers are not evaluated here.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use dataset::glob::NameFilter;
use dataset::tree::IndexLine;
use rootfile::Result;

use crate::arrow::read::{BatchSize, Dataset, Request, batches};
use crate::execute::progress::unwatched;
use crate::plan::options::PlanOptions;
use crate::select::source::{PORTION, SourceTree};

/// What an expression of an index is.
enum Expression {
    Constant(i64),
    /// The place among the columns that are read.
    Column(usize),
}

/// The lines of the index of a tree of one input, in the order of entries. The inner error says why there can be none.
pub(crate) fn index_lines(
    tree: &SourceTree<'_>,
    expressions: &[String; 2],
) -> Result<std::result::Result<Vec<IndexLine>, String>> {
    let names: Vec<&str> = expressions.iter().map(|text| text.trim()).filter(|text| constant(text).is_none()).collect();
    if let Some(name) = names.iter().find(|name| !is_name(name)) {
        return Ok(Err(format!("its expression {name:?} is not a column")));
    }
    if names.is_empty() {
        return Ok(Err("its expressions are no columns".to_owned()));
    }
    let dataset = Dataset::of_trees(tree.inputs, tree.path, &NameFilter::new(&names, &[])?, PlanOptions::default())?;
    let mut columns = Vec::new();
    let mut parts = Vec::new();
    for text in expressions {
        if let Some(number) = constant(text) {
            parts.push(Expression::Constant(number));
            continue;
        }
        let name = text.trim();
        let found = dataset.columns().iter().position(|column| column.field().name() == name);
        let Some(found) = found else { return Ok(Err(format!("an input has no column {name:?}"))) };
        let plan = dataset.column(found).filter(|plan| plan.opaque().is_none() && dataset.is_complete(found));
        let kind = plan.map(|plan| plan.field().data_type().clone());
        if !kind.is_some_and(|kind| kind.is_integer() || kind.is_floating() || kind == DataType::Boolean) {
            return Ok(Err(format!("column {name:?} has not one number for each entry")));
        }
        let place = columns.iter().position(|column| *column == found).unwrap_or_else(|| {
            columns.push(found);
            columns.len() - 1
        });
        parts.push(Expression::Column(place));
    }
    let all = dataset.entries();
    let request = Request { columns, entries: 0..all, selection: None, budget: tree.budget, progress: &unwatched };
    let mut lines = Vec::new();
    for read in batches(&dataset, request, BatchSize::Bytes(PORTION)) {
        let read = read?;
        let rows = read.batch.num_rows();
        let mut values = Vec::with_capacity(parts.len());
        for part in &parts {
            match part {
                Expression::Constant(number) => values.push(vec![*number; rows]),
                Expression::Column(place) => {
                    // As ROOT does: fractions are cut off.
                    let whole =
                        read.batch.columns().get(*place).and_then(|a| arrow_cast::cast(a, &DataType::Int64).ok());
                    let whole = whole.filter(|whole| whole.null_count() == 0);
                    let Some(whole) = whole else {
                        return Ok(Err("a value of its columns is no whole number of 64 bits".to_owned()));
                    };
                    values.push(whole.as_primitive::<Int64Type>().values().to_vec());
                }
            }
        }
        let [majors, minors] = values.as_slice() else { return Ok(Err("its expressions are not two".to_owned())) };
        let first = i64::try_from(lines.len()).unwrap_or(i64::MAX);
        let numbered = majors.iter().zip(minors).zip(first..);
        lines.extend(numbered.map(|((major, minor), entry)| IndexLine { major: *major, minor: *minor, entry }));
    }
    Ok(Ok(lines))
}

fn constant(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// Whether an expression is the name of a column, and not an operation on columns.
fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'))
}
