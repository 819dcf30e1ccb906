//! An event loop: entry after entry of a data set, with the values at the caller's addresses.

use std::any::Any;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;
use rootfile::{Error as Failure, Owned, Result};

use crate::answer::{answer, handle, quietly, status};
use crate::data_set::{Dataset, Reading, ScanOptions};
use crate::error::Error;
use crate::foreign::{self, Text};
use crate::options::versioned;
use crate::shape::{Known, Number, Shape};
use crate::version::{BASKETRY_END, BASKETRY_FAILED, BASKETRY_OK};

/// Items that lie one behind the other: what is written to the address of a column of lists. They are the loop's, and stay until the next
/// call of ::basketry_events_next. The items of lists of lists are such structures, those of lists of texts as well.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Items {
    /// The first one.
    pub first: *const c_void,
    /// Their number.
    pub count: usize,
}

/// A loop over the entries of a data set. One thread at a time may use it; threads that read at once have a loop each.
pub struct Events(Owned<Mutex<Loop>>);

struct Loop {
    reading: Reading,
    bound: Vec<Bound>,
    batch: Option<Decoded>,
    /// The next row of the batch.
    row: usize,
    /// How many entries were read so far.
    read: u64,
}

/// A column with the address where its values go.
struct Bound {
    column: usize,
    address: *mut u8,
}

/// A batch whose bound columns can be written to addresses.
struct Decoded {
    rows: usize,
    columns: Vec<Values>,
}

/// The values of a column, as they are written to an address.
enum Values {
    /// Numbers of so many bytes, or arrays of these.
    Numbers {
        array: ArrayRef,
        width: usize,
    },
    Bools(ArrayRef),
    /// Structures, one for each row, which point into the array.
    Items {
        items: Vec<Items>,
        _below: Below,
    },
}

/// What structures point to, as long as they are used.
type Below = Vec<Box<dyn Any>>;

// SAFETY: the pointers are into arrays that are kept beside them, or to addresses that the caller has bound, and are used by one thread at a
// time: a lock is around the loop.
unsafe impl Send for Loop {}

#[cold]
fn unsupported(of: &DataType) -> Failure {
    Failure::unsupported(format!("values of {of} are not written to addresses; read them by basketry_dataset_scan"))
}

/// The bytes of a number in Arrow.
fn width(of: &DataType) -> Result<usize> {
    of.primitive_width().filter(|width| *width <= 8).ok_or_else(|| unsupported(of))
}

/// The first byte of an array of numbers.
fn first(array: &ArrayRef) -> *const u8 {
    let data = array.to_data();
    let width = data.data_type().primitive_width().unwrap_or(1);
    data.buffers().first().map_or(std::ptr::null(), |buffer| buffer.as_ptr().wrapping_add(data.offset() * width))
}

/// Structures for the lists or texts of an array, and what they point to.
fn items(array: &ArrayRef) -> Result<(Vec<Items>, Below)> {
    let ranges = |offsets: &[i64], base: *const u8, width: usize| -> Vec<Items> {
        let each = |pair: &[i64]| {
            let (from, to) = (usize::try_from(pair[0]).unwrap_or(0), usize::try_from(pair[1]).unwrap_or(0));
            Items { first: base.wrapping_add(from * width).cast(), count: to.saturating_sub(from) }
        };
        offsets.windows(2).map(each).collect()
    };
    match array.data_type() {
        DataType::LargeUtf8 => {
            let text = array.as_string::<i64>();
            Ok((ranges(text.value_offsets(), text.values().as_ptr(), 1), vec![Box::new(Arc::clone(array))]))
        }
        DataType::LargeBinary => {
            let bytes = array.as_binary::<i64>();
            Ok((ranges(bytes.value_offsets(), bytes.values().as_ptr(), 1), vec![Box::new(Arc::clone(array))]))
        }
        DataType::LargeList(item) => {
            let list = array.as_list::<i64>();
            if matches!(item.data_type(), DataType::LargeList(_) | DataType::LargeUtf8 | DataType::LargeBinary) {
                let (below, mut kept) = items(list.values())?;
                let made = ranges(list.value_offsets(), below.as_ptr().cast(), size_of::<Items>());
                kept.push(Box::new(below));
                return Ok((made, kept));
            }
            // Bits are bytes for C.
            let values = match item.data_type() {
                DataType::Boolean => bytes_of(list.values()),
                _ => Arc::clone(list.values()),
            };
            let (numbers, each) = numbers(&values)?;
            Ok((ranges(list.value_offsets(), first(&numbers), each), vec![Box::new(numbers)]))
        }
        other => Err(unsupported(other)),
    }
}

fn bytes_of(array: &ArrayRef) -> ArrayRef {
    Arc::new(arrow_array::UInt8Array::from_iter_values(array.as_boolean().values().iter().map(u8::from)))
}

/// The numbers of an array of numbers or of arrays of fixed size, and the bytes of each of its values.
fn numbers(array: &ArrayRef) -> Result<(ArrayRef, usize)> {
    match array.data_type() {
        DataType::FixedSizeList(_, count) => {
            let list = array.as_fixed_size_list();
            let (numbers, each) = numbers(list.values())?;
            Ok((numbers, each * usize::try_from(*count).unwrap_or(0)))
        }
        DataType::Boolean => Ok((bytes_of(array), 1)),
        other => Ok((Arc::clone(array), width(other)?)),
    }
}

impl Values {
    fn of(array: &ArrayRef) -> Result<Self> {
        if array.null_count() > 0 {
            return Err(Failure::unsupported("has missing values; read it by basketry_dataset_scan"));
        }
        Ok(match array.data_type() {
            DataType::Boolean => Self::Bools(Arc::clone(array)),
            DataType::LargeUtf8 | DataType::LargeBinary | DataType::LargeList(_) => {
                let (items, below) = items(array)?;
                Self::Items { items, _below: below }
            }
            _ => {
                let (array, width) = numbers(array)?;
                Self::Numbers { array, width }
            }
        })
    }

    /// Writes the value of a row.
    ///
    /// # Safety
    ///
    /// A value of the column's type can be written there.
    unsafe fn write(&self, row: usize, address: *mut u8) {
        match self {
            Self::Numbers { array, width } => {
                let from = first(array).wrapping_add(row * width);
                // SAFETY: the row is in the array; the caller's promise.
                unsafe { std::ptr::copy_nonoverlapping(from, address, *width) };
            }
            // SAFETY: the caller's promise.
            Self::Bools(array) => unsafe { address.write(u8::from(array.as_boolean().value(row))) },
            Self::Items { items, .. } => {
                if let Some(one) = items.get(row) {
                    // SAFETY: the caller's promise.
                    unsafe { address.cast::<Items>().write_unaligned(*one) };
                }
            }
        }
    }
}

impl Loop {
    fn begin(dataset: &Dataset, options: &ScanOptions) -> Result<Self> {
        let table = dataset.table()?;
        let reading = Reading::begin(table, options)?;
        Ok(Self { reading, bound: Vec::new(), batch: None, row: 0, read: 0 })
    }

    /// Binds a column to an address.
    fn bind(&mut self, name: &str, cpp: Option<&str>, address: *mut u8) -> Result<()> {
        let place = self.reading.schema.index_of(name);
        let column = place.map_err(|_| Failure::request("is not among the columns that are read"))?;
        let of = self.reading.schema.field(column).data_type();
        if let Some(cpp) = cpp {
            let shape = Shape::of(cpp, &Known::default())?.ok_or_else(|| unsupported(of))?;
            if !is_written_as(of, &shape) {
                return Err(Failure::request(format!("holds {of}, and is to be read as {cpp}")));
            }
        }
        if address.is_null() {
            return Err(Failure::request("has no address"));
        }
        self.bound.retain(|bound| bound.column != column);
        self.bound.push(Bound { column, address });
        // What is decoded lacks the column.
        match &self.batch {
            Some(_) => Err(Failure::request("columns are bound before the first entry is read")),
            None => Ok(()),
        }
    }

    /// Reads the next entry. Returns whether there is one.
    fn next(&mut self) -> Result<bool> {
        while self.batch.as_ref().is_none_or(|batch| self.row >= batch.rows) {
            let Some(batch) = self.reading.next() else { return Ok(false) };
            self.batch = Some(self.decoded(&batch?)?);
            self.row = 0;
        }
        if let Some(batch) = &self.batch {
            for (bound, values) in self.bound.iter().zip(&batch.columns) {
                // SAFETY: the caller has bound an address of the column's type.
                unsafe { values.write(self.row, bound.address) };
            }
        }
        self.row += 1;
        self.read += 1;
        Ok(true)
    }

    /// The number of the entry that was read last.
    fn entry(&self) -> u64 {
        self.reading.entry(self.read.saturating_sub(1))
    }

    fn decoded(&self, batch: &RecordBatch) -> Result<Decoded> {
        let values = |bound: &Bound| {
            let named = |e: Failure| e.object(format!("column {}", batch.schema_ref().field(bound.column).name()));
            Values::of(batch.column(bound.column)).map_err(named)
        };
        Ok(Decoded { rows: batch.num_rows(), columns: self.bound.iter().map(values).collect::<Result<_>>()? })
    }
}

/// Whether values of Arrow's type are written as a C++ type: the same numbers.
fn is_written_as(of: &DataType, shape: &Shape) -> bool {
    match (of, shape) {
        (DataType::LargeList(of), Shape::List(item)) => is_written_as(of.data_type(), item),
        (DataType::FixedSizeList(of, count), Shape::Fixed(size, item)) => {
            usize::try_from(*count).is_ok_and(|count| count == *size) && is_written_as(of.data_type(), item)
        }
        (DataType::LargeUtf8 | DataType::LargeBinary, Shape::Text(_)) => true,
        (of, Shape::Number(number)) => {
            *of == number.data_type() || matches!((of, number), (DataType::Int8, Number::Unsigned(1)))
        }
        _ => false,
    }
}

/// Begins a loop over entries of a data set. The caller frees it by ::basketry_events_free.
///
/// @param options  The columns that are read, the entries, memory and threads. May be null.
/// @return The loop, or null after an error.
///
/// A thread of the loop's reads one batch ahead. The loop holds the data set as long as it needs it.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_events_new(
    dataset: Option<&Dataset>,
    options: *const ScanOptions,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> Option<Box<Events>> {
    handle(error, || {
        // SAFETY: the interface asks for null or options of the size that they say.
        let options = unsafe { versioned(options) }?;
        let made = Loop::begin(foreign::handle(dataset, "the data set")?, &options)?;
        Ok(Events(Owned::new(Mutex::new(made))))
    })
}

/// Sets where the values of a column go, before the first entry is read.
///
/// @param column   Its name.
/// @param type     The C++ type that the caller takes it for; another one than the file's is an error. Null: it is not checked.
/// @param address  A variable of the type for a number, and an array for an array; ::basketry_items for a list and for a text.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_events_bind(
    events: Option<&Events>,
    column: Text,
    r#type: Text,
    address: *mut c_void,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> i32 {
    status(error, || {
        let (name, cpp) = (column.text("the column")?, r#type.given("the type")?);
        let bound = foreign::handle(events, "the loop")?.with(|events| events.bind(name, cpp, address.cast()));
        bound.map_err(|e| e.object(format!("column {name}")))
    })
}

/// Reads the next entry: writes its values to the addresses.
///
/// @return 0; ::BASKETRY_END after the last entry; -1 after an error.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_events_next(events: Option<&Events>, error: Option<&mut MaybeUninit<*mut Error>>) -> i32 {
    match answer(error, || foreign::handle(events, "the loop")?.with(Loop::next)) {
        Some(true) => BASKETRY_OK,
        Some(false) => BASKETRY_END,
        None => BASKETRY_FAILED,
    }
}

/// The number of the entry that was read last, counted over all files.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_events_entry(events: Option<&Events>) -> u64 {
    events.and_then(|events| events.with(|events| Ok(events.entry())).ok()).unwrap_or(0)
}

/// Frees a loop. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_events_free(events: Option<Box<Events>>) {
    quietly(|| drop(events));
}

impl Events {
    fn with<T>(&self, work: impl FnOnce(&mut Loop) -> Result<T>) -> Result<T> {
        let held = self.0.get().ok_or_else(|| Failure::request("the loop belongs to another process"))?;
        work(&mut crate::lock::lock(held))
    }
}
