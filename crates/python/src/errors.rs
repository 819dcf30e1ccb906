//! Errors as Python exceptions: `OSError` with number and file name for errors of the system and interruptions, `MemoryError` where
//! the system gives none, `SchemaDiffers` where columns of files differ, `ValueError` for all others. Python raises `KeyError` itself, and `KeyboardInterrupt`. The options that a
//! message names become keyword arguments.

use std::io;

use arrow_schema::ArrowError;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use pyo3::{PyErr, import_exception};
use rootfile::text::printable_lines;
use rootfile::{Error, ErrorKind, Hint, HintValue, public_path};

import_exception!(basketry.exceptions, SchemaDiffers);

/// The exception for an error. `OSError` chooses its own subclass by the number: `FileNotFoundError` and the like.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn exception(error: Error) -> PyErr {
    let number = match error.kind() {
        ErrorKind::Io(io) => number(io),
        ErrorKind::Interrupted => Some(libc::EINTR),
        ErrorKind::Memory(_) => return PyMemoryError::new_err(text_of(&error)),
        ErrorKind::Differs(_) => return SchemaDiffers::new_err(text_of(&error)),
        _ => return PyValueError::new_err(text_of(&error)),
    };
    let Some(number) = number else { return PyOSError::new_err(text_of(&error)) };
    let text = error.message(keyword);
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    match error.path() {
        Some(path) => PyOSError::new_err((number, text, public_path(path).as_os_str().to_owned())),
        None => PyOSError::new_err((number, text)),
    }
}

/// The whole text, which Python prints as it is: names in it may have characters that control a terminal.
fn text_of(error: &Error) -> String {
    printable_lines(&error.text(keyword)).into_owned()
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
    let text = printable_lines(&error.to_string()).into_owned();
    match error {
        ArrowError::MemoryError(_) => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
