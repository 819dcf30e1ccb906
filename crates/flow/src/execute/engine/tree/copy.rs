//! Depth *copy*: records are moved unchanged, except for the positions in their keys, which change when they are appended. Those of a
//! file that is updated in place stay; only their keys are looked at.

use dataset::codecs::Codecs;
use dataset::tree::basket::BasketHeader;
use rootfile::bytes::Cursor;
use rootfile::codec::check_sizes;
use rootfile::{Error, Result};

use super::job::Job;
use super::scratch::WorkerScratch;
use super::tasks::CopiedRecord;
use crate::execute::fetch::tree::fetcher::read_at;
use crate::table::tree::chunk::BasketRecord;

/// Bytes of a key besides those that it has in the output.
const ROOM_FOR_NAMES: usize = 64;

/// Fills the chunk with the records of a window: neighbours in one file.
pub(crate) fn copy(job: &Job<'_>, window: &[CopiedRecord], scratch: &mut WorkerScratch) -> Result<()> {
    let WorkerScratch { chunk, fetcher, .. } = scratch;
    let (mut bytes, codecs) = fetcher.over(job.files);
    chunk.records.clear();
    let mut at = 0;
    // Adjacent records are read in one call.
    for run in window.chunk_by(|a, b| a.record.end() == b.record.offset) {
        let Some(CopiedRecord { record: first, .. }) = run.first() else { continue };
        let file = job.files.get(first.file as usize).ok_or_else(|| Error::request("a file that is not there"))?;
        let len: u64 = run.iter().map(|copied| u64::from(copied.record.len)).sum();
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let stays = job.stays == Some(first.file);
        let start = at;
        if !stays || job.check {
            read_at(&mut bytes, first.file, (first.offset, len), &mut chunk.bytes, at)?;
        }
        let known_pids = job.pids.get(first.file as usize).copied().unwrap_or(u16::MAX);
        let pid = job.pid_offsets.get(first.file as usize).copied().unwrap_or(0);
        for &CopiedRecord { column, piece, record: place } in run {
            if stays && !job.check {
                // Names may be longer than those of the output.
                let own = job.columns.get(column).map_or(0, |column| column.keylen()) + ROOM_FOR_NAMES;
                let mut read =
                    |len: usize, out: &mut Vec<u8>| read_at(&mut bytes, place.file, (place.offset, len), out, start);
                let key = own.min(place.len as usize);
                read(key, &mut chunk.bytes)?;
                if BasketHeader::peek(chunk.bytes.get(start..start + key).unwrap_or_default()).is_err() {
                    read(place.len as usize, &mut chunk.bytes)?;
                }
                at = start;
            }
            let record = match stays && !job.check {
                true => chunk.bytes.get(start..),
                false => chunk.bytes.get(at..at + place.len as usize),
            };
            let record = record.unwrap_or_default();
            let in_file = |e: Error| {
                let name = job.columns.get(column).map_or("", |column| &column.name);
                e.at(place.offset).object(format!("branch {name}")).file(file.name())
            };
            let header = BasketHeader::peek(record).map_err(in_file)?;
            let unsure = job.columns.get(column).map(|column| column.check(&piece, &header));
            let unsure = unsure.transpose().map_err(in_file)?.unwrap_or(false);
            let body = record.get(usize::from(header.keylen)..).unwrap_or_default();
            let objlen = usize::try_from(header.objlen).unwrap_or(usize::MAX);
            if !stays || job.check {
                check_sizes(body, objlen).map_err(in_file)?;
            }
            if header.pid_offset > 0 && header.pid_offset >= known_pids {
                let (found, known) = (header.pid_offset, known_pids);
                let what =
                    format!("references in this basket begin at process identifier {found}, but the file has {known}");
                return Err(in_file(Error::corrupt(what)));
            }
            if job.check || unsure && !stays {
                let Codecs { payload, decompressor, .. } = &mut *codecs;
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
                stays: stays.then_some(place.offset),
                nbytes: place.len,
                objlen: header.objlen,
                keylen: header.keylen,
                pid_offset: header.pid_offset.wrapping_add(pid),
                big: header.big,
            });
            at += place.len as usize;
        }
        if stays {
            at = start;
        }
    }
    chunk.bytes.truncate(at);
    Ok(())
}
