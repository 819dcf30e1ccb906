//! Some entries of a table as rows of cells, and histograms as they are. Only what is shown is read: the baskets and pages of
//! these entries, within a budget. For people a cell that cannot be read says why; for programs that is an error. An entry that a column
//! does not hold has no value there.

use std::ops::Range;

use arrow_array::ArrayRef;
use dataset::EntrySet;
use dataset::layout::{ByteSize, Container};
use dataset::near::advice;
use dataset::table::catalog;
use flow::convert::Format;
use flow::inputs::{Input, refuse_pattern};
use flow::read::{BatchSize, Dataset, Request, batches, read};
use flow::{Budget, Choice, Chosen, CutStep, Defined, Entries, EvaluatedRows, Progress};
use objects::{Histogram, is_histogram};
use rootfile::{Error, ErrorKind, Follow, Hint, Result, RootFile, is_directory, public_path};
use serde::Serialize;

use super::asked_columns::{AskedColumn, asked_columns};
use super::cell::Cell;
use super::check_entries;
use super::schema::{ColumnType, column_type, defined_type};

/// Bytes of columns that are read at a time.
const PORTION: u64 = 4 << 20;

/// Rows that are read at a time where columns are read one by one, at most.
const MOST_ROWS: usize = 1 << 16;

/// Which rows of a table are shown.
#[derive(Clone, Debug)]
pub struct RowOptions {
    /// Columns by name or pattern; all, if none is named.
    pub columns: Vec<String>,
    /// Entries; with a limit, only as many are tested as it takes.
    pub entries: Choice,
    /// Most columns of those that are not named.
    pub most_columns: usize,
    /// Whether names of columns may mean none.
    pub allow_no_match: bool,
    /// How far addresses in the files are followed.
    pub follow: Follow,
    /// Memory and threads.
    pub budget: Budget,
}

/// What becomes of values that cannot be read or computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// Their cells say why.
    IsTold,
    /// They are an error. Columns of which no value can be decoded have none.
    Fails,
}

/// What is shown: rows of a table, or a histogram.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Shown {
    /// Rows.
    Rows(Box<Rows>),
    /// A histogram.
    Histogram(Box<ShownHistogram>),
}

/// Some entries of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Rows {
    /// The file, as given.
    pub file: String,
    /// Path of the table.
    pub table: String,
    /// Its container; none of a Parquet file.
    pub container: Option<Container>,
    /// Entries of the table.
    pub entries: u64,
    /// What the cuts leave of the entries that were tested.
    pub cuts: Vec<CutStep>,
    /// The columns that are shown.
    pub columns: Vec<ColumnType>,
    /// Columns that are not shown.
    pub more_columns: u64,
    /// What users should know, such as columns that hold fewer entries than their table.
    pub notes: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// An entry.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its number.
    pub entry: u64,
    /// A value for each column that is shown.
    pub values: Vec<Cell>,
}

/// A histogram and where it is.
#[derive(Clone, Debug, Serialize)]
pub struct ShownHistogram {
    /// The file, as given.
    pub file: String,
    /// Path in the file.
    pub path: String,
    /// Class.
    pub class: String,
    /// Its axes and bins.
    pub histogram: Histogram,
}

/// What an address in a file names.
pub enum Subject {
    /// A table.
    Table(Box<Table>),
    /// A histogram.
    Histogram(Box<ShownHistogram>),
}

/// The values of a column, or why there are none.
type Value = std::result::Result<ArrayRef, String>;

/// A table of which rows are read.
pub struct Table {
    dataset: Dataset,
    input: Input,
    /// The columns that are shown, in their order.
    shown: Vec<AskedColumn>,
    /// Those of them that are stored.
    columns: Vec<usize>,
    more_columns: u64,
    /// Those of them that do not hold all of the entries.
    short: Vec<usize>,
    /// The entries, and which of them, if not all.
    range: Range<u64>,
    selection: Option<EntrySet>,
    cuts: Vec<CutStep>,
    defined: Defined,
    budget: Budget,
}

/// Opens the table or the histogram that an address names. `progress` can end the search for entries that pass cuts.
///
/// # Errors
///
/// The file cannot be read, has no such object, or the object is neither a table nor a histogram; or a name means no column.
pub fn open(input: &Input, options: &RowOptions, progress: Progress<'_>) -> Result<Subject> {
    refuse_pattern(input)?;
    if let Some(histogram) = named_histogram(input)? {
        refuse_choice(options, &histogram.path).map_err(|e| e.file(&input.path))?;
        return Ok(Subject::Histogram(Box::new(histogram)));
    }
    Table::open(input, options, progress).map(|table| Subject::Table(Box::new(table)))
}

/// Fails if some columns or entries of a histogram are asked for.
fn refuse_choice(options: &RowOptions, wanted: &str) -> Result<()> {
    if !options.columns.is_empty() {
        let why = format!("{wanted} is a histogram, which has no columns: show it alone");
        return Err(Error::request(why));
    }
    let Choice { entries, cuts, defines, .. } = &options.entries;
    let given = [("cut", !cuts.is_empty()), ("define", !defines.is_empty()), ("entries", *entries != Entries::All)];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(no_entries(wanted, option)),
        None => Ok(()),
    }
}

/// The error for an option that chooses entries of a histogram.
pub fn no_entries(wanted: &str, option: &'static str) -> Error {
    let hint = Hint::named(option);
    Error::request(format!("{wanted} is a histogram, which has no entries: {hint} is for tables")).hint(hint)
}

/// The histogram that an address names; none if it names a table, or nothing in its file.
pub(super) fn named_histogram(input: &Input) -> Result<Option<ShownHistogram>> {
    match &input.tree {
        Some(wanted) if !Format::is_parquet(&input.path) => histogram(&RootFile::open(&input.path)?, wanted),
        _ => Ok(None),
    }
}

/// The histogram of a path; none if a table is there.
pub(super) fn histogram(file: &RootFile, wanted: &str) -> Result<Option<ShownHistogram>> {
    let walk = file.walk();
    let (path, cycle) = catalog::split_cycle(wanted).map_or((wanted, None), |(path, cycle)| (path, Some(cycle)));
    let all = || walk.directories.iter().flat_map(|d| d.keys.iter().map(|key| (d.path_of(&key.name), key)));
    if catalog::find(&catalog::tables_in(file, &walk.directories), wanted).is_some() {
        return Ok(None);
    }
    let found = all().filter(|(known, key)| known == path && cycle.is_none_or(|cycle| cycle == key.cycle));
    let refused = |why: String| Error::request(why).file(file.name());
    match found.max_by_key(|(_, key)| key.cycle) {
        Some((path, key)) if is_histogram(&key.class) => Ok(Some(ShownHistogram {
            file: public_path(file.name()).display().to_string(),
            path,
            class: key.class.clone(),
            histogram: Histogram::read(file, key)?,
        })),
        Some((path, key)) if is_directory(&key.class) => {
            let command = format!("basketry ls {}:{path}", public_path(file.name()).display());
            Err(refused(format!("{path} is a directory: `{command}` lists it")))
        }
        Some((path, key)) => {
            let why = "trees, RNTuples, Parquet files and histograms can be shown; Python reads it: basketry.open";
            Err(refused(format!("{path} is a {}, and only {why}", key.class)))
        }
        None => {
            let known: Vec<String> = all().map(|(path, _)| path).collect();
            Err(refused(format!("has no object {wanted}{}", advice(wanted, known.iter().map(String::as_str)))))
        }
    }
}

impl Table {
    fn open(input: &Input, options: &RowOptions, progress: Progress<'_>) -> Result<Self> {
        let dataset = Dataset::open_following(std::slice::from_ref(input), options.follow)?;
        let defined = Defined::bind(&dataset, dataset.path(), &options.entries.defines)?.all(dataset.path())?;
        let names: Vec<&str> = defined.names().collect();
        let mut shown = asked_columns(&dataset, &names, &options.columns, options.allow_no_match)?;
        let mut more_columns = 0;
        if options.columns.is_empty() {
            let all = dataset.default_columns();
            more_columns = all.len().saturating_sub(options.most_columns) as u64;
            shown.extend(all.into_iter().take(options.most_columns).map(AskedColumn::Stored));
        }
        let columns: Vec<usize> = shown.iter().filter_map(|column| column.stored()).collect();
        if !options.allow_no_match {
            check_entries(&dataset, &options.entries.entries)?;
        }
        let budget = options.budget;
        let Chosen { range, selection, cuts, .. } = options.entries.of(&dataset, budget, progress)?;
        let is_short = |column: &usize| dataset.missing(*column, &range, selection.as_ref()).is_some();
        let short = columns.iter().copied().filter(is_short).collect();
        let input = input.clone();
        Ok(Self { dataset, input, shown, columns, more_columns, short, range, selection, cuts, defined, budget })
    }

    /// The columns that are shown.
    pub fn columns(&self) -> Vec<ColumnType> {
        let nodes = self.dataset.schema().nodes();
        let defined = self.defined.fields();
        let of = |column: &AskedColumn| match *column {
            AskedColumn::Defined(place) => defined.get(place).map(|field| defined_type(field)),
            AskedColumn::Stored(column) => column_type(&self.dataset, &nodes, column),
        };
        self.shown.iter().filter_map(of).collect()
    }

    /// The columns that are read: those that are shown, and what defined ones need besides.
    fn read_columns(&self) -> Vec<usize> {
        let needed = self.defined.columns().iter().filter(|column| !self.columns.contains(column));
        self.columns.iter().chain(needed).copied().collect()
    }

    /// What users should know of the values: columns that do not hold all entries, and, where what is unreadable fails, those of which
    /// no value is decoded.
    pub fn notes(&self, unreadable: Unreadable) -> Vec<String> {
        let (range, selection) = (&self.range, self.selection.as_ref());
        let mut notes = self.dataset.notes_on_missing(&self.short, range, selection, "have no value");
        if unreadable == Unreadable::Fails {
            let opaque = self.columns.iter().filter_map(|&column| self.dataset.column(column));
            let opaque = opaque.filter_map(|column| Some((column.field().name(), column.opaque()?)));
            notes.extend(opaque.map(|(name, why)| format!("{name}: has no values here, as it cannot be read: {why}")));
        }
        notes
    }

    /// The columns that are shown, given those that are read for these entries.
    ///
    /// # Errors
    ///
    /// A column cannot be computed.
    fn shown(&self, read: &[ArrayRef], entries: &[u64]) -> Result<Vec<Value>> {
        let columns = self.read_columns();
        let place = |column: &usize| columns.iter().position(|one| one == column);
        let needed = self.defined.columns().iter().filter_map(|column| read.get(place(column)?).cloned());
        let rows = EvaluatedRows { count: entries.len(), first: 0, numbers: Some(entries), before: 0 };
        let defined = self.defined.arrays(&needed.collect::<Vec<_>>(), &rows, None)?;
        Ok(self.in_order(|place| defined.get(place).cloned().ok_or_else(String::new), self.stored(read)))
    }

    /// Those that are stored, of those that are read.
    fn stored(&self, read: &[ArrayRef]) -> impl Iterator<Item = Value> {
        read.iter().take(self.columns.len()).cloned().map(Ok)
    }

    /// What is shown in its order, given each column that is defined by its place, and those that are stored.
    fn in_order(&self, defined: impl Fn(usize) -> Value, mut stored: impl Iterator<Item = Value>) -> Vec<Value> {
        let of = |column: &AskedColumn| match *column {
            AskedColumn::Defined(place) => defined(place),
            AskedColumn::Stored(_) => stored.next().unwrap_or_else(|| Err("it has no values".to_owned())),
        };
        self.shown.iter().map(of).collect()
    }

    fn request(&self, columns: Vec<usize>, entries: Range<u64>) -> Request<'static> {
        let selection = self.selection.clone();
        Request { columns, entries, selection, budget: self.budget, progress: &flow::unwatched }
    }

    /// Calls `each` with the rows, one after the other. `progress` can end the work.
    ///
    /// # Errors
    ///
    /// Those of `each`, if the work is ended, and what cannot be read or computed, unless that is told in the cells.
    pub fn each_row(
        &self,
        unreadable: Unreadable,
        progress: Progress<'_>,
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        let mut entries: Box<dyn Iterator<Item = u64> + '_> = match &self.selection {
            Some(set) => Box::new(set.all_runs().flatten()),
            None => Box::new(self.range.clone()),
        };
        let request = self.request(self.read_columns(), self.range.clone());
        for read in batches(&self.dataset, request, BatchSize::Bytes(PORTION)) {
            flow::tell(progress, 0)?;
            match read {
                Ok(read) => {
                    let numbers: Vec<u64> = entries.by_ref().take(read.batch.num_rows()).collect();
                    self.each_of(read.batch.columns(), &numbers, unreadable, each)?;
                }
                Err(e) if unreadable == Unreadable::Fails || matches!(e.kind(), ErrorKind::Interrupted) => {
                    return Err(e);
                }
                // One column can be damaged or in a file that is not there: the others are shown.
                Err(_) => return self.one_by_one(&mut entries, progress, each),
            }
        }
        Ok(())
    }

    /// Calls `each` with the rows of columns that are read for these entries.
    fn each_of(
        &self,
        read: &[ArrayRef],
        numbers: &[u64],
        unreadable: Unreadable,
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        let why = match self.shown(read, numbers) {
            Ok(values) => {
                let mut rows = numbers.iter().enumerate();
                return rows.try_for_each(|(row, &entry)| each(self.row(entry, &values, row, unreadable)));
            }
            Err(e) if unreadable == Unreadable::Fails => return Err(e),
            Err(e) => e.to_string(),
        };
        // Values that cannot be computed are those of some entries: each is tried alone.
        for (row, &entry) in numbers.iter().enumerate() {
            let values = if numbers.len() > 1 {
                let one: Vec<ArrayRef> = read.iter().map(|array| array.slice(row, 1)).collect();
                self.shown(&one, &[entry]).unwrap_or_else(|e| self.in_order(|_| Err(e.to_string()), self.stored(&one)))
            } else {
                self.in_order(|_| Err(why.clone()), self.stored(read))
            };
            each(self.row(entry, &values, 0, unreadable))?;
        }
        Ok(())
    }

    /// Calls `each` with the rows of these entries. Columns are read one by one, cluster by cluster: where one cannot be, its cells say why.
    fn one_by_one(
        &self,
        entries: &mut dyn Iterator<Item = u64>,
        progress: Progress<'_>,
        each: &mut dyn FnMut(Row) -> Result<()>,
    ) -> Result<()> {
        let bytes = self.dataset.bytes_of(&self.columns) / self.dataset.entries().max(1);
        let portion = usize::try_from(PORTION / bytes.max(1)).unwrap_or(usize::MAX).clamp(1, MOST_ROWS);
        let clusters = self.dataset.clusters();
        let cluster = |entry: u64| clusters.partition_point(|start| *start <= entry);
        let mut entries = entries.peekable();
        loop {
            let Some(&first) = entries.peek() else { return Ok(()) };
            let mut numbers = Vec::new();
            while numbers.len() < portion
                && let Some(entry) = entries.next_if(|entry| cluster(*entry) == cluster(first))
            {
                numbers.push(entry);
            }
            let Some(last) = numbers.last() else { return Ok(()) };
            flow::tell(progress, 0)?;
            let alone = self.alone(first..last + 1);
            let whole: std::result::Result<Vec<ArrayRef>, ()> =
                alone.iter().map(|one| one.clone().map_err(drop)).collect();
            if let Ok(read) = whole {
                self.each_of(&read, &numbers, Unreadable::IsTold, each)?;
                continue;
            }
            let not_computed = |_| Err("it is not computed where a column cannot be read".to_owned());
            let values = self.in_order(not_computed, alone.into_iter().take(self.columns.len()));
            for (row, entry) in numbers.into_iter().enumerate() {
                each(self.row(entry, &values, row, Unreadable::IsTold))?;
            }
        }
    }

    /// Each column that is read, or why it cannot be.
    fn alone(&self, entries: Range<u64>) -> Vec<Value> {
        let one = |column: usize| {
            let read = read(&self.dataset, &self.request(vec![column], entries.clone()));
            let array = read.map(|read| read.batch.columns().first().cloned());
            array.map_err(|e| e.to_string())?.ok_or_else(|| "it has no values".to_owned())
        };
        self.read_columns().into_iter().map(one).collect()
    }

    fn row(&self, entry: u64, values: &[Value], row: usize, unreadable: Unreadable) -> Row {
        let cell = |(value, column): (&Value, Option<usize>)| {
            let opaque = column.and_then(|column| self.dataset.column(column)?.opaque());
            let is_short =
                column.is_some_and(|column| self.short.contains(&column) && !self.dataset.holds(column, entry));
            match (value, opaque) {
                _ if is_short => Cell::Null,
                (Err(why), _) => Cell::Unreadable(why.clone()),
                (_, Some(_)) if unreadable == Unreadable::Fails => Cell::Null,
                (_, Some(why)) => Cell::Unreadable(why.to_owned()),
                (Ok(array), None) => Cell::of(array.as_ref(), row),
            }
        };
        let columns = self.shown.iter().map(|column| column.stored());
        Row { entry, values: values.iter().zip(columns).map(cell).collect() }
    }

    /// All of its rows.
    ///
    /// # Errors
    ///
    /// They take more than half of the memory, or the work is ended.
    pub fn rows(&self, progress: Progress<'_>) -> Result<Rows> {
        let (mut rows, mut left) = (Vec::new(), self.budget.memory / 2);
        self.each_row(Unreadable::IsTold, progress, &mut |row| {
            let bytes = row.values.iter().map(Cell::memory).sum::<usize>() + size_of::<Row>();
            left = left.checked_sub(bytes as u64).ok_or_else(|| self.too_many())?;
            rows.push(row);
            Ok(())
        })?;
        Ok(Rows {
            file: public_path(&self.input.path).display().to_string(),
            table: self.dataset.path().to_owned(),
            container: self.dataset.container(),
            entries: self.dataset.entries(),
            cuts: self.cuts.clone(),
            columns: self.columns(),
            more_columns: self.more_columns,
            notes: self.notes(Unreadable::IsTold),
            rows,
        })
    }
}

impl Table {
    /// The error for rows that do not fit into the memory together.
    fn too_many(&self) -> Error {
        let (memory, entries) =
            (Hint::text("memory", ByteSize(self.budget.memory).to_string()), Hint::named("entries"));
        let why = format!("these entries have more values than {memory} has room for; {entries} chooses fewer");
        Error::request(why).hint(memory).hint(entries).object(self.dataset.path()).file(&self.input.path)
    }
}

impl Subject {
    /// All that is shown of it.
    ///
    /// # Errors
    ///
    /// The work is ended.
    pub fn shown(self, progress: Progress<'_>) -> Result<Shown> {
        Ok(match self {
            Self::Table(table) => Shown::Rows(Box::new(table.rows(progress)?)),
            Self::Histogram(histogram) => Shown::Histogram(histogram),
        })
    }
}
