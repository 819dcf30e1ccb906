//! Objects moved from one record to another: references renumbered, pointers kept, tags counted anew.
//!
//! Parts that were not interpreted may hold tags, which count from the start of their record. They are refused
//! here, since nobody could tell where they would then point.

use std::collections::HashMap;

use rootfile::object::{Content, Graph, Object, ObjectId, ObjectReader, ObjectWriter, TObject, Value};
use rootfile::streamer::StreamerInfos;
use rootfile::tags::may_hold_tags;
use rootfile::{BIG_KEY, Error, Key, Result};

/// Adds to the process-identifier numbers of all referenced objects.
pub(super) fn shift_pids(object: &mut Object, graph: &mut Graph, offset: u16) -> Result<()> {
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

/// Copies an object and all that it points to from one record's objects to another's.
pub(super) fn import(
    id: ObjectId,
    from: &Graph,
    to: &mut Graph,
    map: &mut HashMap<ObjectId, ObjectId>,
) -> std::result::Result<ObjectId, String> {
    import_below(id, from, to, (map, 0))
}

/// The same of an object that is behind no pointer.
pub(super) fn import_object(object: &Object, from: &Graph, to: &mut Graph) -> std::result::Result<ObjectId, String> {
    let (mut object, mut map) = (object.clone(), HashMap::new());
    remap_object(&mut object, &mut |id| import_below(id, from, to, (&mut map, 1)))?;
    Ok(to.add(object))
}

/// Objects that point to one another, at most: a chain of them may be as long as its record.
const LONGEST_CHAIN: usize = 200;

fn import_below(
    id: ObjectId,
    from: &Graph,
    to: &mut Graph,
    (map, depth): (&mut HashMap<ObjectId, ObjectId>, usize),
) -> std::result::Result<ObjectId, String> {
    if depth > LONGEST_CHAIN {
        return Err(format!("more than {LONGEST_CHAIN} objects point to one another"));
    }
    if let Some(known) = map.get(&id) {
        return Ok(*known);
    }
    let mut object = from.get(id).cloned().ok_or("an element cannot be read")?;
    to.objects.push(None);
    let new = to.objects.len() - 1;
    map.insert(id, new);
    remap_object(&mut object, &mut |id| import_below(id, from, to, (map, depth + 1)))?;
    if let Some(slot) = to.objects.get_mut(new) {
        *slot = Some(object);
    }
    Ok(new)
}

type Map<'a> = dyn FnMut(ObjectId) -> std::result::Result<ObjectId, String> + 'a;

fn remap_object(object: &mut Object, map: &mut Map<'_>) -> std::result::Result<(), String> {
    match &mut object.content {
        Content::Members(m) => m.values.iter_mut().try_for_each(|value| remap_value(value, map)),
        Content::Collection(collection) => collection.items.iter_mut().flatten().try_for_each(|id| {
            *id = map(*id)?;
            Ok(())
        }),
        Content::Opaque(bytes) if may_hold_tags(bytes) => Err(format!("a {} cannot be moved", object.class)),
        _ => Ok(()),
    }
}

fn remap_value(value: &mut Value, map: &mut Map<'_>) -> std::result::Result<(), String> {
    match value {
        Value::Pointer(Some(id)) => *id = map(*id)?,
        Value::Object(object) => remap_object(object, map)?,
        Value::List(values) => values.iter_mut().try_for_each(|value| remap_value(value, map))?,
        Value::Opaque(bytes) if may_hold_tags(bytes) => return Err("a member cannot be moved".to_owned()),
        _ => {}
    }
    Ok(())
}

/// A record behind a key with eight-byte positions, which alone can lie far or have an offset of process
/// identifiers: the key, and the payload with its tags counted from there. `None` where that cannot be told.
pub(super) fn with_big_key(key: &Key, payload: &[u8], infos: &StreamerInfos) -> Option<(Key, Vec<u8>)> {
    let mut big = key.clone();
    big.version = key.version.checked_add(BIG_KEY)?;
    big.keylen = key.keylen.checked_add(8)?;
    let moved = if may_hold_tags(payload) { count_anew(key, payload, infos, big.keylen)? } else { payload.to_vec() };
    big.objlen = u32::try_from(moved.len()).ok()?;
    Some((big, moved))
}

/// The objects of a record that holds trees with baskets in its file, if they are understood.
pub(super) fn with_trees(key: &Key, payload: &[u8], infos: &StreamerInfos) -> Option<(Object, Graph)> {
    payload.windows(8).any(|w| w.starts_with(b"TBranch")).then_some(())?;
    let (object, mut graph) = ObjectReader::new(payload, usize::from(key.keylen), infos).read_root(&key.class).ok()?;
    crate::inner::has_baskets(&mut graph).then_some(())?;
    let mut writer = ObjectWriter::new(usize::from(key.keylen), &graph);
    writer.root(&object).ok()?;
    (writer.out.bytes == payload).then_some((object, graph))
}

/// Reads and writes the objects. That they come back the same behind the old key shows that they are understood.
fn count_anew(key: &Key, payload: &[u8], infos: &StreamerInfos, keylen: u16) -> Option<Vec<u8>> {
    let (object, graph) = ObjectReader::new(payload, usize::from(key.keylen), infos).read_root(&key.class).ok()?;
    let written = |keylen: u16| {
        let mut writer = ObjectWriter::new(usize::from(keylen), &graph);
        writer.root(&object).ok()?;
        Some(writer.out.bytes)
    };
    let understood = is_understood(&object) && graph.objects.iter().flatten().all(is_understood);
    if understood && written(key.keylen)? == payload { written(keylen) } else { None }
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

    #[test]
    fn numbers_of_processes_are_moved() {
        let referenced = TObject { unique_id: 7, bits: 1 << 4, pid: Some(2) };
        let mut object = Object { class: "TObject".into(), version: 1, content: Content::TObject(referenced) };
        shift_pids(&mut object, &mut Graph::default(), 3).unwrap();
        assert_eq!(object.content, Content::TObject(TObject { pid: Some(5), ..referenced }));
        assert!(shift_pids(&mut object, &mut Graph::default(), u16::MAX).is_err());
    }
}
