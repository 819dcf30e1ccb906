//! How many clusters a table should have, and of which size: the one rule of `inspect`, `readspeed` and `tune`. It decides nothing
//! for a file.
//!
//! Each cluster begins a basket of each column, with a key and a call of its own, so fewer are cheaper. But threads and jobs
//! share a file by its clusters, and whoever reads or writes one holds it in memory.

use crate::math::as_f64;

/// ROOT's own size of a cluster, in bytes on disk. Larger ones gain nothing that can be measured.
pub(crate) const FULL_CLUSTER: u64 = 30_000_000;
/// Clusters that threads and jobs share out well.
pub(crate) const ENOUGH: u64 = 8;
/// Clusters for each thread that reads: threads that end early take from the others.
const FOR_A_THREAD: f64 = 4.0;
/// The smallest cluster that is advised for threads, in bytes on disk.
const FOR_THREADS: f64 = 1e6;

/// The least number of clusters of a table of `bytes` bytes on disk: as many as were asked for. If nothing was said, a small table
/// needs no more than one, and a larger one as many as have [`FULL_CLUSTER`] bytes, up to [`ENOUGH`].
pub(crate) fn least(bytes: f64, asked: Option<u64>) -> f64 {
    let full = (bytes / as_f64(FULL_CLUSTER)).floor().clamp(1.0, as_f64(ENOUGH));
    asked.map_or(full, as_f64)
}

/// The size of clusters, in bytes on disk, for `threads` threads that read `bytes` bytes.
pub(crate) fn for_threads(bytes: f64, threads: f64) -> f64 {
    (bytes / (FOR_A_THREAD * threads)).max(FOR_THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_tables_need_one_cluster_and_large_ones_enough_for_threads() {
        let found = [0.0, 4e6, 29e6, 61e6, 1e9, 1e12].map(|bytes| least(bytes, None));
        assert_eq!(found, [1.0, 1.0, 1.0, 2.0, 8.0, 8.0]);
        assert_eq!([least(4e6, Some(20)), least(1e12, Some(1))], [20.0, 1.0]);
        assert_eq!([for_threads(80e6, 4.0), for_threads(1e6, 4.0)], [5e6, 1e6]);
    }
}
