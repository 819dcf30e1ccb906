//! Streamer infos: the description, kept in each file, of how the classes in it are laid out.
//!
//! A [`StreamerInfo`] lists the elements (bases and members) of one version of one class. [`StreamerInfos`]
//! holds those of a file and answers by class and version, falling back on the infos of ROOT 6 classes that
//! are built in ([`builtin`]). How an element's type code lies in bytes is said in `object`.

pub mod builtin;
pub mod describe;
mod element;
mod range;
mod record;

pub use element::{ElementKind, HAS_RANGE, StreamerElement, code};
pub use range::Range;
pub use record::{parse_record, write_record};

use std::collections::HashMap;
use std::sync::Arc;

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
    /// fBits, as far as they say how ROOT is to treat the class.
    pub bits: u32,
    /// Class version of the `TStreamerInfo` itself: ROOT reads some members of old classes by it (fOldVersion).
    pub form: i16,
    /// Bases and members in the order they are written.
    pub elements: Vec<StreamerElement>,
}

/// The streamer infos of a file, or of several together.
#[derive(Clone, Debug, Default)]
pub struct StreamerInfos {
    infos: Vec<Arc<StreamerInfo>>,
    by_name: HashMap<String, Vec<usize>>,
}

impl StreamerInfos {
    /// No infos but the built-in ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an info, unless the same class, version and checksum is there.
    pub fn add(&mut self, info: Arc<StreamerInfo>) {
        let known = self.by_name.entry(info.name.clone()).or_default();
        let same =
            |&i: &usize| self.infos.get(i).is_some_and(|k| k.version == info.version && k.checksum == info.checksum);
        if !known.iter().any(same) {
            known.push(self.infos.len());
            self.infos.push(info);
        }
    }

    /// Adds all of another set.
    pub fn extend(&mut self, other: &Self) {
        for info in &other.infos {
            self.add(Arc::clone(info));
        }
    }

    /// The infos in the order they were added, without the built-in ones.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<StreamerInfo>> {
        self.infos.iter()
    }

    /// All versions of a class that were added.
    pub fn versions(&self, class: &str) -> impl Iterator<Item = &Arc<StreamerInfo>> {
        self.by_name.get(class).into_iter().flatten().filter_map(|&i| self.infos.get(i))
    }

    /// The info of exactly this version, from the file or built in.
    pub fn get(&self, class: &str, version: i32) -> Option<Arc<StreamerInfo>> {
        self.versions(class)
            .find(|info| info.version == version)
            .or_else(|| builtin::infos().iter().find(|info| info.name == class && info.version == version))
            .cloned()
    }

    /// The info with this checksum, for classes written without a version of their own.
    pub fn by_checksum(&self, class: &str, checksum: u32) -> Option<Arc<StreamerInfo>> {
        self.versions(class)
            .find(|info| info.checksum == checksum)
            .or_else(|| builtin::infos().iter().find(|info| info.name == class && info.checksum == checksum))
            .cloned()
    }

    /// The newest version of a class, from the file or else built in.
    pub fn latest(&self, class: &str) -> Option<Arc<StreamerInfo>> {
        self.versions(class)
            .max_by_key(|info| info.version)
            .or_else(|| builtin::infos().iter().filter(|info| info.name == class).max_by_key(|info| info.version))
            .cloned()
    }
}
