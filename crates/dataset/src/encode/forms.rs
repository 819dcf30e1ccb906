//! Facts about a program's classes that are computed before writing: the version that is written, the version bytes in its
//! frame, and the size of its objects if all have the same. Also whether a program can be written at all.
//!
//! Facts (`TBufferFile::WriteVersion`): a class without `ClassDef`, of version 1, is written as version 0 and its
//! checksum. No info says which classes have a `ClassDef`: ROOT's own do, those that derive from `TObject`, and those of version 0,
//! after which no checksum follows.

use rootfile::streamer::builtin;
use rootfile::{Error, Result};

use crate::decode::program::class_reader::find;
use crate::decode::program::class_reader::{ClassReader, ClassVersion, Destination};
use crate::decode::program::op::{Members, Op};
use crate::decode::run::walk::version_said;

/// Bytes of a `TObject` that nothing refers to: version, unique number, bits.
pub(super) const TOBJECT: [u8; 10] = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
/// Deepest nesting of classes.
const MAX_DEPTH: usize = 60;

/// One version of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    /// What says the version: a number, or 0 and the checksum.
    pub header: Vec<u8>,
    /// Bytes of all members, bases with their frames, if all objects have the same.
    pub members: Option<usize>,
}

/// The versions of a plan's classes, in the order of its readers.
#[derive(Clone, Debug)]
pub(crate) struct Forms {
    all: Vec<Vec<Form>>,
    /// The number of the one that is written.
    newest: Vec<Option<usize>>,
}

impl Form {
    /// Bytes of an object with its frame, if all have the same.
    pub(super) fn framed(&self) -> Option<usize> {
        self.members?.checked_add(4 + self.header.len())
    }
}

/// The version of a class that is written, and its number among those of its reader.
pub(super) fn newest(reader: &ClassReader) -> Result<(usize, &ClassVersion)> {
    let versions = reader.versions.iter().enumerate().filter(|(_, version)| version.steps.is_ok());
    versions.max_by_key(|(_, version)| version.version).ok_or_else(|| {
        let why = reader.versions.iter().find_map(|version| version.steps.as_ref().err());
        let why = why.map_or("it is not described", String::as_str);
        Error::unsupported(format!("{} cannot be written: {why}", reader.class))
    })
}

/// The given version of a class, and its number among those of its reader; the newest if the file does not describe the
/// given one.
pub(super) fn version_or_newest(reader: &ClassReader, version: i32, checksum: u32) -> Result<(usize, &ClassVersion)> {
    let found = find(reader, version, checksum).ok().filter(|found| found.steps.is_ok());
    let at = found.and_then(|found| reader.versions.iter().position(|version| std::ptr::eq(version, found)));
    match at.zip(found) {
        Some(found) => Ok(found),
        None => newest(reader),
    }
}

#[cold]
pub(super) fn no_reader() -> Error {
    Error::unsupported("a class without a plan")
}

impl Forms {
    /// Of all versions that these readers read.
    pub(crate) fn new(readers: &[ClassReader]) -> Self {
        let form = |reader: &ClassReader, version: &ClassVersion| Form {
            header: header(reader, version, readers),
            members: None,
        };
        let of_reader = |reader: &ClassReader| reader.versions.iter().map(|version| form(reader, version)).collect();
        let at = |reader: &ClassReader| newest(reader).ok().map(|(at, _)| at);
        let mut forms = Self { all: readers.iter().map(of_reader).collect(), newest: readers.iter().map(at).collect() };
        let mut known: Vec<Vec<bool>> = readers.iter().map(|reader| vec![false; reader.versions.len()]).collect();
        for reader in 0..readers.len() {
            for version in 0..forms.all.get(reader).map_or(0, Vec::len) {
                forms.measure(readers, (reader, version), &mut known, 0);
            }
        }
        forms
    }

    /// The form of a version.
    pub(super) fn get(&self, reader: usize, version: usize) -> Result<&Form> {
        self.all.get(reader).and_then(|forms| forms.get(version)).ok_or_else(no_reader)
    }

    /// The version of a class that is written, and its form.
    pub(super) fn newest<'a>(&self, reader: usize, readers: &'a [ClassReader]) -> Result<(&Form, &'a ClassVersion)> {
        let class = readers.get(reader).ok_or_else(no_reader)?;
        let at = self.newest.get(reader).copied().flatten().ok_or_else(no_reader)?;
        Ok((self.get(reader, at)?, class.versions.get(at).ok_or_else(no_reader)?))
    }

    /// Bytes of one value, if all have the same.
    pub(super) fn size(&self, op: &Op, readers: &[ClassReader]) -> Option<usize> {
        match op {
            Op::Object(reader) => self.newest(*reader, readers).ok()?.0.framed(),
            Op::UnsplitObject { reader, version, checksum, framed } => {
                let (version, _) = version_or_newest(readers.get(*reader)?, *version, *checksum).ok()?;
                let form = self.get(*reader, version).ok()?;
                if *framed { form.framed() } else { form.members }
            }
            Op::Number(number) | Op::Convert(number) => Some(number.size()),
            Op::Packed(packed) => Some(packed.size()),
            Op::Fixed(n, item) => self.size(item, readers)?.checked_mul(*n),
            Op::Record(parts) => parts.iter().try_fold(0usize, |sum, part| sum.checked_add(self.size(part, readers)?)),
            _ => None,
        }
    }

    fn measure(&mut self, readers: &[ClassReader], at: (usize, usize), known: &mut [Vec<bool>], depth: usize) {
        match known.get_mut(at.0).and_then(|known| known.get_mut(at.1)) {
            Some(known) if !*known && depth < MAX_DEPTH => *known = true,
            _ => return,
        }
        let version = readers.get(at.0).and_then(|reader| reader.versions.get(at.1));
        let Some(steps) = version.and_then(|version| version.steps.as_ref().ok()) else { return };
        let mut sum = Some(0usize);
        for step in steps {
            let size = match &step.destination {
                // Counters are kept where what they count is written.
                Destination::Part(_) if step.counts.is_some() => None,
                Destination::Part(_) => {
                    self.measure_op(&step.op, readers, known, depth + 1);
                    self.size(&step.op, readers)
                }
                Destination::Base { reader, version, checksum, .. } => {
                    let base = readers.get(*reader).and_then(|base| version_or_newest(base, *version, *checksum).ok());
                    base.and_then(|(version, _)| {
                        self.measure(readers, (*reader, version), known, depth + 1);
                        self.get(*reader, version).ok()?.framed()
                    })
                }
                Destination::TObject => Some(TOBJECT.len()),
                Destination::Discarded(_) => None,
            };
            sum = sum.zip(size).and_then(|(sum, size)| sum.checked_add(size));
        }
        if let Some(form) = self.all.get_mut(at.0).and_then(|forms| forms.get_mut(at.1)) {
            form.members = sum;
        }
    }

    fn measure_op(&mut self, op: &Op, readers: &[ClassReader], known: &mut [Vec<bool>], depth: usize) {
        match op {
            Op::Object(reader) => {
                if let Some((version, _)) = readers.get(*reader).and_then(|reader| newest(reader).ok()) {
                    self.measure(readers, (*reader, version), known, depth);
                }
            }
            Op::Fixed(_, item) => self.measure_op(item, readers, known, depth),
            Op::Record(parts) => parts.iter().for_each(|part| self.measure_op(part, readers, known, depth)),
            _ => {}
        }
    }
}

/// What says the version of a class in its frame.
fn header(reader: &ClassReader, version: &ClassVersion, readers: &[ClassReader]) -> Vec<u8> {
    let foreign = if reader.any_version {
        version.checksum != 0
    } else {
        version.version == 1
            && !builtin::infos().iter().any(|info| info.name == reader.class)
            && !has_tobject(version, readers, 0)
    };
    let mut header = Vec::with_capacity(6);
    if foreign {
        header.extend_from_slice(&[0, 0]);
        header.extend_from_slice(&version.checksum.to_be_bytes());
    } else {
        header.extend_from_slice(&i16::try_from(version.version.max(0)).unwrap_or(i16::MAX).to_be_bytes());
    }
    header
}

/// Whether a class derives from `TObject`.
fn has_tobject(version: &ClassVersion, readers: &[ClassReader], depth: usize) -> bool {
    version.steps.iter().flatten().any(|step| match &step.destination {
        Destination::TObject => true,
        Destination::Base { reader, version, checksum, .. } => readers
            .get(*reader)
            .and_then(|base| version_or_newest(base, *version, *checksum).ok())
            .is_some_and(|(_, base)| depth < MAX_DEPTH && has_tobject(base, readers, depth + 1)),
        _ => false,
    })
}

/// An error if values cannot be written.
pub(crate) fn writable(op: &Op, readers: &[ClassReader]) -> Result<()> {
    let mut seen = vec![false; readers.len()];
    walk(op, readers, &mut seen)
}

fn walk(op: &Op, readers: &[ClassReader], seen: &mut [bool]) -> Result<()> {
    let why = match op {
        Op::Number(_)
        | Op::Convert(_)
        | Op::Packed(_)
        | Op::TObjectBits
        | Op::TString
        | Op::CharStar
        | Op::CString
        | Op::Bitset(_)
        | Op::TArray(_)
        | Op::Counter(..)
        | Op::TRef
        | Op::TRefArray
        | Op::TObject => return Ok(()),
        Op::Fixed(_, item)
        | Op::Counted { item, .. }
        | Op::ToEnd { item, .. }
        | Op::CountedPerObject { item, .. }
        | Op::NamedObject { object: item, .. }
        | Op::Framed(item)
        | Op::Pointer { target: item, .. }
        | Op::CountedArrays { item, .. } => return walk(item, readers, seen),
        Op::Record(parts) => return parts.iter().try_for_each(|part| walk(part, readers, seen)),
        Op::Container(container) => {
            walk(&container.item, readers, seen)?;
            return match &container.members {
                Some(Members::Pair { parts, .. }) => parts.iter().try_for_each(|part| walk(part, readers, seen)),
                _ => Ok(()),
            };
        }
        Op::Object(reader) | Op::SymmetricMatrix { base: reader, .. } => {
            let (_, version) = newest(readers.get(*reader).ok_or_else(no_reader)?)?;
            return walk_class(*reader, version, readers, seen);
        }
        Op::UnsplitObject { reader, version, checksum, .. } => {
            let (_, version) = version_or_newest(readers.get(*reader).ok_or_else(no_reader)?, *version, *checksum)?;
            return walk_class(*reader, version, readers, seen);
        }
        Op::OpaquePointer => "a pointer to objects of several classes",
        Op::ObjectArray(array) => return walk(&array.item, readers, seen),
        Op::Opaque => "opaque bytes",
    };
    Err(Error::unsupported(why))
}

/// Refuses a version of a class that readers would take for another one, or for none.
fn check_version(at: usize, version: &ClassVersion, readers: &[ClassReader]) -> Result<()> {
    let class = readers.get(at).ok_or_else(no_reader)?;
    match version_said(&header(class, version, readers), readers, at) {
        Ok(read) if std::ptr::eq(read, version) => Ok(()),
        _ => Err(Error::unsupported(format!(
            "objects of version {} of {} could not be read again: other versions are described in the same way",
            version.version, class.class
        ))),
    }
}

fn walk_class(at: usize, version: &ClassVersion, readers: &[ClassReader], seen: &mut [bool]) -> Result<()> {
    match seen.get_mut(at) {
        Some(seen) if !*seen => *seen = true,
        _ => return Ok(()),
    }
    check_version(at, version, readers)?;
    for step in version.steps.iter().flatten() {
        let walked = match &step.destination {
            Destination::TObject => Ok(()),
            Destination::Base { reader, version, checksum, .. } => {
                let base = readers.get(*reader).ok_or_else(no_reader)?;
                version_or_newest(base, *version, *checksum)
                    .and_then(|(_, base)| walk_class(*reader, base, readers, seen))
            }
            Destination::Part(_) | Destination::Discarded(_) => walk(&step.op, readers, seen),
        };
        let class = readers.get(at).map_or("", |reader| reader.class.as_str());
        walked.map_err(|e| e.object(format!("class {class}")))?;
    }
    Ok(())
}
