//! The friends of a tree, as its record names them: other trees that add columns to its entries. Does not open them.

use rootfile::object::{Content, ObjectId, Value};

use super::model::Tree;

/// A friend of a tree (`TFriendElement`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FriendName {
    /// The prefix of its columns, before a dot: an alias, or the tree's name.
    pub name: String,
    /// Path of the tree in its file.
    pub tree: String,
    /// The path of the file as the writer gave it; empty for the tree's own file.
    pub file: String,
}

impl Tree {
    /// The friends, in the order in which columns are looked up.
    pub fn friends(&self) -> Vec<FriendName> {
        let Some(Content::Collection(list)) = self.friends.and_then(|id| self.graph.get(id)).map(|list| &list.content)
        else {
            return Vec::new();
        };
        list.items.iter().flatten().filter_map(|id| self.friend(*id)).collect()
    }

    /// Keeps the friends for which `keep` returns true.
    pub fn retain_friends(&mut self, keep: impl Fn(&FriendName) -> bool) {
        let Some(list) = self.friends else { return };
        let Some(Content::Collection(there)) = self.graph.get(list).map(|list| &list.content) else { return };
        let stays = |id: &Option<ObjectId>| id.and_then(|id| self.friend(id)).is_none_or(|friend| keep(&friend));
        let stays: Vec<bool> = there.items.iter().map(stays).collect();
        if !stays.contains(&true) {
            self.friends = None;
            return;
        }
        let object = self.graph.objects.get_mut(list).and_then(Option::as_mut);
        if let Some(Content::Collection(list)) = object.map(|object| &mut object.content) {
            let (mut items, mut options) = (stays.iter(), stays.iter());
            list.items.retain(|_| items.next() != Some(&false));
            list.options.retain(|_| options.next() != Some(&false));
        }
    }

    fn friend(&self, id: ObjectId) -> Option<FriendName> {
        let members = self.graph.get(id).filter(|object| object.is_a("TFriendElement"))?.members()?;
        let named = members.named()?;
        let tree = members.get("fTreeName").and_then(Value::as_str).unwrap_or(&named.name);
        Some(FriendName { name: named.name.clone(), tree: tree.to_owned(), file: named.title.clone() })
    }
}
