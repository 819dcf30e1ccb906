//! ROOT's rule for closing baskets, and the size of its entry-offset arrays.
//!
//! Facts from `TBranch::FillImpl`, `TBranch::WriteBasketImpl` and `TBasket::Update` of ROOT 6.40. This module computes
//! with sizes; the caller cuts the bytes.

/// A basket is closed at this many bytes in any layout: its sizes are signed 32-bit numbers, and one more entry must
/// fit below their limit.
const MOST_BYTES: u64 = 1 << 30;

/// Places in an entry-offset array below which `TBranch::WriteBasketImpl` does not shrink it.
const LEAST_OFFSETS: u32 = 10;

/// Finds, entry by entry, where ROOT closes the baskets of one branch.
///
/// After an entry is filled ROOT closes the basket if what is in the buffer (the key header too), twice the size of the
/// entry offsets so far, and another entry like the last together reach `fBasketSize`. `TTree::kOnlyFlushAtCluster`
/// turns this rule off. ROOT still applies it in the first cluster if the size of a cluster is in bytes, since the end
/// of that cluster is not known yet. A writer that knows where its clusters end need not.
#[derive(Clone, Debug)]
pub struct BasketCutter {
    basket_size: u64,
    key_len: u64,
    has_offsets: bool,
    only_at_cluster: bool,
    bytes: u64,
    entries: u64,
}

impl BasketCutter {
    /// For a branch with this `fBasketSize`, whose basket keys have `key_len` bytes. `has_offsets`: `fEntryOffsetLen`
    /// is not 0, as in branches with entries of unequal length.
    pub fn new(basket_size: u32, key_len: u32, has_offsets: bool, only_at_cluster: bool) -> Self {
        Self {
            basket_size: basket_size.into(),
            key_len: key_len.into(),
            has_offsets,
            only_at_cluster,
            bytes: 0,
            entries: 0,
        }
    }

    /// Adds an entry of `size` bytes. Returns true if the basket is closed behind it; the next entry opens a new
    /// basket.
    pub fn push(&mut self, entry_size: u32) -> bool {
        self.entries = self.entries.saturating_add(1);
        self.bytes = self.bytes.saturating_add(entry_size.into());
        let closed = self.full(self.bytes, self.entries, entry_size.into());
        if closed {
            self.close();
        }
        closed
    }

    /// Ends the basket here, as a flush at the end of a cluster does. Returns true if the basket has entries.
    pub fn close(&mut self) -> bool {
        let has_entries = self.entries > 0;
        (self.bytes, self.entries) = (0, 0);
        has_entries
    }

    /// Sets another `fBasketSize`, from the next entry on (`TBranch::SetBasketSize`).
    pub fn set_basket_size(&mut self, basket_size: u32) {
        self.basket_size = basket_size.into();
    }

    /// The number of entries after which a basket closes if all have this size, from an empty basket on.
    pub fn fixed(&self, entry_size: u32) -> u64 {
        let size = u64::from(entry_size);
        let full = |entries: u64| self.full(entries.saturating_mul(size), entries, size);
        // `full` is monotonic in the number of entries, and true for MOST_BYTES of them.
        let (mut open, mut closed) = (0, MOST_BYTES);
        while closed - open > 1 {
            let middle = open + (closed - open) / 2;
            match full(middle) {
                true => closed = middle,
                false => open = middle,
            }
        }
        closed
    }

    fn full(&self, bytes: u64, entries: u64, last: u64) -> bool {
        let offsets = if self.has_offsets { entries.saturating_mul(4) } else { 0 };
        let used = self.key_len.saturating_add(bytes);
        let by_size = used.saturating_add(2 * offsets).saturating_add(last) >= self.basket_size;
        (by_size && !self.only_at_cluster) || used.saturating_add(offsets) >= MOST_BYTES || entries >= MOST_BYTES
    }
}

/// How `fEntryOffsetLen` of a branch and `fNevBufSize` of its baskets move while ROOT writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryOffsetLen {
    len: u32,
    baskets: u32,
    /// `fNevBufSize` of the basket being filled. It follows `len` only when the basket is reset after a write.
    in_basket: u32,
}

impl EntryOffsetLen {
    /// A branch without baskets whose `fEntryOffsetLen` is `len` (0: entries have equal length).
    pub fn new(len: u32) -> Self {
        Self { len, baskets: 0, in_basket: len }
    }

    /// `fEntryOffsetLen` as it is now.
    pub fn get(&self) -> u32 {
        self.len
    }

    /// Writes a basket of `entries` entries and returns its `fNevBufSize`.
    ///
    /// The array doubles whenever an entry would take its last place; during its first ten baskets the branch keeps the
    /// larger size. At the write the branch takes four times the entries if its array is larger, or two times if it is
    /// too small.
    pub fn basket(&mut self, entries: u32) -> u32 {
        if self.len == 0 {
            return 0;
        }
        let mut places = self.in_basket;
        while entries >= places {
            places = places.saturating_mul(2).max(LEAST_OFFSETS);
            if self.baskets < 10 {
                self.len = places;
            }
            if places == u32::MAX {
                break;
            }
        }
        if self.len > LEAST_OFFSETS && entries.saturating_mul(4) < self.len {
            self.len = if entries < 3 { LEAST_OFFSETS } else { entries.saturating_mul(4) };
        } else if entries > self.len {
            self.len = entries.saturating_mul(2);
        }
        self.baskets = self.baskets.saturating_add(1);
        self.in_basket = self.len;
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_predicts_push() {
        for has_offsets in [false, true] {
            for (basket_size, key_len) in [(32_000, 80), (1000, 100), (1, 50), (100, 500)] {
                for size in [1, 4, 8, 12, 999, 40_000] {
                    let mut cutter = BasketCutter::new(basket_size, key_len, has_offsets, false);
                    let expected = cutter.fixed(size);
                    let pushed = 1 + (0..).take_while(|_| !cutter.push(size)).count();
                    assert_eq!(pushed as u64, expected, "{basket_size} {key_len} {size} {has_offsets}");
                }
            }
        }
    }

    #[test]
    fn the_rule_closes_baskets_as_computed_by_hand() {
        // 80 + 4n + 4 >= 100 first holds at n = 4; with offsets 80 + 4n + 8n + 4 >= 100 at n = 2.
        assert_eq!(BasketCutter::new(100, 80, false, false).fixed(4), 4);
        assert_eq!(BasketCutter::new(100, 80, true, false).fixed(4), 2);
    }

    #[test]
    fn one_basket_per_cluster_closes_only_on_request_or_at_the_limit() {
        let mut cutter = BasketCutter::new(100, 80, true, true);
        assert!((0..100_000).all(|_| !cutter.push(1000)));
        assert!(cutter.close());
        assert!(!cutter.close());
        assert_eq!(cutter.fixed(1 << 20), 1024, "1 GiB less offsets and key, rounded up to an entry");
        assert_eq!(cutter.fixed(0), MOST_BYTES.div_ceil(4) - 20);
        assert_eq!(BasketCutter::new(100, 80, false, false).fixed(0), MOST_BYTES, "empty entries fill nothing");
        assert!(BasketCutter::new(u32::MAX, 80, true, true).push(u32::MAX));
    }

    #[test]
    fn offset_places_stay_bounded() {
        let mut len = EntryOffsetLen::new(1000);
        assert_eq!(len.basket(u32::MAX), u32::MAX);
        assert_eq!(EntryOffsetLen::new(0).basket(50), 0);
    }
}
