//! Writes objects: frames, versions, bases, and the members of all items of a container together (member-wise).
//!
//! Facts (`TStreamerInfo::WriteBufferAux`, case `kSTL`; `TBufferFile::WriteVersionMemberWise`): a member-wise container
//! has the bit in its frame's version, then the version of its items' class as a frame would have it, and of each
//! member all values; bases have no frames then, but for `TNamed`.

use rootfile::tags::{STREAMED_MEMBER_WISE, begin_frame, end_frame};
use rootfile::{Error, Result};

use super::encoder::Encoder;
use super::forms::{TOBJECT, no_reader, version_or_newest};
use super::view::{View, count, shape_mismatch};
use crate::decode::program::class_reader::{ClassVersion, Destination, MemberStep};
use crate::decode::program::op::{Container, Members, Op};
use crate::decode::program::types::Shape;
use crate::decode::run::column::Column;
use crate::layout::Streaming;

/// The class version of `TStreamerInfo`, which frames around containers have (`TStreamerInfo::WriteBufferAux`, `kSTL`):
/// that of the infos in the files that this crate writes. ROOT writes 10 since 6.36, which lie no other way, and looks at
/// it only for whether it is 8 or more. Of 10 groot, in its releases before that, says that it is too new; of 9 nobody.
pub(super) const STREAMER_INFO: i16 = 9;

impl Encoder<'_> {
    /// Writes an object with its frame, of the newest version or of the given one.
    pub(super) fn object(
        &mut self,
        reader: usize,
        version: Option<(i32, u32)>,
        at: usize,
        parts: &[View<'_>],
    ) -> Result<()> {
        let (forms, readers) = (self.forms, self.readers);
        let class = readers.get(reader).ok_or_else(no_reader)?;
        let (form, version) = match version {
            Some((version, checksum)) => {
                let (index, version) = version_or_newest(class, version, checksum)?;
                (forms.get(reader, index)?, version)
            }
            None => forms.newest(reader, readers)?,
        };
        let frame = self.out.pos();
        self.out.u32(0);
        self.out.raw(&form.header);
        self.members(version, at, 1, false, parts).map_err(|e| e.object(format!("class {}", class.class)))?;
        end_frame(&mut self.out, frame);
        Ok(())
    }

    /// Writes the object of an unsplit branch.
    pub(super) fn unsplit_object(
        &mut self,
        reader: usize,
        layout: (i32, u32),
        framed: bool,
        at: usize,
        parts: &[View<'_>],
    ) -> Result<()> {
        if framed {
            return self.object(reader, Some(layout), at, parts);
        }
        let readers = self.readers;
        let (_, version) = version_or_newest(readers.get(reader).ok_or_else(no_reader)?, layout.0, layout.1)?;
        self.members(version, at, 1, false, parts)
    }

    /// The name of a class, then an object of that class, for each value (`TLeafObject::FillBasket`).
    pub(super) fn named_objects(
        &mut self,
        class: &str,
        object: &Op,
        at: usize,
        n: usize,
        view: &View<'_>,
    ) -> Result<()> {
        let len = u8::try_from(class.len());
        let len = len.map_err(|_| Error::unsupported(format!("{class}: a class name of more than 255 bytes")))?;
        for i in at..at + n {
            self.out.u8(len);
            self.out.raw(class.as_bytes());
            self.out.u8(0);
            self.write(object, i, 1, view)?;
        }
        Ok(())
    }

    /// Writes a frame around values that are read together.
    pub(super) fn framed(&mut self, inner: &Op, at: usize, n: usize, view: &View<'_>) -> Result<()> {
        let mut item = inner;
        while let Op::Fixed(_, inner) = item {
            item = inner;
        }
        let members = match item {
            Op::Container(container) if self.streaming == Streaming::MemberWise => container.members.as_ref(),
            _ => None,
        };
        let Some(members) = members else {
            let frame = begin_frame(&mut self.out, STREAMER_INFO);
            self.write(inner, at, n, view)?;
            end_frame(&mut self.out, frame);
            return Ok(());
        };
        let frame = begin_frame(&mut self.out, STREAMER_INFO | STREAMED_MEMBER_WISE);
        match members {
            Members::Class(reader) => {
                let (form, _) = self.forms.newest(*reader, self.readers)?;
                self.out.raw(&form.header);
            }
            // A pair is a class without ClassDef.
            Members::Pair { checksum: 0, .. } => self.out.i16(1),
            Members::Pair { checksum, .. } => {
                self.out.i16(0);
                self.out.u32(*checksum);
            }
        }
        self.memberwise_containers(inner, at, n, view)?;
        end_frame(&mut self.out, frame);
        Ok(())
    }

    /// Writes `n` member-wise containers.
    fn memberwise_containers(&mut self, op: &Op, at: usize, n: usize, view: &View<'_>) -> Result<()> {
        let (container, ends, items) = match (op, view) {
            (Op::Container(container), View::List { ends, items }) => (container, ends, items),
            (Op::Fixed(_, item), View::Fixed { size, items }) => {
                return self.memberwise_containers(
                    item,
                    at * size,
                    n.checked_mul(*size).ok_or_else(shape_mismatch)?,
                    items,
                );
            }
            _ => return Err(shape_mismatch()),
        };
        let (Container { members: Some(members), .. }, View::Record(parts)) = (&**container, &**items) else {
            return Err(shape_mismatch());
        };
        let readers = self.readers;
        for i in at..at + n {
            let (start, len) = ends.list(i);
            self.out.i32(count(len)?);
            if len == 0 {
                continue;
            }
            match members {
                Members::Class(reader) => {
                    let (_, version) = self.forms.newest(*reader, readers)?;
                    self.members(version, start, len, true, parts)?;
                }
                Members::Pair { parts: ops, .. } => {
                    for (op, part) in ops.iter().zip(parts) {
                        self.write(op, start, len, part)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the members of `n` objects. Most member-wise bases have no frames.
    pub(super) fn members(
        &mut self,
        version: &ClassVersion,
        at: usize,
        n: usize,
        memberwise: bool,
        parts: &[View<'_>],
    ) -> Result<()> {
        let steps = version.steps.as_ref().map_err(|why| Error::unsupported(why.clone()))?;
        for MemberStep { op, destination, counts } in steps {
            match destination {
                Destination::Part(i) => {
                    let part = parts.get(*i).ok_or_else(shape_mismatch)?;
                    if let Some((slot, number)) = counts {
                        self.set_counter(*slot, *number, at, n, part)?;
                    }
                    self.write(op, at, n, part)?;
                }
                Destination::Base { reader, version, checksum, framed: false } if memberwise => {
                    let readers = self.readers;
                    let (_, base) =
                        version_or_newest(readers.get(*reader).ok_or_else(no_reader)?, *version, *checksum)?;
                    self.members(base, at, n, true, parts)?;
                }
                Destination::Base { reader, version, checksum, .. } => {
                    for i in at..at + n {
                        self.object(*reader, Some((*version, *checksum)), i, parts)?;
                    }
                }
                Destination::Discarded(shape) => self.defaults(op, shape, n, counts.map(|(slot, _)| slot))?,
                Destination::TObject => (0..n).for_each(|_| self.out.raw(&TOBJECT)),
            }
        }
        Ok(())
    }

    /// Writes zeros, empty lists and the like for a member that the record lacks.
    fn defaults(&mut self, op: &Op, shape: &Shape, n: usize, counter: Option<usize>) -> Result<()> {
        if let Some(counter) = counter.and_then(|slot| self.counters.get_mut(slot)) {
            *counter = Some(vec![0; n]);
        }
        let mut zeros = Column::new(shape, n);
        zeros.push_default(n)?;
        let zeros = zeros.finish()?;
        self.write(op, 0, n, &View::new(shape, zeros.as_ref())?)
    }
}
