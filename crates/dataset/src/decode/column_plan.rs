//! The plan of a column: a branch's decode program, with the Arrow field that names it and the reason if the branch cannot
//! be decoded. Baskets are decoded by [`ColumnBuilder`](super::ColumnBuilder).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::FieldRef;
use rootfile::streamer::StreamerInfos;

use super::plan::branch;
use super::program::class_reader::{Destination, MemberStep};
use super::program::classes;
use super::program::learned::LearnedClasses;
use super::program::model::Program;
use super::program::op::{ArrayKind, Op};
use super::program::types::Shape;
use super::run::entries;
use crate::tree::basket::BasketData;
use crate::tree::model::{Branch, BranchKind, Tree};

/// Arrays of objects may nest this deep.
const MOST_ROUNDS: usize = 6;

/// How the entries of a branch become an Arrow column. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ColumnPlan(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    field: FieldRef,
    branch: usize,
    opaque: Option<String>,
    program: Program,
    /// Item classes of arrays whose type does not name them.
    learned: LearnedClasses,
}

impl ColumnPlan {
    /// The plan for the branch with this index among the tree's. A branch that cannot be decoded gives a plan too: its
    /// column is `LargeBinary`, the bytes of each entry, and [`opaque`](Self::opaque) has the reason.
    pub fn new(tree: &Tree, branch: usize, infos: &StreamerInfos) -> Self {
        Self::planned(tree, branch, infos, LearnedClasses::default(), false)
    }

    /// The same, but `TObject` bases have a part of the record: for entries that are encoded again.
    pub fn with_tobjects(tree: &Tree, branch: usize, infos: &StreamerInfos) -> Self {
        Self::planned(tree, branch, infos, LearnedClasses::default(), true)
    }

    /// The plan for a branch that will hold the values of `others`: the item classes that these plans have learned hold for
    /// the new plan too. `clones` is the item class, if the branch is a `TClonesArray`.
    pub fn with_learned(
        tree: &Tree,
        branch: usize,
        infos: &StreamerInfos,
        others: &[&Self],
        clones: Option<&str>,
    ) -> Self {
        let mut learned = LearnedClasses::default();
        others.iter().for_each(|other| learned.merge(&other.0.learned));
        if let Some(class) = clones {
            learned.merge(&LearnedClasses::of_branch(class));
        }
        Self::planned(tree, branch, infos, learned, false)
    }

    /// The item class, if the branch is an array and its entries have named the class.
    pub fn array_class(&self) -> Option<&str> {
        self.0.learned.class_of_branch()
    }

    /// The `TClonesArray`s of the column, as class and name of the member that the array is (empty where it is the branch), and the
    /// class of their items, if entries have named it. A reader takes the items of all entries for those of the first class.
    pub fn clones_classes(&self) -> Vec<((String, String), Option<String>)> {
        let arrays = RefCell::new(Vec::new());
        let note = |op: &Op| {
            if let Op::ObjectArray(array) = op
                && array.kind == ArrayKind::Clones
            {
                arrays.borrow_mut().push(array.array);
            }
            false
        };
        self.0.program.op.any(&note);
        self.steps().for_each(|step| {
            step.op.any(&note);
        });
        let mut arrays = arrays.into_inner();
        arrays.sort_unstable();
        arrays.dedup();
        let members = arrays.iter().filter_map(|array| self.0.program.arrays.get(*array));
        let class =
            |member: &(String, String)| self.0.learned.get(member).and_then(|(class, _)| class.map(str::to_owned));
        members.map(|member| (member.clone(), class(member))).collect()
    }

    /// Whether the column has collections that can be streamed member-wise or object-wise.
    pub fn streams_collections(&self) -> bool {
        self.0.program.op.has_members() || self.steps().any(|step| step.op.has_members())
    }

    /// Whether the column's classes have `TObject` bases, which the column leaves out.
    pub fn omits_tobjects(&self) -> bool {
        self.steps().any(|step| matches!(step.destination, Destination::TObject))
    }

    /// Whether objects of a class are among the values.
    pub fn reads(&self, class: &str) -> bool {
        self.0.program.readers.iter().any(|reader| reader.class == class)
    }

    /// Whether the column is fBits of `TObject`s, which have a branch of their own.
    pub fn is_tobject_bits(&self) -> bool {
        self.0.program.op.any(&|op| matches!(op, Op::TObjectBits))
    }

    /// Whether the column is `TObject`s with a branch of their own, as those of bases of split objects.
    pub fn is_tobject(&self) -> bool {
        self.0.program.op.any(&|op| matches!(op, Op::TObject))
    }

    /// Whether the column has containers in frames of their own. What version is in such a frame tells nothing of the values.
    pub fn has_framed_values(&self) -> bool {
        self.any_op(&|op| matches!(op, Op::Framed(_)))
    }

    /// Whether each entry begins with a frame around all its values.
    pub fn begins_with_frame(&self) -> bool {
        match &self.0.program.op {
            Op::Framed(_) | Op::CountedPerObject { framed: true, .. } => true,
            Op::ToEnd { flag: false, item } => matches!(**item, Op::Framed(_)),
            _ => false,
        }
    }

    /// Whether the column has arrays of pointers that a member counts, in whose places files of ROOT 5 have the objects.
    pub fn counts_pointers(&self) -> bool {
        let is_pointer = |op: &Op| matches!(op, Op::Pointer { .. });
        self.any_op(&|op| match op {
            Op::Counted { item, .. } | Op::CountedArrays { item, .. } | Op::ToEnd { item, .. } => item.any(&is_pointer),
            _ => false,
        })
    }

    /// Whether the column has `TRef`s, of which it has the unique numbers but not the status bits.
    pub fn has_references(&self) -> bool {
        self.any_op(&|op| matches!(op, Op::TRef | Op::TRefArray))
    }

    /// Whether the column is the text of a `TLeafC`, which old and new versions of ROOT write in other ways where it is empty.
    pub fn is_leaf_text(&self) -> bool {
        self.0.program.op.any(&|op| matches!(op, Op::CString))
    }

    fn any_op(&self, is: &dyn Fn(&Op) -> bool) -> bool {
        self.0.program.op.any(is) || self.steps().any(|step| step.op.any(is))
    }

    /// Whether the column has a `TObjArray` or a `TList`. The column leaves out their names and the options of their items.
    pub fn omits_collection_names(&self) -> bool {
        self.0.program.op.is_collection() || self.steps().any(|step| step.op.is_collection())
    }

    /// The steps of all classes in the column.
    fn steps(&self) -> impl Iterator<Item = &MemberStep> {
        let versions = self.0.program.readers.iter().flat_map(|reader| &reader.versions);
        versions.filter_map(|version| version.steps.as_ref().ok()).flatten()
    }

    fn planned(
        tree: &Tree,
        branch: usize,
        infos: &StreamerInfos,
        learned: LearnedClasses,
        keeps_tobjects: bool,
    ) -> Self {
        let (program, opaque) = match branch::plan(tree, branch, infos, &learned, keeps_tobjects) {
            Ok(program) if program.shape == Shape::Bytes && !program.arrays.is_empty() => {
                let reason = "a TClonesArray whose class no entry names, or whose class is not described in the file";
                (program, Some(reason.to_owned()))
            }
            Ok(program) => (program, None),
            Err(reason) => (Program::bytes(), Some(reason)),
        };
        let mut names = tree.lineage(branch);
        names.reverse();
        let typename = program.typename.clone();
        Self::from_program(&names.join("/"), &typename, branch, program, opaque, learned)
    }

    pub(super) fn from_program(
        name: &str,
        typename: &str,
        branch: usize,
        program: Program,
        opaque: Option<String>,
        learned: LearnedClasses,
    ) -> Self {
        let mut metadata = HashMap::from([("typename".to_owned(), typename.to_owned())]);
        if let Some(why) = &opaque {
            metadata.insert("opaque".to_owned(), why.clone());
        }
        metadata.extend(classes::of_program(&program).lines().map(|lines| ("classes".to_owned(), lines)));
        let field = Arc::new(program.shape.field(name).as_ref().clone().with_metadata(metadata));
        Self(Arc::new(Inner { field, branch, opaque, program, learned }))
    }

    /// The Arrow field of the column. The name is the path of the branch (`Event/fTracks/fTracks.fX`). The metadata hold the
    /// C++ type (`typename`), for an opaque column the reason (`opaque`), and where values have classes a line for each
    /// level of the Arrow type, from the outermost, with the class of a record (behind a tab each class that it derives from), `std::pair`, `std::tuple`, `std::map` for the items of a
    /// map, and `std::set` for a list that is one (`classes`).
    pub fn field(&self) -> &FieldRef {
        &self.0.field
    }

    /// The index of the branch among the tree's.
    pub fn branch(&self) -> usize {
        self.0.branch
    }

    /// A column with this program.
    #[cfg(test)]
    pub(crate) fn of(program: Program) -> Self {
        Self::from_program("column", "any", 0, program, None, LearnedClasses::default())
    }

    /// The program that decodes the entries.
    pub(crate) fn program(&self) -> &Program {
        &self.0.program
    }

    /// Why the column is opaque bytes; none if it is decoded.
    pub fn opaque(&self) -> Option<&str> {
        self.0.opaque.as_deref()
    }

    /// The same column as opaque bytes, for data that do not fit the plan.
    #[must_use]
    pub fn opaque_because(&self, reason: &str) -> Self {
        let typename = self.0.field.metadata().get("typename").map_or("unknown", String::as_str);
        Self::from_program(
            self.0.field.name(),
            typename,
            self.0.branch,
            Program::bytes(),
            Some(reason.to_owned()),
            LearnedClasses::default(),
        )
    }

    /// Whether the column has arrays whose item class only entries name: see [`ColumnPlan::learn`].
    pub fn needs_learning(&self) -> bool {
        self.0.program.counters.is_empty() && self.0.learned.lack(&self.0.program.arrays)
    }

    /// The plan with the item classes that the entries of a basket name (`TClonesArray`, `TObjArray`, `TList`). Without
    /// them a `TClonesArray` is bytes, and so is each item of the other arrays.
    #[must_use]
    pub fn learn(&self, tree: &Tree, infos: &StreamerInfos, basket: &BasketData) -> Self {
        let mut plan = self.clone();
        // An array may be inside another: each round reaches one level deeper.
        for _ in 0..MOST_ROUNDS {
            let mut learned = plan.0.learned.clone();
            let program = plan.program();
            if !plan.needs_learning() || !learned.learn(&program.arrays, &entries::seen_arrays(program, basket)) {
                break;
            }
            plan = Self::planned(tree, plan.0.branch, infos, learned, false);
        }
        plan
    }

    /// The same column as a column of the friend tree `friend`: the friend's name and a dot precede the column's name, and
    /// the indices of the friend's branches follow those of `branches` others.
    #[must_use]
    pub fn of_friend(&self, friend: &str, branches: usize) -> Self {
        let inner = &self.0;
        let field = inner.field.as_ref().clone().with_name(format!("{friend}.{}", inner.field.name()));
        let mut program = inner.program.clone();
        program.counters.iter_mut().for_each(|counter| *counter += branches);
        let (opaque, learned) = (inner.opaque.clone(), inner.learned.clone());
        Self(Arc::new(Inner { field: Arc::new(field), branch: inner.branch + branches, opaque, program, learned }))
    }

    /// Indices of the branches whose values [`ColumnBuilder::append`](super::ColumnBuilder::append) needs besides the
    /// entries; usually none.
    pub fn counters(&self) -> &[usize] {
        &self.0.program.counters
    }
}

/// The columns of a tree, in ROOT's order: the branches that hold entries of their own. Branches that only group others
/// are not columns.
pub fn columns(tree: &Tree, infos: &StreamerInfos) -> Vec<ColumnPlan> {
    column_branches(tree).map(|branch| ColumnPlan::new(tree, branch, infos)).collect()
}

/// The branches that [`columns`] plans, by their indices in ascending order.
pub fn column_branches(tree: &Tree) -> impl Iterator<Item = usize> {
    let holds = |branch: &Branch| match &branch.kind {
        // The top branch of a split collection holds the number of objects.
        // A class or base without members holds nothing.
        BranchKind::Element(element) => match element.element_type {
            3 | 4 => true,
            1 | 2 => false,
            _ => branch.children.is_empty(),
        },
        BranchKind::Clones(_) | BranchKind::Ref { .. } => false,
        // A branch that `TTree::BranchOld` splits (`TBranchObject::Fill`) has a leaf, but its branches below have all entries.
        _ => !branch.baskets.is_empty() || (branch.children.is_empty() && !branch.leaves.is_empty()),
    };
    tree.branches.iter().enumerate().filter(move |(_, branch)| holds(branch)).map(|(index, _)| index)
}
