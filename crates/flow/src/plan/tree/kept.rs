//! The trees that files keep beside RNTuples, for what RNTuples have no place for: finds their lists among the objects of the
//! inputs, and joins those of several inputs. What is kept is decided where a tree becomes an RNTuple (`rewrite::convert::keep`).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dataset::tree::{KEPT_CLASS, KeptTree, Tree, is_kept, kept_name, read_kept, write_kept};
use objects::{Action, ObjectLocation, ObjectPlan};
use rootfile::object::ObjectId;
use rootfile::{Result, RootFile, Source};

use crate::plan::request::TableInput;

/// The lists beside the RNTuples of some inputs, by the paths of the RNTuples.
#[derive(Default)]
pub(crate) struct KeptLists {
    lists: HashMap<String, Vec<ObjectLocation>>,
}

/// What is kept of a tree, and the file that has the baskets of trees in its user info.
pub(crate) struct Kept {
    pub tree: KeptTree,
    pub source: Arc<dyn Source>,
}

/// What is kept of the trees of several inputs, and notes on what is not.
#[derive(Default)]
pub(crate) struct JoinedKept {
    pub kept: Option<Kept>,
    pub lost: Vec<String>,
}

impl KeptLists {
    /// Takes the lists out of a plan: they belong to their RNTuples, and are no objects of their own.
    pub fn take(objects: &mut ObjectPlan, files: &[Arc<RootFile>]) -> Self {
        let mut lists = HashMap::new();
        let is_list = |place: &ObjectLocation| {
            let file = files.get(place.file as usize);
            file.is_some_and(|file| file.key_at(place.seek).is_ok_and(|key| is_kept(&key)))
        };
        for directory in &mut objects.directories {
            let ntuples = directory.entries.iter().filter(|entry| matches!(entry.action, Action::Ntuple(_)));
            let of: HashMap<String, String> =
                ntuples.map(|entry| (kept_name(&entry.name), directory.path_of(&entry.name))).collect();
            directory.entries.retain(|entry| {
                let Some(ntuple) = of.get(&entry.name).filter(|_| entry.class == KEPT_CLASS) else { return true };
                let places = match &entry.action {
                    Action::Copy(place) => std::slice::from_ref(place),
                    Action::Merge(places) | Action::KeepAll(places) => places.as_slice(),
                    Action::Stay(_) | Action::Tree(_) | Action::Ntuple(_) | Action::Directory(_) => return true,
                };
                let all = places.iter().all(is_list);
                if all {
                    lists.insert(ntuple.clone(), places.to_vec());
                }
                !all
            });
        }
        let taken: HashSet<String> = lists.keys().map(|ntuple| kept_name(ntuple)).collect();
        objects.problems.retain(|problem| !taken.contains(&problem.path));
        Self { lists }
    }

    /// What is kept of the trees from which the RNTuples of these inputs were made. Several inputs keep what is equal in all.
    /// An index is left out without a word if the tree gets another one.
    pub fn join(&self, path: &str, inputs: &[TableInput], replaces_index: bool) -> Result<JoinedKept> {
        let Some(places) = self.lists.get(path) else { return Ok(JoinedKept::default()) };
        let mut joined: Option<Kept> = None;
        let mut differ: Vec<&str> = Vec::new();
        let mut further = 0;
        for (number, file, _) in inputs {
            let Some(place) = places.iter().rev().find(|place| place.file as usize == *number) else {
                let name = kept_name(path);
                let what =
                    format!("RNTuple {path}: only some inputs keep what their tree had beside it; {name} is left out");
                return Ok(JoinedKept { kept: None, lost: vec![what] });
            };
            let key = file.key_at(place.seek).map_err(|e| e.file(file.name()))?;
            let mut tree = read_kept(file, &key)?;
            further += tree.further;
            let is_left_out = inputs.len() > 1 || replaces_index;
            let had_index = is_left_out && tree.tree.tree_index.take().is_some();
            if had_index && !replaces_index {
                differ.push("its index (TTreeIndex)");
            }
            match &mut joined {
                None => joined = Some(Kept { tree, source: Arc::clone(file.source()) }),
                Some(joined) => {
                    if !reconcile(&mut joined.tree.tree, &mut tree.tree, &mut differ)
                        || write_kept(&joined.tree, 0)? != write_kept(&tree, 0)?
                    {
                        let what = format!(
                            "RNTuple {path}: the branches of its inputs' trees differ; what is kept of them in {} is left out",
                            kept_name(path)
                        );
                        return Ok(JoinedKept { kept: None, lost: vec![what] });
                    }
                }
            }
        }
        let mut lost = Vec::new();
        differ.sort_unstable();
        differ.dedup();
        if !differ.is_empty() {
            lost.push(format!("RNTuple {path}: {} of its inputs' trees differ, and are left out", differ.join(", ")));
        }
        if further > 0 {
            lost.push(format!("RNTuple {path}: {} keeps several trees; the first is taken", kept_name(path)));
        }
        Ok(JoinedKept { kept: joined, lost })
    }
}

/// Leaves out what holds for all entries of a tree only, if some are selected. Adds notes on it.
pub(crate) fn leave_out_relations(tree: &mut Tree, path: &str, lost: &mut Vec<String>) {
    if tree.tree_index.take().is_some() {
        lost.push(format!(
            "tree {path}: its index (TTreeIndex) is left out: it counts all entries, and some are selected"
        ));
    }
    if !tree.friends().is_empty() {
        tree.friends = None;
        lost.push(format!(
            "tree {path}: its friends are left out: their entries no longer align with the selected ones"
        ));
    }
}

/// Leaves out of both trees what is not equal in them, and names it. Returns whether the trees are of one class.
fn reconcile(ours: &mut Tree, theirs: &mut Tree, differ: &mut Vec<&'static str>) -> bool {
    type Part = fn(&mut Tree) -> &mut Option<ObjectId>;
    let parts: [(&str, Part); 3] = [
        ("aliases", |tree| &mut tree.aliases),
        ("friends", |tree| &mut tree.friends),
        ("user information", |tree| &mut tree.user_info),
    ];
    for (what, part) in parts {
        let (mine, other) = (*part(ours), *part(theirs));
        let equal = match (ours.bytes_of(mine), theirs.bytes_of(other)) {
            (Ok(mine), Ok(other)) => mine == other,
            _ => false,
        };
        if !equal {
            differ.push(what);
            (*part(ours), *part(theirs)) = (None, None);
        }
    }
    if ours.weight.to_bits() != theirs.weight.to_bits() {
        differ.push("weights");
        (ours.weight, theirs.weight) = (1.0, 1.0);
    }
    // The title is that of the first, as the description of the RNTuple is.
    theirs.named.title.clone_from(&ours.named.title);
    ours.class == theirs.class
}
