//! Contents of bins as in a record, big-endian in their own type, added like in ROOT: floats are rounded at each addition,
//! whole numbers wrap around.

use rootfile::streamer::code;

/// Numbers of one type.
#[derive(Debug)]
pub(super) struct Numbers {
    code: i32,
    pub raw: Vec<u8>,
}

/// Bytes of a number of this type, if bins can be of it.
pub(super) fn width(code: i32) -> Option<usize> {
    Some(match code {
        code::CHAR => 1,
        code::SHORT | code::USHORT => 2,
        code::INT | code::UINT | code::FLOAT => 4,
        code::LONG | code::LONG64 | code::ULONG | code::ULONG64 | code::DOUBLE => 8,
        _ => return None,
    })
}

impl Numbers {
    /// Numbers from bytes. `None` if the type is not one of bins, or the bytes end within a number.
    pub fn new(code: i32, raw: Vec<u8>) -> Option<Self> {
        let width = width(code)?;
        raw.len().is_multiple_of(width).then_some(Self { code, raw })
    }

    pub fn code(&self) -> i32 {
        self.code
    }

    pub fn len(&self) -> usize {
        self.raw.len() / width(self.code).unwrap_or(1)
    }

    /// Resizes to `len` numbers. New ones are 0.
    pub fn resize(&mut self, len: usize) {
        self.raw.resize(len.saturating_mul(width(self.code).unwrap_or(1)), 0);
    }

    /// One number. 0 beyond the end.
    #[expect(clippy::cast_precision_loss, reason = "THnBase hands contents out as doubles")]
    pub fn get(&self, at: usize) -> f64 {
        match self.code {
            code::CHAR => self.bytes(at).map_or(0.0, |b| f64::from(i8::from_be_bytes(b))),
            code::SHORT => self.bytes(at).map_or(0.0, |b| f64::from(i16::from_be_bytes(b))),
            code::USHORT => self.bytes(at).map_or(0.0, |b| f64::from(u16::from_be_bytes(b))),
            code::INT => self.bytes(at).map_or(0.0, |b| f64::from(i32::from_be_bytes(b))),
            code::UINT => self.bytes(at).map_or(0.0, |b| f64::from(u32::from_be_bytes(b))),
            code::ULONG | code::ULONG64 => self.bytes(at).map_or(0.0, |b| u64::from_be_bytes(b) as f64),
            code::FLOAT => self.bytes(at).map_or(0.0, |b| f64::from(f32::from_be_bytes(b))),
            code::DOUBLE => self.bytes(at).map_or(0.0, f64::from_be_bytes),
            _ => self.bytes(at).map_or(0.0, |b| i64::from_be_bytes(b) as f64),
        }
    }

    /// Adds to a number. Returns whether the sum fits its type.
    #[expect(clippy::cast_possible_truncation, reason = "as TArray::SetAt and TNDArrayT::AddAt do")]
    pub fn add(&mut self, at: usize, content: f64) -> bool {
        macro_rules! whole {
            ($t:ty, $wide:ty) => {{
                let old = self.bytes(at).map_or(0, <$t>::from_be_bytes);
                let sum = old.wrapping_add(content as $wide as $t);
                self.put(at, &sum.to_be_bytes());
                i128::from(old) + content as i128 == i128::from(sum)
            }};
        }
        match self.code {
            code::CHAR => whole!(i8, i64),
            code::SHORT => whole!(i16, i64),
            code::INT => whole!(i32, i64),
            code::USHORT => whole!(u16, i64),
            code::UINT => whole!(u32, i64),
            code::ULONG | code::ULONG64 => whole!(u64, u64),
            code::FLOAT => {
                let sum = self.bytes(at).map_or(0.0, f32::from_be_bytes) + content as f32;
                self.put(at, &sum.to_be_bytes());
                true
            }
            code::DOUBLE => {
                let sum = self.get(at) + content;
                self.put(at, &sum.to_be_bytes());
                true
            }
            _ => whole!(i64, i64),
        }
    }

    fn bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.raw.as_chunks::<N>().0.get(at).copied()
    }

    fn put<const N: usize>(&mut self, at: usize, bytes: &[u8; N]) {
        if let Some(place) = self.raw.as_chunks_mut::<N>().0.get_mut(at) {
            *place = *bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_wrap_around_and_report_it() {
        for (code, largest) in
            [(code::CHAR, 127.0), (code::SHORT, 32767.0), (code::INT, 2_147_483_647.0), (code::LONG, 9e15)]
        {
            let mut numbers = Numbers::new(code, Vec::new()).unwrap();
            numbers.resize(2);
            assert!(numbers.add(1, largest));
            assert_eq!((numbers.get(0), numbers.get(1), numbers.len()), (0.0, largest, 2));
            if code != code::LONG {
                assert!(!numbers.add(1, 1.0));
                assert_eq!(numbers.get(1), -largest - 1.0);
            }
        }
    }

    #[test]
    fn floats_are_rounded_and_other_types_refused() {
        let mut numbers = Numbers::new(code::FLOAT, 16_777_216f32.to_be_bytes().to_vec()).unwrap();
        assert!(numbers.add(0, 1.0));
        assert_eq!(numbers.get(0), 16_777_216.0);
        assert!(Numbers::new(code::DOUBLE, vec![0; 12]).is_none());
        assert!(Numbers::new(code::BOOL, vec![0; 12]).is_none());
    }
}
