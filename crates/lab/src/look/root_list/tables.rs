//! The branches and clusters of a tree, and the fields of an RNTuple. A table that cannot be read is said to be so in its place.

use dataset::ntuple::model::Schema;
use dataset::ntuple::read_ntuple;
use dataset::tree::clusters::declared_up_to;
use dataset::tree::{Tree, read_tree};
use rootfile::{Key, RootFile};

use super::options::DEEPEST;

/// Most clusters of a tree that are listed: a damaged tree may claim any number.
const MOST_CLUSTERS: usize = 1 << 20;

/// Prints branches, each with those below it, and clusters as ROOT's readers see them: those that the tree declares, or else as many
/// entries as fit the cache.
pub(super) fn tree(text: &mut String, file: &RootFile, key: &Key, indent: usize) {
    let space = " ".repeat(indent);
    let tree = match read_tree(file, key) {
        Ok(tree) => tree,
        Err(why) => {
            *text += &format!("{space}{why}\n");
            return;
        }
    };
    branches(text, &tree, &tree.top, indent);
    *text += &format!("{space}Cluster INCLUSIVE ranges:\n");
    // One more tells that there are more.
    let clusters = declared_up_to(&tree, MOST_CLUSTERS + 1);
    for (number, range) in clusters.ranges(tree.entries).take(MOST_CLUSTERS).enumerate() {
        *text += &format!("{space} - # {number}: [{}, {}]\n", range.start, range.end.saturating_sub(1));
    }
    *text += &match clusters.starts.len() {
        count @ 0..=MOST_CLUSTERS => format!("{space}The total number of clusters is {count}\n"),
        _ => format!("{space}The total number of clusters is more than {MOST_CLUSTERS}\n"),
    };
}

fn branches(text: &mut String, tree: &Tree, listed: &[usize], indent: usize) {
    let shown = || listed.iter().filter_map(|branch| tree.branches.get(*branch));
    let names = shown().map(|branch| branch.named.name.chars().count()).max().unwrap_or(0) + 2;
    let titles = shown().map(|branch| branch.named.title.chars().count()).max().unwrap_or(0) + 4;
    for branch in shown() {
        let (name, title) = (&branch.named.name, format!("\"{}\"", branch.named.title));
        *text += &" ".repeat(indent);
        *text += &format!("{name:<names$}{title:<titles$}{}\n", branch.tot_bytes);
        if indent < DEEPEST {
            branches(text, tree, &branch.children, indent + 2);
        }
    }
}

/// Prints fields, each with those below it.
pub(super) fn ntuple(text: &mut String, file: &RootFile, key: &Key, indent: usize) {
    match read_ntuple(file, key) {
        Ok(ntuple) => fields(text, &ntuple.schema, None, Columns { indent, names: 0, types: 0 }),
        Err(why) => *text += &format!("{}{why}\n", " ".repeat(indent)),
    }
}

/// Where the columns of fields are: the indent, and the least widths of names and types.
#[derive(Clone, Copy)]
struct Columns {
    indent: usize,
    names: usize,
    types: usize,
}

fn fields(text: &mut String, schema: &Schema, parent: Option<usize>, at: Columns) {
    let children = schema.children(parent);
    let mut listed: Vec<_> = children.iter().filter_map(|id| Some((*id, schema.fields.get(*id)?))).collect();
    listed.sort_by(|a, b| a.1.name.cmp(&b.1.name));
    let names = listed.iter().map(|(_, field)| field.name.chars().count()).max().unwrap_or(0);
    let types = listed.iter().map(|(_, field)| field.type_name.chars().count()).max().unwrap_or(0);
    let (names, types) = (at.names.max(names + 2), at.types.max(types + 4));
    for (id, field) in listed {
        let (name, type_name) = (&field.name, &field.type_name);
        *text += &" ".repeat(at.indent);
        *text += &match at.names {
            0 => format!("{name:<names$}"),
            // Dots lead the eye where names are indented.
            _ => format!("{name:.<names$}"),
        };
        *text += &format!("{type_name:<types$}");
        if !field.description.is_empty() {
            *text += &format!("\"{}\"", field.description);
        }
        text.push('\n');
        if at.indent < DEEPEST {
            fields(text, schema, Some(id), Columns { indent: at.indent + 2, names: names - 2, types: types - 2 });
        }
    }
}
