//! How a function of the interface answers: with a value, or with an error object. No panic leaves the library.

use std::any::Any;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::Once;

use rootfile::Result;

use crate::error::Error;

/// The place for an error that a caller gives, or none.
pub(crate) type ErrorPlace<'a> = Option<&'a mut MaybeUninit<*mut Error>>;

/// Does the work of a function. Writes the error to its place if there is one, and otherwise a null pointer.
pub(crate) fn answer<T>(error: ErrorPlace<'_>, work: impl FnOnce() -> Result<T>) -> Option<T> {
    begin();
    let (value, failed) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => (Some(value), None),
        Ok(Err(error)) => (None, Some(Error::of(&error))),
        Err(panic) => (None, Some(Error::internal(text_of(panic.as_ref())))),
    };
    if let Some(place) = error {
        place.write(failed.map_or(null_mut(), |error| Box::into_raw(Box::new(error))));
    }
    value
}

/// The same for a function that returns 0, or -1 after an error.
pub(crate) fn status(error: ErrorPlace<'_>, work: impl FnOnce() -> Result<()>) -> i32 {
    answer(error, work).map_or(-1, |()| 0)
}

/// The same for a function that returns a handle, or a null pointer after an error.
pub(crate) fn handle<T>(error: ErrorPlace<'_>, work: impl FnOnce() -> Result<T>) -> Option<Box<T>> {
    answer(error, work).map(Box::new)
}

/// Runs what must not panic and has nobody to tell, such as a destructor.
pub(crate) fn quietly(work: impl FnOnce()) {
    // The panic's message is on the standard error output.
    let _ = catch_unwind(AssertUnwindSafe(work));
}

/// What the library does once, before its first work.
fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        remote::register();
        // The allocator is the host's.
        flow::allocator::leave_alone();
    });
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let mut place = MaybeUninit::uninit();
        let said = answer(Some(&mut place), || -> Result<()> { panic!("on purpose") });
        // SAFETY: `answer` writes to the place; the pointer is of a box that it made.
        let error = unsafe { Box::from_raw(place.assume_init()) };
        assert!(said.is_none());
        assert!(error.text().contains("on purpose"), "{}", error.text());
        assert_eq!(status(None, || Ok(())), 0);
    }
}
