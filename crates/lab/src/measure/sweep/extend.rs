//! Extends a sweep: what a folder has and what is requested become one sweep, in which nothing is measured twice. Refuses, by name, what
//! makes measurements incomparable. Knows no files.

use std::collections::{BTreeMap, BTreeSet};

use rootfile::{Error, Result};

use super::journal::Head;
use super::plan::Kind;
use super::point::{AS_IS, Point, Setting};
use super::settings::{SCHEMA, Settings};

/// The requested part of a sweep.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// Its points, of those of the whole sweep.
    pub points: BTreeSet<usize>,
    /// The jobs at each of them.
    pub kinds: Vec<Kind>,
    /// Their repeats.
    pub repeat: usize,
}

impl Request {
    /// The whole of a sweep.
    pub fn whole(head: &Head) -> Self {
        let Settings { kinds, repeat, .. } = &head.settings;
        Self { points: (0..head.points.len()).collect(), kinds: kinds.clone(), repeat: *repeat }
    }
}

/// The sweep that has all that is there and all that is requested. New points come behind those that are there, so that the
/// lines of the journal keep their meaning. The goal and the limits are the requested ones.
///
/// # Errors
///
/// Measurements of the two would not be comparable.
pub(super) fn extended(there: &Head, requested: &Head) -> Result<(Head, Request)> {
    refuse(there, requested)?;
    let mut points = there.points.clone();
    let mut places = BTreeSet::new();
    for point in &requested.points {
        let known = points.iter().position(|other| other.is_same(point));
        if known.is_none() {
            points.push(point.clone());
        }
        places.insert(known.unwrap_or(points.len() - 1));
    }
    say_all_keys(&mut points);
    let (old, new) = (&there.settings, &requested.settings);
    let kinds: BTreeSet<Kind> = old.kinds.iter().chain(&new.kinds).copied().collect();
    let of = |kind: Kind| if new.kinds.contains(&kind) { new } else { old };
    let settings = Settings {
        kinds: kinds.into_iter().collect(),
        repeat: old.repeat.max(new.repeat),
        share: of(Kind::Sparse).share,
        columns: of(Kind::Chosen).columns.clone(),
        ..new.clone()
    };
    let request = Request { points: places, kinds: new.kinds.clone(), repeat: new.repeat };
    Ok((Head { points, settings, ..requested.clone() }, request))
}

/// Adds the keys that only other points have: two grids then read as one. Points with a name are told by it.
fn say_all_keys(points: &mut [Point]) {
    let mut keys: Vec<String> = Vec::new();
    for setting in points.iter().flat_map(|point| &point.settings) {
        if !keys.contains(&setting.key) {
            keys.push(setting.key.clone());
        }
    }
    for point in points.iter_mut().filter(|point| point.name.is_none() || point.baseline) {
        for key in &keys {
            if point.value(key).is_none() {
                let value = point.run_value(key).unwrap_or_else(|| AS_IS.to_owned());
                point.settings.push(Setting { key: key.clone(), value });
            }
        }
    }
}

/// Refuses measurements that are not comparable.
fn refuse(there: &Head, requested: &Head) -> Result<()> {
    let (old, new) = (&there.settings, &requested.settings);
    let both = |kind: Kind| old.kinds.contains(&kind) && new.kinds.contains(&kind);
    let whole = |head: &Head| (head.subject.input.clone(), head.subject.tree.clone(), head.subject.bytes);
    let differs = [
        (there.schema != SCHEMA, "another version of basketry".to_owned()),
        (
            there.machine != requested.machine,
            "another machine; results of different machines are never combined".to_owned(),
        ),
        (
            there.versions != requested.versions,
            format!("another build, or other versions ({})", other_versions(&there.versions, &requested.versions)),
        ),
        (whole(there) != whole(requested), "another input".to_owned()),
        (there.subject != requested.subject, "another part of the input".to_owned()),
        (old.seed != new.seed, "another seed".to_owned()),
        (old.cold != new.cold, "another state of the cache, cold or warm".to_owned()),
        (old.pin != new.pin, "other processors for each job".to_owned()),
        (old.memory != new.memory, "another memory of jobs".to_owned()),
        (both(Kind::Sparse) && old.share != new.share, "another share of picked entries".to_owned()),
        (both(Kind::Chosen) && old.columns != new.columns, "other chosen columns".to_owned()),
    ];
    match differs.into_iter().find(|(differs, _)| *differs) {
        None => Ok(()),
        Some((_, what)) => Err(Error::request(format!("has a sweep with {what}; choose another folder with -o"))),
    }
}

/// The names of the versions that differ.
fn other_versions(there: &BTreeMap<String, String>, requested: &BTreeMap<String, String>) -> String {
    let names: BTreeSet<&String> = there.keys().chain(requested.keys()).collect();
    let differ = names.into_iter().filter(|name| there.get(*name) != requested.get(*name));
    differ.cloned().collect::<Vec<_>>().join(", ")
}
