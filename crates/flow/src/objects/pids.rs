//! Process identifiers: the tables that references (`TRef`) of a file count in, and their union.
//!
//! A file has its `TProcessID`s as keys `ProcessID0`, `ProcessID1`, ...; references hold the number, and the title
//! (a UUID) says which process is meant. Joined files get the tables of their inputs one behind the other, and
//! the references of each input are moved by an offset (`TTreeCloner::CopyProcessIds`).

use rootfile::bytes::Writer;
use rootfile::codec::Compression;
use rootfile::object::write_tobject;
use rootfile::tags::{begin_frame, end_frame};
use rootfile::{DirId, Error, FileWriter, Result, RootFile};

const CLASS: &str = "TProcessID";
/// `TObject` bits of an object on the heap.
const NEW_OBJECT: u32 = 0x0300_0000;

/// One process identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessId {
    /// The UUID of the process, by which readers know it again.
    pub uuid: String,
}

/// The process identifiers of a file; place `n` is what references with number `n` mean.
pub fn read(file: &RootFile) -> Vec<ProcessId> {
    let mut ids = Vec::new();
    for key in file.top().keys.iter().filter(|key| key.class == CLASS) {
        let number = key.name.strip_prefix("ProcessID").and_then(|n| n.parse::<u16>().ok());
        if let Some(number) = number.map(usize::from) {
            // A gap in the numbers is kept, so that all others stay in their places.
            if ids.len() <= number {
                ids.resize(number + 1, ProcessId { uuid: String::new() });
            }
            if let Some(id) = ids.get_mut(number) {
                id.uuid.clone_from(&key.title);
            }
        }
    }
    ids
}

/// The table of the output, and for each input what is added to the numbers of its references. An input whose
/// table is already there, in the same order, shares it.
pub fn plan(inputs: &[Vec<ProcessId>]) -> Result<(Vec<ProcessId>, Vec<u16>)> {
    let mut table: Vec<ProcessId> = Vec::new();
    let mut offsets = Vec::with_capacity(inputs.len());
    for ids in inputs {
        let there = if ids.is_empty() { Some(0) } else { table.windows(ids.len()).position(|w| w == ids) };
        let offset = there.unwrap_or(table.len());
        if there.is_none() {
            table.extend_from_slice(ids);
        }
        offsets.push(u16::try_from(offset).map_err(|_| too_many())?);
    }
    if table.len() > usize::from(u16::MAX) {
        return Err(too_many());
    }
    Ok((table, offsets))
}

fn too_many() -> Error {
    Error::request("the inputs have more than 65535 process identifiers together")
}

/// Writes the table.
pub fn write(writer: &mut FileWriter, table: &[ProcessId]) -> Result<()> {
    let top: DirId = writer.top();
    for (n, id) in table.iter().enumerate() {
        let name = format!("ProcessID{n}");
        writer.write_object(top, (CLASS, &name, &id.uuid), Compression::NONE, |_| {
            let mut w = Writer::new();
            let outer = begin_frame(&mut w, 1);
            let named = begin_frame(&mut w, 1);
            write_tobject(&mut w, 0, NEW_OBJECT);
            w.string(&name);
            w.string(&id.uuid);
            end_frame(&mut w, named);
            end_frame(&mut w, outer);
            Ok(w.bytes)
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(uuids: &str) -> Vec<ProcessId> {
        uuids.chars().map(|c| ProcessId { uuid: c.to_string() }).collect()
    }

    #[test]
    fn tables_follow_each_other_unless_they_are_there() {
        let (table, offsets) = plan(&[ids("a"), ids("bc"), ids(""), ids("c"), ids("a"), ids("cd")]).unwrap();
        assert_eq!(table, ids("abccd"));
        assert_eq!(offsets, [0, 1, 0, 2, 0, 3]);
    }
}
