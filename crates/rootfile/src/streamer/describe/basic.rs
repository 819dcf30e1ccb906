//! The basic types of C++ as ROOT names, counts and codes them, and the typedefs that stand for them.
//!
//! Facts: `EDataType` (TDataType.h) has the codes; `RtypesCore.h` the typedefs. ROOT resolves typedefs, except
//! `Double32_t` and `Float16_t`, which define how a number is written, and spells `long long` as `Long64_t`.

use super::super::code;

/// A type that is written as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Basic {
    /// As in fTypeName.
    pub name: &'static str,
    pub code: i32,
    /// Bytes in memory, which is also its alignment.
    pub size: usize,
}

const fn basic(name: &'static str, code: i32, size: usize) -> Basic {
    Basic { name, code, size }
}

const BASICS: [Basic; 16] = [
    basic("char", code::CHAR, 1),
    basic("signed char", code::CHAR, 1),
    basic("unsigned char", code::UCHAR, 1),
    basic("short", code::SHORT, 2),
    basic("unsigned short", code::USHORT, 2),
    basic("int", code::INT, 4),
    basic("unsigned int", code::UINT, 4),
    basic("long", code::LONG, 8),
    basic("unsigned long", code::ULONG, 8),
    basic("Long64_t", code::LONG64, 8),
    basic("ULong64_t", code::ULONG64, 8),
    basic("float", code::FLOAT, 4),
    basic("double", code::DOUBLE, 8),
    basic("Double32_t", code::DOUBLE32, 8),
    basic("Float16_t", code::FLOAT16, 4),
    basic("bool", code::BOOL, 1),
];

const TYPEDEFS: [(&str, &str); 50] = [
    ("Char_t", "char"),
    ("UChar_t", "unsigned char"),
    ("Short_t", "short"),
    ("UShort_t", "unsigned short"),
    ("Int_t", "int"),
    ("UInt_t", "unsigned int"),
    ("Long_t", "long"),
    ("ULong_t", "unsigned long"),
    ("Longptr_t", "long"),
    ("ULongptr_t", "unsigned long"),
    ("Float_t", "float"),
    ("Double_t", "double"),
    ("Bool_t", "bool"),
    ("Byte_t", "unsigned char"),
    ("Text_t", "char"),
    ("Seek_t", "int"),
    ("Ssiz_t", "int"),
    ("Version_t", "short"),
    ("Size_t", "float"),
    ("Stat_t", "double"),
    ("Axis_t", "double"),
    ("Coord_t", "double"),
    ("Angle_t", "float"),
    ("Font_t", "short"),
    ("Style_t", "short"),
    ("Marker_t", "short"),
    ("Width_t", "short"),
    ("Color_t", "short"),
    ("SCoord_t", "short"),
    ("int8_t", "signed char"),
    ("uint8_t", "unsigned char"),
    ("int16_t", "short"),
    ("uint16_t", "unsigned short"),
    ("int32_t", "int"),
    ("uint32_t", "unsigned int"),
    ("int64_t", "long"),
    ("uint64_t", "unsigned long"),
    ("Int8_t", "signed char"),
    ("Int16_t", "short"),
    ("Int32_t", "int"),
    ("Int64_t", "Long64_t"),
    ("size_t", "unsigned long"),
    ("ssize_t", "long"),
    ("ptrdiff_t", "long"),
    ("intptr_t", "long"),
    ("uintptr_t", "unsigned long"),
    ("ushort", "unsigned short"),
    ("uint", "unsigned int"),
    ("ulong", "unsigned long"),
    ("Real_t", "float"),
];

/// The basic type of this name, as C++ or ROOT spells it.
pub(super) fn find(name: &str) -> Option<Basic> {
    let name = TYPEDEFS.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, of)| *of);
    let name = match name {
        "long long" => "Long64_t",
        "unsigned long long" => "ULong64_t",
        name => name,
    };
    BASICS.iter().find(|basic| basic.name == name).copied()
}

/// Whether the word may be part of a name of several words, such as `unsigned long int`.
pub(super) fn is_word(word: &str) -> bool {
    matches!(word, "unsigned" | "signed" | "short" | "long" | "int" | "char" | "double")
}

/// The type that these words name together, in any order.
pub(super) fn of_words(words: &[&str]) -> Option<Basic> {
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    let (unsigned, signed) = (count("unsigned"), count("signed"));
    let (short, long, int) = (count("short"), count("long"), count("int"));
    let (char, double) = (count("char"), count("double"));
    let name = match (unsigned, signed, short, long, int, char, double) {
        (0, 0, 0, 0, 0, 1, 0) => "char",
        (0, 1, 0, 0, 0, 1, 0) => "signed char",
        (1, 0, 0, 0, 0, 1, 0) => "unsigned char",
        (0, 0, 0, 0, 0, 0, 1) => "double",
        (0, 0 | 1, 1, 0, 0 | 1, 0, 0) => "short",
        (1, 0, 1, 0, 0 | 1, 0, 0) => "unsigned short",
        (0, 0, 0, 0, 1, 0, 0) | (0, 1, 0, 0, 0 | 1, 0, 0) => "int",
        (1, 0, 0, 0, 0 | 1, 0, 0) => "unsigned int",
        (0, 0 | 1, 0, 1, 0 | 1, 0, 0) => "long",
        (1, 0, 0, 1, 0 | 1, 0, 0) => "unsigned long",
        (0, 0 | 1, 0, 2, 0 | 1, 0, 0) => "Long64_t",
        (1, 0, 0, 2, 0 | 1, 0, 0) => "ULong64_t",
        _ => return None,
    };
    find(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_any_order() {
        for (words, name) in [
            (&["short", "unsigned", "int"][..], "unsigned short"),
            (&["long", "long", "unsigned"], "ULong64_t"),
            (&["signed"], "int"),
            (&["signed", "long", "int"], "long"),
        ] {
            assert_eq!(of_words(words).unwrap().name, name);
        }
        for words in [&["long", "double"][..], &["short", "char"], &["long", "short"], &["unsigned", "signed"]] {
            assert_eq!(of_words(words), None, "{words:?}");
        }
    }

    #[test]
    fn typedefs_are_of_basic_types() {
        for (alias, of) in TYPEDEFS {
            assert_eq!(find(alias), find(of), "{alias}");
            assert!(find(of).is_some(), "{of}");
        }
        assert_eq!(find("Long64_t").unwrap().code, 16);
    }
}
