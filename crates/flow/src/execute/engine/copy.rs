//! Depth *copy*: records are moved unchanged, except for the positions in their keys, which change when they are appended.

use dataset::tree::basket::BasketHeader;
use rootfile::bytes::Cursor;
use rootfile::codec::check_sizes;
use rootfile::{Error, Result};

use super::job::Job;
use super::scratch::WorkerScratch;
use crate::execute::fetch::fetcher::{Fetcher, read_at};
use crate::table::chunk::BasketRecord;
use crate::table::piece::Piece;

/// Fills the chunk with the records of a window: neighbours in one file, each with its column.
pub(crate) fn copy(job: &Job<'_>, window: &[(usize, Piece)], scratch: &mut WorkerScratch) -> Result<()> {
    let WorkerScratch { chunk, fetcher: Fetcher { payload, decompressor, .. }, .. } = scratch;
    chunk.records.clear();
    let mut at = 0;
    // Adjacent records are read in one call.
    for run in window.chunk_by(|(_, a), (_, b)| a.seek + u64::from(a.nbytes) == b.seek) {
        let Some((_, first)) = run.first() else { continue };
        let file = job.files.get(first.file as usize).ok_or_else(|| Error::request("a file that is not there"))?;
        let len: u64 = run.iter().map(|(_, piece)| u64::from(piece.nbytes)).sum();
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        read_at(&**file, first.seek, len, &mut chunk.bytes, at)?;
        let known_pids = job.pids.get(first.file as usize).copied().unwrap_or(u16::MAX);
        let pid = job.pid_offsets.get(first.file as usize).copied().unwrap_or(0);
        for &(column, piece) in run {
            let record = chunk.bytes.get(at..at + piece.nbytes as usize).unwrap_or_default();
            let in_file = |e: Error| {
                let name = job.columns.get(column).map_or("", |column| &column.name);
                e.at(piece.seek).object(format!("branch {name}")).file(file.name())
            };
            let header = BasketHeader::peek(record).map_err(in_file)?;
            let unsure = job.columns.get(column).map(|column| column.check(&piece, &header));
            let unsure = unsure.transpose().map_err(in_file)?.unwrap_or(false);
            let body = record.get(usize::from(header.keylen)..).unwrap_or_default();
            let objlen = usize::try_from(header.objlen).unwrap_or(usize::MAX);
            check_sizes(body, objlen).map_err(in_file)?;
            if header.pid_offset > 0 && header.pid_offset >= known_pids {
                let (found, known) = (header.pid_offset, known_pids);
                let what =
                    format!("references in this basket begin at process identifier {found}, but the file has {known}");
                return Err(in_file(Error::corrupt(what)));
            }
            if job.check || unsure {
                payload.clear();
                decompressor.decompress(body, objlen, payload).map_err(in_file)?;
                let full = BasketHeader::parse(&mut Cursor::new(record)).map_err(in_file)?;
                let data = full.open(std::mem::take(payload)).map_err(in_file)?;
                *payload = data.data.into_buffer();
            }
            chunk.records.push(BasketRecord {
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
    }
    chunk.bytes.truncate(at);
    Ok(())
}
