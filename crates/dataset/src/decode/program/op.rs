//! Operations: how the values of a [`Shape`](super::types::Shape) lie in bytes. The interpreter runs them to read, the
//! encoder to write.

use rootfile::streamer::Packed;

use super::types::Number;

/// An operation: how values lie in bytes.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Big-endian numbers, as they are in the column.
    Number(Number),
    /// Numbers of another type than the column's.
    Convert(Number),
    /// `Double32_t` or `Float16_t`.
    Packed(Packed),
    /// `TObject::fBits`: a process identifier follows where a bit says so.
    TObjectBits,
    /// A `TString`: a byte that says how long, or 255 and four bytes, then the characters.
    TString,
    /// A `char*`: four bytes that say how long, then the characters.
    CharStar,
    /// This many values of the same kind.
    Fixed(usize, Box<Op>),
    /// As many items as a counter says. `flag`: a byte precedes the items, as it does for `T*` members.
    Counted { counter: usize, flag: bool, item: Box<Op> },
    /// Items up to the end of the entry. `flag`: a byte precedes them. Where a frame surrounds the items, ROOT 6 expects
    /// the frame of zero objects too, those of a `TClonesArray` included.
    ToEnd { flag: bool, item: Box<Op> },
    /// One list for each object: `objects` counts the objects, `counter` has the length of each list.
    CountedPerObject { objects: usize, counter: usize, framed: bool, item: Box<Op> },
    /// The name of a class, then an object of that class. Another class is an error.
    NamedObject { class: String, object: Box<Op> },
    /// Parts of a record, one after the other.
    Record(Vec<Op>),
    /// A frame around all the values that are read together.
    Framed(Box<Op>),
    /// A count, and so many items.
    Container(Box<Container>),
    /// A container of bits, of fixed length in the column.
    Bitset(usize),
    /// `TArray`: a count and numbers.
    TArray(Number),
    /// An object with its frame, by the number of its reader.
    Object(usize),
    /// The object of an unsplit branch. Without a frame, the object has this version. `framed`: whether ROOT writes the
    /// frame today; some files have branches where it did otherwise.
    UnsplitObject { reader: usize, version: i32, checksum: u32, framed: bool },
    /// A number that later operations use as a count, by the number of the interpreter's counter.
    Counter(usize, Number),
    /// Characters up to a zero, in a `TString`'s form (`TLeafC`).
    CString,
    /// A `TRef`: a `TObject`, whose unique number is the reference, and two bytes that say of which process.
    TRef,
    /// A `TRefArray`: its name, number of slots and references.
    TRefArray,
    /// A `TMatrixTSym`: its base as it is, then the rows of the upper triangle. Where the number of rows is among
    /// the parts, and what the elements are.
    SymmetricMatrix { base: usize, rows: usize, number: Number },
    /// A `TObject`, into two numbers.
    TObject,
    /// A pointer to an object of exactly this class, or null.
    Pointer { class: String, target: Box<Op> },
    /// A pointer to an object of any class, or null, as bytes.
    OpaquePointer,
    /// An array whose bytes name the class of its items.
    ObjectArray(Box<ObjectArray>),
    /// A fixed array of arrays that share one counter; without a counter, the arrays extend to the end of the entry.
    CountedArrays { arrays: usize, counter: Option<usize>, item: Box<Op> },
    /// A frame with a byte count and its content, as bytes.
    Opaque,
}

/// How a container's items are read.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    /// One item where each is written whole.
    pub item: Op,
    /// The members of an item where those of all are written together (member-wise), if items have any.
    pub members: Option<Members>,
    /// What the container is to a reader.
    pub holds: Holds,
}

/// What a container is to a reader. Its bytes do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A sequence of items.
    Items,
    /// Items that differ.
    Set,
    /// Keys, each of which has a value.
    Pairs,
}

/// The members of a container's items.
#[derive(Clone, Debug)]
pub(crate) enum Members {
    /// Those of a class, by the number of its reader.
    Class(usize),
    /// Those of a pair, and the checksum of its class if that is described.
    Pair { parts: [Op; 2], checksum: u32 },
}

/// `TClonesArray` bit: the members of all objects are written together.
pub(crate) const BYPASS_STREAMER: u32 = 1 << 12;

/// The class of an array of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayKind {
    Clones,
    ObjArray,
    List,
}

/// An array of objects whose class its bytes name.
#[derive(Clone, Debug)]
pub(crate) struct ObjectArray {
    pub kind: ArrayKind,
    /// The number among the program's arrays.
    pub array: usize,
    /// One item: an object with its frame, a pointer, or anything.
    pub item: Op,
    /// The reader of the item class; of a `TClonesArray` only.
    pub reader: Option<usize>,
}

impl Holds {
    /// Of a container template of the standard library.
    pub(crate) fn of(template: &str) -> Self {
        match template {
            "set" | "unordered_set" => Self::Set,
            "map" | "unordered_map" => Self::Pairs,
            _ => Self::Items,
        }
    }
}

impl ArrayKind {
    pub(crate) fn of(class: &str) -> Option<Self> {
        match class {
            "TClonesArray" => Some(Self::Clones),
            "TObjArray" => Some(Self::ObjArray),
            "TList" | "THashList" => Some(Self::List),
            _ => None,
        }
    }

    /// The class.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clones => "TClonesArray",
            Self::ObjArray => "TObjArray",
            Self::List => "TList",
        }
    }
}

impl Op {
    /// Bytes of one value, if all have the same.
    pub(crate) fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Number(number) | Self::Convert(number) | Self::Counter(_, number) => Some(number.size()),
            Self::Packed(packed) => Some(packed.size()),
            Self::Fixed(n, item) => item.fixed_size()?.checked_mul(*n),
            Self::Record(parts) => parts.iter().try_fold(0usize, |sum, part| sum.checked_add(part.fixed_size()?)),
            _ => None,
        }
    }

    /// Whether there is a container of objects in it; classes are not looked into.
    pub(crate) fn has_members(&self) -> bool {
        match self {
            Self::Container(container) => container.members.is_some() || container.item.has_members(),
            Self::Fixed(_, inner) | Self::Framed(inner) => inner.has_members(),
            Self::Counted { item, .. }
            | Self::ToEnd { item, .. }
            | Self::CountedPerObject { item, .. }
            | Self::CountedArrays { item, .. } => item.has_members(),
            Self::NamedObject { object, .. } => object.has_members(),
            Self::Pointer { target, .. } => target.has_members(),
            Self::Record(parts) => parts.iter().any(Self::has_members),
            Self::ObjectArray(array) => array.item.has_members(),
            _ => false,
        }
    }

    /// Whether `is` holds for it or for an operation in it; classes are not looked into.
    pub(crate) fn any(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self)
            || match self {
                Self::Container(container) => container.item.any(is),
                Self::Fixed(_, inner) | Self::Framed(inner) => inner.any(is),
                Self::Counted { item, .. }
                | Self::ToEnd { item, .. }
                | Self::CountedPerObject { item, .. }
                | Self::CountedArrays { item, .. } => item.any(is),
                Self::NamedObject { object, .. } => object.any(is),
                Self::Pointer { target, .. } => target.any(is),
                Self::Record(parts) => parts.iter().any(|part| part.any(is)),
                Self::ObjectArray(array) => array.item.any(is),
                _ => false,
            }
    }

    /// Whether it is a `TObjArray` or a `TList`, or a pointer to one.
    pub(crate) fn is_collection(&self) -> bool {
        match self {
            Self::ObjectArray(array) => array.kind != ArrayKind::Clones,
            Self::Fixed(_, item) | Self::ToEnd { item, .. } | Self::Pointer { target: item, .. } => {
                item.is_collection()
            }
            _ => false,
        }
    }

    /// Fixed arrays of this operation, the outermost dimension first.
    pub(crate) fn fixed(self, dims: &[usize]) -> Self {
        dims.iter().rev().fold(self, |op, &n| Self::Fixed(n, Box::new(op)))
    }
}
