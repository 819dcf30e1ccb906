//! The streamer infos of ROOT's own classes: those that ROOT 6 writes, for files that lack theirs and for the
//! files that basketry writes, and those of versions older than streamer infos.
//!
//! The infos are tables of text, parsed at first use. `builtin.txt` explains its lines; `tools/dump_streamer_infos.py`
//! regenerates it.

use std::sync::{Arc, OnceLock};

use super::element::{ElementKind, StreamerElement};
use super::info::{FORM, StreamerInfo};

pub(super) const TABLES: [&str; 2] = [include_str!("builtin.txt"), include_str!("builtin_old.txt")];

/// All built-in infos.
pub fn infos() -> &'static [Arc<StreamerInfo>] {
    static INFOS: OnceLock<Vec<Arc<StreamerInfo>>> = OnceLock::new();
    INFOS.get_or_init(|| TABLES.iter().flat_map(|table| parse(table)).map(Arc::new).collect())
}

/// Reads a table. Skips invalid lines; a test checks that the shipped tables have none.
pub(super) fn parse(table: &str) -> Vec<StreamerInfo> {
    let mut infos: Vec<StreamerInfo> = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        if let ["C", name, version, checksum] = fields[..] {
            infos.extend(parse_class(name, version, checksum));
        } else if let (Some(element), Some(info)) = (parse_element(&fields), infos.last_mut()) {
            info.elements.push(element);
        }
    }
    infos
}

fn parse_class(name: &str, version: &str, checksum: &str) -> Option<StreamerInfo> {
    Some(StreamerInfo {
        name: name.to_owned(),
        title: String::new(),
        version: version.parse().ok()?,
        checksum: u32::from_str_radix(checksum, 16).ok()?,
        bits: 0,
        form: FORM,
        elements: Vec::new(),
    })
}

fn parse_element(fields: &[&str]) -> Option<StreamerElement> {
    // The second field is the element's own class version, which the writer knows.
    let [class, _, type_code, size, array_length, array_dim, max_index, extra, name, type_name, title] = fields else {
        return None;
    };
    Some(StreamerElement {
        class: (*class).to_owned(),
        name: (*name).to_owned(),
        title: (*title).to_owned(),
        type_code: type_code.parse().ok()?,
        size: size.parse().ok()?,
        array_length: array_length.parse().ok()?,
        array_dim: array_dim.parse().ok()?,
        max_index: parse_max_index(max_index)?,
        type_name: (*type_name).to_owned(),
        kind: parse_kind(extra)?,
        bits: 0,
    })
}

fn parse_max_index(text: &str) -> Option<[i32; 5]> {
    if text == "-" {
        return Some([0; 5]);
    }
    let numbers: Vec<i32> = text.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
    numbers.try_into().ok()
}

fn parse_kind(text: &str) -> Option<ElementKind> {
    let Some((kind, value)) = text.split_once('=') else {
        return Some(ElementKind::Plain);
    };
    match kind {
        "base" => Some(ElementKind::Base { version: value.parse().ok()? }),
        "count" => {
            let mut parts = value.splitn(3, ',');
            let version = parts.next()?.parse().ok()?;
            let class = parts.next()?.to_owned();
            Some(ElementKind::Counted { version, class, name: parts.next()?.to_owned() })
        }
        "stl" => {
            let (stl_type, content_type) = value.split_once(',')?;
            Some(ElementKind::Stl { stl_type: stl_type.parse().ok()?, content_type: content_type.parse().ok()? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(class: &str, version: i32) -> &'static StreamerInfo {
        infos().iter().find(|info| info.name == class && info.version == version).unwrap()
    }

    #[test]
    fn every_line_of_the_tables_is_valid() {
        for table in TABLES {
            let lines = table.lines().filter(|line| !line.starts_with('#')).count();
            let understood: usize = parse(table).iter().map(|info| 1 + info.elements.len()).sum();
            assert_eq!(understood, lines);
        }
    }

    #[test]
    fn no_class_version_is_there_twice() {
        let mut names: Vec<_> = infos().iter().map(|info| (&info.name, info.version)).collect();
        names.sort();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_tree_classes_are_those_of_root_6() {
        for (class, version, checksum) in
            [("TTree", 20, 0x7264_e07f), ("TBranch", 13, 0x1097_8aac), ("TBranchElement", 10, 0xe74f_5e63)]
        {
            assert_eq!(find(class, version).checksum, checksum, "{class}");
        }
    }

    #[test]
    fn counted_arrays_name_their_counter() {
        let seek = find("TBranch", 13).elements.iter().find(|e| e.name == "fBasketSeek").unwrap();
        assert_eq!(seek.type_code, 56);
        let counter = ElementKind::Counted { version: 13, class: "TBranch".into(), name: "fMaxBaskets".into() };
        assert_eq!(seek.kind, counter);
    }

    #[test]
    fn versions_before_streamer_infos_are_there() {
        assert_eq!(find("TTree", 4).elements.last().unwrap().type_name, "TList");
        assert_eq!(find("TBranch", 5).elements.iter().filter(|e| e.type_name == "TArrayI").count(), 3);
        assert_eq!(find("TLeaf", 1).elements.len(), find("TLeaf", 2).elements.len());
    }
}
