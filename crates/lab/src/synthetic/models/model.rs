//! A data set: its columns, and batches of any range of entries.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, SchemaRef};
use rootfile::{Error, Result};

use super::count::CountGenerator;
use super::generators::{Generator, ListGenerator, wrong};
use super::random::{Runs, Stream};

/// Entries whose sizes are added up at once.
const STEP: u64 = 1024;

/// A column of a data set.
#[derive(Clone, Debug)]
pub struct ModelColumn {
    /// The branch's name.
    pub name: String,
    /// The type in C++: `float`, `vector<Event>`; of an array of leaves that of one leaf.
    pub type_name: String,
    /// The column that counts the leaves, if this is an array of leaves.
    pub counter: Option<String>,
    /// The split level, where the data set prescribes one.
    pub split_level: Option<i32>,
    /// The Arrow field.
    pub field: FieldRef,
}

/// A data set.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) groups: Vec<Group>,
    pub(super) columns: Vec<ModelColumn>,
    pub(super) classes: String,
    pub(super) schema: SchemaRef,
    pub(super) entries: u64,
    pub(super) payload: u64,
}

fn add_names(path: &str, kind: &DataType, names: &mut Vec<String>) {
    names.push(path.to_owned());
    match kind {
        DataType::LargeList(item) | DataType::List(item) | DataType::FixedSizeList(item, _) => {
            add_names(path, item.data_type(), names);
        }
        DataType::Struct(members) => members.iter().for_each(|member| {
            names.push(member.name().clone());
            add_names(&format!("{path}.{}", member.name()), member.data_type(), names);
        }),
        _ => {}
    }
}

/// Columns that belong together.
#[derive(Clone, Debug)]
pub(super) enum Group {
    Values(Generator),
    /// Columns with equal numbers of items, and whether a column counts them.
    Lists {
        count: CountGenerator,
        stream: Stream,
        counted: bool,
        lists: Vec<ListGenerator>,
    },
}

impl Model {
    /// The columns; one that counts others comes before them.
    pub fn columns(&self) -> &[ModelColumn] {
        &self.columns
    }

    /// The names of the columns and of the members in them, as branches of split objects have them.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.columns.iter().for_each(|column| add_names(&column.name, column.field.data_type(), &mut names));
        names
    }

    /// The classes in C++ without methods, in order of dependence.
    pub fn classes(&self) -> &str {
        &self.classes
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The number of entries whose payload is nearest to the requested size; at least one.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The bytes of payload that these have.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// Some entries. All of them are in memory at once: the caller asks for as many as fit.
    ///
    /// # Errors
    ///
    /// The arrays of the batch do not fit each other, which is a fault of the model.
    pub fn batch(&self, entries: Range<u64>) -> Result<RecordBatch> {
        let length = entries.end.checked_sub(entries.start).and_then(|n| usize::try_from(n).ok());
        let Some(length) = length.filter(|_| entries.end <= self.entries) else {
            let (from, to, all) = (entries.start, entries.end, self.entries);
            return Err(Error::request(format!("entries {from} to {to} of a data set of {all}")));
        };
        let runs = Runs::one(entries.start, length);
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for group in &self.groups {
            match group {
                Group::Values(item) => arrays.push(item.array(&runs)?),
                Group::Lists { count, stream, counted, lists } => {
                    let (items, offsets) = count.items(*stream, &runs);
                    if *counted {
                        let counts = offsets.lengths().map(|n| i32::try_from(n).unwrap_or(i32::MAX)).collect();
                        arrays.push(Arc::new(PrimitiveArray::<Int32Type>::new(counts, None)));
                    }
                    for list in lists {
                        arrays.push(list.array(&items, offsets.clone())?);
                    }
                }
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(length));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options).map_err(|e| wrong(&e))
    }

    /// Bytes of payload of the entries.
    fn size_of(&self, entries: Range<u64>) -> u64 {
        let runs = Runs::one(entries.start, usize::try_from(entries.end - entries.start).unwrap_or(usize::MAX));
        self.groups.iter().map(|group| group.size(&runs)).sum()
    }

    /// Sets the number of entries whose payload is nearest to `size`.
    pub(super) fn set_size(&mut self, size: u64) {
        if let Some(each) = self.groups.iter().map(Group::fixed_size).sum::<Option<u64>>() {
            self.entries = ((size + each / 2) / each).max(1);
            self.payload = self.entries * each;
            return;
        }
        let (mut entries, mut payload, mut step) = (0, 0, STEP);
        loop {
            let next = payload + self.size_of(entries..entries + step);
            if next <= size {
                (entries, payload) = (entries + step, next);
            } else if step > 1 {
                step /= 2;
            } else {
                if entries == 0 || next - size < size - payload {
                    (entries, payload) = (entries + 1, next);
                }
                (self.entries, self.payload) = (entries, payload);
                return;
            }
        }
    }
}

impl Group {
    /// Bytes of one position, if that is fixed.
    fn fixed_size(&self) -> Option<u64> {
        match self {
            Self::Values(item) => item.fixed_size(),
            Self::Lists { count: CountGenerator::Fixed(n), lists, .. } => {
                Some(*n as u64 * lists.iter().map(|list| list.item.fixed_size()).sum::<Option<u64>>()?)
            }
            Self::Lists { .. } => None,
        }
    }

    fn size(&self, runs: &Runs) -> u64 {
        match self {
            Self::Values(item) => item.size(runs),
            Self::Lists { count, stream, lists, .. } => {
                match lists.iter().map(|list| list.item.fixed_size()).sum::<Option<u64>>() {
                    Some(size) => size * count.total(*stream, runs),
                    None => {
                        let items = count.items(*stream, runs).0;
                        lists.iter().map(|list| list.item.size(&items)).sum()
                    }
                }
            }
        }
    }
}
