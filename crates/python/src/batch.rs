//! Arrays that were read: through Arrow's C interface, or as a tree of buffers.

use std::str::Split;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions, downcast_primitive_array};
use arrow_buffer::{BooleanBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit, UnionMode};
use flow::write::record_parts;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::types::{PyAny, PyCapsule};
use pyo3::{Bound, IntoPyObject, PyErr, PyResult, Python, pyclass, pymethods};

use rootfile::text::printable;

use crate::buffer::Memory;
use crate::errors::{arrow, exception};
use crate::input_arrays::InputArray;
use crate::records::of_columns;

/// Arrays of equal length.
#[pyclass(frozen, module = "basketry._core")]
pub struct Batch(pub RecordBatch);

/// An array: its kind ("bool", a number's "float32", "list", "fixed", "text", "bytes", "record", "union" or "optional"), behind it
/// and a space the class where there is one ("list std::set", "record TVector3"), length,
/// items of each for "fixed", buffers (data; offsets; offsets and data; bits of validity), and its parts by name.
#[derive(IntoPyObject)]
pub struct Node(String, usize, usize, Vec<Memory>, Vec<(String, Node)>);

/// Where a column comes from: a column, and which part of its records.
type Origin = (String, Option<String>);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// A batch of Python's columns: trees of buffers, or objects with Arrow's C interface.
    #[staticmethod]
    fn of(py: Python<'_>, columns: Vec<(String, InputArray<'_>)>) -> PyResult<Self> {
        let may_lack: Vec<bool> = columns.iter().map(|(_, given)| given.may_lack()).collect();
        let (names, given): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let named = |(given, name): (InputArray<'_>, &String)| {
            let in_column = |e: PyErr| PyValueError::new_err(format!("column {}: {}", printable(name), e.value(py)));
            given.array(py).map_err(in_column)
        };
        let arrays = given.into_iter().zip(&names).map(named).collect::<PyResult<Vec<_>>>()?;
        let rows = arrays.first().map_or(0, |array| array.len());
        let made = of_columns(names, arrays, rows)?;
        let described = made.schema_ref().fields().iter().zip(made.columns()).zip(may_lack);
        let fields = described
            .map(|((field, array), may_lack)| field.as_ref().clone().with_nullable(may_lack || array.null_count() > 0));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let made = RecordBatch::try_new_with_options(Arc::new(schema), made.columns().to_vec(), &options);
        made.map(Self).map_err(arrow)
    }

    /// The parts of records, and of lists of records, as columns of their own, but for the columns `whole`; and of each
    /// column the name it had, and the name of the part.
    fn flat(&self, whole: Vec<String>) -> PyResult<(Self, Vec<Origin>)> {
        let (mut names, mut arrays) = (Vec::new(), Vec::new());
        for (field, array) in self.0.schema_ref().fields().iter().zip(self.0.columns()) {
            let name = field.name();
            match if whole.contains(name) { None } else { record_parts(array).map_err(exception)? } {
                None => {
                    names.push((name.clone(), None));
                    arrays.push(Arc::clone(array));
                }
                Some(parts) => {
                    for (part, array) in parts {
                        names.push((name.clone(), Some(part)));
                        arrays.push(array);
                    }
                }
            }
        }
        let flat = of_columns(names.iter().map(|(name, _)| name.clone()).collect(), arrays, self.0.num_rows())?;
        Ok((Self(flat), names))
    }

    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The first column with missing values, at any depth, and their number.
    fn gap(&self) -> Option<(String, usize)> {
        let columns = self.0.schema_ref().fields().iter().zip(self.0.columns());
        columns.map(|(field, array)| (field.name().clone(), gaps(&array.to_data()))).find(|(_, gaps)| *gaps > 0)
    }

    /// The C++ type of a column, if its container names one.
    fn typename(&self, column: usize) -> Option<String> {
        self.0.schema_ref().fields().get(column)?.metadata().get("typename").cloned()
    }

    /// A column as a tree of buffers.
    fn node(&self, column: usize) -> PyResult<Node> {
        let array = self.0.columns().get(column).ok_or_else(|| PyIndexError::new_err("no such column"))?;
        node_of(self.0.schema_ref().field(column), array)
    }

    /// The same columns under other names.
    fn renamed(&self, names: Vec<String>) -> PyResult<Self> {
        if names.len() != self.0.num_columns() {
            return Err(PyValueError::new_err("the number of names differs from the number of columns"));
        }
        let fields = self.0.schema_ref().fields().iter().zip(names);
        let fields: Fields = fields.map(|(field, name)| Arc::new(Field::clone(field).with_name(name))).collect();
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(self.0.num_rows()));
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new_with_options(schema, self.0.columns().to_vec(), &options);
        batch.map(Self).map_err(arrow)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule_of_schema(py, self.0.schema_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the requested schema: types stay as they are.
        drop(requested_schema);
        let reader = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        capsule_of_stream(py, FFI_ArrowArrayStream::new(Box::new(reader)))
    }
}

/// Missing values of an array and all below it. In a union those of no type are none of its own.
fn gaps(data: &ArrayData) -> usize {
    data.null_count()
        + data.child_data().iter().filter(|part| *part.data_type() != DataType::Null).map(gaps).sum::<usize>()
}

/// A schema, for Arrow's PyCapsule interface.
pub fn capsule_of_schema<'py>(py: Python<'py>, schema: &Schema) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema).map_err(arrow)?, c"arrow_schema")
}

/// A stream, for Arrow's PyCapsule interface.
pub fn capsule_of_stream(py: Python<'_>, stream: FFI_ArrowArrayStream) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// An array as a tree of buffers; its field names the classes.
pub fn node_of(field: &Field, array: &ArrayRef) -> PyResult<Node> {
    let classes = field.metadata().get("classes");
    node(array, &mut classes.map_or("", String::as_str).split('\n'))
}

/// `classes` has one for each level, see `ColumnPlan::field`.
fn node(array: &ArrayRef, classes: &mut Split<'_, char>) -> PyResult<Node> {
    let plain = plain(array, classes)?;
    // Only the nullable level has a mask; levels below it have values everywhere.
    Ok(match array.nulls() {
        Some(nulls) => {
            let bits = Memory(nulls.inner().sliced());
            Node("optional".to_owned(), array.len(), 0, vec![bits], vec![(String::new(), plain)])
        }
        None => plain,
    })
}

fn plain(array: &ArrayRef, classes: &mut Split<'_, char>) -> PyResult<Node> {
    let class = classes.next().unwrap_or_default();
    let made = |kind: &str, size: usize, buffers: Vec<arrow_buffer::Buffer>, parts: Vec<(String, Node)>| {
        let kind = if class.is_empty() { kind.to_owned() } else { format!("{kind} {class}") };
        Node(kind, array.len(), size, buffers.into_iter().map(Memory).collect(), parts)
    };
    let mut part = |array: &ArrayRef| Ok::<_, PyErr>(vec![(String::new(), node(array, classes)?)]);
    Ok(match array.data_type() {
        DataType::Boolean => made("bool", 0, vec![bytes_of(array.as_boolean().values())], Vec::new()),
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            made("list", 0, vec![offsets(list.offsets())], part(list.values())?)
        }
        DataType::FixedSizeList(_, size) => {
            let list = array.as_fixed_size_list();
            made("fixed", usize::try_from(*size).unwrap_or(0), Vec::new(), part(list.values())?)
        }
        DataType::LargeUtf8 => {
            let text = array.as_string::<i64>();
            made("text", 0, vec![offsets(text.offsets()), text.values().clone()], Vec::new())
        }
        DataType::LargeBinary => {
            let bytes = array.as_binary::<i64>();
            made("bytes", 0, vec![offsets(bytes.offsets()), bytes.values().clone()], Vec::new())
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().zip(array.as_struct().columns());
            let parts = columns.map(|(field, column)| Ok((field.name().clone(), node(column, classes)?)));
            made("record", 0, Vec::new(), parts.collect::<PyResult<_>>()?)
        }
        // The type ID 0 is `none`, which has no values; the alternatives count from 1.
        DataType::Union(fields, UnionMode::Dense) => {
            let union = array.as_union();
            let alternatives = fields.iter().filter(|(id, _)| *id > 0);
            let parts = alternatives.map(|(id, field)| Ok((field.name().clone(), node(union.child(id), classes)?)));
            let parts = parts.collect::<PyResult<_>>()?;
            let offsets = union.offsets().map_or_else(|| Vec::<u8>::new().into(), |offsets| offsets.inner().clone());
            made("union", 0, vec![union.type_ids().inner().clone(), offsets], parts)
        }
        kind => {
            let name = number_name(kind)?;
            let array: &dyn Array = array;
            downcast_primitive_array!(
                array => made(&name, 0, vec![array.values().inner().clone()], Vec::new()),
                kind => return Err(PyValueError::new_err(format!("arrays of type {kind} are not supported")))
            )
        }
    })
}

/// NumPy's name of a type of numbers or times.
fn number_name(kind: &DataType) -> PyResult<String> {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    };
    match kind {
        DataType::Timestamp(time, _) => Ok(format!("datetime64[{}]", unit(time))),
        DataType::Duration(time) => Ok(format!("timedelta64[{}]", unit(time))),
        kind if kind.is_numeric() && !kind.is_decimal() => Ok(format!("{kind:?}").to_lowercase()),
        kind => {
            Err(PyValueError::new_err(format!("arrays of type {kind} are not supported; library=\"arrow\" has them")))
        }
    }
}

fn offsets(offsets: &OffsetBuffer<i64>) -> arrow_buffer::Buffer {
    offsets.inner().inner().clone()
}

/// A byte for each bit, as everybody but Arrow has it. Eight bits at a time.
fn bytes_of(bits: &BooleanBuffer) -> arrow_buffer::Buffer {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Of byte `i` bit `i`.
    const OWN: u64 = 0x8040_2010_0804_0201;
    // What carries any bit to the highest one.
    const CARRY: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let packed = bits.sliced();
    let mut bytes = Vec::with_capacity(packed.len() * 8);
    for byte in packed.as_slice() {
        let own = u64::from(*byte).wrapping_mul(EACH) & OWN;
        bytes.extend_from_slice(&(((own + CARRY) >> 7) & EACH).to_le_bytes());
    }
    bytes.truncate(bits.len());
    bytes.into()
}
