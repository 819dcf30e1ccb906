//! Whether one basket is sound: its header agrees with itself and with the tree, and its payload decompresses to the size in
//! the header and has its entries. Memory is reserved before it is taken. Callers decide which baskets are looked at.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use dataset::tree::basket::{BasketHeader, Listed};
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, check_sizes};
use rootfile::{Error, Result, Source};

use crate::execute::budget::Budget;

/// A readable basket.
#[derive(Clone, Debug)]
pub(crate) struct SoundBasket {
    pub nbytes: u32,
    pub entries: u64,
    /// Name of its branch, as its key says.
    pub branch: Arc<str>,
    /// Whether it has boundaries of its entries.
    pub has_boundaries: bool,
}

impl SoundBasket {
    /// Fails if ROOT takes the basket for one of another form. It reads boundaries where the branch has an `fEntryOffsetLen`, and computes
    /// them from the length of an entry where it has none (`TBasket::ReadBasketBuffers`, `TBranch::GetEntry`).
    ///
    /// # Errors
    ///
    /// The basket has no boundaries although baskets of its branch have some, or the other way round.
    pub fn check_form(&self, has_offsets: bool) -> Result<()> {
        let why = match (has_offsets, self.has_boundaries) {
            // An entry that is alone ends with the basket.
            (true, false) if self.entries > 1 => "no entry offsets, which its branch says it has",
            (false, true) => "entry offsets, which its branch says it has not",
            _ => return Ok(()),
        };
        Err(Error::corrupt(format!(
            "the basket has {why}: ROOT reads other values; rewrite with --cluster writes all baskets anew"
        )))
    }
}

/// The record of a basket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasketRecord {
    pub seek: u64,
    pub nbytes: u32,
    /// Entries that the tree lists. None: those in the header count.
    pub entries: Option<u64>,
}

/// The basket of a record if it is sound, else what is wrong with it.
///
/// # Errors
///
/// Reading failed, or the budget is too small.
pub(crate) fn check_basket(
    source: &dyn Source,
    wanted: BasketRecord,
    limit: &MemoryLimit,
    decompressor: &mut Decompressor,
) -> Result<Result<SoundBasket>> {
    let BasketRecord { seek, nbytes, entries } = wanted;
    if let Err(beyond) = source.check_range(seek, nbytes as usize) {
        return Ok(Err(beyond));
    }
    let held = limit.reserve(nbytes.into())?;
    let record = source.read(seek, nbytes as usize)?;
    let peek = match BasketHeader::peek(&record) {
        Ok(peek) => peek,
        Err(e) => return Ok(Err(e)),
    };
    let (found, objlen) = (u64::from(peek.nev_buf), peek.objlen as usize);
    let body = record.get(usize::from(peek.keylen)..).unwrap_or_default();
    let listed = Listed { seek, nbytes, entries: entries.unwrap_or(found) };
    if let Err(e) = peek.check(&listed).and_then(|_| check_sizes(body, objlen)) {
        return Ok(Err(e));
    }
    let has_boundaries = peek.has_boundaries();
    let branch = String::from_utf8_lossy(peek.names.get(1).copied().unwrap_or_default()).into();
    // The blocks agree on this size. The first reservation is returned before the next one, so that no thread waits for more
    // memory while it holds some.
    drop(held);
    let _held = limit.reserve(u64::from(nbytes) + objlen as u64)?;
    let mut payload = Vec::new();
    let opened = decompressor
        .decompress(body, objlen, &mut payload)
        .and_then(|()| BasketHeader::parse(&mut Cursor::new(&record)))
        .and_then(|header| header.open(payload));
    Ok(opened.map(|_| SoundBasket { nbytes, entries: found, branch, has_boundaries }))
}

/// Limits the memory of all threads.
pub(crate) struct MemoryLimit {
    budget: Budget,
    free: Mutex<u64>,
    changed: Condvar,
}

/// Memory of a thread, returned when it is dropped.
pub(crate) struct Reservation<'a>(&'a MemoryLimit, u64);

impl MemoryLimit {
    /// All memory of a budget.
    pub fn new(budget: Budget) -> Self {
        Self { budget, free: Mutex::new(budget.memory), changed: Condvar::new() }
    }

    /// Waits until this much memory is free, and reserves it.
    ///
    /// # Errors
    ///
    /// If the budget never has as much.
    pub fn reserve(&self, bytes: u64) -> Result<Reservation<'_>> {
        if bytes > self.budget.memory {
            return Err(self.budget.too_small(bytes, " to check the largest basket"));
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free < bytes {
            free = self.changed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= bytes;
        Ok(Reservation(self, bytes))
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += self.1;
        self.0.changed.notify_all();
    }
}
