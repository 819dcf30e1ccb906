//! Errors as Python exceptions: `OSError` with number and file name for errors of the system and interruptions, `ValueError` for all
//! others. Python raises `KeyError` itself, and `KeyboardInterrupt`. The options that a
//! message names become keyword arguments.

use std::io;

use arrow_schema::ArrowError;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};
use rootfile::{Error, ErrorKind, Hint, HintValue, public_path};

/// The exception for an error. `OSError` chooses its own subclass by the number: `FileNotFoundError` and the like.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn exception(error: Error) -> PyErr {
    let number = match error.kind() {
        ErrorKind::Io(io) => number(io),
        ErrorKind::Interrupted => Some(libc::EINTR),
        _ => return PyValueError::new_err(error.text(keyword)),
    };
    let Some(number) = number else { return PyOSError::new_err(error.text(keyword)) };
    let text = error.message(keyword);
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    match error.path() {
        Some(path) => PyOSError::new_err((number, text, public_path(path).as_os_str().to_owned())),
        None => PyOSError::new_err((number, text)),
    }
}

/// An option in a message as the keyword argument that it is in Python: `--force` is `force=True`, and `--memory 13MB` is
/// `memory="13MB"`.
pub fn keyword(hint: &Hint) -> String {
    let name = hint.option().replace('-', "_");
    match hint.value() {
        HintValue::NotGiven => name,
        HintValue::On => format!("{name}=True"),
        HintValue::Number(value) => format!("{name}={value}"),
        HintValue::Text(value) => format!("{name}=\"{value}\""),
    }
}

/// The system's number for an error, also where it is one of our own.
fn number(error: &io::Error) -> Option<i32> {
    error.raw_os_error().or(match error.kind() {
        io::ErrorKind::NotFound => Some(libc::ENOENT),
        io::ErrorKind::AlreadyExists => Some(libc::EEXIST),
        io::ErrorKind::PermissionDenied => Some(libc::EACCES),
        io::ErrorKind::IsADirectory => Some(libc::EISDIR),
        _ => None,
    })
}

/// The exception for an error of Arrow's.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn arrow(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
