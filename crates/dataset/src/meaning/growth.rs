//! Two descriptions of a class: which of them has all members of the other, as where a later version of the class adds members.

use rootfile::streamer::StreamerInfo;

use super::element::{ElementForm, elements};

/// How the members of two descriptions of a class relate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The first has all members of the second.
    First,
    /// The second has all members of the first, and is not the first.
    Second,
    /// Both have members of their own: the first of each, as text.
    Neither([String; 2]),
}

impl Growth {
    /// Compares two descriptions of a class. Of two with the same members, the later version counts.
    pub fn between(first: &StreamerInfo, second: &StreamerInfo) -> Self {
        let (ours, theirs) = (elements(first), elements(second));
        let (own, other) = (only(&ours, &theirs), only(&theirs, &ours));
        match (own, other) {
            (None, None) if second.version > first.version => Self::Second,
            (_, None) => Self::First,
            (None, Some(_)) => Self::Second,
            (Some(own), Some(other)) => Self::Neither([own.to_string(), other.to_string()]),
        }
    }
}

/// The first element that the second does not have.
fn only<'a>(first: &'a [ElementForm], second: &[ElementForm]) -> Option<&'a ElementForm> {
    first.iter().find(|own| !second.iter().any(|other| own.is_same_but_version(other)))
}
