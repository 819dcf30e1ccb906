//! Data sets to write: those of the published benchmarks, of any size, as Arrow record batches.
//!
//! An entry depends on the seed and its number only, so batches may be made of any range, in any order and by any
//! thread, and a data set of another size begins with the same entries. Nothing here writes a file, or knows how one is
//! laid out but for the split level that a data set is about.

mod containers;
mod count;
mod draw;
mod event;
mod item;
mod lhcb;
mod nano;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use rootfile::{Error, Result};

use self::count::{Count, Many};
use self::draw::{Draw, Runs, Stream, Streams};
use self::item::{Item, ListItem, Number, Of, field, wrong};

/// The names of the data sets.
pub const NAMES: [&str; 6] = ["single", "multi", "nano", "lhcb", "aod", "esd"];

/// More bytes than any measurement needs: a petabyte.
const MOST_SIZE: u64 = 1_000_000_000_000_000;

/// Entries whose sizes are added up at once.
const STEP: u64 = 1024;

/// Which data set exactly.
#[derive(Clone, Copy, Debug)]
pub struct ModelOptions {
    /// Bytes of payload: of numbers and texts, without counts and what a format puts around them.
    pub size: u64,
    /// Another seed, other numbers.
    pub seed: u64,
    /// How many branches `multi` has.
    pub branches: u32,
    /// How many events there are in each entry of a branch of `multi`.
    pub events: u32,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { size: 100_000_000, seed: 1, branches: 10, events: 10 }
    }
}

/// A column of a data set.
#[derive(Clone, Debug)]
pub struct ModelColumn {
    /// The branch's name.
    pub name: String,
    /// The type in C++: `float`, `vector<Event>`; of an array of leaves that of one leaf.
    pub type_name: String,
    /// The column that counts the leaves, if this is an array of leaves.
    pub counter: Option<String>,
    /// The split level, where it is what the data set is about.
    pub split_level: Option<i32>,
    /// The Arrow field.
    pub field: FieldRef,
}

/// A data set.
#[derive(Debug)]
pub struct Model {
    groups: Vec<Group>,
    columns: Vec<ModelColumn>,
    classes: String,
    schema: SchemaRef,
    entries: u64,
    payload: u64,
}

/// Columns that belong together.
#[derive(Debug)]
enum Group {
    Values(Item),
    /// With as many items as each other, and whether there is a column for how many.
    Lists {
        count: Count,
        stream: Stream,
        counted: bool,
        lists: Vec<ListItem>,
    },
}

impl Model {
    /// The data set of that name, see [`NAMES`].
    pub fn named(name: &str, options: &ModelOptions) -> Result<Self> {
        if options.size > MOST_SIZE {
            return Err(Error::request(format!("a data set of {} bytes: {MOST_SIZE} are possible", options.size)));
        }
        let mut table = Table::new(options.seed);
        match name {
            "single" => event::single(&mut table),
            "multi" => event::multi(&mut table, options.branches, options.events)?,
            "nano" => nano::nano(&mut table),
            "lhcb" => lhcb::lhcb(&mut table),
            "aod" => containers::aod(&mut table),
            "esd" => containers::esd(&mut table),
            _ => return Err(Error::request(format!("no data set {name:?}; there are {}", NAMES.join(", ")))),
        }
        Ok(table.sized(options.size))
    }

    /// The columns; one that counts others comes before them.
    pub fn columns(&self) -> &[ModelColumn] {
        &self.columns
    }

    /// The classes in C++ without methods, each after those that it needs.
    pub fn classes(&self) -> &str {
        &self.classes
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// How many entries come nearest to the size asked for; at least one.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// The bytes of payload that these have.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// Some entries. All of them are in memory at once: the caller asks for as many as fit.
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
    fn set_size(&mut self, size: u64) {
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
    /// Bytes of all that one position has, if that is always the same.
    fn fixed_size(&self) -> Option<u64> {
        match self {
            Self::Values(item) => item.fixed_size(),
            Self::Lists { count: Count::Fixed(n), lists, .. } => {
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

/// What counts leaves is made of how many there are, and never drawn.
const COUNTER: Of = Of::Number(Number::I32, Draw::Serial);

fn column(name: &str, of: &Of, data_type: DataType) -> ModelColumn {
    let field = field(name, data_type);
    ModelColumn { name: name.to_owned(), type_name: of.cpp(), counter: None, split_level: None, field }
}

/// A data set while its columns are listed.
struct Table {
    streams: Streams,
    groups: Vec<Group>,
    columns: Vec<ModelColumn>,
    known: Vec<&'static str>,
    classes: String,
}

impl Table {
    fn new(seed: u64) -> Self {
        let streams = Streams::new(seed);
        Self { streams, groups: Vec::new(), columns: Vec::new(), known: Vec::new(), classes: String::new() }
    }

    /// One value for each entry.
    fn value(&mut self, name: &str, of: Of) {
        of.describe(&mut self.known, &mut self.classes);
        let item = of.item(&mut self.streams);
        self.columns.push(column(name, &of, item.data_type()));
        self.groups.push(Group::Values(item));
    }

    /// Vectors of as many items as each other.
    fn vectors(&mut self, many: Many, parts: &[(String, Of)], split_level: Option<i32>) {
        self.lists(many, parts, false, |column, of| {
            column.type_name = format!("vector<{}>", of.cpp());
            column.split_level = split_level;
        });
    }

    /// Arrays of leaves with their counter.
    fn leaves(&mut self, counter: &str, many: Many, parts: &[(String, Of)]) {
        self.columns.push(column(counter, &COUNTER, DataType::Int32));
        self.lists(many, parts, true, |column, _| column.counter = Some(counter.to_owned()));
    }

    fn lists(&mut self, many: Many, parts: &[(String, Of)], counted: bool, finish: impl Fn(&mut ModelColumn, &Of)) {
        let stream = self.streams.next();
        let mut lists = Vec::with_capacity(parts.len());
        for (name, of) in parts {
            of.describe(&mut self.known, &mut self.classes);
            let list = of.item(&mut self.streams).of_a_list();
            let mut column = column(name, of, DataType::LargeList(list.field.clone()));
            finish(&mut column, of);
            self.columns.push(column);
            lists.push(list);
        }
        self.groups.push(Group::Lists { count: Count::new(many), stream, counted, lists });
    }

    fn sized(self, size: u64) -> Model {
        let Self { groups, columns, classes, .. } = self;
        let schema = Arc::new(Schema::new(columns.iter().map(|c| c.field.clone()).collect::<Vec<_>>()));
        let mut model = Model { groups, columns, classes, schema, entries: 0, payload: 0 };
        model.set_size(size);
        model
    }
}
