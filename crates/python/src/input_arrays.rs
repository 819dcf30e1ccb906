//! Arrays that Python passes in: trees of buffers, and objects with Arrow's C interface. Numbers are used where they lie; what says where
//! others are (offsets, types, bits of validity) and text are copied, since a program might change them after they were checked.

use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayReader, ArrayRef, make_array, new_empty_array};
use arrow_buffer::{BooleanBuffer, Buffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, Schema, UnionMode};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::types::{PyAny, PyAnyMethods, PyCapsule, PyCapsuleMethods};
use pyo3::{Bound, FromPyObject, PyResult, Python, pyfunction};

use crate::errors::arrow;

/// An array as a tree of buffers: see [`Node`](crate::batch::Node).
#[derive(FromPyObject)]
pub struct Tree(String, usize, usize, Vec<PyBuffer<u8>>, Vec<(String, Tree)>);

/// A column in one of the forms in which Python has it.
#[derive(FromPyObject)]
pub enum InputArray<'py> {
    /// A tree of buffers.
    Tree(Tree),
    /// An object with `__arrow_c_array__` or `__arrow_c_stream__`.
    Arrow(Bound<'py, PyAny>),
}

impl InputArray<'_> {
    /// Whether values may be missing. Producers with Arrow's interface mostly do not say: only found nulls count.
    pub fn may_lack(&self) -> bool {
        matches!(self, Self::Tree(tree) if tree.may_lack())
    }

    /// The array.
    pub fn array(self, py: Python<'_>) -> PyResult<ArrayRef> {
        match self {
            Self::Tree(tree) => tree.array(py),
            Self::Arrow(source) => of_arrow(&source),
        }
    }
}

impl Tree {
    /// Whether values may be missing.
    fn may_lack(&self) -> bool {
        self.0 == "optional"
    }

    fn array(self, py: Python<'_>) -> PyResult<ArrayRef> {
        let Self(kind, length, size, buffers, parts) = self;
        let number = number_of(&kind);
        let buffers = buffers.into_iter().map(|bytes| match number {
            Ok(_) if bytes.is_c_contiguous() => Ok(lent(bytes)),
            _ => bytes.to_vec(py).map(Buffer::from_vec),
        });
        let mut buffers = buffers.collect::<PyResult<Vec<_>>>()?;
        let parts = parts.into_iter().map(|(name, part)| {
            let may_lack = part.may_lack();
            Ok((name, part.array(py)?, may_lack))
        });
        let parts = parts.collect::<PyResult<Vec<_>>>()?;
        let field = |(name, part, may_lack): &(String, ArrayRef, bool)| {
            let nullable = *may_lack || part.null_count() > 0;
            Field::new(if name.is_empty() { "item" } else { name }, part.data_type().clone(), nullable)
        };
        let item = || parts.first().map(|part| Arc::new(field(part))).ok_or_else(|| PyValueError::new_err("no part"));
        let data_type = match kind.as_str() {
            "bool" => {
                let bytes = buffers.first().map(Buffer::as_slice).unwrap_or_default();
                let bits: BooleanBuffer = bytes.iter().map(|byte| *byte != 0).collect();
                buffers = vec![bits.into_inner()];
                DataType::Boolean
            }
            "list" => DataType::LargeList(item()?),
            "fixed" => DataType::FixedSizeList(item()?, i32::try_from(size)?),
            "text" => DataType::LargeUtf8,
            "bytes" => DataType::LargeBinary,
            "record" => DataType::Struct(parts.iter().map(field).collect()),
            "optional" => item()?.data_type().clone(),
            "union" => {
                // As for arrays that are read: types count from 1, and 0 is no value.
                let none: FieldRef = Arc::new(Field::new("none", DataType::Null, true));
                let fields = parts.iter().map(|part| Arc::new(field(part)));
                DataType::Union((0i8..).zip(std::iter::once(none).chain(fields)).collect(), UnionMode::Dense)
            }
            _ => number?,
        };
        let none = (kind == "union").then(|| new_empty_array(&DataType::Null).to_data());
        let mut children = none.into_iter().chain(parts.iter().map(|(_, part, _)| part.to_data()));
        let made = if kind == "optional" {
            let whole = children.next().map(ArrayData::into_builder);
            let whole = whole.ok_or_else(|| PyValueError::new_err("no part"))?;
            whole.null_bit_buffer(buffers.pop()).align_buffers(true).build()
        } else {
            let made = ArrayData::builder(data_type).len(length).buffers(buffers);
            made.child_data(children.collect()).align_buffers(true).build()
        };
        made.map(make_array).map_err(arrow)
    }
}

/// The bytes of an array of numbers, which stays as it is until nobody uses them any more.
fn lent(bytes: PyBuffer<u8>) -> Buffer {
    let (Some(start), length) = (NonNull::new(bytes.buf_ptr().cast()), bytes.len_bytes()) else {
        return Buffer::default();
    };
    #[expect(unsafe_code, reason = "Python owns the bytes, and the buffer protocol is a C interface")]
    // SAFETY: the bytes are contiguous, and the view keeps them where they are as long as it lives. A program that changes numbers
    // while they are written gets other numbers, as with any library that does not copy: each bit pattern is one.
    unsafe {
        Buffer::from_custom_allocation(start, length, Arc::new(bytes))
    }
}

/// The type of a number by the name that NumPy has for it.
fn number_of(name: &str) -> PyResult<DataType> {
    Ok(match name {
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "float32" => DataType::Float32,
        "float64" => DataType::Float64,
        other => return Err(PyValueError::new_err(format!("{other} is no type of numbers that can be written"))),
    })
}

/// The pointer of a capsule, by its name in Arrow's interface.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &std::ffi::CStr) -> PyResult<*mut T> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.as_ptr().cast())
}

/// The array of something that is one, or a stream of such, put together.
fn of_arrow(source: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    if source.hasattr("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            source.call_method0("__arrow_c_array__")?.extract()?;
        let schema: *mut FFI_ArrowSchema = pointer(&schema, c"arrow_schema")?;
        let array: *mut FFI_ArrowArray = pointer(&array, c"arrow_array")?;
        #[expect(unsafe_code, reason = "Arrow's C interface: the producer vouches for what its capsules hold")]
        // SAFETY: the capsules have the names that say what they point to, and live until the end of this block; moving
        // the array out of its capsule is how the interface hands it over.
        let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) };
        return data.map(make_array).map_err(arrow);
    }
    let reader = reader(source)?;
    let empty = new_empty_array(reader.field().data_type());
    let chunks = source.py().detach(|| reader.collect::<Result<Vec<_>, _>>()).map_err(arrow)?;
    match chunks.as_slice() {
        [] => Ok(empty),
        [one] => Ok(Arc::clone(one)),
        several => {
            let several: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
            arrow_select::concat::concat(&several).map_err(arrow)
        }
    }
}

/// The names of the columns in a schema that a consumer asks for.
#[pyfunction]
pub fn names_of_schema(capsule: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let schema: *mut FFI_ArrowSchema = pointer(capsule, c"arrow_schema")?;
    #[expect(unsafe_code, reason = "Arrow's C interface: the producer vouches for what its capsules hold")]
    // SAFETY: as above; the schema is only looked at.
    let schema = Schema::try_from(unsafe { &*schema }).map_err(arrow)?;
    Ok(schema.fields().iter().map(|field| field.name().clone()).collect())
}

/// The stream of something that has `__arrow_c_stream__`.
pub fn reader(source: &Bound<'_, PyAny>) -> PyResult<ArrayStreamReader> {
    let capsule = source.call_method0("__arrow_c_stream__")?;
    let stream: *mut FFI_ArrowArrayStream = pointer(&capsule, c"arrow_array_stream")?;
    #[expect(unsafe_code, reason = "Arrow's C interface: the producer vouches for what its capsules hold")]
    // SAFETY: as above.
    let reader = unsafe { ArrayStreamReader::from_raw(stream) };
    reader.map_err(arrow)
}
