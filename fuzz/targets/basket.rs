//! Baskets, on file and embedded in the tree's record, with the blocks they are compressed in.
#![no_main]

use dataset::tree::basket::{BasketData, BasketHeader, Entries};
use libfuzzer_sys::fuzz_target;
use rootfile::bytes::{Cursor, Writer};
use rootfile::codec::{Compression, Compressor, Decompressor};

fuzz_target!(|data: &[u8]| {
    if let Ok((_, basket)) = BasketData::parse_embedded(data) {
        check(&basket);
    }
    let Ok(header) = BasketHeader::parse(&mut Cursor::new(data)) else { return };
    let mut w = Writer::new();
    header.write(&mut w);
    let again = BasketHeader::parse(&mut Cursor::new(&w.bytes)).unwrap();
    assert_eq!((&header.key, header.nev_buf, header.last), (&again.key, again.nev_buf, again.last));

    // The caller's budget refuses a claim of gigabytes; here it would only take time.
    let objlen = header.key.objlen as usize;
    if objlen > 1 << 26 {
        return;
    }
    let raw = data.get(header.keylen()..).unwrap_or_default();
    let mut payload = Vec::new();
    if Decompressor::new().decompress(raw, objlen, &mut payload).is_err() {
        assert!(payload.is_empty());
        return;
    }
    assert_eq!(payload.len(), objlen);
    for setting in [101, 404, 501] {
        let setting = Compression::from_root_setting(setting).unwrap();
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        if Compressor::new().compress(setting, &payload, &mut packed).unwrap() {
            Decompressor::new().decompress(&packed, objlen, &mut back).unwrap();
            assert!(back == payload);
        }
    }
    if let Ok(basket) = header.open(payload) {
        check(&basket);
    }
});

/// Every entry lies in the basket's data.
fn check(basket: &BasketData) {
    if basket.entries == Entries::Generated || basket.count > 1 << 20 {
        return;
    }
    for i in 0..basket.count as usize {
        let range = basket.range(i).unwrap();
        assert!(basket.data.get(range).is_some(), "entry {i} of {}", basket.count);
        basket.origin(i);
    }
}
