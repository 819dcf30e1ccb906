//! Checks every basket before it is kept: the header must be consistent, and the payload must decompress to the size in the
//! header. Runs on all threads, within the budget.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use dataset::tree::basket::{BasketHeader, Listed};
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, check_sizes};
use rootfile::{Error, Result, RootFile};

use crate::Budget;
use crate::execute::progress::{Progress, tell};

/// Bytes of a record that are read for its header.
const HEADER_SIZE: usize = 4096;

/// The position of a basket in the file, found or listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BasketPosition {
    pub seek: u64,
    pub nbytes: u32,
}

/// A readable basket.
#[derive(Clone, Debug)]
pub(super) struct SoundBasket {
    pub nbytes: u32,
    pub entries: u64,
    /// Name of its branch, as its key says.
    pub branch: String,
}

/// The readable baskets, by their positions.
pub(super) type SoundBaskets = HashMap<u64, SoundBasket>;

/// Checks the baskets at these positions.
pub(super) fn check(
    file: &RootFile,
    mut positions: Vec<BasketPosition>,
    budget: Budget,
    progress: Progress<'_>,
) -> Result<SoundBaskets> {
    positions.sort_unstable();
    positions.dedup();
    let least = positions.iter().map(|position| memory_for(file, position, budget.memory)).max().unwrap_or(0);
    if least > budget.memory {
        return Err(budget.too_small(least, " to check the largest basket"));
    }
    let limit = MemoryLimit { free: Mutex::new(budget.memory), changed: Condvar::new() };
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(u64, SoundBasket)>> {
        let mut decompressor = Decompressor::new();
        let mut sound = Vec::new();
        while let Some(position) = positions.get(next.fetch_add(1, Ordering::Relaxed)) {
            let checked = check_basket(file, *position, (&limit, budget), &mut decompressor).and_then(|found| {
                tell(progress, 0)?;
                Ok(found)
            });
            match checked {
                Ok(found) => sound.extend(found.map(|found| (position.seek, found))),
                Err(e) => {
                    // Stops the other threads.
                    next.store(positions.len(), Ordering::Relaxed);
                    return Err(e);
                }
            }
        }
        Ok(sound)
    };
    let threads = budget.threads.min(positions.len()).max(1);
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut all: SoundBaskets = work()?.into_iter().collect();
        for other in others {
            let found = other.join().map_err(|_| Error::request("a thread ended before its work was done"))??;
            all.extend(found);
        }
        Ok(all)
    })
}

/// Memory to check a basket, by its header. A size beyond `most` is believed only if the record's compressed blocks agree.
fn memory_for(file: &RootFile, position: &BasketPosition, most: u64) -> u64 {
    let record = u64::from(position.nbytes);
    if position.seek.checked_add(record).is_none_or(|end| end > file.source().size()) {
        return 0;
    }
    let Ok(start) = file.source().read(position.seek, (position.nbytes as usize).min(HEADER_SIZE)) else { return 0 };
    let Ok(peek) = BasketHeader::peek(&start) else { return record };
    let whole = record + u64::from(peek.objlen);
    let believed = || {
        let listed = Listed { seek: position.seek, nbytes: position.nbytes, entries: u64::from(peek.nev_buf) };
        // A record larger than the budget is not read to find out.
        peek.check(&listed).is_ok()
            && (record > most
                || file.source().read(position.seek, position.nbytes as usize).is_ok_and(|record| {
                    let body = record.get(usize::from(peek.keylen)..).unwrap_or_default();
                    check_sizes(body, peek.objlen as usize).is_ok()
                }))
    };
    if whole <= most || believed() { whole } else { record }
}

/// The basket at a position, if it is readable.
///
/// # Errors
///
/// Reading failed, or the budget is too small.
fn check_basket(
    file: &RootFile,
    position: BasketPosition,
    (limit, budget): (&MemoryLimit, Budget),
    decompressor: &mut Decompressor,
) -> Result<Option<SoundBasket>> {
    let size = file.source().size();
    if position.seek.checked_add(u64::from(position.nbytes)).is_none_or(|end| end > size) {
        return Ok(None);
    }
    let held = limit.reserve(u64::from(position.nbytes), budget)?;
    let record = file.source().read(position.seek, position.nbytes as usize)?;
    let Ok(peek) = BasketHeader::peek(&record) else { return Ok(None) };
    let (entries, objlen) = (u64::from(peek.nev_buf), peek.objlen as usize);
    let body = record.get(usize::from(peek.keylen)..).unwrap_or_default();
    let listed = Listed { seek: position.seek, nbytes: position.nbytes, entries };
    if peek.check(&listed).is_err() || check_sizes(body, objlen).is_err() {
        return Ok(None);
    }
    let branch = String::from_utf8_lossy(peek.names.get(1).copied().unwrap_or_default()).into_owned();
    // The blocks agree on this size. The first reservation is returned before the next one, so that no thread waits for more
    // memory while it holds some.
    drop(held);
    let _held = limit.reserve(u64::from(position.nbytes) + objlen as u64, budget)?;
    let mut payload = Vec::new();
    let whole = decompressor.decompress(body, objlen, &mut payload).is_ok()
        && BasketHeader::parse(&mut Cursor::new(&record)).is_ok_and(|header| header.open(payload).is_ok());
    Ok(whole.then_some(SoundBasket { nbytes: position.nbytes, entries, branch }))
}

/// Limits the memory of all threads.
struct MemoryLimit {
    free: Mutex<u64>,
    changed: Condvar,
}

/// Memory of a thread, returned when it is dropped.
struct Reservation<'a>(&'a MemoryLimit, u64);

impl MemoryLimit {
    /// Waits until this much memory is free, and reserves it.
    fn reserve(&self, bytes: u64, budget: Budget) -> Result<Reservation<'_>> {
        if bytes > budget.memory {
            return Err(budget.too_small(bytes, " to check the largest basket"));
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
