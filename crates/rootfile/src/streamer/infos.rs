//! A set of streamer infos, by class and version.

use std::collections::HashMap;
use std::sync::Arc;

use super::builtin;
use super::info::StreamerInfo;

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

    /// The info that was added with exactly this version and checksum.
    pub fn layout(&self, class: &str, version: i32, checksum: u32) -> Option<&Arc<StreamerInfo>> {
        self.versions(class).find(|info| info.version == version && info.checksum == checksum)
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
