//! The RNTuples of one side of a comparison, as one table: its fields, and their values for any range of entries. Inputs whose
//! fields differ are joined as a merge joins them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, cast::AsArray};
use arrow_schema::{DataType, FieldRef};
use dataset::glob::NameFilter;
use dataset::ntuple::decode::FieldPlan;
use dataset::ntuple::model::{AttributeSet, Ntuple};
use dataset::ntuple::table::NtupleTable;
use dataset::ntuple::{read_attribute_set, read_ntuple};
use dataset::recast::{joined_type, reordered};
use dataset::table::{FileRange, Join as Mode, one_array};
use dataset::{EntrySet, default_array};
use rootfile::{Error, Result, Source};

use super::field_tree::FieldTree;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::plan::ntuple::{RANGE_START, kept_fields};
use crate::plan::tree::TreeInput;
use crate::table::piece::Files;

/// RNTuples, one behind the other.
pub(super) struct NtupleSide {
    /// A name for messages.
    path: String,
    /// The description of the first.
    pub description: String,
    /// The fields that a merge of them has.
    pub fields: FieldTree,
    inputs: Vec<InputTable>,
    /// Bytes of the largest page, in the file and decompressed.
    largest_page: u64,
    columns: Vec<SideColumn>,
    /// The entries to compare, if not all.
    pub selected: Option<Arc<EntrySet>>,
}

/// One RNTuple.
struct InputTable {
    source: Arc<dyn Source>,
    table: NtupleTable,
    attribute_sets: Vec<AttributeSet>,
    ntuple: Option<Arc<Ntuple>>,
    /// The fields by their paths.
    ids: HashMap<String, usize>,
    /// Its first entry among those of all inputs.
    first_entry: u64,
    /// What is added to the entry numbers of an attribute set.
    entries_before: u64,
}

/// A field that is compared.
struct SideColumn {
    field: FieldRef,
    counts_entries: bool,
    /// Its plan for each input that has it.
    plans: Vec<Option<FieldPlan>>,
    bytes_per_entry: u64,
}

impl NtupleSide {
    /// Opens the RNTuples of some inputs.
    pub fn open(inputs: &[TreeInput], path: &str, filter: &NameFilter, mode: Mode) -> Result<Self> {
        let mut tables = Vec::with_capacity(inputs.len());
        for (_, file, key) in inputs {
            let ntuple = read_ntuple(file, key)?;
            tables.push((Arc::clone(file.source()), ntuple, 0));
        }
        Self::of(tables, path, filter, mode)
    }

    /// Joins RNTuples. The numbers are the entries before, for attribute sets.
    fn of(
        mut ntuples: Vec<(Arc<dyn Source>, Ntuple, u64)>,
        path: &str,
        filter: &NameFilter,
        mode: Mode,
    ) -> Result<Self> {
        let description = ntuples.first().map_or_else(String::new, |(_, ntuple, _)| ntuple.description.clone());
        // As in a merge, fields of an empty RNTuple count only where missing ones are filled in.
        if mode != Mode::Fill && ntuples.iter().any(|(_, ntuple, _)| ntuple.entries() > 0) {
            ntuples.retain(|(_, ntuple, _)| ntuple.entries() > 0);
        }
        let mut fields = FieldTree::default();
        let mut inputs = Vec::with_capacity(ntuples.len());
        let mut first_entry = 0u64;
        for (number, (source, ntuple, entries_before)) in ntuples.into_iter().enumerate() {
            let tree = FieldTree::of(&ntuple.schema, &kept_fields(&ntuple.schema, path, filter, &mut Vec::new()));
            match number {
                0 => fields = tree,
                _ => fields.join(tree, mode).map_err(|e| e.object(path).file(source.name()))?,
            }
            let schema = &ntuple.schema;
            let ids = (0..schema.fields.len()).map(|id| (schema.path(id), id)).collect();
            let attribute_sets = ntuple.attribute_sets.clone();
            let kept = (!attribute_sets.is_empty()).then(|| Arc::new(ntuple.clone()));
            let table = NtupleTable::of(ntuple, &*source)?;
            let entries = table.entries();
            inputs.push(InputTable { source, table, attribute_sets, ntuple: kept, ids, first_entry, entries_before });
            first_entry = first_entry.checked_add(entries).ok_or_else(|| Error::request("more than 2^64 entries"))?;
        }
        let largest_page = inputs.iter().map(|input: &InputTable| input.table.largest_page()).max().unwrap_or(0);
        Ok(Self {
            path: path.to_owned(),
            description,
            fields,
            inputs,
            largest_page,
            columns: Vec::new(),
            selected: None,
        })
    }

    /// Entries of all inputs.
    pub fn all_entries(&self) -> u64 {
        self.inputs.last().map_or(0, |last| last.first_entry + last.table.entries())
    }

    /// The entries to compare.
    pub fn entries(&self) -> u64 {
        self.selected.as_ref().map_or_else(|| self.all_entries(), |selected| selected.len())
    }

    /// Bytes of metadata.
    pub fn metadata(&self) -> u64 {
        // An estimate: 2 kB for each field with its plans.
        let of = |input: &InputTable| input.table.memory() + input.ids.len() as u64 * 2000;
        self.inputs.iter().map(of).sum::<u64>() + (1 << 20)
    }

    /// Adds a field to those that are compared, by its path. Returns its number, its type, and why it cannot be decoded.
    pub fn add(&mut self, path: &str) -> Option<(usize, FieldRef, Option<String>)> {
        let plan = |input: &InputTable| Some(FieldPlan::new(&input.table.schema, *input.ids.get(path)?));
        let plans: Vec<Option<FieldPlan>> = self.inputs.iter().map(plan).collect();
        let first = plans.iter().flatten().next()?;
        let types = plans.iter().flatten().map(|plan| plan.field().data_type().clone());
        let joined = types.reduce(|ours, theirs| joined_type(&ours, &theirs)).unwrap_or(DataType::Null);
        let field: FieldRef = Arc::new(first.field().as_ref().clone().with_data_type(joined));
        let opaque = plans.iter().flatten().find_map(|plan| plan.opaque().map(str::to_owned));
        let (mut bytes, mut entries) = (0u64, 0u64);
        for (input, plan) in self.inputs.iter().zip(&plans) {
            entries += input.table.entries();
            // Where page lists are damaged, the field fails when it is read.
            let pieces = plan.as_ref().map(|plan| input.table.pieces(plan)).unwrap_or_default();
            bytes = pieces.iter().fold(bytes, |sum, piece| sum.saturating_add(piece.uncompressed));
        }
        let bytes_per_entry = bytes.div_ceil(entries.max(1)).max(1);
        self.columns.push(SideColumn {
            field: Arc::clone(&field),
            counts_entries: path == RANGE_START,
            plans,
            bytes_per_entry,
        });
        Some((self.columns.len() - 1, field, opaque))
    }

    /// Average bytes of an entry of a field before compression, at least 1.
    pub fn bytes_per_entry(&self, field: usize) -> u64 {
        self.columns.get(field).map_or(1, |column| column.bytes_per_entry)
    }

    /// Bytes of buffers of a reader of pages: compressed and decompressed pages.
    pub fn largest_page(&self) -> u64 {
        self.largest_page
    }

    /// The values of a field in some of the entries to compare, and the bytes that were read for them.
    /// `files` are those of the inputs.
    pub fn values(
        &self,
        field: usize,
        entries: &Range<u64>,
        files: &Files,
        fetcher: &mut Fetcher,
    ) -> Result<(ArrayRef, u64)> {
        let column = self.columns.get(field).ok_or_else(|| Error::request("no such field"))?;
        let runs = self.runs(entries);
        let mut arrays = Vec::new();
        for ((number, input), plan) in (0u32..).zip(&self.inputs).zip(&column.plans) {
            let here = input.clipped(&runs);
            if here.is_empty() {
                continue;
            }
            let rows = usize::try_from(here.iter().map(|run| run.end - run.start).sum::<u64>()).unwrap_or(usize::MAX);
            let array = match plan {
                None => default_array(&column.field, rows)?,
                Some(plan) => {
                    let values = input.values(plan, &here, rows, (number, files, fetcher));
                    let values = values.and_then(|values| reordered(&values, column.field.data_type()));
                    values.map_err(|e| e.object(self.path.clone()))?
                }
            };
            arrays.push(match array.as_primitive_opt::<UInt64Type>() {
                Some(numbers) if column.counts_entries && input.entries_before > 0 => {
                    Arc::new(numbers.unary::<_, UInt64Type>(|number| number.wrapping_add(input.entries_before)))
                }
                _ => array,
            });
        }
        let array = one_array(&arrays, column.field.data_type())?;
        Ok((array, fetcher.codecs.take_cost().compressed))
    }

    /// The entries among all of the inputs.
    fn runs(&self, entries: &Range<u64>) -> Vec<Range<u64>> {
        match &self.selected {
            Some(selected) => selected.runs(entries.clone()).collect(),
            None => vec![entries.clone()],
        }
    }

    /// The files of the inputs.
    pub fn files(&self) -> Vec<Arc<dyn Source>> {
        self.inputs.iter().map(|input| Arc::clone(&input.source)).collect()
    }

    /// Where the pages of a field are that hold some of the entries to compare.
    pub fn places(&self, field: usize, entries: &Range<u64>) -> Vec<FileRange> {
        let Some(column) = self.columns.get(field) else { return Vec::new() };
        let runs = self.runs(entries);
        let mut places = Vec::new();
        for ((number, input), plan) in (0u32..).zip(&self.inputs).zip(&column.plans) {
            let here = input.clipped(&runs);
            let (Some(plan), Some(first), Some(last)) = (plan, here.first(), here.last()) else { continue };
            let span = first.start - input.first_entry..last.end - input.first_entry;
            for cluster in input.table.clusters_with(&span) {
                let first = input.table.cluster(cluster).map_or(0, |(_, cluster)| cluster.first_entry);
                let within = span.start.saturating_sub(first)..span.end.saturating_sub(first);
                // A field whose pages cannot be found fails when it is read.
                let ranges = input.table.page_ranges(plan, cluster, &within).unwrap_or_default();
                places.extend(ranges.into_iter().map(|range| (number, range)));
            }
        }
        places
    }

    /// The attribute sets by name, each as a side of its own.
    pub fn attribute_sets(&self, mode: Mode) -> Result<Vec<(String, Self)>> {
        let mut found: Vec<(String, Vec<_>)> = Vec::new();
        for input in &self.inputs {
            let Some(ntuple) = &input.ntuple else { continue };
            for set in &input.attribute_sets {
                let part = read_attribute_set(&*input.source, ntuple, set)?;
                let part = (Arc::clone(&input.source), part, input.first_entry);
                match found.iter_mut().find(|(name, _)| *name == set.name) {
                    Some((_, parts)) => parts.push(part),
                    None => found.push((set.name.clone(), vec![part])),
                }
            }
        }
        let side = |(name, parts): (String, Vec<_>)| {
            let side = Self::of(parts, &format!("{}, attributes {name}", self.path), &NameFilter::default(), mode)?;
            Ok((name, side))
        };
        found.into_iter().map(side).collect()
    }
}

impl InputTable {
    /// The parts of ranges of entries that this input has.
    fn clipped(&self, runs: &[Range<u64>]) -> Vec<Range<u64>> {
        let end = self.first_entry + self.table.entries();
        let here = runs.iter().map(|run| run.start.max(self.first_entry)..run.end.min(end));
        here.filter(|run| !run.is_empty()).collect()
    }

    fn values(
        &self,
        plan: &FieldPlan,
        runs: &[Range<u64>],
        rows: usize,
        (number, files, fetcher): (u32, &Files, &mut Fetcher),
    ) -> Result<ArrayRef> {
        let mut builder = plan.start(rows)?;
        let span = runs.first().map_or(0, |run| run.start)..runs.last().map_or(0, |run| run.end);
        for cluster in self.table.clusters_with(&(span.start - self.first_entry..span.end - self.first_entry)) {
            let Some(at) = self.table.cluster_source(cluster, number) else { continue };
            let start = self.first_entry + at.cluster.first_entry;
            let end = start + at.cluster.entries;
            let here = runs.iter().map(|run| run.start.max(start)..run.end.min(end));
            let mut here = here.filter(|run| !run.is_empty()).map(|run| run.start - start..run.end - start);
            let (mut bytes, codecs) = fetcher.over(files);
            at.append(plan, &mut here, (&mut bytes, codecs), &mut builder)?;
        }
        builder.finish()
    }
}
