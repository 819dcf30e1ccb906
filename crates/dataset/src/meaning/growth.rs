//! Two descriptions of a class: which of them has all members of the other, as where a later version of the class adds members.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use rootfile::streamer::{StreamerInfo, StreamerInfos};

use super::conflict::BY_HAND;
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

/// A class of which two sets of streamer infos have other versions, some of which lack members of the newest. ROOT leaves a member
/// as it is in memory where an object's version lacks it: it keeps the value of the entry that was read before.
#[derive(Clone, Debug)]
pub struct OutgrownClass {
    /// The newest version.
    pub newest: Arc<StreamerInfo>,
    /// A member of the newest version, and the version that lacks it.
    lacks: (String, i32),
    /// A member of another version that the newest lacks, and that version.
    dropped: Option<(String, i32)>,
}

impl OutgrownClass {
    /// The classes that both sets describe, in other versions.
    pub fn between(first: &StreamerInfos, second: &StreamerInfos) -> Vec<Self> {
        let mut seen = HashSet::new();
        let names = second.iter().map(|info| info.name.as_str());
        let names = names.filter(|name| !BY_HAND.contains(name) && seen.insert(*name));
        names.filter_map(|name| Self::of(name, first, second)).collect()
    }

    fn of(name: &str, first: &StreamerInfos, second: &StreamerInfos) -> Option<Self> {
        // Objects of version 0 are not written.
        let [ours, theirs] =
            [first, second].map(|infos| infos.versions(name).filter(|info| info.version != 0).collect::<Vec<_>>());
        let has = |infos: &[&Arc<StreamerInfo>], info: &StreamerInfo| {
            infos.iter().any(|other| (other.version, other.checksum) == (info.version, info.checksum))
        };
        let is_same = ours.iter().all(|info| has(&theirs, info)) && theirs.iter().all(|info| has(&ours, info));
        if is_same || ours.is_empty() || theirs.is_empty() {
            return None;
        }
        let all = || ours.iter().chain(&theirs).copied();
        let newest = all().max_by_key(|info| info.version)?;
        let own = elements(newest);
        let older = || all().filter(|info| info.version != newest.version);
        let lacking = |from: &[ElementForm], than: &[ElementForm]| {
            from.iter().find(|member| !than.iter().any(|other| other.name == member.name)).map(ToString::to_string)
        };
        let lacks = older().find_map(|info| Some((lacking(&own, &elements(info))?, info.version)))?;
        let dropped = older().find_map(|info| Some((lacking(&elements(info), &own)?, info.version)));
        Some(Self { newest: Arc::clone(newest), lacks, dropped })
    }

    /// Whether the newest version has all members of the others, so that it can hold the objects of all.
    pub fn holds_all(&self) -> bool {
        self.dropped.is_none()
    }
}

impl fmt::Display for OutgrownClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (class, newest, (member, older)) = (&self.newest.name, self.newest.version, &self.lacks);
        write!(f, "class {class} has {member} in version {newest}, which version {older} lacks")?;
        match &self.dropped {
            Some((member, older)) => {
                write!(f, ", and {member} in version {older} alone: no version has the members of both")
            }
            None => Ok(()),
        }
    }
}

/// The first element that the second does not have.
fn only<'a>(first: &'a [ElementForm], second: &[ElementForm]) -> Option<&'a ElementForm> {
    first.iter().find(|own| !second.iter().any(|other| own.is_same_but_version(other)))
}
