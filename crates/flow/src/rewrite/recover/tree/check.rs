//! Checks every basket before it is kept: the header must be consistent, and the payload must decompress to the size in the
//! header. Runs on all threads, within the budget.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use dataset::tree::basket::{BasketHeader, Listed};
use rootfile::codec::{Decompressor, check_sizes};
use rootfile::{Result, RootFile};

use crate::Budget;
use crate::execute::fetch::tree::sound_basket::{BasketRecord, MemoryLimit, SoundBasket, check_basket};
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::rewrite::recover::scan_result::Names;

/// Bytes of a record that are read for its header.
const HEADER_SIZE: usize = 4096;

/// The position of a basket in the file, found or listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BasketPosition {
    pub seek: u64,
    pub nbytes: u32,
}

/// The readable baskets, by their positions.
pub(crate) type SoundBaskets = HashMap<u64, SoundBasket>;

/// Checks the baskets at these positions.
pub(crate) fn check(
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
    let limit = MemoryLimit::new(budget);
    let sound: Mutex<(SoundBaskets, Names)> = Mutex::default();
    let threads = budget.threads.min(positions.len());
    let mut positions = positions.into_iter();
    Workers::new("the recovery", threads, progress).run(
        || Ok(positions.next()),
        Decompressor::new,
        |_, BasketPosition { seek, nbytes }, decompressor| {
            let record = BasketRecord { seek, nbytes, entries: None };
            if let Ok(found) = check_basket(&**file.source(), record, &limit, decompressor)? {
                let mut sound = sound.lock().unwrap_or_else(PoisonError::into_inner);
                let branch = sound.1.kept(&found.branch);
                sound.0.insert(seek, SoundBasket { branch, ..found });
            }
            Ok(())
        },
    )?;
    Ok(sound.into_inner().unwrap_or_else(PoisonError::into_inner).0)
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
