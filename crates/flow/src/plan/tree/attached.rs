//! What trees have beside branches and entries: title, weight, aliases, friends, user info. A joined tree has those of its first input,
//! as in hadd. What other inputs have is said; an alias that is not the same in all inputs means nothing to readers of the joined tree.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dataset::tree::{FriendName, Tree};
use expr::Expression;
use rootfile::object::{Content, Object, ObjectId};
use rootfile::public_path;
use rootfile::text::shortened;

use crate::table::object_values::Comparison;
use crate::table::text_list::listed;

/// Most inputs that have a note, and most characters of a text in it.
const MOST_NOTES: usize = 3;
const MOST_CHARACTERS: usize = 60;

/// The name and the formula of an alias.
pub(crate) type Alias = (String, String);

/// The aliases that are not the same in all inputs, by name, with what they are.
pub(crate) type AliasConflicts = BTreeMap<String, String>;

/// How further inputs differ from the first.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    lost: Vec<String>,
    more: usize,
    pub aliases: AliasConflicts,
}

impl Attached {
    /// Adds an input to those so far, of which the first gives the joined tree what it has.
    pub fn join(&mut self, path: &str, first: &Tree, first_file: &Path, other: &Tree, other_file: &Path) {
        if other.entries > 0 && first.entries > 0 {
            compare_aliases(&aliases(first), first_file, &aliases(other), other_file, &mut self.aliases);
        }
        let lost = lost(first, other);
        if lost.is_empty() {
            return;
        }
        if self.lost.len() >= MOST_NOTES {
            self.more += 1;
            return;
        }
        let [kept, other] = [first_file, other_file].map(|path| public_path(path).display().to_string());
        let text = format!("tree {path}: {} of {other} is left out; what {kept} has is kept", listed(&lost));
        self.lost.push(text);
    }

    /// What is lost of inputs.
    pub fn finish(self) -> (Vec<String>, AliasConflicts) {
        let mut lost = self.lost;
        if self.more > 0 {
            lost.push(format!(
                "titles, weights, aliases, friends or user info of {} more inputs are left out",
                self.more
            ));
        }
        (lost, self.aliases)
    }
}

/// Names and formulas of a tree's aliases.
pub(crate) fn aliases(tree: &Tree) -> Vec<Alias> {
    tree.listed(tree.aliases).map(|alias| (alias.name.to_owned(), alias.title.to_owned())).collect()
}

/// Adds the aliases that two tables do not share.
pub(crate) fn compare_aliases(
    first: &[Alias],
    first_path: &Path,
    other: &[Alias],
    other_path: &Path,
    found: &mut AliasConflicts,
) {
    let [ours, theirs] = [first_path, other_path].map(|path| public_path(path).display().to_string());
    let of = |aliases: &[Alias], wanted: &str| {
        aliases.iter().find(|(name, _)| name == wanted).map(|(_, formula)| formula.clone())
    };
    for (name, _) in first.iter().chain(other).filter(|(name, _)| !found.contains_key(name)).collect::<Vec<_>>() {
        let what = match (of(first, name), of(other, name)) {
            (Some(a), Some(b)) if a != b => format!("is {a} in {ours}, and {b} in {theirs}"),
            (Some(a), None) => format!("is {a} in {ours}, and {theirs} has none"),
            (None, Some(b)) => format!("is {b} in {theirs}, and {ours} has none"),
            _ => continue,
        };
        found.insert(name.clone(), what);
    }
}

/// These texts, the names in them, and the formulas of the aliases among these.
pub(crate) fn named_in(texts: &[String], aliases: &[Alias]) -> BTreeSet<String> {
    let (mut found, mut left) = (BTreeSet::new(), texts.to_vec());
    while let Some(text) = left.pop() {
        let names = Expression::parse(&text).map(|expression| expression.names()).unwrap_or_default();
        let formula = aliases.iter().find(|(name, _)| *name == text).map(|(_, formula)| formula.clone());
        if found.insert(text) {
            left.extend(names.into_iter().chain(formula));
        }
    }
    found
}

/// What the other tree has and the first has not.
fn lost(first: &Tree, other: &Tree) -> Vec<String> {
    let mut lost = Vec::new();
    if first.named.title != other.named.title && !other.named.title.is_empty() {
        lost.push(format!("title {:?}", short(&other.named.title)));
    }
    if first.weight.to_bits() != other.weight.to_bits() {
        lost.push(format!("weight {}", other.weight));
    }
    let own = aliases(first);
    let more = aliases(other).into_iter().filter(|alias| !own.contains(alias));
    lost.extend(more.map(|(name, formula)| format!("alias {} ({})", short(&name), short(&formula))));
    let own = first.friends();
    let more = other.friends().into_iter().filter(|friend| !own.contains(friend));
    lost.extend(more.map(|FriendName { name, tree, file }| {
        let file = public_path(Path::new(&file)).display().to_string();
        format!("friend {} ({})", short(&name), short(&if file.is_empty() { tree } else { file }))
    }));
    let held = |tree: &Tree| tree.user_info.filter(|id| !is_empty(tree, *id));
    let same = || Comparison::new(&first.graph, &other.graph).pointers_equal(held(first), held(other));
    if held(other).is_some() && !same() {
        lost.push("user info".to_owned());
    }
    lost
}

fn is_empty(tree: &Tree, id: ObjectId) -> bool {
    matches!(tree.graph.get(id), Some(Object { content: Content::Collection(list), .. }) if list.items.is_empty())
}

fn short(text: &str) -> Cow<'_, str> {
    shortened(text, MOST_CHARACTERS)
}
