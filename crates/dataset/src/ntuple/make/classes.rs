//! The fields of a class: bases and members, from its streamer info.
//!
//! Facts: `RField.cxx`, `RClassField`: bases are called `:_0`, `:_1`, ...; members keep their names; the class's checksum is
//! recorded. The version of a class without `ClassDef` is -1 (`TClass::GetClassVersion`). `RField<TObject>` has the members
//! `fUniqueID` and `fBits`.

use rootfile::streamer::{ElementKind, HAS_RANGE, Range, StreamerElement, StreamerInfo, builtin, code};

use super::maker::{Made, Maker};
use crate::decode::program::types::{Number, Reason};
use crate::ntuple::model::{Field, Role};
use crate::tree::make::is_custom;

/// Deepest inheritance.
const DEEPEST_BASE: usize = 60;

impl Maker<'_> {
    /// Adds a field of a class.
    pub(super) fn class(&mut self, parent: Option<usize>, name: &str, class: &str, depth: usize) -> Made {
        let mut field = Field::new(parent, Role::Record, name, class);
        if class == "TObject" {
            field.type_version = 1;
            let id = self.put(field);
            self.typed(Some(id), "fUniqueID", "std::uint32_t", depth + 1)?;
            return self.typed(Some(id), "fBits", "std::uint32_t", depth + 1);
        }
        if is_custom(class) {
            return Err(format!("{class} has a streamer of its own"));
        }
        let info = self.infos.latest(class).ok_or_else(|| format!("no streamer info describes {class}"))?;
        field.type_version = if self.has_class_def(&info) { info.version.unsigned_abs() } else { u32::MAX };
        field.type_checksum = Some(info.checksum);
        let id = self.put(field);
        let mut bases = 0;
        for element in &info.elements {
            let at = |why: Reason| format!("{class}::{}: {why}", element.name);
            if matches!(element.kind, ElementKind::Base { .. }) {
                self.typed(Some(id), &format!(":_{bases}"), &element.name, depth + 1).map_err(at)?;
                bases += 1;
            } else {
                self.member(id, element, depth).map_err(at)?;
            }
        }
        Ok(())
    }

    /// Whether the version of a class is from a `ClassDef`. No info says it: ROOT's own classes have one, those of higher
    /// versions, and those that derive from `TObject`.
    fn has_class_def(&self, info: &StreamerInfo) -> bool {
        info.version > 1
            || info.name == "TObject"
            || builtin::infos().iter().any(|known| known.name == info.name)
            || self.is_object(info, 0)
    }

    /// Whether a class derives from `TObject`.
    fn is_object(&self, info: &StreamerInfo, depth: usize) -> bool {
        info.elements.iter().any(|element| {
            matches!(element.kind, ElementKind::Base { .. })
                && (element.name == "TObject"
                    || depth < DEEPEST_BASE
                        && self.infos.latest(&element.name).is_some_and(|base| self.is_object(&base, depth + 1)))
        })
    }

    /// Adds the field of a member.
    fn member(&mut self, class: usize, element: &StreamerElement, depth: usize) -> Made {
        let bare = match element.type_code {
            code @ 20..40 => code - code::OFFSET_L,
            code => code,
        };
        let fits = match bare {
            code::OBJECT | code::ANY | code::STL | code::STREAMER => !element.type_name.contains('*'),
            code::DOUBLE32 | code::FLOAT16 | code::TOBJECT => true,
            code => Number::of_type_code(code).is_some(),
        } || element.class == "TStreamerSTL" && !element.type_name.contains('*')
            || element.class == "TStreamerSTLstring";
        if !fits {
            return Err(format!("ROOT has no field for members of type {}", element.type_name));
        }
        let item = match bare {
            _ if element.class == "TStreamerSTLstring" => "std::string",
            // A value between two floats would change.
            code::DOUBLE32 if has_range(element) => "double",
            code::DOUBLE32 => "Double32_t",
            code::FLOAT16 => "float",
            code::BITS => "std::uint32_t",
            _ => element.type_name.as_str(),
        };
        let dims = usize::try_from(element.array_dim).unwrap_or(0);
        let dims: Vec<i32> = element.max_index.iter().copied().take(dims).collect();
        let type_name = dims.iter().rev().fold(item.to_owned(), |item, size| format!("std::array<{item},{size}>"));
        let is_enum = bare == code::INT && crate::type_name::TypeName::parse(item).number().is_none();
        match (is_enum, dims.is_empty()) {
            (false, _) => self.typed(Some(class), &element.name, &type_name, depth + 1),
            (true, true) => {
                let id = self.put(Field::new(Some(class), Role::Leaf, &element.name, item));
                self.typed(Some(id), "_0", "std::int32_t", depth + 1)
            }
            (true, false) => Err("an array of enumerators".to_owned()),
        }
    }
}

/// Whether numbers are stored as integers within a range.
fn has_range(element: &StreamerElement) -> bool {
    element.bits & HAS_RANGE != 0 && Range::of_title(&element.title).is_some_and(|range| range.factor().is_some())
}
