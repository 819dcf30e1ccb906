//! Every branch of the corpus whose values real ROOT or uproot digested (the corpus' oracle): decoded whole,
//! flattened as the docstring of the corpus' `make_oracle.py` says, and compared by digest. Prints how many are
//! equal, different and opaque, and why.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use dataset::decode::{ColumnPlan, columns};
use dataset::tree::model::Tree;
use dataset::tree::read::{is_tree_class, read_tree};
use rootfile::RootFile;
use serde_json::Value;

use crate::corpus::baskets::{decode, learned};
use crate::corpus::digest::{FORMS, Flat, Form, brief, flatten, offsets, theirs};
use crate::corpus::{files, oracle, text};

/// Why the oracle's digest of a branch is wrong, by the corpus' README and what is known besides.
fn untrusted(file: &str, plan: &ColumnPlan, line: &Value) -> Option<&'static str> {
    let name = plan.field().name().as_str();
    let (uproot, root) = (&line["uproot"], &line["root"]);
    let interpretation = text(uproot, "interpretation");
    let in_collection = matches!(root["type"].as_i64(), Some(31 | 41));
    if uproot["member_wise"] == true && interpretation.starts_with("AsJagged(AsStridedObjects") {
        return Some("uproot reads member-wise vectors of classes as if they were object-wise");
    }
    if in_collection && interpretation == "AsStrings()" {
        return Some("uproot takes the strings of all objects of a collection for one");
    }
    if name.ends_with("fBits") {
        return Some(
            "fBits: ROOT sets bits in memory, uproot does not know of the two bytes behind those of referenced objects",
        );
    }
    let known = [
        ("gohep--tbase.root", "d1", "uproot reads the frames of bases as members"),
        (
            "skhep--uproot-issue433-splitlevel2.root",
            "km3net_timeslice_L0/KM3NETDAQ::JDAQTimeslice/KM3NETDAQ::JDAQTimesliceHeader/KM3NETDAQ::JDAQHeader/\
             KM3NETDAQ::JDAQChronometer/timeslice_start",
            "uproot reads the frame of an object as its members",
        ),
        ("uproot-custom--test_cstyle_array.root", "branch/m_tarr_int[3]", "uproot counts one object of each array"),
        ("uproot-custom--test_cstyle_array.root", "branch/m_simple_obj[3]", "uproot counts one object of each array"),
    ];
    known.iter().find(|(f, b, _)| file == *f && name == *b).map(|(_, _, why)| *why)
}

/// Reasons for which branches stay bytes, and why that is right.
const OPAQUE: &[(&str, &str)] = &[
    ("is not described", "the file lacks the class's streamer info: ROOT skips such bytes, uproot fails or finds none"),
    ("not described", "the class has a hand-written streamer, which is not what its info says (KM3NeT, nEXO)"),
];
/// Branches that stay bytes though ROOT or uproot gets through them without an error: files, ends of branches' names, and why.
const NOT_BY_US: &[(&str, &str, &str)] = &[
    (
        "roottest--S_1_1004_qgsjet_100_1.KGrec.root",
        "fStatus",
        "items of EPixelStatus: that it is an enumeration the file does not say",
    ),
    ("roottest--S_1_1004_qgsjet_100_1.KGrec.root", "Trace", "FdTrace is not described: ROOT passes over it"),
    ("roottest--cmsursula.root", "CaloHits_", "edm::PCaloHitContainer is not described: ROOT passes over it"),
    ("roottest--small_aod.pool.root", "m_deposits", "DepositInCalo_p2 is not described: ROOT passes over it"),
    (
        "skhep--uproot-issue-123a.root",
        "neutralParticleLinks",
        "the item's class is not described: all vectors are empty",
    ),
    ("skhep--uproot-issue403.root", "ions", "IonInfo is not described: all maps are empty"),
    ("skhep--uproot-issue494.root", "ions", "IonInfo is not described: all maps are empty"),
    ("skhep--uproot-issue475.root", "m_event", "SmartRef's own streamer writes two bytes more than its info says"),
];

fn excused(file: &str, branch: &str) -> bool {
    NOT_BY_US.iter().any(|(known, end, _)| file == *known && branch.ends_with(end))
}

/// The offsets that follow from the counts of a split collection, whose digest uproot gave with its members.
fn counts(array: &ArrayRef) -> Option<Flat> {
    let mut out = Vec::new();
    offsets(array.as_primitive_opt::<Int32Type>()?.values().iter().map(|n| i64::from(*n)), &mut out);
    out.pop()
}

#[derive(Default)]
struct Table {
    equal: usize,
    undigested: usize,
    different: Vec<String>,
    /// Where the oracle is wrong, and why.
    misread: BTreeMap<&'static str, usize>,
    /// Opaque, by reason: of those with a digest, and of those that ROOT or uproot read otherwise.
    opaque: BTreeMap<String, (usize, usize, String)>,
    read_by_others: usize,
    /// Those that nothing excuses.
    not_by_us: Vec<String>,
    /// Branches with a digest that are not among the columns.
    no_column: Vec<String>,
}

impl Table {
    fn branch(&mut self, name: &str, file: &RootFile, tree: &Tree, plan: &ColumnPlan, line: &Value) {
        let digests: Vec<&Value> = ["uproot_read", "root_read"]
            .into_iter()
            .map(|reader| &line[reader])
            .filter(|read| read["digest"].is_array())
            .collect();
        let branch = &tree.branches[plan.branch()];
        if !branch.file_name.is_empty() {
            return;
        }
        let entries = digests.first().and_then(|read| read["digest_entries"].as_u64()).unwrap_or(branch.entries);
        let at = format!("{name} {} [{}]", plan.field().name(), text(&line["uproot"], "typename"));
        let decoded = match plan.opaque() {
            Some(why) => Err(why.to_owned()),
            None => decode(file, tree, plan, 0..entries).map_err(|e| format!("data: {e}")),
        };
        match decoded {
            Ok(array) => {
                let flattened = |form: Form| {
                    let mut ours = Vec::new();
                    flatten(&array, plan.field().is_nullable(), form, &mut ours);
                    ours
                };
                let any = |ours: &[Flat]| digests.iter().any(|read| theirs(&read["digest"]) == ours);
                let group = text(&line["uproot"], "interpretation").starts_with("AsGroup");
                if digests.is_empty() {
                    self.undigested += 1;
                } else if FORMS.into_iter().any(|form| any(&flattened(form)))
                    || group && counts(&array).is_some_and(|ours| theirs(&digests[0]["digest"]).first() == Some(&ours))
                {
                    self.equal += 1;
                } else if let Some(why) = untrusted(name, plan, line) {
                    *self.misread.entry(why).or_default() += 1;
                } else {
                    let ours = flattened(FORMS[0]);
                    let theirs = theirs(&digests[0]["digest"]);
                    let at_first = theirs.iter().zip(&ours).take_while(|(a, b)| a == b).count();
                    self.different.push(format!(
                        "{at}: from buffer {at_first} on: ours {} theirs {}",
                        brief(&ours),
                        brief(&theirs)
                    ));
                }
            }
            Err(why) => {
                let read = line["uproot_read"]["ok"] == true
                    || (line["root_read"]["ok"] == true && line["root_read"]["read_bytes"].as_u64().unwrap_or(0) > 0);
                let entry = self.opaque.entry(reason(&why)).or_insert((0, 0, format!("{at}: {why}")));
                if digests.is_empty() {
                    entry.1 += 1;
                } else {
                    if entry.0 == 0 {
                        entry.2 = format!("{at}: {why}");
                    }
                    entry.0 += 1;
                }
                if std::env::var_os("BASKETRY_ALL").is_some() {
                    println!("OPAQUE {at}: {why}");
                }
                self.read_by_others += usize::from(read);
                if read && !excused(name, plan.field().name()) {
                    self.not_by_us.push(format!("{at}: {why}"));
                }
            }
        }
    }
}

/// A reason without its particulars.
fn reason(why: &str) -> String {
    let words =
        why.split(' ').filter(|w| !w.contains(|c: char| c.is_ascii_digit() || matches!(c, ':' | '<' | '/' | '.')));
    words.take(9).collect::<Vec<_>>().join(" ")
}

fn file(table: &mut Table, path: &Path, oracle: &[Value]) {
    let Ok(file) = RootFile::open(path) else { return };
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut known: HashMap<(String, String), &Value> = HashMap::new();
    for line in oracle.iter().filter(|line| text(line, "kind") == "branch") {
        known.insert((text(line, "tree").to_owned(), text(line, "id").to_owned()), line);
    }
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(&file, &key.class)) {
            let at = format!("{};{}", directory.path_of(&key.name), key.cycle);
            let Ok(tree) = read_tree(&file, key) else { continue };
            for plan in columns(&tree, file.infos()) {
                let plan = learned(&file, &tree, plan);
                let id = tree.position(plan.branch());
                if let Some(line) = known.remove(&(at.clone(), id)) {
                    table.branch(&name, &file, &tree, &plan, line);
                }
            }
        }
    }
    // What has a digest but is no column: only groups of others.
    for ((tree, id), line) in known {
        let digested = line["uproot_read"]["digest"].is_array() || line["root_read"]["digest"].is_array();
        let elsewhere = !text(&line["root"], "file_name").is_empty();
        if digested && !elsewhere && !text(&line["uproot"], "interpretation").starts_with("AsGroup") {
            table.no_column.push(format!("{name} {tree} {id} {}", text(&line["root"], "name")));
        }
    }
}

#[test]
fn values_have_the_oracles_digests() {
    let Some(files) = files() else { return };
    let mut table = Table::default();
    for (path, name) in files {
        file(&mut table, &path, &oracle(&name));
    }
    let opaque: usize = table.opaque.values().map(|(a, b, _)| a + b).sum();
    println!(
        "{} equal, {} different, {} without a digest, {opaque} opaque, {} of which ROOT or uproot read",
        table.equal,
        table.different.len(),
        table.undigested,
        table.read_by_others
    );
    let mut reasons: Vec<_> = table.opaque.iter().collect();
    reasons.sort_by_key(|(_, (a, b, _))| std::cmp::Reverse((*a, *b)));
    for (why, branches) in &table.misread {
        println!("{branches:6} of those with a digest differ, and rightly: {why}");
    }
    println!("digest other  reason");
    for (reason, (digested, other, example)) in reasons {
        println!("{digested:6} {other:5}  {reason}   ({example})");
    }
    for different in &table.different {
        println!("DIFFERENT {different}");
    }
    for branch in &table.no_column {
        println!("NO COLUMN {branch}");
    }
    let unexplained: Vec<_> =
        table.opaque.keys().filter(|why| !OPAQUE.iter().any(|(known, _)| why.contains(known))).collect();
    assert!(unexplained.is_empty(), "{unexplained:?}");
    assert!(table.not_by_us.is_empty(), "read by ROOT or uproot, but not here: {:#?}", table.not_by_us);
    assert!(table.no_column.is_empty(), "{} branches are no columns", table.no_column.len());
    assert!(table.different.is_empty(), "{} branches differ", table.different.len());
}
