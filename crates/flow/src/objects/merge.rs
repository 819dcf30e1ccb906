//! The merging of equal-named objects, one input after the other, as `hadd` calls `Merge` for each file.

use rootfile::object::{Graph, Object, ObjectReader, ObjectWriter};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::classes::Kind;
use super::{collection, entries, graph, hist, nd, parameter, poly, rewrite, statistic};
use crate::inner;

/// An object as it lies in an input.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Its class, as its key says.
    pub class: &'a str,
    /// The record's payload, decompressed.
    pub payload: &'a [u8],
    /// Length of its key, from which references in the payload count.
    pub keylen: u16,
    /// The streamer infos of its file.
    pub infos: &'a StreamerInfos,
    /// What is added to process-identifier numbers, so that they fit the output.
    pub pid_offset: u16,
}

/// What is to be said of the merging of one object with the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// It was not merged, or not as a whole, for this reason.
    Left(String),
    /// It was merged as ROOT merges it, and this came of it.
    Merged(String),
}

/// The sum of the objects so far.
pub struct Merger<'a> {
    object: Object,
    graph: Graph,
    infos: &'a StreamerInfos,
}

impl<'a> Merger<'a> {
    /// Whether objects of this class can be merged.
    pub fn handles(class: &str) -> bool {
        Kind::of(class).merges()
    }

    /// Starts with the first object, whose name, title and options stay.
    pub fn new(first: Input<'a>) -> Result<Self> {
        let (object, graph) = read(&first)?;
        if inner::holds_tree(&graph) {
            return Err(Error::unsupported(format!("a {} with a tree in it", first.class)));
        }
        if Kind::of(first.class).merges() && object.members().is_none() && !is_collection(&object) {
            return Err(Error::unsupported(format!("a {} of this version cannot be read", first.class)));
        }
        Ok(Self { object, graph, infos: first.infos })
    }

    /// Adds the next. What could not be merged is said, for each a reason; the sum is then without it.
    pub fn add(&mut self, next: Input<'_>) -> Result<Vec<Note>> {
        let mut notes = Vec::new();
        if *self.object.class != *next.class {
            notes.push(Note::Left(format!("it is a {}, the first a {}", next.class, self.object.class)));
            return Ok(notes);
        }
        let (object, graph) = read(&next)?;
        let merged = merge_pair((&mut self.object, &mut self.graph), (&object, &graph), self.infos, &mut notes);
        notes.extend(merged.err().map(Note::Left));
        Ok(notes)
    }

    /// The payload of the sum, behind a key of this length.
    pub fn payload(&self, keylen: usize) -> Result<Vec<u8>> {
        let mut writer = ObjectWriter::new(keylen, &self.graph);
        writer.root(&self.object)?;
        Ok(writer.out.bytes)
    }
}

fn is_collection(object: &Object) -> bool {
    matches!(object.content, rootfile::object::Content::Collection(_))
}

fn read(input: &Input<'_>) -> Result<(Object, Graph)> {
    let reader = ObjectReader::new(input.payload, usize::from(input.keylen), input.infos);
    let (mut object, mut graph) = reader.read_root(input.class)?;
    rewrite::shift_pids(&mut object, &mut graph, input.pid_offset)?;
    Ok((object, graph))
}

/// Merges one object into another of the same class.
pub(super) fn merge_pair(
    first: (&mut Object, &mut Graph),
    other: (&Object, &Graph),
    infos: &StreamerInfos,
    notes: &mut Vec<Note>,
) -> std::result::Result<(), String> {
    match Kind::of(&first.0.class) {
        Kind::Histogram => hist::merge(first, other, infos, notes),
        Kind::ManyDimensions => nd::merge(first, other, notes),
        Kind::Polygons => poly::merge(first, other, notes),
        Kind::Graph => graph::merge(first.0, other.0),
        Kind::Entries => entries::merge_lists(first, other),
        Kind::Events => entries::merge_events(first.0, other.0),
        Kind::Statistic => statistic::merge(first.0, other.0),
        Kind::Parameter => parameter::merge(first.0, other.0),
        Kind::List => collection::merge_list(first, other, infos, notes),
        Kind::Stack => collection::merge_stack(first, other, infos, notes),
        Kind::Efficiency => collection::merge_efficiency(first, other, infos, notes),
        Kind::First => Err(format!("of a {}, ROOT keeps the first alone", first.0.class)),
        Kind::OnlyByRoot | Kind::Plain => Err(format!("a {} is not merged", first.0.class)),
    }
}
