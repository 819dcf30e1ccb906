//! Errors as Python exceptions: `OSError` with number and file name for errors of the system and interruptions, `ValueError` for all
//! others. Python raises `KeyError` itself, and `KeyboardInterrupt`. Options in a message become keyword arguments.

use std::io;

use arrow_schema::ArrowError;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};
use rootfile::{Error, ErrorKind};

/// The exception for an error. `OSError` chooses its own subclass by the number: `FileNotFoundError` and the like.
#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
pub fn exception(error: Error) -> PyErr {
    let (number, text) = match error.kind() {
        ErrorKind::Io(io) => (number(io), io.to_string()),
        ErrorKind::Interrupted => (Some(libc::EINTR), "interrupted".to_owned()),
        _ => return PyValueError::new_err(in_keywords(&error.to_string())),
    };
    let Some(number) = number else { return PyOSError::new_err(in_keywords(&error.to_string())) };
    let text = in_keywords(text.split(" (os error").next().unwrap_or_default());
    match error.path() {
        Some(path) => PyOSError::new_err((number, text, path.as_os_str().to_owned())),
        None => PyOSError::new_err((number, text)),
    }
}

/// Options without a value.
const FLAGS: [&str; 9] =
    ["all_cycles", "check", "common", "dry_run", "fill", "force", "one_basket_per_cluster", "skip_absent", "skip_bad"];

/// A message with options of the command as keyword arguments: `--force` is `force=True` and `--memory 13MB` is
/// `memory="13MB"`.
fn in_keywords(text: &str) -> String {
    let mut parts = text.split("--");
    let mut message = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        // Names of files have dashes too.
        if name.is_empty() || !message.chars().next_back().is_none_or(|c| " ('\"".contains(c)) {
            message.push_str("--");
            message.push_str(part);
            continue;
        }
        let keyword = name.replace('-', "_");
        message.push_str(&keyword);
        let after = rest.strip_prefix([' ', '=']).unwrap_or_default();
        let value = after.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        if FLAGS.contains(&keyword.as_str()) {
            message.push_str("=True");
            message.push_str(rest);
        } else if value.starts_with(|c: char| c.is_ascii_digit()) {
            let quote = if value.parse::<u64>().is_ok() { "" } else { "\"" };
            let tail = after.strip_prefix(value).unwrap_or_default();
            message.extend(["=", quote, value, quote, tail]);
        } else {
            message.push_str(rest);
        }
    }
    message
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
