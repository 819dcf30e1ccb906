//! Decompressed baskets that several clusters use, kept within a number of bytes.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use dataset::table::piece::Piece;
use dataset::tree::basket::BasketData;
use rootfile::Result;

use crate::table::piece::spans_several;

/// Baskets that one cluster used in part, kept for the next cluster, which uses the rest.
pub(crate) struct BasketCache {
    kept: Mutex<Kept>,
    limit: u64,
    /// First entry of each step of a read, and bytes for the baskets that several steps use.
    steps: (Vec<u64>, u64),
    /// Baskets that several clusters use. Each is loaded once for all of them.
    shared: Mutex<HashMap<CacheKey, Arc<Slot>>>,
}

/// Bytes that count towards the limit, and for each key the index of the piece, its basket, and its bytes of the limit.
type Kept = (u64, HashMap<CacheKey, (usize, BasketData, u64)>);

/// A basket whose entries are read.
pub(crate) enum CachedBasket {
    /// By one cluster at a time.
    Own(BasketData),
    /// By several clusters at once.
    Shared(Arc<BasketData>),
}

impl Deref for CachedBasket {
    type Target = BasketData;

    fn deref(&self) -> &BasketData {
        match self {
            Self::Own(data) => data,
            Self::Shared(data) => data,
        }
    }
}

/// A basket that all workers share, and its index.
type Slot = Mutex<Option<(usize, Arc<BasketData>)>>;

/// The reader that a kept basket belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CacheKey {
    /// A column, by its index.
    Column(usize),
    /// A source of a group of columns that is recoded, by their indices.
    Source { group: usize, stream: usize },
}

impl BasketCache {
    pub fn new(limit: u64) -> Self {
        Self { kept: Mutex::new((0, HashMap::new())), limit, steps: Default::default(), shared: Mutex::default() }
    }

    /// Also keeps baskets that several of the steps between these entries use. They may take `room` bytes.
    pub fn between(self, bounds: Vec<u64>, room: u64) -> Self {
        Self { steps: (bounds, room), ..self }
    }

    /// Bytes of baskets that do not count towards the limit.
    pub fn room(&self) -> u64 {
        self.steps.1
    }

    pub fn take(&self, key: CacheKey, piece: usize) -> Option<BasketData> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, data, counted) = kept.1.remove(&key)?;
        kept.0 = kept.0.saturating_sub(counted);
        (index == piece).then_some(data)
    }

    pub fn keep(&self, key: CacheKey, (index, piece): (usize, &Piece), data: BasketData) {
        let counted = if spans_several(piece, &self.steps.0) { 0 } else { data.memory() };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.0 + counted <= self.limit {
            kept.0 += counted;
            if let Some((.., old)) = kept.1.insert(key, (index, data, counted)) {
                kept.0 = kept.0.saturating_sub(old);
            }
        }
    }

    /// A basket that several clusters use. The first caller loads it, the others wait. It stays until the column's next
    /// basket is loaded. Its memory is part of the plan's metadata.
    pub fn shared(
        &self,
        key: CacheKey,
        piece: usize,
        load: impl FnOnce() -> Result<BasketData>,
    ) -> Result<Arc<BasketData>> {
        let slot = Arc::clone(self.shared.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some((index, data)) if *index == piece => return Ok(Arc::clone(data)),
            // A cluster behind the others: the basket that is kept is a later one.
            Some((index, _)) if *index > piece => return load().map(Arc::new),
            _ => *slot = None,
        }
        let data = Arc::new(load()?);
        *slot = Some((piece, Arc::clone(&data)));
        Ok(data)
    }

    /// Drops a shared basket after its last use.
    pub fn forget_shared(&self, key: CacheKey, piece: usize) {
        let slot = self.shared.lock().unwrap_or_else(PoisonError::into_inner).get(&key).map(Arc::clone);
        let Some(slot) = slot else { return };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|(index, _)| *index <= piece) {
            *slot = None;
        }
    }
}
