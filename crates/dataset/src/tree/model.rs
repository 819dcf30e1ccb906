//! A tree's metadata as typed values: the content of the record of a `TTree`, of any version.
//!
//! Branches and leaves are flat lists in depth-first order and refer to each other by index. Objects that are only
//! copied (user info, friends, aliases, index, reference table) stay in the record's object graph.

use rootfile::codec::Compression;
use rootfile::object::{Content, Graph, Named, Object, ObjectId, Value};

use crate::layout::defaults;

/// A tree.
#[derive(Debug)]
pub struct Tree {
    /// Class of the tree: `TTree`, or a subclass such as `TNtuple`.
    pub class: String,
    /// Name and title.
    pub named: Named,
    /// Line, fill and marker attributes.
    pub attributes: Attributes,
    /// fEntries.
    pub entries: u64,
    /// fTotBytes: bytes of all baskets before compression, keys included.
    pub tot_bytes: u64,
    /// fZipBytes: bytes of all baskets on disk, keys included.
    pub zip_bytes: u64,
    /// fSavedBytes: bytes saved at the last AutoSave.
    pub saved_bytes: u64,
    /// fFlushedBytes: bytes flushed at the last flush.
    pub flushed_bytes: u64,
    /// fWeight.
    pub weight: f64,
    /// fTimerInterval, in milliseconds.
    pub timer_interval: i32,
    /// fScanField: rows before `Scan` asks.
    pub scan_field: i32,
    /// fUpdate.
    pub update: i32,
    /// fDefaultEntryOffsetLen.
    pub default_entry_offset_len: i32,
    /// fMaxEntries.
    pub max_entries: i64,
    /// fMaxEntryLoop.
    pub max_entry_loop: i64,
    /// fMaxVirtualSize.
    pub max_virtual_size: i64,
    /// fAutoSave.
    pub auto_save: i64,
    /// fAutoFlush: the size of a cluster; negative for bytes, positive for entries.
    pub auto_flush: i64,
    /// fEstimate.
    pub estimate: i64,
    /// Ranges of clusters: last entry of the range, and number of entries of each cluster in it.
    pub cluster_ranges: Vec<(i64, i64)>,
    /// fIOBits of fIOFeatures.
    pub io_bits: u8,
    /// All branches, depth first.
    pub branches: Vec<Branch>,
    /// The branches of the first level.
    pub top: Vec<usize>,
    /// All leaves.
    pub leaves: Vec<Leaf>,
    /// The tree's own list of leaves.
    pub leaf_list: Vec<usize>,
    /// The index of the `TBranchRef`, which is not in `top`.
    pub branch_ref: Option<usize>,
    /// fAliases.
    pub aliases: Option<ObjectId>,
    /// fTreeIndex.
    pub tree_index: Option<ObjectId>,
    /// fFriends.
    pub friends: Option<ObjectId>,
    /// fUserInfo.
    pub user_info: Option<ObjectId>,
    /// The members that subclasses add to `TTree`, outermost class first, without the base itself.
    pub subclass: Option<Object>,
    /// Objects behind the pointers above.
    pub graph: Graph,
}

/// `TAttLine`, `TAttFill` and `TAttMarker` of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attributes {
    /// Line colour, style, width.
    pub line: [i16; 3],
    /// Fill colour, style.
    pub fill: [i16; 2],
    /// Marker colour, style.
    pub marker: [i16; 2],
    /// Marker size.
    pub marker_size: f32,
}

impl Default for Attributes {
    fn default() -> Self {
        // TTree's constructor: SetFillColor and friends from gStyle; these are ROOT's "Modern" style.
        Self { line: [602, 1, 1], fill: [0, 1001], marker: [1, 1], marker_size: 1.0 }
    }
}

/// A branch.
#[derive(Debug)]
pub struct Branch {
    /// Identity in the record's graph.
    pub id: ObjectId,
    /// Name and title.
    pub named: Named,
    /// Fill colour and style.
    pub fill: [i16; 2],
    /// fCompress: ROOT's compression setting, or -1 for the file's.
    pub compress: i32,
    /// fBasketSize: bytes of the buffer that a writer fills.
    pub basket_size: u32,
    /// fEntryOffsetLen: 0 where entries have a fixed length.
    pub entry_offset_len: i32,
    /// fIOBits of fIOFeatures.
    pub io_bits: u8,
    /// fOffset: position in the writer's object, in bytes.
    pub offset: i32,
    /// fSplitLevel.
    pub split_level: i32,
    /// fEntryNumber.
    pub entry_number: u64,
    /// fEntries.
    pub entries: u64,
    /// fFirstEntry.
    pub first_entry: u64,
    /// fTotBytes.
    pub tot_bytes: u64,
    /// fZipBytes.
    pub zip_bytes: u64,
    /// fFileName: the file with the baskets, if it is another file.
    pub file_name: String,
    /// Branches below.
    pub children: Vec<usize>,
    /// The branch above.
    pub parent: Option<usize>,
    /// Its leaves.
    pub leaves: Vec<usize>,
    /// Its baskets, in the order of entries.
    pub baskets: Vec<BasketRef>,
    /// Baskets in the tree's record, with their index in `baskets`.
    pub embedded: Vec<(usize, Embedded)>,
    /// What kind of branch it is.
    pub kind: BranchKind,
}

/// The position of a basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasketRef {
    /// First entry in it.
    pub first_entry: u64,
    /// Entries in it.
    pub entries: u64,
    /// Offset of its record, 0 if it is embedded.
    pub seek: u64,
    /// Bytes of its record.
    pub nbytes: u32,
}

/// A basket in the tree's record: it was not written as a record of its own.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// The bytes of the `TBasket` object, its key first.
    pub bytes: Vec<u8>,
}

/// The members that subclasses of `TBranch` add.
#[derive(Debug)]
pub enum BranchKind {
    /// `TBranch`: leaves of basic types.
    Plain,
    /// `TBranchElement`: a member, a base or a collection of a class.
    Element(Box<Element>),
    /// `TBranchObject`: unsplit objects with their class name.
    Object {
        /// fClassName.
        class_name: String,
    },
    /// `TBranchRef`: the table behind `TRef` auto-loading.
    Ref {
        /// fRefTable.
        ref_table: Option<ObjectId>,
    },
    /// `TBranchClones` of ROOT 2 and 3.
    Clones(Box<Clones>),
}

/// `TBranchElement`'s own members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// fClassName.
    pub class_name: String,
    /// fParentName.
    pub parent_name: String,
    /// fClonesName.
    pub clones_name: String,
    /// fCheckSum.
    pub checksum: u32,
    /// fClassVersion.
    pub class_version: i16,
    /// fID.
    pub element_id: i32,
    /// fType.
    pub element_type: i32,
    /// fStreamerType.
    pub streamer_type: i32,
    /// fMaximum.
    pub maximum: i32,
    /// fBranchCount.
    pub branch_count: Option<ObjectId>,
    /// fBranchCount2.
    pub branch_count2: Option<ObjectId>,
}

/// `TBranchClones`' own members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clones {
    /// fClassName.
    pub class_name: String,
    /// fBranchCount: the branch that counts the objects. It is in the tree's list of branches with this branch as
    /// parent, but is not one of this branch's children.
    pub branch_count: Option<usize>,
}

/// A leaf.
#[derive(Debug)]
pub struct Leaf {
    /// Identity in the record's graph.
    pub id: ObjectId,
    /// Class, such as `TLeafI`.
    pub class: String,
    /// Name and title.
    pub named: Named,
    /// fLen: fixed array length.
    pub len: i32,
    /// fLenType: bytes of one value.
    pub len_type: i32,
    /// fOffset: position in the writer's struct, in bytes.
    pub offset: i32,
    /// fIsRange: the leaf is a counter, and fMaximum is set.
    pub is_range: bool,
    /// fIsUnsigned.
    pub is_unsigned: bool,
    /// fLeafCount: the leaf that counts this one.
    pub leaf_count: Option<ObjectId>,
    /// The members that the subclass adds: extremes, or element numbers; without the `TLeaf` base.
    pub extra: Option<Object>,
    /// The branch it belongs to.
    pub branch: usize,
}

impl Branch {
    /// A branch without entries, leaves and other branches. Everything else is 0, but for ROOT's default fill style.
    pub fn new(id: ObjectId, named: Named, kind: BranchKind) -> Self {
        Self {
            id,
            named,
            fill: [0, 1001],
            compress: 0,
            basket_size: 0,
            entry_offset_len: 0,
            io_bits: 0,
            offset: 0,
            split_level: 0,
            entry_number: 0,
            entries: 0,
            first_entry: 0,
            tot_bytes: 0,
            zip_bytes: 0,
            file_name: String::new(),
            children: Vec::new(),
            parent: None,
            leaves: Vec::new(),
            baskets: Vec::new(),
            embedded: Vec::new(),
            kind,
        }
    }

    /// ROOT's class name of the branch.
    pub fn class(&self) -> &'static str {
        match self.kind {
            BranchKind::Plain => "TBranch",
            BranchKind::Element(_) => "TBranchElement",
            BranchKind::Object { .. } => "TBranchObject",
            BranchKind::Ref { .. } => "TBranchRef",
            BranchKind::Clones(_) => "TBranchClones",
        }
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.named.name
    }

    /// The compression of its baskets: the branch's own, or that of its file (`file`: fCompress of the header). The
    /// file's applies also if the branch says "none" but its baskets are smaller on disk, as in files that uproot made.
    pub fn compression(&self, file: i32) -> Compression {
        compression(self.compress, file, (self.tot_bytes, self.zip_bytes))
    }

    /// A placeholder for a branch whose content was moved: identity and sizes.
    pub(super) fn hollow(&self) -> Self {
        Self {
            id: self.id,
            named: Named::default(),
            fill: self.fill,
            compress: self.compress,
            basket_size: 0,
            entry_offset_len: self.entry_offset_len,
            io_bits: self.io_bits,
            offset: 0,
            split_level: 0,
            entry_number: 0,
            entries: 0,
            first_entry: 0,
            tot_bytes: self.tot_bytes,
            zip_bytes: self.zip_bytes,
            file_name: String::new(),
            children: Vec::new(),
            parent: self.parent,
            leaves: self.leaves.clone(),
            baskets: Vec::new(),
            embedded: Vec::new(),
            kind: BranchKind::Plain,
        }
    }

    /// Moves its baskets into a placeholder, which has its identity and sizes. The branch keeps its schema.
    pub fn take_baskets(&mut self) -> Self {
        Self {
            baskets: std::mem::take(&mut self.baskets),
            embedded: std::mem::take(&mut self.embedded),
            file_name: std::mem::take(&mut self.file_name),
            ..self.hollow()
        }
    }

    /// The members of a `TBranchElement`.
    pub fn element(&self) -> Option<&Element> {
        match &self.kind {
            BranchKind::Element(element) => Some(element),
            _ => None,
        }
    }
}

/// The compression of a branch's baskets, from its fCompress and its file's, fTotBytes and fZipBytes.
pub fn compression(own: i32, file: i32, (tot_bytes, zip_bytes): (u64, u64)) -> Compression {
    let shrank = zip_bytes > 0 && zip_bytes < tot_bytes - tot_bytes / 64;
    let by = |setting: i32| Compression::from_root_setting(setting).filter(|c| !c.is_none() || !shrank);
    by(own).or_else(|| by(file)).unwrap_or(defaults::COMPRESSION)
}

impl Leaf {
    /// A placeholder for a leaf whose content was moved: its identity.
    pub(super) fn hollow(&self) -> Self {
        Self { class: String::new(), named: Named::default(), extra: None, ..*self }
    }
}

/// An object in one of a tree's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its title; the formula of an alias.
    pub title: &'a str,
    /// Its class.
    pub class: &'a str,
}

impl<'a> Listed<'a> {
    /// Name and title come from the `TNamed` that the object is or derives from.
    pub(super) fn of(object: &'a Object) -> Self {
        let (name, title) = match object.members() {
            None => ("", ""),
            Some(members) => match members.named() {
                Some(named) => (named.name.as_str(), named.title.as_str()),
                None => {
                    let own = |member| members.get(member).and_then(Value::as_str).unwrap_or_default();
                    (own("fName"), own("fTitle"))
                }
            },
        };
        Self { name, title, class: &object.class }
    }
}

impl Tree {
    /// A `TTree` without entries, branches and leaves, with the settings of ROOT's constructor.
    pub fn new(named: Named) -> Self {
        Self {
            class: "TTree".to_owned(),
            named,
            attributes: Attributes::default(),
            entries: 0,
            tot_bytes: 0,
            zip_bytes: 0,
            saved_bytes: 0,
            flushed_bytes: 0,
            weight: 1.0,
            timer_interval: 0,
            scan_field: 25,
            update: 0,
            default_entry_offset_len: defaults::ENTRY_OFFSET_LEN,
            max_entries: 1_000_000_000_000,
            max_entry_loop: 1_000_000_000_000,
            max_virtual_size: 0,
            auto_save: defaults::AUTO_SAVE,
            auto_flush: defaults::AUTO_FLUSH,
            estimate: 1_000_000,
            cluster_ranges: Vec::new(),
            io_bits: 0,
            branches: Vec::new(),
            top: Vec::new(),
            leaves: Vec::new(),
            leaf_list: Vec::new(),
            branch_ref: None,
            aliases: None,
            tree_index: None,
            friends: None,
            user_info: None,
            subclass: None,
            graph: Graph::default(),
        }
    }

    /// The items of a list of the tree, such as [`aliases`](Self::aliases).
    pub fn listed(&self, list: Option<ObjectId>) -> impl Iterator<Item = Listed<'_>> {
        let items = match list.and_then(|id| self.graph.get(id)).map(|list| &list.content) {
            Some(Content::Collection(list)) => list.items.as_slice(),
            _ => &[],
        };
        items.iter().flatten().filter_map(|&id| self.graph.get(id)).map(Listed::of)
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.named.name
    }

    /// Names of a branch and those above it, the branch's own first.
    pub fn lineage(&self, branch: usize) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = Some(branch);
        while let Some(branch) = at.and_then(|i| self.branches.get(i)) {
            names.push(branch.name());
            at = branch.parent;
        }
        names
    }

    /// Position of a branch as a path of indices: `2.0.1` is the second branch below the first branch below the third.
    pub fn position(&self, branch: usize) -> String {
        let mut parts = Vec::new();
        let mut at = branch;
        loop {
            let parent = self.branches.get(at).and_then(|b| b.parent);
            let siblings = match parent.and_then(|p| self.branches.get(p)) {
                Some(parent) => &parent.children,
                None => &self.top,
            };
            parts.push(siblings.iter().position(|&s| s == at).map_or_else(|| "ref".to_owned(), |i| i.to_string()));
            match parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        parts.reverse();
        parts.join(".")
    }
}
