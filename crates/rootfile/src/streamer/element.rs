//! One element of a streamer info (a base or a member) and ROOT's type codes.
//!
//! Codes are those of `TVirtualStreamerInfo::EReadWrite`. They add up: a basic type, plus 20 for a fixed
//! array, plus 40 for a counted one.

/// A base or member of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamerElement {
    /// The `TStreamerElement` subclass, such as `TStreamerBasicType`.
    pub class: String,
    /// Member or base name.
    pub name: String,
    /// The member's comment, with ranges (`[0,100,8]`) and array counters.
    pub title: String,
    /// ROOT's type code.
    pub type_code: i32,
    /// Bytes in memory; nothing on disk depends on it.
    pub size: i32,
    /// Total number of array elements, 0 or 1 for none.
    pub array_length: i32,
    /// Number of array dimensions.
    pub array_dim: i32,
    /// The dimensions.
    pub max_index: [i32; 5],
    /// C++ type as text.
    pub type_name: String,
    /// The subclass's own members.
    pub kind: ElementKind,
    /// fBits, only those about the content of a file ([`HAS_RANGE`]) or about ROOT's treatment of the member.
    pub bits: u32,
}

impl StreamerElement {
    /// An element without a comment, dimensions or members of its own subclass.
    pub fn new(class: &str, name: &str, type_name: &str, type_code: i32) -> Self {
        Self {
            class: class.to_owned(),
            name: name.to_owned(),
            title: String::new(),
            type_code,
            size: 0,
            array_length: 0,
            array_dim: 0,
            max_index: [0; 5],
            type_name: type_name.to_owned(),
            kind: ElementKind::Plain,
            bits: 0,
        }
    }
}

/// `TStreamerElement::kHasRange`: the title of a Double32_t or Float16_t gives a range or fewer bits. Without this flag
/// ROOT ignores the title.
pub const HAS_RANGE: u32 = 1 << 6;

/// The members that subclasses of `TStreamerElement` add.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementKind {
    /// Nothing.
    Plain,
    /// `TStreamerBase`: the version of the base class.
    Base {
        /// Class version of the base.
        version: i32,
    },
    /// `TStreamerBasicPointer` and `TStreamerLoop`: the member that counts the array.
    Counted {
        /// Version of the class that has the counter.
        version: i32,
        /// Name of the counting member.
        name: String,
        /// Class that has it.
        class: String,
    },
    /// `TStreamerSTL`: the kinds of the container and of its content.
    Stl {
        /// ROOT's `ESTLType`.
        stl_type: i32,
        /// Type code of the contents.
        content_type: i32,
    },
}

/// Type codes that this crate names. See `TVirtualStreamerInfo::EReadWrite`.
#[expect(missing_docs, reason = "the names are ROOT's own")]
pub mod code {
    pub const BASE: i32 = 0;
    pub const CHAR: i32 = 1;
    pub const SHORT: i32 = 2;
    pub const INT: i32 = 3;
    pub const LONG: i32 = 4;
    pub const FLOAT: i32 = 5;
    pub const COUNTER: i32 = 6;
    pub const CHAR_STAR: i32 = 7;
    pub const DOUBLE: i32 = 8;
    pub const DOUBLE32: i32 = 9;
    pub const LEGACY_CHAR: i32 = 10;
    pub const UCHAR: i32 = 11;
    pub const USHORT: i32 = 12;
    pub const UINT: i32 = 13;
    pub const ULONG: i32 = 14;
    pub const BITS: i32 = 15;
    pub const LONG64: i32 = 16;
    pub const ULONG64: i32 = 17;
    pub const BOOL: i32 = 18;
    pub const FLOAT16: i32 = 19;
    pub const OFFSET_L: i32 = 20;
    pub const OFFSET_P: i32 = 40;
    pub const OBJECT: i32 = 61;
    pub const ANY: i32 = 62;
    /// `->` member: never null, streamed in place.
    pub const OBJECT_P_INLINE: i32 = 63;
    pub const OBJECT_P: i32 = 64;
    pub const TSTRING: i32 = 65;
    pub const TOBJECT: i32 = 66;
    pub const TNAMED: i32 = 67;
    pub const ANY_P_INLINE: i32 = 68;
    pub const ANY_P: i32 = 69;
    pub const ANY_P_NO_VT: i32 = 70;
    pub const STL_P: i32 = 71;
    pub const STL: i32 = 300;
    pub const STL_STRING: i32 = 365;
    pub const STREAMER: i32 = 500;
    pub const STREAM_LOOP: i32 = 501;
}
