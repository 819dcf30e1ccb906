//! Fill contexts: what one thread or task fills, with batches of Arrow's or with entries at addresses.

use std::collections::HashSet;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use arrow_array::RecordBatch;
use flow::write::{FillContext, Order, flat_records};
use rootfile::{Error as Failure, Owned, Result};

use crate::answer::{answer, handle, quietly, status};
use crate::arrow::{self, ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::error::Error;
use crate::foreign;
use crate::gather::Gatherer;
use crate::lock::lock;
use crate::table::Table;
use crate::version::{BASKETRY_FAILED, BASKETRY_OK, BASKETRY_WOULD_WAIT};
use crate::writer::Writer;

/// What one thread or task fills: a slot of a framework, a stream, a task.
///
/// Contexts of one writer are filled at the same time. One context is used by one thread at a time, not always the same: a second call
/// beside the first fails. Nothing is kept by thread. A context that is freed without ::basketry_context_finish gives the output up, as does
/// any error that says so.
pub struct Context(Owned<Mutex<Option<Filling>>>);

/// A context that is not finished.
pub(crate) struct Filling {
    context: FillContext,
    table: Arc<Table>,
    /// Entries that were gathered, once the context is filled by addresses.
    gathered: Option<Gatherer>,
    /// A batch of them of which the first rows are in the context.
    waiting: Option<(RecordBatch, usize)>,
    /// Bytes that are gathered before they go into the context.
    most: usize,
    /// The number of columns that the table had when the context began.
    began_with: usize,
}

/// Entries are gathered up to one part in this many of the memory, within these bounds.
const GATHERED_SHARE: u64 = 512;
const LEAST_GATHERED: u64 = 16 << 10;
const MOST_GATHERED: u64 = 512 << 10;
/// Rows that are gathered at once before their bytes are known.
const FIRST_ROWS: usize = 16;

impl Filling {
    fn new(context: FillContext, table: Arc<Table>, memory: u64) -> Self {
        let most = (memory / GATHERED_SHARE).clamp(LEAST_GATHERED, MOST_GATHERED);
        let began_with = table.columns().len();
        Self {
            context,
            table,
            gathered: None,
            waiting: None,
            most: usize::try_from(most).unwrap_or(usize::MAX),
            began_with,
        }
    }

    fn fill(&mut self, batch: &RecordBatch) -> Result<()> {
        self.hand_over()?;
        let batch = self.fitting(batch)?;
        self.context.fill(&batch)
    }

    /// Adds rows from one on without waiting. Returns the row behind the last one that was added.
    fn try_fill(&mut self, batch: &RecordBatch, from: usize) -> Result<usize> {
        if !self.try_hand_over(true)? {
            return Ok(from);
        }
        let batch = self.fitting(batch)?;
        self.context.try_fill(&batch, from)
    }

    /// What gathers entries by the columns' addresses.
    fn gatherer(&mut self) -> Result<&mut Gatherer> {
        if self.gathered.is_none() {
            let columns = self.table.columns();
            if columns.is_empty() {
                return Err(Failure::request(
                    "the table was made of a schema: its columns have no C++ types; fill it by Arrow",
                ));
            }
            let own = columns.get(..self.began_with).unwrap_or_default();
            self.gathered = Some(Gatherer::new(own, self.table.early)?);
        }
        self.gathered.as_mut().ok_or_else(finished)
    }

    /// Sets where a column is. A late one begins with the next entry, and with it all that were added so far.
    fn bind(&mut self, column: usize, address: *const u8) -> Result<()> {
        let width = self.gatherer()?.width();
        if column >= width {
            self.hand_over()?;
            let columns = self.table.columns();
            if column >= columns.len() {
                return Err(Failure::request(format!("the table has no column {column}")));
            }
            // Those that were added at once begin at once.
            self.gatherer()?.add_late(columns.get(width..).unwrap_or_default())?;
        }
        self.gatherer()?.bind(column, address)
    }

    /// Adds entries at addresses.
    ///
    /// # Safety
    ///
    /// As [`Gatherer::push`].
    unsafe fn gather(&mut self, base: *const u8, count: usize, stride: usize) -> Result<()> {
        let (most, mut done) = (self.most, 0);
        while done < count {
            let gathered = self.gatherer()?;
            let rows = match count - done {
                1 => 1,
                // Many rows at once, but not many more than fit.
                more => {
                    let each = gathered.bytes().checked_div(gathered.rows()).unwrap_or(0).max(1);
                    let room = most.saturating_sub(gathered.bytes()) / each;
                    room.clamp(1, FIRST_ROWS.max(gathered.rows())).min(more)
                }
            };
            // SAFETY: the caller's promise; these entries are among them.
            let pushed = unsafe { gathered.push(base.wrapping_add(done * stride), rows, stride) };
            // A part of an entry may be there.
            pushed.inspect_err(|e| self.context.give_up_because(e))?;
            done += rows;
            if self.gatherer()?.bytes() >= most {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    /// Puts what was gathered into the context. May wait for memory.
    fn hand_over(&mut self) -> Result<()> {
        if let Some((batch, from)) = self.waiting.take() {
            let rest = batch.slice(from, batch.num_rows() - from);
            self.context.fill(&rest)?;
        }
        match self.gathered.as_mut().filter(|gathered| gathered.rows() > 0) {
            Some(gathered) => self.context.fill(&gathered.take()?),
            None => Ok(()),
        }
    }

    /// The same without waiting, where there is much of it or `all` is to go. Returns whether the context can take more.
    fn try_hand_over(&mut self, all: bool) -> Result<bool> {
        let most = self.most;
        if self.waiting.is_none()
            && let Some(gathered) = self.gathered.as_mut()
            && (gathered.bytes() >= most || all && gathered.rows() > 0)
        {
            self.waiting = Some((gathered.take()?, 0));
        }
        let Some((batch, from)) = self.waiting.take() else { return Ok(true) };
        let done = self.context.try_fill(&batch, from)?;
        let is_done = done >= batch.num_rows();
        if !is_done {
            self.waiting = Some((batch, done));
        }
        Ok(is_done)
    }

    fn fitting(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        if self.table.as_tree { self.flat(batch) } else { Ok(batch.clone()) }
    }

    /// The batch, whose records are columns where the table has no such record.
    fn flat(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let whole: HashSet<&str> = self.context.fields().map(|field| field.name().as_str()).collect();
        flat_records(batch, &whole)
    }
}

#[cold]
fn finished() -> Failure {
    Failure::request("the fill context is finished")
}

impl Context {
    fn begin(writer: &Writer, table: i64, task: Option<u64>) -> Result<Self> {
        let open = writer.open()?;
        let table = open.table(table)?;
        let filling = open.with(|writer| {
            let context = match task {
                Some(_) if open.order == Order::Arrival => {
                    return Err(Failure::request("tasks have numbers with order=tasks only"));
                }
                Some(task) => writer.fill_task(table.id, task)?,
                None => writer.fill_context(table.id)?,
            };
            // No columns are added meanwhile: the writer is locked.
            Ok(Filling::new(context, table, open.memory))
        })?;
        Ok(Self(Owned::new(Mutex::new(Some(filling)))))
    }

    fn lock(&self) -> Result<MutexGuard<'_, Option<Filling>>> {
        let way_out = "fill contexts are used by the threads of one process";
        let filling = self.0.get().ok_or_else(|| match self.0.owner().check("the fill context", way_out) {
            Err(error) => error,
            Ok(()) => finished(),
        })?;
        match filling.try_lock() {
            Ok(filling) => Ok(filling),
            Err(TryLockError::Poisoned(filling)) => Ok(filling.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Failure::request("the fill context is in use by another thread")),
        }
    }

    /// Works on the context. It is dropped if the output was given up.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Filling) -> Result<T>) -> Result<T> {
        let mut place = self.lock()?;
        work(place.as_mut().ok_or_else(finished)?)
    }
}

/// Begins a fill context of a table. With `order=tasks` it is the next task. The caller frees it by ::basketry_context_free, at any time
/// after or before the writer.
///
/// @param writer  The writer; any thread may call.
/// @param table   The number of the table.
/// @param error   See ::basketry_error.
/// @return The context, or null after an error.
///
/// Allocates buffers as the context is filled, within the memory of the pool.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_new(
    writer: Option<&Writer>,
    table: i64,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<Context>> {
    handle(error, || Context::begin(foreign::handle(writer, "the writer")?, table, None))
}

/// Begins the fill context of a task of a writer with `order=tasks`. Its number, from 0, decides where its entries are in the file, so that
/// the bytes do not depend on threads. No two tasks have the same number. Begin them about in this order: clusters of later tasks wait in
/// memory for those of earlier ones, and when the memory is used up, in a temporary file.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_task(
    writer: Option<&Writer>,
    table: i64,
    task: u64,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<Context>> {
    handle(error, || Context::begin(foreign::handle(writer, "the writer")?, table, Some(task)))
}

/// Adds the rows of a batch of Arrow's as entries. May wait for memory of the pool.
///
/// Columns are found by their names, and brought to their types without loss. A batch that does not fit the table is refused as a whole, and
/// the context goes on. Any other error gives the output up.
///
/// @param context  The context.
/// @param array    A struct array. The library takes it, also after an error: its `release` is null then.
/// @param schema   Its schema, which stays the caller's.
/// @return 0, or -1 after an error.
///
/// Numbers are not copied before they are encoded. It encodes and compresses on this thread, and on those of the pool.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_fill_arrow(
    context: Option<&Context>,
    array: *mut ArrowArray,
    schema: *const ArrowSchema,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        // SAFETY: the interface asks for structures of Arrow's interface that their producer has filled.
        let batch = unsafe { arrow::batch(array, schema) };
        foreign::handle(context, "the fill context")?.with(|filling| filling.fill(&batch?))
    })
}

/// Adds all rows of a stream of Arrow's as entries: see ::basketry_context_fill_arrow. The library takes the stream.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_fill_stream(
    context: Option<&Context>,
    stream: *mut ArrowArrayStream,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        // SAFETY: the interface asks for a structure of Arrow's interface that its producer has filled.
        let reader = unsafe { arrow::reader(stream) }?;
        foreign::handle(context, "the fill context")?.with(|filling| {
            for batch in reader {
                filling.fill(&batch.map_err(arrow::refused)?)?;
            }
            Ok(())
        })
    })
}

/// The same as ::basketry_context_fill_arrow for rows from `*row` on, but never waits for memory that others hold, so that no thread of a
/// scheduler is blocked. Writes the row behind the last one that was added to `*row`.
///
/// @return 0 when all rows are added; ::BASKETRY_WOULD_WAIT when not: go on with other work, and call again with this `*row` and the same
///         array, which the caller keeps; -1 after an error.
///
/// Contexts that only hand back to each other are a cyclic wait. It ends: when no memory is released for a tenth of a second and no other
/// call fills, clusters that wait go to a temporary file, or a cluster begins with less memory.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_try_fill_arrow(
    context: Option<&Context>,
    array: *const ArrowArray,
    schema: *const ArrowSchema,
    row: Option<&mut usize>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    let done = answer(error, || {
        let row = row.ok_or_else(|| Failure::request("the row is a null pointer"))?;
        // SAFETY: the interface asks for structures of Arrow's interface that their producer has filled, and which the caller keeps.
        let batch = unsafe { arrow::lent_batch(array, schema) }?;
        *row = foreign::handle(context, "the fill context")?.with(|filling| filling.try_fill(&batch, *row))?;
        Ok(*row >= batch.num_rows())
    });
    would_wait(done)
}

/// 0 for what is done, or that the call would have to wait.
fn would_wait(done: Option<bool>) -> i32 {
    match done {
        Some(true) => BASKETRY_OK,
        Some(false) => BASKETRY_WOULD_WAIT,
        None => BASKETRY_FAILED,
    }
}

/// Sets where a column of a table of C++ types is in each entry that this context fills, until it is set again.
///
/// @param column   The number of the column: its place among those of the table, the late ones behind the others. The first call for a
///                 late column makes all that were added so far part of this context: from the next entry on they have values, which are
///                 zeroes until each is bound.
/// @param address  The value's address; null: it is at its offset from the address of the entry.
/// @return 0, or -1 after an error.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_bind(
    context: Option<&Context>,
    column: usize,
    address: *const c_void,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || foreign::handle(context, "the fill context")?.with(|filling| filling.bind(column, address.cast())))
}

/// Adds an entry of the values at the columns' addresses. May wait for memory of the pool.
///
/// @param entry  The address of the entry, from which the columns' offsets count; null where each column is bound.
/// @return 0, or -1 after an error.
///
/// The values are copied: they may change when the call returns. Entries are encoded some hundred at a time.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_fill(
    context: Option<&Context>,
    entry: *const c_void,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        foreign::handle(context, "the fill context")?.with(|filling| {
            // SAFETY: the interface asks for values of the columns' types at their addresses.
            unsafe { filling.gather(entry.cast(), 1, 0) }
        })
    })
}

/// Adds `count` entries that lie `stride` bytes apart: an array of structures. Faster than as many calls of ::basketry_context_fill.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_fill_rows(
    context: Option<&Context>,
    entries: *const c_void,
    count: usize,
    stride: usize,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        foreign::handle(context, "the fill context")?.with(|filling| {
            // SAFETY: the interface asks for values of the columns' types at their addresses, in each of the entries.
            unsafe { filling.gather(entries.cast(), count, stride) }
        })
    })
}

/// The same as ::basketry_context_fill, but never waits for memory that others hold: see ::basketry_context_try_fill_arrow.
///
/// @return 0 when the entry is added; ::BASKETRY_WOULD_WAIT when it is not; -1 after an error.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_try_fill(
    context: Option<&Context>,
    entry: *const c_void,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    let done = answer(error, || {
        foreign::handle(context, "the fill context")?.with(|filling| {
            if !filling.try_hand_over(false)? {
                return Ok(false);
            }
            let most = std::mem::replace(&mut filling.most, usize::MAX);
            // SAFETY: the interface asks for values of the columns' types at their addresses.
            let gathered = unsafe { filling.gather(entry.cast(), 1, 0) };
            filling.most = most;
            gathered.map(|()| true)
        })
    });
    would_wait(done)
}

/// Ends the cluster of a context here: it goes to the file. The context goes on with another one.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_flush(
    context: Option<&Context>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        foreign::handle(context, "the fill context")?.with(|filling| {
            filling.hand_over()?;
            filling.context.flush()
        })
    })
}

/// Ends a context: its last cluster goes to the file. After it, and after an error, the context can only be freed.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_finish(
    context: Option<&Context>,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let filling = foreign::handle(context, "the fill context")?.lock()?.take();
        let mut filling = filling.ok_or_else(finished)?;
        filling.hand_over()?;
        filling.context.finish()
    })
}

/// Frees a context. One that is not finished gives the output up. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_context_free(context: Option<Box<Context>>) {
    quietly(|| {
        let Some(context) = context else { return };
        if let Some(filling) = context.0.get().and_then(|filling| lock(filling).take()) {
            filling.context.abandon("a fill context was freed before it was finished");
        }
    });
}
