//! The classes that a tree's record has thousands of, `TBranch` and `TLeaf`, read straight into the model.
//!
//! Their members are found by the streamer infos as those of any other class. What subclasses add is read into
//! values; how the objects belong together is for the caller to find out, once all of them are there.

use std::cell::{Cell, RefCell};

use rootfile::bytes::Cursor;
use rootfile::object::tags::Frame;
use rootfile::object::{Content, CustomStreamer, Named, ObjectId, ObjectReader, Place, Span, Step, Typed};
use rootfile::{Error, Result};

use super::legacy;
use crate::tree::basket::BasketHeader;
use crate::tree::model::{BasketRef, Branch, BranchKind, Embedded, Leaf};

/// Reads the branches and leaves of a record.
pub(super) struct Records {
    /// Version of ROOT that wrote the file.
    pub file_version: i32,
    pub branches: Typed<BranchRecord>,
    leaves: Typed<Leaf>,
    held: RefCell<Held>,
    /// How many trees the reader is in: the one of the record, and those in its user info.
    trees: Cell<usize>,
}

/// Branches and leaves by the numbers that their objects have.
#[derive(Default)]
pub(super) struct Held {
    /// Boxed: a list of thousands, growing, would be copied over and over.
    branches: Vec<Option<Box<ReadBranch>>>,
    leaves: Vec<Option<Leaf>>,
}

/// A branch, and the identities of what it lists.
pub(super) struct ReadBranch {
    /// Without its identity, its kind and its place in the tree.
    pub branch: Branch,
    pub children: Vec<ObjectId>,
    pub leaves: Vec<ObjectId>,
}

impl Records {
    pub fn new(file_version: i32) -> Self {
        let (branches, leaves) = (Typed::new(BranchRecord::place), Typed::new(leaf_place));
        Self { file_version, branches, leaves, held: RefCell::default(), trees: Cell::new(0) }
    }

    /// What was read.
    pub fn into_held(self) -> Held {
        self.held.into_inner()
    }

    /// Keeps a branch.
    pub fn hold(&self, branch: ReadBranch) -> Content {
        let branches = &mut self.held.borrow_mut().branches;
        branches.push(Some(Box::new(branch)));
        Content::Held(branches.len() - 1)
    }

    fn branch(&self, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<Content> {
        let mut record = BranchRecord::default();
        match frame.version {
            version @ 6..=9 => legacy::branch_before_10(&self.branches, &mut record, version, reader)?,
            version @ 2..=4 => legacy::branch_before_5(&self.branches, &mut record, version, reader)?,
            _ => self.branches.object(&mut record, "TBranch", frame, reader)?,
        }
        Ok(self.hold(record.finish(reader)?))
    }

    fn leaf(&self, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<Content> {
        let mut leaf = new_leaf();
        self.leaves.object(&mut leaf, "TLeaf", frame, reader)?;
        let leaves = &mut self.held.borrow_mut().leaves;
        leaves.push(Some(leaf));
        Ok(Content::Held(leaves.len() - 1))
    }
}

impl Records {
    /// A tree inside the record's own. Its branches are read as objects of any class are, so that they can be written
    /// again; what has another form (before ROOT 5) stays opaque.
    fn inner(&self, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<Content> {
        let trees = self.trees.get();
        self.trees.set(trees + 1);
        let read = reader.plan("TTree", frame).and_then(|plan| reader.members(plan));
        self.trees.set(trees);
        let read = read.and_then(|members| frame.finish(&mut reader.cursor, "TTree").map(|()| members));
        match (read, frame.end) {
            (Ok(members), _) => Ok(Content::Members(members)),
            (Err(_), Some(end)) => {
                reader.cursor.seek(end);
                Ok(Content::Opaque(reader.cursor.data().get(frame.start + 6..end).unwrap_or_default().to_vec()))
            }
            (Err(e), None) => Err(e),
        }
    }
}

impl CustomStreamer for Records {
    fn read(&self, class: &str, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<Option<Content>> {
        if class == "TTree" {
            if self.trees.get() > 0 {
                return self.inner(frame, reader).map(Some);
            }
            self.trees.set(1);
        }
        if self.trees.get() > 1 {
            return Ok(None);
        }
        match class {
            "TBranch" => self.branch(frame, reader).map(Some),
            "TLeaf" => self.leaf(frame, reader).map(Some),
            "TBranchClones" => legacy::branch_clones(self, reader).map(Some),
            _ => Ok(None),
        }
    }
}

impl Held {
    /// Numbers of branches and leaves.
    pub fn count(&self) -> (usize, usize) {
        (self.branches.len(), self.leaves.len())
    }

    /// Takes out the branch of an object.
    pub fn take_branch(&mut self, content: &Content) -> Option<Box<ReadBranch>> {
        match content {
            Content::Held(n) => self.branches.get_mut(*n)?.take(),
            _ => None,
        }
    }

    /// Takes out the leaf of an object.
    pub fn take_leaf(&mut self, content: &Content) -> Option<Leaf> {
        match content {
            Content::Held(n) => self.leaves.get_mut(*n)?.take(),
            _ => None,
        }
    }
}

/// A `TBranch` while its members are read.
pub(super) struct BranchRecord {
    branch: Branch,
    write_basket: i64,
    max_baskets: i64,
    children: Option<Vec<ObjectId>>,
    leaves: Option<Vec<ObjectId>>,
    /// The objects in fBaskets, by their index.
    baskets: Vec<(usize, ObjectId)>,
    basket_bytes: Option<Span>,
    basket_entry: Option<Span>,
    pub basket_seek: Option<Span>,
    /// Whether there is a fBasketBytes at all.
    pub lists_bytes: bool,
}

impl Default for BranchRecord {
    fn default() -> Self {
        let branch = Branch {
            id: 0,
            named: Named::default(),
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
            kind: BranchKind::Plain,
        };
        Self {
            branch,
            write_basket: 0,
            max_baskets: 0,
            children: None,
            leaves: None,
            baskets: Vec::new(),
            basket_bytes: None,
            basket_entry: None,
            basket_seek: None,
            lists_bytes: true,
        }
    }
}

fn int(n: i64) -> i32 {
    i32::try_from(n).unwrap_or(0)
}

fn count(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// The objects of a list, by their index.
fn list(reader: &mut ObjectReader<'_>, step: &Step) -> Result<impl Iterator<Item = (usize, ObjectId)> + use<>> {
    let Step::Inline(class) = step else { return Err(Error::corrupt("is no list")) };
    let items = reader.list(class)?.items.into_iter().enumerate();
    Ok(items.filter_map(|(i, id)| Some((i, id?))))
}

fn ids(reader: &mut ObjectReader<'_>, step: &Step) -> Result<Option<Vec<ObjectId>>> {
    Ok(Some(list(reader, step)?.map(|(_, id)| id).collect()))
}

impl BranchRecord {
    fn place(name: &str) -> Option<Place<Self>> {
        type Read = fn(&mut BranchRecord, &mut ObjectReader<'_>, &Step) -> Result<()>;
        let read: Read = match name {
            "TNamed" => |b, r, s| r.name(s).map(|named| b.branch.named = named),
            "fFillColor" => |b, r, s| r.integer(s).map(|n| b.branch.fill[0] = i16::try_from(n).unwrap_or(0)),
            "fFillStyle" => |b, r, s| r.integer(s).map(|n| b.branch.fill[1] = i16::try_from(n).unwrap_or(1001)),
            "fCompress" => |b, r, s| r.integer(s).map(|n| b.branch.compress = int(n)),
            "fBasketSize" => |b, r, s| r.integer(s).map(|n| b.branch.basket_size = u32::try_from(int(n)).unwrap_or(0)),
            "fEntryOffsetLen" => |b, r, s| r.integer(s).map(|n| b.branch.entry_offset_len = int(n)),
            "fIOFeatures" => return Some(Place::Inside),
            "fIOBits" => |b, r, s| r.integer(s).map(|n| b.branch.io_bits = u8::try_from(n).unwrap_or(0)),
            "fOffset" => |b, r, s| r.integer(s).map(|n| b.branch.offset = int(n)),
            "fSplitLevel" => |b, r, s| r.integer(s).map(|n| b.branch.split_level = int(n)),
            "fWriteBasket" => |b, r, s| r.integer(s).map(|n| b.write_basket = n),
            "fMaxBaskets" => |b, r, s| r.integer(s).map(|n| b.max_baskets = n),
            "fEntryNumber" => |b, r, s| r.integer(s).map(|n| b.branch.entry_number = count(n)),
            "fEntries" => |b, r, s| r.integer(s).map(|n| b.branch.entries = count(n)),
            "fFirstEntry" => |b, r, s| r.integer(s).map(|n| b.branch.first_entry = count(n)),
            "fTotBytes" => |b, r, s| r.integer(s).map(|n| b.branch.tot_bytes = count(n)),
            "fZipBytes" => |b, r, s| r.integer(s).map(|n| b.branch.zip_bytes = count(n)),
            "fBranches" => |b, r, s| ids(r, s).map(|ids| b.children = ids),
            "fLeaves" => |b, r, s| ids(r, s).map(|ids| b.leaves = ids),
            "fBaskets" => |b, r, s| list(r, s).map(|list| b.baskets = list.collect()),
            "fBasketBytes" => |b, r, s| r.span(s, b.max_baskets).map(|span| b.basket_bytes = Some(span)),
            "fBasketEntry" => |b, r, s| r.span(s, b.max_baskets).map(|span| b.basket_entry = Some(span)),
            "fBasketSeek" => |b, r, s| r.span(s, b.max_baskets).map(|span| b.basket_seek = Some(span)),
            "fFileName" => |b, r, s| r.text(s).map(|text| b.branch.file_name = text),
            _ => return None,
        };
        Some(Place::Read(read))
    }

    /// Says that it has no leaves.
    pub fn without_leaves(&mut self) {
        self.leaves = Some(Vec::new());
    }

    /// What fMaxBaskets says.
    pub fn max_baskets(&self) -> i64 {
        self.max_baskets
    }

    /// The branch, with its baskets.
    pub fn finish(mut self, reader: &mut ObjectReader<'_>) -> Result<ReadBranch> {
        let name = std::mem::take(&mut self.branch.named.name);
        let done = self.find_baskets(reader).map_err(|e| e.object(format!("branch {name}")));
        self.branch.named.name = name;
        done?;
        let missing = |name: &str| Error::corrupt(format!("TBranch::{name} is missing"));
        Ok(ReadBranch {
            branch: self.branch,
            children: self.children.ok_or_else(|| missing("fBranches"))?,
            leaves: self.leaves.ok_or_else(|| missing("fLeaves"))?,
        })
    }

    fn find_baskets(&mut self, reader: &mut ObjectReader<'_>) -> Result<()> {
        let branch = &mut self.branch;
        branch.embedded = embedded(reader, &self.baskets)?;
        let write_basket = usize::try_from(self.write_basket).unwrap_or(0);
        // The basket being filled counts as well, if it lies in the record.
        let slots = branch.embedded.iter().map(|(i, _)| i + 1).max().unwrap_or(0).max(write_basket);
        let numbers = |span: Option<Span>| span.unwrap_or_default().numbers(reader);
        let (entry, seek) = (numbers(self.basket_entry.take()), numbers(self.basket_seek.take()));
        let bytes = numbers(self.basket_bytes.take());
        let mut listed = entry.len().min(seek.len());
        if self.lists_bytes {
            listed = listed.min(bytes.len());
        }
        if slots > listed {
            return Err(Error::corrupt(format!("{slots} baskets, of which {listed} are listed")));
        }
        let bytes = bytes.chain(std::iter::repeat(0));
        let place = |((entry, seek), bytes)| BasketRef {
            first_entry: count(entry),
            entries: 0,
            seek: count(seek),
            nbytes: u32::try_from(bytes).unwrap_or(0),
        };
        branch.baskets = entry.zip(seek).zip(bytes).take(slots).map(place).collect();
        Ok(())
    }
}

/// Baskets in the tree's record: those that have entries. ROOT also leaves empty ones behind.
fn embedded(reader: &mut ObjectReader<'_>, listed: &[(usize, ObjectId)]) -> Result<Vec<(usize, Embedded)>> {
    let mut found = Vec::new();
    for &(i, id) in listed {
        let Some(object) = reader.graph_mut().take(id) else { continue };
        if let (Content::Opaque(bytes), "TBasket") = (object.content, &*object.class) {
            let header = BasketHeader::parse(&mut Cursor::new(&bytes))?;
            if header.nev_buf > 0 && header.flag != 0 {
                found.push((i, Embedded { bytes }));
            }
        }
    }
    Ok(found)
}

fn new_leaf() -> Leaf {
    Leaf {
        id: 0,
        class: String::new(),
        named: Named::default(),
        len: 0,
        len_type: 0,
        offset: 0,
        is_range: false,
        is_unsigned: false,
        leaf_count: None,
        extra: None,
        branch: 0,
    }
}

fn leaf_place(name: &str) -> Option<Place<Leaf>> {
    type Read = fn(&mut Leaf, &mut ObjectReader<'_>, &Step) -> Result<()>;
    let read: Read = match name {
        "TNamed" => |leaf, r, s| r.name(s).map(|named| leaf.named = named),
        "fLen" => |leaf, r, s| r.integer(s).map(|n| leaf.len = int(n)),
        "fLenType" => |leaf, r, s| r.integer(s).map(|n| leaf.len_type = int(n)),
        "fOffset" => |leaf, r, s| r.integer(s).map(|n| leaf.offset = int(n)),
        "fIsRange" => |leaf, r, s| r.integer(s).map(|n| leaf.is_range = n != 0),
        "fIsUnsigned" => |leaf, r, s| r.integer(s).map(|n| leaf.is_unsigned = n != 0),
        "fLeafCount" => |leaf, r, s| r.reference(s).map(|id| leaf.leaf_count = id),
        _ => return None,
    };
    Some(Place::Read(read))
}
