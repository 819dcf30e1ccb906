//! Arrow's memory through Python's buffer protocol: read-only, and without a copy.

use std::ffi::c_int;

use pyo3::exceptions::PyOverflowError;
use pyo3::{Bound, PyResult, ffi, pyclass, pymethods};

/// Bytes that Arrow owns, for `memoryview`, `numpy.frombuffer` and the like.
#[pyclass(frozen, module = "basketry._core")]
pub struct Buffer(pub arrow_buffer::Buffer);

#[pymethods]
impl Buffer {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The address of the bytes, to show that nothing was copied.
    #[getter]
    fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }

    #[expect(unsafe_code, reason = "the buffer protocol is a C interface, and PyO3 has no safe one for exporting")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let bytes = &slf.get().0;
        let len = bytes.len().try_into().map_err(|_| PyOverflowError::new_err("too long for a buffer"))?;
        // SAFETY: `view` is Python's, to be filled in. The bytes are immutable and live as long as this object, which
        // the view holds a reference to from here on; read-only keeps Python from writing to them.
        match unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), bytes.as_ptr().cast_mut().cast(), len, 1, flags) } {
            0 => Ok(()),
            _ => Err(pyo3::PyErr::fetch(slf.py())),
        }
    }
}
