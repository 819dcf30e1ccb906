//! What callers give by pointer: texts and arrays. The pointers are wrapped where they come in, and read only here.

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

/// A text in UTF-8 that ends with a zero byte; or a null pointer, where one may be given.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(*const c_char);

impl Text {
    /// The text, if one is given.
    pub(crate) fn given(&self, what: &str) -> Result<Option<&str>> {
        let not_utf8 = |_| Error::request(format!("{what} is not UTF-8"));
        self.bytes().map(|text| std::str::from_utf8(text).map_err(not_utf8)).transpose()
    }

    /// The text, which must be given.
    pub(crate) fn text(&self, what: &str) -> Result<&str> {
        self.given(what)?.ok_or_else(|| Error::request(format!("{what} is a null pointer")))
    }

    /// The text, or an empty one.
    pub(crate) fn or_empty(&self, what: &str) -> Result<&str> {
        self.given(what).map(Option::unwrap_or_default)
    }

    /// The bytes as a path.
    pub(crate) fn path(&self, what: &str) -> Result<PathBuf> {
        let bytes = self.bytes().ok_or_else(|| Error::request(format!("{what} is a null pointer")))?;
        Ok(Path::new(OsStr::from_bytes(bytes)).to_path_buf())
    }

    fn bytes(&self) -> Option<&[u8]> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the interface asks for a null pointer or a text that ends with a zero byte, and stays as it is during the call.
        Some(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }

    #[cfg(test)]
    pub(crate) fn of(text: &CStr) -> Self {
        Self(text.as_ptr())
    }
}

/// Items that lie one behind the other.
///
/// # Safety
///
/// There are `count` items from `first` on, or `count` is 0. They stay as they are as long as the result is used.
pub(crate) unsafe fn items<'a, T>(first: *const T, count: usize, what: &str) -> Result<&'a [T]> {
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(Error::request(format!("{what} is a null pointer, and there should be {count} of them")));
    }
    // SAFETY: the caller's promise; the pointer is not null.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// What a handle refers to.
pub(crate) fn handle<'a, T>(handle: Option<&'a T>, what: &str) -> Result<&'a T> {
    handle.ok_or_else(|| Error::request(format!("{what} is a null pointer")))
}

/// A text for C. What is behind a zero byte is left out.
pub(crate) fn c_text(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(text.get(..end).unwrap_or_default()).unwrap_or_default()
}

/// A text of the caller's from here on.
pub(crate) fn give(text: &str) -> *mut c_char {
    c_text(text).into_raw()
}

/// Frees a text that a function of the library has returned as the caller's. A null pointer is ignored.
///
/// @param text  A text that was returned with the note "the caller frees it".
#[unsafe(no_mangle)]
pub extern "C" fn basketry_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the interface asks for a text that `give` has made, and that nobody uses any more.
        drop(unsafe { CString::from_raw(text) });
    }
}
