//! The two sides of a merge: the object that grows, the object that is added, and the notes on what happened.

use rootfile::object::{Graph, Object};
use rootfile::streamer::StreamerInfos;

/// A remark on the merging of one object with the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The object was not merged, or only in part, for this reason.
    NotMerged(String),
    /// The object was merged as ROOT merges it, with this side effect.
    Changed(String),
}

/// The object that others are added to. At the start it is the object of the first input.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub object: &'a mut Object,
    /// The objects that it points to.
    pub graph: &'a mut Graph,
}

/// The object that is added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addend<'a> {
    pub object: &'a Object,
    /// The objects that it points to.
    pub graph: &'a Graph,
}

/// Merges an object into another of the same class.
type MergeObject = fn(Target<'_>, Addend<'_>, &mut Context<'_>) -> Result<(), String>;

/// What a merge needs beside the two objects.
pub(super) struct Context<'a> {
    /// The streamer infos of the target's file.
    pub infos: &'a StreamerInfos,
    pub notes: &'a mut Vec<Note>,
    /// Merges the elements of collections, whatever their class.
    pub merge_object: MergeObject,
}
