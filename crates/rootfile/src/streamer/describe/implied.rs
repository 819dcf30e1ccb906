//! Descriptions of standard classes: `std::pair`, which maps hold, `std::complex`, and `std::array` where it is not a
//! member itself.

use super::container::{Container, arguments_of};
use super::cpp_type::{Argument, Core, CppType};
use super::{ClassDescription, Member};

/// The description of a standard class.
pub(super) fn class(core: &Core) -> Option<ClassDescription> {
    let member = |name: &str, cpp_type: String, comment: &str| Member {
        name: name.to_owned(),
        cpp_type,
        comment: comment.to_owned(),
    };
    let members = if let Some([Argument::Type(first), Argument::Type(second)]) = arguments_of(core, "pair") {
        vec![
            member("first", first.source(), "The first member"),
            member("second", second.source(), "The second member"),
        ]
    } else if let Some([Argument::Type(of)]) = arguments_of(core, "complex") {
        vec![member("_real", of.source(), ""), member("_imag", of.source(), "")]
    } else if let Some([Argument::Type(of), Argument::Number(n)]) = arguments_of(core, "array") {
        vec![member("_M_elems", format!("{}[{n}]", of.source()), "")]
    } else {
        return None;
    };
    Some(ClassDescription { name: core.name(), members, ..ClassDescription::default() })
}

/// Adds the standard classes that a type holds, the innermost last.
pub(super) fn collect(ty: &CppType, is_member: bool, found: &mut Vec<Core>) {
    let core = &ty.core;
    let Core::Named { arguments, .. } = core else { return };
    if let Some(Container { .. }) = Container::of(core).filter(Container::is_map) {
        if let [Argument::Type(key), Argument::Type(value), ..] = arguments.as_slice() {
            let arguments = vec![Argument::Type(key.clone()), Argument::Type(value.clone())];
            add(Core::Named { name: "pair".to_owned(), arguments }, found);
        }
    } else if class(core).is_some() && !(is_member && arguments_of(core, "array").is_some()) {
        add(core.clone(), found);
    }
    for argument in arguments {
        if let Argument::Type(ty) = argument {
            collect(ty, false, found);
        }
    }
}

fn add(core: Core, found: &mut Vec<Core>) {
    if !found.contains(&core) {
        found.push(core);
    }
}
