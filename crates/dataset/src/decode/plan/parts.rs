//! The members and bases of a class and their classes, in the order and by the rules of [`class`](super::class), for code
//! that assembles records from branches or splits them. The bytes are not described here.

use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfos, code};

use super::class::Classes;
pub(crate) use super::class::{is_base, is_stored};
pub(crate) use super::member::dimensions as element_dimensions;
use crate::decode::program::learned::LearnedClasses;
use crate::decode::program::types::PAIR_PARTS;
use crate::type_name::{ContainerKind, TypeName};

/// Version and checksum of a class.
pub(crate) type ClassLayout = Option<(i32, u32)>;

/// A member or base of a class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The member's name, or the base's class.
    pub name: String,
    /// Its number in the info.
    pub id: usize,
    pub kind: PartKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartKind {
    /// The `TObject` base, which has no part in the record.
    TObject,
    /// A base, whose members are the record's own.
    Base(ClassLayout),
    /// A member: its class if it is one object, and whether it may be null (a pointer).
    Member { object: Option<String>, optional: bool },
}

/// Pointers that may be null.
const POINTERS: [i32; 3] = [code::OBJECT_P, code::ANY_P, code::ANY_P_NO_VT];

/// A class by its info.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassParts {
    /// Its name in the info.
    pub name: String,
    pub parts: Vec<Part>,
}

/// The members of a class, by the info of this version or else the newest; None if it is not described.
pub(crate) fn parts_of(infos: &StreamerInfos, class: &str, layout: ClassLayout) -> Option<ClassParts> {
    let learned = LearnedClasses::default();
    let classes = Classes::new(infos, &learned);
    let Some(info) = classes.info(class, layout) else {
        return pair(class);
    };
    let part = |(id, e): (usize, &StreamerElement)| {
        let kind = if is_base(e) && e.name == "TObject" {
            PartKind::TObject
        } else if is_base(e) && classes.special(&e.name).is_none() {
            PartKind::Base(match e.kind {
                // The second dimension of a base is its checksum (see docs/format).
                ElementKind::Base { version } => Some((version, e.max_index[1].cast_unsigned())),
                _ => None,
            })
        } else if is_base(e) {
            PartKind::Member { object: Some(e.name.clone()), optional: false }
        } else {
            PartKind::Member { object: one_object(e), optional: POINTERS.contains(&e.type_code) }
        };
        Part { name: e.name.clone(), id, kind }
    };
    let parts = info.elements.iter().enumerate().filter(|(_, e)| is_stored(e)).map(part).collect();
    Some(ClassParts { name: info.name.clone(), parts })
}

/// A pair needs no info (see [`Classes::pair`]).
fn pair(class: &str) -> Option<ClassParts> {
    let name = TypeName::parse(class);
    let [first, second] = name.args.as_slice() else { return None };
    let part = |id: usize, member: &str, arg: &str| {
        let arg = TypeName::parse(arg);
        let simple = arg.pointer || arg.number().is_some() || arg.container().is_some();
        Part {
            name: member.to_owned(),
            id,
            kind: PartKind::Member { object: (!simple).then(|| arg.text.to_owned()), optional: false },
        }
    };
    let parts = vec![part(0, PAIR_PARTS[0], first), part(1, PAIR_PARTS[1], second)];
    (name.template == "pair").then(|| ClassParts { name: class.to_owned(), parts })
}

/// The class of a member that is one object, by value or behind a pointer.
fn one_object(e: &StreamerElement) -> Option<String> {
    let values = [code::OBJECT, code::ANY, code::OBJECT_P_INLINE, code::ANY_P_INLINE, code::TOBJECT, code::TNAMED];
    let one = values.contains(&e.type_code) || POINTERS.contains(&e.type_code);
    one.then(|| TypeName::parse(&e.type_name).text.to_owned())
}

/// The items of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Items {
    /// Whether the container is a map: its items are keys and values.
    pub map: bool,
    /// Whether the items are pointers that decode to objects or nulls.
    pub optional: bool,
    /// The items' class, where the container's name says it.
    pub class: Option<String>,
}

/// What the items of a container are, by the name of its type.
pub(crate) fn items_of(infos: &StreamerInfos, container: &str) -> Items {
    let name = TypeName::parse(container);
    match (name.container(), name.args.as_slice()) {
        (Some(ContainerKind::Map), [key, value, ..]) => {
            Items { map: true, optional: false, class: Some(format!("pair<{key},{value}>")) }
        }
        (Some(ContainerKind::List), [item, ..]) => {
            let item = TypeName::parse(item);
            let learned = LearnedClasses::default();
            // As for a pointer member.
            let optional = item.pointer && !Classes::new(infos, &learned).has_derived(item.text);
            Items { map: false, optional, class: Some(item.text.to_owned()) }
        }
        _ => Items::default(),
    }
}

/// The name of a type as columns have it in their metadata.
pub(crate) fn spelled(type_name: &str) -> String {
    TypeName::parse(type_name).spelled()
}

/// Whether two names of a class are the same but for spaces and `std::`.
pub(crate) fn same_class(a: &str, b: &str) -> bool {
    let squeezed = |name: &str| name.replace("std::", "").replace(' ', "");
    a == b || squeezed(a) == squeezed(b)
}

/// The type of a member of a class, by its number.
pub(crate) fn type_of(infos: &StreamerInfos, class: &str, layout: ClassLayout, id: usize) -> Option<String> {
    let learned = LearnedClasses::default();
    let info = Classes::new(infos, &learned).info(class, layout)?;
    info.elements.get(id).map(|e| TypeName::parse(&e.type_name).text.to_owned())
}
