//! Fixed costs of reading, measured once on this machine: fetching a basket and parsing its header.

use std::io::Write;
use std::path::Path;

use dataset::tree::basket::{BasketHeader, Entries};
use rootfile::bytes::{Cursor, Writer};
use rootfile::{Error, LocalFile, Result, ScratchFolder, Source};

use crate::math::as_f64;
use crate::system::clock::thread_seconds;

/// Costs of reading beside decompression and decoding. Bytes are fetched from a file in the page cache: storage
/// is not measured, its time is no property of the layout alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Access {
    /// Seconds to fetch a basket and take its header apart.
    pub per_basket: f64,
    /// Seconds for each byte fetched.
    pub per_byte: f64,
    /// Seconds for each entry whose place is in an offset array.
    pub per_offset: f64,
    /// Seconds for each column, once in a reading, however little of it is read.
    pub per_column: f64,
    /// Seconds to write a byte.
    #[serde(skip)]
    pub per_written: f64,
    /// Seconds to copy a byte into memory that is new to the process.
    #[serde(skip)]
    pub per_copied: f64,
}

/// How often each operation is timed; the fastest counts.
const ROUNDS: u64 = 5;
/// Bytes that are written or copied at a time.
const PIECE: usize = 1 << 20;

/// Measures with one basket of a file, if it has some. The cost of a column comes from the full read.
pub(crate) fn calibrate(file: &dyn Source, basket: Option<(u64, usize)>, per_column: f64) -> Result<Access> {
    let near = file.is_remote().then(StandIn::new).transpose()?;
    let (far, file): (_, &dyn Source) = (file, near.as_ref().map_or(file, |near| &near.file));
    let size = usize::try_from(file.size()).unwrap_or(usize::MAX);
    let large = size.min(1 << 18);
    let mut buffer = vec![0; large];
    let mut fetch = |len: usize, times: u32| -> Result<f64> {
        // From all over the file, as baskets are: the same bytes again would come from the processor's own cache. Of
        // a call alone the bytes are no part.
        let room = file.size().saturating_sub(len as u64);
        fastest(|round| {
            for i in 0..times {
                let at =
                    room / (u64::from(times) * ROUNDS) * (u64::from(i) * ROUNDS + if len == large { round } else { 0 });
                file.read_exact_at(at, buffer.get_mut(..len).unwrap_or_default())?;
            }
            Ok(())
        })
        .map(|seconds| seconds / f64::from(times))
    };
    let small_fetch = fetch(100.min(size), 200)?;
    let per_byte =
        ((fetch(large, 20)? - small_fetch) / f64::from(u32::try_from(large.max(1)).unwrap_or(u32::MAX))).max(0.0);
    let parse = basket.map_or(Ok(0.0), |basket| parse(far, basket))?;
    Ok(Access {
        per_basket: small_fetch + parse,
        per_byte,
        per_offset: per_offset()?,
        per_column,
        per_written: per_written()?,
        per_copied: per_copied()?,
    })
}

/// A file of this machine, in place of one on another: fetching is measured in the page cache.
struct StandIn {
    file: LocalFile,
    _folder: ScratchFolder,
}

impl StandIn {
    fn new() -> Result<Self> {
        let folder = ScratchFolder::new()?;
        let path = folder.path().join("bytes");
        write_pieces(&path, &vec![1; PIECE], 8)?;
        Ok(Self { file: LocalFile::open(&path)?, _folder: folder })
    }
}

/// Parses the header of a basket.
fn parse(file: &dyn Source, (seek, nbytes): (u64, usize)) -> Result<f64> {
    const TIMES: u32 = 200;
    let record = file.read(seek, nbytes)?;
    let seconds = fastest(|_| {
        for _ in 0..TIMES {
            std::hint::black_box(BasketHeader::parse(&mut Cursor::new(&record))?);
        }
        Ok(())
    })?;
    Ok(seconds / f64::from(TIMES))
}

/// Makes a file of so many equal pieces.
fn write_pieces(path: &Path, piece: &[u8], pieces: u32) -> Result<()> {
    let write = || {
        let mut file = std::fs::File::create(path)?;
        (0..pieces).try_for_each(|_| file.write_all(piece))
    };
    write().map_err(|e: std::io::Error| Error::from(e).file(path))
}

/// Writes a file of this machine. What it takes to put it on disk is no time of a processor.
fn per_written() -> Result<f64> {
    const PIECES: u32 = 4;
    let folder = ScratchFolder::new()?;
    let path = folder.path().join("bytes");
    let piece = vec![1; PIECE];
    let seconds = fastest(|_| write_pieces(&path, &piece, PIECES))?;
    Ok(seconds / f64::from(PIECES) / as_f64(piece.len() as u64))
}

/// Copies bytes into new memory, little at a time: the budget of the verb may be small.
fn per_copied() -> Result<f64> {
    const PIECES: u32 = 4;
    let piece = vec![1u8; PIECE];
    let seconds = fastest(|_| {
        (0..PIECES).for_each(|_| drop(std::hint::black_box(piece.to_vec())));
        Ok(())
    })?;
    Ok(seconds / f64::from(PIECES) / as_f64(piece.len() as u64))
}

/// Opens a basket of many entries of no bytes.
fn per_offset() -> Result<f64> {
    const ENTRIES: u32 = 20_000;
    let mut header = BasketHeader::new("b", "t", 0, 0);
    let keylen = u32::from(header.key.keylen);
    header.nev_buf = ENTRIES;
    header.nev_buf_size = i32::try_from(ENTRIES + 1).unwrap_or(i32::MAX);
    header.last = keylen;
    let mut w = Writer::new();
    w.u32(ENTRIES + 1);
    for _ in 0..=ENTRIES {
        w.u32(keylen);
    }
    let seconds = fastest(|_| {
        let data = header.open(w.bytes.clone())?;
        match data.entries {
            Entries::Offsets(_) => Ok(()),
            _ => Err(Error::corrupt("a basket without offsets")),
        }
    })?;
    Ok(seconds / f64::from(ENTRIES))
}

fn fastest(mut work: impl FnMut(u64) -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS {
        let start = thread_seconds();
        work(round)?;
        best = best.min(thread_seconds() - start);
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rootfile::MemoryFile;

    #[test]
    fn every_part_costs_something_and_not_much() {
        let mut w = Writer::new();
        BasketHeader::new("branch", "tree", 0, 0).write(&mut w);
        let len = w.bytes.len();
        w.bytes.resize(1 << 19, 1);
        let access = calibrate(&MemoryFile(w.bytes), Some((0, len)), 0.0).unwrap();
        assert!(access.per_basket > 0.0 && access.per_basket < 1e-3, "{access:?}");
        assert!(access.per_byte < 1e-6 && access.per_offset > 0.0 && access.per_offset < 1e-6, "{access:?}");
    }
}
