//! Values of counter branches, for columns whose own bytes do not tell the number of items.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, downcast_integer_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use dataset::decode::ColumnPlan;
use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::fetcher::Fetcher;
use crate::table::piece::Files;
use crate::table::tree::column::Column;

/// Reads the counters of one column. Keeps the last basket of each.
pub(crate) struct CounterReader<'a> {
    files: &'a Files,
    columns: Vec<(&'a Column, &'a ColumnPlan)>,
    last: Vec<Option<(usize, BasketData)>>,
    fetcher: Fetcher,
}

impl<'a> CounterReader<'a> {
    pub fn new(files: &'a Files, columns: Vec<(&'a Column, &'a ColumnPlan)>) -> Self {
        let last = columns.iter().map(|_| None).collect();
        Self { files, columns, last, fetcher: Fetcher::new() }
    }

    /// The values of each counter in a range of entries. Of a counter that is a list, all items.
    pub fn values(&mut self, entries: &Range<u64>) -> Result<Vec<Vec<u64>>> {
        let mut values = Vec::with_capacity(self.columns.len());
        for (&(column, plan), last) in self.columns.iter().zip(&mut self.last) {
            if !plan.counters().is_empty() {
                return Err(Error::unsupported("a counter that has a counter itself"));
            }
            let mut builder = plan.start(0, 0);
            for index in column.source.overlapping(entries) {
                let Some(piece) = column.source.pieces.get(index) else { continue };
                if last.as_ref().is_none_or(|(at, _)| *at != index) {
                    *last = Some((index, self.fetcher.load(self.files, column, index)?));
                }
                let Some((_, data)) = last else { continue };
                let taken = entries.start.max(piece.first_entry)..entries.end.min(piece.end());
                column.source.indices(index, &taken).try_for_each(|places| builder.append(data, places, &[]))?;
            }
            values.push(numbers(&builder.finish()?)?);
        }
        Ok(values)
    }
}

/// The numbers of an array, or of the items of its lists.
fn numbers(array: &ArrayRef) -> Result<Vec<u64>> {
    let found: Option<Vec<u64>> = downcast_integer_array!(
        array => array.values().iter().map(|n| n.to_usize().map(|n| n as u64)).collect(),
        DataType::LargeList(_) => return numbers(array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => return numbers(array.as_fixed_size_list().values()),
        _ => None
    );
    found.ok_or_else(|| Error::corrupt("a counter is negative, or not an integer"))
}
