//! The places of a tree's baskets: how many entries each has, by where the next one begins. Where the metadata contradict each
//! other, the baskets' own headers say it.

use std::collections::HashMap;

use rootfile::bytes::Cursor;
use rootfile::{Error, Result, RootFile};

use crate::tree::basket::BasketHeader;
use crate::tree::model::{BasketRef, Branch, Tree};

/// Headers that are asked for at once.
const AT_ONCE: usize = 256;
/// Most entries for each byte of a likely basket: numbers that are all equal, by a good codec.
const ENTRIES_OF_A_BYTE: u64 = 256;
/// Bytes of a basket's header, unless names in it are very long.
const HEADER: u64 = 1024;

/// Most entries of a tree: few enough that sums over many trees do not overflow.
const MOST_ENTRIES: u64 = 1 << 48;

/// Sets the number of entries of each basket, and drops listed baskets without entries.
pub(super) fn place_baskets(tree: &mut Tree, doubtful: &HashMap<usize, u64>) -> Result<()> {
    let total = tree.entries;
    if total > MOST_ENTRIES {
        return Err(Error::corrupt(format!("a tree of {total} entries")));
    }
    for (index, branch) in tree.branches.iter_mut().enumerate() {
        let in_branch = |e: Error| e.object(format!("branch {}", branch.named.name));
        let counted = branch.first_entry.saturating_add(branch.entries);
        let own = branch.entry_number.max(counted).min(total.max(branch.entry_number));
        let end = doubtful.get(&index).copied().unwrap_or(own);
        if end > MOST_ENTRIES {
            return Err(in_branch(Error::corrupt(format!("{end} entries"))));
        }
        let n = branch.baskets.len();
        for i in 0..n {
            let next = branch.baskets.get(i + 1).map(|b| b.first_entry);
            let embedded = branch.embedded.iter().find(|(at, _)| *at == i);
            let Some(basket) = branch.baskets.get_mut(i) else { break };
            if let Some((_, embedded)) = embedded {
                let header = BasketHeader::parse(&mut Cursor::new(&embedded.bytes))?;
                basket.entries = u64::from(header.nev_buf);
                basket.seek = 0;
                basket.nbytes = 0;
            } else {
                basket.entries = next.unwrap_or(end).checked_sub(basket.first_entry).ok_or_else(|| {
                    let next = next.unwrap_or(end);
                    in_branch(Error::corrupt(format!(
                        "basket {i} begins at entry {}, the next at {next}",
                        basket.first_entry
                    )))
                })?;
            }
            // fNevBuf is a signed number of 32 bits.
            let last = basket.first_entry.saturating_add(basket.entries);
            if basket.entries > 1 << 31 || last > MOST_ENTRIES || next.is_some_and(|next| last > next) {
                return Err(in_branch(Error::corrupt(format!(
                    "basket {i} has {} entries from {} on",
                    basket.entries, basket.first_entry
                ))));
            }
        }
    }
    Ok(())
}

/// Whether a basket has so many entries for its bytes that memory should not be planned by the number before its header is seen.
pub(super) fn are_unlikely(branch: &Branch) -> bool {
    let is_unlikely = |basket: &BasketRef| basket.seek > 0 && basket.entries / ENTRIES_OF_A_BYTE > basket.nbytes.into();
    branch.baskets.iter().any(is_unlikely)
}

/// Takes the numbers of entries from the headers of a branch's baskets: there may be gaps between these, which the tree's
/// record does not tell from entries. Baskets that are unreadable or would overlap keep what the record says.
pub(super) fn count_entries(file: &RootFile, branch: &mut Branch) {
    if !branch.file_name.is_empty() {
        return;
    }
    let ends: Vec<u64> = branch.baskets.iter().skip(1).map(|basket| basket.first_entry).chain([u64::MAX]).collect();
    for (baskets, ends) in branch.baskets.chunks_mut(AT_ONCE).zip(ends.chunks(AT_ONCE)) {
        let range = |basket: &BasketRef| basket.seek..basket.seek.saturating_add(HEADER.min(basket.nbytes.into()));
        let ranges: Vec<_> = baskets.iter().map(range).collect();
        // If they cannot be read together, one of them is damaged, and is found when its entries are read.
        let heads = file.source().read_ranges(&ranges).unwrap_or_default();
        for ((basket, end), head) in baskets.iter_mut().zip(ends).zip(heads) {
            let Ok(peek) = BasketHeader::peek(&head) else { continue };
            let entries = u64::from(peek.nev_buf);
            let fits = basket.first_entry.checked_add(entries).is_some_and(|own| own <= *end);
            if fits && peek.seek == basket.seek && peek.nbytes == basket.nbytes {
                basket.entries = entries;
            }
        }
    }
}
