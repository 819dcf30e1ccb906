//! The streamer infos of every corpus file that ROOT 6 wrote, made anew from what they say of their classes.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::corpus::corpus;
use rootfile::RootFile;
use rootfile::streamer::describe::{ClassDescription, Member, checksum, describe};
use rootfile::streamer::{ElementKind, StreamerElement, StreamerInfo, StreamerInfos};

fn is_base(e: &StreamerElement) -> bool {
    match e.kind {
        ElementKind::Base { .. } => true,
        ElementKind::Stl { .. } => e.name == e.type_name,
        _ => false,
    }
}

fn is_basic(name: &str) -> bool {
    let name = name.trim_start_matches("const ").trim_start_matches("volatile ").trim_end_matches('*');
    const WORDS: [&str; 9] = ["unsigned", "signed", "short", "long", "int", "char", "float", "double", "bool"];
    name.split(' ').all(|word| WORDS.contains(&word)) || name.ends_with("_t")
}

/// What an author would have declared.
fn description(info: &StreamerInfo, file: &StreamerInfos) -> ClassDescription {
    let elements = || file.iter().flat_map(|info| &info.elements);
    let unversioned = info.version == 1
        && elements().any(|e| match &e.kind {
            ElementKind::Base { version } => *version == -1 && e.name == info.name,
            ElementKind::Counted { version, class, .. } => *version == -1 && *class == info.name,
            _ => false,
        });
    let members = info.elements.iter().filter(|e| !is_base(e)).map(|e| {
        let is_enum = e.class == "TStreamerBasicType" && !is_basic(&e.type_name);
        let dimensions = e.max_index.iter().take(usize::try_from(e.array_dim).unwrap_or(0));
        Member {
            name: e.name.clone(),
            cpp_type: format!(
                "{}{}{}",
                if is_enum { "enum " } else { "" },
                e.type_name,
                dimensions.map(|n| format!("[{n}]")).collect::<String>()
            ),
            comment: e.title.clone(),
        }
    });
    ClassDescription {
        name: info.name.clone(),
        version: (!unversioned).then(|| i16::try_from(info.version).unwrap()),
        title: String::new(),
        bases: info.elements.iter().filter(|e| is_base(e)).map(|e| e.name.clone()).collect(),
        members: members.collect(),
    }
}

/// Infos of the file, and a little of those classes that it mentions and has no info of.
fn world(file: &StreamerInfos) -> StreamerInfos {
    let mut world = file.clone();
    let tobject = StreamerInfos::new().get("TNamed", 1).unwrap().elements[0].clone();
    for e in file.iter().flat_map(|info| &info.elements) {
        let derived = e.class.starts_with("TStreamerObject") && !e.class.starts_with("TStreamerObjectAny");
        if e.class.starts_with("TStreamerObject") || e.class == "TStreamerLoop" {
            let name = e.type_name.trim_start_matches("const ").trim_end_matches('*');
            if world.latest(name).is_none() {
                let mut info = StreamerInfo::clone(&StreamerInfos::new().get("TNamed", 1).unwrap());
                (info.name, info.version) = (name.to_owned(), 1);
                info.elements = if derived { vec![tobject.clone()] } else { Vec::new() };
                world.add(Arc::new(info));
            }
        }
    }
    world
}

/// In which fields two elements differ, and why that can be.
fn differences(made: &StreamerElement, stored: &StreamerElement) -> Vec<&'static str> {
    let mut fields = Vec::new();
    let mut compare = |same: bool, field| {
        if !same {
            fields.push(field);
        }
    };
    compare(made.class == stored.class, "class");
    compare(made.name == stored.name, "name");
    compare(made.title == stored.title, "title");
    compare(made.type_code == stored.type_code, "type code");
    compare(made.size == stored.size, "size");
    compare(made.array_length == stored.array_length && made.array_dim == stored.array_dim, "array");
    compare(made.max_index == stored.max_index, "dimensions or base checksum");
    compare(made.type_name == stored.type_name, "type name");
    compare(made.kind == stored.kind, "counter, container or base version");
    compare(made.bits == stored.bits, "bits");
    fields
}

#[test]
fn infos_of_root_6_can_be_remade_from_their_classes() {
    let Some(files) = corpus() else { return };
    let mut tally: BTreeMap<String, usize> = BTreeMap::new();
    let mut examples: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for path in &files {
        let Ok(file) = RootFile::open(path) else { continue };
        if file.header().version % 1_000_000 < 60_000 {
            continue;
        }
        let infos = file.infos();
        let world = world(infos);
        let counted: HashSet<(&str, &str)> = infos
            .iter()
            .flat_map(|info| &info.elements)
            .filter_map(|e| match &e.kind {
                ElementKind::Counted { class, name, .. } => Some((class.as_str(), name.as_str())),
                _ => None,
            })
            .collect();
        for info in infos.iter() {
            // A class that is itself a collection has one element that says so, and no members.
            let is_collection = info.elements.first().is_some_and(|e| e.name == "This");
            if is_collection || !seen.insert(format!("{info:?}")) {
                continue;
            }
            let mut note = |what: String, of: String| {
                *tally.entry(what.clone()).or_default() += 1;
                let of = format!("{}: {of}", path.file_name().unwrap().to_string_lossy());
                examples.entry(what).or_default().push(of);
            };
            let same = checksum(info) == info.checksum;
            note(
                format!("checksum {}", if same { "same" } else { "different" }),
                format!("{} v{}", info.name, info.version),
            );
            match describe(&[description(info, infos)], &world) {
                Err(e) => note("not described".into(), format!("{}: {e}", info.name)),
                Ok(made) => {
                    let made = &made[0];
                    if (made.checksum == info.checksum) != same {
                        note("checksum of description otherwise".into(), info.name.clone());
                    }
                    if made.bits & 0xFFFF != info.bits & 0xFFFF {
                        note(format!("info bits {:x} {:x}", made.bits, info.bits), info.name.clone());
                    }
                    if made.elements.len() != info.elements.len() {
                        note("number of elements".into(), info.name.clone());
                    }
                    for (made, stored) in made.elements.iter().zip(&info.elements) {
                        let mut made = made.clone();
                        if made.type_code == 3 && counted.contains(&(info.name.as_str(), made.name.as_str())) {
                            made.type_code = 6;
                        }
                        let fields = differences(&made, stored);
                        if fields.is_empty() {
                            note("element same".into(), String::new());
                        }
                        for field in fields {
                            note(format!("element {field}"), format!("{}\n   {made:?}\n   {stored:?}", info.name));
                        }
                    }
                }
            }
        }
    }
    let show = std::env::var("SHOW").unwrap_or_default();
    for (what, n) in &tally {
        eprintln!("{n:6} {what}");
        if !show.is_empty() && what.contains(&show) {
            for example in &examples[what] {
                eprintln!("          {example}");
            }
        }
    }
    let n = |what: &str| tally.get(what).copied().unwrap_or(0);
    // Pairs (a sum that ROOT makes before it knows their members), classes of version 0, `std::array` members, enums in
    // arrays, and infos that ROOT 6 took over from files of ROOT 5, which had other sums.
    assert!(n("checksum same") >= 806 && n("checksum different") <= 69);
    // A class that the file does not tell of, a `long double`, and a counter that came last.
    assert!(n("not described") <= 6);
    // The rest is as it was in the file the info came from: with the sizes of other compilers and of classes whose
    // members are not all written, with typedefs from before ROOT 6 or those of template arguments (a double of code 9),
    // with a base that is left out (code -1), with versions of bases that changed later.
    assert!(n("element same") >= 6218);
    for (field, most) in [("class", 7), ("name", 0), ("title", 2), ("array", 1), ("bits", 5), ("type name", 45)] {
        assert!(n(&format!("element {field}")) <= most, "{field}");
    }
    assert!(n("element type code") <= 50 && n("element size") <= 441 && n("number of elements") == 0);
}
