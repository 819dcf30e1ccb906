//! Every tree of the corpus that ROOT 6 wrote: its columns described anew, the tree made from the description and
//! the file's streamer infos, and every branch and leaf compared with what ROOT made, field by field. Baskets,
//! counts, sizes, extremes and places in memory are left out. Prints how many are equal and what differs.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use dataset::tree::make::{NewColumn, NewKind, NewLeaf, make_tree};
use dataset::tree::model::{Branch, BranchKind, Leaf, Tree};
use dataset::tree::read::{is_tree_class, read_tree};
use rootfile::RootFile;

use crate::corpus::corpus;

/// Branches of the corpus that are equal in all fields, those that differ in some that are excused, and columns that
/// cannot be described: leaves whose title is not as ROOT's.
const EQUAL: usize = 16_580;
const EXCUSED: usize = 2_783;
const NOT_MADE: usize = 18;

/// A leaf as it would be described.
fn new_leaf(leaf: &Leaf) -> Option<NewLeaf> {
    let letter = match leaf.class.as_str() {
        "TLeafO" => 'O',
        "TLeafB" => 'B',
        "TLeafC" => 'C',
        "TLeafS" => 'S',
        "TLeafI" => 'I',
        "TLeafL" => 'L',
        "TLeafG" => 'G',
        "TLeafF" => 'F',
        "TLeafF16" => 'f',
        "TLeafD" => 'D',
        "TLeafD32" => 'd',
        _ => return None,
    };
    let (title, packing) = match leaf.named.title.split_once('/') {
        Some((title, packing)) => (title, packing.get(1..).unwrap_or_default()),
        None => (leaf.named.title.as_str(), ""),
    };
    let mut dims: Vec<&str> = title.split('[').skip(1).map(|dim| dim.split(']').next().unwrap()).collect();
    let counter = leaf.leaf_count.map(|_| dims.remove(0).to_owned());
    Some(NewLeaf {
        name: leaf.named.name.clone(),
        letter: if leaf.is_unsigned { letter.to_ascii_lowercase() } else { letter },
        dims: dims.iter().map(|dim| dim.parse().ok()).collect::<Option<_>>()?,
        counter,
        packing: packing.to_owned(),
    })
}

/// A branch of the first level as it would be described.
fn new_column(tree: &Tree, branch: &Branch) -> Option<NewColumn> {
    let kind = match &branch.kind {
        BranchKind::Plain => {
            NewKind::Leaves(branch.leaves.iter().map(|&i| new_leaf(&tree.leaves[i])).collect::<Option<_>>()?)
        }
        BranchKind::Element(element) => NewKind::Class {
            type_name: element.class_name.clone(),
            clones: (element.class_name == "TClonesArray").then(|| element.clones_name.clone()),
        },
        BranchKind::Object { class_name } => NewKind::Class { type_name: class_name.clone(), clones: None },
        _ => return None,
    };
    // A class that streams itself was not split, but was to be: else it had become a TBranchObject.
    let own_streamer = branch.element().is_some_and(|e| e.element_type == -1 && e.class_name != "string");
    let split_level = if own_streamer { 99 } else { branch.split_level };
    Some(NewColumn { split_level, basket_size: branch.basket_size, ..NewColumn::new(branch.name(), kind) })
}

/// Why a field that differs is right as it is made, if it is.
fn excused(version: i32, file: &str, branch: &Branch, field: &str) -> Option<&'static str> {
    let class = branch.element().map_or("", |e| e.class_name.as_str());
    let of_library = ["map<", "set<", "bool>", "multimap<", "multiset<", "unordered_", "string", "bitset<"];
    let is_file = |names: &[&str]| names.iter().any(|name| file.contains(name));
    match field {
        "fLenType" if version < 61_800 => Some("TLeafElement had fLenType 4 for all before 6.18"),
        "fIsUnsigned" if version < 61_200 => Some("TLeafElement did not know unsigned types before 6.12"),
        "fIsRange" if version < 62_000 => Some("split collections were not said to count before 6.20"),
        "fCheckSum" | "fClassVersion"
            if of_library.iter().any(|name| class.contains(name)) && branch.parent.is_none() =>
        {
            Some("checksums and versions of containers go with the standard library and what the program knew of it")
        }
        "fCheckSum" if class.starts_with("pair<") => Some("a pair without a dictionary had another's checksum"),
        "fCheckSum" if is_file(&["belle2"]) => Some("the file describes several layouts of one version"),
        "leaf name" | "leaf title" | "title" | "fLeafCount" if is_file(&["ship_ROOT_9674"]) => {
            Some("FairRoot gave the branches other names afterwards")
        }
        "leaf name" | "leaf title" if is_file(&["uproot-issue519"]) => Some("the branch was renamed"),
        "shape" if is_file(&["km3net--KM3NeT_", "issue433-splitlevel2"]) => {
            Some("KM3NeT's classes stream themselves, which their streamer infos do not say")
        }
        "shape" if is_file(&["stringarray.old"]) => Some("its streamer info does not say that the member is an array"),
        "shape" if is_file(&["PHYSLITE_example"]) => Some("bases whose only members are not stored get empty branches"),
        "no pointers" if branch.element().is_none() => {
            Some("nothing can be pointed to in numbers, whatever the bit says")
        }
        _ => None,
    }
}

type Facts = Vec<(&'static str, String)>;

fn leaf_facts(names: &HashMap<usize, String>, leaf: &Leaf) -> Facts {
    let mut facts = vec![
        ("leaf class", leaf.class.clone()),
        ("leaf name", leaf.named.name.clone()),
        ("leaf title", leaf.named.title.clone()),
        // That of a string becomes the length of the longest.
        (
            "fLen",
            if leaf.class == "TLeafC" && !leaf.named.title.contains('[') {
                String::new()
            } else {
                leaf.len.to_string()
            },
        ),
        ("fLenType", leaf.len_type.to_string()),
        ("fOffset", leaf.offset.to_string()),
        ("fIsRange", leaf.is_range.to_string()),
        ("fIsUnsigned", leaf.is_unsigned.to_string()),
        ("fLeafCount", leaf.leaf_count.map_or(String::new(), |id| names[&id].clone())),
    ];
    if leaf.class == "TLeafElement" {
        let members = leaf.extra.as_ref().and_then(|extra| extra.members()).unwrap();
        for name in ["fID", "fType"] {
            facts.push((
                if name == "fID" { "leaf fID" } else { "leaf fType" },
                format!("{:?}", members.get(name).unwrap()),
            ));
        }
    }
    facts
}

fn branch_facts(tree: &Tree, names: &HashMap<usize, String>, branch: &Branch) -> Facts {
    let bits = branch.named.object.bits & (1 << 12 | 1 << 17);
    let mut facts = vec![
        ("class", branch.class().to_owned()),
        ("name", branch.named.name.clone()),
        ("bits", format!("{bits:x}")),
        ("fEntryOffsetLen", (branch.entry_offset_len != 0).to_string()),
        ("fSplitLevel", branch.split_level.to_string()),
        ("fill", format!("{:?}", branch.fill)),
        ("leaves", branch.leaves.len().to_string()),
    ];
    match &branch.kind {
        BranchKind::Element(e) => {
            let name = |id: Option<usize>| id.map_or(String::new(), |id| names.get(&id).cloned().unwrap_or_default());
            facts.extend([
                ("title", branch.named.title.clone()),
                ("fClassName", e.class_name.clone()),
                ("fParentName", e.parent_name.clone()),
                ("fClonesName", e.clones_name.clone()),
                ("fCheckSum", format!("{:x}", e.checksum)),
                ("fClassVersion", e.class_version.to_string()),
                ("fID", e.element_id.to_string()),
                ("fType", e.element_type.to_string()),
                ("fStreamerType", e.streamer_type.to_string()),
                ("fBranchCount", name(e.branch_count)),
                ("fBranchCount2", name(e.branch_count2)),
            ]);
        }
        BranchKind::Object { class_name } => facts.push(("fClassName", class_name.clone())),
        _ => {}
    }
    for &leaf in &branch.leaves {
        facts.extend(leaf_facts(names, &tree.leaves[leaf]));
    }
    facts
}

/// Names of branches and leaves by their numbers.
fn names(tree: &Tree) -> HashMap<usize, String> {
    let branches = tree.branches.iter().map(|b| (b.id, b.named.name.clone()));
    branches.chain(tree.leaves.iter().map(|l| (l.id, l.named.name.clone()))).collect()
}

/// A branch and those below it, depth first, with their depth.
fn below(tree: &Tree, at: usize, depth: usize, out: &mut Vec<(usize, usize)>) {
    out.push((at, depth));
    for &child in &tree.branches[at].children {
        below(tree, child, depth + 1, out);
    }
}

#[derive(Default)]
struct Table {
    trees: usize,
    equal: usize,
    different: usize,
    /// By field: how many, and examples.
    fields: BTreeMap<&'static str, (usize, Vec<String>)>,
    /// Of branches that differ, those that nothing excuses, and how many fields are excused, by reason.
    unexcused: usize,
    excuses: BTreeMap<&'static str, usize>,
    /// Columns that could not be described or made.
    not_made: BTreeMap<String, (usize, String)>,
}

impl Table {
    /// Notes a field that differs. False if it is excused.
    fn differs(&mut self, (version, file): (i32, &str), branch: &Branch, field: &'static str, example: String) -> bool {
        if let Some(why) = excused(version, file, branch, field) {
            *self.excuses.entry(why).or_default() += 1;
            return false;
        }
        let entry = self.fields.entry(field).or_default();
        entry.0 += 1;
        entry.1.push(format!("{version} {example}"));
        true
    }

    fn tree(&mut self, of: (i32, &str), tree: &Tree, infos: &rootfile::streamer::StreamerInfos) {
        let file = of.1;
        let mut columns = Vec::new();
        let mut tops = Vec::new();
        for &top in &tree.top {
            let branch = &tree.branches[top];
            let at = format!("{file} {} {}", tree.name(), branch.name());
            let Some(column) = new_column(tree, branch) else {
                self.not_made.entry(format!("a {}", branch.class())).or_insert((0, at)).0 += 1;
                continue;
            };
            columns.push(column);
            tops.push(top);
            if let Err(e) = make_tree("t", "", &columns, infos) {
                columns.pop();
                tops.pop();
                self.not_made.entry(e.to_string()).or_insert((0, at)).0 += 1;
            }
        }
        let made = make_tree(tree.name(), &tree.named.title, &columns, infos).unwrap();
        self.trees += 1;
        let (theirs, ours) = (names(tree), names(&made));
        for (&top, &made_top) in tops.iter().zip(&made.top) {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            below(tree, top, 0, &mut a);
            below(&made, made_top, 0, &mut b);
            let at = format!("{file} {} {}", tree.name(), tree.branches[top].name());
            let shape = |tree: &Tree, list: &[(usize, usize)]| {
                list.iter().map(|(i, depth)| (tree.branches[*i].named.name.clone(), *depth)).collect::<Vec<_>>()
            };
            let (shape_a, shape_b) = (shape(tree, &a), shape(&made, &b));
            if shape_a != shape_b {
                self.different += a.len();
                let first =
                    shape_a.iter().zip(&shape_b).position(|(a, b)| a != b).unwrap_or(shape_a.len().min(shape_b.len()));
                let differs = self.differs(
                    of,
                    &tree.branches[top],
                    "shape",
                    format!(
                        "{at}: {} branches, made {}, from {first} on: {:?} made {:?}",
                        a.len(),
                        b.len(),
                        shape_a.get(first),
                        shape_b.get(first)
                    ),
                );
                self.unexcused += if differs { a.len() } else { 0 };
                continue;
            }
            for ((a, _), (b, _)) in a.iter().zip(&b) {
                // Where nothing in the entries can be pointed to, readers keep no account of what is where. ROOT finds out
                // when it fills.
                let branch = &tree.branches[*a];
                let (bits, made_bits) = (branch.named.object.bits, made.branches[*b].named.object.bits);
                let mut unexcused = false;
                if (made_bits & !bits) & 1 << 22 != 0 && branch.children.is_empty() {
                    unexcused |= self.differs(of, branch, "no pointers", format!("{at}/{} {bits:x}", branch.name()));
                }
                let facts = branch_facts(tree, &theirs, branch);
                let facts_made = branch_facts(&made, &ours, &made.branches[*b]);
                if facts == facts_made && !unexcused {
                    self.equal += 1;
                    continue;
                }
                self.different += 1;
                for ((field, theirs), (_, ours)) in facts.into_iter().zip(facts_made).filter(|(a, b)| a != b) {
                    let of_class = branch.element().map_or(String::new(), |e| {
                        format!("({} st {} ty {})", e.class_name, e.streamer_type, e.element_type)
                    });
                    let example = format!("{at}/{} {of_class}: {theirs:?} made {ours:?}", branch.name());
                    unexcused |= self.differs(of, branch, field, example);
                }
                self.unexcused += usize::from(unexcused);
            }
        }
    }
}

/// Columns of every kind at split levels 0, 1, 2 and 99, written by ROOT 6.40.
#[test]
fn every_kind_of_column_is_as_root_6_40_makes_it() {
    let mut table = Table::default();
    file(&mut table, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/make_tree.root"));
    println!("{} trees: {} branches equal, {} different", table.trees, table.equal, table.different);
    println!("{:#?} {:?}", table.fields, table.excuses);
    assert_eq!((table.trees, table.unexcused), (4, 0));
    assert!(table.not_made.is_empty(), "{:?}", table.not_made);
    // Of the two maps in each tree, ROOT knew what the library has for members.
    assert_eq!((table.different, table.excuses.len()), (8, 1));
}

#[test]
fn made_trees_are_those_that_root_made() {
    let Some(corpus) = corpus() else { return };
    let mut table = Table::default();
    let folder = std::env::var_os("BASKETRY_FILES").map_or_else(|| corpus.join("files"), PathBuf::from);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|e| e == "root")) {
        file(&mut table, path);
    }
    println!(
        "{} trees: {} branches equal, {} different, {} of these not excused",
        table.trees, table.equal, table.different, table.unexcused
    );
    let shown = std::env::var("BASKETRY_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    for (field, (n, examples)) in &table.fields {
        println!("{n:6} {field}");
        let step = (examples.len() / shown).max(1);
        for example in examples.iter().step_by(step).take(shown) {
            println!("         {example}");
        }
    }
    for (why, n) in &table.excuses {
        println!("{n:6} fields differ, and rightly: {why}");
    }
    for (why, (n, example)) in &table.not_made {
        println!("{n:6} columns not made: {why} ({example})");
    }
    assert_eq!(table.unexcused, 0, "branches differ");
    if std::env::var_os("BASKETRY_FILES").or_else(|| std::env::var_os("BASKETRY_ONLY")).is_none() {
        assert_eq!((table.equal, table.different), (EQUAL, EXCUSED));
        assert_eq!(table.not_made.values().map(|(n, _)| n).sum::<usize>(), NOT_MADE);
    }
}

fn file(table: &mut Table, path: &Path) {
    let Ok(file) = RootFile::open(path) else { return };
    let version = file.header().version % 1_000_000;
    if version < 60_000 {
        return;
    }
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    if let Some(only) = std::env::var_os("BASKETRY_ONLY")
        && !name.contains(&*only.to_string_lossy())
    {
        return;
    }
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(&file, &key.class)) {
            let Ok(tree) = read_tree(&file, key) else { continue };
            table.tree((version, &name), &tree, file.infos());
        }
    }
}
