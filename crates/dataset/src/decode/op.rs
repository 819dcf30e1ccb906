//! Steps that read values: how the values of a [`Shape`] lie in bytes. [`machine`](super::machine) runs them.

use super::arrays::{AnyArray, Kind};
use super::packed::Packed;
use super::types::{Number, Shape};

/// How values lie in bytes.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Big-endian numbers, as they are in the column.
    Number(Number),
    /// Numbers of another type than the column's.
    Convert(Number),
    /// `Double32_t` or `Float16_t`.
    Packed(Packed),
    /// `TObject::fBits`: a process identifier follows where a bit says so.
    Bits,
    /// A `TString`: a byte that says how long, or 255 and four bytes, then the characters.
    Text,
    /// A `char*`: four bytes that say how long, then the characters.
    CharStar,
    /// So many of the same.
    Fixed(usize, Box<Op>),
    /// As many of the same as a counter says, with a byte before them or not (`T*` members have it).
    Counted { counter: usize, flag: bool, item: Box<Op> },
    /// The same up to the end of the entry, with a byte before them or not. Where a frame goes around them ROOT 6 wants it
    /// of no objects, too, those of a `TClonesArray` included.
    Rest { flag: bool, item: Box<Op> },
    /// As many as a counter says, each with a count of its own: counters of objects, and of each object's array.
    Objects { objects: usize, counter: usize, framed: bool, item: Box<Op> },
    /// The name of a class, then an object of it; not the value of another class.
    Named { class: String, object: Box<Op> },
    /// Parts of a record, one after the other.
    Record(Vec<Op>),
    /// A frame around all the values that are read together.
    Framed(Box<Op>),
    /// A count, and so many items.
    Container(Box<Container>),
    /// A container of bits, of fixed length in the column.
    Bitset(usize),
    /// `TArray`: a count and numbers.
    Array(Number),
    /// An object with its frame, by the number of its reader.
    Object(usize),
    /// An object of a branch of its own: without a frame where its class has no streamer, of this version then. Whether
    /// ROOT writes the frame; there are branches where it did otherwise.
    Whole { reader: usize, version: i32, checksum: u32, framed: bool },
    /// A number that counts what comes later, by the number of the machine's counter.
    Counter(usize, Number),
    /// Characters up to a zero, in a `TString`'s form (`TLeafC`).
    CString,
    /// A `TRef`: a `TObject`, whose unique number is the reference, and two bytes that say of which process.
    Ref,
    /// A `TRefArray`: its name, number of slots and references.
    RefArray,
    /// A `TMatrixTSym`: its base as it is, then the rows of the upper triangle. Where the number of rows is among
    /// the parts, and what the elements are.
    Triangle { base: usize, rows: usize, number: Number },
    /// A `TObject`, into two numbers.
    TObject,
    /// A pointer to an object of exactly this class, or null.
    Pointer { class: String, target: Box<Op> },
    /// A pointer to any object, or null: its bytes.
    AnyPointer,
    /// An array that says itself which class it holds.
    AnyArray(Box<AnyArray>),
    /// In a fixed array, so many arrays that one counter counts; without a counter, as many as there are items.
    Tables { arrays: usize, counter: Option<usize>, item: Box<Op> },
    /// Something in a frame with a byte count: its bytes.
    Opaque,
}

/// How a container's items are read.
#[derive(Clone, Debug)]
pub(crate) struct Container {
    /// One item where each is written whole.
    pub item: Op,
    /// The members of an item where those of all are written together (member-wise), if items have any.
    pub members: Option<Members>,
}

/// The members of a container's items.
#[derive(Clone, Debug)]
pub(crate) enum Members {
    /// Those of a class, by the number of its reader.
    Class(usize),
    /// Those of a pair, and the checksum of its class if that is described.
    Pair { parts: [Op; 2], checksum: u32 },
}

/// How the versions of a class are read into one record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    /// Class name.
    pub class: String,
    /// Versions that infos describe.
    pub versions: Vec<Version>,
    /// A pair has one form, whatever it says of its version.
    pub any_version: bool,
}

/// One version of a class.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub version: i32,
    pub checksum: u32,
    /// Its members in the order they are written, or why they cannot be read.
    pub steps: Result<Vec<Step>, String>,
    /// Parts of the record that it lacks.
    pub missing: Vec<usize>,
}

/// One member.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub op: Op,
    pub into: Into,
    /// The machine's counter that it sets, and the type it has.
    pub counts: Option<(usize, Number)>,
}

/// Where a member goes.
#[derive(Clone, Debug)]
pub(crate) enum Into {
    /// To a part of the record.
    Part(usize),
    /// It is a base whose members go to parts of the same record. Member-wise it says nothing of its version, which
    /// is that its heir was written with.
    Base { reader: usize, version: i32, checksum: u32 },
    /// Nowhere; its shape.
    Nowhere(Shape),
    /// It is the `TObject` base, which is passed over.
    TObject,
}

impl Reader {
    /// The newest version.
    pub(crate) fn newest(&self) -> Option<&Version> {
        self.versions.iter().max_by_key(|version| version.version)
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
            | Self::Rest { item, .. }
            | Self::Objects { item, .. }
            | Self::Tables { item, .. } => item.has_members(),
            Self::Named { object, .. } => object.has_members(),
            Self::Pointer { target, .. } => target.has_members(),
            Self::Record(parts) => parts.iter().any(Self::has_members),
            Self::AnyArray(array) => array.item().has_members(),
            _ => false,
        }
    }

    /// Whether it is a `TObjArray` or a `TList`, or a pointer to one.
    pub(crate) fn is_collection(&self) -> bool {
        match self {
            Self::AnyArray(array) => array.kind() != Kind::Clones,
            Self::Fixed(_, item) | Self::Rest { item, .. } | Self::Pointer { target: item, .. } => item.is_collection(),
            _ => false,
        }
    }

    /// Fixed arrays of this, the outermost dimension first.
    pub(crate) fn fixed(self, dims: &[usize]) -> Self {
        dims.iter().rev().fold(self, |op, &n| Self::Fixed(n, Box::new(op)))
    }
}
