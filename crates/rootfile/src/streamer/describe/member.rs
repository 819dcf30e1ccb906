//! One member of a class as an element of its streamer info, as ROOT's dictionary would have made it.
//!
//! Facts: `TStreamerInfo::Build` chooses the `TStreamerElement` and its type code. Where memory and file differ, the
//! code is that of the file: containers always have 500 (`kStreamer`).

use super::super::{ElementKind, HAS_RANGE, Range, StreamerElement, code};
use super::checksum::counter;
use super::classes::Classes;
use super::container::{self, Container};
use super::cpp_type::{Argument, Core, CppType, MAX_DIMENSIONS};
use super::{ClassDescription, Member};
use crate::{Error, Result};

/// `TVirtualStreamerInfo::kObject` and `kObjectp`, as the content of a container.
const OF_OBJECTS: i32 = 61;
const OF_POINTERS: i32 = 63;

/// The counting member, its class, and the version of that class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub name: String,
    pub class: String,
    pub version: i32,
}

/// The element of a member. `class` is the class's name as ROOT spells it.
pub(super) fn element(
    member: &Member,
    class: &str,
    description: &ClassDescription,
    classes: &Classes<'_>,
) -> Result<StreamerElement> {
    let declared = classes.resolved(&member.cpp_type, class)?;
    let ty = written(&declared);
    if ty.dimensions.len() > MAX_DIMENSIONS {
        return Err(Error::unsupported("more than five dimensions"));
    }
    let pointer = ty.stars > 0;
    let counter = match counter(&member.comment).filter(|_| pointer && !is_collection(&ty.core)) {
        Some(name) => Some(find_counter(name, member, class, description, classes)?),
        None => None,
    };
    let one = classes.layout(&ty)?.size;
    let mut e = plain(member, &ty)?;
    let array = !ty.dimensions.is_empty();
    let number: i32 = e.array_length.max(1);
    let mut size = one;
    match &ty.core {
        Core::Basic(_) | Core::Enum(..) => size = basic(&mut e, &ty, counter, class, one)?,
        core if container::is_string(core) => {
            e.class = "TStreamerSTLstring".into();
            e.type_code = code::STREAMER;
            e.kind = ElementKind::Stl { stl_type: container::STRING, content_type: container::STRING };
        }
        core if let Some(container) = Container::of(core) => {
            e.class = "TStreamerSTL".into();
            e.type_code = code::STREAMER;
            e.kind = stl(&container, pointer)?;
        }
        core => {
            let is_tobject = core.name() != "TString" && classes.facts(&core.name())?.is_tobject;
            let inline = member.comment.starts_with("->");
            let (element, type_code) = match (&counter, pointer, is_tobject) {
                (Some(_), ..) => ("TStreamerLoop", code::STREAM_LOOP),
                (None, true, true) if inline => ("TStreamerObjectPointer", code::OBJECT_P_INLINE),
                (None, true, true) => ("TStreamerObjectPointer", code::OBJECT_P),
                (None, true, false) if inline => ("TStreamerObjectAnyPointer", code::ANY_P_INLINE),
                (None, true, false) => ("TStreamerObjectAnyPointer", code::ANY_P),
                (None, false, true) => ("TStreamerObject", object_code(core)),
                (None, false, false) if core.name() == "TString" => ("TStreamerString", code::TSTRING),
                (None, false, false) => ("TStreamerObjectAny", code::ANY),
            };
            e.class = element.into();
            e.type_code = type_code + if array && (!pointer || counter.is_some()) { code::OFFSET_L } else { 0 };
            e.kind = counter.map_or(ElementKind::Plain, counted);
        }
    }
    let size = i32::try_from(size).ok().and_then(|size| size.checked_mul(number));
    e.size = size.ok_or_else(|| Error::request("the member is too large"))?;
    Ok(e)
}

/// The type that is written for a declared type: the items of a `std::array`, the target of a `std::unique_ptr`.
fn written(declared: &CppType) -> CppType {
    let mut ty = without_unique_ptr(declared);
    // As in ROOT, an array of arrays keeps only the inner dimensions.
    let mut dimensions = Vec::new();
    while let Some([Argument::Type(of), Argument::Number(n)]) = container::arguments_of(&ty.core.clone(), "array") {
        if ty.stars > 0 {
            break;
        }
        dimensions.push(i32::try_from(*n).unwrap_or(i32::MAX));
        ty = CppType { dimensions: dimensions.clone(), ..of.clone() };
    }
    ty
}

/// A `std::unique_ptr` is a pointer in a file, also inside a container.
fn without_unique_ptr(declared: &CppType) -> CppType {
    let mut ty = declared.clone();
    if let Core::Named { arguments, .. } = &mut ty.core {
        for argument in arguments {
            if let Argument::Type(ty) = argument {
                *ty = without_unique_ptr(ty);
            }
        }
    }
    match container::arguments_of(&ty.core, "unique_ptr") {
        Some([Argument::Type(of)]) => {
            CppType { stars: of.stars + ty.stars + 1, dimensions: ty.dimensions.clone(), ..of.clone() }
        }
        _ => ty,
    }
}

fn object_code(core: &Core) -> i32 {
    match core.name().as_str() {
        "TObject" => code::TOBJECT,
        "TNamed" => code::TNAMED,
        _ => code::OBJECT,
    }
}

fn is_collection(core: &Core) -> bool {
    container::is_string(core) || Container::of(core).is_some()
}

fn plain(member: &Member, ty: &CppType) -> Result<StreamerElement> {
    let mut max_index = [0; MAX_DIMENSIONS];
    let mut array_length = i32::from(!ty.dimensions.is_empty());
    for (slot, n) in max_index.iter_mut().zip(&ty.dimensions) {
        *slot = *n;
        array_length = array_length
            .checked_mul(*n)
            .filter(|length| *length > 0)
            .ok_or_else(|| Error::request("an array must have between 1 and 2^31 - 1 items"))?;
    }
    Ok(StreamerElement {
        title: member.comment.clone(),
        array_length,
        array_dim: i32::try_from(ty.dimensions.len()).unwrap_or(0),
        max_index,
        ..StreamerElement::new("", &member.name, &ty.name(), 0)
    })
}

/// Completes the element of a number, an enum or an array of them. Returns the size of one value.
fn basic(e: &mut StreamerElement, ty: &CppType, counter: Option<Counter>, class: &str, one: usize) -> Result<usize> {
    let (type_code, size) = match &ty.core {
        Core::Basic(basic) if class == "TObject" && e.name == "fBits" => (code::BITS, basic.size),
        Core::Basic(basic) => (basic.code, basic.size),
        // An enum is written as an int, whatever its underlying type.
        _ => (code::INT, one),
    };
    if matches!(type_code, code::DOUBLE32 | code::FLOAT16) && ty.stars < 2 && ty.qualifier.is_none() {
        e.bits = if Range::of_title(&e.title).is_some_and(|range| range.is_marked()) { HAS_RANGE } else { 0 };
    }
    let offset = if ty.dimensions.is_empty() { 0 } else { code::OFFSET_L };
    e.class = "TStreamerBasicType".into();
    e.type_code = type_code + offset;
    match (ty.stars, counter) {
        (0, _) => Ok(size),
        (_, Some(counter)) => {
            e.class = "TStreamerBasicPointer".into();
            e.type_code = type_code + code::OFFSET_P;
            e.kind = counted(counter);
            // ROOT writes the size of an item here.
            Ok(size)
        }
        (1, None) if e.type_name.ends_with("char*") && !e.type_name.ends_with("signed char*") => {
            e.type_code = code::CHAR_STAR + offset;
            Ok(one)
        }
        _ => Err(Error::request("an array of numbers needs a member that counts it: a comment such as //[fN]")),
    }
}

fn counted(counter: Counter) -> ElementKind {
    ElementKind::Counted { version: counter.version, name: counter.name, class: counter.class }
}

pub(super) fn stl(container: &Container<'_>, pointer: bool) -> Result<ElementKind> {
    let content_type = if container.stl_type == container::BITSET {
        0
    } else if container.is_map() {
        OF_OBJECTS
    } else {
        let value = container.value().ok_or_else(|| Error::request("a container of no type"))?;
        let number = match &value.core {
            Core::Basic(basic) => Some(basic.code),
            // The underlying type of an enum is unsigned unless it has negative values.
            Core::Enum(_, of) => Some(of.map_or(code::UINT, |of| of.code)),
            Core::Named { .. } => None,
        };
        let pointers = value.stars > 0;
        match number {
            Some(number) if pointers => number + code::OFFSET_P,
            Some(number) => number,
            None if pointers => OF_POINTERS,
            None => OF_OBJECTS,
        }
    };
    let stl_type = container.stl_type + if pointer { code::OFFSET_P } else { 0 };
    Ok(ElementKind::Stl { stl_type, content_type })
}

/// The member that counts an array: an earlier member of the class, or a member of a base.
fn find_counter(
    name: &str,
    member: &Member,
    class: &str,
    description: &ClassDescription,
    classes: &Classes<'_>,
) -> Result<Counter> {
    let before = description.members.iter().take_while(|m| m.name != member.name);
    if let Some(counter) = before.into_iter().find(|m| m.name == name && !m.is_transient()) {
        let ty = classes.resolved(&counter.cpp_type, class)?;
        let is_int = matches!(ty.core, Core::Basic(b) if matches!(b.code, code::INT | code::UINT)) && ty.stars == 0;
        return if is_int && ty.dimensions.is_empty() {
            let version = description.version.map_or(-1, i32::from);
            Ok(Counter { name: name.to_owned(), class: class.to_owned(), version })
        } else {
            Err(Error::request(format!("{name} counts, so it must be an int")))
        };
    }
    let found = description
        .bases
        .iter()
        .find_map(|base| in_base(name, &classes.resolved(base, class).ok()?.name(), classes, 0));
    found.ok_or_else(|| {
        Error::request(format!("the counter {name} must be an earlier member of the class or of its bases"))
    })
}

fn in_base(name: &str, base: &str, classes: &Classes<'_>, depth: usize) -> Option<Counter> {
    if depth > 32 {
        return None;
    }
    let here =
        || Some(Counter { name: name.to_owned(), class: base.to_owned(), version: classes.facts(base).ok()?.version });
    if let Some(description) = classes.described(base) {
        let is_int = |m: &Member| {
            classes.resolved(&m.cpp_type, base).is_ok_and(|ty| {
                ty.stars == 0 && matches!(ty.core, Core::Basic(b) if matches!(b.code, code::INT | code::UINT))
            })
        };
        if description.members.iter().any(|m| m.name == name && !m.is_transient() && is_int(m)) {
            return here();
        }
        let up = |b: &String| in_base(name, &classes.resolved(b, base).ok()?.name(), classes, depth + 1);
        return description.bases.iter().find_map(up);
    }
    let info = classes.info(base)?;
    let is_int = |code: i32| matches!(code, code::INT | code::UINT | code::COUNTER);
    if info.elements.iter().any(|e| e.name == name && is_int(e.type_code)) {
        return here();
    }
    let bases = info.elements.iter().filter(|e| matches!(e.kind, ElementKind::Base { .. }));
    bases.into_iter().find_map(|e| in_base(name, &e.name, classes, depth + 1))
}
