//! Arrow's C data interface and C stream interface: what comes in and what goes out.

use std::ffi::c_void;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, make_array};
use arrow_schema::{ArrowError, DataType, Schema};
use rootfile::{Error, Result};

/// An array of Arrow's C data interface, as <https://arrow.apache.org/docs/format/CDataInterface.html> declares it.
pub struct ArrowArray(());
/// A schema of Arrow's C data interface.
pub struct ArrowSchema(());
/// A stream of Arrow's C stream interface.
pub struct ArrowArrayStream(());

/// Takes an array out of its structure, which is released then, also where it cannot be used.
///
/// # Safety
///
/// Both pointers are null, or to structures of the interface that their producer has filled.
pub(crate) unsafe fn batch(array: *mut ArrowArray, schema: *const ArrowSchema) -> Result<RecordBatch> {
    if array.is_null() {
        return Err(Error::request("the array is a null pointer"));
    }
    // SAFETY: the pointer is to a structure of this layout; moving it out is how the interface hands it over.
    let array = unsafe { FFI_ArrowArray::from_raw(array.cast()) };
    // SAFETY: the caller's promise; the schema stays the caller's.
    let schema = unsafe { schema.cast::<FFI_ArrowSchema>().as_ref() };
    let schema = schema.ok_or_else(|| Error::request("the schema is a null pointer"))?;
    if array.is_released() {
        return Err(Error::request("the array was released already"));
    }
    // SAFETY: the producer vouches for what its buffers hold.
    let data = unsafe { from_ffi(array, schema) }.map_err(refused)?;
    let table = make_array(data);
    let table = table.as_struct_opt().filter(|table| table.null_count() == 0).cloned();
    table
        .map(RecordBatch::from)
        .ok_or_else(|| Error::request("the array is not a table: a struct without missing rows"))
}

/// An array that stays the caller's.
///
/// # Safety
///
/// As for [`batch`]. The caller does not release the array as long as the result is used.
pub(crate) unsafe fn lent_batch(array: *const ArrowArray, schema: *const ArrowSchema) -> Result<RecordBatch> {
    if array.is_null() {
        return Err(Error::request("the array is a null pointer"));
    }
    // SAFETY: the structure is copied, and the copy is never released: its producer's function is taken out of it.
    let mut copy = unsafe { array.cast::<RawArray>().read() };
    if copy.release.is_none() {
        return Err(Error::request("the array was released already"));
    }
    copy.release = Some(nothing);
    // SAFETY: the copy is a structure of the interface, whose release does nothing.
    unsafe { batch((&raw mut copy).cast(), schema) }
}

/// Arrow's `struct ArrowArray`.
#[repr(C)]
struct RawArray {
    numbers: [i64; 5],
    pointers: [*mut c_void; 3],
    release: Option<unsafe extern "C" fn(*mut RawArray)>,
    private_data: *mut c_void,
}

unsafe extern "C" fn nothing(array: *mut RawArray) {
    // SAFETY: who releases an array gives a pointer to it.
    if let Some(array) = unsafe { array.as_mut() } {
        array.release = None;
    }
}

/// A schema that stays the caller's.
///
/// # Safety
///
/// The pointer is null, or to a structure of the interface.
pub(crate) unsafe fn schema(schema: *const ArrowSchema) -> Result<Schema> {
    // SAFETY: the caller's promise.
    let schema = unsafe { schema.cast::<FFI_ArrowSchema>().as_ref() };
    let schema = schema.ok_or_else(|| Error::request("the schema is a null pointer"))?;
    match DataType::try_from(schema).map_err(refused)? {
        DataType::Struct(_) => Schema::try_from(schema).map_err(refused),
        other => Err(Error::request(format!("the schema is {other}, and not of a table: a struct"))),
    }
}

/// The batches of a stream, which is the library's from here on.
///
/// # Safety
///
/// The pointer is null, or to a structure of the interface that its producer has filled.
pub(crate) unsafe fn reader(stream: *mut ArrowArrayStream) -> Result<RecordBatchStreamReader> {
    if stream.is_null() {
        return Err(Error::request("the stream is a null pointer"));
    }
    // SAFETY: the caller's promise; the structure is emptied.
    unsafe { RecordBatchStreamReader::from_raw(stream.cast::<FFI_ArrowArrayStream>()) }.map_err(refused)
}

/// Writes a schema to a structure of the caller's, who releases it.
///
/// # Safety
///
/// The pointer is null, or to a structure of the interface whose content is not needed.
pub(crate) unsafe fn give_schema(schema: &Schema, place: *mut ArrowSchema) -> Result<()> {
    if place.is_null() {
        return Err(Error::request("the place for the schema is a null pointer"));
    }
    let made = FFI_ArrowSchema::try_from(schema).map_err(refused)?;
    // SAFETY: the caller's promise; what was there is not read.
    unsafe { place.cast::<FFI_ArrowSchema>().write(made) };
    Ok(())
}

/// Writes a stream to a structure of the caller's, who releases it.
///
/// # Safety
///
/// As for [`give_schema`].
pub(crate) unsafe fn give_stream(stream: FFI_ArrowArrayStream, place: *mut ArrowArrayStream) -> Result<()> {
    if place.is_null() {
        return Err(Error::request("the place for the stream is a null pointer"));
    }
    // SAFETY: the caller's promise; what was there is not read.
    unsafe { place.cast::<FFI_ArrowArrayStream>().write(stream) };
    Ok(())
}

/// An error of Arrow's as one of ours.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub(crate) fn refused(error: ArrowError) -> Error {
    Error::request(error.to_string())
}
