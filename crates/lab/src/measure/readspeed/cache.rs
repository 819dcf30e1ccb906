//! The kernel's page cache of a file: its share in the cache, and its removal. This needs no privileges. Pages that are dirty
//! or mapped by other processes stay.

use std::fs::File;
use std::path::Path;

use rootfile::{Error, Result, url};

use crate::system::kernel::{drop_pages, is_cached};

/// Places of a file that are looked at.
const PROBES: u64 = 4096;

/// Drops files from the cache, and returns the share of their bytes that is not cached then. Files on other machines are in no cache
/// of this one.
pub(crate) fn drop_from_cache<P: AsRef<Path>>(paths: &[P]) -> Result<f64> {
    let (mut cold, mut all) = (0.0, 0.0);
    for path in paths.iter().filter(|path| url(path.as_ref()).is_none()) {
        let in_file = |e: std::io::Error| Error::from(e).file(path);
        let file = File::open(path).map_err(in_file)?;
        // Pages that were written and not yet synced cannot be dropped.
        let _ = file.sync_data();
        drop_pages(&file).map_err(in_file)?;
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let size = file.metadata().map_err(in_file)?.len() as f64;
        cold += size * (1.0 - cached(&file)?);
        all += size;
    }
    Ok(if all > 0.0 { cold / all } else { 1.0 })
}

/// The share of a file that is in the cache, by reads of single bytes that fail instead of waiting for the disk.
fn cached(file: &File) -> Result<f64> {
    let size = file.metadata()?.len();
    let probes = size.div_ceil(4096).min(PROBES);
    let mut hits = 0u32;
    for i in 0..probes {
        // From the end, since reading may make the kernel read ahead.
        let at = (probes - 1 - i) * (size / probes);
        match is_cached(file, at) {
            Some(true) => hits += 1,
            Some(false) => {}
            // If the file system does not tell, all bytes count as cached.
            None => return Ok(1.0),
        }
    }
    Ok(if probes > 0 { f64::from(hits) / f64::from(u32::try_from(probes).unwrap_or(u32::MAX)) } else { 0.0 })
}
