//! Depth *copy*: records are moved as they are. Only the positions in their keys change, when they are appended.

use dataset::tree::basket::BasketHeader;
use rootfile::{Error, Result};

use super::Job;
use super::queue::{OutPiece, Stopped};
use super::worker::{Scratch, read_at};

/// Fills the chunk with the records of a window: neighbours of one file.
pub(super) fn copy(
    job: &Job<'_>,
    window: &[(usize, usize)],
    scratch: &mut Scratch,
) -> Result<std::result::Result<(), Stopped>> {
    let chunk = &mut scratch.chunk;
    chunk.pieces.clear();
    let mut at = 0;
    let mut i = 0;
    while let Some(&first) = window.get(i) {
        let Some((_, piece)) = lookup(job, first) else { return Err(Error::request("a piece that is not there")) };
        // Records that touch are read in one go.
        let mut end = piece.seek + u64::from(piece.nbytes);
        let mut run = 1;
        while let Some((_, next)) = window.get(i + run).and_then(|&w| lookup(job, w)) {
            if next.seek != end {
                break;
            }
            end += u64::from(next.nbytes);
            run += 1;
        }
        let file = job.files.get(piece.file as usize).ok_or_else(|| Error::request("a file that is not there"))?;
        let len = usize::try_from(end - piece.seek).unwrap_or(usize::MAX);
        read_at(&**file, piece.seek, len, &mut chunk.bytes, at)?;
        let pid = job.pid_offsets.get(piece.file as usize).copied().unwrap_or(0);
        for &(column, index) in window.get(i..i + run).unwrap_or_default() {
            let Some((names, piece)) = lookup(job, (column, index)) else { continue };
            let record = chunk.bytes.get(at..at + piece.nbytes as usize).unwrap_or_default();
            let in_file = |e: Error| e.at(piece.seek).object(format!("branch {names}")).file(file.name());
            let header = BasketHeader::peek(record).map_err(in_file)?;
            if header.nbytes != piece.nbytes || u64::from(header.nev_buf) != piece.entries {
                return Err(in_file(Error::corrupt("the basket here is not the one that the tree lists")));
            }
            chunk.pieces.push(OutPiece {
                column,
                first_entry: piece.first_entry,
                entries: piece.entries,
                offset: at,
                nbytes: piece.nbytes,
                objlen: header.objlen,
                keylen: header.keylen,
                pid_offset: header.pid_offset.wrapping_add(pid),
                big: header.big,
            });
            at += piece.nbytes as usize;
        }
        i += run;
    }
    chunk.bytes.truncate(at);
    Ok(Ok(()))
}

fn lookup<'a>(job: &'a Job<'_>, (column, piece): (usize, usize)) -> Option<(&'a str, &'a crate::column::Piece)> {
    let column = job.columns.get(column)?;
    Some((&column.names.0, column.pieces.get(piece)?))
}
