//! Looks into every basket before one is kept: whether its header holds together, and whether its payload decompresses
//! to what the header says. On all threads, within the budget.

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
const HEADER: usize = 4096;

/// Where a basket lies, or should lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub seek: u64,
    pub nbytes: u32,
}

/// A basket that can be read.
#[derive(Clone, Debug)]
pub(super) struct Sound {
    pub nbytes: u32,
    pub entries: u64,
    /// Name of its branch, as its key says.
    pub branch: String,
}

/// The baskets that can be read, by their offsets.
pub(super) type SoundBaskets = HashMap<u64, Sound>;

/// Looks into the baskets at these places.
pub(super) fn check(
    file: &RootFile,
    mut places: Vec<Place>,
    budget: Budget,
    progress: Progress<'_>,
) -> Result<SoundBaskets> {
    places.sort_unstable();
    places.dedup();
    let least = places.iter().map(|place| need(file, place, budget.memory)).max().unwrap_or(0);
    if least > budget.memory {
        return Err(budget.too_small(least, " to look into the largest basket"));
    }
    let room = Room { free: Mutex::new(budget.memory), changed: Condvar::new() };
    let next = AtomicUsize::new(0);
    let work = || -> Result<Vec<(u64, Sound)>> {
        let mut decompressor = Decompressor::new();
        let mut sound = Vec::new();
        while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            let looked = look(file, *place, (&room, budget), &mut decompressor).and_then(|found| {
                tell(progress, 0)?;
                Ok(found)
            });
            match looked {
                Ok(found) => sound.extend(found.map(|found| (place.seek, found))),
                Err(e) => {
                    // The others need not go on.
                    next.store(places.len(), Ordering::Relaxed);
                    return Err(e);
                }
            }
        }
        Ok(sound)
    };
    let threads = budget.threads.min(places.len()).max(1);
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

/// Bytes that a look at a place takes, by the header there. What is said to be more than `most` is believed only where
/// the record's blocks agree.
fn need(file: &RootFile, place: &Place, most: u64) -> u64 {
    let record = u64::from(place.nbytes);
    if place.seek.checked_add(record).is_none_or(|end| end > file.source().size()) {
        return 0;
    }
    let Ok(start) = file.source().read(place.seek, (place.nbytes as usize).min(HEADER)) else { return 0 };
    let Ok(peek) = BasketHeader::peek(&start) else { return record };
    let whole = record + u64::from(peek.objlen);
    let believed = || {
        let listed = Listed { seek: place.seek, nbytes: place.nbytes, entries: u64::from(peek.nev_buf) };
        // A record that is larger than the memory is not read to find out.
        peek.check(&listed).is_ok()
            && (record > most
                || file.source().read(place.seek, place.nbytes as usize).is_ok_and(|record| {
                    let body = record.get(usize::from(peek.keylen)..).unwrap_or_default();
                    check_sizes(body, peek.objlen as usize).is_ok()
                }))
    };
    if whole <= most || believed() { whole } else { record }
}

/// The basket at a place, if there is one that can be read. An error is one of the machine's or of the budget's.
fn look(
    file: &RootFile,
    place: Place,
    (room, budget): (&Room, Budget),
    decompressor: &mut Decompressor,
) -> Result<Option<Sound>> {
    let size = file.source().size();
    if place.seek.checked_add(u64::from(place.nbytes)).is_none_or(|end| end > size) {
        return Ok(None);
    }
    let held = room.take(u64::from(place.nbytes), budget)?;
    let record = file.source().read(place.seek, place.nbytes as usize)?;
    let Ok(peek) = BasketHeader::peek(&record) else { return Ok(None) };
    let (entries, objlen) = (u64::from(peek.nev_buf), peek.objlen as usize);
    let body = record.get(usize::from(peek.keylen)..).unwrap_or_default();
    let listed = Listed { seek: place.seek, nbytes: place.nbytes, entries };
    if peek.check(&listed).is_err() || check_sizes(body, objlen).is_err() {
        return Ok(None);
    }
    let branch = String::from_utf8_lossy(peek.names.get(1).copied().unwrap_or_default()).into_owned();
    // Its blocks agree on this size. Both are held at once: none waits for more while others wait for that.
    drop(held);
    let _held = room.take(u64::from(place.nbytes) + objlen as u64, budget)?;
    let mut payload = Vec::new();
    let whole = decompressor.decompress(body, objlen, &mut payload).is_ok()
        && BasketHeader::parse(&mut Cursor::new(&record)).is_ok_and(|header| header.open(payload).is_ok());
    Ok(whole.then_some(Sound { nbytes: place.nbytes, entries, branch }))
}

/// Memory that threads take and give back.
struct Room {
    free: Mutex<u64>,
    changed: Condvar,
}

struct Held<'a>(&'a Room, u64);

impl Room {
    /// Waits until there is so much.
    fn take(&self, bytes: u64, budget: Budget) -> Result<Held<'_>> {
        if bytes > budget.memory {
            return Err(budget.too_small(bytes, " to look into the largest basket"));
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free < bytes {
            free = self.changed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= bytes;
        Ok(Held(self, bytes))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += self.1;
        self.0.changed.notify_all();
    }
}
