//! Versions of the library and of its interface.

use std::ffi::{CStr, c_char};

/// The version of the interface that this header describes. Functions are only added: a program that was built for a lower number works
/// with any library of the same soname.
pub const BASKETRY_ABI: u32 = 1;

/// A function that returns 0 has done its work.
pub const BASKETRY_OK: i32 = 0;
/// A function that returns this has failed; the error object says why.
pub const BASKETRY_FAILED: i32 = -1;
/// A function that returns this has done nothing, because it would have to wait for memory. Try again when other tasks have gone on.
pub const BASKETRY_WOULD_WAIT: i32 = 1;
/// There is nothing more.
pub const BASKETRY_END: i32 = 2;

const VERSION: &CStr = c_version();

const fn c_version() -> &'static CStr {
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    }
}

/// The version of the library, such as "0.2.0". Any thread may call it at any time. The text is the library's.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_version() -> *const c_char {
    VERSION.as_ptr()
}

/// The version of the interface that the library has: at least ::BASKETRY_ABI of the header that a program was built with.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_abi_version() -> u32 {
    BASKETRY_ABI
}
