//! The bytes of default entries: zeros, empty lists and empty texts, as the encoder of a column writes them. For members of objects
//! that some inputs lack. Whole objects have defaults of their own classes' making, and are not made here.

use std::sync::Arc;

use arrow_array::{ArrayRef, LargeListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::DataType;
use rootfile::{Error, Result};

use crate::decode::ColumnPlan;
use crate::default_array::unwritten;
use crate::encode::EncodedEntries;
use crate::layout::Streaming;

/// Bits of a byte count in a frame.
const BYTE_COUNT: u32 = 0x4000_0000;

/// The default entries of a member of a split collection, by the number of its items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultItems {
    /// What an entry begins with: a byte count, and this; none if it has no frame.
    frame: Option<Vec<u8>>,
    /// The bytes of each item.
    item: Vec<u8>,
}

impl DefaultItems {
    /// Of a column whose entries are lists of items.
    ///
    /// # Errors
    ///
    /// If the column cannot be encoded, or if the bytes of its items depend on their number.
    pub fn of(plan: &ColumnPlan) -> Result<Self> {
        let unknown = || Error::unsupported("items whose bytes depend on their number");
        let [none, one, more] = [0, 1, 3].map(|items| entry(plan, Some(items)));
        let (none, one, more) = (none?, one?, more?);
        let item = one.get(none.len()..).ok_or_else(unknown)?.to_vec();
        let frame = if none.is_empty() { None } else { Some(none.get(4..).ok_or_else(unknown)?.to_vec()) };
        let found = Self { frame, item };
        for (items, bytes) in [(0, none), (1, one), (3, more)] {
            let mut own = Vec::new();
            found.append(items, &mut own)?;
            if own != bytes {
                return Err(unknown());
            }
        }
        Ok(found)
    }

    /// Bytes of an entry besides its items, and of each item.
    pub fn sizes(&self) -> (usize, usize) {
        (self.frame.as_ref().map_or(0, |frame| 4 + frame.len()), self.item.len())
    }

    /// Appends an entry of so many items.
    ///
    /// # Errors
    ///
    /// If it has more bytes than a frame can say.
    pub fn append(&self, items: usize, out: &mut Vec<u8>) -> Result<()> {
        let too_large = || Error::unsupported("entries of more than 1 GB");
        let bytes = self.item.len().checked_mul(items).ok_or_else(too_large)?;
        if let Some(frame) = &self.frame {
            let len = u32::try_from(frame.len().saturating_add(bytes)).map_err(|_| too_large())?;
            if len >= BYTE_COUNT {
                return Err(too_large());
            }
            out.extend_from_slice(&(len | BYTE_COUNT).to_be_bytes());
            out.extend_from_slice(frame);
        }
        out.try_reserve(bytes).map_err(|_| Error::memory(bytes as u64))?;
        (0..items).for_each(|_| out.extend_from_slice(&self.item));
        Ok(())
    }
}

/// The bytes of the default entry of a column that is not one of items.
///
/// # Errors
///
/// If the column cannot be encoded.
pub fn default_entry(plan: &ColumnPlan) -> Result<Vec<u8>> {
    entry(plan, None)
}

/// An entry of zeros; of a list with so many, if that is given.
fn entry(plan: &ColumnPlan, items: Option<usize>) -> Result<Vec<u8>> {
    if let Some(why) = plan.opaque() {
        return Err(Error::unsupported(why.to_owned()));
    }
    let values: ArrayRef = match (plan.field().data_type(), items) {
        (DataType::LargeList(item), Some(items)) => {
            let zeros = unwritten(item.data_type(), items)?;
            let lists = LargeListArray::try_new(Arc::clone(item), OffsetBuffer::from_lengths([items]), zeros, None);
            Arc::new(lists.map_err(|e| Error::unsupported(e.to_string()))?)
        }
        (_, Some(_)) => return Err(Error::unsupported("a member of a collection without items")),
        (data_type, None) => unwritten(data_type, 1)?,
    };
    let mut encoder = plan.encoder(Streaming::MemberWise)?;
    let mut out = EncodedEntries::default();
    encoder.append(values.as_ref(), 0..1, &mut out)?;
    Ok(out.bytes)
}
