//! `include/basketry.h` is what cbindgen makes of the source, and `abi.txt` is what programs that are built already rely on. With
//! `BASKETRY_RENEW=1` both are written; what `abi.txt` has may only grow.

#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The modules with exported items, in the order of the header.
const MODULES: &[&str] = &[
    "version", "error", "foreign", "pool", "sink", "arrow", "table", "writer", "context", "data_set", "events",
    "merger", "verbs",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

fn header() -> String {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for module in MODULES {
        builder = builder.with_src(folder().join(format!("src/{module}.rs")));
    }
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    String::from_utf8(made).unwrap()
}

/// Functions, structures and constants, each on a line without comments and names of parameters' places.
fn declarations(header: &str) -> BTreeSet<String> {
    let mut plain = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        plain.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    let mut all = BTreeSet::new();
    let mut open = String::new();
    for line in plain.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(constant) = line.strip_prefix("#define BASKETRY_") {
            if constant != "H" {
                all.insert(format!("BASKETRY_{constant}"));
            }
        } else if !line.starts_with('#') && line != "}  // extern \"C\"" && !line.starts_with("extern") {
            open.push_str(line);
            open.push(' ');
            if line.ends_with(';') && open.matches('{').count() == open.matches('}').count() {
                all.insert(open.trim().to_owned());
                open.clear();
            }
        }
    }
    all
}

fn is_renewed() -> bool {
    std::env::var_os("BASKETRY_RENEW").is_some()
}

fn compared(path: &Path, made: &str) {
    if is_renewed() {
        std::fs::write(path, made).unwrap();
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(there == made, "{}: run with BASKETRY_RENEW=1, and look at what changed", path.display());
}

#[test]
fn the_header_is_that_of_the_source() {
    compared(&folder().join("include/basketry.h"), &header());
}

#[test]
fn programs_that_are_built_find_what_they_rely_on() {
    let path = folder().join("abi.txt");
    let now = declarations(&header());
    let relied_on = std::fs::read_to_string(&path).unwrap_or_default();
    let gone: Vec<&str> = relied_on.lines().filter(|line| !now.contains(*line)).collect();
    assert!(gone.is_empty() || is_renewed(), "not there any more, or changed: {gone:#?}");
    compared(&path, &now.into_iter().map(|line| line + "\n").collect::<String>());
}
