//! The metadata of every RNTuple of the corpus: all of it opens, agrees with what real ROOT said of it (the corpus' oracle), and
//! is written back byte for byte.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use dataset::ntuple::model::{Deferred, Locator, Ntuple, PageList, Role, Schema};
use dataset::ntuple::{
    is_ntuple, parse_page_list, read_attribute_set, read_block, read_ntuple, read_page_list, write_anchor,
    write_footer, write_header, write_page_list,
};
use rootfile::{ErrorKind, Key, RootFile};
use serde_json::Value;

use crate::corpus::{corpus, files, oracle, text};

/// The keys of RNTuples in a file, with their paths and cycles.
fn ntuples(file: &RootFile) -> Vec<(String, Key)> {
    let directories = file.walk().directories;
    let keys = directories.iter().flat_map(|d| d.keys.iter().map(|key| (d.path_of(&key.name), key.clone())));
    keys.filter(|(_, key)| is_ntuple(&key.class)).map(|(path, key)| (format!("{path};{}", key.cycle), key)).collect()
}

fn page_lists(file: &RootFile, ntuple: &Ntuple) -> Vec<PageList> {
    (0..ntuple.groups.len()).map(|group| read_page_list(&**file.source(), ntuple, group).unwrap()).collect()
}

/// All files of the validation suite, and all of the corpus.
fn all_files() -> Option<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = files()?.into_iter().map(|(path, _)| path).collect();
    for entry in std::fs::read_dir(corpus()?.join("rntuple-validation")).unwrap() {
        paths.push(entry.unwrap().path());
    }
    paths.retain(|path| path.extension().is_some_and(|e| e == "root"));
    Some(paths)
}

/// Calls `check` with every RNTuple that can be read, and says how many there are. None without a corpus.
fn for_each(mut check: impl FnMut(&str, &RootFile, &Key, Ntuple)) -> Option<usize> {
    let mut count = 0;
    for path in all_files()? {
        let Ok(file) = RootFile::open(&path) else { continue };
        for (name, key) in ntuples(&file) {
            let at = format!("{} {name}", path.file_name().unwrap().display());
            match read_ntuple(&file, &key) {
                Ok(ntuple) => check(&at, &file, &key, ntuple),
                Err(e) if matches!(e.kind(), ErrorKind::Unsupported(_)) => {
                    assert!(key.class != "ROOT::RNTuple" || at.contains("feature_flag"), "{at}: {e}");
                    continue;
                }
                Err(e) => panic!("{at}: {e}"),
            }
            count += 1;
        }
    }
    Some(count)
}

/// Every envelope, as it is in the file, is what we write of what we read.
#[test]
fn metadata_is_written_back_byte_for_byte() {
    let count = for_each(|at, file, key, ntuple| {
        let source = &**file.source();
        let block = |link| read_block(source, link, ntuple.anchor.max_key_size).unwrap();
        assert!(write_anchor(&ntuple.anchor).unwrap() == file.payload(key).unwrap(), "{at}: anchor");
        assert!(write_header(&ntuple).unwrap() == block(&ntuple.anchor.header), "{at}: header");
        assert!(write_footer(&ntuple).unwrap() == block(&ntuple.anchor.footer), "{at}: footer");
        for (group, list) in ntuple.groups.iter().zip(page_lists(file, &ntuple)) {
            assert!(
                write_page_list(ntuple.header_checksum, &list).unwrap() == block(&group.page_list),
                "{at}: page list"
            );
        }
    });
    assert!(count.is_none_or(|n| n > 70), "{count:?}");
}

/// Columns that are not below a collection or a variant have an element for each entry, or as many as the arrays around them.
/// Those that are not deferred have the elements of the clusters before them in front.
#[test]
fn pages_have_the_elements_of_their_clusters() {
    let mut checked = 0;
    let count = for_each(|at, file, _, ntuple| {
        let schema = &ntuple.schema;
        let mut next = vec![0; schema.columns.len()];
        let mut entries = 0;
        for list in page_lists(file, &ntuple) {
            for cluster in &list.clusters {
                assert_eq!(cluster.first_entry, entries, "{at}");
                entries += cluster.entries;
                for (id, range) in cluster.columns.iter().enumerate().filter(|(_, range)| range.compression.is_some()) {
                    if schema.columns[id].first_element.is_some() {
                        continue;
                    }
                    let elements: u64 = cluster.pages(&list, id).unwrap().iter().map(|p| u64::from(p.elements)).sum();
                    if has_one_representation(schema, schema.columns[id].field) {
                        assert_eq!(range.first_element, next[id], "{at}: column {id}");
                        next[id] += elements;
                    }
                    if let Some(each) = elements_per_entry(&ntuple, schema.columns[id].field) {
                        assert_eq!(elements, cluster.entries * each, "{at}: column {id}");
                        checked += 1;
                    }
                }
            }
        }
        assert_eq!(ntuple.entries(), entries, "{at}");
    });
    assert!(count.is_none() || checked > 3000, "{checked}");
}

fn has_one_representation(schema: &Schema, field: usize) -> bool {
    schema.columns_of(field).iter().all(|&id| schema.columns[id].representation == 0)
}

/// The elements of a field's first column for an entry, where that is a number.
fn elements_per_entry(ntuple: &Ntuple, mut field: usize) -> Option<u64> {
    let mut each = 1;
    if ntuple.schema.fields[field].role == Role::Streamer || ntuple.schema.columns_of(field).len() != 1 {
        return None;
    }
    loop {
        let at = &ntuple.schema.fields[field];
        each *= at.array_size.unwrap_or(1);
        match at.parent {
            None => return Some(each),
            Some(parent) if matches!(ntuple.schema.fields[parent].role, Role::Leaf | Role::Record) => field = parent,
            Some(_) => return None,
        }
    }
}

#[test]
fn the_validation_suite_opens() {
    let Some(folder) = corpus().map(|corpus| corpus.join("rntuple-validation")) else {
        eprintln!("skipped: no corpus beside the checkout, and BASKETRY_CORPUS is not set");
        return;
    };
    let open = |name: &str| {
        let file = RootFile::open(folder.join(format!("{name}.root"))).unwrap();
        let (_, key) = ntuples(&file).into_iter().next().unwrap();
        (read_ntuple(&file, &key), file)
    };
    let (error, _) = open("structure__feature_flag");
    let error = error.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(message) if message.contains("137")), "{error}");
    assert!(error.to_string().contains("structure__feature_flag.root: ntpl: at byte "), "{error}");

    let (ntuple, _) = open("structure__cluster_groups");
    assert!(ntuple.unwrap().groups.len() > 1);

    // Entry 0 has one attribute, entries 1 and 2 have another.
    let (ntuple, file) = open("structure__attributes");
    let ntuple = ntuple.unwrap();
    let set = ntuple.attribute_sets.first().unwrap();
    let attributes = read_attribute_set(&**file.source(), &ntuple, set).unwrap();
    assert_eq!((attributes.entries(), attributes.name.as_str()), (2, set.name.as_str()));
    assert_eq!(page_lists(&file, &attributes).len(), 1);

    // Most JSON documents have an object for each entry.
    let mut compared = 0;
    for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|e| e != "json")
            || name.starts_with("structure")
            || name.starts_with("compression")
        {
            continue;
        }
        let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let (ntuple, _) = open(&name);
        assert_eq!(ntuple.unwrap().entries(), document.as_array().unwrap().len() as u64, "{name}");
        compared += 1;
    }
    assert!(compared > 35, "{compared}");
}

/// What differs from the oracle.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn check<T: PartialEq + Debug>(&mut self, at: &str, what: &str, ours: T, roots: T) {
        if ours != roots {
            self.0.push(format!("{at}: {what} {ours:?}, ROOT says {roots:?}"));
        }
    }
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], |list| list)
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(0)
}

#[test]
fn metadata_is_what_root_says() {
    let Some(files) = files() else { return };
    let mut differences = Differences::default();
    let mut compared = 0;
    for (path, name) in files {
        let lines = oracle(&name);
        let roots: Vec<_> = lines.iter().filter(|line| text(line, "kind") == "ntuple").collect();
        if roots.is_empty() {
            continue;
        }
        let file = RootFile::open(&path).unwrap();
        for (id, key) in ntuples(&file) {
            let at = format!("{name} {id}");
            let root = &roots.iter().find(|line| text(line, "ntuple") == id).unwrap()["root"];
            match read_ntuple(&file, &key) {
                Err(e) => {
                    assert!(e.to_string().contains("pre-release"), "{e}");
                    assert!(text(root, "error").contains("Experimental"), "{at}");
                }
                Ok(ntuple) => {
                    compare(&mut differences, &at, &file, &ntuple, root);
                    compared += 1;
                }
            }
        }
    }
    assert!(differences.0.is_empty(), "{} differences:\n{}", differences.0.len(), differences.0.join("\n"));
    assert!(compared > 20 || std::env::var_os("BASKETRY_ONLY").is_some(), "{compared}");
}

fn compare(diff: &mut Differences, at: &str, file: &RootFile, ntuple: &Ntuple, root: &Value) {
    let schema = &ntuple.schema;
    diff.check(at, "name", ntuple.name.as_str(), text(root, "name"));
    diff.check(at, "description", ntuple.description.as_str(), text(root, "description"));
    diff.check(at, "entries", ntuple.entries(), number(root, "entries"));
    diff.check(at, "cluster groups", ntuple.groups.len() as u64, number(root, "n_cluster_groups"));
    let Locator::File { size, .. } = ntuple.anchor.header.locator else { panic!("{at}") };
    diff.check(at, "bytes of the header", size, number(root, "header_on_disk"));

    diff.check(at, "fields", schema.fields.len(), list(root, "fields").len());
    for field in list(root, "fields") {
        let id = usize::try_from(number(field, "id")).unwrap();
        let at = format!("{at} field {id}");
        let Some(ours) = schema.fields.get(id) else { continue };
        // ROOT has a field above the top, with an ID below 0.
        diff.check(&at, "parent", ours.parent.map(|id| id as u64), field["parent"].as_u64());
        diff.check(&at, "name", ours.name.as_str(), text(field, "name"));
        diff.check(&at, "type", ours.type_name.as_str(), text(field, "type"));
        diff.check(&at, "alias", ours.type_alias.as_str(), text(field, "alias"));
        let role = match ours.role {
            Role::Leaf => 1,
            Role::Collection => 2,
            Role::Record => 3,
            Role::Variant => 4,
            Role::Streamer => 5,
            Role::Unknown(_) => 6,
        };
        diff.check(&at, "role", role, number(field, "structure"));
        diff.check(&at, "array size", ours.array_size.unwrap_or(0), number(field, "n_rep"));
        diff.check(&at, "type version", u64::from(ours.type_version), number(field, "version"));
        diff.check(&at, "projected", ours.source.is_some(), field["projected"].as_bool().unwrap());
    }

    let aliases = list(root, "columns").iter().filter(|column| column["alias"] == true).count();
    diff.check(at, "alias columns", schema.aliases.len(), aliases);
    for column in list(root, "columns") {
        let (id, field) = (number(column, "physical") as usize, number(column, "field") as usize);
        let at = format!("{at} column {id} of field {field}");
        if column["alias"] == true {
            diff.check(&at, "alias", schema.aliases_of(field).any(|alias| alias.column == id), true);
            continue;
        }
        let ours = &schema.columns[id];
        diff.check(&at, "field", ours.field, field);
        diff.check(&at, "type", ours.column_type.to_string().as_str(), text(column, "type"));
        diff.check(&at, "bits", u64::from(ours.bits), number(column, "bits"));
        diff.check(&at, "representation", u64::from(ours.representation), number(column, "repr"));
        let Deferred { first_element, .. } =
            ours.first_element.unwrap_or(Deferred { first_element: 0, suppressed: false });
        diff.check(&at, "first element", first_element, number(column, "first_element"));
        let index =
            schema.columns_of(field).iter().filter(|c| schema.columns[**c].representation == ours.representation);
        diff.check(&at, "index", index.take_while(|c| **c != id).count() as u64, number(column, "index"));
    }

    let lists = page_lists(file, ntuple);
    let clusters: Vec<_> = lists.iter().flat_map(|list| list.clusters.iter().map(move |c| (list, c))).collect();
    diff.check(at, "clusters", clusters.len(), list(root, "clusters").len());
    for ((pages, ours), cluster) in clusters.into_iter().zip(list(root, "clusters")) {
        let at = format!("{at} cluster {}", ours.first_entry);
        diff.check(&at, "first entry", ours.first_entry, number(cluster, "first"));
        diff.check(&at, "entries", ours.entries, number(cluster, "n"));
        for column in list(cluster, "cols") {
            let id = number(column, "c") as usize;
            let at = format!("{at} column {id}");
            let pages = ours.pages(pages, id).unwrap_or_default();
            let ours = pages.iter().map(|page| {
                let Locator::File { offset, size } = page.locator else { panic!("{at}") };
                [u64::from(page.elements), size, offset, page.has_checksum.into()]
            });
            // ROOT adds pages of zeros to deferred columns; they are nowhere.
            let roots = list(column, "pages").iter().filter(|page| page[2].as_i64() != Some(-1));
            let roots: Vec<_> = roots.map(|page| [0, 1, 2, 3].map(|i| page[i].as_u64().unwrap())).collect();
            diff.check(&at, "pages", ours.collect::<Vec<_>>(), roots);
        }
        for (id, range) in ours.columns.iter().enumerate() {
            let Some(column) = list(cluster, "cols").iter().find(|column| number(column, "c") as usize == id) else {
                diff.check(&at, "column", Some(id), None);
                continue;
            };
            diff.check(&at, "suppressed", range.compression.is_none(), column["suppressed"].as_bool().unwrap());
            if let Some(compression) = range.compression
                && ntuple.schema.columns[id].first_element.is_none()
            {
                diff.check(&at, "compression", u64::from(compression), number(column, "comp"));
                diff.check(&at, "first element", range.first_element, number(column, "first"));
            }
        }
    }
}

/// Errors name the file, the RNTuple, and where it is.
#[test]
fn errors_say_where() {
    let Some(corpus) = corpus() else { return };
    let path = corpus.join("rntuple-validation/types__string.root");
    let mut bytes = std::fs::read(&path).unwrap();
    let file = RootFile::open(&path).unwrap();
    let (_, key) = ntuples(&file).into_iter().next().unwrap();
    let ntuple = read_ntuple(&file, &key).unwrap();
    let Locator::File { offset, .. } = ntuple.groups[0].page_list.locator else { panic!() };
    bytes[usize::try_from(offset).unwrap() + 20] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.root");
    std::fs::write(&damaged, bytes).unwrap();
    let file = RootFile::open(&damaged).unwrap();
    let error = read_page_list(&**file.source(), &ntuple, 0).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("damaged.root: ntpl") && text.contains(&format!("at byte {offset}: ")), "{text}");
    assert_eq!(error.path(), Some(Path::new(&damaged)));
}

/// A page list of another group, of another header, or with other clusters than the footer says is refused.
#[test]
fn a_page_list_belongs_to_its_group() {
    let Some(corpus) = corpus() else { return };
    let file = RootFile::open(corpus.join("rntuple-validation/structure__cluster_groups.root")).unwrap();
    let (_, key) = ntuples(&file).into_iter().next().unwrap();
    let mut ntuple = read_ntuple(&file, &key).unwrap();
    let bytes = read_block(&**file.source(), &ntuple.groups[0].page_list, ntuple.anchor.max_key_size).unwrap();
    let list = parse_page_list(&bytes, &ntuple, 0).unwrap();
    for group in [1, 9] {
        assert!(parse_page_list(&bytes, &ntuple, group).is_err());
    }
    let other = write_page_list(ntuple.header_checksum ^ 1, &list).unwrap();
    assert!(parse_page_list(&other, &ntuple, 0).unwrap_err().to_string().contains("another header"));
    ntuple.groups[0].clusters += 1;
    assert!(parse_page_list(&bytes, &ntuple, 0).unwrap_err().to_string().contains("clusters"));
}
