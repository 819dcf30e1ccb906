//! Big-endian cursors over byte slices, the way ROOT's `TBuffer` lays out basic types and `TString`.
//!
//! Every read is checked against the slice; nothing here knows of objects, versions or files.

use crate::{Error, Result, text};

/// A checked reader over a slice. Errors report the position in the slice.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    data: &'a [u8],
    pos: usize,
}

/// ROOT's basic types, for a macro that makes a method for each.
macro_rules! numbers {
    ($each:ident) => {
        $each! {
            /// `UChar_t`.
            u8: u8;
            /// `Char_t`.
            i8: i8;
            /// `UShort_t`.
            u16: u16;
            /// `Short_t`, also `Version_t`.
            i16: i16;
            /// `UInt_t`.
            u32: u32;
            /// `Int_t`.
            i32: i32;
            /// `ULong64_t`.
            u64: u64;
            /// `Long64_t`, and `Long_t`, which is eight bytes in a file.
            i64: i64;
            /// `Float_t`.
            f32: f32;
            /// `Double_t`.
            f64: f64;
        }
    };
}

macro_rules! read_number {
    ($($(#[$doc:meta])* $name:ident: $ty:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// # Errors
        ///
        /// If the bytes end too early.
        #[inline]
        pub fn $name(&mut self) -> Result<$ty> {
            const N: usize = size_of::<$ty>();
            match self.data.get(self.pos..).and_then(|rest| rest.first_chunk::<N>()) {
                Some(chunk) => {
                    self.pos += N;
                    Ok(<$ty>::from_be_bytes(*chunk))
                }
                None => Err(self.short(N)),
            }
        }
    )*};
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of `data`.
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, pos: 0 }
    }

    /// Starts at `pos`, which may lie past the end (the first read then fails).
    pub fn at(data: &'a [u8], pos: usize) -> Self {
        Self { data, pos }
    }

    numbers!(read_number);

    #[cold]
    fn short(&self, needed: usize) -> Error {
        Error::corrupt(format!(
            "the record ends too early: {needed} bytes needed at {}, {} left",
            self.pos,
            self.remaining()
        ))
    }

    /// The next `n` bytes.
    ///
    /// # Errors
    ///
    /// If fewer bytes are left. So do all readers of this type.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        let end = self.pos.checked_add(n).ok_or_else(|| self.short(n))?;
        let slice = self.data.get(self.pos..end).ok_or_else(|| self.short(n))?;
        self.pos = end;
        Ok(slice)
    }

    /// Skips `n` bytes.
    ///
    /// # Errors
    ///
    /// If fewer bytes are left.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.bytes(n).map(|_| ())
    }

    /// A `TString`: one length byte, or 255 and a four-byte length, then the characters.
    ///
    /// # Errors
    ///
    /// If the bytes end before the string.
    pub fn string(&mut self) -> Result<String> {
        self.string_bytes().map(text::decode)
    }

    /// The characters of a `TString`, not decoded.
    ///
    /// # Errors
    ///
    /// If the bytes end before the string.
    #[inline]
    pub fn string_bytes(&mut self) -> Result<&'a [u8]> {
        let n = match self.u8()? {
            255 => {
                let n = self.i32()?;
                usize::try_from(n).map_err(|_| Error::corrupt(format!("a string of {n} characters")))?
            }
            n => usize::from(n),
        };
        self.bytes(n)
    }

    /// A zero-terminated string, as class names are written behind a new-class tag.
    pub(crate) fn c_string(&mut self) -> Result<&'a [u8]> {
        let rest = self.data.get(self.pos..).unwrap_or_default();
        let n = rest.iter().position(|&b| b == 0).ok_or_else(|| self.short(1))?;
        let s = &rest[..n];
        self.pos += n + 1;
        Ok(s)
    }

    /// A count of items of at least `each` bytes each.
    ///
    /// # Errors
    ///
    /// If the count is negative, or if the remaining bytes cannot hold so many items.
    #[inline]
    pub fn count(&mut self, each: usize) -> Result<usize> {
        let n = self.i32()?;
        self.checked_count(i64::from(n), each)
    }

    /// Checks a count from elsewhere in the same way as [`Cursor::count`].
    ///
    /// # Errors
    ///
    /// If the count is negative, or if the remaining bytes cannot hold so many items.
    #[inline]
    pub fn checked_count(&self, n: i64, each: usize) -> Result<usize> {
        usize::try_from(n)
            .ok()
            .filter(|n| n.checked_mul(each).is_some_and(|bytes| bytes <= self.remaining()))
            .ok_or_else(|| Error::corrupt(format!("a count of {n}, but only {} bytes are left", self.remaining())))
    }

    /// Position from the start of the slice.
    pub fn pos(&self) -> usize {
        self.pos
    }

    /// Moves to an absolute position.
    pub fn seek(&mut self, pos: usize) {
        self.pos = pos;
    }

    /// Bytes left.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.data.len().saturating_sub(self.pos)
    }

    /// The whole slice, whatever the position.
    pub fn data(&self) -> &'a [u8] {
        self.data
    }
}

/// Makes room for more bytes, and returns the buffer. It grows by a quarter, not by doubling: its memory is part of a budget.
pub fn make_room(buffer: &mut Vec<u8>, more: usize) -> &mut Vec<u8> {
    if buffer.capacity() - buffer.len() < more {
        buffer.reserve_exact(more + buffer.len() / 4);
    }
    buffer
}

/// Bytes that `ahead` items will take if the `done` ones took so many.
pub fn foreseen(bytes: u64, done: u64, ahead: u64) -> u128 {
    u128::from(bytes) * u128::from(ahead) / u128::from(done.max(1))
}

/// Makes room for the rest of a buffer that is being filled evenly: `done` of its items are in it, and `ahead` follow. Growing step by
/// step would move its bytes several times.
pub fn make_room_for_rest(buffer: &mut Vec<u8>, done: u64, ahead: u64) {
    let rest = foreseen(buffer.len() as u64, done, ahead);
    buffer.reserve_exact(usize::try_from(rest).unwrap_or(0));
}

/// A growing big-endian buffer: writes what [`Cursor`] reads.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// The bytes so far.
    pub bytes: Vec<u8>,
}

macro_rules! write_number {
    ($($(#[$doc:meta])* $name:ident: $ty:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, value: $ty) {
            self.bytes.extend_from_slice(&value.to_be_bytes());
        }
    )*};
}

impl Writer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    numbers!(write_number);

    /// A `TString`.
    pub fn string(&mut self, value: &str) {
        self.string_bytes(&text::encode(value));
    }

    /// A `TString` from its characters. The format has no room for lengths beyond 2 GB: longer strings are cut.
    pub fn string_bytes(&mut self, chars: &[u8]) {
        match u8::try_from(chars.len()) {
            Ok(n) if n < 255 => self.u8(n),
            _ => {
                self.u8(255);
                self.i32(i32::try_from(chars.len()).unwrap_or(i32::MAX));
            }
        }
        self.bytes.extend_from_slice(chars);
    }

    /// Raw bytes.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Position, which is the number of bytes so far.
    pub fn pos(&self) -> usize {
        self.bytes.len()
    }

    /// Overwrites four bytes at `pos`, which must have been written.
    pub fn patch_u32(&mut self, pos: usize, value: u32) {
        if let Some(slot) = self.bytes.get_mut(pos..pos + 4) {
            slot.copy_from_slice(&value.to_be_bytes());
        }
    }
}

/// Bytes that [`Writer::string`] writes for this text.
pub(crate) fn string_len(text: &str) -> usize {
    let n = text::encode(text).len();
    if n < 255 { n + 1 } else { n + 5 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_grow_by_a_quarter_or_to_what_is_foreseen() {
        let mut buffer = vec![0; 1000];
        buffer.shrink_to_fit();
        make_room(&mut buffer, 10);
        assert!((1260..1500).contains(&buffer.capacity()), "{}", buffer.capacity());
        let before = buffer.capacity();
        make_room(&mut buffer, 260);
        assert_eq!(buffer.capacity(), before, "there was room");
        // A quarter is in it.
        make_room_for_rest(&mut buffer, 10, 30);
        assert!((4000..4500).contains(&buffer.capacity()), "{}", buffer.capacity());
        let before = buffer.capacity();
        make_room_for_rest(&mut buffer, 10, 20);
        make_room_for_rest(&mut buffer, 0, 0);
        make_room_for_rest(&mut Vec::new(), 1, u64::MAX);
        assert_eq!(buffer.capacity(), before);
    }
}
