//! The elements of one column that are in no page yet, or whose bytes are those of a page already.

use std::ops::Range;

use arrow_buffer::ArrowNativeType;
use rootfile::bytes::{make_room, make_room_for_rest};
use rootfile::{Error, Result};

use crate::encode::view::{Words, shape_mismatch};
use crate::ntuple::element::{ColumnType, Elements, Encoding, Kind, NeededBits, Word, native};
use crate::rounding::{rounded32, rounded64};

/// The elements of a column that are in no page yet, within the cluster that is being filled.
#[derive(Debug)]
pub struct PendingColumn {
    encoding: Encoding,
    store: Store,
    /// Whether a value that would change is refused.
    keeps_bits: bool,
    /// The items of the collections so far in this cluster; of variants, the values of each part.
    pub(super) counts: Vec<u64>,
    /// Bits of mantissa to which numbers are rounded.
    mantissa: Option<u32>,
}

/// How elements wait for their page.
#[derive(Debug)]
enum Store {
    /// As values. A page is made of them, and they are forgotten.
    Values(Elements),
    /// As the bytes of their pages: those of finished pages come first, and stay until the cluster ends.
    Bytes {
        bytes: Vec<u8>,
        /// Bytes of an element.
        size: usize,
        /// Bytes of finished pages.
        paged: usize,
    },
}

impl Store {
    fn new(encoding: &Encoding, double: bool, as_bytes: bool) -> Self {
        match encoding.kind() {
            // Ends count from the start of the cluster.
            Kind::Index => Self::Values(Elements::U64(Vec::new())),
            kind if as_bytes && encoding.is_native(double) => {
                Self::Bytes { bytes: Vec::new(), size: kind.memory_size(), paged: 0 }
            }
            kind => Self::Values(Elements::new(kind, double)),
        }
    }
}

impl PendingColumn {
    /// An empty column. With `double` its elements are those of a `double` field: floats of less precision may store them. `as_bytes`:
    /// its pages are not compressed, so that elements which lie in them as in memory are kept as their bytes.
    pub(super) fn new(encoding: Encoding, double: bool, counts: usize, as_bytes: bool) -> Self {
        let store = Store::new(&encoding, double, as_bytes);
        Self { encoding, store, keeps_bits: false, counts: vec![0; counts], mantissa: None }
    }

    /// Refuses values that would change in its encoding.
    pub(super) fn keep_bits(mut self, keeps_bits: bool) -> Self {
        self.keeps_bits = keeps_bits;
        self
    }

    /// The same column, whose floating-point numbers are rounded to so many bits of mantissa.
    pub(super) fn rounding(mut self, mantissa: Option<u16>) -> Self {
        self.mantissa = mantissa.map(u32::from);
        if self.mantissa.is_some() {
            let double = matches!(&self.store, Store::Values(Elements::F64(_)) | Store::Bytes { size: 8, .. });
            self.store = Store::new(&self.encoding, double, false);
        }
        self
    }

    /// Its encoding.
    pub fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    /// How many elements are in no page.
    pub fn len(&self) -> usize {
        match &self.store {
            Store::Values(elements) => elements.len(),
            Store::Bytes { bytes, size, paged } => (bytes.len() - paged) / size,
        }
    }

    /// Whether all elements are in pages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of an element in memory: the limit of its pages counts these.
    pub fn element_size(&self) -> usize {
        match &self.store {
            Store::Values(elements) => elements.kind().memory_size(),
            Store::Bytes { size, .. } => *size,
        }
    }

    /// Bytes of its memory.
    pub fn memory(&self) -> u64 {
        match &self.store {
            Store::Values(elements) => elements.capacity() as u64,
            Store::Bytes { bytes, .. } => bytes.capacity() as u64,
        }
    }

    /// Bytes that the pending elements take in pages before compression.
    pub fn raw_len(&self) -> u64 {
        self.encoding.page_len(self.len()).unwrap_or(0) as u64
    }

    /// Appends the bytes of a page with the elements `range` of the pending ones.
    ///
    /// # Errors
    ///
    /// If a value does not fit the encoding: an end of more than 32 bits, a number outside the range of a quantised column, one that
    /// would change where none may.
    pub fn encode(&self, range: Range<usize>, page: &mut Vec<u8>) -> Result<()> {
        match &self.store {
            Store::Values(elements) => {
                if self.keeps_bits {
                    elements.check_kept(&self.encoding, range.clone())?;
                }
                elements.encode(&self.encoding, range, page)
            }
            Store::Bytes { .. } => {
                page.extend_from_slice(self.page(range).ok_or_else(out_of_range)?.1);
                Ok(())
            }
        }
    }

    /// The bytes of a page with the elements `range` of the pending ones, and where they begin in [`PendingColumn::bytes`]. None if
    /// the page is to be encoded.
    pub fn page(&self, range: Range<usize>) -> Option<(usize, &[u8])> {
        let Store::Bytes { bytes, size, paged } = &self.store else { return None };
        let (start, end) = (paged + range.start * size, paged + range.end * size);
        Some((start, bytes.get(start..end)?))
    }

    /// The bytes of all elements of the cluster, those in finished pages too. None if pages are encoded.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.store {
            Store::Values(_) => None,
            Store::Bytes { bytes, .. } => Some(bytes),
        }
    }

    /// Makes room in [`PendingColumn::bytes`] for `ahead` entries like the `done` ones of this cluster.
    pub fn make_room(&mut self, done: u64, ahead: u64) {
        if let Store::Bytes { bytes, .. } = &mut self.store {
            make_room_for_rest(bytes, done, ahead);
        }
    }

    /// Takes [`PendingColumn::bytes`] at the end of a cluster: all elements must be in pages.
    pub fn take_bytes(&mut self) -> Option<Vec<u8>> {
        let Store::Bytes { bytes, paged, .. } = &mut self.store else { return None };
        *paged = 0;
        Some(std::mem::take(bytes))
    }

    /// Gives it a buffer for the bytes of elements, if it has none and needs one.
    pub fn give_buffer(&mut self, mut buffer: Vec<u8>) {
        if let Store::Bytes { bytes, .. } = &mut self.store
            && bytes.capacity() == 0
        {
            buffer.clear();
            *bytes = buffer;
        }
    }

    /// Forgets the first elements, which are in pages now.
    pub fn forget(&mut self, elements: usize) {
        match &mut self.store {
            Store::Values(values) => values.forget(elements),
            Store::Bytes { size, paged, .. } => *paged += elements * *size,
        }
    }

    /// Adds the pending elements to what its numbers need, and forgets them.
    pub fn take_needed(&mut self, needed: &mut NeededBits) {
        if let Store::Values(elements) = &self.store {
            needed.add(elements);
        }
        self.forget(self.len());
    }

    /// Begins another cluster. All elements must be in pages.
    pub fn start_cluster(&mut self) {
        self.counts.fill(0);
    }

    /// Frees memory that holds no elements.
    pub fn shrink_to_fit(&mut self) {
        match &mut self.store {
            Store::Values(elements) => elements.shrink_to_fit(),
            Store::Bytes { bytes, .. } => bytes.shrink_to_fit(),
        }
    }

    /// Frees its memory. All elements must be in pages, and the cluster's bytes taken.
    pub fn drop_memory(&mut self) {
        match &mut self.store {
            Store::Values(elements) => {
                let double = matches!(elements, Elements::F64(_));
                self.store = Store::new(&self.encoding, double, false);
            }
            Store::Bytes { bytes, paged, .. } => (*bytes, *paged) = (Vec::new(), 0),
        }
    }

    /// Whether a column of this type keeps numbers of items or values.
    pub(super) fn counters(column_type: ColumnType, parts: usize) -> usize {
        match column_type {
            ColumnType::Switch => parts,
            column_type if column_type.is_index() => 1,
            _ => 0,
        }
    }

    /// Its ends and the items so far, if it is a column of ends.
    pub(super) fn ends(&mut self) -> Result<(&mut Vec<u64>, &mut u64)> {
        match (&mut self.store, self.counts.first_mut()) {
            (Store::Values(Elements::U64(ends)), Some(count)) => Ok((ends, count)),
            _ => Err(shape_mismatch()),
        }
    }

    /// Appends a variant: a value of this part, the next one in the cluster, or none.
    pub(super) fn push_variant(&mut self, part: Option<usize>) -> Result<()> {
        let Store::Values(Elements::Switch(out)) = &mut self.store else { return Err(shape_mismatch()) };
        let Some(part) = part else {
            out.push((0, 0));
            return Ok(());
        };
        let count = self.counts.get_mut(part).ok_or_else(out_of_range)?;
        out.push((*count, u32::try_from(part + 1).map_err(|_| out_of_range())?));
        *count += 1;
        Ok(())
    }

    /// Appends characters or bytes.
    pub(super) fn push_bytes(&mut self, more: &[u8]) -> Result<()> {
        match &mut self.store {
            Store::Values(Elements::U8(out)) => out.extend_from_slice(more),
            Store::Bytes { bytes, size: 1, .. } => make_room(bytes, more.len()).extend_from_slice(more),
            _ => return Err(shape_mismatch()),
        }
        Ok(())
    }

    /// Appends elements that are zero.
    pub(super) fn push_zeros(&mut self, n: usize) -> Result<()> {
        match &mut self.store {
            Store::Values(elements) => elements.append_zeros(n),
            Store::Bytes { bytes, size, .. } => {
                let len = bytes.len() + n * *size;
                make_room(bytes, n * *size).resize(len, 0);
                Ok(())
            }
        }
    }

    /// Appends the numbers `range` of an array.
    pub(super) fn push_numbers(&mut self, words: Words<'_>, range: Range<usize>) -> Result<()> {
        fn part<T>(values: &[T], range: Range<usize>) -> Result<&[T]> {
            values.get(range).ok_or_else(out_of_range)
        }
        let before = self.len();
        if let Store::Values(elements) = &mut self.store {
            elements.make_room(range.len());
        }
        match (&mut self.store, words) {
            (Store::Bytes { bytes, size: 1, .. }, Words::W1(v)) => put(bytes, part(v, range)?),
            (Store::Bytes { bytes, size: 2, .. }, Words::W2(v)) => put(bytes, part(v, range)?),
            (Store::Bytes { bytes, size: 4, .. }, Words::W4(v)) => put(bytes, part(v, range)?),
            (Store::Bytes { bytes, size: 8, .. }, Words::W8(v)) => put(bytes, part(v, range)?),
            (Store::Bytes { .. }, _) => return Err(shape_mismatch()),
            (Store::Values(Elements::Bool(out)), Words::Bool(bits)) => {
                if range.end > bits.len() {
                    return Err(out_of_range());
                }
                out.append_buffer(&bits.slice(range.start, range.len()));
            }
            (Store::Values(Elements::U8(out)), Words::W1(v)) => out.extend_from_slice(part(v, range)?),
            (Store::Values(Elements::I8(out)), Words::W1(v)) => {
                out.extend(part(v, range)?.iter().map(|word| word.cast_signed()));
            }
            (Store::Values(Elements::U16(out)), Words::W2(v)) => out.extend_from_slice(part(v, range)?),
            (Store::Values(Elements::I16(out)), Words::W2(v)) => {
                out.extend(part(v, range)?.iter().map(|word| word.cast_signed()));
            }
            (Store::Values(Elements::U32(out)), Words::W4(v)) => out.extend_from_slice(part(v, range)?),
            (Store::Values(Elements::I32(out)), Words::W4(v)) => {
                out.extend(part(v, range)?.iter().map(|word| word.cast_signed()));
            }
            (Store::Values(Elements::F32(out)), Words::W4(v)) => {
                let numbers = part(v, range)?.iter().map(|word| f32::from_bits(*word));
                match self.mantissa {
                    Some(bits) => out.extend(numbers.map(|number| rounded32(number, bits))),
                    None => out.extend(numbers),
                }
            }
            (Store::Values(Elements::U64(out)), Words::W8(v)) => out.extend_from_slice(part(v, range)?),
            (Store::Values(Elements::I64(out)), Words::W8(v)) => {
                out.extend(part(v, range)?.iter().map(|word| word.cast_signed()));
            }
            (Store::Values(Elements::F64(out)), Words::W8(v)) => {
                let numbers = part(v, range)?.iter().map(|word| f64::from_bits(*word));
                match self.mantissa {
                    Some(bits) => out.extend(numbers.map(|number| rounded64(number, bits))),
                    None => out.extend(numbers),
                }
            }
            (Store::Values(_), _) => return Err(shape_mismatch()),
        }
        // Here the entries are known that they belong to.
        match &self.store {
            Store::Values(elements) => elements.check(&self.encoding, before..elements.len()),
            Store::Bytes { .. } => Ok(()),
        }
    }
}

/// Appends words as a page has them.
fn put<W: Word + ArrowNativeType>(bytes: &mut Vec<u8>, words: &[W]) {
    native(make_room(bytes, size_of_val(words)), words, |word| word);
}

#[cold]
pub(super) fn out_of_range() -> Error {
    Error::request("an array whose offsets lie outside of its values")
}
