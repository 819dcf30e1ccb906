//! Lets a file end earlier where a change in place has left a gap near its end: the records behind the gap move into it, if they are only
//! those that readers begin with (lists of keys, directories, streamer infos, the free list). This is a change in place of its own, which
//! changes no content: a kill leaves the longer file or the shorter one.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

use super::directories::DirId;
use super::file_writer::FileWriter;
use crate::file::{Committed, Run, is_directory};
use crate::{Result, RootFile, Walk};

/// The smallest gap that is given back: a block of most file systems.
const LEAST: u64 = 4096;
/// How often what moves fits into the gap.
const TIMES: u64 = 2;

/// Shortens a file that was changed in place. Returns its size if that has changed: a file that cannot be shortened has all changes, and
/// stays as it is.
pub fn shrink(path: &Path) -> Option<u64> {
    shrinking(path).ok()??.stage().ok()?.deliver().ok()
}

/// The update that shortens a file, if one does.
pub(super) fn shrinking(path: &Path) -> Result<Option<FileWriter>> {
    let file = RootFile::open(path)?;
    let (walk, mut committed) = (file.walk(), Committed::of(&file)?);
    let Some(tail) = Tail::of(&committed).filter(|_| committed.directories.len() == walk.directories.len()) else {
        return Ok(None);
    };
    let behind: Vec<Run> = committed.gaps.extract_if(.., |gap| gap.first > tail.gap).collect();
    let datime = committed.directories.get("").map_or(0, |top| top.record.modified);
    let mut writer = FileWriter::update(path, &file, committed, file.header().compress, datime)?;
    writer.retire_runs(behind);
    let Some(directories) = writer.keep_all(&walk)? else { return Ok(None) };
    for path in &tail.directories {
        if let Some(directory) = directories.get(path.as_str()) {
            writer.claim(*directory)?;
        }
    }
    writer.move_infos(tail.infos);
    Ok(Some(writer))
}

/// What moves into a gap.
struct Tail {
    /// The offset of the gap.
    gap: u64,
    /// The directories whose records or lists move, by path.
    directories: Vec<String>,
    /// Whether the streamer infos move.
    infos: bool,
}

/// A part of the end of a file.
enum Piece<'a> {
    Gap,
    Directory(&'a str),
    Infos,
    FreeList,
}

impl Tail {
    /// The end of a file from the first gap on that has only what can move behind it, and room for that.
    fn of(committed: &Committed) -> Option<Self> {
        let header = &committed.header;
        let mut pieces: Vec<(Run, Piece<'_>)> = committed.gaps.iter().map(|gap| (*gap, Piece::Gap)).collect();
        pieces.push((Run { first: header.seek_info, len: header.nbytes_info.into() }, Piece::Infos));
        pieces.push((Run { first: header.seek_free, len: header.nbytes_free.into() }, Piece::FreeList));
        for (path, directory) in &committed.directories {
            pieces.extend([directory.run, directory.list()].map(|run| (run, Piece::Directory(path))));
        }
        pieces.retain(|(run, _)| run.len > 0);
        pieces.sort_by_key(|(run, _)| Reverse(run.first));
        let (mut begin, mut used, mut found) = (header.end, 0, None);
        let (mut directories, mut infos) = (Vec::new(), false);
        for (run, piece) in pieces {
            if run.end() != begin {
                break;
            }
            begin = run.first;
            match piece {
                Piece::Gap => {
                    if run.len >= LEAST.max(TIMES * used) {
                        found = Some(Self { gap: run.first, directories: directories.clone(), infos });
                    }
                    continue;
                }
                Piece::Directory(path) => directories.push(path.to_owned()),
                Piece::Infos => infos = true,
                Piece::FreeList => {}
            }
            used += run.len;
        }
        found
    }
}

impl FileWriter {
    /// Keeps all that a file has. Returns its directories by path; none if something cannot be kept as it is.
    fn keep_all<'w>(&mut self, walk: &'w Walk) -> Result<Option<HashMap<&'w str, DirId>>> {
        let mut below = HashMap::new();
        let mut directories = HashMap::new();
        for directory in &walk.directories {
            let known = if directory.path.is_empty() { Some(self.top()) } else { below.get(&directory.seek).copied() };
            let Some(own) = known else { return Ok(None) };
            directories.insert(directory.path.as_str(), own);
            for key in &directory.keys {
                let stays = match is_directory(&key.class) {
                    true => below.insert(key.seek_key, self.mkdir(own, &key.name, &key.title)?).is_none(),
                    false => self.keep(own, &key.name, key.seek_key, Some(key.cycle)),
                };
                if !stays {
                    return Ok(None);
                }
            }
        }
        Ok(Some(directories))
    }
}
