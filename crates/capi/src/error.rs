//! Error objects: what is wrong, in which file and object, at which byte, and which options would help.

use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::null;

use rootfile::text::printable_lines;
use rootfile::{ErrorKind, Hint, HintValue, public_path};

use crate::answer::quietly;
use crate::foreign::c_text;

/// The system refused to read or write.
pub const BASKETRY_ERROR_IO: i32 = 1;
/// The bytes of a file violate the format.
pub const BASKETRY_ERROR_CORRUPT: i32 = 2;
/// The bytes are valid, but the library does not support them.
pub const BASKETRY_ERROR_UNSUPPORTED: i32 = 3;
/// What was asked for is impossible: a wrong argument, no such table, too small a budget.
pub const BASKETRY_ERROR_REQUEST: i32 = 4;
/// Tables of several files differ in another way than was allowed.
pub const BASKETRY_ERROR_DIFFERS: i32 = 5;
/// The system gives no memory.
pub const BASKETRY_ERROR_MEMORY: i32 = 6;
/// A callback has ended the work.
pub const BASKETRY_ERROR_INTERRUPTED: i32 = 7;
/// A bug of the library. Please report it.
pub const BASKETRY_ERROR_INTERNAL: i32 = 8;

/// An error, with its cause, its place and what helps.
///
/// A function that can fail takes `struct basketry_error **error` as its last parameter. It writes a null pointer there after success, and
/// an error object after a failure, which the caller frees by ::basketry_error_free. The parameter may be null: then only the returned value
/// says that it failed. An object never changes, so any thread may look at it; the texts are the object's.
#[derive(Debug)]
pub struct Error {
    kind: i32,
    message: CString,
    file: Option<CString>,
    object: Option<CString>,
    offset: Option<u64>,
    os: i32,
    /// Options and their values, which may be empty.
    hints: Vec<(CString, CString)>,
}

impl Error {
    pub(crate) fn of(error: &rootfile::Error) -> Self {
        let (kind, os) = match error.kind() {
            ErrorKind::Io(io) => (BASKETRY_ERROR_IO, io.raw_os_error().unwrap_or(0)),
            ErrorKind::Corrupt(_) => (BASKETRY_ERROR_CORRUPT, 0),
            ErrorKind::Unsupported(_) => (BASKETRY_ERROR_UNSUPPORTED, 0),
            ErrorKind::Request(_) => (BASKETRY_ERROR_REQUEST, 0),
            ErrorKind::Differs(_) => (BASKETRY_ERROR_DIFFERS, 0),
            ErrorKind::Memory(_) => (BASKETRY_ERROR_MEMORY, libc::ENOMEM),
            ErrorKind::Interrupted => (BASKETRY_ERROR_INTERRUPTED, libc::EINTR),
            _ => (BASKETRY_ERROR_INTERNAL, 0),
        };
        Self {
            kind,
            message: c_text(&printable_lines(&error.text(shown))),
            file: error.path().map(|path| c_text(&public_path(path).to_string_lossy())),
            object: error.subject().map(c_text),
            offset: error.offset(),
            os,
            hints: error.hints().iter().map(|hint| (c_text(hint.option()), c_text(&value_of(hint)))).collect(),
        }
    }

    /// The error for a panic.
    pub(crate) fn internal(panic: &str) -> Self {
        let message = c_text(&format!("internal error: {panic}; please report it"));
        let (file, object, hints) = (None, None, Vec::new());
        Self { kind: BASKETRY_ERROR_INTERNAL, message, file, object, offset: None, os: 0, hints }
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        self.message.to_str().unwrap_or_default()
    }
}

/// An option in a message, as a setting: `memory=13MB`.
fn shown(hint: &Hint) -> String {
    match hint.value() {
        HintValue::NotGiven => hint.option().to_owned(),
        _ => format!("{}={}", hint.option(), value_of(hint)),
    }
}

fn value_of(hint: &Hint) -> String {
    match hint.value() {
        HintValue::NotGiven => String::new(),
        HintValue::On => "true".to_owned(),
        HintValue::Number(value) | HintValue::Text(value) => value.clone(),
    }
}

fn pointer(text: Option<&CString>) -> *const c_char {
    text.map_or(null(), |text| text.as_ptr())
}

/// What kind of error it is: one of the `BASKETRY_ERROR_` numbers; 0 for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_kind(error: Option<&Error>) -> i32 {
    error.map_or(0, |error| error.kind)
}

/// The whole message, in UTF-8: file, object, offset, cause and advice. Null for a null pointer.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_message(error: Option<&Error>) -> *const c_char {
    pointer(error.map(|error| &error.message))
}

/// The file, if it is known; else null. A URL is without its secrets.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_file(error: Option<&Error>) -> *const c_char {
    pointer(error.and_then(|error| error.file.as_ref()))
}

/// The object in the file or the argument, such as "column pt", if it is known; else null.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_object(error: Option<&Error>) -> *const c_char {
    pointer(error.and_then(|error| error.object.as_ref()))
}

/// Writes the byte in the file where it is wrong. Returns 1 if that is known, else 0.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_offset(error: Option<&Error>, offset: Option<&mut MaybeUninit<u64>>) -> i32 {
    match (error.and_then(|error| error.offset), offset) {
        (Some(at), Some(offset)) => {
            offset.write(at);
            1
        }
        (Some(_), None) => 1,
        (None, _) => 0,
    }
}

/// The system's number (`errno`) for the cause, or 0.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_os(error: Option<&Error>) -> i32 {
    error.map_or(0, |error| error.os)
}

/// A setting that the message names as a way out, by its number from 0. Writes its name, and its value if there is one; else an empty text.
/// Returns 1, or 0 if there are not so many.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_hint(
    error: Option<&Error>,
    number: usize,
    name: Option<&mut MaybeUninit<*const c_char>>,
    value: Option<&mut MaybeUninit<*const c_char>>,
) -> i32 {
    let Some((option, given)) = error.and_then(|error| error.hints.get(number)) else { return 0 };
    if let Some(name) = name {
        name.write(option.as_ptr());
    }
    if let Some(value) = value {
        value.write(given.as_ptr());
    }
    1
}

/// Frees an error. A null pointer is ignored.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_error_free(error: Option<Box<Error>>) {
    quietly(|| drop(error));
}
