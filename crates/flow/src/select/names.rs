//! The names of a table for expressions: columns at any depth, by their paths or by their own names, the aliases of a tree, and the columns
//! of its friends, which are opened where no other name is meant. An alias that not all files have alike is none.

use std::cell::OnceCell;
use std::collections::HashMap;

use arrow_schema::{DataType, FieldRef};
use dataset::glob::TreePattern;
use dataset::table::TableSchema;
use expr::{NamedColumn, Names};
use rootfile::Error;

use super::define::Define;
use crate::arrow::read::{Dataset, Friend};
use crate::plan::tree::attached::aliases;

/// The names of a table.
pub(crate) struct TableNames<'a> {
    dataset: &'a Dataset,
    path: &'a str,
    columns: HashMap<String, usize>,
    aliases: HashMap<String, String>,
    defines: &'a [Define],
    /// The columns of each friend, once a name may be one.
    friends: OnceCell<Vec<HashMap<String, usize>>>,
}

impl<'a> TableNames<'a> {
    /// Those of an open table with this path, and of columns that are defined in it.
    pub fn new(dataset: &'a Dataset, path: &'a str, defines: &'a [Define]) -> Self {
        let columns = named(dataset.schema(), dataset.column_of_each_node());
        let aliases = dataset.tree().map_or_else(Vec::new, aliases).into_iter();
        let aliases = aliases.filter(|(name, _)| dataset.alias_conflict(name).is_none()).collect();
        Self { dataset, path, columns, aliases, defines, friends: OnceCell::new() }
    }

    fn find(&self, name: &str) -> Option<usize> {
        let found = |name: &str| self.columns.get(name.trim_start_matches('/')).copied();
        found(name).or_else(|| {
            // `events/stream` is the column stream of the tree events.
            let (tree, column) = name.rsplit_once('/')?;
            TreePattern::exact(tree).matches(self.path).then(|| found(column))?
        })
    }

    /// The column of a friend: `friend.column`. Its own name alone is not enough, so that of several trees those without a column stay such.
    fn find_in_friends(&self, name: &str) -> Option<usize> {
        if self.is_own(name) || !self.dataset.friend_names().iter().any(|friend| after(friend, name).is_some()) {
            return None;
        }
        let mut all = self.dataset.friends().iter().zip(self.columns_of_friends());
        all.find_map(|(friend, columns)| columns.get(after(friend.name(), name)?).copied())
    }

    /// The columns of each friend, which is opened now.
    fn columns_of_friends(&self) -> &[HashMap<String, usize>] {
        self.friends.get_or_init(|| self.dataset.friends().iter().map(Self::of_friend).collect())
    }

    /// The columns of a friend; none if it cannot be read.
    fn of_friend(friend: &Friend) -> HashMap<String, usize> {
        friend.schema().map_or_else(|_| HashMap::new(), |schema| named(schema, friend.column_of_each_node()))
    }

    /// Whether the table itself has a column of this name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Whether a name means something that is no column of a friend: an alias, or a member of an object.
    fn is_own(&self, name: &str) -> bool {
        let object = || name.match_indices('.').filter_map(|(dot, _)| name.get(..dot)).any(|object| self.has(object));
        self.aliases.contains_key(name) || self.defines.iter().any(|define| define.name == name) || object()
    }

    /// Why a name that an error is about has no meaning, beside that nothing has it: files have other aliases of this name, or a friend cannot be read.
    pub fn unusable(&self, unknown: &expr::Error) -> Option<Error> {
        let name = unknown.subject();
        let conflict = self.dataset.alias_conflict(name).map(|why| different_alias(name, why));
        conflict.or_else(|| self.unreadable_friend(name))
    }

    /// Whether a column or an alias has this name.
    pub fn is_taken(&self, name: &str) -> bool {
        self.has(name) || self.alias(name).is_some() || self.dataset.alias_conflict(name).is_some()
    }

    /// Why the friend that a name begins with cannot be read.
    fn unreadable_friend(&self, name: &str) -> Option<Error> {
        self.dataset.friend_names().iter().find(|friend| after(friend, name).is_some())?;
        self.dataset.friends().iter().find(|friend| after(friend.name(), name).is_some())?.schema().err()
    }
}

/// The error for an alias that files have, but not alike.
pub(super) fn different_alias(name: &str, why: &str) -> Error {
    Error::differs(format!("the files differ: alias {name} {why}"))
}

/// What follows the name of a friend.
fn after<'n>(friend: &str, name: &'n str) -> Option<&'n str> {
    name.strip_prefix(friend)?.strip_prefix('.')
}

/// Columns by the names of the nodes of a schema.
fn named(schema: &TableSchema, column_of_each: Vec<Option<usize>>) -> HashMap<String, usize> {
    let mut columns = HashMap::new();
    let mut within = Vec::new();
    for (node, column) in column_of_each.into_iter().enumerate() {
        let Some(column) = column else { continue };
        let mut names = schema.lineage(node);
        names.reverse();
        for (depth, name) in paths(&names).enumerate() {
            match depth {
                0 => drop(columns.insert(name, column)),
                _ => within.push((name, column)),
            }
        }
    }
    // A whole path goes before the end of another one, and a column before those behind it.
    for (name, column) in within {
        columns.entry(name).or_insert(column);
    }
    columns
}

/// The members of objects, or of lists of objects.
fn members(data_type: &DataType) -> &[FieldRef] {
    match data_type {
        DataType::Struct(members) => members,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            members(item.data_type())
        }
        _ => &[],
    }
}

/// A path, and its ends: `a/b/c`, `b/c`, `c`; with dots too, and without the dimensions of an array.
fn paths(names: &[&str]) -> impl Iterator<Item = String> {
    let ends: Vec<String> = (0..names.len()).map(|from| names.get(from..).unwrap_or_default().join("/")).collect();
    let dotted: Vec<String> = ends.iter().map(|end| end.replace("./", ".").replace('/', ".")).collect();
    let bare: Vec<String> = ends.iter().filter_map(|end| Some(end.split_once('[')?.0.to_owned())).collect();
    ends.into_iter().chain(dotted).chain(bare)
}

impl Names for TableNames<'_> {
    fn column(&self, name: &str) -> Option<NamedColumn> {
        let number = self.find(name).or_else(|| self.find_in_friends(name))?;
        let column = self.dataset.column(number)?;
        let data_type = if column.opaque().is_some() { DataType::Binary } else { column.field().data_type().clone() };
        Some(NamedColumn { number, data_type })
    }

    fn alias(&self, name: &str) -> Option<String> {
        let defined = self.defines.iter().find(|define| define.name == name).map(|define| define.text.clone());
        defined.or_else(|| self.aliases.get(name).cloned())
    }

    fn known(&self) -> Vec<String> {
        let defined = self.defines.iter().map(|define| &define.name);
        let mut known: Vec<String> = self.columns.keys().chain(self.aliases.keys()).chain(defined).cloned().collect();
        for (friend, columns) in self.dataset.friends().iter().zip(self.columns_of_friends()) {
            known.extend(columns.keys().map(|name| format!("{}.{name}", friend.name())));
        }
        for (name, number) in &self.columns {
            let members = self.dataset.column(*number).map_or(&[][..], |column| members(column.field().data_type()));
            known.extend(members.iter().map(|member| format!("{name}.{}", member.name())));
        }
        known.sort_unstable();
        known
    }
}
