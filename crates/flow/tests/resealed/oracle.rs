//! What must be true of a damaged file: the deep check calls it whole if and only if all of it reads, and a rewrite of it is refused
//! or reads equal.

use std::path::{Path, PathBuf};

use arrow_array::{Array, ArrayRef};
use dataset::codecs::Codecs;
use dataset::ntuple::decode::fields;
use dataset::ntuple::model::{Ntuple, Role};
use dataset::ntuple::table::NtupleTable;
use dataset::ntuple::{is_ntuple, read_attribute_set, read_ntuple};
use flow::survey::check::{CheckOptions, Condition, check};
use flow::{Budget, Options, rewrite, unwatched};
use rootfile::{Error, ErrorKind, RangeBuffer, RangeReader, Result, RootFile, Source};

use super::mutate::Block;

/// All values of a file: each field with its path.
type Content = Vec<(String, ArrayRef)>;

/// Layouts of rewrites. The first copies pages.
pub const LAYOUTS: [&str; 3] = ["", "compression = \"zstd:1\"", "cluster = 4"];

fn read_table(source: &dyn Source, name: &str, ntuple: Ntuple, content: &mut Content) -> Result<()> {
    let table = NtupleTable::of(ntuple, source)?;
    let (mut buffer, mut codecs) = (RangeBuffer::default(), Codecs::new());
    for plan in fields(&table.schema) {
        plan.check_schema()?;
        let is_streamed = table.schema.fields.get(plan.id()).is_some_and(|field| field.role == Role::Streamer);
        if let Some(why) = plan.opaque().filter(|_| !is_streamed) {
            return Err(Error::unsupported(why));
        }
        let mut builder = plan.start(0)?;
        let pieces: Vec<_> = table.pieces(&plan).collect();
        pieces.iter().try_for_each(|piece| table.check(&plan, piece.cluster))?;
        for piece in pieces {
            let at = table.cluster_source(piece.cluster, 0).unwrap();
            let first = at.cluster.first_entry;
            let run = piece.entries.start - first..piece.entries.end - first;
            let bytes = &mut RangeReader::of(source, &mut buffer);
            at.append(&plan, &mut std::iter::once(run), (bytes, &mut codecs), &mut builder)?;
        }
        content.push((format!("{name}/{}", plan.field().name()), builder.finish()?));
    }
    Ok(())
}

/// Reads all of a file.
fn read_all(path: &Path) -> Result<Content> {
    let file = RootFile::open(path)?;
    let walk = file.walk();
    if let Some(problem) = walk.problems.into_iter().next() {
        return Err(problem);
    }
    let mut content = Vec::new();
    for key in walk.directories.iter().flat_map(|directory| &directory.keys).filter(|key| is_ntuple(&key.class)) {
        let ntuple = read_ntuple(&file, key)?;
        for set in &ntuple.attribute_sets {
            let attributes = read_attribute_set(&**file.source(), &ntuple, set)?;
            read_table(&**file.source(), &format!("{}: {}", key.name, set.name), attributes, &mut content)?;
        }
        read_table(&**file.source(), &key.name, ntuple, &mut content)?;
    }
    content.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(content)
}

/// What a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Reads,
    Damaged,
    /// Something in it is of a later version, or beyond what this version does.
    Unknown,
}

/// Whether an error is no statement about the file.
fn is_unknown(error: &Error) -> bool {
    !matches!(error.kind(), ErrorKind::Corrupt(_) | ErrorKind::Io(_))
}

/// Checks what must be true. `case` chooses the layout of the rewrite.
pub fn judge(bytes: &[u8], block: Block, case: usize, folder: &Path) -> std::result::Result<Verdict, String> {
    let (path, out) = (folder.join("in.root"), folder.join("out.root"));
    std::fs::write(&path, bytes).map_err(|e| e.to_string())?;
    let content = read_all(&path);
    let budget = Budget::new(48 << 20, 1);
    let options = CheckOptions { deep: true, budget, ..CheckOptions::default() };
    let report = check(&[PathBuf::from(&path)], &options, &unwatched);
    let unknown = content.as_ref().is_err_and(is_unknown);
    match report {
        Ok(report) => {
            let file = &report.files[0];
            let whole = file.condition == Condition::Ok;
            let unchecked = file.notes.iter().any(|note| note.starts_with("not checked"));
            if whole != content.is_ok() && !unknown && !unchecked {
                let read = content.map(|_| "reads".to_owned()).unwrap_or_else(|e| e.to_string());
                let found: Vec<String> = file.problems.iter().map(ToString::to_string).collect();
                return Err(format!("check finds {found:?}, reading says: {read}"));
            }
        }
        Err(e) if matches!(e.kind(), ErrorKind::Request(_) | ErrorKind::Differs(_)) => {}
        Err(e) => return Err(format!("check failed: {e}")),
    }
    let layout = LAYOUTS[case % LAYOUTS.len()];
    // Copied pages are decompressed on request only.
    let options = Options {
        layout: layout.parse().map_err(|e: Error| e.to_string())?,
        budget,
        overwrite: true,
        check: true,
        ..Options::default()
    };
    let written = rewrite(&[path], &out, &options, &unwatched);
    let verdict = match (&content, unknown) {
        (Ok(_), _) => Verdict::Reads,
        (_, true) => Verdict::Unknown,
        _ => Verdict::Damaged,
    };
    match (written, content) {
        (Err(_), _) => Ok(verdict),
        (Ok(_), Err(e)) if !is_unknown(&e) => Err(format!("{layout:?} writes what does not read: {e}")),
        (Ok(_), Err(_)) => Ok(verdict),
        (Ok(_), Ok(content)) => {
            let again = read_all(&out).map_err(|e| format!("{layout:?} ({block:?}) writes what reads as: {e}"))?;
            let names = |content: &Content| content.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            if names(&content) != names(&again) {
                return Err(format!("{layout:?}: {:?} became {:?}", names(&content), names(&again)));
            }
            for ((name, before), (_, after)) in content.iter().zip(&again) {
                if before != after {
                    let (before, after) = (before.slice(0, before.len().min(9)), after.slice(0, after.len().min(9)));
                    return Err(format!("{layout:?}: {name} was {before:?}, is {after:?}"));
                }
            }
            Ok(verdict)
        }
    }
}
