//! Objects copied from the object graph of one record into that of another, with all that they point to.
//!
//! Parts that are not interpreted may hold class tags, which count from the start of their record. They are refused:
//! nobody can tell where such tags would then point.

use std::collections::HashMap;

use rootfile::object::{Content, Graph, Object, ObjectId, Value};
use rootfile::tags::may_hold_tags;

/// Copies an object, and all objects that it points to, from one graph into another.
pub(super) fn import(
    id: ObjectId,
    from: &Graph,
    to: &mut Graph,
    map: &mut HashMap<ObjectId, ObjectId>,
) -> Result<ObjectId, String> {
    import_below(id, from, to, (map, 0))
}

/// Copies an object that no pointer leads to, with all objects that it points to.
pub(super) fn import_object(object: &Object, from: &Graph, to: &mut Graph) -> Result<ObjectId, String> {
    let (mut object, mut map) = (object.clone(), HashMap::new());
    remap_object(&mut object, &mut |id| import_below(id, from, to, (&mut map, 1)))?;
    Ok(to.add(object))
}

/// Longest chain of objects that point to one another. A file could have one as long as its record.
const LONGEST_CHAIN: usize = 200;

fn import_below(
    id: ObjectId,
    from: &Graph,
    to: &mut Graph,
    (map, depth): (&mut HashMap<ObjectId, ObjectId>, usize),
) -> Result<ObjectId, String> {
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

type Map<'a> = dyn FnMut(ObjectId) -> Result<ObjectId, String> + 'a;

fn remap_object(object: &mut Object, map: &mut Map<'_>) -> Result<(), String> {
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

fn remap_value(value: &mut Value, map: &mut Map<'_>) -> Result<(), String> {
    match value {
        Value::Pointer(Some(id)) => *id = map(*id)?,
        Value::Object(object) => remap_object(object, map)?,
        Value::List(values) => values.iter_mut().try_for_each(|value| remap_value(value, map))?,
        Value::Opaque(bytes) if may_hold_tags(bytes) => return Err("a member cannot be moved".to_owned()),
        _ => {}
    }
    Ok(())
}
