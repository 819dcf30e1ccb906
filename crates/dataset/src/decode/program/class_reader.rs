//! How objects of a class are read: a list of steps for each version that the file describes.

use rootfile::{Error, Result};

use super::op::Op;
use super::types::{Number, Reason, Shape};

/// How the versions of a class are read into one record.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassReader {
    /// Class name.
    pub class: String,
    /// Versions that streamer infos describe.
    pub versions: Vec<ClassVersion>,
    /// Whether every version is read alike, as those of a `std::pair` are.
    pub any_version: bool,
}

/// One version of a class.
#[derive(Clone, Debug)]
pub(crate) struct ClassVersion {
    pub version: i32,
    pub checksum: u32,
    /// The members in the order in which they are written, or why they cannot be read.
    pub steps: std::result::Result<Vec<MemberStep>, Reason>,
    /// Parts of the record that this version lacks.
    pub missing: Vec<usize>,
}

/// How one member is read.
#[derive(Clone, Debug)]
pub(crate) struct MemberStep {
    pub op: Op,
    pub destination: Destination,
    /// The interpreter's counter that this member sets, and the counter's type.
    pub counts: Option<(usize, Number)>,
}

/// Where the value of a member goes.
#[derive(Clone, Debug)]
pub(crate) enum Destination {
    /// A part of the record.
    Part(usize),
    /// A base, whose members go to parts of the same record. Member-wise streams do not write the base's version: it is
    /// the one that the derived class was written with. `framed`: they have its frames all the same, as those of `TNamed`
    /// (`TStreamerInfo::WriteBufferAux`, `kTNamed`), which has a streamer of its own.
    Base { reader: usize, version: i32, checksum: u32, framed: bool },
    /// None: the column has no such part. The shape of what is read and dropped.
    Discarded(Shape),
    /// The `TObject` base, which columns leave out.
    TObject,
}

impl ClassReader {
    /// The newest version.
    pub(crate) fn newest(&self) -> Option<&ClassVersion> {
        self.versions.iter().max_by_key(|version| version.version)
    }
}

/// The version of a class with this checksum, or with this number where the checksum is 0.
#[inline]
pub(crate) fn find(reader: &ClassReader, version: i32, checksum: u32) -> Result<&ClassVersion> {
    let same = |v: &&ClassVersion| {
        if checksum != 0 { v.checksum == checksum } else { v.version == version }
    };
    let found = if reader.any_version { reader.versions.first() } else { reader.versions.iter().find(same) };
    found.ok_or_else(|| {
        Error::unsupported(format!("version {version} (checksum {checksum:#x}) of {}, not described", reader.class))
    })
}

#[cold]
pub(crate) fn no_reader() -> Error {
    Error::unsupported("a class without a plan")
}
