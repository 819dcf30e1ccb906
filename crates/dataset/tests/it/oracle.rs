//! Every tree of every corpus file, compared with what real ROOT said of it (the corpus' oracle): entries, all
//! branches with their class, title and leaves, and every basket's place, size and first entry.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::HashMap;
use std::fmt::Debug;

use dataset::tree::basket::BasketHeader;
use dataset::tree::model::{Branch, Tree};
use dataset::tree::read::{is_tree_class, read_tree};
use rootfile::RootFile;
use rootfile::bytes::Cursor;
use serde_json::Value;

use crate::corpus::{self, files, text};

/// What differs in one file.
struct Differences {
    file: String,
    found: Vec<String>,
}

impl Differences {
    fn check<T: PartialEq + Debug>(&mut self, at: &str, what: &str, ours: T, roots: T) {
        if ours != roots {
            self.found.push(format!("{} {at}: {what} {ours:?}, ROOT says {roots:?}", self.file));
        }
    }
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(|v| v.as_u64().unwrap_or(0)).collect()
}

fn compare_branch(diff: &mut Differences, at: &str, tree: &Tree, branch: &Branch, root: &Value) {
    diff.check(at, "name", branch.name(), text(root, "name"));
    diff.check(at, "class", branch.class(), text(root, "br_class"));
    diff.check(at, "title", branch.named.title.as_str(), text(root, "title"));
    diff.check(at, "entries", branch.entries, number(root, "entries"));
    diff.check(at, "tot_bytes", branch.tot_bytes, number(root, "tot_bytes"));
    diff.check(at, "zip_bytes", branch.zip_bytes, number(root, "zip_bytes"));
    diff.check(at, "file name", branch.file_name.as_str(), text(root, "file_name"));
    diff.check(
        at,
        "entry_offset_len",
        i64::from(branch.entry_offset_len),
        root["entry_offset_len"].as_i64().unwrap_or(0),
    );
    let ours: Vec<_> = branch.leaves.iter().map(|&i| (&*tree.leaves[i].class, &*tree.leaves[i].named.name)).collect();
    let roots = root["leaves"].as_array().unwrap();
    diff.check(at, "leaves", ours, roots.iter().map(|leaf| (text(leaf, "cls"), text(leaf, "name"))).collect());

    // From the write basket on, the lists have leftovers: only a basket in the record counts there.
    let baskets = &root["baskets"];
    let written = usize::try_from(number(baskets, "write")).unwrap();
    let on_disk = |list: &str| numbers(&baskets[list]).into_iter().take(written).collect::<Vec<_>>();
    let embedded = |i: usize| branch.embedded.iter().any(|(at, _)| *at == i);
    let first = branch.baskets.iter().map(|b| b.first_entry).take(written).collect::<Vec<_>>();
    diff.check(at, "first entries", first, on_disk("entry"));
    for (i, (seek, bytes)) in on_disk("seek").into_iter().zip(on_disk("bytes")).enumerate() {
        let ours = branch.baskets.get(i).map(|b| (b.seek, u64::from(b.nbytes)));
        if !embedded(i) {
            diff.check(at, "place of a basket", ours, Some((seek, bytes)));
        }
    }
    // ROOT lists those in memory: empty ones as well.
    for root in baskets["embedded"].as_array().into_iter().flatten().map(numbers).filter(|b| b[1] > 0) {
        let index = usize::try_from(root[0]).unwrap();
        let header = branch
            .embedded
            .iter()
            .find(|(at, _)| *at == index)
            .and_then(|(_, basket)| BasketHeader::parse(&mut Cursor::new(&basket.bytes)).ok());
        let ours = header.map(|h| (u64::from(h.nev_buf), u64::from(h.last), u64::from(h.key.keylen)));
        diff.check(at, "embedded basket", ours, Some((root[1], root[2], root[3])));
    }
}

fn compare_file(diff: &mut Differences, file: &RootFile, oracle: &[Value], counts: &mut [usize; 2]) {
    let mut roots: HashMap<(&str, &str), &Value> = HashMap::new();
    for line in oracle {
        if matches!(text(line, "kind"), "tree" | "branch") && line["root"].is_object() && line["root"]["ok"] != false {
            roots.insert((text(line, "tree"), text(line, "id")), &line["root"]);
        }
    }
    let mut seen = 0;
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(file, &key.class)) {
            let at = format!("{};{}", directory.path_of(&key.name), key.cycle);
            let Some(root) = roots.get(&(at.as_str(), "")) else { continue };
            let tree = match read_tree(file, key) {
                Ok(tree) => tree,
                Err(e) => {
                    diff.found.push(e.to_string());
                    continue;
                }
            };
            seen += 1;
            counts[0] += 1;
            diff.check(&at, "class", tree.class.as_str(), text(root, "cls"));
            diff.check(&at, "entries", tree.entries, number(root, "entries"));
            let mut branches = 0;
            for (index, branch) in tree.branches.iter().enumerate() {
                let id = tree.position(index);
                let Some(root) = roots.get(&(at.as_str(), id.as_str())) else {
                    // Those that ROOT does not list among branches.
                    if !id.contains("ref") {
                        diff.found.push(format!(
                            "{} {at} {id}: {} is not among ROOT's branches",
                            diff.file,
                            branch.name()
                        ));
                    }
                    continue;
                };
                branches += 1;
                compare_branch(diff, &format!("{at} {id}"), &tree, branch, root);
            }
            let theirs = roots.keys().filter(|(tree, id)| *tree == at && !id.is_empty()).count();
            diff.check(&at, "number of branches", branches, theirs);
            counts[1] += branches;
        }
    }
    diff.check("", "number of trees", seen, roots.keys().filter(|(_, id)| id.is_empty()).count());
}

#[test]
fn trees_equal_what_root_reports() {
    let Some(files) = files() else { return };
    let mut differences = Vec::new();
    let mut counts = [0; 2];
    for (path, name) in files {
        let oracle = corpus::oracle(&name);
        let mut diff = Differences { file: name, found: Vec::new() };
        match RootFile::open(&path) {
            Ok(file) => compare_file(&mut diff, &file, &oracle, &mut counts),
            Err(e) if oracle.iter().any(|line| text(line, "kind") == "tree") => diff.found.push(e.to_string()),
            Err(_) => {}
        }
        differences.extend(diff.found);
    }
    let [trees, branches] = counts;
    eprintln!("{trees} trees, {branches} branches, {} differences", differences.len());
    for difference in differences.iter().take(40) {
        eprintln!("{difference}");
    }
    assert!(differences.is_empty(), "{} differences", differences.len());
    assert!(trees > 400 && branches > 30_000, "{trees} trees and {branches} branches: the corpus has more");
}
