//! One of the tables that are joined: which of its columns become those of the joined table, and how its arrays become joined ones.
//! It opens and reads no file itself.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, LargeListArray, RecordBatch, RecordBatchOptions};
use arrow_buffer::OffsetBuffer;
use arrow_cast::CastOptions;
use arrow_schema::{DataType, Field, FieldRef, SchemaRef};
use dataset::recast::reordered;
use dataset::table::{TableColumn, one_array};
use dataset::{EntrySet, EntrySetBuilder, default_array};
use rootfile::{Error, Hint, Result};

use super::cost::ReadCost;
use super::dataset::Dataset;
use super::request::Request;
use super::run::Read;

/// A column of the joined table, and where a part has it.
pub(super) struct PartColumn {
    /// The node of the part.
    pub node: Option<usize>,
    /// The joined columns that count its items in some of the parts.
    pub counters: Vec<usize>,
}

/// One of the tables.
pub(super) struct Part {
    pub dataset: Arc<Dataset>,
    /// Its first entry among those of all tables.
    pub first_entry: u64,
    /// Its entries among those of the data set.
    window: Range<u64>,
    /// What the joined columns have here. Without them its own columns are the joined ones.
    columns: Option<Arc<[Values]>>,
    /// Lists here that one counter counts elsewhere, which is not here.
    counted_alike: Arc<[Vec<usize>]>,
}

/// The values of a joined column in a part, by the number of a column there, or by the place of an array that is read.
#[derive(Clone, Copy)]
enum Values {
    /// Those of the column.
    Read(usize),
    /// Default values.
    Default,
    /// Lists of default items: as many as a counter says, or as another list has that the same counter counts elsewhere.
    Items(usize),
    /// The numbers of items of a list: elsewhere this column counts them.
    Counts(usize),
}

impl Values {
    /// The place of what is read for them.
    fn place(self) -> Option<usize> {
        match self {
            Self::Read(place) | Self::Items(place) | Self::Counts(place) => Some(place),
            Self::Default => None,
        }
    }
}

impl Part {
    /// A table that is alone.
    pub fn whole(dataset: Arc<Dataset>) -> Self {
        Self { first_entry: 0, window: 0..dataset.entries(), columns: None, counted_alike: Arc::default(), dataset }
    }

    /// A table with the columns that it has of the joined ones.
    ///
    /// # Errors
    ///
    /// If there are more than 2^64 entries.
    pub fn new(dataset: Dataset, first_entry: u64, columns: &[PartColumn]) -> Result<Self> {
        let numbers = dataset.column_of_each_node();
        let here = |column: &PartColumn| numbers.get(column.node?).copied().flatten();
        let all: Vec<Option<usize>> = columns.iter().map(here).collect();
        // The lists here that a column counts elsewhere. Without the column its numbers are those of the first.
        let mut lists: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (column, here) in columns.iter().zip(&all) {
            let Some(here) = here.filter(|here| is_list(dataset.column(*here))) else { continue };
            for counter in &column.counters {
                lists.entry(*counter).or_default().push(here);
            }
        }
        let first = |counter: &usize| lists.get(counter)?.first().copied();
        let values = |(at, (column, here)): (usize, (&PartColumn, &Option<usize>))| {
            let counter = |counter: &usize| all.get(*counter).copied().flatten().or_else(|| first(counter));
            match (*here, first(&at), column.counters.iter().find_map(counter)) {
                (Some(here), ..) => Values::Read(here),
                (None, Some(list), _) => Values::Counts(list),
                (None, None, Some(counter)) => Values::Items(counter),
                (None, None, None) => Values::Default,
            }
        };
        let values = columns.iter().zip(&all).enumerate().map(values).collect();
        first_entry.checked_add(dataset.entries()).ok_or_else(|| Error::request("more than 2^64 entries"))?;
        let is_absent = |counter: usize| all.get(counter).copied().flatten().is_none();
        let alike = lists.into_iter().filter(|(counter, lists)| lists.len() > 1 && is_absent(*counter));
        let (window, counted_alike) = (0..dataset.entries(), alike.map(|(_, lists)| lists).collect());
        Ok(Self { first_entry, window, columns: Some(values), counted_alike, dataset: Arc::new(dataset) })
    }

    /// A part for each of its files, which begins with entry 0.
    pub fn each_file(&self) -> impl Iterator<Item = Self> {
        let mut start = 0;
        self.dataset.entries_by_file().iter().map(move |entries| {
            let window = start..start + entries;
            start = window.end;
            let (columns, counted_alike) = (self.columns.clone(), Arc::clone(&self.counted_alike));
            Self { dataset: Arc::clone(&self.dataset), first_entry: 0, window, columns, counted_alike }
        })
    }

    /// Whether it has all entries of its data set.
    pub fn is_whole(&self) -> bool {
        self.window == (0..self.dataset.entries())
    }

    /// Number of its entries.
    pub fn entries(&self) -> u64 {
        self.window.end - self.window.start
    }

    /// The entry behind its last one.
    pub fn end(&self) -> u64 {
        self.first_entry + self.entries()
    }

    /// The number that an entry of the data set has here: that of the first or last one here, if it is before or behind these.
    fn joined(&self, entry: u64) -> u64 {
        self.first_entry + (entry.clamp(self.window.start, self.window.end) - self.window.start)
    }

    /// The first entries of its clusters.
    pub fn clusters(&self) -> impl Iterator<Item = u64> {
        let own =
            self.dataset.clusters().iter().filter(|start| (self.window.start + 1..self.window.end).contains(start));
        let first = (!self.window.is_empty()).then_some(self.first_entry);
        first.into_iter().chain(own.map(|start| self.joined(*start)))
    }

    /// Bytes of a joined column here before compression, by the metadata.
    pub fn bytes(&self, column: usize) -> u64 {
        let Some(here) = self.column(column) else { return 0 };
        let (all, own) = (self.dataset.entries().max(1), self.entries());
        let share = u128::from(self.dataset.bytes(here)) * u128::from(own) / u128::from(all);
        if self.is_whole() { self.dataset.bytes(here) } else { u64::try_from(share).unwrap_or(u64::MAX) }
    }

    /// How many entries of a joined column are here; those that are filled in count.
    pub fn held(&self, column: usize) -> u64 {
        match self.column(column) {
            Some(here) if self.is_whole() => self.dataset.held(here),
            _ => self.held_until(column, self.first_entry) - self.first_entry,
        }
    }

    /// The entry up to which a joined column holds all entries here from one on, if it holds none behind.
    pub fn held_until(&self, column: usize, start: u64) -> u64 {
        let Some(here) = self.column(column) else { return self.end() };
        self.joined(self.dataset.held_until(here, self.own(start)))
    }

    /// The first of some entries that is here and that a joined column does not hold.
    pub fn missing(&self, column: usize, entries: &Range<u64>, selection: Option<&EntrySet>) -> Option<u64> {
        let (own, here) = (self.within(entries), self.column(column)?);
        if own.is_empty() {
            return None;
        }
        let selection = selection.map(|all| self.selected(all, &own));
        self.dataset.missing(here, &own, selection.as_ref()).map(|entry| self.joined(entry))
    }

    /// The number in the data set of an entry here: of the first or last one here, if it is before or behind these.
    fn own(&self, entry: u64) -> u64 {
        self.window.start + (entry.clamp(self.first_entry, self.end()) - self.first_entry)
    }

    /// The number that a joined column has here, if there is one.
    pub fn column(&self, column: usize) -> Option<usize> {
        match self.values(column) {
            Values::Read(here) => Some(here),
            _ => None,
        }
    }

    /// Whether a joined column has default values here.
    pub fn is_default(&self, column: usize) -> bool {
        matches!(self.values(column), Values::Default)
    }

    /// What a joined column has here.
    fn values(&self, column: usize) -> Values {
        match &self.columns {
            None => Values::Read(column),
            Some(columns) => columns.get(column).copied().unwrap_or(Values::Default),
        }
    }

    /// Those of some entries that are here, by their numbers in the data set.
    pub fn within(&self, entries: &Range<u64>) -> Range<u64> {
        self.own(entries.start)..self.own(entries.end)
    }

    /// Those selected entries that are in a range of the data set.
    fn selected(&self, all: &EntrySet, own: &Range<u64>) -> EntrySet {
        let mut set = EntrySetBuilder::new(self.dataset.entries());
        let ranks = all.rank(self.joined(own.start))..all.rank(self.joined(own.end));
        for run in all.runs(ranks) {
            set.push(self.own(run.start)..self.own(run.end));
        }
        set.finish()
    }

    /// The part of a request for some entries that is read here.
    pub fn request<'a>(&self, request: &Request<'a>, entries: &Range<u64>) -> Request<'a> {
        let here = self.within(entries);
        Request {
            columns: self.plan(&request.columns).0,
            selection: request.selection.as_ref().map(|all| self.selected(all, &here)),
            entries: here,
            budget: request.budget,
            progress: request.progress,
        }
    }

    /// How many of these columns are filled in, and nothing is read for them.
    pub fn filled(&self, columns: &[usize]) -> u64 {
        columns.len().saturating_sub(self.plan(columns).0.len()) as u64
    }

    /// The columns to read, and what makes the arrays of the joined columns, by the places of those that are read.
    fn plan(&self, columns: &[usize]) -> (Vec<usize>, Vec<Values>) {
        let mut read = Vec::with_capacity(columns.len());
        let mut places = HashMap::with_capacity(columns.len());
        let mut place = |column: usize| {
            *places.entry(column).or_insert_with(|| {
                read.push(column);
                read.len() - 1
            })
        };
        let mut counting = Vec::new();
        let placed = columns.iter().map(|&column| match self.values(column) {
            Values::Read(here) => Values::Read(place(here)),
            Values::Default => Values::Default,
            Values::Items(counter) => {
                counting.push(counter);
                Values::Items(place(counter))
            }
            Values::Counts(list) => {
                counting.push(list);
                Values::Counts(place(list))
            }
        });
        let placed = placed.collect();
        // The others must have as many items.
        let alike = self.counted_alike.iter().filter(|lists| lists.iter().any(|list| counting.contains(list)));
        alike.flatten().for_each(|list| {
            place(*list);
        });
        (read, placed)
    }

    /// Checks that lists which get one counter have the same numbers of items, where these are used.
    fn check_counted(&self, read: &[usize], values: &[Values], batch: &RecordBatch) -> Result<()> {
        if !values.iter().any(|values| matches!(values, Values::Items(_) | Values::Counts(_))) {
            return Ok(());
        }
        let found = |list: &usize| {
            let place = read.iter().position(|column| column == list)?;
            batch.schema_ref().fields().get(place).zip(batch.columns().get(place))
        };
        for lists in self.counted_alike.iter() {
            let Some(found) = lists.iter().map(found).collect::<Option<Vec<_>>>() else { continue };
            for pair in found.windows(2) {
                if let [(first, ours), (second, theirs)] = pair
                    && counts(ours)? != counts(theirs)?
                {
                    let common = Hint::text("join", "common");
                    let message = format!(
                        "its lists and those of branch {} have different lengths here; in other files one counter counts both. {common} \
                         leaves that counter out",
                        second.name()
                    );
                    return Err(self.named(Error::differs(message).hint(common), first));
                }
            }
        }
        Ok(())
    }

    /// Checks that a column was decoded: what cannot be decoded is read as bytes.
    fn check(&self, column: usize, found: &Field) -> Result<()> {
        let planned = self.dataset.column(column).map(TableColumn::field);
        if planned.is_none_or(|planned| planned.data_type() == found.data_type()) {
            return Ok(());
        }
        let why = found.metadata().get("opaque").cloned().unwrap_or_else(|| "it cannot be decoded".to_owned());
        Err(self.named(Error::corrupt(why), found))
    }

    /// An error with the name of a column, and of the file if there is one.
    fn named(&self, error: Error, column: &Field) -> Error {
        let error = error.object(format!("branch {}", column.name()));
        match self.dataset.paths() {
            [path] => error.file(path),
            _ => error,
        }
    }
}

/// The arrays of joined columns, part by part.
pub(super) struct Pieces {
    schema: SchemaRef,
    arrays: Vec<Vec<ArrayRef>>,
    spent: Vec<ReadCost>,
    rows: usize,
}

impl Pieces {
    pub fn new(schema: SchemaRef) -> Self {
        let columns = schema.fields().len();
        Self { arrays: vec![Vec::new(); columns], spent: vec![ReadCost::default(); columns], schema, rows: 0 }
    }

    /// Adds what was read of a part for these columns.
    ///
    /// # Errors
    ///
    /// If a column could not be decoded there, or if its default values cannot be made.
    pub fn add(&mut self, part: &Part, columns: &[usize], found: &Read) -> Result<()> {
        let (read, values) = part.plan(columns);
        let batch = &found.batch;
        for (place, spent) in found.spent.iter().enumerate() {
            let first = values.iter().position(|values| values.place() == Some(place));
            first.and_then(|at| self.spent.get_mut(at)).into_iter().for_each(|all| *all += *spent);
        }
        part.check_counted(&read, &values, batch)?;
        for ((values, field), arrays) in values.iter().zip(self.schema.fields()).zip(&mut self.arrays) {
            let at = |at: usize| {
                let found = batch.schema_ref().fields().get(at).zip(batch.columns().get(at));
                let (found, array) = found.ok_or_else(|| Error::request("no such column"))?;
                part.check(read.get(at).copied().unwrap_or_default(), found)?;
                Ok::<_, Error>(array)
            };
            let made = match *values {
                Values::Read(place) => at(place).and_then(|array| reordered(array, field.data_type())),
                Values::Default => default_array(field, batch.num_rows()),
                Values::Items(place) => at(place).and_then(|array| default_lists(field, &counts(array)?)),
                Values::Counts(place) => at(place).and_then(|array| counter(field, &counts(array)?)),
            };
            arrays.push(made.map_err(|error| part.named(error, field))?);
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// All of them.
    ///
    /// # Errors
    ///
    /// If arrays are too large to be one.
    pub fn finish(self) -> Result<Read> {
        let columns = self.arrays.into_iter().zip(self.schema.fields());
        let columns = columns.map(|(arrays, field)| one_array(&arrays, field.data_type())).collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(self.schema, columns, &options);
        Ok(Read { batch: batch.map_err(|e| Error::unsupported(e.to_string()))?, spent: self.spent })
    }
}

/// Whether the entries of a column are lists.
fn is_list(column: Option<&TableColumn>) -> bool {
    column.is_some_and(|column| matches!(column.field().data_type(), DataType::LargeList(_)))
}

/// Numbers of items: the lengths of lists, or the entries of a counter.
fn counts(array: &ArrayRef) -> Result<Vec<usize>> {
    if let Some(lists) = array.as_list_opt::<i64>() {
        return Ok(lists.offsets().lengths().collect());
    }
    let counts = arrow_cast::cast_with_options(array, &DataType::Int64, &EXACT)
        .map_err(|error| Error::corrupt(format!("no numbers of items: {error}")))?;
    let count = |count: &i64| usize::try_from(*count).map_err(|_| Error::corrupt(format!("{count} items")));
    counts.as_primitive::<Int64Type>().values().iter().map(count).collect()
}

/// Casts that refuse values which the type does not hold.
const EXACT: CastOptions<'_> = CastOptions { safe: false, format_options: arrow_cast::display::FormatOptions::new() };

/// A counter with these numbers of items.
fn counter(field: &FieldRef, counts: &[usize]) -> Result<ArrayRef> {
    let all: Vec<i64> = counts.iter().map(|&count| i64::try_from(count).unwrap_or(i64::MAX)).collect();
    arrow_cast::cast_with_options(&Int64Array::from(all), field.data_type(), &EXACT)
        .map_err(|error| Error::unsupported(format!("the counter does not hold the length of a list: {error}")))
}

/// Lists of default values of these lengths, as a merge fills in a branch that another one counts.
fn default_lists(field: &FieldRef, lengths: &[usize]) -> Result<ArrayRef> {
    let DataType::LargeList(item) = field.data_type() else { return default_array(field, lengths.len()) };
    let items = lengths.iter().try_fold(0usize, |all, length| all.checked_add(*length));
    let items = items.filter(|items| u32::try_from(*items).is_ok());
    let too_many = || Error::corrupt("it counts more than 2^32 items");
    let items = items.ok_or_else(too_many)?;
    let offsets = OffsetBuffer::<i64>::try_from_lengths(lengths.iter().copied()).map_err(|_| too_many())?;
    let values = default_array(item, items)?;
    let lists = LargeListArray::try_new(Arc::clone(item), offsets, values, None);
    Ok(Arc::new(lists.map_err(|error| Error::unsupported(error.to_string()))?))
}
