//! Errors as Python's own kinds: `OSError` with number and file name for what the system refused, `ValueError` for
//! everything else. Names that are not there are `KeyError`s, and raised in Python, which knows the nearest.

use std::io;

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};
use rootfile::{Error, ErrorKind};

/// The exception for an error. `OSError` chooses its own subclass by the number: `FileNotFoundError` and the like.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn exception(error: Error) -> PyErr {
    let ErrorKind::Io(io) = error.kind() else { return PyValueError::new_err(error.to_string()) };
    let Some(number) = number(io) else { return PyOSError::new_err(error.to_string()) };
    let text = io.to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    match error.path() {
        Some(path) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        None => PyOSError::new_err((number, text)),
    }
}

/// The system's number for an error, also where it is one of our own.
fn number(error: &io::Error) -> Option<i32> {
    error.raw_os_error().or(match error.kind() {
        io::ErrorKind::NotFound => Some(libc::ENOENT),
        io::ErrorKind::AlreadyExists => Some(libc::EEXIST),
        io::ErrorKind::PermissionDenied => Some(libc::EACCES),
        io::ErrorKind::IsADirectory => Some(libc::EISDIR),
        io::ErrorKind::Interrupted => Some(libc::EINTR),
        _ => None,
    })
}
