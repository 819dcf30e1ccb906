//! The merging of equal-named objects, one input after the other, as `hadd` calls `Merge` for each file.

use std::borrow::Cow;

use rootfile::object::{Graph, Object, ObjectReader, ObjectWriter};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result};

use super::pair::{Addend, Context, Note, Target};
use super::rules::MergeRule;
use super::{collection, entry_lists, graph, hist, nd, parameter, polygons, statistic};
use crate::{inner_trees, process_ids};

/// The record of an object in an input.
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
    /// Is added to the numbers of process identifiers, so that they fit the output's table.
    pub pid_offset: u16,
}

/// The sum of the objects so far.
pub struct Merger<'a> {
    object: Object,
    graph: Graph,
    infos: Cow<'a, StreamerInfos>,
}

impl<'a> Merger<'a> {
    /// Whether objects of this class can be merged.
    pub fn can_merge(class: &str) -> bool {
        MergeRule::of(class).merges()
    }

    /// Starts with the first object. The sum keeps its name, title and options.
    ///
    /// # Errors
    ///
    /// The object cannot be read, or a tree lies in it.
    pub fn new(first: Input<'a>) -> Result<Self> {
        let (object, graph) = read(&first)?;
        if inner_trees::holds_tree(&graph) {
            return Err(Error::unsupported(format!("a {} with a tree in it", first.class)));
        }
        if MergeRule::of(first.class).merges() && object.members().is_none() && !is_collection(&object) {
            return Err(Error::unsupported(format!("a {} of this version cannot be read", first.class)));
        }
        Ok(Self { object, graph, infos: Cow::Borrowed(first.infos) })
    }

    /// The same sum, which outlives the first object's file.
    #[must_use]
    pub fn into_owned(self) -> Merger<'static> {
        Merger { object: self.object, graph: self.graph, infos: Cow::Owned(self.infos.into_owned()) }
    }

    /// Adds the next object. Each part that could not be merged has a note with the reason; the sum is without it.
    ///
    /// # Errors
    ///
    /// The object cannot be read.
    pub fn add(&mut self, next: Input<'_>) -> Result<Vec<Note>> {
        let mut notes = Vec::new();
        if *self.object.class != *next.class {
            notes.push(Note::NotMerged(format!("it is a {}, the first a {}", next.class, self.object.class)));
            return Ok(notes);
        }
        let (object, graph) = read(&next)?;
        let target = Target { object: &mut self.object, graph: &mut self.graph };
        let addend = Addend { object: &object, graph: &graph };
        let mut context = Context { infos: &self.infos, notes: &mut notes, merge_object };
        let merged = merge_object(target, addend, &mut context);
        notes.extend(merged.err().map(Note::NotMerged));
        Ok(notes)
    }

    /// The payload of the sum, behind a key of this length.
    ///
    /// # Errors
    ///
    /// The sum is larger than a record can be.
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
    process_ids::shift_references(&mut object, &mut graph, input.pid_offset)?;
    Ok((object, graph))
}

/// Merges an object into another of the same class.
fn merge_object(target: Target<'_>, addend: Addend<'_>, context: &mut Context<'_>) -> std::result::Result<(), String> {
    match MergeRule::of(&target.object.class) {
        MergeRule::Histogram => hist::merge(target, addend, context),
        MergeRule::ManyDimensions => nd::merge(target, addend, context.notes),
        MergeRule::Polygons => polygons::merge(target, addend, context.notes),
        MergeRule::Graph => graph::merge(target.object, addend.object),
        MergeRule::EntryList => entry_lists::merge(target, addend),
        MergeRule::EventList => entry_lists::merge_events(target.object, addend.object),
        MergeRule::Statistic => statistic::merge(target.object, addend.object),
        MergeRule::Parameter => parameter::merge(target.object, addend.object),
        MergeRule::List => collection::merge_list(target, addend, context),
        MergeRule::Stack => collection::merge_stack(target, addend, context),
        MergeRule::Efficiency => collection::merge_efficiency(target, addend, context),
        MergeRule::FirstOnly => Err(format!("of a {}, ROOT keeps the first alone", target.object.class)),
        MergeRule::OnlyByRoot | MergeRule::None => Err(format!("a {} is not merged", target.object.class)),
    }
}
