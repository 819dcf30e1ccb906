//! The entries of each part of a table.

use dataset::EntrySetBuilder;
use rootfile::{Error, Result};

use super::part::{Part, refuse_many};
use super::values::by_value;
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;

/// How a table is split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// So many entries each.
    Entries(u64),
    /// So many bytes of the table in the file, at bounds of clusters: a part has one cluster at least.
    Bytes(u64),
    /// One part for each value of an expression.
    By(String),
}

/// The parts of a table. Reads the columns of an expression, if it is split by one.
pub(super) fn parts(
    dataset: Dataset,
    rule: &Rule,
    most: usize,
    budget: Budget,
    progress: Progress<'_>,
) -> Result<Vec<Part>> {
    let all = dataset.entries();
    let bounds = match rule {
        Rule::By(expression) => return by_value(dataset, expression, most, budget, progress),
        Rule::Entries(0) | Rule::Bytes(0) => return Err(Error::request("a part has one entry at least")),
        Rule::Entries(each) => {
            refuse_many(all.div_ceil(*each), most)?;
            let bounds = (0..all.div_ceil(*each)).map(|part| part.saturating_mul(*each));
            bounds.chain([all]).collect()
        }
        Rule::Bytes(each) => bounds_by_bytes(&dataset, *each),
    };
    refuse_many((bounds.len() as u64).saturating_sub(1), most)?;
    let ranges = bounds.windows(2).filter_map(|pair| match pair {
        [start, end] if start < end => Some(*start..*end),
        _ => None,
    });
    let part = |range| {
        let mut set = EntrySetBuilder::new(all);
        set.push(range);
        Part { value: None, entries: set.finish() }
    };
    let mut parts: Vec<Part> = ranges.map(part).collect();
    if parts.is_empty() {
        // A table without entries is one part.
        parts.push(Part { value: None, entries: EntrySetBuilder::new(all).finish() });
    }
    Ok(parts)
}

/// The bounds of parts of about so many bytes: clusters go into a part as long as they fit.
fn bounds_by_bytes(dataset: &Dataset, each: u64) -> Vec<u64> {
    let columns = 0..dataset.number_of_columns();
    let mut bounds = vec![0];
    let (mut bytes, mut before) = (0_u64, 0);
    for &bound in dataset.clusters().iter().skip(1) {
        let cluster: u64 = columns.clone().map(|column| dataset.stored(column, &(before..bound)).0).sum();
        let is_full = bytes > 0 && bytes.saturating_add(cluster) > each;
        if is_full {
            bounds.push(before);
            bytes = 0;
        }
        bytes = bytes.saturating_add(cluster);
        before = bound;
    }
    bounds.push(dataset.entries());
    bounds
}
