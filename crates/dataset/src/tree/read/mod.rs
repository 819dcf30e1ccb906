//! Reads a tree's record into a [`Tree`].
//!
//! The record is read through the file's streamer infos, so any version is understood; versions from before
//! there were streamer infos come through the private module `legacy`. Members are then looked up by name.

mod baskets;
mod branch_record;
mod legacy;
mod records;

use std::collections::HashMap;
use std::sync::Arc;

use rootfile::object::{Collection, Content, Graph, Members, Named, Object, ObjectId, ObjectReader, Value};
use rootfile::{Error, Key, Result, RootFile};

use super::model::{Attributes, Branch, BranchKind, Clones, Element, Leaf, Listed, Tree};
use records::{ReadObjects, Records};

/// Reads the tree of a key.
///
/// # Errors
///
/// If the record cannot be read or is not a tree.
pub fn read_tree(file: &RootFile, key: &Key) -> Result<Tree> {
    let with_context = |e: Error| e.object(key.name.clone()).at(key.seek_key).file(file.name());
    let payload = file.payload(key).map_err(with_context)?;
    let records = Records::new(file.header().version);
    let reader = ObjectReader::new(&payload, usize::from(key.keylen), file.infos()).with_custom(&records);
    let (object, graph) = reader.read_root(&key.class).map_err(with_context)?;
    drop(payload);
    let (mut tree, doubtful) = build(object, graph, records.into_objects()).map_err(with_context)?;
    find_sizes(file, &mut tree).map_err(with_context)?;
    for (index, branch) in tree.branches.iter_mut().enumerate() {
        if doubtful.contains_key(&index) || baskets::are_unlikely(branch) {
            baskets::count_entries(file, branch);
        }
    }
    Ok(tree)
}

/// The first tree in a list, names and titles of the texts in it, and the number of further trees.
type ListedTree = (Tree, Vec<(String, String)>, usize);

/// Reads the first tree in a list, and what is beside it.
pub(super) fn read_listed_tree(file: &RootFile, key: &Key) -> Result<ListedTree> {
    let with_context = |e: Error| e.object(key.name.clone()).at(key.seek_key).file(file.name());
    let payload = file.payload(key).map_err(with_context)?;
    let records = Records::new(file.header().version);
    let reader = ObjectReader::new(&payload, usize::from(key.keylen), file.infos()).with_custom(&records);
    let (list, mut graph) = reader.read_root(&key.class).map_err(with_context)?;
    drop(payload);
    let Content::Collection(list) = list.content else {
        return Err(with_context(Error::corrupt("is not a list")));
    };
    let (mut trees, mut texts) = (Vec::new(), Vec::new());
    for (id, object) in list.items.iter().flatten().filter_map(|id| Some((*id, graph.get(*id)?))) {
        if is_tree_class(file, &object.class) {
            trees.push(id);
        } else {
            let text = Listed::of(object);
            texts.push((text.name.to_owned(), text.title.to_owned()));
        }
    }
    let tree = trees.first().and_then(|id| graph.take(*id));
    let tree = tree.ok_or_else(|| with_context(Error::corrupt("is a list without a tree")))?;
    // It has no entries, and so none to count.
    let (tree, _) = build(tree, graph, records.into_objects()).map_err(with_context)?;
    Ok((tree, texts, trees.len() - 1))
}

/// Reads the sizes that `TBranch` lacks before version 5 from the keys of baskets.
fn find_sizes(file: &RootFile, tree: &mut Tree) -> Result<()> {
    for branch in tree.branches.iter_mut().filter(|branch| branch.file_name.is_empty()) {
        for basket in branch.baskets.iter_mut().filter(|basket| basket.nbytes == 0 && basket.seek > 0) {
            basket.nbytes = file.key_at(basket.seek).map_err(|e| e.object(&branch.named.name))?.nbytes;
        }
    }
    Ok(())
}

/// Whether a class is a tree: `TTree`, or a class that derives from it by the file's streamer infos.
pub fn is_tree_class(file: &RootFile, class: &str) -> bool {
    let mut class = class.to_owned();
    for _ in 0..16 {
        match class.as_str() {
            "TTree" | "TNtuple" | "TNtupleD" | "TChain" => return class != "TChain",
            _ => {}
        }
        let Some(info) = file.infos().latest(&class) else { return false };
        match info.elements.first() {
            Some(first) if first.class == "TStreamerBase" => class.clone_from(&first.name),
            _ => return false,
        }
    }
    false
}

/// The tree, and the branches whose numbers of entries contradict each other, with the end that their lists of baskets say.
fn build(mut object: Object, graph: Graph, held: ReadObjects) -> Result<(Tree, HashMap<usize, u64>)> {
    let class = object.class.to_string();
    let subclass = if class == "TTree" {
        None
    } else {
        let base =
            take_base(&mut object, "TTree").ok_or_else(|| Error::unsupported(format!("a {class} is not a TTree")))?;
        Some(std::mem::replace(&mut object, base))
    };
    let Content::Members(members) = object.content else {
        return Err(Error::unsupported(format!("a {class} whose members are not described")));
    };
    let (branches, leaves) = held.count();
    let (branches, leaves) = (Vec::with_capacity(branches), Vec::with_capacity(leaves));
    let mut builder = Builder { graph, held, branches, leaves, doubtful: HashMap::new() };
    let mut m = Fields { members, class: "TTree" };
    let top_list = m.collection("fBranches")?;
    let leaf_ids = m.collection("fLeaves").unwrap_or_default();
    let branch_ref = m.pointer("fBranchRef");
    let mut top = Vec::new();
    for id in top_list.items.into_iter().flatten() {
        top.push(builder.branch(id, None, 0)?);
    }
    let branch_ref = match branch_ref {
        Some(id) => Some(builder.branch(id, None, 0)?),
        None => None,
    };
    let mut places = vec![None; builder.graph.objects.len()];
    for (i, leaf) in builder.leaves.iter().enumerate() {
        if let Some(place) = places.get_mut(leaf.id) {
            *place = Some(i);
        }
    }
    let listed = leaf_ids.items.into_iter().flatten();
    let leaf_list = listed.filter_map(|id| places.get(id).copied().flatten()).collect();
    let ranges = m.i64_array("fClusterRangeEnd").into_iter().zip(m.i64_array("fClusterSize")).collect();
    let entries = m.count("fEntries");
    let mut tree = Tree {
        named: m.named()?,
        attributes: attributes(&m),
        entries,
        tot_bytes: m.count("fTotBytes"),
        zip_bytes: m.count("fZipBytes"),
        saved_bytes: m.count("fSavedBytes"),
        flushed_bytes: m.count("fFlushedBytes"),
        weight: m.f64("fWeight").unwrap_or(1.0),
        timer_interval: m.i32("fTimerInterval"),
        scan_field: m.i32_or("fScanField", 25),
        update: m.i32("fUpdate"),
        default_entry_offset_len: m.i32_or("fDefaultEntryOffsetLen", 1000),
        max_entries: m.i64_or("fMaxEntries", 1_000_000_000_000),
        max_entry_loop: m.i64_or("fMaxEntryLoop", 1_000_000_000_000),
        max_virtual_size: m.i64_or("fMaxVirtualSize", 0),
        auto_save: m.i64_or("fAutoSave", crate::layout::defaults::AUTO_SAVE),
        auto_flush: m.i64_or("fAutoFlush", crate::layout::defaults::AUTO_FLUSH),
        estimate: m.i64_or("fEstimate", 1_000_000),
        cluster_ranges: ranges,
        io_bits: m.io_bits(),
        aliases: m.pointer("fAliases"),
        tree_index: m.pointer("fTreeIndex"),
        friends: m.pointer("fFriends"),
        user_info: m.pointer("fUserInfo"),
        branches: builder.branches,
        top,
        leaves: builder.leaves,
        leaf_list,
        branch_ref,
        class,
        subclass,
        graph: builder.graph,
    };
    baskets::place_baskets(&mut tree, &builder.doubtful)?;
    Ok((tree, builder.doubtful))
}

/// Takes the base of class `name` out of an object and leaves a number in its place.
fn take_base(object: &mut Object, name: &str) -> Option<Object> {
    let members = object.members_mut()?;
    for value in &mut members.values {
        if let Value::Object(base) = value {
            if &*base.class == name {
                return match std::mem::replace(value, Value::Int(0)) {
                    Value::Object(base) => Some(*base),
                    _ => None,
                };
            }
            if let Some(found) = take_base(base, name) {
                return Some(found);
            }
        }
    }
    None
}

fn attributes(m: &Fields) -> Attributes {
    let get = |name: &str, default: i16| {
        m.members.get(name).and_then(Value::as_i64).and_then(|v| i16::try_from(v).ok()).unwrap_or(default)
    };
    let d = Attributes::default();
    #[expect(clippy::cast_possible_truncation, reason = "it was a float")]
    let size = m.f64("fMarkerSize").map_or(d.marker_size, |v| v as f32);
    Attributes {
        line: [get("fLineColor", d.line[0]), get("fLineStyle", d.line[1]), get("fLineWidth", d.line[2])],
        fill: [get("fFillColor", d.fill[0]), get("fFillStyle", d.fill[1])],
        marker: [get("fMarkerColor", d.marker[0]), get("fMarkerStyle", d.marker[1])],
        marker_size: size,
    }
}

/// Members of one object, looked up by name.
struct Fields {
    members: Members,
    class: &'static str,
}

impl Fields {
    fn of(object: Object, class: &'static str) -> Result<Self> {
        match object.content {
            Content::Members(members) => Ok(Self { members, class }),
            _ => Err(Error::unsupported(format!("a {} whose members are not described", object.class))),
        }
    }

    fn named(&mut self) -> Result<Named> {
        for value in &mut self.members.values {
            if let Value::Named(named) = value {
                return Ok(std::mem::take(named));
            }
        }
        self.members.named().cloned().ok_or_else(|| Error::corrupt(format!("a {} without a name", self.class)))
    }

    fn i64_or(&self, name: &str, default: i64) -> i64 {
        self.members.get(name).and_then(Value::as_i64).unwrap_or(default)
    }

    fn i32_or(&self, name: &str, default: i32) -> i32 {
        i32::try_from(self.i64_or(name, i64::from(default))).unwrap_or(default)
    }

    fn i32(&self, name: &str) -> i32 {
        self.i32_or(name, 0)
    }

    fn count(&self, name: &str) -> u64 {
        u64::try_from(self.i64_or(name, 0)).unwrap_or(0)
    }

    fn f64(&self, name: &str) -> Option<f64> {
        self.members.get(name).and_then(Value::as_f64)
    }

    fn string(&mut self, name: &str) -> String {
        match self.members.take(name) {
            Some(Value::Str(s)) => s,
            _ => String::new(),
        }
    }

    fn pointer(&self, name: &str) -> Option<ObjectId> {
        self.members.get(name).and_then(Value::as_pointer)
    }

    fn i64_array(&self, name: &str) -> Vec<i64> {
        self.members.get(name).and_then(Value::as_array).map(rootfile::object::Array::to_i64).unwrap_or_default()
    }

    fn collection(&mut self, name: &str) -> Result<Collection> {
        match self.members.take(name) {
            Some(Value::Object(object)) => match object.content {
                Content::Collection(collection) => Ok(*collection),
                _ => Err(Error::corrupt(format!("{}::{name} is not a list", self.class))),
            },
            _ => Err(Error::corrupt(format!("{}::{name} is missing", self.class))),
        }
    }

    fn io_bits(&self) -> u8 {
        let bits = self.members.get("fIOFeatures").and_then(|value| match value {
            Value::Object(object) => object.members().and_then(|m| m.get("fIOBits")).and_then(Value::as_i64),
            _ => None,
        });
        bits.and_then(|b| u8::try_from(b).ok()).unwrap_or(0)
    }
}

/// Deepest nesting of branches.
const MAX_NESTING: usize = 64;

struct Builder {
    graph: Graph,
    held: ReadObjects,
    branches: Vec<Branch>,
    leaves: Vec<Leaf>,
    doubtful: HashMap<usize, u64>,
}

impl Builder {
    fn take(&mut self, id: ObjectId, role: &str) -> Result<Object> {
        self.graph.take(id).ok_or_else(|| Error::corrupt(format!("a {role} that the tree lists twice or not at all")))
    }

    fn branch(&mut self, id: ObjectId, parent: Option<usize>, depth: usize) -> Result<usize> {
        if depth > MAX_NESTING {
            return Err(Error::corrupt("branches nest too deep"));
        }
        let mut object = self.take(id, "branch")?;
        let class = Arc::clone(&object.class);
        let own = if &*class == "TBranch" {
            None
        } else {
            let base = take_base(&mut object, "TBranch")
                .ok_or_else(|| Error::unsupported(format!("a branch of class {class}")))?;
            Some(Fields::of(std::mem::replace(&mut object, base), "branch")?)
        };
        let mut clones_count = None;
        let kind = match (&*class, own) {
            ("TBranch", _) => BranchKind::Plain,
            ("TBranchElement", Some(mut f)) => BranchKind::Element(Box::new(Element {
                class_name: f.string("fClassName"),
                parent_name: f.string("fParentName"),
                clones_name: f.string("fClonesName"),
                checksum: u32::try_from(f.i64_or("fCheckSum", 0)).unwrap_or(0),
                class_version: i16::try_from(f.i64_or("fClassVersion", 0)).unwrap_or(0),
                element_id: f.i32("fID"),
                element_type: f.i32("fType"),
                streamer_type: f.i32_or("fStreamerType", -1),
                maximum: f.i32("fMaximum"),
                branch_count: f.pointer("fBranchCount"),
                branch_count2: f.pointer("fBranchCount2"),
            })),
            ("TBranchObject", Some(mut f)) => BranchKind::Object { class_name: f.string("fClassName") },
            ("TBranchRef", Some(f)) => BranchKind::Ref { ref_table: f.pointer("fRefTable") },
            ("TBranchClones", Some(mut f)) => {
                clones_count = f.pointer("fBranchCount");
                BranchKind::Clones(Box::new(Clones { class_name: f.string("fClassName"), branch_count: None }))
            }
            (class, _) => return Err(Error::unsupported(format!("a branch of class {class}"))),
        };
        let index = self.plain_branch(&object, id, kind, (parent, depth))?;
        if let Some(id) = clones_count {
            // Listed nowhere else, although it has baskets of its own.
            let count = self.branch(id, Some(index), depth + 1)?;
            if let Some(BranchKind::Clones(clones)) = self.branches.get_mut(index).map(|branch| &mut branch.kind) {
                clones.branch_count = Some(count);
            }
        }
        Ok(index)
    }

    fn plain_branch(
        &mut self,
        object: &Object,
        id: ObjectId,
        kind: BranchKind,
        (parent, depth): (Option<usize>, usize),
    ) -> Result<usize> {
        let read = self.held.take_branch(&object.content);
        let read = read.ok_or_else(|| Error::unsupported("a TBranch whose members are not described"))?;
        let index = self.branches.len();
        self.branches.push(Branch { id, kind, parent, ..read.branch });
        self.doubtful.extend(read.doubtful_end.map(|end| (index, end)));
        let leaves = read.leaves.into_iter().map(|id| self.leaf(id, index)).collect::<Result<_>>()?;
        if let Some(branch) = self.branches.get_mut(index) {
            branch.leaves = leaves;
        }
        let below = read.children.into_iter().map(|id| self.branch(id, Some(index), depth + 1));
        let children = below.collect::<Result<_>>()?;
        if let Some(branch) = self.branches.get_mut(index) {
            branch.children = children;
        }
        Ok(index)
    }

    fn leaf(&mut self, id: ObjectId, branch: usize) -> Result<usize> {
        // A counter may first appear as the fLeafCount of another leaf; then it is still in the graph.
        let mut object = self.take(id, "leaf")?;
        let class = object.class.to_string();
        let extra = if class == "TLeaf" {
            None
        } else {
            let base = take_base(&mut object, "TLeaf")
                .ok_or_else(|| Error::unsupported(format!("a leaf of class {class}")))?;
            Some(std::mem::replace(&mut object, base))
        };
        let leaf = self.held.take_leaf(&object.content);
        let leaf = leaf.ok_or_else(|| Error::unsupported("a TLeaf whose members are not described"))?;
        self.leaves.push(Leaf { id, class, extra, branch, ..leaf });
        Ok(self.leaves.len() - 1)
    }
}
