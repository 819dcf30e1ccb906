//! Scans the records of a file whose lists of keys are missing, for directories, objects, trees and baskets.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use dataset::layout::Container;
use dataset::ntuple::is_ntuple;
use dataset::table::catalog::{TableEntry, tables};
use dataset::tree::basket::BasketHeader;
use dataset::tree::{Tree, is_tree_class, read_tree};
use rootfile::bytes::Cursor;
use rootfile::{Directory, Key, Result, RootFile, is_directory};

use super::ntuple::BLOB;
use super::report::Unreadable;
use super::scan_result::{FoundBasket, FoundTree, Names, ScanResult};
use super::tree::saves::are_saves_of_one;

/// Scans a file. Trees without a record take their branches from `template`.
pub(super) fn scan(input: &Path, template: Option<&RootFile>) -> Result<ScanResult> {
    let file = RootFile::open_unlisted(input)?;
    let mut notes = Vec::new();
    let begin = file.header().begin;
    let mut walked = Walked::default();
    let mut end = file.walk_records(begin, |key| walked.add(&file, key))?;
    let file = with_infos(file, &walked.records, template);
    // More records may follow bytes that are not a record. The scan goes on at the end of the saved file, at the end of a
    // basket that a tree lists, or at a key in a readable list.
    let (mut known, mut trees_read) = (BTreeSet::new(), 0);
    if end < file.source().size() {
        known.extend(listed_records(input).into_iter().chain([file.header().end]));
    }
    while end < file.source().size() {
        for key in walked.records.iter().skip(trees_read).filter(|key| is_tree_class(&file, &key.class)) {
            known.extend(read_tree(&file, key).iter().flat_map(ends));
        }
        trees_read = walked.records.len();
        let Some(&next) = known.range((Bound::Excluded(end), Bound::Unbounded)).next() else { break };
        notes.push(format!("bytes {end} to {next} hold no records and are skipped"));
        end = file.walk_records(next, |key| walked.add(&file, key))?;
    }
    let left = file.source().size().saturating_sub(end);
    if left > 0 {
        notes.push(format!("the last {left} bytes hold no complete record"));
    }
    let Walked { records, baskets, .. } = walked;
    let directories = directories(&file, &records);
    let places: HashMap<u64, usize> = directories.iter().enumerate().map(|(i, d)| (d.seek, i)).collect();
    let mut found = ScanResult {
        file,
        directories,
        trees: Vec::new(),
        baskets,
        ntuples: Vec::new(),
        lost_ntuples: Vec::new(),
        notes,
        unreadable: Vec::new(),
    };
    found.sort_records(records, &places);
    if let Some(template) = template {
        found.take_templates(template)?;
    }
    Ok(found)
}

/// The records of a file. Of baskets, which may be millions, little is kept.
#[derive(Default)]
struct Walked {
    records: Vec<Key>,
    baskets: Vec<FoundBasket>,
    names: Names,
}

impl Walked {
    fn add(&mut self, file: &RootFile, key: Key) {
        match key.class.as_str() {
            "TBasket" => self.baskets.extend(basket(file, &key, &mut self.names)),
            _ => self.records.push(key),
        }
    }
}

/// Positions of the records in a file's lists of keys, as far as the lists can be read.
fn listed_records(input: &Path) -> Vec<u64> {
    let Ok(file) = RootFile::open(input) else { return Vec::new() };
    let directories = file.walk().directories;
    let keys = directories.iter().flat_map(|directory| &directory.keys).map(|key| key.seek_key);
    keys.chain([file.header().seek_info]).filter(|at| *at >= file.header().begin).collect()
}

/// Ends of the baskets that a tree lists.
fn ends(tree: &Tree) -> Vec<u64> {
    let baskets = tree.branches.iter().flat_map(|branch| &branch.baskets);
    baskets.map(|basket| basket.seek.saturating_add(u64::from(basket.nbytes))).collect()
}

/// The last readable streamer infos of the file, with those of the template.
fn with_infos(file: RootFile, records: &[Key], template: Option<&RootFile>) -> RootFile {
    let written = records.iter().rev().filter(|key| key.name == "StreamerInfo" && key.class == "TList");
    let mut places = written.map(|key| key.seek_key).chain([file.header().seek_info].into_iter().filter(|at| *at > 0));
    let mut infos = places.find_map(|at| file.infos_at(at).ok()).map(|infos| (*infos).clone()).unwrap_or_default();
    if let Some(template) = template {
        infos.extend(template.infos());
    }
    file.with_infos(Arc::new(infos))
}

/// The directories that have a record, the top one first.
fn directories(file: &RootFile, records: &[Key]) -> Vec<Directory> {
    let mut top = file.top().clone();
    top.keys.clear();
    let mut places = HashMap::from([(top.seek, 0)]);
    let mut directories = vec![top];
    let mut seen: HashMap<String, usize> = HashMap::new();
    for key in records.iter().filter(|key| is_directory(&key.class) && file.directory_record(key).is_some()) {
        let parent = places.get(&key.seek_pdir).copied().unwrap_or(0);
        let Some(above) = directories.get_mut(parent) else { continue };
        // A directory with a damaged name could contain itself.
        if key.name.is_empty() || key.name.contains('/') {
            continue;
        }
        let path = above.path_of(&key.name);
        if let Some(same) = seen.get(&path) {
            places.insert(key.seek_key, *same);
            continue;
        }
        above.keys.push(key.clone());
        seen.insert(path.clone(), directories.len());
        places.insert(key.seek_key, directories.len());
        directories.push(Directory { path, title: key.title.clone(), seek: key.seek_key, keys: Vec::new() });
    }
    directories
}

impl ScanResult {
    /// Sorts records into trees, RNTuples and objects.
    fn sort_records(&mut self, records: Vec<Key>, places: &HashMap<u64, usize>) {
        let mut candidates: Vec<(usize, Key)> = Vec::new();
        let mut objects: Vec<(usize, Key)> = Vec::new();
        let mut anchors: Vec<(usize, Key)> = Vec::new();
        let mut blobs: Vec<Key> = Vec::new();
        for key in records {
            let directory = places.get(&key.seek_pdir).copied().unwrap_or(0);
            match key.class.as_str() {
                // Lists of keys and free lists.
                "TFile" | "" => {}
                "TList" if key.name == "StreamerInfo" => {}
                BLOB => blobs.push(key),
                class if is_ntuple(class) => anchors.push((directory, key)),
                class if is_directory(class) => {}
                class if is_tree_class(&self.file, class) => candidates.push((directory, key)),
                _ => objects.push((directory, key)),
            }
        }
        self.take_trees(candidates);
        self.take_ntuples(anchors, &blobs);
        self.take_objects(objects);
    }

    /// Keeps the record with most entries of each tree. Other trees of the same name stay separate.
    fn take_trees(&mut self, candidates: Vec<(usize, Key)>) {
        let mut best: Vec<FoundTree> = Vec::new();
        for (directory, key) in candidates {
            let tree = match read_tree(&self.file, &key) {
                Ok(tree) => tree,
                Err(e) => {
                    self.unreadable.push(Unreadable::new(&key, &e));
                    continue;
                }
            };
            let found = FoundTree { directory, key, tree, from_template: false };
            let same = best.iter_mut().find(|b| {
                b.directory == directory && b.key.name == found.key.name && are_saves_of_one(&b.tree, &found.tree)
            });
            match same {
                Some(before) if before.tree.entries <= found.tree.entries => *before = found,
                Some(_) => {}
                None => best.push(found),
            }
        }
        // The newest of a name comes first, as in a list of keys.
        best.sort_by_key(|found| (found.directory, found.key.name.clone(), std::cmp::Reverse(found.key.cycle)));
        self.trees = best;
    }

    /// Keeps the last object of each name and cycle, the newest cycle first, as in a list of keys.
    fn take_objects(&mut self, mut objects: Vec<(usize, Key)>) {
        objects.reverse();
        let mut seen = HashSet::new();
        objects.retain(|(directory, key)| seen.insert((*directory, key.name.clone(), key.cycle)));
        objects.retain(|(_, key)| match self.file.payload(key) {
            Ok(_) => true,
            Err(e) => {
                self.unreadable.push(Unreadable::new(key, &e));
                false
            }
        });
        objects.sort_by_key(|(_, key)| key.seek_key);
        let mut first: HashMap<(usize, String), usize> = HashMap::new();
        for (i, (directory, key)) in objects.iter().enumerate() {
            first.entry((*directory, key.name.clone())).or_insert(i);
        }
        objects.sort_by_key(|(directory, key)| {
            (first.get(&(*directory, key.name.clone())).copied(), std::cmp::Reverse(key.cycle))
        });
        for (directory, key) in objects {
            if let Some(directory) = self.directories.get_mut(directory) {
                directory.keys.push(key);
            }
        }
    }

    /// Adds the trees that have baskets and no record, with the branches of the template.
    fn take_templates(&mut self, template: &RootFile) -> Result<()> {
        let known: HashSet<String> = self.trees.iter().map(|tree| tree.key.name.clone()).collect();
        let there: HashSet<&str> = self.baskets.iter().map(|basket| &*basket.tree).collect();
        let mut made = Vec::new();
        for table in tables(template) {
            let TableEntry { path, mut key, container, newest } = table;
            if container != Container::Ttree || !newest || known.contains(&key.name) || !there.contains(&*key.name) {
                continue;
            }
            let mut tree = read_tree(template, &key)?;
            clear_entries(&mut tree);
            let place = self.directories.iter().position(|d| d.path_of(&key.name) == path).unwrap_or(0);
            // The tree has no record. No other key has this position.
            key.seek_key = self.file.source().size() + 1 + made.len() as u64;
            made.push(FoundTree { directory: place, key, tree, from_template: true });
        }
        for tree in &made {
            self.notes.push(format!("the branches of tree {} are taken from the file given by --like", tree.key.name));
        }
        self.trees.extend(made);
        Ok(())
    }
}

/// Removes the entries of a tree and their metadata.
fn clear_entries(tree: &mut Tree) {
    (tree.entries, tree.tot_bytes, tree.zip_bytes) = (0, 0, 0);
    tree.cluster_ranges.clear();
    tree.tree_index = None;
    for branch in &mut tree.branches {
        (branch.entries, branch.entry_number, branch.first_entry) = (0, 0, 0);
        (branch.tot_bytes, branch.zip_bytes) = (0, 0);
        // One basket without a position stays: it marks a branch that has baskets of its own.
        branch.baskets.truncate(1);
        for basket in &mut branch.baskets {
            (basket.first_entry, basket.entries, basket.seek, basket.nbytes) = (0, 0, 0, 0);
        }
        branch.embedded.clear();
        branch.file_name.clear();
    }
}

/// The basket of a record, if it is one.
fn basket(file: &RootFile, key: &Key, names: &mut Names) -> Option<FoundBasket> {
    let header = file.source().read(key.seek_key, usize::from(key.keylen)).ok()?;
    let header = BasketHeader::parse(&mut Cursor::new(&header)).ok()?;
    Some(FoundBasket {
        tree: names.kept(&key.title),
        branch: names.kept(&key.name),
        seek: key.seek_key,
        seek_pdir: key.seek_pdir,
        nbytes: key.nbytes,
        raw: u64::from(key.objlen) + u64::from(key.keylen),
        entries: u64::from(header.nev_buf),
        datime: key.datime,
        cycle: key.cycle,
    })
}
