//! The RNTuples of one side of a comparison, as one table with the fields that a merge of them has: what is compared of it, and its
//! values for any range of the compared entries.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::ntuple::model::{AttributeSet, Ntuple, Schema};
use dataset::table::{FileRange, Join as Mode};
use rootfile::{Result, Source};

use super::field_match::Fields;
use crate::arrow::read::{ChainPart, Dataset, NtupleChain};
use crate::execute::budget::Budget;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::execute::order::Order;
use crate::execute::progress::Progress;
use crate::plan::ntuple::parts::{Part, attribute_parts, join_parts, read_parts};
use crate::plan::options::PlanOptions;
use crate::plan::request::TableInput;
use crate::reorder::table::{Reordered, reorder_table};
use crate::table::piece::Files;

/// RNTuples, one behind the other.
pub(super) struct NtupleSide {
    /// A name for messages.
    path: String,
    pub table: Dataset,
    /// The fields at the top with the rows of an order, if entries are to be in another one.
    in_order: Option<Dataset>,
    schema: Arc<Schema>,
    /// Projected fields that only some of them have.
    partial: Vec<usize>,
    /// Those that have attribute sets, and the entries before each.
    with_attributes: Vec<(Arc<dyn Source>, Ntuple, u64)>,
    /// Bytes of the largest page, in the file and decompressed.
    pub largest_page: u64,
    /// The entries to compare, if not all.
    pub selected: Option<Arc<EntrySet>>,
}

impl NtupleSide {
    /// Opens the RNTuples of some inputs.
    pub fn open(inputs: &[TableInput], path: &str, filter: &NameFilter, mode: Mode) -> Result<Self> {
        Self::of(read_parts(inputs)?, path, filter, mode)
    }

    fn of(parts: Vec<Part>, path: &str, filter: &NameFilter, mode: Mode) -> Result<Self> {
        let first = parts.first().map(|part| [part.ntuple.name.clone(), part.ntuple.description.clone()]);
        let joined = join_parts(parts, (path, filter), PlanOptions { schema: mode, ..PlanOptions::default() })?;
        let fields = joined.fields();
        let partial = fields.schema.fields.iter().enumerate().filter(|field| fields.is_partial(*field));
        let partial = partial.map(|(id, _)| id).collect();
        let (mut with_attributes, mut first_entry) = (Vec::new(), 0u64);
        for Part { source, ntuple, .. } in &joined.parts {
            if !ntuple.attribute_sets.is_empty() {
                with_attributes.push((Arc::clone(source), ntuple.clone(), first_entry));
            }
            first_entry = first_entry.saturating_add(ntuple.entries());
        }
        let (tables, files) = ChainPart::of(joined)?;
        let largest_page = tables.iter().map(|part| part.table.largest_page()).max().unwrap_or(0);
        let (path, schema) = (path.to_owned(), Arc::clone(&fields.schema));
        let chain = NtupleChain::joined(tables, first.unwrap_or_default(), fields)?;
        let table = Dataset::of_table(Box::new(chain), files);
        Ok(Self { path, table, in_order: None, schema, partial, with_attributes, largest_page, selected: None })
    }

    /// The same where the fields at the top have the rows of an order. Returns the memory that these take as well.
    pub fn in_order(self, order: &Order, budget: Budget, progress: Progress<'_>) -> Result<(Self, u64)> {
        let tops = self.schema.children(None);
        let columns: Vec<_> = (0..self.table.number_of_columns()).map(|id| tops.contains(&id).then_some(id)).collect();
        let Reordered { dataset, held } =
            reorder_table(&self.table, &columns, order, &[0, order.rows()], budget, progress)?;
        let pieces = tops.iter().filter_map(|id| dataset.source(*id)).flat_map(|column| &column.source.pieces);
        let largest_page = pieces.map(|piece| u64::from(piece.packed_len())).max().unwrap_or(0);
        Ok((Self { in_order: Some(dataset), largest_page, ..self }, held))
    }

    /// The table that is read.
    pub fn rows(&self) -> &Dataset {
        self.in_order.as_ref().unwrap_or(&self.table)
    }

    /// Whether some entries are left out, or all are in another order.
    pub fn is_other(&self) -> bool {
        self.selected.is_some() || self.in_order.is_some()
    }

    /// The fields to match.
    pub fn fields(&self) -> Fields<'_> {
        Fields { schema: &self.schema, partial: &self.partial }
    }

    /// The entries to compare.
    pub fn entries(&self) -> u64 {
        self.selected.as_ref().map_or_else(|| self.rows().entries(), |selected| selected.len())
    }

    /// A field in Arrow, and why it cannot be decoded.
    pub fn column(&self, field: usize) -> Option<(&FieldRef, Option<&str>)> {
        let field = self.table.columns().get(field)?.field();
        Some((field, field.metadata().get("opaque").map(String::as_str)))
    }

    /// Average bytes of an entry of a field before compression, at least 1.
    pub fn bytes_per_entry(&self, field: usize) -> u64 {
        self.rows().bytes_per_entry(field)
    }

    /// The values of a field in some of the entries to compare, and the bytes that were read for them.
    /// `files` are those of the table.
    pub fn values(
        &self,
        field: usize,
        entries: &Range<u64>,
        files: &Files,
        fetcher: &mut Fetcher,
    ) -> Result<(ArrayRef, u64)> {
        let values = self.rows().values(field, (&self.span(entries), self.selected.as_deref()), files, fetcher);
        Ok((values.map_err(|e| e.object(self.path.clone()))?, fetcher.codecs.take_cost().compressed))
    }

    /// Where the pages of a field are that hold some of the entries to compare.
    pub fn places(&self, field: usize, entries: &Range<u64>) -> Vec<FileRange> {
        self.rows().ranges(field, (&self.span(entries), self.selected.as_deref()))
    }

    /// The entries of the table from the first to the last of some that are compared.
    fn span(&self, entries: &Range<u64>) -> Range<u64> {
        let Some(selected) = &self.selected else { return entries.clone() };
        let last = entries.end.checked_sub(1).and_then(|last| selected.nth(last));
        selected.nth(entries.start).unwrap_or(0)..last.map_or(0, |last| last + 1)
    }

    /// The attribute sets by name, each as a side of its own.
    pub fn attribute_sets(&self, mode: Mode) -> Result<Vec<(String, Self)>> {
        let sets =
            attribute_parts(self.with_attributes.iter().map(|(source, ntuple, before)| (source, ntuple, *before)));
        let side = |(set, parts): (AttributeSet, Vec<Part>)| {
            let path = format!("{}, attributes {}", self.path, set.name);
            Ok((set.name, Self::of(parts, &path, &NameFilter::default(), mode)?))
        };
        sets?.into_iter().map(side).collect()
    }
}
