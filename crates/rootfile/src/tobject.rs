//! `TObject`, the base of most classes of ROOT: a version, a unique number, and status bits. `TNamed` adds a name and a title.

use crate::Result;
use crate::bytes::{Cursor, Writer};
use crate::tags::{Frame, begin_frame, end_frame};

/// `TObject` bit: a `TRef` points here, and a process identifier follows.
pub(crate) const IS_REFERENCED: u32 = 1 << 4;

/// The members of a `TObject`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TObject {
    /// fUniqueID.
    pub unique_id: u32,
    /// fBits.
    pub bits: u32,
    /// The number of the process identifier; only in the file if a `TRef` refers to the object.
    pub pid: Option<u16>,
}

/// Reads a `TObject`. Its version has no byte count, unless ROOT emulated a subclass.
///
/// # Errors
///
/// If the bytes end too early.
pub fn read_tobject(c: &mut Cursor<'_>) -> Result<TObject> {
    Frame::read(c)?;
    let unique_id = c.u32()?;
    let bits = c.u32()?;
    let pid = if bits & IS_REFERENCED != 0 { Some(c.u16()?) } else { None };
    Ok(TObject { unique_id, bits, pid })
}

/// Writes a `TObject` that no `TRef` refers to.
pub fn write_tobject(w: &mut Writer, unique_id: u32, bits: u32) {
    TObject { unique_id, bits, pid: None }.write(w);
}

/// Writes a `TNamed` with its frame.
pub fn write_tnamed(w: &mut Writer, object: &TObject, name: &str, title: &str) {
    let frame = begin_frame(w, 1);
    object.write(w);
    w.string(name);
    w.string(title);
    end_frame(w, frame);
}

impl TObject {
    /// The bits of fBits that tell where an object lay in the writer's memory (`kIsOnHeap`, `kNotDeleted`). They are no content: ROOT
    /// sets them anew when it reads an object (`TObject::Streamer`).
    pub const MEMORY_BITS: u32 = 0x0300_0000;

    /// Writes the object.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.i16(1);
        w.u32(self.unique_id);
        w.u32(self.bits);
        if let Some(pid) = self.pid {
            w.u16(pid);
        }
    }
}
