//! The standard containers: ROOT's number of each, and its bytes in memory with libstdc++.
//!
//! Facts: `ROOT::ESTLType` (ESTLType.h). The sizes are written (fSize), but no other byte in the file depends on them.

use super::cpp_type::{Argument, Core, CppType};

/// `ROOT::kSTLstring`, also the code of its content.
pub(super) const STRING: i32 = 365;
pub(super) const BITSET: i32 = 8;
const VECTOR: i32 = 1;
const RVEC: i32 = 14;

const KINDS: [(&str, i32, usize); 14] = [
    ("vector", VECTOR, 24),
    ("list", 2, 24),
    ("deque", 3, 80),
    ("map", 4, 48),
    ("multimap", 5, 48),
    ("set", 6, 48),
    ("multiset", 7, 48),
    ("bitset", BITSET, 0),
    ("forward_list", 9, 8),
    ("unordered_set", 10, 56),
    ("unordered_multiset", 11, 56),
    ("unordered_map", 12, 56),
    ("unordered_multimap", 13, 56),
    ("ROOT::VecOps::RVec", RVEC, 0),
];

/// A container, its content type and its own size.
pub(super) struct Container<'a> {
    pub stl_type: i32,
    pub arguments: &'a [Argument],
    size: usize,
}

impl<'a> Container<'a> {
    /// The container of a type, ignoring pointers and dimensions.
    pub fn of(core: &'a Core) -> Option<Self> {
        let Core::Named { name, arguments } = core else { return None };
        let (_, stl_type, size) = KINDS.iter().find(|(known, ..)| known == name)?;
        (!arguments.is_empty()).then_some(Self { stl_type: *stl_type, arguments, size: *size })
    }

    /// Whether it holds pairs.
    pub fn is_map(&self) -> bool {
        matches!(self.stl_type, 4 | 5 | 12 | 13)
    }

    /// The type it holds, if it is one type.
    pub fn value(&self) -> Option<&'a CppType> {
        match self.arguments {
            [Argument::Type(ty), ..] if !self.is_map() => Some(ty),
            _ => None,
        }
    }

    /// Bytes of the container, if it has items of `item` bytes.
    pub fn size(&self, item: usize) -> usize {
        match (self.stl_type, self.arguments) {
            (BITSET, [Argument::Number(bits), ..]) => usize::try_from(bits.div_ceil(64)).map_or(0, |n| n * 8),
            (VECTOR, [Argument::Type(ty), ..]) if is_bool(ty) => 40,
            // A head of 16 bytes, and inline items up to a cache line, at least 8.
            (RVEC, _) => {
                let line = 48 / item.max(1);
                let inline = if line >= 8 {
                    line
                } else if 8 * item > 1024 {
                    0
                } else {
                    8
                };
                16 + inline * item
            }
            _ => self.size,
        }
    }
}

fn is_bool(ty: &CppType) -> bool {
    ty.stars == 0 && matches!(ty.core, Core::Basic(basic) if basic.name == "bool")
}

/// Whether the type is `std::string`.
pub(super) fn is_string(core: &Core) -> bool {
    matches!(core, Core::Named { name, arguments } if name == "string" && arguments.is_empty())
}

/// The arguments of a class template of this name.
pub(super) fn arguments_of<'a>(core: &'a Core, template: &str) -> Option<&'a [Argument]> {
    match core {
        Core::Named { name, arguments } if name == template && !arguments.is_empty() => Some(arguments),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_libstdcxx() {
        for (text, item, size) in [
            ("vector<bool>", 1, 40),
            ("vector<bool*>", 8, 24),
            ("bitset<16>", 0, 8),
            ("bitset<100>", 0, 16),
            ("ROOT::RVec<int>", 4, 64),
            ("ROOT::RVec<double>", 8, 80),
            ("unordered_map<int,int>", 0, 56),
        ] {
            let ty = CppType::parse(text).unwrap();
            assert_eq!(Container::of(&ty.core).unwrap().size(item), size, "{text}");
        }
    }
}
