//! Writers: a ROOT file whose tables any number of fill contexts fill.

use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dataset::layout::Layout;
use flow::write::{ContextMetrics, Order, ParallelWriter, WriteOptions, WritePlace, WritePool};
use rootfile::streamer::StreamerInfos;
use rootfile::streamer::describe::{ClassDescription, describe, parse};
use rootfile::{Error as Failure, Owned, Result};

use crate::answer::{answer, handle, quietly, status};
use crate::arrow::{self, ArrowSchema};
use crate::error::Error;
use crate::foreign::{self, Text};
use crate::lock::lock;
use crate::options::{Versioned, versioned, write_versioned};
use crate::pool::Pool;
use crate::settings::{Settings, overlaid};
use crate::sink::{Callbacks, Sink};
use crate::table::{self, Column, Columns, Content, Table, with_described};

/// The options of a writer. Set `size` to its sizeof, and all else to zero for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct WriterOptions {
    /// The sizeof of this structure.
    pub size: usize,
    /// Settings by name, divided by commas or line ends: `compression=zstd:5, cluster=30MB`. The keys of a layout hold for all tables:
    /// `container` (ttree or rntuple), `compression`, `cluster`, `basket`, `split-level` and the others of docs/layouts.md. Of the writer are
    /// `order` (arrival or tasks), `overwrite` (false or true), `auto-save` (bytes such as 100MB, or a number of entries),
    /// `casting` (exact or same-kind), `date` (seconds since 1970), and, where no pool is given, `memory` and `threads`.
    pub settings: Text,
    /// A layout in TOML, with rules for tables and columns, as `basketry tune` writes it. The settings go over it.
    pub layout: Text,
    /// The title of the file.
    pub title: Text,
    /// Classes of columns as C++ declares them, without functions: `struct Hit { float x; std::vector<int> ids; };`.
    pub classes: Text,
    /// Where the bytes go, if not into a file of the path.
    pub sink: *const Sink,
}

// SAFETY: the layout is C's, the size is first, and zeroes are a number and null pointers.
unsafe impl Versioned for WriterOptions {
    const NAME: &'static str = "options of the writer";
}

/// The options of a table. Set `size` to its sizeof, and all else to zero for the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TableOptions {
    /// The sizeof of this structure.
    pub size: usize,
    /// The title of the tree, or the description of the RNTuple.
    pub title: Text,
    /// Keys of a layout for this table, over those of the writer: `container=rntuple, cluster=30MB`.
    pub settings: Text,
    /// Not 0: fields of an Arrow schema that may lack values become `std::optional` in an RNTuple. Most producers mark all fields so.
    pub optional: i32,
}

// SAFETY: the layout is C's, the size is first, and zeroes are numbers and null pointers.
unsafe impl Versioned for TableOptions {
    const NAME: &'static str = "options of the table";
}

/// What a writer has done so far. Set `size` to its sizeof before the call.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct WriterMetrics {
    /// The sizeof of this structure.
    pub size: usize,
    /// Entries and clusters in the file.
    pub entries: u64,
    /// Clusters in the file.
    pub clusters: u64,
    /// Bytes of the file so far.
    pub file_bytes: u64,
    /// Bytes of finished clusters that wait for earlier ones.
    pub queue_bytes: u64,
    /// Bytes of the pool's memory in use, by all its writers.
    pub held_bytes: u64,
    /// The most of these at any time.
    pub peak_held_bytes: u64,
    /// Contexts that wait for memory now.
    pub waiting: u64,
    /// Nanoseconds of all contexts together: encoding.
    pub encoding_ns: u64,
    /// Compressing.
    pub compressing_ns: u64,
    /// Waiting for memory.
    pub waiting_ns: u64,
    /// Handing clusters over.
    pub handing_ns: u64,
    /// Nanoseconds of appending to the file.
    pub appending_ns: u64,
}

// SAFETY: the layout is C's, the size is first, and zeroes are numbers.
unsafe impl Versioned for WriterMetrics {
    const NAME: &'static str = "metrics";
}

/// A ROOT file in work. It appears under its name when ::basketry_writer_finish has put all of it on disk, and not at all if anything goes
/// wrong before. Any thread may use it, several at once.
pub struct Writer(Owned<Open>);

pub(crate) struct Open {
    writer: Mutex<Option<ParallelWriter>>,
    tables: Mutex<Vec<Arc<Table>>>,
    declared: Vec<ClassDescription>,
    classes: StreamerInfos,
    layout: Layout,
    pub order: Order,
    /// Bytes of the pool.
    pub memory: u64,
}

#[cold]
fn closed() -> Failure {
    Failure::request("the writer is finished")
}

impl Open {
    fn begin(path: PathBuf, options: &WriterOptions, pool: Option<&Pool>) -> Result<Self> {
        let settings = Settings::parse(options.settings, options.layout)?;
        let declared = parse(options.classes.or_empty("the classes")?).map_err(|e| e.object("classes"))?;
        let mut classes = StreamerInfos::new();
        for info in describe(&declared, &classes).map_err(|e| e.object("classes"))? {
            classes.add(Arc::new(info));
        }
        let own = match pool {
            Some(_) if settings.memory.is_some() || settings.threads.is_some() => {
                return Err(Failure::request("memory and threads are the pool's: set them there, or give no pool"));
            }
            Some(pool) => pool.0.clone(),
            None => WritePool::with_team(settings.budget())?,
        };
        let place = if options.sink.is_null() {
            let nothing: [PathBuf; 0] = [];
            rootfile::check_output(&path, settings.overwrite, nothing)?;
            WritePlace::File
        } else {
            // SAFETY: the interface asks for null or a structure of the size that it says.
            let functions = unsafe { versioned(options.sink) }?;
            WritePlace::Sink(Arc::new(Callbacks::new(functions)?))
        };
        let options = WriteOptions {
            layout: settings.layout.clone(),
            overwrite: settings.overwrite,
            order: settings.order,
            casting: settings.casting,
            auto_save: settings.auto_save,
            title: options.title.or_empty("the title")?.to_owned(),
            place,
            date: settings.date,
        };
        let writer = ParallelWriter::create(&path, &options, &own)?;
        Ok(Self {
            writer: Mutex::new(Some(writer)),
            tables: Mutex::default(),
            declared,
            classes,
            layout: settings.layout,
            order: settings.order,
            memory: own.memory(),
        })
    }

    pub fn with<T>(&self, work: impl FnOnce(&mut ParallelWriter) -> Result<T>) -> Result<T> {
        work(lock(&self.writer).as_mut().ok_or_else(closed)?)
    }

    /// The table of a number.
    pub fn table(&self, number: i64) -> Result<Arc<Table>> {
        let place = usize::try_from(number).ok();
        let found = place.and_then(|place| lock(&self.tables).get(place).cloned());
        found.ok_or_else(|| Failure::request(format!("the writer has no table {number}")))
    }

    fn add(
        &self,
        path: Text,
        content: &Content<'_>,
        described: &[ClassDescription],
        options: &TableOptions,
    ) -> Result<i64> {
        let (path, title) = (path.text("the path of the table")?, options.title.or_empty("the title")?);
        let layout = overlaid(&self.layout, options.settings)?;
        let classes = with_described(&self.classes, described)?;
        let added = self.with(|writer| {
            writer.set_layout(layout);
            table::add(writer, path, title, content, classes)
        })?;
        let mut tables = lock(&self.tables);
        tables.push(Arc::new(added));
        Ok(i64::try_from(tables.len() - 1).unwrap_or(-1))
    }

    fn add_columns(&self, table: i64, content: &Content<'_>, described: &[ClassDescription]) -> Result<i64> {
        let (table, classes) = (self.table(table)?, with_described(&self.classes, described)?);
        let first = self.with(|writer| table.add_columns(writer, content, &classes))?;
        Ok(i64::try_from(first).unwrap_or(-1))
    }

    fn finish(&self) -> Result<u64> {
        let writer = lock(&self.writer).take().ok_or_else(closed)?;
        Ok(writer.finish()?.bytes)
    }

    fn abandon(&self, why: &str) {
        if let Some(writer) = lock(&self.writer).take() {
            writer.abandon(why);
        }
    }
}

impl Writer {
    /// What it holds, in the process that began it.
    pub(crate) fn open(&self) -> Result<&Open> {
        let way_out = "write a file of its own in each process, and merge them";
        self.0.owner().check("the writer", way_out)?;
        self.0.get().ok_or_else(closed)
    }
}

/// Begins a file.
///
/// @param path     Its path, or with a sink its name inside.
/// @param options  May be null.
/// @param pool     Memory and threads that it shares with other writers; null for its own, by the settings `memory` and `threads`. The
///                 writer holds the pool as long as it needs it: it may be freed at any time.
/// @param error    See ::basketry_error.
/// @return The writer, or null after an error. The caller frees it by ::basketry_writer_free.
///
/// Creates a hidden file beside the path.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_new(
    path: Text,
    options: *const WriterOptions,
    pool: Option<&Pool>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<Writer>> {
    handle(error, || {
        // SAFETY: the interface asks for null or a structure of the size that it says.
        let options = unsafe { versioned(options) }?;
        Ok(Writer(Owned::new(Open::begin(path.path("the path")?, &options, pool)?)))
    })
}

/// Adds a table with columns of C++ types. Whether it is a tree or an RNTuple is the layout's `container`.
///
/// @param writer   The writer. Tables may be added at any time, also while others are filled.
/// @param path     The path in the file: `Events`, `dir/Events`.
/// @param columns  The columns, one behind the other.
/// @param count    Their number.
/// @param options  May be null.
/// @return The number of the table, or -1 after an error.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_table(
    writer: Option<&Writer>,
    path: Text,
    columns: *const Column,
    count: usize,
    options: *const TableOptions,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i64 {
    let added = answer(error, || {
        // SAFETY: the interface asks for so many columns with their texts and members, and for null or options of the size that they say.
        let (columns, options) = unsafe { (Columns::read(columns, count)?, versioned(options)?) };
        let open = foreign::handle(writer, "the writer")?.open()?;
        open.add(path, &Content::Columns(&columns.asked), &columns.classes, &options)
    });
    added.unwrap_or(-1)
}

/// Adds a table with the columns of an Arrow schema, which stays the caller's: see ::basketry_writer_table.
///
/// A field whose metadata have a `typename` is of that C++ type. Others become what uproot would make of them in a tree (numbers, leaf lists
/// with counters `nNAME`, records as `NAME_PART`), and their natural types in an RNTuple.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_table_arrow(
    writer: Option<&Writer>,
    path: Text,
    schema: *const ArrowSchema,
    options: *const TableOptions,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i64 {
    let added = answer(error, || {
        // SAFETY: the interface asks for a structure of Arrow's interface, and for null or options of the size that they say.
        let (schema, options) = unsafe { (arrow::schema(schema)?, versioned(options)?) };
        let open = foreign::handle(writer, "the writer")?.open()?;
        open.add(path, &Content::Schema { schema: &schema, optional: options.optional != 0 }, &[], &options)
    });
    added.unwrap_or(-1)
}

/// Adds a table with a column for each member of a class that the writer's `classes` declare: see ::basketry_writer_table.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_table_class(
    writer: Option<&Writer>,
    path: Text,
    class_name: Text,
    options: *const TableOptions,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i64 {
    let added = answer(error, || {
        // SAFETY: the interface asks for null or options of the size that they say.
        let options = unsafe { versioned(options) }?;
        let open = foreign::handle(writer, "the writer")?.open()?;
        let columns = Columns::of_class(class_name.text("the class")?, &open.declared)?;
        open.add(path, &Content::Columns(&columns.asked), &columns.classes, &options)
    });
    added.unwrap_or(-1)
}

/// Adds columns to a table of C++ types that is being filled, such as bits of triggers that become known late. They begin with the first
/// cluster that has them, in the order of clusters in the file; entries before it have zeroes, empty texts and empty lists. The first entry
/// with them ends the context's cluster.
///
/// @return The number of the first one, for ::basketry_context_bind, by which a context takes part; or -1 after an error, which leaves the
///         table as it is.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_add_columns(
    writer: Option<&Writer>,
    table: i64,
    columns: *const Column,
    count: usize,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i64 {
    let added = answer(error, || {
        // SAFETY: the interface asks for so many columns with their texts and members.
        let columns = unsafe { Columns::read(columns, count) }?;
        let open = foreign::handle(writer, "the writer")?.open()?;
        open.add_columns(table, &Content::Columns(&columns.asked), &columns.classes)
    });
    added.unwrap_or(-1)
}

/// Adds the columns of an Arrow schema to a table that is being filled: see ::basketry_writer_add_columns. Batches that have them make them
/// begin; later batches of the same context without them are refused.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_add_columns_arrow(
    writer: Option<&Writer>,
    table: i64,
    schema: *const ArrowSchema,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        // SAFETY: the interface asks for a structure of Arrow's interface.
        let schema = unsafe { arrow::schema(schema) }?;
        let open = foreign::handle(writer, "the writer")?.open()?;
        open.add_columns(table, &Content::Schema { schema: &schema, optional: false }, &[]).map(drop)
    })
}

/// Makes a directory in the file, and its parents.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_mkdir(
    writer: Option<&Writer>,
    path: Text,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let path = path.text("the path of the directory")?;
        foreign::handle(writer, "the writer")?.open()?.with(|writer| writer.mkdir(path))
    })
}

/// Saves the metadata of all tables now: if the process dies, the hidden file can be read up to here. Waits for the disk.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_save(writer: Option<&Writer>, error: Option<&mut MaybeUninit<*mut Error>>) -> i32 {
    status(error, || foreign::handle(writer, "the writer")?.open()?.with(|writer| writer.save()))
}

/// Writes what the writer has done so far.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_metrics(
    writer: Option<&Writer>,
    metrics: *mut WriterMetrics,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let seen = foreign::handle(writer, "the writer")?.open()?.with(|writer| Ok(writer.metrics()))?;
        let sum = |of: fn(&ContextMetrics) -> u64| seen.contexts.iter().map(of).sum::<u64>();
        let made = WriterMetrics {
            size: 0,
            entries: seen.entries,
            clusters: seen.clusters,
            file_bytes: seen.file_bytes,
            queue_bytes: seen.queue_bytes,
            held_bytes: seen.held_bytes,
            peak_held_bytes: seen.peak_held_bytes,
            waiting: seen.waiting as u64,
            encoding_ns: sum(|one| one.encoding_ns),
            compressing_ns: sum(|one| one.compressing_ns),
            waiting_ns: sum(|one| one.waiting_ns),
            handing_ns: sum(|one| one.handing_ns),
            appending_ns: seen.appending_ns,
        };
        // SAFETY: the interface asks for a structure of the size that it says.
        unsafe { write_versioned(metrics, &made) }
    })
}

/// Ends the file: all contexts must be finished. Waits until it is on disk. The writer can only be freed then.
///
/// @param bytes  Gets the size of the file; may be null.
/// @return 0, or -1 after an error: then there is no file.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_finish(
    writer: Option<&Writer>,
    bytes: Option<&mut MaybeUninit<u64>>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let size = foreign::handle(writer, "the writer")?.open()?.finish()?;
        if let Some(bytes) = bytes {
            bytes.write(size);
        }
        Ok(())
    })
}

/// Gives the file up: it will not appear, and contexts end with an error that has this reason. Contexts that wait for memory end at once.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_abandon(writer: Option<&Writer>, why: Text) {
    quietly(|| {
        let why = why.given("the reason").ok().flatten().unwrap_or("the writer was abandoned");
        if let Some(Ok(open)) = writer.map(Writer::open) {
            open.abandon(why);
        }
    });
}

/// Frees a writer. One that is not finished is given up. A null pointer is ignored. In a process that was forked after the writer was made
/// nothing happens.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_writer_free(writer: Option<Box<Writer>>) {
    quietly(|| {
        if let Some(Ok(open)) = writer.as_ref().map(|writer| writer.open()) {
            open.abandon("the writer was freed before it was finished");
        }
        drop(writer);
    });
}
