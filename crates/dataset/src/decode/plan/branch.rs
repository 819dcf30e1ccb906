//! Plans a branch: the shape of its values, how entries hold them, and which other branches are their counters.

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos, code};

use super::class::Classes;
use super::leaves;
use super::member::{dimensions, packed_or_basic};
use crate::decode::program::learned::LearnedClasses;
use crate::decode::program::model::{EntryLayout, Program, Typed, listed};
use crate::decode::program::op::Op;
use crate::decode::program::types::{Number, Reason, Shape};
use crate::tree::model::{Branch, BranchKind, Element, Tree};
use crate::type_name::TypeName;

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

/// The program of a branch, or why the branch cannot be decoded.
pub(in crate::decode) fn plan(
    tree: &Tree,
    index: usize,
    infos: &StreamerInfos,
    contents: &LearnedClasses,
    keeps_tobjects: bool,
) -> Result<Program, Reason> {
    let classes = || {
        let mut classes = Classes::new(infos, contents);
        classes.keeps_tobjects = keeps_tobjects;
        classes
    };
    let branch = tree.branches.get(index).ok_or("no such branch")?;
    match &branch.kind {
        BranchKind::Plain => leaves::plan(tree, branch),
        BranchKind::Element(element) => of_element(tree, branch, element, classes()),
        BranchKind::Object { class_name } => of_object(class_name, classes()),
        BranchKind::Ref { .. } => Err("a table of references".to_owned()),
        BranchKind::Clones(_) => Err("a collection of ROOT 2".to_owned()),
    }
}

/// A `TBranchObject` writes its class's name before each object (`TLeafObject::FillBasket`).
fn of_object(class: &str, mut classes: Classes<'_>) -> Result<Program, Reason> {
    let (shape, op) = classes.class(class)?;
    let op = Op::NamedObject { class: class.to_owned(), object: Box::new(op) };
    Ok(make_program(classes, (shape, op), class.to_owned()))
}

/// The member that a branch is for.
fn member<'i>(branch: &Branch, element: &Element, info: &'i StreamerInfo) -> Option<&'i StreamerElement> {
    let last = branch.name().trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let name = last.split('[').next().unwrap_or_default();
    let by_id = usize::try_from(element.element_id).ok().and_then(|id| info.elements.get(id));
    by_id.filter(|e| e.name == name).or_else(|| info.elements.iter().find(|e| e.name == name)).or(by_id)
}

fn of_element(tree: &Tree, branch: &Branch, element: &Element, mut classes: Classes<'_>) -> Result<Program, Reason> {
    let number = |number: Number| Program::new((Shape::Number(number), Op::Number(number)), number.cpp().to_owned());
    let layout = (i32::from(element.class_version), element.checksum);
    let in_collection = matches!(element.element_type, 31 | 41);
    match element.element_type {
        // The number of objects of a split collection.
        3 | 4 => {
            let info = classes.info(&element.class_name, Some(layout));
            let e = info.as_ref().filter(|_| element.element_id >= 0).and_then(|info| member(branch, element, info));
            let typename = e.map_or_else(|| element.class_name.clone(), |e| e.type_name.clone());
            return Ok(Program { typename, ..number(Number::I32) });
        }
        1 | 2 => return Err("a class without members".to_owned()),
        _ => {}
    }
    if element.element_id < 0 {
        // Branches whose class has a custom streamer have type -1 (TBranchElement::SetFillLeavesPtr).
        return unsplit(classes, &element.class_name, layout, element.element_type < 0);
    }
    let Some(info) = classes.info(&element.class_name, Some(layout)) else {
        let basic = Number::of_type_code(element.streamer_type).filter(|_| !in_collection);
        return basic.map(number).ok_or_else(|| format!("{} is not described in the file", element.class_name));
    };
    let e = member(branch, element, &info);
    let e = e.ok_or_else(|| format!("{} has no such member", element.class_name))?;
    let table = e.type_code == code::STREAM_LOOP + code::OFFSET_L;
    let is_counted = e.type_code == code::STREAM_LOOP || packed_or_basic(e.type_code - code::OFFSET_P, e).is_some();
    if is_counted || (table && in_collection) {
        return counted(classes, tree, branch, element, e);
    }
    let typed = if table { classes.counted_arrays(e, None)? } else { classes.member(&info, e)? };
    let name = spelled(&typed.0, e);
    let program = make_program(classes, typed, name);
    Ok(if in_collection { program.items(false) } else { program })
}

/// An array that another member counts: objects have a frame around them, numbers a byte before them.
fn counted(
    mut classes: Classes<'_>,
    tree: &Tree,
    branch: &Branch,
    element: &Element,
    e: &StreamerElement,
) -> Result<Program, Reason> {
    let table = e.type_code == code::STREAM_LOOP + code::OFFSET_L;
    let framed = table || e.type_code == code::STREAM_LOOP;
    let typed = match packed_or_basic(e.type_code - code::OFFSET_P, e) {
        Some(typed) => typed,
        None => classes.looped(e)?,
    };
    let name = match &typed.0 {
        Shape::Number(number) => number.cpp().to_owned(),
        _ => TypeName::parse(&e.type_name).spelled(),
    };
    let mut program = make_program(classes, typed, name);
    if !matches!(element.element_type, 31 | 41) {
        if framed {
            program.op = Op::Framed(Box::new(program.op));
        }
        return Ok(program.items(!framed));
    }
    let by_id = |id: Option<usize>| id.and_then(|id| tree.branches.iter().position(|b| b.id == id));
    // Trees of ROOT 4 do not record the counter's branch: it is the sibling branch of the counting member.
    let sibling = || match &e.kind {
        ElementKind::Counted { name, .. } => tree.branches.iter().position(|other| {
            other.parent == branch.parent && other.name().rsplit('.').next().is_some_and(|last| last == name)
        }),
        _ => None,
    };
    let (objects, counts) = by_id(element.branch_count)
        .or(branch.parent)
        .zip(by_id(element.branch_count2).or_else(sibling))
        .ok_or("an array in a collection without its counter")?;
    if program.slots > 0 {
        return Err("counted arrays inside of counted arrays in a collection".to_owned());
    }
    let objects = program.counter(objects);
    let counter = program.counter(counts);
    let item = Box::new(program.op);
    let dims = if table { dimensions(e) } else { Vec::new() };
    let op = match dims.iter().product() {
        arrays if table => Op::CountedArrays { arrays, counter: Some(counter), item },
        _ => Op::Counted { counter, flag: !framed, item },
    };
    program.op = Op::CountedPerObject { objects, counter, framed, item: Box::new(op) };
    program.shape = program.shape.list().fixed(&dims).list();
    program.layout = EntryLayout::Each;
    let sizes: String = dims.iter().map(|size| format!("[{size}]")).collect();
    program.typename = listed(&format!("{}{sizes}[]", program.typename));
    Ok(program)
}

/// Objects of a class, each as the class's streamer writes it into a buffer of its own: as in an unsplit branch.
pub(crate) fn streamed(class: &str, layout: (i32, u32), infos: &StreamerInfos) -> Result<Program, Reason> {
    let program = unsplit(Classes::new(infos, &LearnedClasses::default()), class, layout, true)?;
    match program.shape {
        Shape::Bytes => Err(format!("{class} holds objects of a class that only its bytes name")),
        _ => Ok(program),
    }
}

/// An object of a class as its streamer writes it; a container has no frame.
pub(in crate::decode) fn unframed(class: &str, infos: &StreamerInfos) -> Result<Program, Reason> {
    let learned = LearnedClasses::default();
    let mut classes = Classes::new(infos, &learned);
    let typed = classes.by_value(class)?;
    Ok(make_program(classes, typed, class.to_owned()))
}

/// A member of an object, as it lies among the object's members.
pub(in crate::decode) fn of_member(
    info: &StreamerInfo,
    element: &StreamerElement,
    infos: &StreamerInfos,
) -> Result<Program, Reason> {
    let learned = LearnedClasses::default();
    let mut classes = Classes::new(infos, &learned);
    let typed = classes.member(info, element)?;
    let name = spelled(&typed.0, element);
    Ok(make_program(classes, typed, name))
}

/// An unsplit branch: objects as the class's streamer writes them, containers with a frame.
fn unsplit(mut classes: Classes<'_>, class: &str, layout: (i32, u32), framed: bool) -> Result<Program, Reason> {
    let name = TypeName::parse(class);
    // A string has a frame only as a member.
    let typed = if name.text == "string" {
        (Shape::Text, Op::TString)
    } else if classes.is_plain(class) {
        let (shape, op) = classes.object(class, Some(layout))?;
        match op {
            Op::Object(reader) => {
                let (version, checksum) = layout;
                (shape, Op::UnsplitObject { reader, version, checksum, framed })
            }
            op => (shape, op),
        }
    } else {
        classes.class(class)?
    };
    Ok(make_program(classes, typed, name.spelled()))
}

fn make_program(classes: Classes<'_>, typed: Typed, typename: String) -> Program {
    let mut program = Program::new(typed, typename);
    program.slots = classes.slots();
    program.pointers = classes.pointers;
    program.arrays = classes.arrays;
    program.readers = classes.readers;
    program
}
