//! Finds the branch of each member of a class, by the streamer infos and the branches' names. Makes the [`Assembler`] of a
//! column, or gives the reason why the branches do not form one.
//!
//! Facts (`TBranchElement::Unroll`): members of a split class are branches below its own, those of a base below a
//! branch of the base (type 1), those of a member object below the member's (type 2). In a split collection (types 3
//! and 4, its members 31 and 41) bases and member objects have no branches of their own: their members are beside the
//! others, named by the path of objects (`fTracks.fPos.fX`) but not of bases. A class without members has no branch.
//! `TTree::BranchOld` has plain branches for all members below one branch of the class, named by the same rule.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields};
use rootfile::streamer::StreamerInfos;

use super::assembler::{Assembler, ExtraBranch};
use super::candidates::{Candidates, trimmed};
use crate::decode::ColumnPlan;
use crate::decode::plan::parts::{self, ClassLayout, ClassParts, Part, PartKind};
use crate::decode::program::types::MAP_PARTS;
use crate::tree::Tree;
use crate::tree::model::{Branch, BranchKind, Element};

/// Why branches do not form one column.
type Reason = String;

/// Classes may nest this deep.
const MAX_DEPTH: usize = 40;
/// Most members that are searched for in one column, nested ones included.
const MAX_MEMBERS: usize = 500_000;
/// Most branches that are tried for them.
const MAX_BRANCHES_TRIED: usize = 5_000_000;

/// Finds the branches of one column.
pub(super) struct BranchFinder<'a> {
    tree: &'a Tree,
    infos: &'a StreamerInfos,
    branches: &'a [usize],
    plans: &'a [&'a ColumnPlan],
    /// The number of each branch among those of the column (its slot), and whether a member was found for it.
    slots: HashMap<usize, (usize, bool)>,
    /// The slots for which a member was found, in that order.
    order: Vec<usize>,
    members_searched: usize,
    branches_tried: Cell<usize>,
    /// A cache of classes.
    classes: HashMap<(String, ClassLayout), Option<Arc<ClassParts>>>,
}

/// Where members are searched for.
struct Scope<'p> {
    candidates: &'p mut Candidates,
    /// The names of the enclosing member objects that have no branch, each followed by a dot.
    path: String,
    /// How many lists surround the branches' values.
    lists: usize,
    depth: usize,
}

/// Parts of a record.
#[derive(Default)]
struct Parts {
    parts: Vec<(String, Assembler)>,
    names: HashSet<String>,
    extra: Vec<ExtraBranch>,
}

impl Parts {
    /// Adds a part. If a base has a member of the same name, the class precedes the name.
    fn add(&mut self, class: &str, name: String, assembler: Assembler) {
        let name = if self.names.contains(&name) { format!("{class}::{name}") } else { name };
        self.names.insert(name.clone());
        self.parts.push((name, assembler));
    }

    fn add_base(&mut self, class: &str, base: Self) {
        let first = self.parts.len();
        for (name, assembler) in base.parts {
            self.add(class, name, assembler);
        }
        for mut extra in base.extra {
            if let ExtraBranch::Base { parts, .. } = &mut extra {
                parts.iter_mut().for_each(|i| *i += first);
            }
            self.extra.push(extra);
        }
    }

    fn into_node(self) -> Assembler {
        let field =
            |(name, assembler): &(String, Assembler)| Field::new(name, assembler.data_type(), assembler.nullable());
        let fields: Fields = self.parts.iter().map(field).collect();
        let parts = self.parts.into_iter().map(|(_, assembler)| assembler).collect();
        Assembler::Record { fields, parts, extra: self.extra, nullable: false }
    }
}

impl<'a> BranchFinder<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        infos: &'a StreamerInfos,
        branches: &'a [usize],
        plans: &'a [&'a ColumnPlan],
    ) -> Self {
        let slots = branches.iter().enumerate().map(|(slot, &branch)| (branch, (slot, false))).collect();
        Self {
            tree,
            infos,
            branches,
            plans,
            slots,
            order: Vec::new(),
            members_searched: 0,
            branches_tried: Cell::new(0),
            classes: HashMap::new(),
        }
    }

    /// Whether a top-level branch is unsplit.
    pub(super) fn is_single(&self, top: usize) -> bool {
        let Some(branch) = self.tree.branches.get(top) else { return true };
        let counts = branch.element().is_some_and(|element| matches!(element.element_type, 3 | 4));
        !counts && branch.children.is_empty() && self.branches == [top]
    }

    /// The assembler of a top-level branch.
    pub(super) fn top(&mut self, top: usize) -> Result<Assembler, Reason> {
        let class = self.class_of_top(top);
        let assembler = self.branch(top, Some(&class), 0, 0)?;
        let lost = self.slots.iter().filter(|(_, (_, found))| !found).map(|(branch, _)| *branch).min();
        match lost.and_then(|branch| self.tree.branches.get(branch)) {
            Some(branch) => Err(format!("{} is not a member of its class", branch.name())),
            None => Ok(assembler),
        }
    }

    /// The class of a top-level branch; for a collection the collection's class.
    pub(super) fn class_of_top(&mut self, top: usize) -> String {
        match self.tree.branches.get(top).map(|branch| &branch.kind) {
            Some(BranchKind::Element(element)) => match usize::try_from(element.element_id) {
                Ok(id) => self.type_of_member(element, id).unwrap_or_else(|| element.class_name.clone()),
                Err(_) => element.class_name.clone(),
            },
            Some(BranchKind::Object { class_name }) => class_name.clone(),
            Some(BranchKind::Clones(_)) => "TClonesArray".to_owned(),
            _ => "unknown".to_owned(),
        }
    }

    /// The class of the member that a branch is for.
    fn type_of_member(&self, element: &Element, id: usize) -> Option<String> {
        let layout = Some((i32::from(element.class_version), element.checksum));
        parts::type_of(self.infos, &element.class_name, layout, id)
    }

    /// A branch and the branches below it. `class` is the class of the branch's member, if the member is an object.
    fn branch(&mut self, index: usize, class: Option<&str>, lists: usize, depth: usize) -> Result<Assembler, Reason> {
        let tree = self.tree;
        let branch = tree.branches.get(index).ok_or("no such branch")?;
        let element = branch.element();
        if let Some(element) = element.filter(|element| matches!(element.element_type, 3 | 4)) {
            return self.collection(index, branch, element, class, lists, depth);
        }
        if let BranchKind::Clones(clones) = &branch.kind {
            let counter = clones.branch_count.ok_or_else(|| format!("{} without a counter", branch.name()))?;
            return self.list(
                (counter, &branch.children),
                &clones.class_name,
                None,
                parts::Items::default(),
                lists,
                depth,
            );
        }
        if branch.children.is_empty() && self.slots.contains_key(&index) {
            return self.leaf(index, lists);
        }
        let class = class.ok_or_else(|| format!("{} has branches but no class", branch.name()))?;
        let layout = element.filter(|e| e.element_id < 0).map(|e| (i32::from(e.class_version), e.checksum));
        let mut candidates = Candidates::new(tree, &branch.children);
        let scope = &mut Scope { candidates: &mut candidates, path: String::new(), lists, depth };
        Ok(self.record(class, layout, scope)?.into_node())
    }

    /// A split collection.
    fn collection(
        &mut self,
        index: usize,
        branch: &Branch,
        element: &Element,
        class: Option<&str>,
        lists: usize,
        depth: usize,
    ) -> Result<Assembler, Reason> {
        let stated = match usize::try_from(element.element_id) {
            Ok(id) => self.type_of_member(element, id),
            Err(_) => Some(element.class_name.clone()),
        };
        let items = stated.as_deref().or(class).map(|name| parts::items_of(self.infos, name)).unwrap_or_default();
        let of_items = match &items.class {
            // The name may be that of a pointer.
            Some(class) if element.clones_name.is_empty() || items.map => class.clone(),
            _ => element.clones_name.clone(),
        };
        let layout = branch.children.first().and_then(|&child| self.tree.branches.get(child)?.element());
        let layout = layout.filter(|e| parts::same_class(&e.class_name, &of_items));
        let layout = layout.map(|e| (i32::from(e.class_version), e.checksum));
        self.list((index, &branch.children), &of_items, layout, items, lists, depth)
    }

    fn list(
        &mut self,
        (counter, children): (usize, &[usize]),
        class: &str,
        layout: ClassLayout,
        items: parts::Items,
        lists: usize,
        depth: usize,
    ) -> Result<Assembler, Reason> {
        let (counter, counts) = self.found(counter)?;
        if *counts.field().data_type() != DataType::Int32 || lists > 0 {
            return Err(format!("the counter {} has an unsupported type or is nested", counts.field().name()));
        }
        let before = self.order.len();
        let mut candidates = Candidates::new(self.tree, children);
        let scope = &mut Scope { candidates: &mut candidates, path: String::new(), lists: lists + 1, depth };
        let mut record = self.record(class, layout, scope)?;
        if items.map {
            // The names in decoded columns of maps.
            for ((name, _), wanted) in record.parts.iter_mut().zip(MAP_PARTS) {
                wanted.clone_into(name);
            }
        }
        let assembler = Box::new(record.into_node());
        let item = Arc::new(Field::new("item", assembler.data_type(), items.optional));
        let mut slots = Vec::new();
        for &slot in self.order.iter().skip(before) {
            let plan = self.plans.get(slot).ok_or("no such column")?;
            slots.push((
                slot,
                listed(plan.field().data_type(), lists + 1).ok_or("a member of objects that is not a list")?,
            ));
        }
        Ok(Assembler::List { item, assembler, counter, slots, nullable: false })
    }

    /// The slot and plan of a branch. Marks the branch as found.
    fn found(&mut self, branch: usize) -> Result<(usize, &'a ColumnPlan), Reason> {
        let name = || self.tree.branches.get(branch).map_or_else(String::new, |branch| branch.name().to_owned());
        let (slot, found) = self.slots.get_mut(&branch).ok_or_else(|| format!("{} is not a column", name()))?;
        if std::mem::replace(found, true) {
            return Err(format!("{} belongs to two members", name()));
        }
        self.order.push(*slot);
        let plan = *self.plans.get(*slot).ok_or("no such column")?;
        match plan.opaque() {
            Some(why) => Err(format!("{}: {why}", name())),
            None => Ok((*slot, plan)),
        }
    }

    /// An unsplit branch.
    fn leaf(&mut self, branch: usize, lists: usize) -> Result<Assembler, Reason> {
        let (slot, plan) = self.found(branch)?;
        let field = plan.field();
        if lists == 0 {
            return Ok(Assembler::Leaf { slot, data_type: field.data_type().clone(), nullable: field.is_nullable() });
        }
        let item = listed(field.data_type(), lists);
        let item = item.ok_or_else(|| format!("{} is a member of objects but not a list", field.name()))?;
        Ok(Assembler::Leaf { slot, data_type: item.data_type().clone(), nullable: item.is_nullable() })
    }

    fn class(&mut self, class: &str, layout: ClassLayout) -> Result<Arc<ClassParts>, Reason> {
        let infos = self.infos;
        let known = self.classes.entry((class.to_owned(), layout));
        let known = known.or_insert_with(|| parts::parts_of(infos, class, layout).map(Arc::new));
        known.clone().ok_or_else(|| format!("{class} is not described in the file"))
    }

    /// The parts of a class, from the branches of a scope.
    fn record(&mut self, class: &str, layout: ClassLayout, scope: &mut Scope<'_>) -> Result<Parts, Reason> {
        if scope.depth >= MAX_DEPTH {
            return Err(format!("{class} nests too deep"));
        }
        let class = self.class(class, layout)?;
        let mut record = Parts::default();
        for part in &class.parts {
            self.members_searched += 1;
            if self.members_searched > MAX_MEMBERS || self.branches_tried.get() > MAX_BRANCHES_TRIED {
                return Err(format!("{} has too many members", class.name));
            }
            match &part.kind {
                PartKind::TObject => record.extra.extend(self.tobject(&class, part, scope)?),
                PartKind::Base(layout) => {
                    let base = self.base(&class, part, *layout, scope)?;
                    record.add_base(&class.name, base);
                }
                PartKind::Member { object, optional } => {
                    let assembler = self.member(&class, part, object.as_deref(), scope)?;
                    record.add(
                        &class.name,
                        part.name.clone(),
                        if *optional { assembler.optional() } else { assembler },
                    );
                }
            }
        }
        Ok(record)
    }

    /// Takes the branch of a part.
    fn take(&self, class: &ClassParts, part: &Part, scope: &mut Scope<'_>) -> Option<usize> {
        let path = format!("{}{}", scope.path, trimmed(&part.name));
        // `TTree::BranchOld` names the branches of a base behind those of members of the same names: `fP.fBits`, `fBits`.
        let is_plain = |branch: &&Branch| branch.element().is_none() && trimmed(branch.name()) == path;
        let exact = |index: usize| self.tree.branches.get(index).filter(is_plain).is_some();
        if let Some(branch) = scope.candidates.take(&part.name, exact) {
            return Some(branch);
        }
        scope.candidates.take(&part.name, |index| {
            self.branches_tried.set(self.branches_tried.get() + 1);
            let Some(branch) =
                self.tree.branches.get(index).filter(|_| self.branches_tried.get() <= MAX_BRANCHES_TRIED)
            else {
                return false;
            };
            let fits = branch.element().is_none_or(|e| parts::same_class(&e.class_name, &class.name));
            let before = trimmed(branch.name()).strip_suffix(path.as_str());
            fits && before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        })
    }

    /// Takes the branch of a base that has another name: the only base may have the derived class's name.
    fn take_base(&self, class: &ClassParts, part: &Part, scope: &mut Scope<'_>) -> Option<usize> {
        scope.candidates.take_other(|index| {
            let element = self.tree.branches.get(index).and_then(Branch::element);
            element.is_some_and(|e| {
                usize::try_from(e.element_id) == Ok(part.id)
                    && matches!(e.element_type, 0 | 1)
                    && parts::same_class(&e.class_name, &class.name)
            })
        })
    }

    fn member(
        &mut self,
        class: &ClassParts,
        part: &Part,
        object: Option<&str>,
        scope: &mut Scope<'_>,
    ) -> Result<Assembler, Reason> {
        if let Some(branch) = self.take(class, part, scope) {
            return self.branch(branch, object, scope.lists, scope.depth + 1);
        }
        let missing = || format!("there is no branch of {}::{}{}", class.name, scope.path, part.name);
        let Some(object) = object else { return Err(missing()) };
        let path = format!("{}{}.", scope.path, part.name);
        let inner = &mut Scope { candidates: scope.candidates, path, lists: scope.lists, depth: scope.depth + 1 };
        self.record(object, None, inner).map(Parts::into_node)
    }

    fn base(
        &mut self,
        class: &ClassParts,
        part: &Part,
        layout: ClassLayout,
        scope: &mut Scope<'_>,
    ) -> Result<Parts, Reason> {
        let Some(index) = self.take(class, part, scope).or_else(|| self.take_base(class, part, scope)) else {
            let path = scope.path.clone();
            let inner = &mut Scope { candidates: scope.candidates, path, lists: scope.lists, depth: scope.depth + 1 };
            return self.record(&part.name, layout, inner);
        };
        let branch = self.tree.branches.get(index).ok_or("no such branch")?;
        if branch.children.is_empty() && self.slots.contains_key(&index) {
            return self.unsplit_base(index, scope.lists);
        }
        let mut candidates = Candidates::new(self.tree, &branch.children);
        let inner =
            &mut Scope { candidates: &mut candidates, path: String::new(), lists: scope.lists, depth: scope.depth + 1 };
        self.record(&part.name, layout, inner)
    }

    /// A base in a branch of its own. The base's members are parts of the record.
    fn unsplit_base(&mut self, branch: usize, lists: usize) -> Result<Parts, Reason> {
        let Assembler::Leaf { slot, data_type: DataType::Struct(fields), .. } = self.leaf(branch, lists)? else {
            return Err("a base that is not a record".to_owned());
        };
        // `ExtraBranch::Base` supplies the values; the leaves only have the types.
        let part = |field: &FieldRef| {
            let leaf = Assembler::Leaf { slot, data_type: field.data_type().clone(), nullable: field.is_nullable() };
            (field.name().clone(), leaf)
        };
        let parts: Vec<(String, Assembler)> = fields.iter().map(part).collect();
        let all = (0..parts.len()).collect();
        let names = parts.iter().map(|(name, _)| name.clone()).collect();
        Ok(Parts { parts, names, extra: vec![ExtraBranch::Base { slot, fields, parts: all }] })
    }

    /// The branches of a `TObject` base: one, or one for each member.
    fn tobject(&mut self, class: &ClassParts, part: &Part, scope: &mut Scope<'_>) -> Result<Vec<ExtraBranch>, Reason> {
        let mut own;
        let (candidates, path) = match self.take(class, part, scope) {
            Some(index) if self.slots.contains_key(&index) => {
                let Assembler::Leaf { slot, data_type, .. } = self.leaf(index, scope.lists)? else {
                    return Ok(Vec::new());
                };
                return Ok(vec![ExtraBranch::TObject { slot, data_type }]);
            }
            Some(index) => {
                let children = self.tree.branches.get(index).map_or(&[][..], |branch| &branch.children);
                own = Candidates::new(self.tree, children);
                (&mut own, String::new())
            }
            None => (&mut *scope.candidates, scope.path.clone()),
        };
        let scope = &mut Scope { candidates, path, lists: scope.lists, depth: scope.depth };
        let tobject = ClassParts { name: "TObject".to_owned(), parts: Vec::new() };
        let mut found = Vec::new();
        for name in ["fUniqueID", "fBits"] {
            let part = Part { name: name.to_owned(), id: 0, kind: PartKind::Member { object: None, optional: false } };
            let Some(branch) = self.take(&tobject, &part, scope) else { continue };
            if let Assembler::Leaf { slot, data_type, .. } = self.leaf(branch, scope.lists)? {
                found.push(ExtraBranch::TObject { slot, data_type });
            }
        }
        Ok(found)
    }
}

/// The items of nested lists.
fn listed(data_type: &DataType, lists: usize) -> Option<FieldRef> {
    let mut found: Option<&FieldRef> = None;
    for _ in 0..lists {
        match found.map_or(data_type, |field| field.data_type()) {
            DataType::LargeList(item) => found = Some(item),
            _ => return None,
        }
    }
    found.cloned()
}
