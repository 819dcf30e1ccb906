//! Finds for each member of a class the branch that holds it, by the streamer infos and the branches' names. It makes
//! the [`Node`] of a column, or says why it cannot.
//!
//! Facts (`TBranchElement::Unroll`): members of a split class are branches below its own, those of a base below a
//! branch of the base (type 1), those of a member object below the member's (type 2). In a split collection (types 3
//! and 4, its members 31 and 41) bases and member objects have no branches of their own: their members are beside the
//! others, named by the path of objects (`fTracks.fPos.fX`) but not of bases. A class without members has no branch.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields};
use rootfile::streamer::StreamerInfos;

use super::node::{Beside, Node};
use super::pool::{Pool, trimmed};
use crate::decode::ColumnPlan;
use crate::decode::parts::{self, ClassLayout, ClassParts, Part, PartKind};
use crate::tree::Tree;
use crate::tree::model::{Branch, BranchKind, Element};

/// Why branches make no whole.
type Why = String;

/// Classes may nest this deep.
const MAX_DEPTH: usize = 40;
/// Members that are looked for in one column, those of members counted.
const MAX_TURNS: usize = 500_000;
/// Branches that are looked at for them.
const MAX_LOOKS: usize = 5_000_000;

/// Finds the branches of one column.
pub(super) struct Gather<'a> {
    tree: &'a Tree,
    infos: &'a StreamerInfos,
    branches: &'a [usize],
    plans: &'a [&'a ColumnPlan],
    /// Places of branches among those of the column, and whether they were found.
    slots: HashMap<usize, (usize, bool)>,
    /// Places of those that were, in that order.
    order: Vec<usize>,
    turns: usize,
    looks: Cell<usize>,
    /// Known classes: their members seldom differ from one branch to the next.
    classes: HashMap<(String, ClassLayout), Option<Arc<ClassParts>>>,
}

/// Where members are looked for.
struct Place<'p> {
    pool: &'p mut Pool,
    /// Names of the member objects on the way that have no branch, with a dot behind each.
    path: String,
    /// How many lists the branches' values are in.
    lists: usize,
    depth: usize,
}

/// Parts of a record.
#[derive(Default)]
struct Parts {
    parts: Vec<(String, Node)>,
    names: HashSet<String>,
    beside: Vec<Beside>,
}

impl Parts {
    /// Adds a part. The name of a member that a base has, too, gets the class before it.
    fn add(&mut self, class: &str, name: String, node: Node) {
        let name = if self.names.contains(&name) { format!("{class}::{name}") } else { name };
        self.names.insert(name.clone());
        self.parts.push((name, node));
    }

    fn add_base(&mut self, class: &str, base: Self) {
        let first = self.parts.len();
        for (name, node) in base.parts {
            self.add(class, name, node);
        }
        for mut beside in base.beside {
            if let Beside::Base { parts, .. } = &mut beside {
                parts.iter_mut().for_each(|i| *i += first);
            }
            self.beside.push(beside);
        }
    }

    fn into_node(self) -> Node {
        let field = |(name, node): &(String, Node)| Field::new(name, node.data_type(), node.nullable());
        let fields: Fields = self.parts.iter().map(field).collect();
        let parts = self.parts.into_iter().map(|(_, node)| node).collect();
        Node::Record { fields, parts, beside: self.beside, nullable: false }
    }
}

impl<'a> Gather<'a> {
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
            turns: 0,
            looks: Cell::new(0),
            classes: HashMap::new(),
        }
    }

    /// Whether a top-level branch is one that is not split.
    pub(super) fn is_single(&self, top: usize) -> bool {
        let Some(branch) = self.tree.branches.get(top) else { return true };
        let counts = branch.element().is_some_and(|element| matches!(element.element_type, 3 | 4));
        !counts && branch.children.is_empty() && self.branches == [top]
    }

    /// What a top-level branch is.
    pub(super) fn top(&mut self, top: usize) -> Result<Node, Why> {
        let class = self.class_of_top(top);
        let node = self.branch(top, Some(&class), 0, 0)?;
        let lost = self.slots.iter().filter(|(_, (_, found))| !found).map(|(branch, _)| *branch).min();
        match lost.and_then(|branch| self.tree.branches.get(branch)) {
            Some(branch) => Err(format!("{} is no member of its class", branch.name())),
            None => Ok(node),
        }
    }

    /// The class of a top-level branch; of a collection the collection's.
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

    /// A branch and what is below it. `class` is that of the member it is for, if that is an object.
    fn branch(&mut self, index: usize, class: Option<&str>, lists: usize, depth: usize) -> Result<Node, Why> {
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
        let class = class.ok_or_else(|| format!("{} groups branches of no class", branch.name()))?;
        let layout = element.filter(|e| e.element_id < 0).map(|e| (i32::from(e.class_version), e.checksum));
        let mut pool = Pool::new(tree, &branch.children);
        let place = &mut Place { pool: &mut pool, path: String::new(), lists, depth };
        Ok(self.record(class, layout, place)?.into_node())
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
    ) -> Result<Node, Why> {
        let stated = match usize::try_from(element.element_id) {
            Ok(id) => self.type_of_member(element, id),
            Err(_) => Some(element.class_name.clone()),
        };
        let items = stated.as_deref().or(class).map(|name| parts::items_of(self.infos, name)).unwrap_or_default();
        let of_items = match &items.class {
            // A pointer's name may have been left in it.
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
    ) -> Result<Node, Why> {
        let (counter, counts) = self.found(counter)?;
        if *counts.field().data_type() != DataType::Int32 || lists > 0 {
            return Err(format!("{} does not count in a way known here", counts.field().name()));
        }
        let before = self.order.len();
        let mut pool = Pool::new(self.tree, children);
        let place = &mut Place { pool: &mut pool, path: String::new(), lists: lists + 1, depth };
        let mut record = self.record(class, layout, place)?;
        if items.map {
            // As columns of maps have them.
            for ((name, _), wanted) in record.parts.iter_mut().zip(["key", "value"]) {
                wanted.clone_into(name);
            }
        }
        let node = Box::new(record.into_node());
        let item = Arc::new(Field::new("item", node.data_type(), items.optional));
        let mut slots = Vec::new();
        for &slot in self.order.iter().skip(before) {
            let plan = self.plans.get(slot).ok_or("no such column")?;
            slots.push((slot, listed(plan.field().data_type(), lists + 1).ok_or("a member that is no list")?));
        }
        Ok(Node::List { item, node, counter, slots, nullable: false })
    }

    /// The place of a branch, which is found by this.
    fn found(&mut self, branch: usize) -> Result<(usize, &'a ColumnPlan), Why> {
        let name = || self.tree.branches.get(branch).map_or_else(String::new, |branch| branch.name().to_owned());
        let (slot, found) = self.slots.get_mut(&branch).ok_or_else(|| format!("{} is no column", name()))?;
        if std::mem::replace(found, true) {
            return Err(format!("{} is two members", name()));
        }
        self.order.push(*slot);
        let plan = *self.plans.get(*slot).ok_or("no such column")?;
        match plan.opaque() {
            Some(why) => Err(format!("{}: {why}", name())),
            None => Ok((*slot, plan)),
        }
    }

    /// A branch that is not split.
    fn leaf(&mut self, branch: usize, lists: usize) -> Result<Node, Why> {
        let (slot, plan) = self.found(branch)?;
        let field = plan.field();
        if lists == 0 {
            return Ok(Node::Leaf { slot, data_type: field.data_type().clone(), nullable: field.is_nullable() });
        }
        let item = listed(field.data_type(), lists);
        let item = item.ok_or_else(|| format!("{} is a member of objects, but no list", field.name()))?;
        Ok(Node::Leaf { slot, data_type: item.data_type().clone(), nullable: item.is_nullable() })
    }

    fn class(&mut self, class: &str, layout: ClassLayout) -> Result<Arc<ClassParts>, Why> {
        let infos = self.infos;
        let known = self.classes.entry((class.to_owned(), layout));
        let known = known.or_insert_with(|| parts::parts_of(infos, class, layout).map(Arc::new));
        known.clone().ok_or_else(|| format!("{class} is not described in the file"))
    }

    /// The parts of a class, from the branches of a place.
    fn record(&mut self, class: &str, layout: ClassLayout, place: &mut Place<'_>) -> Result<Parts, Why> {
        if place.depth >= MAX_DEPTH {
            return Err(format!("{class} nests too deep"));
        }
        let class = self.class(class, layout)?;
        let mut record = Parts::default();
        for part in &class.parts {
            self.turns += 1;
            if self.turns > MAX_TURNS || self.looks.get() > MAX_LOOKS {
                return Err(format!("{} has too many members", class.name));
            }
            match &part.kind {
                PartKind::TObject => record.beside.extend(self.tobject(&class, part, place)?),
                PartKind::Base(layout) => {
                    let base = self.base(&class, part, *layout, place)?;
                    record.add_base(&class.name, base);
                }
                PartKind::Member { object, optional } => {
                    let node = self.member(&class, part, object.as_deref(), place)?;
                    record.add(&class.name, part.name.clone(), if *optional { node.optional() } else { node });
                }
            }
        }
        Ok(record)
    }

    /// Takes the branch of a part.
    fn take(&self, class: &ClassParts, part: &Part, place: &mut Place<'_>) -> Option<usize> {
        let path = format!("{}{}", place.path, trimmed(&part.name));
        place.pool.take(&part.name, |index| {
            self.looks.set(self.looks.get() + 1);
            let Some(branch) = self.tree.branches.get(index).filter(|_| self.looks.get() <= MAX_LOOKS) else {
                return false;
            };
            let fits = branch.element().is_none_or(|e| parts::same_class(&e.class_name, &class.name));
            let before = trimmed(branch.name()).strip_suffix(path.as_str());
            fits && before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        })
    }

    /// Takes the branch of a base that is not named as it is: an only base may have its heir's name.
    fn take_base(&self, class: &ClassParts, part: &Part, place: &mut Place<'_>) -> Option<usize> {
        place.pool.take_other(|index| {
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
        place: &mut Place<'_>,
    ) -> Result<Node, Why> {
        if let Some(branch) = self.take(class, part, place) {
            return self.branch(branch, object, place.lists, place.depth + 1);
        }
        let missing = || format!("there is no branch of {}::{}{}", class.name, place.path, part.name);
        let Some(object) = object else { return Err(missing()) };
        let path = format!("{}{}.", place.path, part.name);
        let inner = &mut Place { pool: place.pool, path, lists: place.lists, depth: place.depth + 1 };
        self.record(object, None, inner).map(Parts::into_node)
    }

    fn base(
        &mut self,
        class: &ClassParts,
        part: &Part,
        layout: ClassLayout,
        place: &mut Place<'_>,
    ) -> Result<Parts, Why> {
        let Some(index) = self.take(class, part, place).or_else(|| self.take_base(class, part, place)) else {
            let path = place.path.clone();
            let inner = &mut Place { pool: place.pool, path, lists: place.lists, depth: place.depth + 1 };
            return self.record(&part.name, layout, inner);
        };
        let branch = self.tree.branches.get(index).ok_or("no such branch")?;
        if branch.children.is_empty() && self.slots.contains_key(&index) {
            return self.unsplit_base(index, place.lists);
        }
        let mut pool = Pool::new(self.tree, &branch.children);
        let inner = &mut Place { pool: &mut pool, path: String::new(), lists: place.lists, depth: place.depth + 1 };
        self.record(&part.name, layout, inner)
    }

    /// A base in a branch of its own: its members are the record's.
    fn unsplit_base(&mut self, branch: usize, lists: usize) -> Result<Parts, Why> {
        let Node::Leaf { slot, data_type: DataType::Struct(fields), .. } = self.leaf(branch, lists)? else {
            return Err("a base that is no record".to_owned());
        };
        // The branch is found once, and handed out by `Beside::Base`; the leaves only say the types.
        let part = |field: &FieldRef| {
            let leaf = Node::Leaf { slot, data_type: field.data_type().clone(), nullable: field.is_nullable() };
            (field.name().clone(), leaf)
        };
        let parts: Vec<(String, Node)> = fields.iter().map(part).collect();
        let all = (0..parts.len()).collect();
        let names = parts.iter().map(|(name, _)| name.clone()).collect();
        Ok(Parts { parts, names, beside: vec![Beside::Base { slot, fields, parts: all }] })
    }

    /// The branches of a `TObject` base: one, or one of each member.
    fn tobject(&mut self, class: &ClassParts, part: &Part, place: &mut Place<'_>) -> Result<Vec<Beside>, Why> {
        let mut own;
        let (pool, path) = match self.take(class, part, place) {
            Some(index) if self.slots.contains_key(&index) => {
                let Node::Leaf { slot, data_type, .. } = self.leaf(index, place.lists)? else { return Ok(Vec::new()) };
                return Ok(vec![Beside::TObject { slot, data_type }]);
            }
            Some(index) => {
                let children = self.tree.branches.get(index).map_or(&[][..], |branch| &branch.children);
                own = Pool::new(self.tree, children);
                (&mut own, String::new())
            }
            None => (&mut *place.pool, place.path.clone()),
        };
        let place = &mut Place { pool, path, lists: place.lists, depth: place.depth };
        let tobject = ClassParts { name: "TObject".to_owned(), parts: Vec::new() };
        let mut found = Vec::new();
        for name in ["fUniqueID", "fBits"] {
            let part = Part { name: name.to_owned(), id: 0, kind: PartKind::Member { object: None, optional: false } };
            let Some(branch) = self.take(&tobject, &part, place) else { continue };
            if let Node::Leaf { slot, data_type, .. } = self.leaf(branch, place.lists)? {
                found.push(Beside::TObject { slot, data_type });
            }
        }
        Ok(found)
    }
}

/// The items of lists in lists.
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
