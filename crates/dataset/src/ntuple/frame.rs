//! The bytes of envelopes: little-endian integers, strings, and frames. A frame has its own size, so that a reader skips
//! members that a later version of the format adds. [`Reader`] reads what [`Writer`] writes.
//!
//! Facts: `RNTupleSerialize.cxx`, `DeserializeFrameHeader` and `DeserializeString`.

use rootfile::{Error, Result, text};

/// Bytes of the size in front of a frame.
const SIZE: usize = 8;
/// Bytes of the size and the number of items in front of a list.
const LIST_HEADER: usize = 12;

/// A checked reader over an envelope or a frame. Positions count from the start of the envelope.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    /// The envelope up to the end of the frame.
    data: &'a [u8],
    pos: usize,
    /// The envelope's name, for errors.
    envelope: &'static str,
}

/// Makes a method for each type of number.
macro_rules! numbers {
    ($each:ident) => {
        $each! { u16 u32 u64 i32 i64 f64 }
    };
}

macro_rules! read_number {
    ($($number:ident)*) => {$(
        /// The next number of this type.
        ///
        /// # Errors
        ///
        /// If the bytes end too early. So do all readers of this type.
        #[inline]
        pub fn $number(&mut self) -> Result<$number> {
            match self.data.get(self.pos..).and_then(|rest| rest.first_chunk()) {
                Some(chunk) => {
                    self.pos += chunk.len();
                    Ok($number::from_le_bytes(*chunk))
                }
                None => Err(self.short(size_of::<$number>())),
            }
        }
    )*};
}

impl<'a> Reader<'a> {
    /// Starts at `pos`.
    pub fn new(envelope: &'static str, data: &'a [u8], pos: usize) -> Self {
        Self { data, pos, envelope }
    }

    numbers!(read_number);

    /// An error that names the envelope and the position.
    #[cold]
    pub fn corrupt(&self, message: impl std::fmt::Display) -> Error {
        Error::corrupt(format!("{} (its byte {}): {message}", self.envelope, self.pos))
    }

    #[cold]
    fn short(&self, needed: usize) -> Error {
        self.corrupt(format_args!("{needed} bytes needed, {} left", self.remaining()))
    }

    /// Bytes left.
    pub fn remaining(&self) -> usize {
        self.data.len().saturating_sub(self.pos)
    }

    /// The next `n` bytes.
    ///
    /// # Errors
    ///
    /// If fewer are left.
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8]> {
        let end = self.pos.checked_add(n).ok_or_else(|| self.short(n))?;
        let bytes = self.data.get(self.pos..end).ok_or_else(|| self.short(n))?;
        self.pos = end;
        Ok(bytes)
    }

    /// A reader of the next `n` bytes alone.
    ///
    /// # Errors
    ///
    /// If fewer are left.
    pub fn part(&mut self, n: usize) -> Result<Self> {
        let start = self.pos;
        self.bytes(n)?;
        let data = self.data.get(..self.pos).unwrap_or_default();
        Ok(Self { data, pos: start, envelope: self.envelope })
    }

    /// The bytes of a string.
    ///
    /// # Errors
    ///
    /// If fewer are left than it has.
    pub fn string_bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.u32()?;
        self.bytes(n as usize)
    }

    /// A string.
    ///
    /// # Errors
    ///
    /// If its bytes are cut off.
    pub fn string(&mut self) -> Result<String> {
        self.string_bytes().map(text::decode)
    }

    /// The content of the next frame, and whether it is a list. This reader moves behind the frame.
    fn frame(&mut self, header: usize) -> Result<(Self, bool)> {
        let mut frame = self.clone();
        let size = frame.i64()?;
        let bytes = usize::try_from(size.unsigned_abs()).unwrap_or(usize::MAX);
        if bytes < header || bytes > self.remaining() {
            return Err(self.corrupt(format_args!("a frame of {bytes} bytes, {} left", self.remaining())));
        }
        let mut frame = self.part(bytes)?;
        frame.pos += SIZE;
        Ok((frame, size < 0))
    }

    /// The content of a record frame.
    ///
    /// # Errors
    ///
    /// If there is none, or if it is cut off.
    pub fn record(&mut self) -> Result<Self> {
        match self.frame(SIZE)? {
            (frame, false) => Ok(frame),
            (frame, true) => Err(frame.corrupt("a list where a record must be")),
        }
    }

    /// The number of items of a list frame, each of which has at least `least` bytes, and the items.
    ///
    /// # Errors
    ///
    /// If there is none, if it is cut off, or if it cannot hold so many items.
    pub fn list(&mut self, least: usize) -> Result<(usize, Self)> {
        let (mut frame, is_list) = self.frame(LIST_HEADER)?;
        if !is_list {
            return Err(frame.corrupt("a record where a list must be"));
        }
        let items = frame.u32()? as usize;
        match items.checked_mul(least) {
            Some(bytes) if bytes <= frame.remaining() => Ok((items, frame)),
            _ => Err(frame.corrupt(format_args!("a list of {items} items in {} bytes", frame.remaining()))),
        }
    }
}

/// A growing envelope.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// The bytes so far.
    pub bytes: Vec<u8>,
}

macro_rules! write_number {
    ($($number:ident)*) => {$(
        /// Appends a number of this type.
        pub fn $number(&mut self, value: $number) {
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }
    )*};
}

impl Writer {
    numbers!(write_number);

    /// Appends a string from its bytes.
    ///
    /// # Errors
    ///
    /// If it has more than 4 GiB.
    pub fn string_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.u32(count(bytes.len())?);
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends a string.
    ///
    /// # Errors
    ///
    /// If it has more than 4 GiB.
    pub fn string(&mut self, value: &str) -> Result<()> {
        self.string_bytes(&text::encode(value))
    }

    /// Appends a record frame with what `content` writes.
    ///
    /// # Errors
    ///
    /// Those of `content`.
    pub fn record(&mut self, content: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        self.i64(0);
        content(self)?;
        self.end_frame(start, 1);
        Ok(())
    }

    /// Appends a list frame: the items, each as `item` writes it.
    ///
    /// # Errors
    ///
    /// Those of `item`, and if there are more than 2^32 items.
    pub fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T) -> Result<()>) -> Result<()> {
        self.list_with(items.len(), |w| items.iter().try_for_each(|each| item(w, each)))
    }

    /// Appends a list frame with that number of items, and with what `content` writes: the items, and what may follow them
    /// inside the frame.
    ///
    /// # Errors
    ///
    /// Those of `content`, and if there are more than 2^32 items.
    pub fn list_with(&mut self, items: usize, content: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        self.i64(0);
        self.u32(count(items)?);
        content(self)?;
        self.end_frame(start, -1);
        Ok(())
    }

    /// Puts the size of a frame in front of it.
    fn end_frame(&mut self, start: usize, sign: i64) {
        let size = i64::try_from(self.bytes.len() - start).unwrap_or(i64::MAX);
        if let Some(slot) = self.bytes.get_mut(start..start + SIZE) {
            slot.copy_from_slice(&(size * sign).to_le_bytes());
        }
    }
}

/// A number of items or bytes, as the format stores it.
fn count(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::unsupported(format!("{n} items or bytes: the format counts up to 2^32 - 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut w = Writer::default();
        w.record(|w| {
            w.u16(7);
            w.string("Muon_pt")?;
            w.list(&[1.5, -0.0], |w, x| {
                w.f64(*x);
                Ok(())
            })
        })
        .unwrap();
        w.i64(-3);

        let mut r = Reader::new("test", &w.bytes, 0);
        let mut record = r.record().unwrap();
        assert_eq!(record.u16().unwrap(), 7);
        assert_eq!(record.string().unwrap(), "Muon_pt");
        let (n, mut items) = record.list(8).unwrap();
        assert_eq!((n, items.f64().unwrap(), items.f64().unwrap().to_bits()), (2, 1.5, (-0.0f64).to_bits()));
        assert_eq!((items.remaining(), record.remaining()), (0, 0));
        assert_eq!(r.i64().unwrap(), -3);
    }

    #[test]
    fn members_of_later_versions_are_skipped() {
        let mut w = Writer::default();
        w.record(|w| {
            w.u32(1);
            w.string("a member that this version does not know")
        })
        .unwrap();
        w.u32(2);
        let mut r = Reader::new("test", &w.bytes, 0);
        assert_eq!(r.record().unwrap().u32().unwrap(), 1);
        assert_eq!(r.u32().unwrap(), 2);
    }

    #[test]
    fn impossible_frames() {
        let frame = |size: i64, rest: &[u8]| [&size.to_le_bytes(), rest].concat();
        let record = |bytes: &[u8]| Reader::new("test", bytes, 0).record().map(|r| r.remaining());
        let list = |bytes: &[u8]| Reader::new("test", bytes, 0).list(4).map(|(n, r)| (n, r.remaining()));
        assert_eq!(record(&frame(9, b"x")).unwrap(), 1);
        assert_eq!(list(&frame(-16, &[1, 0, 0, 0, 9, 9, 9, 9])).unwrap(), (1, 4));
        for bad in [
            frame(7, b""),
            frame(10, b"x"),
            frame(-12, &[0; 4]),
            frame(i64::MIN, &[0; 4]),
            frame(i64::MAX, b""),
            vec![8],
        ] {
            assert!(record(&bad).is_err(), "{bad:?}");
        }
        for bad in
            [frame(12, &[0; 4]), frame(-11, &[0; 4]), frame(-16, &[2, 0, 0, 0, 9, 9, 9, 9]), frame(-12, &[255; 4])]
        {
            assert!(list(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn errors_name_envelope_and_byte() {
        let error = Reader::new("footer", &[0; 20], 16).u64().unwrap_err();
        assert_eq!(error.to_string(), "footer (its byte 16): 8 bytes needed, 4 left");
    }
}
