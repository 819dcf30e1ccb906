//! A page list of an RNTuple, with a checksum that fits, and the values of its fields where every stored element is zero. The
//! first byte is the number of clusters, the next two that of entries. A parsed list is written, and must be parsed to the same.
#![no_main]

use std::ops::Range;

use arrow_array::Array;
use dataset::ntuple::decode::{ElementSource, fields};
use dataset::ntuple::element::{ColumnType, Elements};
use dataset::ntuple::model::*;
use dataset::ntuple::{EnvelopeKind, parse_page_list, seal_envelope, write_page_list};
use libfuzzer_sys::fuzz_target;
use rootfile::{Error, Result};

/// A caller reads the pages of a range before it decodes them: claims of many elements end there.
const MOST: u64 = 1 << 16;

struct Zeros;

impl ElementSource for Zeros {
    fn decode(&mut self, _: usize, range: Range<u64>, out: &mut Elements) -> Result<()> {
        match range.end - range.start {
            many if many > MOST => Err(Error::request("many elements")),
            n => out.append_zeros(n as usize),
        }
    }
}

/// A number in two representations, a list of an array, a variant, an optional number, and a list from an extension.
fn schema() -> Schema {
    use ColumnType::*;
    let mut all = vec![
        Field::new(None, Role::Leaf, "number", "std::int32_t"),
        Field::new(None, Role::Collection, "list", "std::vector<std::array<float,2>>"),
        Field::new(Some(1), Role::Leaf, "_0", "std::array<float,2>"),
        Field::new(Some(2), Role::Leaf, "_0", "float"),
        Field::new(None, Role::Variant, "either", "std::variant<bool,std::string>"),
        Field::new(Some(4), Role::Leaf, "_0", "bool"),
        Field::new(Some(4), Role::Leaf, "_1", "std::string"),
        Field::new(None, Role::Collection, "maybe", "std::optional<double>"),
        Field::new(Some(7), Role::Leaf, "_0", "double"),
        Field::new(None, Role::Collection, "late", "std::vector<std::int64_t>"),
        Field::new(Some(9), Role::Leaf, "_0", "std::int64_t"),
    ];
    all[2].array_size = Some(2);
    let columns = [
        (0, Int32, 32, 0),
        (0, Int16, 16, 1),
        (1, SplitIndex64, 64, 0),
        (3, Real32, 32, 0),
        (4, Switch, 96, 0),
        (5, Bit, 1, 0),
        (6, Index32, 32, 0),
        (6, Char, 8, 0),
        (7, Index64, 64, 0),
        (8, SplitReal32, 32, 0),
        (9, Index64, 64, 0),
        (10, Int64, 64, 0),
    ];
    let columns = columns.map(|(field, column_type, bits, representation)| Column {
        column_type,
        bits,
        field,
        representation,
        first_element: (field > 8).then_some(Deferred { first_element: 5, suppressed: false }),
        range: None,
        in_extension: field > 8,
        mantissa: None,
    });
    Schema::new(all, columns.to_vec(), Vec::new(), Vec::new())
}

fn ntuple(clusters: u8, entries: u16) -> Ntuple {
    let link = Link { len: 1, locator: Locator::File { offset: 1, size: 1 } };
    let version = FormatVersion { epoch: 1, major: 0, minor: 2, patch: 0 };
    let group = ClusterGroup { first_entry: 0, entries: entries.into(), clusters: clusters.into(), page_list: link };
    Ntuple {
        name: String::new(),
        description: String::new(),
        writer: String::new(),
        anchor: Anchor { version, header: link, footer: link, max_key_size: 0 },
        features: Vec::new(),
        header_checksum: 7,
        schema: schema().into(),
        groups: vec![group],
        attribute_sets: Vec::new(),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&[clusters, low, high], payload)) = data.split_first_chunk() else { return };
    let ntuple = ntuple(clusters, u16::from_le_bytes([low, high]));
    let envelope = seal_envelope(EnvelopeKind::PageList, |w| {
        w.u64(ntuple.header_checksum);
        w.bytes.extend_from_slice(payload);
        Ok(())
    });
    let Ok(list) = parse_page_list(&envelope.unwrap(), &ntuple, 0) else { return };
    for plan in fields(&ntuple.schema) {
        let mut builder = plan.start(0).unwrap();
        let mut all = list.clusters.iter();
        if all.all(|cluster| builder.append(&list, cluster, 0..cluster.entries, &mut Zeros).is_ok()) {
            let array = builder.finish().unwrap();
            assert_eq!(array.len(), usize::from(u16::from_le_bytes([low, high])));
        }
    }
    // Locators that are not into a file are not written.
    let Ok(written) = write_page_list(ntuple.header_checksum, &list) else { return };
    let again = parse_page_list(&written, &ntuple, 0).unwrap();
    assert_eq!(again.clusters.len(), list.clusters.len());
    assert_eq!(again.pages.len(), list.pages.len());
});
