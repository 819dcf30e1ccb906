//! Outputs that a caller keeps itself: functions that get positions and bytes, in place of a file.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use rootfile::{Error, Result};

use crate::options::Versioned;

/// Where the bytes of an output go, if not into a file: into a framework's own storage, memory, another file. Set `size` to its sizeof.
///
/// The functions are called by whichever thread writes, one at a time, and must not call the library for the same writer. They return 0, or
/// a number of `errno`, which gives the output up.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sink {
    /// The sizeof of this structure.
    pub size: usize,
    /// What each function gets first.
    pub user: *mut c_void,
    /// Keeps bytes from a position on. Most come one behind the other, in pieces of up to some megabytes; the first ones of the file come
    /// once more at the end, and at each save. They may be used during the call only.
    pub write: Option<extern "C" fn(user: *mut c_void, position: u64, bytes: *const c_void, length: usize) -> i32>,
    /// Returns when all bytes so far would survive a power cut. May be null.
    pub sync: Option<extern "C" fn(user: *mut c_void) -> i32>,
    /// The output is whole and has so many bytes. Called by ::basketry_writer_finish. May be null.
    pub finish: Option<extern "C" fn(user: *mut c_void, length: u64) -> i32>,
    /// The output was given up: what was kept is worth nothing. Called at most once, and never after `finish` has returned 0. May be null.
    pub abandon: Option<extern "C" fn(user: *mut c_void)>,
}

// SAFETY: the layout is C's, the size is first, and zeroes are a number, a null pointer and no functions.
unsafe impl Versioned for Sink {
    const NAME: &'static str = "functions of the sink";
}

/// A sink in use.
pub(crate) struct Callbacks {
    functions: Sink,
    write: extern "C" fn(*mut c_void, u64, *const c_void, usize) -> i32,
    finished: AtomicBool,
}

// SAFETY: the interface says that any thread calls the functions, one at a time; the pointer is only handed to them.
unsafe impl Send for Callbacks {}
// SAFETY: as above.
unsafe impl Sync for Callbacks {}

impl Callbacks {
    pub fn new(functions: Sink) -> Result<Self> {
        let write = functions.write.ok_or_else(|| Error::request("the sink has no function `write`"))?;
        Ok(Self { functions, write, finished: AtomicBool::new(false) })
    }
}

fn done(number: i32, what: &str) -> Result<()> {
    match number {
        0 => Ok(()),
        number => Err(Error::from(std::io::Error::from_raw_os_error(number)).object(format!("the sink's {what}"))),
    }
}

impl rootfile::Sink for Callbacks {
    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()> {
        done((self.write)(self.functions.user, at, bytes.as_ptr().cast(), bytes.len()), "write")
    }

    fn sync(&self) -> Result<()> {
        self.functions.sync.map_or(Ok(()), |sync| done(sync(self.functions.user), "sync"))
    }

    fn finish(&self, len: u64) -> Result<()> {
        self.functions.finish.map_or(Ok(()), |finish| done(finish(self.functions.user, len), "finish"))?;
        self.finished.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Callbacks {
    fn drop(&mut self) {
        if let Some(abandon) = self.functions.abandon
            && !self.finished.load(Ordering::Relaxed)
        {
            abandon(self.functions.user);
        }
    }
}
