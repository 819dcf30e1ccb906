//! The names of a table for expressions: columns at any depth, by their paths or by their own names, the aliases of a tree, and the columns
//! of its friends, which are opened where no other name is meant. An alias that not all files have alike is none.

use std::cell::OnceCell;
use std::collections::HashMap;

use arrow_schema::{DataType, FieldRef};
use dataset::glob::TreePattern;
use expr::{NamedColumn, Names};
use rootfile::Error;

use super::define::Define;
use crate::arrow::read::{Dataset, Friend, NamedTable};

/// The names of a table.
pub(crate) struct TableNames<'a> {
    table: &'a dyn NamedTable,
    path: &'a str,
    columns: HashMap<String, usize>,
    aliases: HashMap<String, String>,
    defines: &'a [Define],
    /// The columns of each friend, once a name may be one.
    friends: OnceCell<Vec<HashMap<String, usize>>>,
}

impl<'a> TableNames<'a> {
    /// Those of an open table with this path, and of columns that are defined in it.
    pub fn new(table: &'a dyn NamedTable, path: &'a str, defines: &'a [Define]) -> Self {
        let (columns, aliases) = (named(table.lineages()), table.aliases().into_iter().collect());
        Self { table, path, columns, aliases, defines, friends: OnceCell::new() }
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
        let has_friend = |dataset: &Dataset| dataset.friend_names().iter().any(|friend| after(friend, name).is_some());
        if self.is_own(name) || !self.table.dataset().is_some_and(has_friend) {
            return None;
        }
        let mut all = self.friends().iter().zip(self.columns_of_friends());
        all.find_map(|(friend, columns)| columns.get(after(friend.name(), name)?).copied())
    }

    /// The friends, which are opened now.
    fn friends(&self) -> &'a [Friend] {
        self.table.dataset().map_or(&[], Dataset::friends)
    }

    /// The columns of each friend.
    fn columns_of_friends(&self) -> &[HashMap<String, usize>] {
        self.friends.get_or_init(|| self.friends().iter().map(Self::of_friend).collect())
    }

    /// The columns of a friend; none if it cannot be read.
    fn of_friend(friend: &Friend) -> HashMap<String, usize> {
        let Ok(schema) = friend.schema() else { return HashMap::new() };
        let columns = friend.column_of_each_node().into_iter().enumerate();
        named(columns.filter_map(|(node, column)| Some((schema.lineage(node), column?))))
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

    /// Why a name that an error is about has no meaning, beside that nothing has it: columns of this name have other types in the files,
    /// aliases are others, or a friend cannot be read.
    pub fn unusable(&self, unknown: &expr::Error) -> Option<Error> {
        let name = unknown.subject();
        let conflict = self.find(name).and_then(|column| self.table.conflict(column));
        conflict
            .or_else(|| Some(different_alias(name, self.table.alias_conflict(name)?)))
            .or_else(|| self.unreadable_friend(name))
    }

    /// Whether a column or an alias has this name.
    pub fn is_taken(&self, name: &str) -> bool {
        self.has(name) || self.alias(name).is_some() || self.table.alias_conflict(name).is_some()
    }

    /// Why the friend that a name begins with cannot be read.
    fn unreadable_friend(&self, name: &str) -> Option<Error> {
        self.table.dataset()?.friend_names().iter().find(|friend| after(friend, name).is_some())?;
        self.friends().iter().find(|friend| after(friend.name(), name).is_some())?.schema().err()
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

/// Columns by their names, given from their own to that of the node at the top above them.
fn named<'n>(lineages: impl IntoIterator<Item = (Vec<&'n str>, usize)>) -> HashMap<String, usize> {
    let mut columns = HashMap::new();
    let mut within = Vec::new();
    for (mut names, column) in lineages {
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
        let field = self.table.field(number).filter(|_| self.table.conflict(number).is_none())?;
        let data_type = if self.table.opaque(number).is_some() { DataType::Binary } else { field.data_type().clone() };
        Some(NamedColumn { number, data_type })
    }

    fn alias(&self, name: &str) -> Option<String> {
        let defined = self.defines.iter().find(|define| define.name == name).map(|define| define.text.clone());
        defined.or_else(|| self.aliases.get(name).cloned())
    }

    fn known(&self) -> Vec<String> {
        let defined = self.defines.iter().map(|define| &define.name);
        let mut known: Vec<String> = self.columns.keys().chain(self.aliases.keys()).chain(defined).cloned().collect();
        for (friend, columns) in self.friends().iter().zip(self.columns_of_friends()) {
            known.extend(columns.keys().map(|name| format!("{}.{name}", friend.name())));
        }
        for (name, number) in &self.columns {
            let members = self.table.field(*number).map_or(&[][..], |field| members(field.data_type()));
            known.extend(members.iter().map(|member| format!("{name}.{}", member.name())));
        }
        known.sort_unstable();
        known
    }
}
