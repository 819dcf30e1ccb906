//! A file that a server sends only whole, since it ignores ranges: received once, into a temporary file without a name. Only what
//! may be the file gets there: it begins as one, and there is room for it.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use rootfile::{Error, FileHeader, Result};
use rustix::fs::fstatvfs;

use super::body::Body;
use crate::retry::Failure;
use crate::settings::MOST_UNSIZED;

/// How the files begin that are read from servers: ROOT's and Parquet's.
const BEGINNINGS: [&[u8]; 2] = [b"root", b"PAR1"];
/// Bytes that tell the kind of a file.
const BEGINNING: usize = 4;
/// Bytes that a ROOT file's header takes at most.
const HEADER: usize = 100;

/// What is known of the file.
pub(crate) struct Expected<'a> {
    /// Its size.
    pub size: Option<u64>,
    /// Its first bytes.
    pub begin: &'a [u8],
    /// Bytes that are received of a file of unknown size.
    pub most: u64,
}

/// The whole file.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    pub size: u64,
}

impl Spool {
    /// Receives a body to its end, or fails before it takes more than the file can have.
    pub async fn receive(mut body: Body, expected: &Expected<'_>) -> std::result::Result<Self, Failure> {
        let announced = body.announced();
        if announced.is_some() && expected.size.is_some() && announced != expected.size {
            return Err(other_file());
        }
        let mut begin = Vec::new();
        let mut is_whole = false;
        while begin.len() < HEADER.max(expected.begin.len()) && !is_whole {
            match body.next().await? {
                Some(piece) => begin.extend_from_slice(&piece),
                None => is_whole = true,
            }
        }
        check_begin(&begin, expected.begin)?;
        let mut spool = Self { file: tempfile::tempfile().map_err(|e| on_disk(&e))?, size: 0 };
        // A ROOT file says where it ends. One that claims to be larger than is received of such files is none that is known.
        let size = match announced.or(expected.size) {
            None if begin.starts_with(b"root") => {
                let end = FileHeader::parse(&begin).map_err(Failure::lasting)?.end;
                Some(end).filter(|end| *end <= expected.most)
            }
            size => size,
        };
        let most = spool.most(size, expected)?;
        let is_known = size.is_some();
        spool.append(&begin, most, is_known)?;
        while !is_whole {
            match body.next().await? {
                Some(piece) => spool.append(&piece, most, is_known)?,
                None => is_whole = true,
            }
        }
        match (announced, expected.size) {
            (Some(announced), _) if announced != spool.size => {
                let message = format!("the reply was cut: {} of {announced} bytes", spool.size);
                Err(Failure::passing(Error::from(io::Error::new(io::ErrorKind::UnexpectedEof, message))))
            }
            (_, Some(size)) if size != spool.size => Err(other_file()),
            _ => Ok(spool),
        }
    }

    /// How many bytes are received at most: the size of the file, if it is known and there is room for it.
    fn most(&self, size: Option<u64>, expected: &Expected<'_>) -> std::result::Result<u64, Failure> {
        let free = fstatvfs(&self.file).map_or(u64::MAX, |disk| disk.f_bavail.saturating_mul(disk.f_frsize));
        match size {
            Some(size) if size > free => Err(Failure::lasting(Error::from(io::Error::new(
                io::ErrorKind::StorageFull,
                format!(
                    "the server sends the file only whole, and its {size} bytes do not fit where temporary files are, with \
                     {free} bytes free: set TMPDIR, or copy the file"
                ),
            )))),
            Some(size) => Ok(size),
            // Others need room too.
            None => Ok(expected.most.min(free / 2)),
        }
    }

    fn append(&mut self, piece: &[u8], most: u64, is_known: bool) -> std::result::Result<(), Failure> {
        if self.size.saturating_add(piece.len() as u64) > most {
            let message = match is_known {
                true => format!("the server sends more than the {most} bytes of the file"),
                false => format!(
                    "the server sends the file only whole, without its size, and it has more than {most} bytes: copy it, or set \
                     {MOST_UNSIZED}"
                ),
            };
            return Err(Failure::lasting(Error::unsupported(message)));
        }
        self.file.write_all(piece).map_err(|e| on_disk(&e))?;
        self.size += piece.len() as u64;
        Ok(())
    }

    /// Bytes of the file.
    pub fn read(&self, offset: u64, buf: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(buf, offset).map_err(|e| Error::from(e).at(offset))
    }
}

/// Fails if a body begins as no file does that is read, or as another than was opened. A short one may begin as it likes.
fn check_begin(begin: &[u8], known: &[u8]) -> std::result::Result<(), Failure> {
    if !begin.starts_with(known) {
        return Err(other_file());
    }
    let is_of_kind = |kind: &&[u8]| begin.starts_with(kind);
    if begin.len() < BEGINNING || BEGINNINGS.iter().any(is_of_kind) {
        return Ok(());
    }
    let first = String::from_utf8_lossy(begin.get(..begin.len().min(24)).unwrap_or_default()).into_owned();
    let message = format!("not a ROOT file: the server sends what begins with {first:?}");
    Err(Failure::lasting(Error::corrupt(message)))
}

fn other_file() -> Failure {
    Failure::lasting(Error::corrupt("was changed on the server while it was being read"))
}

fn on_disk(e: &io::Error) -> Failure {
    let message = format!("the server sends the file only whole, and it cannot be kept where temporary files are: {e}");
    Failure::lasting(Error::from(io::Error::new(e.kind(), message)))
}
