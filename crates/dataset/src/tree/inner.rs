//! Trees inside a tree's record: trees in its user info. Their entries are not read. Their branches are generic
//! objects, whose baskets are in the record or in the file.

use std::collections::HashSet;

use rootfile::object::{Array, Content, Graph, Members, Object, ObjectId, Value};
use rootfile::tags::may_hold_tags;

use super::model::{Listed, Tree};

/// The baskets of an inner tree's branch.
pub struct InnerBaskets<'a> {
    /// Name of the branch, which its baskets have too.
    pub branch: String,
    /// Offsets and sizes of the records: 0 for baskets in the tree's own record.
    pub places: Vec<(u64, u32)>,
    members: &'a mut Members,
}

impl InnerBaskets<'_> {
    /// Sets the new offsets and sizes of the baskets.
    pub fn set(&mut self, places: &[(u64, u32)]) {
        let mut set = |name: &str, of: &dyn Fn(usize) -> u64| {
            if let Some(Value::Array(array)) = self.members.get_mut(name) {
                let size = array.item_size();
                for (i, item) in array.raw.chunks_exact_mut(size).enumerate().take(places.len()) {
                    let bytes = of(i).to_be_bytes();
                    item.copy_from_slice(bytes.get(bytes.len() - size..).unwrap_or(&[0; 4]));
                }
            }
        };
        set("fBasketSeek", &|i| places.get(i).map_or(0, |p| p.0));
        set("fBasketBytes", &|i| places.get(i).map_or(0, |p| u64::from(p.1)));
    }
}

/// The branches of inner trees that have baskets in the file itself, one after the other.
pub fn each_inner_branch(graph: &mut Graph, with: &mut dyn FnMut(InnerBaskets<'_>)) {
    for object in graph.objects.iter_mut().flatten() {
        if let Some(members) = branch_members(object) {
            let name = members.named().map(|named| named.name.clone()).unwrap_or_default();
            if members.get("fFileName").and_then(Value::as_str).is_some_and(|name| !name.is_empty()) {
                continue;
            }
            let numbers =
                |name: &str| members.get(name).and_then(Value::as_array).map(Array::to_i64).unwrap_or_default();
            let (seeks, bytes) = (numbers("fBasketSeek"), numbers("fBasketBytes"));
            let places: Vec<(u64, u32)> = (seeks.iter().zip(&bytes))
                .map(|(seek, bytes)| (u64::try_from(*seek).unwrap_or(0), u32::try_from(*bytes).unwrap_or(0)))
                .collect();
            if places.iter().any(|(seek, _)| *seek > 0) {
                with(InnerBaskets { branch: name, places, members });
            }
        }
    }
}

/// The members of `TBranch`, if an object is a branch.
fn branch_members(object: &mut Object) -> Option<&mut Members> {
    let is_branch = &*object.class == "TBranch";
    let members = object.members_mut()?;
    if is_branch {
        return Some(members);
    }
    members.values.iter_mut().find_map(|value| match value {
        Value::Object(base) if base.class.starts_with("TBranch") => branch_members(base),
        _ => None,
    })
}

impl Tree {
    /// Removes from the user info the objects that cannot be written elsewhere: those with opaque bytes that hold class
    /// tags, which count from the start of the record. Returns their classes and names.
    pub fn drop_unmovable(&mut self) -> Vec<(String, String)> {
        let Some(list) = self.user_info else { return Vec::new() };
        let items = match self.graph.get(list).map(|object| &object.content) {
            Some(Content::Collection(list)) => list.items.clone(),
            _ => return Vec::new(),
        };
        let bad = |id: &Option<ObjectId>| id.is_some_and(|id| !is_movable(&self.graph, id));
        let bad: Vec<bool> = items.iter().map(bad).collect();
        if !bad.contains(&true) {
            return Vec::new();
        }
        let named =
            |id: &ObjectId| self.graph.get(*id).map(Listed::of).map(|o| (o.class.to_owned(), o.name.to_owned()));
        let removed =
            items.iter().zip(&bad).filter(|(_, bad)| **bad).filter_map(|(id, _)| named(id.as_ref()?)).collect();
        if let Some(Object { content: Content::Collection(list), .. }) =
            self.graph.objects.get_mut(list).and_then(Option::as_mut)
        {
            let mut bad_items = bad.iter();
            list.items.retain(|_| !bad_items.next().copied().unwrap_or(false));
            let mut bad_options = bad.iter();
            list.options.retain(|_| !bad_options.next().copied().unwrap_or(false));
        }
        removed
    }
}

/// Whether an object, and all objects that it points to, can be written at another position.
fn is_movable(graph: &Graph, id: ObjectId) -> bool {
    let (mut waiting, mut seen) = (vec![id], HashSet::new());
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let Some(object) = graph.get(id)
            && !movable_object(object, &mut waiting)
        {
            return false;
        }
    }
    true
}

fn movable_object(object: &Object, waiting: &mut Vec<ObjectId>) -> bool {
    match &object.content {
        Content::Members(members) => members.values.iter().all(|value| movable_value(value, waiting)),
        Content::Collection(list) => {
            waiting.extend(list.items.iter().flatten());
            true
        }
        // Tags in a basket count from the basket's own start.
        Content::Opaque(_) if &*object.class == "TBasket" => true,
        Content::Opaque(bytes) => !may_hold_tags(bytes),
        Content::Held(_) => false,
        Content::TObject(_) | Content::Array(_) => true,
    }
}

fn movable_value(value: &Value, waiting: &mut Vec<ObjectId>) -> bool {
    match value {
        Value::Pointer(Some(id)) => {
            waiting.push(*id);
            true
        }
        Value::Object(object) => movable_object(object, waiting),
        Value::List(values) => values.iter().all(|value| movable_value(value, waiting)),
        Value::Opaque(bytes) => !may_hold_tags(bytes),
        _ => true,
    }
}
