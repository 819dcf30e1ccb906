//! Makes streamer infos from class declarations, as ROOT 6.40 makes them from a dictionary.
//!
//! A [`ClassDescription`] has a version, bases, and members with C++ types and comments. [`parse()`] reads descriptions
//! from C++ without functions; [`describe`] makes infos of them. Members that ROOT would leave out with a warning are
//! errors.

mod basic;
mod checksum;
mod classes;
mod container;
mod cpp_type;
mod description;
mod implied;
mod member;
mod parse;

pub use checksum::checksum;
pub use description::{ClassDescription, Member};
pub use parse::parse;

use std::collections::HashSet;

use super::{ElementKind, FORM, StreamerElement, StreamerInfo, StreamerInfos, code};
use crate::{Error, Result};
use classes::Classes;
use container::Container;
use cpp_type::{Core, CppType};

/// The streamer infos of the classes, in their order, followed by those of the pairs and other standard classes that they
/// hold. Classes that they use are looked up among themselves, in `known`, and among the built-in infos.
///
/// # Errors
///
/// If a class is declared twice or unknown, or if ROOT would leave out a member.
pub fn describe(classes: &[ClassDescription], known: &StreamerInfos) -> Result<Vec<StreamerInfo>> {
    let world = Classes::new(classes, known)?;
    let mut infos = Vec::with_capacity(classes.len());
    let mut contained = Vec::new();
    for class in classes {
        infos.push(info(class, &world, &mut contained)?);
    }
    add_contained(&mut infos, contained, &world)?;
    mark_counters(&mut infos);
    Ok(infos)
}

/// The streamer infos of the pairs and other standard classes that values of a type hold, without those that `known` has.
///
/// # Errors
///
/// If the type cannot be parsed, or if a class in it is unknown.
pub fn describe_contained(type_name: &str, known: &StreamerInfos) -> Result<Vec<StreamerInfo>> {
    let world = Classes::new(&[], known)?;
    let (mut infos, mut contained) = (Vec::new(), Vec::new());
    implied::collect(&CppType::parse(type_name)?, false, &mut contained);
    add_contained(&mut infos, contained, &world)?;
    infos.retain(|info| known.latest(&info.name).is_none());
    Ok(infos)
}

/// Adds the infos of standard classes, and of the standard classes inside them.
fn add_contained(infos: &mut Vec<StreamerInfo>, mut contained: Vec<Core>, world: &Classes<'_>) -> Result<()> {
    let mut done: HashSet<String> = infos.iter().map(|info| info.name.clone()).collect();
    let mut next = 0;
    while let Some(core) = contained.get(next).cloned() {
        next += 1;
        if let Some(class) = implied::class(&core).filter(|class| done.insert(class.name.clone())) {
            infos.push(info(&class, world, &mut contained)?);
        }
    }
    Ok(())
}

/// The info of one class. Adds to `held` the standard classes it uses.
fn info(class: &ClassDescription, world: &Classes<'_>, contained: &mut Vec<Core>) -> Result<StreamerInfo> {
    let name = classes::spelled(&class.name)?;
    let facts = world.facts(&name)?;
    let mut elements = Vec::new();
    for base in &class.bases {
        let ty = world.resolved(base, &name)?;
        implied::collect(&ty, false, contained);
        elements.push(base_element(&ty, world).map_err(|e| e.object(&name))?);
    }
    let mut names = HashSet::new();
    for member in &class.members {
        let full = || format!("{name}::{}", member.name);
        if !names.insert(member.name.as_str()) {
            return Err(Error::request("declared twice").object(full()));
        }
        // ROOT leaves out the members of a class of version 0.
        if member.is_transient() || class.version == Some(0) {
            continue;
        }
        implied::collect(&world.resolved(&member.cpp_type, &name)?, true, contained);
        elements.push(member::element(member, &name, class, world).map_err(|e| e.object(full()))?);
    }
    let version = class.version.map_or(1, i32::from);
    Ok(StreamerInfo { name, title: String::new(), version, checksum: facts.checksum, bits: 0, form: FORM, elements })
}

fn base_element(ty: &CppType, world: &Classes<'_>) -> Result<StreamerElement> {
    let name = ty.name();
    let mut e = StreamerElement::new("TStreamerBase", &name, "BASE", code::BASE);
    if container::is_string(&ty.core) {
        e.class = "TStreamerSTLstring".into();
        (e.type_code, e.type_name) = (code::STREAMER, name);
        e.kind = ElementKind::Stl { stl_type: container::STRING, content_type: container::STRING };
    } else if let Some(container) = Container::of(&ty.core) {
        e.class = "TStreamerSTL".into();
        (e.type_code, e.type_name) = (code::STREAMER, name);
        e.kind = member::stl(&container, false)?;
    } else {
        let facts = world.facts(&name)?;
        e.type_code = match name.as_str() {
            "TObject" => code::TOBJECT,
            "TNamed" => code::TNAMED,
            _ => code::BASE,
        };
        e.title = facts.title;
        // The base's checksum is stored among the dimensions (`TStreamerBase::fBaseCheckSum`).
        e.max_index[1] = facts.checksum.cast_signed();
        e.kind = ElementKind::Base { version: facts.version };
    }
    Ok(e)
}

/// A signed int that counts an array, here or in a derived class, has a code of its own (`TVirtualStreamerInfo::kCounter`).
fn mark_counters(infos: &mut [StreamerInfo]) {
    let counters: HashSet<(String, String)> = infos
        .iter()
        .flat_map(|info| &info.elements)
        .filter_map(|e| match &e.kind {
            ElementKind::Counted { class, name, .. } => Some((class.clone(), name.clone())),
            _ => None,
        })
        .collect();
    for info in infos {
        for e in &mut info.elements {
            if e.type_code == code::INT && counters.contains(&(info.name.clone(), e.name.clone())) {
                e.type_code = code::COUNTER;
            }
        }
    }
}

#[cfg(test)]
mod tests;
