//! From a branch to the plan of its column: what its values are, how they lie in entries, and which other
//! branches count them.

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos, code};

use super::arrays::{Contents, Place};
use super::class::{Classes, Typed};
use super::name::TypeName;
use super::op::{Op, Reader};
use super::plain;
use super::types::{Number, Shape};
use crate::tree::model::{Branch, BranchKind, Element, Tree};

/// Why a branch is not decoded.
pub(crate) type Why = String;

/// How entries lie in a basket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Each is one value of the same length.
    Fixed,
    /// Each is one value of any length.
    Each,
    /// Each is values of a list, up to its end.
    Items,
}

/// What to do with the entries of a branch.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The shape of an entry.
    pub shape: Shape,
    /// How to read an entry, or an item of it.
    pub op: Op,
    pub layout: Layout,
    /// The type in C++, as uproot spells it.
    pub typename: String,
    /// Branches whose values count, in the order of the machine's counters.
    pub counters: Vec<usize>,
    /// Counters of the machine: those, and such as are met in the data.
    pub slots: usize,
    /// Readers of the classes that occur.
    pub readers: Vec<Reader>,
    /// Whether there are pointers, whose class tags count from where the entry lies.
    pub pointers: bool,
    /// Arrays whose items' class only their bytes say.
    pub places: Vec<Place>,
}

impl Plan {
    /// A plan that needs nothing besides.
    pub(crate) fn new((shape, op): Typed, typename: String) -> Self {
        let layout = if op.fixed_size().is_some() { Layout::Fixed } else { Layout::Each };
        let (counters, readers, places) = (Vec::new(), Vec::new(), Vec::new());
        Self { shape, op, layout, typename, counters, slots: 0, readers, pointers: false, places }
    }

    /// The bytes of entries.
    pub(crate) fn bytes() -> Self {
        Self::new((Shape::Bytes, Op::Opaque), "unknown".to_owned())
    }

    /// Lists of what the plan reads, up to the end of each entry.
    pub(crate) fn items(mut self, flag: bool) -> Self {
        if !flag && self.op.fixed_size().is_some() {
            self.layout = Layout::Items;
        } else {
            self.op = Op::Rest { flag, item: Box::new(self.op) };
            self.layout = Layout::Each;
        }
        self.shape = self.shape.list();
        self.typename = listed(&self.typename);
        self
    }

    /// The number of a counter that is a branch.
    pub(crate) fn counter(&mut self, branch: usize) -> usize {
        self.counters.iter().position(|&known| known == branch).unwrap_or_else(|| {
            self.counters.push(branch);
            self.slots = self.slots.max(self.counters.len());
            self.counters.len() - 1
        })
    }
}

/// The name of a list of these: the dimension that varies comes before those that do not.
fn listed(name: &str) -> String {
    match name.split_once('[') {
        Some((name, dims)) => format!("{name}[][{dims}"),
        None => format!("{name}[]"),
    }
}

/// The type of a member as uproot spells it.
fn spelled(shape: &Shape, e: &StreamerElement) -> String {
    let mut item = shape;
    let mut dims = String::new();
    while let Shape::Fixed(n, inner) = item {
        dims += &format!("[{n}]");
        item = inner;
    }
    match item {
        Shape::Number(number) => number.cpp().to_owned() + &dims,
        _ if e.array_length > 0 => TypeName::parse(&e.type_name).spelled() + &dims,
        _ => TypeName::parse(&e.type_name).spelled(),
    }
}

/// The plan of a branch.
pub(super) fn plan(tree: &Tree, index: usize, infos: &StreamerInfos, contents: &Contents) -> Result<Plan, Why> {
    let branch = tree.branches.get(index).ok_or("no such branch")?;
    match &branch.kind {
        BranchKind::Plain => plain::plan(tree, branch),
        BranchKind::Element(element) => of_element(tree, branch, element, Classes::new(infos, contents)),
        BranchKind::Object { class_name } => of_object(class_name, Classes::new(infos, contents)),
        BranchKind::Ref { .. } => Err("a table of references".to_owned()),
        BranchKind::Clones(_) => Err("a collection of ROOT 2".to_owned()),
    }
}

/// A `TBranchObject` writes its class's name before each object (`TLeafObject::FillBasket`).
fn of_object(class: &str, mut classes: Classes<'_>) -> Result<Plan, Why> {
    let (shape, op) = classes.class(class)?;
    let op = Op::Named { class: class.to_owned(), object: Box::new(op) };
    Ok(finished(classes, (shape, op), class.to_owned()))
}

/// The member that a branch is for.
fn member<'i>(branch: &Branch, element: &Element, info: &'i StreamerInfo) -> Option<&'i StreamerElement> {
    let last = branch.name().trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let name = last.split('[').next().unwrap_or_default();
    let by_id = usize::try_from(element.element_id).ok().and_then(|id| info.elements.get(id));
    by_id.filter(|e| e.name == name).or_else(|| info.elements.iter().find(|e| e.name == name)).or(by_id)
}

fn of_element(tree: &Tree, branch: &Branch, element: &Element, mut classes: Classes<'_>) -> Result<Plan, Why> {
    let number = |number: Number| Plan::new((Shape::Number(number), Op::Number(number)), number.cpp().to_owned());
    let layout = (i32::from(element.class_version), element.checksum);
    let in_collection = matches!(element.element_type, 31 | 41);
    match element.element_type {
        // The number of objects of a split collection.
        3 | 4 => {
            let info = classes.info(&element.class_name, Some(layout));
            let e = info.as_ref().filter(|_| element.element_id >= 0).and_then(|info| member(branch, element, info));
            let typename = e.map_or_else(|| element.class_name.clone(), |e| e.type_name.clone());
            return Ok(Plan { typename, ..number(Number::I32) });
        }
        1 | 2 => return Err("a class without members".to_owned()),
        _ => {}
    }
    if element.element_id < 0 {
        return whole(classes, element);
    }
    let Some(info) = classes.info(&element.class_name, Some(layout)) else {
        let basic = basic(element.streamer_type).filter(|_| !in_collection);
        return basic.map(number).ok_or_else(|| format!("{} is not described in the file", element.class_name));
    };
    let e = member(branch, element, &info);
    let e = e.ok_or_else(|| format!("{} has no such member", element.class_name))?;
    if e.type_code == code::STREAM_LOOP || super::element::packed_or_basic(e.type_code - code::OFFSET_P, e).is_some() {
        return counted(classes, tree, branch, element, e);
    }
    let table = e.type_code == code::STREAM_LOOP + code::OFFSET_L;
    let typed = if table && !in_collection { classes.tables(e, None)? } else { classes.member(&info, e)? };
    let name = spelled(&typed.0, e);
    let plan = finished(classes, typed, name);
    Ok(if in_collection { plan.items(false) } else { plan })
}

/// An array that another member counts: in a frame if of objects, else with a byte before it.
fn counted(
    mut classes: Classes<'_>,
    tree: &Tree,
    branch: &Branch,
    element: &Element,
    e: &StreamerElement,
) -> Result<Plan, Why> {
    let framed = e.type_code == code::STREAM_LOOP;
    let typed = match super::element::packed_or_basic(e.type_code - code::OFFSET_P, e) {
        Some(typed) => typed,
        None => classes.looped(e)?,
    };
    let name = match &typed.0 {
        Shape::Number(number) => number.cpp().to_owned(),
        _ => TypeName::parse(&e.type_name).spelled(),
    };
    let mut plan = finished(classes, typed, name);
    if !matches!(element.element_type, 31 | 41) {
        if framed {
            plan.op = Op::Framed(Box::new(plan.op));
        }
        return Ok(plan.items(!framed));
    }
    let by_id = |id: Option<usize>| id.and_then(|id| tree.branches.iter().position(|b| b.id == id));
    // Trees of ROOT 4 do not say which branch counts: it is the one of the counting member, beside this one.
    let beside = || match &e.kind {
        ElementKind::Counted { name, .. } => tree.branches.iter().position(|other| {
            other.parent == branch.parent && other.name().rsplit('.').next().is_some_and(|last| last == name)
        }),
        _ => None,
    };
    let (objects, counts) = by_id(element.branch_count)
        .or(branch.parent)
        .zip(by_id(element.branch_count2).or_else(beside))
        .ok_or("an array in a collection, whose counter is not there")?;
    if plan.slots > 0 {
        return Err("an array in a collection, of objects that have such themselves".to_owned());
    }
    let objects = plan.counter(objects);
    let counter = plan.counter(counts);
    let item = Op::Counted { counter, flag: !framed, item: Box::new(plan.op) };
    plan.op = Op::Objects { objects, counter, framed, item: Box::new(item) };
    plan.shape = plan.shape.list().list();
    plan.layout = Layout::Each;
    plan.typename = listed(&listed(&plan.typename));
    Ok(plan)
}

/// A branch of whole objects: as the class's streamer writes them, containers with a frame.
fn whole(mut classes: Classes<'_>, element: &Element) -> Result<Plan, Why> {
    let class = element.class_name.as_str();
    let name = TypeName::parse(class);
    let layout = (i32::from(element.class_version), element.checksum);
    // A string has no frame, other than as a member.
    let typed = if name.text == "string" {
        (Shape::Text, Op::Text)
    } else if classes.is_plain(class) {
        let (shape, op) = classes.object(class, Some(layout))?;
        match op {
            Op::Object(reader) => {
                // Of type -1 are branches whose class has a streamer (TBranchElement::SetFillLeavesPtr).
                let (framed, (version, checksum)) = (element.element_type < 0, layout);
                (shape, Op::Whole { reader, version, checksum, framed })
            }
            op => (shape, op),
        }
    } else {
        classes.class(class)?
    };
    Ok(finished(classes, typed, name.spelled()))
}

fn finished(classes: Classes<'_>, typed: Typed, typename: String) -> Plan {
    let mut plan = Plan::new(typed, typename);
    plan.slots = classes.slots();
    plan.pointers = classes.pointers;
    plan.places = classes.places;
    plan.readers = classes.readers;
    plan
}

/// The number that a basic type code stands for.
pub(crate) fn basic(type_code: i32) -> Option<Number> {
    Some(match type_code {
        code::CHAR => Number::I8,
        code::SHORT => Number::I16,
        code::INT => Number::I32,
        code::LONG | code::LONG64 => Number::I64,
        code::FLOAT => Number::F32,
        code::DOUBLE => Number::F64,
        code::UCHAR | code::LEGACY_CHAR => Number::U8,
        code::USHORT => Number::U16,
        // Counters cannot be negative; uproot has them without a sign, too.
        code::UINT | code::BITS | code::COUNTER => Number::U32,
        code::ULONG | code::ULONG64 => Number::U64,
        code::BOOL => Number::Bool,
        _ => return None,
    })
}
