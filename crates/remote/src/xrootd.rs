//! Files of XRootD servers (`root://`, `roots://`), by XRootD's own client library: it follows redirects, finds tokens and
//! certificates, and speaks TLS. Here its calls become a [`Source`], several ranges of which are one request.

mod calls;
mod failure;
mod find;
mod library;
mod pieces;

use std::borrow::Cow;
use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rootfile::{Credentials, Error, Result, Source, Traffic, range_len};

use crate::coalesce::{deal, join};
use crate::counters::Counters;
use crate::recent::with_ends;
use failure::explained;
use library::Descriptor;
use pieces::GAP;

/// Opens a `root://` URL, its parameters included, and asks for begin and end of the file. Without credentials the library may
/// only give the user's name.
///
/// # Errors
///
/// The library is missing, the server cannot be reached or refuses, or it has no such file.
pub fn open(url: &str, credentials: Credentials) -> Result<Arc<dyn Source>> {
    let library = find::library().map_err(|e| e.file(url))?;
    let clock = Clock::default();
    let asked = match credentials {
        Credentials::Users => Cow::Borrowed(url),
        Credentials::None => Cow::Owned(without_credentials(url)),
    };
    let opened = clock.call(|| library.open(&terminated(&asked)?)).and_then(|file| Ok((file.size()?, file)));
    let (size, file) = opened.map_err(|e| explained(&e).file(url))?;
    with_ends(XrootdFile { file, size, name: url.into(), clock })
}

/// The names of all that is in a folder, sorted.
///
/// # Errors
///
/// As for [`open`].
pub fn list(folder: &str) -> Result<Vec<String>> {
    let library = find::library().map_err(|e| e.file(folder))?;
    let listed = terminated(folder).and_then(|folder| library.list(&folder));
    let mut names = listed.map_err(|e| explained(&e).file(folder))?;
    names.sort_unstable();
    Ok(names)
}

/// The URL with which the library sends no credentials: `xrd.wantprot` names the protocols of authentication that it may use, here
/// and wherever it is redirected to. Parameters for the library, which could name other protocols or files with keys, are left out.
fn without_credentials(url: &str) -> String {
    let (address, parameters) = url.split_once('?').unwrap_or((url, ""));
    let is_for_library = |name: &str| {
        let name = name.trim().to_ascii_lowercase();
        name.starts_with("xrd.") || name.starts_with("xrdcl.")
    };
    let kept = parameters.split('&').filter(|one| !one.is_empty() && !is_for_library(one));
    let all: Vec<&str> = kept.chain(["xrd.wantprot=unix"]).collect();
    format!("{address}?{}", all.join("&"))
}

/// A URL as the library takes it: it knows schemes in small letters only.
fn terminated(url: &str) -> io::Result<CString> {
    let (scheme, rest) = url.split_at(url.find("://").unwrap_or(0));
    CString::new(scheme.to_ascii_lowercase() + rest).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))
}

/// A file on an XRootD server.
struct XrootdFile {
    file: Descriptor,
    size: u64,
    name: PathBuf,
    clock: Clock,
}

impl XrootdFile {
    fn failed(&self, error: &io::Error) -> Error {
        explained(error).file(&self.name)
    }

    /// Fills buffers with the bytes from these offsets on.
    fn fill(&self, mut ranges: Vec<(u64, &mut Vec<u8>)>) -> Result<()> {
        if let [(offset, buffer)] = ranges.as_mut_slice() {
            return self.read_exact_at(*offset, buffer);
        }
        let mut pieces = pieces::cut(ranges.into_iter().map(|(offset, buffer)| (offset, buffer.as_mut_slice())));
        for request in pieces::requests(&mut pieces) {
            let first = request.first().map_or(0, |piece| piece.offset);
            let wanted: usize = request.iter().map(|piece| piece.into.len()).sum();
            let read = self.clock.read(|| self.file.read_pieces(request));
            if read.map_err(|e| self.failed(&e).at(first))? != wanted {
                return Err(self.cut_short(first));
            }
        }
        Ok(())
    }

    fn cut_short(&self, offset: u64) -> Error {
        let message = "the server sends fewer bytes than the file had when it was opened";
        Error::from(io::Error::new(io::ErrorKind::UnexpectedEof, message)).at(offset).file(&self.name)
    }
}

impl Source for XrootdFile {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, mut offset: u64, mut buf: &mut [u8]) -> Result<()> {
        self.check_range(offset, buf.len())?;
        while !buf.is_empty() {
            let read = self.clock.read(|| self.file.read_at(offset, buf));
            let read = read.map_err(|e| self.failed(&e).at(offset))?;
            if read == 0 {
                return Err(self.cut_short(offset));
            }
            offset += read as u64;
            buf = buf.split_at_mut(read).1;
        }
        Ok(())
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        self.check_ranges(ranges)?;
        // The library takes no two equal ranges in one request.
        let joined = join(ranges, GAP, u64::MAX);
        let mut fetched: Vec<Vec<u8>> = joined.iter().map(|group| vec![0; range_len(&group.range)]).collect();
        self.fill(joined.iter().map(|group| group.range.start).zip(&mut fetched).collect())?;
        Ok(deal(ranges, &joined, fetched))
    }

    fn name(&self) -> &Path {
        &self.name
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn traffic(&self) -> Option<Traffic> {
        Some(self.clock.counters.traffic())
    }
}

/// Measures calls. The library does not say when a reply begins: the shortest call so far stands for the wait.
struct Clock {
    counters: Counters,
    shortest: AtomicU64,
}

impl Default for Clock {
    fn default() -> Self {
        Self { counters: Counters::default(), shortest: AtomicU64::new(u64::MAX) }
    }
}

impl Clock {
    /// A call that reads bytes: returns how many.
    fn read(&self, call: impl FnOnce() -> io::Result<usize>) -> io::Result<usize> {
        let start = Instant::now();
        let read = call()?;
        let took = start.elapsed();
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let shortest = self.shortest.fetch_min(nanoseconds, Ordering::Relaxed).min(nanoseconds);
        let wait = Duration::from_nanos(shortest);
        self.counters.answered(wait);
        self.counters.received(read as u64, took.saturating_sub(wait));
        Ok(read)
    }

    /// A call that waits alone.
    fn call<T>(&self, call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let start = Instant::now();
        let done = call()?;
        self.counters.answered(start.elapsed());
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_credentials_are_offered_for_addresses_of_files() {
        for (url, asked) in [
            ("root://h//a.root", "root://h//a.root?xrd.wantprot=unix"),
            ("root://h//a?x=1&xrd.wantprot=gsi&XrdCl.k=2", "root://h//a?x=1&xrd.wantprot=unix"),
        ] {
            assert_eq!(without_credentials(url), asked);
        }
    }
}
