//! Every object of every corpus file is read, and written back to the same bytes.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.

use std::collections::BTreeMap;

use crate::corpus::corpus;
use rootfile::RootFile;
use rootfile::object::{Content, ObjectReader, ObjectWriter};

#[test]
fn objects_round_trip() {
    let Some(files) = corpus() else { return };
    let mut same: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut unopened = Vec::new();
    for path in &files {
        let Ok(file) = RootFile::open(path) else {
            unopened.push(path.file_name().unwrap().to_string_lossy().into_owned());
            continue;
        };
        for key in file.walk().directories.iter().flat_map(|d| &d.keys) {
            if rootfile::is_directory(&key.class) {
                continue;
            }
            let Ok(payload) = file.payload(key) else { continue };
            let keylen = usize::from(key.keylen);
            let tally = same.entry(key.class.clone()).or_default();
            match ObjectReader::new(&payload, keylen, file.infos()).read_root(&key.class) {
                Ok((object, graph)) if !matches!(object.content, Content::Opaque(_)) => {
                    let mut writer = ObjectWriter::new(keylen, &graph);
                    writer.root(&object).unwrap();
                    tally[usize::from(writer.out.bytes != payload)] += 1;
                }
                _ => tally[2] += 1,
            }
        }
    }
    let total = |i: usize| same.values().map(|t| t[i]).sum::<usize>();
    for (class, [same, different, unread]) in &same {
        if different + unread > 0 {
            eprintln!("{class}: {same} the same, {different} different, {unread} not read");
        }
    }
    eprintln!("{} same, {} different, {} not read; not opened: {unopened:?}", total(0), total(1), total(2));
    assert!(unopened.len() <= 1, "ROOT opens all but a few: {unopened:?}");
    assert!(total(0) > 20 * total(1), "most objects must come back byte for byte");
}
