//! Member-wise containers whose members are numbers or objects of equal size. The first container defines the form, and
//! later containers of the same form are read in one go; `objects` reads all others member by member.

use super::column::Column;
use super::rows::Rows;
use super::walk::Walk;
use crate::decode::program::class_reader::{Destination, find};
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;

/// The form of a member-wise container's members.
#[derive(Clone, Debug)]
pub(super) struct MemberwiseForm {
    /// Version and checksum of the class.
    layout: (i16, u32),
    /// Bytes of an object.
    size: usize,
    /// `None` if the members have other types.
    members: Option<Vec<Member>>,
}

/// A member of all objects. `at` is the number of bytes that each object has before it.
#[derive(Clone, Debug)]
enum Member {
    Number { part: usize, at: usize, number: Number },
    Rows { part: usize, at: usize, rows: Rows },
}

impl MemberwiseForm {
    /// The form of the members of the `n` objects at the walk's cursor.
    pub(super) fn of(walk: Walk<'_>, reader: usize, layout: (i16, u32), n: usize) -> Self {
        let found = Self::members(walk, reader, layout, n);
        let (size, members) = found.map_or((0, None), |(size, members)| (size, Some(members)));
        Self { layout, size, members }
    }

    fn members(
        mut walk: Walk<'_>,
        reader: usize,
        (version, checksum): (i16, u32),
        n: usize,
    ) -> Option<(usize, Vec<Member>)> {
        let version = find(walk.readers.get(reader)?, version.into(), checksum).ok()?;
        let (mut at, mut members) = (0usize, Vec::new());
        for step in version.steps.as_ref().ok().filter(|_| version.missing.is_empty())? {
            let Destination::Part(part) = step.destination else { return None };
            let (size, member) = match &step.op {
                _ if step.counts.is_some() => return None,
                Op::Number(number) => (number.size(), Member::Number { part, at, number: *number }),
                Op::Object(inner) => {
                    let rows = Rows::of(&walk, *inner).filter(|rows| rows.size() > 0)?;
                    (rows.size(), Member::Rows { part, at, rows })
                }
                _ => return None,
            };
            members.push(member);
            walk.cursor.skip(size.checked_mul(n)?).ok()?;
            at = at.checked_add(size)?;
        }
        Some((at, members)).filter(|(size, _)| *size > 0)
    }

    /// Bytes of an object, if the members of this version have such a form.
    pub(super) fn size(&self, layout: (i16, u32)) -> Option<usize> {
        self.members.as_ref().filter(|_| self.layout == layout).map(|_| self.size)
    }

    /// Reads the members of `n` objects into the parts of a record, if all have this form.
    pub(super) fn read(&self, bytes: &[u8], n: usize, parts: &mut [Column]) -> bool {
        let slice = |at: usize, size: usize| bytes.get(at * n..(at + size) * n).unwrap_or_default();
        let members = self.members.as_deref().unwrap_or_default();
        let fits = |member: &Member| match member {
            Member::Number { part, .. } => matches!(parts.get(*part), Some(Column::Numbers(..))),
            Member::Rows { part, at, rows } => {
                matches!(parts.get(*part), Some(Column::Record { .. })) && rows.fits(slice(*at, rows.size()))
            }
        };
        if !members.iter().all(fits) {
            return false;
        }
        for member in members {
            match member {
                Member::Number { part, at, number } => {
                    if let Some(Column::Numbers(_, words)) = parts.get_mut(*part) {
                        words.extend_be(slice(*at, number.size()));
                    }
                }
                Member::Rows { part, at, rows } => {
                    if let Some(Column::Record { len, parts, .. }) = parts.get_mut(*part) {
                        rows.push(slice(*at, rows.size()), n, parts);
                        *len += n;
                    }
                }
            }
        }
        true
    }
}
