//! Reads numbers, strings and the small classes that ROOT streams by hand: `TObject` and `TRef`.

use rootfile::object::read_tobject;
use rootfile::streamer::Packed;
use rootfile::{Error, Result};

use super::column::Column;
use super::interpreter::Interpreter;
use super::value::{Value, read_number, too_many};
use super::words::{Offsets, Words};
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;

/// `TObject` bit: a `TRef` points here, and a process identifier follows.
const IS_REFERENCED: u32 = 1 << 4;

impl Interpreter<'_> {
    #[inline]
    pub(super) fn numbers(&mut self, number: Number, n: usize, words: &mut Words) -> Result<()> {
        if n == 1 {
            words.push_be(self.cursor.bytes(number.size())?);
        } else {
            words.extend_be(self.cursor.bytes(n.checked_mul(number.size()).ok_or_else(too_many)?)?);
        }
        Ok(())
    }

    /// Numbers of another type than the column's.
    #[inline]
    pub(super) fn converted_numbers(&mut self, from: Number, to: Number, n: usize, words: &mut Words) -> Result<()> {
        self.fits(n, from.size())?;
        for _ in 0..n {
            let value = read_number(&mut self.cursor, from)?;
            words.push_number(to, value);
        }
        Ok(())
    }

    /// `Double32_t` and `Float16_t`.
    #[inline]
    pub(super) fn packed_numbers(&mut self, packed: Packed, to: Number, n: usize, words: &mut Words) -> Result<()> {
        self.fits(n, packed.size())?;
        for _ in 0..n {
            let value = packed.read(&mut self.cursor)?;
            words.push_number(to, Value::Float(value));
        }
        Ok(())
    }

    /// `TObject::fBits`.
    #[inline]
    pub(super) fn tobject_bits(&mut self, n: usize, words: &mut Vec<u32>) -> Result<()> {
        self.fits(n, 4)?;
        words.reserve(n);
        for _ in 0..n {
            let bits = self.cursor.u32()?;
            if bits & IS_REFERENCED != 0 {
                self.cursor.u16()?;
            }
            words.push(bits);
        }
        Ok(())
    }

    /// `TString`s.
    #[inline]
    pub(super) fn tstrings(&mut self, n: usize, offsets: &mut Offsets, bytes: &mut Vec<u8>) -> Result<()> {
        self.fits(n, 1)?;
        for _ in 0..n {
            let string = self.cursor.string_bytes()?;
            bytes.extend_from_slice(string);
            offsets.push(string.len());
        }
        Ok(())
    }

    /// `char*` members.
    #[inline]
    pub(super) fn char_stars(&mut self, n: usize, offsets: &mut Offsets, bytes: &mut Vec<u8>) -> Result<()> {
        self.fits(n, 4)?;
        for _ in 0..n {
            let len = self.cursor.count(1)?;
            bytes.extend_from_slice(self.cursor.bytes(len)?);
            offsets.push(len);
        }
        Ok(())
    }

    /// Strings of `TLeafC`.
    #[inline]
    pub(super) fn c_strings(&mut self, n: usize, offsets: &mut Offsets, bytes: &mut Vec<u8>) -> Result<()> {
        for _ in 0..n {
            let string = self.cursor.string_bytes()?;
            let string = string.split(|&b| b == 0).next().unwrap_or_default();
            bytes.extend_from_slice(string);
            offsets.push(string.len());
        }
        Ok(())
    }

    /// Records of parts: those of numbers alone are read one column after the other.
    #[inline]
    pub(super) fn records(&mut self, op: &Op, ops: &[Op], n: usize, parts: &mut [Column]) -> Result<()> {
        if only_numbers(ops) {
            let stride = op.fixed_size().unwrap_or(0);
            let bytes = self.cursor.bytes(n.checked_mul(stride).ok_or_else(too_many)?)?;
            let mut at = 0;
            for (op, part) in ops.iter().zip(parts) {
                if let (Op::Number(number), Column::Numbers(_, words)) = (op, part) {
                    words.extend_strided(bytes, n, at, stride);
                    at += number.size();
                }
            }
            return Ok(());
        }
        self.fits(n, 1)?;
        for _ in 0..n {
            for (op, part) in ops.iter().zip(parts.iter_mut()) {
                self.read(op, 1, part)?;
            }
        }
        Ok(())
    }

    /// `TObject`s, as unique number and bits, and where that is kept, the process.
    #[inline]
    pub(super) fn tobjects(&mut self, n: usize, parts: &mut [Column]) -> Result<()> {
        for _ in 0..n {
            let object = read_tobject(&mut self.cursor)?;
            for (part, value) in parts.iter_mut().zip([object.unique_id, object.bits, 0]) {
                match part {
                    Column::Numbers(_, Words::W4(words)) => words.push(value),
                    Column::Numbers(_, Words::W2(words)) => words.push(object.pid.unwrap_or(0)),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// `TRef`s, as the unique number of what they refer to.
    #[inline]
    pub(super) fn trefs(&mut self, n: usize, parts: &mut [Column]) -> Result<()> {
        for _ in 0..n {
            let reference = read_tobject(&mut self.cursor)?.unique_id;
            self.cursor.u16()?;
            if let Some(Column::Numbers(_, Words::W4(words))) = parts.first_mut() {
                words.push(reference);
            }
        }
        Ok(())
    }

    /// Sets a counter to the next `n` numbers without consuming them.
    pub(super) fn peek_counter(&mut self, slot: usize, number: Number, n: usize) -> Result<()> {
        self.fits(n, number.size())?;
        let mut cursor = self.cursor.clone();
        let Some(counter) = self.counters.get_mut(slot) else { return Ok(()) };
        counter.clear();
        for _ in 0..n {
            let value = match read_number(&mut cursor, number)? {
                Value::Int(value) => u64::try_from(value).unwrap_or(0),
                Value::Float(_) => return Err(Error::unsupported("a counter that is not an integer")),
            };
            counter.push(value);
        }
        Ok(())
    }
}

/// Whether a record has nothing but numbers.
fn only_numbers(ops: &[Op]) -> bool {
    ops.iter().all(|op| matches!(op, Op::Number(_)))
}
