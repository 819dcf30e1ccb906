//! Pages of RNTuples of which some elements were used and others soon will be: kept decompressed between the neighbouring pieces and the
//! steps of a reading, within a number of bytes. It opens no page, and does not know which elements are wanted.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::known_ends::KnownEnds;

/// The column that a page is of: the number of the file, of the cluster in it, and of the column.
pub(crate) type PageKey = (u32, usize, usize);

/// A page of a column in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptPage {
    /// Its number among those of the column.
    pub number: usize,
    /// Its bytes, decompressed.
    pub bytes: Vec<u8>,
    /// If it has ends of collections, some of them.
    pub known: KnownEnds,
}

/// Pages that are used again: of each column in a cluster the one in which the last piece ended.
#[derive(Debug, Default)]
pub struct PageCache(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    pages: HashMap<PageKey, KeptPage>,
    /// The bytes that they take, and that they may take.
    bytes: u64,
    limit: u64,
    /// Columns that several of the fields have that are read.
    shared: HashSet<usize>,
}

impl PageCache {
    /// Lets pages take so many bytes. Those that are kept already stay until they are used.
    pub fn allow(&self, bytes: u64) {
        self.lock().limit = bytes;
    }

    /// Says which columns several of the fields have that are read, by their IDs.
    pub fn share(&self, columns: HashSet<usize>) {
        self.lock().shared = columns;
    }

    /// Whether several fields have a column.
    pub(crate) fn is_shared(&self, column: usize) -> bool {
        self.lock().shared.contains(&column)
    }

    /// The page of a column that is kept. It is gone then.
    pub(crate) fn take(&self, key: PageKey) -> Option<KeptPage> {
        let mut kept = self.lock();
        let page = kept.pages.remove(&key)?;
        kept.bytes = kept.bytes.saturating_sub(room(&page));
        Some(page)
    }

    /// Keeps the page of a column in place of an earlier one. Returns the buffer of what is not kept: of this page, if there is no room.
    /// Pages that have long been kept are used before new ones, so they do not give way; those of earlier clusters were forgotten by
    /// threads that overtook each other.
    pub(crate) fn keep(&self, key: PageKey, page: KeptPage) -> Option<Vec<u8>> {
        let mut kept = self.lock();
        let old = kept.pages.remove(&key);
        kept.bytes = kept.bytes.saturating_sub(old.as_ref().map_or(0, room));
        if kept.bytes.saturating_add(room(&page)) > kept.limit {
            let (file, cluster, _) = key;
            kept.pages.retain(|(of, number, _), _| (*of, *number) >= (file, cluster));
            kept.bytes = kept.pages.values().map(room).sum();
        }
        if kept.bytes.saturating_add(room(&page)) > kept.limit {
            return Some(page.bytes);
        }
        kept.bytes += room(&page);
        kept.pages.insert(key, page);
        old.map(|page| page.bytes)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that a page takes.
fn room(page: &KeptPage) -> u64 {
    page.bytes.capacity() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: usize, bytes: usize) -> KeptPage {
        KeptPage { number, bytes: vec![0; bytes], known: KnownEnds::default() }
    }

    #[test]
    fn pages_are_kept_within_their_room() {
        let cache = PageCache::default();
        assert!(cache.keep((0, 0, 1), page(0, 10)).is_some(), "nothing is allowed yet");
        cache.allow(100);
        assert_eq!(cache.keep((0, 0, 1), page(4, 60)), None);
        assert_eq!(cache.keep((0, 0, 2), page(4, 60)).map(|bytes| bytes.len()), Some(60), "no room beside the first");
        assert_eq!(cache.take((0, 0, 2)), None);
        assert_eq!(cache.take((0, 0, 1)).map(|page| (page.number, page.bytes.len())), Some((4, 60)));
        assert_eq!(cache.take((0, 0, 1)), None, "a page is taken once");
        assert_eq!(cache.keep((0, 0, 2), page(4, 60)), None);
        assert_eq!(
            cache.keep((0, 0, 2), page(5, 90)).map(|bytes| bytes.len()),
            Some(60),
            "a later page takes its place"
        );
        assert_eq!(cache.lock().bytes, 90);
    }

    #[test]
    fn pages_of_earlier_clusters_give_way() {
        let cache = PageCache::default();
        cache.allow(100);
        for column in 0..10 {
            assert_eq!(cache.keep((0, 3, column), page(0, 10)), None);
        }
        assert!(cache.keep((0, 2, 0), page(0, 10)).is_some(), "an earlier cluster has no claim");
        assert_eq!(cache.keep((0, 4, 0), page(0, 10)), None);
        assert_eq!(cache.lock().bytes, 10);
        assert!(cache.take((0, 3, 5)).is_none());
        assert!(cache.take((0, 4, 0)).is_some());
    }
}
