//! Gathers values from addresses into arrays: entries of a program's own variables and structures, row by row or many rows at once.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, LargeListArray, LargeStringArray, RecordBatch, RecordBatchOptions,
    StructArray, make_array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, MutableBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use rootfile::{Error, Result};

use crate::shape::{Number, Shape};
use crate::table::Asked;

/// Values of a column that wait to be written.
#[derive(Debug)]
enum Values {
    Number { width: usize, data: MutableBuffer },
    Bool(BooleanBufferBuilder),
    Text { offsets: Vec<i64>, data: Vec<u8> },
    Fixed { count: usize, item: Box<Column> },
    List { offsets: Vec<i64>, item: Box<Column> },
    Record { members: Vec<(usize, Column)>, rows: usize },
}

/// A column, or the items or a part of one.
#[derive(Debug)]
struct Column {
    /// Bytes from one value to the next in an array.
    size: usize,
    data_type: DataType,
    values: Values,
}

/// The pointer to the first byte or item, and the one behind the last: what vectors begin with.
type Ends = [*const u8; 2];

impl Column {
    fn new(shape: &Shape) -> Self {
        let values = match shape {
            Shape::Number(Number::Bool) => Values::Bool(BooleanBufferBuilder::new(0)),
            Shape::Number(number) => Values::Number { width: number.size(), data: MutableBuffer::new(0) },
            Shape::Text(_) => Values::Text { offsets: vec![0], data: Vec::new() },
            Shape::Fixed(count, item) => Values::Fixed { count: *count, item: Box::new(Self::new(item)) },
            Shape::List(item) | Shape::Counted(_, item) => {
                Values::List { offsets: vec![0], item: Box::new(Self::new(item)) }
            }
            Shape::Record(record) => {
                let member = |member: &crate::shape::Member| (member.offset, Self::new(&member.shape));
                Values::Record { members: record.members.iter().map(member).collect(), rows: 0 }
            }
        };
        Self { size: shape.size(), data_type: shape.data_type(), values }
    }

    /// Adds `count` values that lie `stride` bytes apart. Returns their bytes.
    ///
    /// # Safety
    ///
    /// Values of the column's shape lie there, and what they point to.
    unsafe fn push(&mut self, at: *const u8, count: usize, stride: usize) -> Result<usize> {
        // SAFETY: `number` is below `count`, so that a value is there.
        let value = |number: usize| unsafe { at.add(number * stride) };
        match &mut self.values {
            Values::Number { width, data } => {
                let width = *width;
                if stride == width {
                    // SAFETY: `count` numbers lie one behind the other.
                    data.extend_from_slice(unsafe { std::slice::from_raw_parts(at, count * width) });
                } else {
                    data.reserve(count * width);
                    for number in 0..count {
                        // SAFETY: a number is there.
                        data.extend_from_slice(unsafe { std::slice::from_raw_parts(value(number), width) });
                    }
                }
                Ok(count * width)
            }
            Values::Bool(bits) => {
                for number in 0..count {
                    // SAFETY: a byte is there; any byte is a `u8`.
                    bits.append(unsafe { value(number).read() } != 0);
                }
                Ok(count.div_ceil(8))
            }
            Values::Text { offsets, data } => {
                let before = data.len();
                for number in 0..count {
                    // SAFETY: a text begins with a pointer and a length.
                    let (first, length) = unsafe {
                        (
                            value(number).cast::<*const u8>().read_unaligned(),
                            value(number).cast::<usize>().add(1).read_unaligned(),
                        )
                    };
                    // SAFETY: the pointer is to so many bytes.
                    data.extend_from_slice(unsafe { bytes(first, length) }?);
                    offsets.push(data.len() as i64);
                }
                Ok(data.len() - before + 8 * count)
            }
            Values::Fixed { count: each, item } => {
                let (each, size) = (*each, item.size);
                if stride == each * size {
                    // SAFETY: arrays without gaps are an array.
                    return unsafe { item.push(at, count * each, size) };
                }
                // SAFETY: an array is there.
                (0..count).map(|number| unsafe { item.push(value(number), each, size) }).sum()
            }
            Values::List { offsets, item } => {
                let mut taken = 8 * count;
                for number in 0..count {
                    // SAFETY: a vector begins with these pointers.
                    let [first, end] = unsafe { value(number).cast::<Ends>().read_unaligned() };
                    let length = items(first, end, item.size)?;
                    // SAFETY: so many items lie from `first` on.
                    taken += unsafe { add_list(offsets, item, first, length) }?;
                }
                Ok(taken)
            }
            Values::Record { members, rows } => {
                let mut taken = 0;
                for (offset, member) in members {
                    // SAFETY: the member is inside of the structure, which is there.
                    taken += unsafe { member.push(at.add(*offset), count, stride) }?;
                }
                *rows += count;
                Ok(taken)
            }
        }
    }

    /// Adds a list of `length` items of an array.
    ///
    /// # Safety
    ///
    /// So many items lie at the address.
    unsafe fn push_list(&mut self, at: *const u8, length: usize) -> Result<usize> {
        match &mut self.values {
            // SAFETY: the caller's promise.
            Values::List { offsets, item } => unsafe { add_list(offsets, item, at, length) },
            _ => Err(Error::request("is no list")),
        }
    }

    /// Adds values that are zero or empty. Returns their bytes.
    fn push_zeros(&mut self, count: usize) -> usize {
        match &mut self.values {
            Values::Number { width, data } => {
                data.extend_zeros(count * *width);
                count * *width
            }
            Values::Bool(bits) => {
                bits.append_n(count, false);
                count.div_ceil(8)
            }
            Values::Text { offsets, .. } | Values::List { offsets, .. } => {
                let end = offsets.last().copied().unwrap_or(0);
                offsets.extend(std::iter::repeat_n(end, count));
                8 * count
            }
            Values::Fixed { count: each, item } => item.push_zeros(count * *each),
            Values::Record { members, rows } => {
                *rows += count;
                members.iter_mut().map(|(_, member)| member.push_zeros(count)).sum()
            }
        }
    }

    /// The values as an array. The column is empty then.
    fn take(&mut self) -> Result<ArrayRef> {
        Ok(match &mut self.values {
            Values::Number { width, data } => {
                let room = data.len();
                let data = std::mem::replace(data, MutableBuffer::with_capacity(room));
                let length = data.len() / *width;
                let made = ArrayData::builder(self.data_type.clone()).len(length).add_buffer(data.into());
                make_array(made.build().map_err(refused)?)
            }
            Values::Bool(bits) => Arc::new(BooleanArray::new(bits.finish(), None)),
            Values::Text { offsets, data } => {
                let values = Buffer::from_vec(std::mem::take(data));
                let made = LargeStringArray::try_new(taken(offsets), values, None);
                let advice = "texts are UTF-8; write bytes as a std::vector<unsigned char>";
                Arc::new(made.map_err(|e| Error::request(format!("{e}; {advice}")))?)
            }
            Values::Fixed { count, item } => {
                let items = item.take()?;
                let field = Arc::new(Field::new("item", item.data_type.clone(), false));
                let count = i32::try_from(*count).unwrap_or(i32::MAX);
                Arc::new(FixedSizeListArray::try_new(field, count, items, None).map_err(refused)?)
            }
            Values::List { offsets, item } => {
                let items = item.take()?;
                let field = Arc::new(Field::new("item", item.data_type.clone(), false));
                Arc::new(LargeListArray::try_new(field, taken(offsets), items, None).map_err(refused)?)
            }
            Values::Record { members, rows } => {
                let DataType::Struct(fields) = &self.data_type else {
                    return Err(Error::request("a structure without fields"));
                };
                let columns = members.iter_mut().map(|(_, member)| member.take()).collect::<Result<Vec<_>>>()?;
                let rows = std::mem::take(rows);
                let made = StructArray::try_new_with_length(fields.clone(), columns, None, rows);
                Arc::new(made.map_err(refused)?)
            }
        })
    }
}

/// The number of items between two pointers.
fn items(first: *const u8, end: *const u8, size: usize) -> Result<usize> {
    let bytes = (end as usize).checked_sub(first as usize);
    let fits = bytes.filter(|bytes| size > 0 && bytes % size == 0 && (*bytes == 0 || !first.is_null()));
    let wrong = || Error::request(format!("is no vector of items of {size} bytes: its pointers are not of one array"));
    fits.map(|bytes| bytes / size).ok_or_else(wrong)
}

/// Adds a list.
///
/// # Safety
///
/// As [`Column::push_list`].
unsafe fn add_list(offsets: &mut Vec<i64>, item: &mut Column, at: *const u8, length: usize) -> Result<usize> {
    let before = offsets.last().copied().unwrap_or(0);
    // SAFETY: the caller's promise. Of no items no address is looked at.
    let taken = if length == 0 { 0 } else { unsafe { item.push(at, length, item.size) }? };
    offsets.push(before + i64::try_from(length).unwrap_or(0));
    Ok(taken)
}

/// Bytes at an address.
///
/// # Safety
///
/// There are so many.
unsafe fn bytes<'a>(first: *const u8, length: usize) -> Result<&'a [u8]> {
    match (first.is_null(), length) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Error::request("is a text at a null pointer")),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, length) }),
    }
}

/// Takes offsets, and begins new ones.
fn taken(offsets: &mut Vec<i64>) -> OffsetBuffer<i64> {
    let mut next = Vec::with_capacity(offsets.len());
    next.push(0);
    OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, next)))
}

/// Where the values of a column are.
#[derive(Clone, Copy)]
enum Place {
    /// At the column's offset from the address of each entry.
    ByOffset,
    /// At this address.
    Bound(*const u8),
    /// Nowhere yet: they are zero.
    Nowhere,
}

/// A column, and where its values are.
struct Source {
    name: String,
    /// Bytes from the address of an entry.
    offset: usize,
    place: Place,
    /// The column that counts its items, by number.
    counter: Option<usize>,
    /// How an integer lies here, if it is one.
    number: Option<Number>,
    column: Column,
}

/// Gathers entries, until they are taken as a batch.
pub(crate) struct Gatherer {
    sources: Vec<Source>,
    schema: SchemaRef,
    rows: usize,
    bytes: usize,
}

impl Gatherer {
    /// For columns by C++ type, of which those from `late` on have no place until they are bound.
    pub fn new(columns: &[Asked], late: usize) -> Result<Self> {
        let mut all = Self { sources: Vec::new(), schema: SchemaRef::new(Schema::empty()), rows: 0, bytes: 0 };
        let (early, more) = columns.split_at(late.min(columns.len()));
        all.add(early, Place::ByOffset)?;
        all.add(more, Place::Nowhere)?;
        Ok(all)
    }

    /// Adds columns that have no place until they are bound. There must be no entries.
    pub fn add_late(&mut self, columns: &[Asked]) -> Result<()> {
        self.add(columns, Place::Nowhere)
    }

    fn add(&mut self, columns: &[Asked], place: Place) -> Result<()> {
        for asked in columns {
            let named = |e: Error| e.object(format!("column {}", asked.name));
            let none = || Error::unsupported(format!("a {} is not gathered from memory; use Arrow", asked.cpp));
            let shape = asked.shape.as_ref().ok_or_else(none).map_err(named)?;
            let before = |counter: &str| {
                let found = self.sources.iter().position(|one| one.name == counter && one.number.is_some());
                found.ok_or_else(|| named(Error::request(format!("no integer {counter} is before it"))))
            };
            let counter = shape.counter().map(before).transpose()?;
            let number = match shape {
                Shape::Number(number @ (Number::Int(_) | Number::Unsigned(_))) => Some(*number),
                _ => None,
            };
            let (name, offset, column) = (asked.name.clone(), asked.offset, Column::new(shape));
            self.sources.push(Source { name, offset, place, counter, number, column });
        }
        let field = |source: &Source| Arc::new(Field::new(&source.name, source.column.data_type.clone(), false));
        self.schema = Arc::new(Schema::new(self.sources.iter().map(field).collect::<Fields>()));
        Ok(())
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.sources.len()
    }

    /// Sets where a column is in each entry; null: by its offset.
    pub fn bind(&mut self, column: usize, address: *const u8) -> Result<()> {
        let none = || Error::request(format!("there is no column {column}"));
        let place = if address.is_null() { Place::ByOffset } else { Place::Bound(address) };
        self.sources.get_mut(column).ok_or_else(none)?.place = place;
        Ok(())
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Bytes of the entries that wait.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds `count` entries. The first one is at `base`, the next ones `stride` bytes behind each other.
    ///
    /// # Safety
    ///
    /// Values of the columns' types are at the bound addresses and, of the others, at their offsets in each entry.
    pub unsafe fn push(&mut self, base: *const u8, count: usize, stride: usize) -> Result<()> {
        for number in 0..self.sources.len() {
            let (before, rest) = self.sources.split_at_mut(number);
            let Some(source) = rest.first_mut() else { continue };
            // SAFETY: the caller's promise.
            let pushed = unsafe { source.push(before, (base, count, stride)) };
            self.bytes += pushed.map_err(|e| e.object(format!("column {}", source.name)))?;
        }
        self.rows += count;
        Ok(())
    }

    /// The entries as a batch. None are left.
    pub fn take(&mut self) -> Result<RecordBatch> {
        let named = |source: &mut Source| source.column.take().map_err(|e| e.object(format!("column {}", source.name)));
        let columns = self.sources.iter_mut().map(named).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.bytes) = (0, 0);
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options).map_err(refused)
    }
}

impl Source {
    /// Where the column is in the entry at an address, and how far that in the next one is; none where it is nowhere.
    fn at(&self, base: *const u8, stride: usize) -> Result<Option<(*const u8, usize)>> {
        match (self.place, base.is_null()) {
            (Place::Bound(address), _) => Ok(Some((address, 0))),
            (Place::ByOffset, true) => Err(Error::request("has no address: bind it, or give that of the entry")),
            // The caller has said that the value is there.
            (Place::ByOffset, false) => Ok(Some((base.wrapping_add(self.offset), stride))),
            (Place::Nowhere, _) => Ok(None),
        }
    }

    /// Adds the values of entries.
    ///
    /// # Safety
    ///
    /// As [`Gatherer::push`].
    unsafe fn push(&mut self, before: &[Self], (base, count, stride): (*const u8, usize, usize)) -> Result<usize> {
        let Some((at, step)) = self.at(base, stride)? else { return Ok(self.column.push_zeros(count)) };
        let Some(counter) = self.counter.and_then(|number| before.get(number)) else {
            // SAFETY: the caller's promise.
            return unsafe { self.column.push(at, count, step) };
        };
        let Some((counts, counts_step)) = counter.at(base, stride)? else { return Ok(self.column.push_zeros(count)) };
        let mut taken = 0;
        for row in 0..count {
            // SAFETY: an integer of the counter's type is there.
            let length = unsafe { counter.integer(counts.wrapping_add(row * counts_step)) }?;
            // SAFETY: the array has as many items as its counter says.
            taken += unsafe { self.column.push_list(at.wrapping_add(row * step), length) }?;
        }
        Ok(taken)
    }

    /// The integer at an address.
    ///
    /// # Safety
    ///
    /// One of the source's type is there.
    unsafe fn integer(&self, at: *const u8) -> Result<usize> {
        // SAFETY: the caller's promise; each is read as what it is.
        let value = unsafe {
            match self.number {
                Some(Number::Int(1)) => i128::from(at.cast::<i8>().read()),
                Some(Number::Int(2)) => i128::from(at.cast::<i16>().read_unaligned()),
                Some(Number::Int(4)) => i128::from(at.cast::<i32>().read_unaligned()),
                Some(Number::Int(_)) => i128::from(at.cast::<i64>().read_unaligned()),
                Some(Number::Unsigned(1)) => i128::from(at.read()),
                Some(Number::Unsigned(2)) => i128::from(at.cast::<u16>().read_unaligned()),
                Some(Number::Unsigned(4)) => i128::from(at.cast::<u32>().read_unaligned()),
                _ => i128::from(at.cast::<u64>().read_unaligned()),
            }
        };
        usize::try_from(value).map_err(|_| Error::request(format!("{} is {value}, and counts items", self.name)))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn refused(error: ArrowError) -> Error {
    Error::request(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Known;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float32Type, Int32Type};

    fn asked(name: &str, cpp: &str, offset: usize) -> Asked {
        Asked { name: name.to_owned(), cpp: cpp.to_owned(), offset, shape: Shape::of(cpp, &Known::default()).unwrap() }
    }

    #[repr(C)]
    struct Event {
        n: i32,
        pt: [f32; 4],
        hits: [*const f32; 3],
        text: (*const u8, usize),
    }

    #[test]
    fn entries_of_a_structure_become_a_batch() {
        let hits = [1.0f32, 2.0, 3.0];
        let range = hits.as_ptr_range();
        let event = |n| Event {
            n,
            pt: [0.5, 1.5, 2.5, 3.5],
            hits: [range.start, range.end, range.end],
            text: (b"ab".as_ptr(), 2),
        };
        let events = [event(1), event(3), event(0)];
        let offset = |of| of;
        let columns = [
            asked("n", "int", offset(std::mem::offset_of!(Event, n))),
            asked("pt", "float[n]", std::mem::offset_of!(Event, pt)),
            asked("all", "float[4]", std::mem::offset_of!(Event, pt)),
            asked("hits", "std::vector<float>", std::mem::offset_of!(Event, hits)),
        ];
        let mut rows = Gatherer::new(&columns, columns.len()).unwrap();
        let more = 7i32;
        rows.add_late(&[asked("more", "int", 0)]).unwrap();
        // SAFETY: the structures are there, with what they point to.
        unsafe {
            rows.push(events.as_ptr().cast(), 2, size_of::<Event>()).unwrap();
            rows.bind(4, (&raw const more).cast()).unwrap();
            rows.push((&raw const events[2]).cast(), 1, 0).unwrap();
        }
        let batch = rows.take().unwrap();
        assert_eq!(batch.column(0).as_primitive::<Int32Type>().values().as_ref(), [1, 3, 0]);
        assert_eq!(batch.column(1).as_list::<i64>().offsets().as_ref(), [0, 1, 4, 4]);
        assert_eq!(batch.column(3).as_list::<i64>().values().as_primitive::<Float32Type>().values().len(), 9);
        assert_eq!(batch.column(4).as_primitive::<Int32Type>().values().as_ref(), [0, 0, 7]);
        assert_eq!((rows.rows(), rows.bytes(), rows.take().unwrap().num_rows()), (0, 0, 0));
        assert_eq!(events[0].text.1, 2);
    }

    #[test]
    fn what_is_no_vector_is_refused() {
        let backwards: [usize; 3] = [16, 8, 8];
        let mut rows = Gatherer::new(&[asked("v", "std::vector<float>", 0)], 1).unwrap();
        // SAFETY: the pointers are not followed.
        let said = unsafe { rows.push(backwards.as_ptr().cast(), 1, 0) };
        assert!(said.is_err_and(|e| e.to_string().contains("column v")));
        assert!(Gatherer::new(&[asked("m", "std::map<int,int>", 0)], 1).is_err());
    }
}
