//! Records that move: class tags count from the start of their record, so a key of another length needs the tags
//! counted anew.
//!
//! Parts that are not interpreted may hold tags as well. Nobody can tell where such tags would then point, so these
//! records are refused.

use rootfile::object::{Content, Graph, Object, ObjectReader, ObjectWriter, Step, Value};
use rootfile::streamer::StreamerInfos;
use rootfile::tags::may_hold_tags;
use rootfile::{BIG_KEY, Key};

use crate::inner_trees;

/// The record with a key of eight-byte positions, which a position beyond 2 GB or an offset of process identifiers needs:
/// the key, and the payload with its tags counted from there. `None` where the tags cannot be found.
pub(super) fn with_big_key(key: &Key, payload: &[u8], infos: &StreamerInfos) -> Option<(Key, Vec<u8>)> {
    let mut big = key.clone();
    big.version = key.version.checked_add(BIG_KEY)?;
    big.keylen = key.keylen.checked_add(8)?;
    let moved = moved(key, payload, infos, big.keylen)?;
    big.objlen = u32::try_from(moved.len()).ok()?;
    Some((big, moved))
}

/// The payload of a record for a key of another length. `None` where its tags cannot be found.
pub fn moved(key: &Key, payload: &[u8], infos: &StreamerInfos, keylen: u16) -> Option<Vec<u8>> {
    if may_hold_tags(payload) { count_anew(key, payload, infos, keylen) } else { Some(payload.to_vec()) }
}

/// A record under another name.
pub(super) struct Renamed {
    pub key: Key,
    pub payload: Vec<u8>,
    /// The object and those that it points to, if they are known.
    pub parts: Option<(Object, Graph)>,
}

/// The record under another name, with a key of eight-byte positions if it must be `big`. An object that has the name of its key gets the
/// new one as well, if all its parts are known. `None` where its tags cannot be found, and the name has no room in a key of the old length.
pub(super) fn with_name(key: &Key, payload: &[u8], infos: &StreamerInfos, name: &str, big: bool) -> Option<Renamed> {
    let mut named = key.clone();
    name.clone_into(&mut named.name);
    if big && !key.is_big() {
        named.version = key.version.checked_add(BIG_KEY)?;
    }
    named.keylen = u16::try_from(named.header_len()).ok()?;
    let mut parts = understood(key, payload, infos);
    let moved = match &mut parts {
        Some((object, graph)) => {
            rename(object, &key.name, name);
            written(object, graph, named.keylen)?
        }
        // Where the key keeps its length, tags mean the same.
        None if may_hold_tags(payload) => {
            named.keylen = Some(key.keylen).filter(|len| *len >= named.keylen)?;
            payload.to_vec()
        }
        None => payload.to_vec(),
    };
    named.objlen = u32::try_from(moved.len()).ok()?;
    Some(Renamed { key: named, payload: moved, parts })
}

/// Gives an object that has a name the other one.
fn rename(object: &mut Object, from: &str, to: &str) {
    match &mut object.content {
        Content::Members(members) => {
            for ((_, step), value) in members.plan.steps.iter().zip(&mut members.values) {
                match (step, value) {
                    (Step::TNamed, Value::Named(named)) if named.name == from => to.clone_into(&mut named.name),
                    (Step::Base { .. }, Value::Object(base)) => rename(base, from, to),
                    _ => {}
                }
            }
        }
        Content::Collection(collection) if collection.name == from => to.clone_into(&mut collection.name),
        _ => {}
    }
}

/// The objects of a record that holds trees with baskets elsewhere in its file. `None` for other records, and where a copy
/// of the objects would differ from the record.
pub(super) fn with_trees(key: &Key, payload: &[u8], infos: &StreamerInfos) -> Option<(Object, Graph)> {
    payload.windows(8).any(|w| w.starts_with(b"TBranch")).then_some(())?;
    let (object, mut graph) = ObjectReader::new(payload, usize::from(key.keylen), infos).read_root(&key.class).ok()?;
    inner_trees::has_baskets(&mut graph).then_some(())?;
    let mut writer = ObjectWriter::new(usize::from(key.keylen), &graph);
    writer.root(&object).ok()?;
    (writer.out.bytes == payload).then_some((object, graph))
}

/// Reads and writes the objects. The result is used only if the same bytes come back with the old key.
fn count_anew(key: &Key, payload: &[u8], infos: &StreamerInfos, keylen: u16) -> Option<Vec<u8>> {
    let (object, graph) = understood(key, payload, infos)?;
    written(&object, &graph, keylen)
}

/// The objects of a record, if all their parts are known and make the same bytes.
fn understood(key: &Key, payload: &[u8], infos: &StreamerInfos) -> Option<(Object, Graph)> {
    let (object, graph) = ObjectReader::new(payload, usize::from(key.keylen), infos).read_root(&key.class).ok()?;
    let known = is_understood(&object) && graph.objects.iter().flatten().all(is_understood);
    (known && written(&object, &graph, key.keylen)? == payload).then_some((object, graph))
}

/// The payload of a record behind a key of this length.
fn written(object: &Object, graph: &Graph, keylen: u16) -> Option<Vec<u8>> {
    let mut writer = ObjectWriter::new(usize::from(keylen), graph);
    writer.root(object).ok()?;
    Some(writer.out.bytes)
}

fn is_understood(object: &Object) -> bool {
    match &object.content {
        Content::Members(m) => m.values.iter().all(is_understood_value),
        Content::Opaque(bytes) => !may_hold_tags(bytes),
        _ => true,
    }
}

fn is_understood_value(value: &Value) -> bool {
    match value {
        Value::Object(object) => is_understood(object),
        Value::List(values) => values.iter().all(is_understood_value),
        Value::Opaque(bytes) => !may_hold_tags(bytes),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_seen_in_raw_bytes() {
        assert!(may_hold_tags(&[0, 0x40, 0, 0, 6, 0xFF, 0xFF, 0xFF, 0xFF, 65, 0, 1]));
        assert!(may_hold_tags(&[0x40, 0, 0, 6, 0x80, 0, 0, 70, 0, 1]));
        assert!(!may_hold_tags(&[0x40, 0, 0, 6, 0, 4, 0, 0, 0, 1]));
    }
}
