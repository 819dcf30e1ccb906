//! Process identifiers: the tables that the references (`TRef`) of files index, and their union.
//!
//! A file has its `TProcessID`s as keys `ProcessID0`, `ProcessID1`, ...; references hold the number, and the title
//! (a UUID) says which process is meant. An output gets the tables of its inputs one behind the other, and
//! the references of each input are shifted by an offset (`TTreeCloner::CopyProcessIds`).

use rootfile::bytes::Writer;
use rootfile::codec::Compression;
use rootfile::object::{Content, Graph, Object, TObject, Value, write_tnamed};
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

/// The process identifiers of a file. References with number `n` mean the one at index `n`.
pub fn read(file: &RootFile) -> Vec<ProcessId> {
    let mut ids = Vec::new();
    for key in file.top().keys.iter().filter(|key| key.class == CLASS) {
        let number = key.name.strip_prefix("ProcessID").and_then(|n| n.parse::<u16>().ok());
        if let Some(number) = number.map(usize::from) {
            // A gap in the numbers is kept, so that each identifier has its number as index.
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

/// Joins the tables of the inputs. Returns the table of the output, and for each input the offset of its references. An
/// input whose table is already there, in the same order, shares it.
///
/// # Errors
///
/// The table has more than 65,535 identifiers.
pub fn join(inputs: &[Vec<ProcessId>]) -> Result<(Vec<ProcessId>, Vec<u16>)> {
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
///
/// # Errors
///
/// The output cannot be written.
pub fn write(writer: &mut FileWriter, table: &[ProcessId]) -> Result<()> {
    write_from(writer, table, 0)
}

/// Writes the identifiers of a table from a number on.
///
/// # Errors
///
/// The output cannot be written.
pub fn write_from(writer: &mut FileWriter, table: &[ProcessId], first: usize) -> Result<()> {
    let top: DirId = writer.top();
    for (n, id) in table.iter().enumerate().skip(first) {
        let name = format!("ProcessID{n}");
        if writer.keep_named(CLASS, &name, &id.uuid) {
            continue;
        }
        writer.write_object(top, (CLASS, &name, &id.uuid), Compression::NONE, |_| {
            let mut w = Writer::new();
            let outer = begin_frame(&mut w, 1);
            write_tnamed(&mut w, &TObject { bits: NEW_OBJECT, ..TObject::default() }, &name, &id.uuid);
            end_frame(&mut w, outer);
            Ok(w.bytes)
        })?;
    }
    Ok(())
}

/// Adds an offset to the process-identifier numbers of all referenced objects.
pub(crate) fn shift_references(object: &mut Object, graph: &mut Graph, offset: u16) -> Result<()> {
    if offset == 0 {
        return Ok(());
    }
    let mut fits = true;
    let mut shift = |object: &mut TObject| {
        if let Some(pid) = &mut object.pid {
            match pid.checked_add(offset) {
                Some(moved) => *pid = moved,
                None => fits = false,
            }
        }
    };
    visit_object(object, &mut shift);
    graph.objects.iter_mut().flatten().for_each(|object| visit_object(object, &mut shift));
    if fits { Ok(()) } else { Err(Error::unsupported("a process identifier beyond 65535")) }
}

fn visit_object(object: &mut Object, with: &mut impl FnMut(&mut TObject)) {
    match &mut object.content {
        Content::Members(m) => m.values.iter_mut().for_each(|value| visit_value(value, with)),
        Content::TObject(object) => with(object),
        Content::Collection(collection) => with(&mut collection.object),
        Content::Array(_) | Content::Opaque(_) | Content::Held(_) => {}
    }
}

fn visit_value(value: &mut Value, with: &mut impl FnMut(&mut TObject)) {
    match value {
        Value::TObject(object) => with(object),
        Value::Named(named) => with(&mut named.object),
        Value::Object(object) => visit_object(object, with),
        Value::List(values) => values.iter_mut().for_each(|value| visit_value(value, with)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(uuids: &str) -> Vec<ProcessId> {
        uuids.chars().map(|c| ProcessId { uuid: c.to_string() }).collect()
    }

    #[test]
    fn tables_are_appended_unless_they_are_there() {
        let (table, offsets) = join(&[ids("a"), ids("bc"), ids(""), ids("c"), ids("a"), ids("cd")]).unwrap();
        assert_eq!(table, ids("abccd"));
        assert_eq!(offsets, [0, 1, 0, 2, 0, 3]);
    }

    #[test]
    fn references_are_shifted() {
        let referenced = TObject { unique_id: 7, bits: 1 << 4, pid: Some(2) };
        let mut object = Object { class: "TObject".into(), version: 1, content: Content::TObject(referenced) };
        shift_references(&mut object, &mut Graph::default(), 3).unwrap();
        assert_eq!(object.content, Content::TObject(TObject { pid: Some(5), ..referenced }));
        assert!(shift_references(&mut object, &mut Graph::default(), u16::MAX).is_err());
    }
}
