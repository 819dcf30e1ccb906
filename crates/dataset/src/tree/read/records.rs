//! Reads `TBranch` and `TLeaf`, of which a record has thousands, straight into the model.
//!
//! The streamer infos give their members, as for any other class. Members of subclasses are read into values. The
//! caller links the objects once all of them are read.

use std::cell::{Cell, RefCell};

use rootfile::Result;
use rootfile::object::{Content, CustomStreamer, Named, ObjectReader, Place, Step, Typed};
use rootfile::tags::Frame;

use super::branch_record::{BranchRecord, ReadBranch, int};
use super::legacy;
use crate::tree::model::Leaf;

/// Reads the branches and leaves of a record.
pub(super) struct Records {
    /// Version of ROOT that wrote the file.
    pub file_version: i32,
    pub branches: Typed<BranchRecord>,
    leaves: Typed<Leaf>,
    objects: RefCell<ReadObjects>,
    /// The nesting depth of trees: the record's own tree, and trees in its user info.
    trees: Cell<usize>,
}

/// Branches and leaves by the numbers that their objects have.
#[derive(Default)]
pub(super) struct ReadObjects {
    /// Boxed, so that the growing list does not copy branches.
    branches: Vec<Option<Box<ReadBranch>>>,
    leaves: Vec<Option<Leaf>>,
}

impl Records {
    pub fn new(file_version: i32) -> Self {
        let (branches, leaves) = (Typed::new(BranchRecord::place), Typed::new(leaf_place));
        Self { file_version, branches, leaves, objects: RefCell::default(), trees: Cell::new(0) }
    }

    /// The branches and leaves read.
    pub fn into_objects(self) -> ReadObjects {
        self.objects.into_inner()
    }

    /// Stores a branch.
    pub fn store(&self, branch: ReadBranch) -> Content {
        let branches = &mut self.objects.borrow_mut().branches;
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
        Ok(self.store(record.finish(reader)?))
    }

    fn leaf(&self, frame: Frame, reader: &mut ObjectReader<'_>) -> Result<Content> {
        let mut leaf = new_leaf();
        self.leaves.object(&mut leaf, "TLeaf", frame, reader)?;
        let leaves = &mut self.objects.borrow_mut().leaves;
        leaves.push(Some(leaf));
        Ok(Content::Held(leaves.len() - 1))
    }
}

impl Records {
    /// A tree inside the record's tree. Its branches are read as generic objects, so that they can be written again;
    /// forms from before ROOT 5 stay opaque.
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
            "TBranchClones" => {
                let (branch, own) = legacy::branch_clones(&self.branches, self.file_version, reader)?;
                Ok(Some(legacy::clones_content(self.store(branch), own)))
            }
            _ => Ok(None),
        }
    }
}

impl ReadObjects {
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
