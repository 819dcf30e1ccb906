//! The description of one version of one class.

use super::element::StreamerElement;

/// Class version of `TStreamerInfo` that ROOT 6 writes.
pub(crate) const FORM: i16 = 9;

/// One version of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamerInfo {
    /// Class name.
    pub name: String,
    /// Title, usually empty.
    pub title: String,
    /// Class version.
    pub version: i32,
    /// ROOT's checksum of the class's layout.
    pub checksum: u32,
    /// fBits, only those about ROOT's treatment of the class.
    pub bits: u32,
    /// Class version of the `TStreamerInfo` itself: ROOT reads some members of old classes by it (fOldVersion).
    pub form: i16,
    /// Bases and members in the order they are written.
    pub elements: Vec<StreamerElement>,
}
