//! Pages of every column type. The first bytes are the type, the bits, the number of elements, where the page is decoded in two
//! parts, and how its bytes are given: as the record in the file, or as the uncompressed page. Both parts together are the
//! whole, and elements that are written are decoded to the same.
#![no_main]

use dataset::ntuple::element::{ColumnType, Elements, Encoding};
use dataset::ntuple::model::{Locator, Page};
use dataset::ntuple::page::CHECKSUM;
use libfuzzer_sys::fuzz_target;
use rootfile::codec::Decompressor;

fn none(encoding: &Encoding, double: bool) -> Elements {
    Elements::new(encoding.kind(), double)
}

fn shown(elements: &Elements) -> String {
    match elements {
        Elements::Bool(bits) => format!("{:?}", (0..bits.len()).map(|i| bits.get_bit(i)).collect::<Vec<_>>()),
        Elements::Index(ends) => format!("{:?}", ends.offsets()),
        others => format!("{others:?}"),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&[code, bits, low, high, cut, form], rest)) = data.split_first_chunk() else { return };
    let column_type = ColumnType::from_code(u16::from(code) % 31);
    let least = column_type.valid_bits().map_or(0, |bits| *bits.start());
    let Ok(encoding) = Encoding::new(column_type, least + u16::from(bits % 32), Some((-1.5, 4.0)))
        .or_else(|_| Encoding::new(column_type, least, Some((0.0, 0.0))))
    else {
        return;
    };
    let elements = usize::from(u16::from_le_bytes([low, high])) % 3000;
    let (double, as_record) = (form & 1 != 0, form & 2 != 0);
    let mut scratch = Vec::new();
    let mut page = rest.to_vec();
    if as_record {
        let has_checksum = form & 4 != 0;
        let size = (rest.len() as u64).saturating_sub(if has_checksum { CHECKSUM } else { 0 });
        let described = Page { elements: elements as u32, has_checksum, locator: Locator::File { offset: 0, size } };
        match described.open(&encoding, rest, &mut Decompressor::new(), &mut scratch) {
            Ok(opened) => page = opened.to_vec(),
            Err(_) => return,
        }
    } else {
        page.resize(encoding.page_len(elements).unwrap(), 0);
    }
    let mut whole = none(&encoding, double);
    if let Err(error) = whole.decode(&encoding, &page, elements, 0..elements) {
        assert!(encoding.column_type().is_index(), "{error}");
        assert!(whole.is_empty());
        return;
    }
    assert_eq!(whole.len(), elements);
    let cut = usize::from(cut).min(elements);
    let mut parts = none(&encoding, double);
    parts.decode(&encoding, &page, elements, 0..cut).unwrap();
    parts.decode(&encoding, &page, elements, cut..elements).unwrap();
    let all = shown(&whole);
    assert_eq!(shown(&parts), all);
    // Parts of their own are joined.
    let mut second = none(&encoding, double);
    if !encoding.column_type().is_index() {
        let mut first = none(&encoding, double);
        first.decode(&encoding, &page, elements, 0..cut).unwrap();
        second.decode(&encoding, &page, elements, cut..elements).unwrap();
        first.append(second).unwrap();
        assert_eq!(shown(&first), all);
    }
    let mut written = Vec::new();
    if column_type == ColumnType::Real32Quant || whole.encode(&encoding, 0..elements, &mut written).is_err() {
        return;
    }
    let mut again = none(&encoding, double);
    again.decode(&encoding, &written, elements, 0..elements).unwrap();
    assert_eq!(shown(&again), all);
});
