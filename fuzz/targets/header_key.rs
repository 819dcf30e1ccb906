//! The first bytes of a file, keys, directories and lists of keys; then the same bytes as a whole file. What the
//! parser understood is written, and must be parsed to the same.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use rootfile::bytes::{Cursor, Writer};
use rootfile::{DirectoryRecord, FileHeader, Key, MemoryFile, RootFile, parse_key_list};

fuzz_target!(|data: &[u8]| {
    if let Ok(header) = FileHeader::parse(data) {
        assert_eq!(FileHeader::parse(&header.to_bytes()).unwrap(), header);
    }
    if let Ok(key) = Key::parse(&mut Cursor::new(data)) {
        let mut w = Writer::new();
        key.write(&mut w);
        assert_eq!(Key::parse(&mut Cursor::new(&w.bytes)).unwrap(), key);
    }
    if let Ok(record) = DirectoryRecord::parse(&mut Cursor::new(data)) {
        let mut w = Writer::new();
        record.write(&mut w);
        assert_eq!(DirectoryRecord::parse(&mut Cursor::new(&w.bytes)).unwrap(), record);
    }
    let _ = parse_key_list(data);
    if let Ok(file) = RootFile::from_source(Arc::new(MemoryFile(data.to_vec()))) {
        for key in file.walk().directories.iter().flat_map(|d| &d.keys) {
            let _ = file.payload(key);
        }
    }
});
