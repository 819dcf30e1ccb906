//! Where the bytes of an output go: a file that is hidden until it is whole, or what the caller has for them.

use std::fs::File;
use std::sync::Arc;

use super::in_place::InPlace;
use crate::Result;
use crate::temporary::Temporary;

/// Where a caller keeps the bytes of an output itself, in place of a file under a path. Bytes are given by their positions, mostly one
/// behind the other; the first ones are written again at the end, when the output becomes whole.
pub trait Sink: Send + Sync {
    /// Keeps bytes from a position on.
    ///
    /// # Errors
    ///
    /// They cannot be kept, which gives the output up.
    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()>;

    /// Returns when all bytes so far would survive a power cut, if the place has such a thing.
    ///
    /// # Errors
    ///
    /// They would not.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    /// The output is whole, and has so many bytes. Not called for an output that is given up.
    ///
    /// # Errors
    ///
    /// It cannot become what its readers see.
    fn finish(&self, len: u64) -> Result<()>;
}

/// Where the bytes of an output go.
pub(super) enum Place {
    /// A file, until it is whole under a temporary name.
    File(File, Temporary),
    /// A file that is updated where it lies.
    InPlace(InPlace),
    /// A place of the caller's.
    Sink(Arc<dyn Sink>),
    /// They are discarded.
    Nowhere,
}
