//! Every branch of the corpus that can be decoded: some of its baskets decoded, encoded again, with either streaming of
//! collections, and decoded once more. Prints of how many branches the bytes are those that ROOT wrote, and of the
//! others what they are.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::path::Path;

use dataset::decode::{ColumnPlan, columns};
use dataset::encode::EncodedEntries;
use dataset::layout::Streaming;
use dataset::tree::basket::{BasketData, Entries};
use dataset::tree::model::Tree;
use dataset::tree::read::{is_tree_class, read_tree};
use rootfile::{Result, RootFile};

use crate::corpus::baskets::{learned, load, values};
use crate::corpus::files;

/// Baskets of a branch that are tried, and bytes of them.
const MOST: (usize, usize) = (3, 400_000);

#[derive(Default)]
struct Table {
    columns: usize,
    baskets: usize,
    /// Branches of which all bytes are those that were there.
    identical: usize,
    /// Of the others how many, and examples, by why.
    other: BTreeMap<&'static str, (usize, Vec<String>)>,
    unwritable: BTreeMap<String, (usize, String)>,
    failed: Vec<String>,
}

impl Table {
    fn print(&self) {
        let other: usize = self.other.values().map(|(n, _)| n).sum();
        println!(
            "{} columns, {} baskets: {} identical, {other} of the same values in other bytes",
            self.columns, self.baskets, self.identical
        );
        for (why, (n, example)) in &self.unwritable {
            println!("{n:6} cannot be written: {why} ({example})");
        }
        let most = if std::env::var_os("BASKETRY_ALL").is_some() { usize::MAX } else { 3 };
        for (why, (n, examples)) in &self.other {
            println!("{n:6} other bytes: {why}");
            for example in examples.iter().take(most) {
                println!("         {example}");
            }
        }
        for failed in &self.failed {
            println!("FAILED {failed}");
        }
    }
}

/// What came of a branch.
enum Outcome {
    Identical,
    /// The same values in other bytes: why, and where.
    Other(&'static str, String),
    Failed(String),
}

/// Entries as a basket that can be decoded.
fn basket(encoded: &EncodedEntries, size: Option<usize>, like: &BasketData) -> BasketData {
    let entries = match size {
        Some(size) => Entries::Fixed(u32::try_from(size).unwrap()),
        None => Entries::Offsets(std::iter::once(0).chain(encoded.ends.iter().copied()).collect()),
    };
    let data = encoded.bytes.clone().into();
    BasketData { count: like.count, keylen: like.keylen, pid_offset: 0, data, entries, displacement: None }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(24).map(|byte| format!("{byte:02x}")).collect()
}

/// Other writers than ROOT, classes with streamers of their own, pairs that no info describes.
const UNEXPLAINED: &str = "other";

/// How often a class is named, and not referred to, in an entry.
fn classes_named(entry: &[u8]) -> usize {
    entry.windows(5).filter(|bytes| bytes.starts_with(&[0xFF; 4]) && bytes[4].is_ascii_alphabetic()).count()
}

/// Why ROOT, or another writer, wrote other bytes than these, which differ from that place of an entry on.
fn why(version: i32, plan: &ColumnPlan, theirs: &[u8], ours: &[u8], from: usize) -> &'static str {
    let (was, is) = (theirs.get(from).copied().unwrap_or(0), ours.get(from).copied().unwrap_or(0));
    let text = |bytes: &[u8]| std::str::from_utf8(bytes).is_err();
    let typename = kind(plan);
    if typename == "TList" {
        "what objects were added to lists with, and names of lists, are no values"
    } else if version >= 63400 && (was, is) == (10, 9) {
        "frames of containers: version 10 of TStreamerInfo, which ROOT writes since 6.36"
    } else if theirs.is_empty() {
        "nothing was written of what was not in memory, or (ROOT 5) of no objects"
    } else if (1..=3).contains(&was) && is == 0 {
        "TObject: ROOT up to 6.28 wrote bits that say where the object was in memory"
    } else if typename.contains("bool") && was > 1 {
        "bool: any byte but 0"
    } else if (typename.contains("char") || typename.contains("string")) && text(theirs) && version >= 60000 {
        "text that was Latin-1 is UTF-8"
    } else if classes_named(ours) > classes_named(theirs) {
        "pointers to classes and objects that were met before: here each is new"
    } else if version < 60000 {
        "written before ROOT 6: frames of containers say another version of TStreamerInfo"
    } else {
        UNEXPLAINED
    }
}

/// Encodes and decodes one basket.
fn round_trip(version: i32, plan: &ColumnPlan, data: &BasketData, counts: &[Vec<u64>]) -> Result<Outcome> {
    let n = data.count as usize;
    let mut builder = plan.start(n, 0);
    builder.append(data, 0..n, counts)?;
    let array = builder.finish()?;
    let mut closest: Option<(usize, &'static str, String)> = None;
    for streaming in [Streaming::MemberWise, Streaming::ObjectWise] {
        let mut encoder = plan.encoder(streaming)?;
        let mut encoded = EncodedEntries::default();
        let mut again = plan.start(n, 0);
        let result = encoder.append(array.as_ref(), 0..n, &mut encoded);
        let result = result.and_then(|()| again.append(&basket(&encoded, encoder.entry_size(), data), 0..n, counts));
        match result.and_then(|()| again.finish()) {
            Ok(again) if again.as_ref() == array.as_ref() => {}
            Ok(_) => return Ok(Outcome::Failed(format!("{streaming}: other values"))),
            Err(e) => return Ok(Outcome::Failed(format!("{streaming}: {e}"))),
        }
        // In two parts it is the same.
        let mut parts = EncodedEntries::default();
        encoder.append(array.as_ref(), 0..n / 3, &mut parts)?;
        encoder.append(array.as_ref(), n / 3..n, &mut parts)?;
        if parts != encoded {
            return Ok(Outcome::Failed(format!("{streaming}: not the same in two parts")));
        }
        if *encoded.bytes == data.data[..] {
            return Ok(Outcome::Identical);
        }
        let same = encoded.bytes.iter().zip(data.data.iter()).take_while(|(a, b)| a == b).count();
        if closest.as_ref().is_none_or(|(known, ..)| same > *known) {
            let entry = (0..n).find(|i| data.range(*i).is_some_and(|range| range.end > same)).unwrap_or(0);
            let range = data.range(entry).unwrap_or_default();
            let from = same.saturating_sub(range.start);
            let theirs = data.data.get(range.clone()).unwrap_or_default();
            let begin = entry.checked_sub(1).and_then(|before| encoded.ends.get(before)).map_or(0, |end| *end as usize);
            let own = encoded.ends.get(entry).map_or(range.clone(), |end| begin..*end as usize);
            let ours = encoded.bytes.get(own).unwrap_or_default();
            let why = why(version, plan, theirs, ours, from);
            let (before, theirs) = theirs.split_at(from.saturating_sub(8).min(theirs.len()));
            let ours = ours.get(before.len()..).unwrap_or_default();
            let at = format!("{streaming} entry {entry} byte {from}: was {} is {}", hex(theirs), hex(ours));
            closest = Some((same, why, at));
        }
    }
    let (_, why, at) = closest.unwrap_or_default();
    Ok(Outcome::Other(why, at))
}

/// What a column is, without its particulars.
fn kind(plan: &ColumnPlan) -> String {
    let name = plan.field().metadata().get("typename").cloned().unwrap_or_default();
    name.chars().take(60).collect()
}

fn branch(table: &mut Table, name: &str, file: &RootFile, tree: &Tree, plan: &ColumnPlan) {
    let branch = &tree.branches[plan.branch()];
    if plan.opaque().is_some() || !branch.file_name.is_empty() || branch.entries == 0 {
        return;
    }
    let at = format!("{name} ({}) {} [{}]", file.header().version, plan.field().name(), kind(plan));
    if let Err(e) = plan.encoder(Streaming::ObjectWise) {
        let why = e.to_string();
        let why = why.rsplit(": ").next().unwrap_or_default().to_owned();
        table.unwritable.entry(why).or_insert((0, at)).0 += 1;
        return;
    }
    let mut bytes = 0;
    let (mut baskets, mut other) = (0, None);
    for (index, basket) in branch.baskets.iter().enumerate() {
        if baskets >= MOST.0 || bytes > MOST.1 {
            break;
        }
        let Ok(data) = load(file, tree, plan.branch(), index) else { continue };
        let range = basket.first_entry..basket.first_entry + u64::from(data.count);
        let counts: Result<Vec<Vec<u64>>> =
            plan.counters().iter().map(|&counter| values(file, tree, counter, range.clone())).collect();
        let Ok(counts) = counts else { continue };
        bytes += data.data.len();
        match round_trip(file.header().version, plan, &data, &counts) {
            // It cannot be decoded.
            Err(_) => continue,
            Ok(Outcome::Identical) => {}
            Ok(Outcome::Other(why, what)) => other = other.or(Some((why, what))),
            Ok(Outcome::Failed(why)) => table.failed.push(format!("{at}: {why}")),
        }
        baskets += 1;
    }
    if baskets == 0 {
        return;
    }
    table.baskets += baskets;
    table.columns += 1;
    match other {
        None => table.identical += 1,
        Some((why, what)) => {
            let entry = table.other.entry(why).or_default();
            entry.0 += 1;
            entry.1.push(format!("{at}: {what}"));
        }
    }
}

fn file(table: &mut Table, path: &Path) {
    let Ok(file) = RootFile::open(path) else { return };
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(&file, &key.class)) {
            let Ok(tree) = read_tree(&file, key) else { continue };
            for plan in columns(&tree, file.infos()) {
                branch(table, &name, &file, &tree, &learned(&file, &tree, plan));
            }
        }
    }
}

#[test]
fn decoded_columns_can_be_encoded() {
    let Some(files) = files() else { return };
    let mut table = Table::default();
    for (path, _) in files {
        file(&mut table, &path);
    }
    table.print();
    let unexplained = table.other.get(UNEXPLAINED).map_or(0, |(n, _)| *n);
    assert!(unexplained * 500 <= table.columns, "{unexplained} columns have other bytes, and nothing explains it");
    assert!(table.failed.is_empty(), "{} baskets are not the same", table.failed.len());
}

/// Every kind of member, as ROOT 6.40 wrote it (`root/decode_types.C`).
#[test]
fn encoded_bytes_equal_those_of_root_6() {
    let mut table = Table::default();
    file(&mut table, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/root/decode_types.root"));
    table.print();
    assert!(table.failed.is_empty() && !table.other.contains_key(UNEXPLAINED));
}
