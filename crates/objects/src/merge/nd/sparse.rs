//! `THnSparse`: the filled bins in chunks of equal length, each bin with its coordinates packed into the fewest bits. Bins
//! that are new to the first histogram follow its own, in the order of the other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rootfile::object::{Array, Content, Graph, Members, Object, ObjectId, Value};
use rootfile::streamer::code;

use super::kind::Errors;
use super::numbers::Numbers;
use crate::merge::members::{int, set_int};
use crate::merge::pair::{Addend, Target};

/// Largest new chunk, in bins, if no chunk of the input is larger: a chunk allocates all of its bins at once.
const CHUNK_ALLOWED: usize = 1 << 20;
/// The member of a chunk that counts the bytes of its coordinates.
const COORDINATES_SIZE: &str = "fCoordinatesSize";

/// The filled bins of all chunks in one.
#[derive(Debug)]
struct Bins {
    /// Bins of a chunk.
    chunk: usize,
    /// Bytes of the coordinates of one bin.
    width: usize,
    coordinates: Vec<u8>,
    contents: Option<Numbers>,
    sumw2: Vec<f64>,
    chunks: Vec<ObjectId>,
}

/// Calls `visit` with the number of the bin on each axis, and the content, of all filled bins.
pub(super) fn each_bin(
    object: &Object,
    graph: &Graph,
    bins: &[usize],
    mut visit: impl FnMut(&[usize], f64),
) -> Result<(), String> {
    let filled = Bins::decode(object, graph, coordinate_width(bins), false)?;
    let Some(contents) = &filled.contents else { return Ok(()) };
    for (bin, packed) in filled.coordinates.chunks_exact(filled.width).enumerate() {
        visit(&unpacked(packed, bins), contents.get(bin));
    }
    Ok(())
}

/// Adds the bins. Returns the number of bins that overflowed their number type.
pub(super) fn merge(
    Target { object: first, graph }: Target<'_>,
    Addend { object: other, graph: other_graph }: Addend<'_>,
    bins: &[usize],
    errors: Errors,
) -> Result<usize, String> {
    let width = coordinate_width(bins);
    let mut sum = Bins::decode(first, graph, width, errors.mine)?;
    let added = Bins::decode(other, other_graph, width, errors.theirs)?;
    let Some(code) = sum.contents.as_ref().or(added.contents.as_ref()).map(Numbers::code) else { return Ok(0) };
    // One of the two may have no bin. If the other keeps squares, those of all bins are made all the same.
    let none = || Numbers::new(code, Vec::new()).ok_or("contents of a type that is not known");
    let their_contents = added.contents.map_or_else(none, Ok)?;
    let contents = sum.contents.get_or_insert(none()?);
    if contents.code() != their_contents.code() {
        return Err("its bins are of another type than those of the first".to_owned());
    }
    if errors.any() && !errors.mine {
        sum.sumw2 = (0..contents.len()).map(|bin| contents.get(bin)).collect();
    }
    let targets = targets(&sum.coordinates, &added.coordinates, width);
    let len = contents.len().max(targets.iter().max().map_or(0, |last| last.saturating_add(1)));
    contents.resize(len);
    sum.coordinates.resize(len.saturating_mul(width), 0);
    if errors.any() {
        sum.sumw2.resize(len, 0.0);
    }
    let mut overflows = 0;
    for (bin, (target, coordinates)) in targets.iter().zip(added.coordinates.chunks_exact(width)).enumerate() {
        let content = their_contents.get(bin);
        overflows += usize::from(!contents.add(*target, content));
        if let Some(sumw2) = sum.sumw2.get_mut(*target) {
            *sumw2 += if errors.theirs { added.sumw2.get(bin).copied().unwrap_or(0.0) } else { content };
        }
        let place = target.saturating_mul(width);
        if let Some(place) = sum.coordinates.get_mut(place..place.saturating_add(width)) {
            place.copy_from_slice(coordinates);
        }
    }
    // An empty first histogram takes version and members of a chunk from the other.
    let template = added.chunks.first().and_then(|id| other_graph.get(*id));
    sum.store(Target { object: first, graph }, template, errors.any())?;
    Ok(overflows)
}

/// For each of the other's bins, the number of the bin with these coordinates.
fn targets(mine: &[u8], theirs: &[u8], width: usize) -> Vec<usize> {
    let mut known: HashMap<&[u8], usize> = mine.chunks_exact(width).zip(0..).collect();
    let mut next = mine.len() / width;
    let mut find = |coordinates| match known.entry(coordinates) {
        Entry::Occupied(bin) => *bin.get(),
        Entry::Vacant(place) => {
            next += 1;
            *place.insert(next - 1)
        }
    };
    theirs.chunks_exact(width).map(&mut find).collect()
}

/// Bits of the coordinate on an axis: as many as the number of its bins with two more has.
fn bits(bins: usize) -> usize {
    (usize::BITS - bins.saturating_add(2).leading_zeros()) as usize
}

/// Bytes of packed coordinates.
fn coordinate_width(bins: &[usize]) -> usize {
    bins.iter().map(|bins| bits(*bins)).sum::<usize>().div_ceil(8).max(1)
}

/// The number of the bin on each axis. They follow each other from the lowest bit of the first byte
/// (`THnSparseCompactBinCoord::SetBufferFromCoord`).
fn unpacked(packed: &[u8], bins: &[usize]) -> Vec<usize> {
    let mut from = 0;
    let mut next = |bins: &usize| {
        let own = from..from + bits(*bins);
        from = own.end;
        let bit = |at: usize| packed.get(at / 8).map_or(0, |byte| usize::from(byte >> (at % 8) & 1));
        own.rev().fold(0, |number, at| number << 1 | bit(at))
    };
    bins.iter().map(&mut next).collect()
}

impl Bins {
    fn decode(object: &Object, graph: &Graph, width: usize, errors: bool) -> Result<Self, String> {
        let unreadable = || "its bins cannot be read".to_owned();
        let m = object.members().ok_or_else(unreadable)?;
        let Some(Value::Object(list)) = m.get("fBinContent") else { return Err(unreadable()) };
        let Content::Collection(list) = &list.content else { return Err(unreadable()) };
        let chunk = usize::try_from(int(m, "fChunkSize")).ok().filter(|n| *n > 0).ok_or_else(unreadable)?;
        let mut bins = Self {
            chunk,
            width,
            coordinates: Vec::new(),
            contents: None,
            sumw2: Vec::new(),
            chunks: list.items.iter().flatten().copied().collect(),
        };
        for (i, id) in bins.chunks.clone().into_iter().enumerate() {
            let m = graph.get(id).and_then(Object::members).ok_or_else(unreadable)?;
            let is_last = i + 1 == bins.chunks.len();
            bins.add_chunk(m, graph, is_last, errors).map_err(|why| format!("its chunk {i} {why}"))?;
        }
        let (filled, found) = (int(m, "fFilledBins"), bins.coordinates.len() / width);
        if usize::try_from(filled).ok() != Some(found) {
            return Err(format!("it says that {filled} bins are filled, and has {found}"));
        }
        Ok(bins)
    }

    fn add_chunk(&mut self, m: &Members, graph: &Graph, is_last: bool, errors: bool) -> Result<(), String> {
        let array = |name: &str| {
            let array = m.get(name).and_then(Value::as_pointer).and_then(|id| graph.get(id));
            array.and_then(|object| match &object.content {
                Content::Array(array) => Some(array),
                _ => None,
            })
        };
        let coordinates = m.get("fCoordinates").and_then(Value::as_array).ok_or("has no coordinates")?;
        let filled = coordinates.raw.len() / self.width;
        let said = int(m, "fSingleCoordinateSize");
        if usize::try_from(said).ok() != Some(self.width) || !coordinates.raw.len().is_multiple_of(self.width) {
            return Err(format!("has coordinates of {said} bytes, the axes ask for {}", self.width));
        }
        let contents = array("fContent").ok_or("has no contents")?;
        if contents.len() != self.chunk || filled > self.chunk || !is_last && filled != self.chunk {
            let (n, chunk) = (contents.len(), self.chunk);
            return Err(format!("has {filled} coordinates and {n} contents, where a chunk has {chunk}"));
        }
        let own = contents.raw.get(..filled.saturating_mul(contents.item_size())).unwrap_or_default();
        match &mut self.contents {
            Some(all) if all.code() == contents.code => all.raw.extend_from_slice(own),
            Some(_) => return Err("is of another type than the first chunk".to_owned()),
            None => self.contents = Some(Numbers::new(contents.code, own.to_vec()).ok_or("is of an unknown type")?),
        }
        if errors {
            let sumw2 = array("fSumw2").map(Array::to_f64).filter(|sumw2| sumw2.len() == self.chunk);
            self.sumw2.extend_from_slice(sumw2.as_deref().and_then(|s| s.get(..filled)).ok_or("has no errors")?);
        }
        self.coordinates.extend_from_slice(&coordinates.raw);
        Ok(())
    }

    fn store(
        self,
        Target { object, graph }: Target<'_>,
        template: Option<&Object>,
        errors: bool,
    ) -> Result<(), String> {
        let Some(mut contents) = self.contents else { return Ok(()) };
        let (filled, chunk) = (contents.len(), self.chunk);
        if self.chunks.is_empty() && chunk > CHUNK_ALLOWED {
            return Err(format!("its chunks have room for {chunk} bins each, more than {CHUNK_ALLOWED}"));
        }
        let chunks = filled.div_ceil(chunk);
        contents.resize(chunks.saturating_mul(chunk));
        let mut sumw2: Vec<u8> = self.sumw2.iter().flat_map(|v| v.to_be_bytes()).collect();
        sumw2.resize(if errors { chunks.saturating_mul(chunk).saturating_mul(8) } else { 0 }, 0);
        let code = contents.code();
        let (content_class, content_size) = array_class(code).ok_or("contents of a type that is not known")?;
        let template = self.chunks.first().and_then(|id| graph.get(*id)).or(template).cloned();
        let template = template.ok_or("a chunk cannot be made")?;
        let mut ids = self.chunks;
        let parts = contents.raw.chunks(chunk.saturating_mul(content_size));
        for (i, (raw, coordinates)) in parts.zip(self.coordinates.chunks(chunk.saturating_mul(self.width))).enumerate()
        {
            let array = |class: &str, code, raw: &[u8]| Object {
                class: class.into(),
                version: 0,
                content: Content::Array(Array { code, raw: raw.to_vec() }),
            };
            let id = match ids.get(i) {
                Some(id) => *id,
                None => {
                    let mut new = template.clone();
                    // The new chunk gets arrays of its own.
                    for name in ["fContent", "fSumw2"] {
                        if let Some(pointer) = new.members_mut().and_then(|m| m.get_mut(name)) {
                            *pointer = Value::Pointer(None);
                        }
                    }
                    let id = graph.add(new);
                    ids.push(id);
                    id
                }
            };
            let Some(mut taken) = graph.take(id) else { continue };
            if let Some(m) = taken.members_mut() {
                set_int(m, "fSingleCoordinateSize", i64::try_from(self.width).unwrap_or(i64::MAX));
                set_int(m, COORDINATES_SIZE, i64::try_from(coordinates.len()).unwrap_or(i64::MAX));
                if let Some(Value::Array(array)) = m.get_mut("fCoordinates") {
                    array.raw = coordinates.to_vec();
                }
                point_to(m, "fContent", graph, array(content_class, code, raw));
                if errors {
                    let bytes = chunk.saturating_mul(8);
                    let own =
                        sumw2.get(i.saturating_mul(bytes)..).and_then(|rest| rest.get(..bytes)).unwrap_or_default();
                    point_to(m, "fSumw2", graph, array("TArrayD", code::DOUBLE, own));
                }
            }
            if let Some(slot) = graph.objects.get_mut(id) {
                *slot = Some(taken);
            }
        }
        let m = object.members_mut().ok_or("its bins cannot be read")?;
        set_int(m, "fFilledBins", i64::try_from(filled).unwrap_or(i64::MAX));
        if let Some(Value::Object(list)) = m.get_mut("fBinContent")
            && let Content::Collection(list) = &mut list.content
        {
            list.items = ids.into_iter().map(Some).collect();
        }
        Ok(())
    }
}

/// Replaces the object behind a member's pointer, or sets the pointer.
fn point_to(m: &mut Members, name: &str, graph: &mut Graph, object: Object) {
    match m.get_mut(name) {
        Some(Value::Pointer(Some(id))) => {
            if let Some(slot) = graph.objects.get_mut(*id) {
                *slot = Some(object);
            }
        }
        Some(pointer) => *pointer = Value::Pointer(Some(graph.add(object))),
        None => {}
    }
}

/// The array class of numbers of a type, and bytes of one.
fn array_class(code: i32) -> Option<(&'static str, usize)> {
    Some(match code {
        code::CHAR => ("TArrayC", 1),
        code::SHORT => ("TArrayS", 2),
        code::INT => ("TArrayI", 4),
        code::LONG => ("TArrayL", 8),
        code::LONG64 => ("TArrayL64", 8),
        code::FLOAT => ("TArrayF", 4),
        code::DOUBLE => ("TArrayD", 8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_take_the_fewest_bits() {
        // 10 bins, underflow and overflow: the number 12 has four bits.
        assert_eq!(coordinate_width(&[10]), 1);
        assert_eq!(coordinate_width(&[15, 100, 2, 20, 10, 100]), 4);
        assert_eq!(coordinate_width(&[60, 100, 200, 30000]), 5);
    }

    #[test]
    fn coordinates_are_unpacked_from_the_lowest_bit() {
        // Three bits for 0 to 5, four for 0 to 11, nine for 0 to 301.
        assert_eq!(unpacked(&[0b1101_1101, 0b1001_0110, 0b0000_0000], &[4, 10, 300]), [5, 11, 301]);
        assert_eq!(unpacked(&[], &[4, 10]), [0, 0]);
    }

    #[test]
    fn bins_are_found_by_their_coordinates() {
        assert_eq!(targets(b"aabb", b"bbccaacc", 2), [1, 2, 0, 2]);
    }
}
