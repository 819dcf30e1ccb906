//! Arrow's memory through Python's buffer protocol, without a copy. Memory that nothing else refers to can be written to.

use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use arrow_buffer::MutableBuffer;
use pyo3::exceptions::PyOverflowError;
use pyo3::{Bound, IntoPyObject, PyErr, PyResult, Python, ffi, pyclass, pymethods};

/// Bytes for `memoryview`, `numpy.frombuffer` and the like.
#[pyclass(frozen, module = "basketry._core")]
pub struct Buffer(Bytes);

enum Bytes {
    /// Nothing else refers to them.
    Own(Mutex<MutableBuffer>),
    /// Arrays that Arrow shares refer to them, too, or they are not Arrow's: they are read-only.
    Shared(arrow_buffer::Buffer),
}

/// Memory on its way to Python. Whether it is shared is asked last, when the array that it came from is gone.
pub struct Memory(pub arrow_buffer::Buffer);

impl<'py> IntoPyObject<'py> for Memory {
    type Target = Buffer;
    type Output = Bound<'py, Buffer>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, Buffer>> {
        // Memory of others, and a part of something larger, cannot be taken over.
        Bound::new(py, Buffer(self.0.into_mutable().map_or_else(Bytes::Shared, |own| Bytes::Own(Mutex::new(own)))))
    }
}

#[pymethods]
impl Buffer {
    fn __len__(&self) -> usize {
        self.place().1
    }

    /// The address of the bytes, to show that nothing was copied.
    #[getter]
    fn address(&self) -> usize {
        self.place().0.addr()
    }

    #[expect(unsafe_code, reason = "the buffer protocol is a C interface, and PyO3 has no safe one for exporting")]
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let (bytes, len, is_own) = slf.get().place();
        let len = len.try_into().map_err(|_| PyOverflowError::new_err("too long for a buffer"))?;
        // SAFETY: `view` is Python's, to be filled in. The bytes live as long as this object, which the view holds a reference
        // to from here on. Those that may be written to are referred to by this object alone, which makes no reference to them
        // but this pointer; read-only keeps Python from writing to the others.
        match unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), bytes.cast(), len, c_int::from(!is_own), flags) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}

impl Buffer {
    /// Where the bytes are, how many, and whether they may be written to.
    fn place(&self) -> (*mut u8, usize, bool) {
        match &self.0 {
            Bytes::Own(own) => {
                let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
                (own.as_mut_ptr(), own.len(), true)
            }
            Bytes::Shared(bytes) => (bytes.as_ptr().cast_mut(), bytes.len(), false),
        }
    }
}
