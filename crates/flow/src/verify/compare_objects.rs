//! Compares directories and all objects except trees. Objects that several inputs have are merged first. Equal payloads are
//! equal objects. Other payloads are read as values, because a name of another length moves the class tags in a record.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dataset::meaning::{ClassConflicts, Reach};
use objects::{Action, Input, Merger, ObjectLocation, inner_trees, process_ids};
use rootfile::object::ObjectReader;
use rootfile::{Key, Result, RootFile};

use super::options::VerifyOptions;
use super::side::{Side, no_file, path_of};
use super::verdict::{Difference, Verdict};
use crate::select::cut_flow::is_cut_flow;
use crate::table::object_values::Comparison;

/// Compares directories by path and title.
pub(super) fn directories(first: &Side, second: &Side, common: bool, verdict: &mut Verdict) {
    let titles = |side: &'_ Side| -> HashMap<String, String> {
        side.plan.directories.iter().map(|d| (d.path.clone(), d.title.clone())).collect()
    };
    let (ours, theirs) = (titles(first), titles(second));
    // The first is the top, whose title is the file's own.
    for directory in first.plan.directories.iter().skip(1) {
        let path = &directory.path;
        match theirs.get(path) {
            None if common => {}
            None => verdict.differences.push(Difference::of_object(path, "only the first side has this directory")),
            Some(other) if *other != directory.title => {
                let what = format!("the directory's title is {:?} and {other:?}", directory.title);
                verdict.differences.push(Difference::of_object(path, what));
            }
            Some(_) => {}
        }
    }
    for directory in second.plan.directories.iter().filter(|d| !common && !ours.contains_key(&d.path)) {
        let difference = Difference::of_object(&directory.path, "only the second side has this directory");
        verdict.differences.push(difference);
    }
}

/// The objects of one name and class on one side.
struct NamedObjects<'a> {
    parts: &'a [ObjectLocation],
    /// Older cycles of objects that are merged, the second newest first.
    older: &'a [Vec<ObjectLocation>],
    /// Whether they are merged.
    merge: bool,
}

impl NamedObjects<'_> {
    /// Number of older cycles on a side with one file or several.
    fn older_cycles(&self, single: bool) -> usize {
        if single && !self.merge { self.parts.len().saturating_sub(1) } else { self.older.len() }
    }

    /// Whether a merge of the side has one such object, besides older cycles.
    fn is_one(&self, files: usize) -> bool {
        self.merge || files == 1
    }
}

/// Objects by path and class.
fn objects_of(side: &Side) -> BTreeMap<(String, &str), NamedObjects<'_>> {
    let entries = side.plan.directories.iter().flat_map(|d| d.entries.iter().map(move |e| (d, e)));
    entries
        .filter_map(|(directory, entry)| {
            let (parts, merge) = match &entry.action {
                // A single object of a class that is merged: its older cycles are counted apart.
                Action::Copy(part) => (std::slice::from_ref(part), !entry.older.is_empty()),
                Action::KeepAll(parts) | Action::Stay(parts) => (parts.as_slice(), false),
                Action::Merge(parts) => (parts.as_slice(), true),
                Action::Tree(_) | Action::Ntuple(_) | Action::Directory(_) => return None,
            };
            Some((
                (path_of(&directory.path, &entry.name), entry.class.as_str()),
                NamedObjects { parts, older: &entry.older, merge },
            ))
        })
        .collect()
}

/// Compares all objects, and the table of process identifiers that references in entries and objects index.
pub(super) fn compare(first: &Side, second: &Side, options: &VerifyOptions, verdict: &mut Verdict) -> Result<()> {
    let lists: Vec<_> = first.files.iter().map(|file| process_ids::read(file)).collect();
    let (processes, pid_offsets) = process_ids::join(&lists)?;
    let others: Vec<_> = second.files.iter().flat_map(|file| process_ids::read(file)).collect();
    if !options.common && processes != others {
        let what = format!("there are {} process identifiers and {}, not all the same", processes.len(), others.len());
        verdict.differences.push(Difference::of_object("TProcessID", what));
    }
    let comparer = Comparer { first, second, conflicts: conflicts(first, second), pid_offsets, options };
    let (ours, theirs) = (objects_of(first), objects_of(second));
    let keys: BTreeSet<_> = ours.keys().chain(theirs.keys()).collect();
    for at in keys {
        let (path, class) = at;
        let (mine, other) = match (ours.get(at), theirs.get(at)) {
            (Some(mine), Some(other)) => (mine, other),
            (mine, _) => {
                // What a skim with these cuts has besides.
                let is_made = mine.is_none() && !options.entries.cuts.is_empty() && is_cut_flow(class, path);
                if !options.common && !is_made {
                    let side = if mine.is_some() { "first" } else { "second" };
                    let what = format!("only the {side} side has this {class}");
                    verdict.differences.push(Difference::of_object(path, what));
                }
                continue;
            }
        };
        verdict.objects += 1;
        if let Some(what) = comparer.objects(mine, other).map_err(|e| e.object(path.clone()))? {
            verdict.differences.push(Difference::of_object(path, what));
        }
        let (ours, theirs) = (mine.older_cycles(comparer.first.files.len() == 1), other.older_cycles(true));
        if mine.is_one(comparer.first.files.len()) && ours != theirs {
            let count = |n: usize| if n == 1 { "1 older cycle".to_owned() } else { format!("{n} older cycles") };
            let (ours, theirs) = (count(ours), theirs);
            verdict.notes.push(format!("{path}: {ours} of this {class} on the first side, {theirs} on the second; only the newest cycles are compared"));
        }
    }
    Ok(())
}

/// The classes that the files of two sides describe differently, by the numbers of the files.
fn conflicts(first: &Side, second: &Side) -> HashMap<(u32, u32), ClassConflicts> {
    let mut conflicts = HashMap::new();
    for (i, ours) in (0..).zip(&first.files) {
        for (j, theirs) in (0..).zip(&second.files) {
            let found = ClassConflicts::between(ours.infos(), theirs.infos());
            if !found.is_empty() {
                conflicts.insert((i, j), found);
            }
        }
    }
    conflicts
}

struct Comparer<'a> {
    first: &'a Side,
    second: &'a Side,
    /// For each file of the first side and each of the second, the classes that they describe differently.
    conflicts: HashMap<(u32, u32), ClassConflicts>,
    /// Added to the numbers of process identifiers in the objects of each input.
    pid_offsets: Vec<u16>,
    options: &'a VerifyOptions,
}

impl Comparer<'_> {
    fn objects(&self, ours: &NamedObjects<'_>, theirs: &NamedObjects<'_>) -> Result<Option<String>> {
        let Some(newest) = theirs.parts.last() else { return Ok(None) };
        // Older cycles are compared only where both sides have as many.
        if ours.merge {
            if ours.older.len() == theirs.parts.len().saturating_sub(1) {
                for (parts, other) in ours.older.iter().rev().zip(theirs.parts) {
                    if let Some(what) = self.object(parts, *other)? {
                        return Ok(Some(format!("in an older cycle, {what}")));
                    }
                }
            }
            // A merge keeps objects that it cannot merge, each as a cycle of its own.
            if ours.parts.len() > 1 && ours.parts.len() == theirs.parts.len() && !self.is_merged(ours.parts)? {
                return self.each(ours.parts, theirs.parts);
            }
            return self.object(ours.parts, *newest);
        }
        if self.first.files.len() == 1 && ours.parts.len() != theirs.parts.len() {
            let newest_of_ours = ours.parts.get(ours.parts.len().saturating_sub(1)..).unwrap_or_default();
            return self.object(newest_of_ours, *newest);
        }
        if ours.parts.len() != theirs.parts.len() {
            return Ok(Some(format!("there are {} cycles and {}", ours.parts.len(), theirs.parts.len())));
        }
        self.each(ours.parts, theirs.parts)
    }

    /// The first difference between objects, one by one.
    fn each(&self, ours: &[ObjectLocation], theirs: &[ObjectLocation]) -> Result<Option<String>> {
        for (mine, other) in ours.iter().zip(theirs) {
            if let Some(what) = self.object(std::slice::from_ref(mine), *other)? {
                return Ok(Some(what));
            }
        }
        Ok(None)
    }

    /// Whether these objects can be merged.
    fn is_merged(&self, parts: &[ObjectLocation]) -> Result<bool> {
        let Some((first, rest)) = parts.split_first() else { return Ok(true) };
        let (file, key, payload) = self.load(self.first, *first)?;
        let Ok(mut merger) = Merger::new(self.input(*first, file, &key, &payload)) else { return Ok(false) };
        for part in rest {
            let (file, key, payload) = self.load(self.first, *part)?;
            let _ = merger.add(self.input(*part, file, &key, &payload));
        }
        Ok(merger.payload(usize::from(key.keylen)).is_ok())
    }

    /// The difference between the sum of `parts` and an object of the second side.
    fn object(&self, parts: &[ObjectLocation], other: ObjectLocation) -> Result<Option<String>> {
        let (file, key, payload) = self.load(self.second, other)?;
        let Some(first) = parts.first() else { return Ok(None) };
        let (own_file, own_key, own_payload) = self.load(self.first, *first)?;
        if own_key.title != key.title {
            return Ok(Some(format!("the title is {:?} and {:?}", own_key.title, key.title)));
        }
        // Bytes are equal values only if all of their classes are described alike.
        if parts.len() == 1
            && let Some(conflicts) = self.conflicts.get(&(first.file, other.file))
        {
            let mut reach = Reach::of_object(&own_key.class, &own_payload, own_file.infos());
            reach.extend(&Reach::of_object(&key.class, &payload, file.infos()));
            if let Some(conflict) = conflicts.among(&reach).first() {
                return Ok(Some(format!("on the second side, {conflict}")));
            }
        }
        if parts.len() == 1 && own_payload == payload {
            return Ok(None);
        }
        let mut expected = None;
        // An object that cannot be read can only be compared as bytes.
        if let Ok(mut merger) = Merger::new(self.input(*first, own_file, &own_key, &own_payload)) {
            for part in parts.iter().skip(1) {
                let (file, key, payload) = self.load(self.first, *part)?;
                // A merge leaves out of the sum what cannot be added, too.
                let _ = merger.add(self.input(*part, file, &key, &payload));
            }
            expected = merger.payload(usize::from(key.keylen)).ok();
        }
        let differs = format!("the {} has another content", key.class);
        if parts.len() == 1 && expected.is_none() && own_key.keylen == key.keylen {
            expected = Some(own_payload);
        }
        let Some(expected) = expected else { return Ok(Some(differs)) };
        if expected == payload {
            return Ok(None);
        }
        let read = |payload: &[u8], file: &RootFile| {
            let read = ObjectReader::new(payload, usize::from(key.keylen), file.infos()).read_root(&key.class);
            read.map(|(object, mut graph)| {
                inner_trees::hash_baskets(&mut graph, &**file.source());
                (object, graph)
            })
        };
        match (read(&expected, own_file), read(&payload, file)) {
            (Ok((a, ours)), Ok((b, theirs))) if Comparison::new(&ours, &theirs).objects_equal(&a, &b) => Ok(None),
            _ => Ok(Some(differs)),
        }
    }

    fn load<'a>(&self, side: &'a Side, part: ObjectLocation) -> Result<(&'a RootFile, Key, Vec<u8>)> {
        let (_, _, key) = side.locate(part)?;
        let file = side.files.get(part.file as usize).ok_or_else(no_file)?;
        // Two objects are in memory at once, each beside its record.
        self.options.budget.share(0, 4 * u64::from(key.objlen))?;
        let payload = file.payload(&key)?;
        Ok((file, key, payload))
    }

    fn input<'a>(&self, part: ObjectLocation, file: &'a RootFile, key: &'a Key, payload: &'a [u8]) -> Input<'a> {
        let pid_offset = self.pid_offsets.get(part.file as usize).copied().unwrap_or(0);
        Input { class: &key.class, payload, keylen: key.keylen, infos: file.infos(), pid_offset }
    }
}
