//! Joins the columns of parts that were decoded on their own.

use rootfile::{Error, Result};

use super::column::Column;
use super::value::shape_mismatch;
use super::words::{Offsets, Words};

impl Column {
    /// Appends the values of another column of the same shape. A column without values and without room takes the other's
    /// memory.
    pub(crate) fn append(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::Numbers(number, own), Self::Numbers(of, other)) if *number == of => own.append(other),
            (Self::Bits(own), Self::Bits(other)) => {
                own.append_packed_range(0..other.len(), other.as_slice());
                Ok(())
            }
            (Self::Text { offsets, bytes }, Self::Text { offsets: more, bytes: other })
            | (Self::Bytes { offsets, bytes }, Self::Bytes { offsets: more, bytes: other }) => {
                offsets.append(&more)?;
                join(bytes, other);
                Ok(())
            }
            (Self::List { offsets, items, .. }, Self::List { offsets: more, items: other, .. }) => {
                offsets.append(&more)?;
                items.append(*other)
            }
            (Self::Fixed { size, len, items, .. }, Self::Fixed { size: of, len: more, items: other, .. })
                if *size == of =>
            {
                *len = sum(*len, more)?;
                items.append(*other)
            }
            (Self::Record { len, parts, .. }, Self::Record { len: more, parts: other, .. })
                if parts.len() == other.len() =>
            {
                *len = sum(*len, more)?;
                parts.iter_mut().zip(other).try_for_each(|(part, other)| part.append(other))
            }
            (Self::Optional { valid, value }, Self::Optional { valid: more, value: other }) => {
                join(valid, more);
                value.append(*other)
            }
            _ => Err(shape_mismatch()),
        }
    }
}

impl Words {
    fn append(&mut self, other: Self) -> Result<()> {
        match (self, other) {
            (Self::W1(own), Self::W1(other)) => join(own, other),
            (Self::W2(own), Self::W2(other)) => join(own, other),
            (Self::W4(own), Self::W4(other)) => join(own, other),
            (Self::W8(own), Self::W8(other)) => join(own, other),
            _ => return Err(shape_mismatch()),
        }
        Ok(())
    }
}

impl Offsets {
    fn append(&mut self, other: &Self) -> Result<()> {
        self.last().checked_add(other.last()).ok_or_else(too_many)?;
        self.extend_ends(other.ends().iter().copied());
        Ok(())
    }
}

fn join<T: Copy>(own: &mut Vec<T>, other: Vec<T>) {
    if own.is_empty() && own.capacity() <= other.capacity() {
        *own = other;
    } else {
        own.extend_from_slice(&other);
    }
}

fn sum(len: usize, more: usize) -> Result<usize> {
    len.checked_add(more).ok_or_else(too_many)
}

#[cold]
fn too_many() -> Error {
    Error::unsupported("more values than an array can hold: read fewer entries")
}
