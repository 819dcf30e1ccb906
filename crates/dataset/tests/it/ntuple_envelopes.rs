//! Metadata that the corpus lacks, made here: large and unknown locators, several words of feature flags, several cluster groups,
//! members of later formats, representations, attribute sets; and schemas that contradict themselves.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use dataset::ntuple::element::ColumnType;
use dataset::ntuple::model::{
    AliasColumn, Anchor, AttributeSet, Cluster, ClusterGroup, Column, ColumnRange, Deferred, ExtraTypeInfo, Field,
    FormatVersion, Link, Locator, Ntuple, Page, PageList, Role, Schema,
};
use dataset::ntuple::{
    EnvelopeKind, Writer, envelope_checksum, open_envelope, parse_ntuple, parse_page_list, read_attribute_set,
    read_page_list, seal_envelope, write_anchor, write_footer, write_header, write_page_list,
};
use rootfile::{MemoryFile, Result, Source};

const NOWHERE: Link = Link { len: 0, locator: Locator::File { offset: 0, size: 0 } };

fn field(parent: Option<usize>, name: &str) -> Field {
    Field::new(parent, Role::Leaf, name, "float")
}

fn column(field: usize, column_type: ColumnType, representation: u16) -> Column {
    let bits = column_type.valid_bits().map_or(17, |bits| *bits.end());
    Column {
        column_type,
        bits,
        field,
        representation,
        first_element: None,
        range: None,
        in_extension: false,
        mantissa: None,
    }
}

/// The schema with other alias columns and extra type information.
fn with(schema: &Schema, aliases: Vec<AliasColumn>, extra: Vec<ExtraTypeInfo>) -> Arc<Schema> {
    Schema::new(schema.fields.clone(), schema.columns.clone(), aliases, extra).into()
}

fn ntuple(fields: Vec<Field>, columns: Vec<Column>) -> Ntuple {
    let version = FormatVersion { epoch: 1, major: 0, minor: 2, patch: 0 };
    Ntuple {
        name: "Events".to_owned(),
        description: "made for a test".to_owned(),
        writer: "basketry".to_owned(),
        anchor: Anchor { version, header: NOWHERE, footer: NOWHERE, max_key_size: 0 },
        features: vec![0],
        header_checksum: 0,
        schema: Schema::new(fields, columns, Vec::new(), Vec::new()).into(),
        groups: Vec::new(),
        attribute_sets: Vec::new(),
    }
}

/// What is read of what is written.
fn again(ntuple: &mut Ntuple) -> Result<Ntuple> {
    let header = write_header(ntuple).unwrap();
    ntuple.header_checksum = envelope_checksum(&header);
    parse_ntuple(ntuple.anchor, &header, &write_footer(ntuple).unwrap())
}

/// Asserts that a schema is refused, and that the message has the words.
fn refused(fields: Vec<Field>, columns: Vec<Column>, words: &str) {
    let error = again(&mut ntuple(fields, columns)).unwrap_err();
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn everything_in_a_schema() {
    let mut array = field(None, "a");
    (array.array_size, array.type_checksum, array.is_soa, array.type_version) = (Some(3), Some(7), true, u32::MAX);
    let mut list = field(None, "list");
    (list.role, list.type_alias, list.description) = (Role::Collection, "std::vector<Double32_t>".into(), "é".into());
    let mut late = field(None, "late");
    (late.in_extension, late.role) = (true, Role::Unknown(0x99));
    let mut shown = field(None, "shown");
    (shown.source, shown.in_extension) = (Some(0), true);

    let mut quant = column(0, ColumnType::Real32Quant, 0);
    quant.range = Some((-1.5, 2.5));
    let mut second = column(0, ColumnType::Unknown(0x99), 1);
    (second.first_element, second.in_extension) = (Some(Deferred { first_element: 12, suppressed: true }), true);
    let mut deferred = column(3, ColumnType::Real64, 0);
    (deferred.first_element, deferred.in_extension) = (Some(Deferred { first_element: 9, suppressed: false }), true);

    let fields = vec![array, list, field(Some(1), "_0"), late, shown];
    let columns =
        vec![quant, column(1, ColumnType::SplitIndex64, 0), column(2, ColumnType::Real32, 0), deferred, second];
    let mut made = ntuple(fields, columns);
    let extra = ExtraTypeInfo {
        content_id: 0,
        type_version: 0,
        type_name: String::new(),
        content: vec![0, 255, 0],
        in_extension: true,
    };
    made.schema = with(&made.schema, vec![AliasColumn { column: 0, field: 4 }], vec![extra]);
    let read = again(&mut made).unwrap();
    assert_eq!(read, made);

    let schema = &read.schema;
    assert_eq!(
        (schema.children(None), schema.children(Some(1)), schema.children(Some(2))),
        (vec![0, 1, 3, 4], vec![2], vec![])
    );
    assert_eq!((schema.columns_of(0), schema.columns_of(4)), (&[0, 4][..], &[][..]));
    assert_eq!(schema.aliases_of(4).map(|alias| alias.column).collect::<Vec<_>>(), [0]);
    assert_eq!(schema.path(2), "list._0");
}

#[test]
fn schemas_that_contradict_themselves() {
    use ColumnType::{Index64, Real32, SplitReal32};
    let float = |representation| column(0, Real32, representation);
    let of = |parent| field(Some(parent), "x");
    refused(vec![field(None, "a"), of(2), field(None, "b")], vec![], "field 1 is below field 2");
    refused(vec![of(7)], vec![], "field 0 is below field 7");
    refused(vec![field(None, "a.b")], vec![], "impossible name \"a.b\"");
    refused(vec![field(None, "")], vec![], "impossible name");
    refused((0..200).map(|id: usize| field(id.checked_sub(1), "x")).collect(), vec![], "levels deep");
    refused(vec![field(None, "a")], vec![column(1, Real32, 0)], "a column of field 1");
    refused(vec![field(None, "a")], vec![float(1)], "out of order");
    refused(vec![field(None, "a")], vec![float(0), float(2)], "out of order");
    refused(vec![field(None, "a")], vec![float(0), float(0), float(1)], "with 2 and with 1 columns");
    refused(vec![field(None, "a")], vec![float(0), float(1), float(1)], "with 1 and with 2 columns");
    refused(vec![field(None, "a")], vec![float(0), float(1), float(0)], "out of order");
    let several = vec![column(0, Index64, 0), float(0), column(0, SplitReal32, 1), float(1)];
    assert!(again(&mut ntuple(vec![field(None, "a")], several)).is_ok());

    let shows = |source| Field { source: Some(source), ..field(None, "p") };
    refused(vec![field(None, "a"), shows(2)], vec![], "field 1 shows field 2, which does not exist");
    refused(vec![shows(1), shows(0)], vec![], "which shows another itself");
    refused(vec![shows(0)], vec![], "which shows another itself");
    for alias in [AliasColumn { column: 1, field: 0 }, AliasColumn { column: 0, field: 1 }] {
        let mut made = ntuple(vec![field(None, "a")], vec![float(0)]);
        made.schema = with(&made.schema, vec![alias], vec![]);
        assert!(again(&mut made).unwrap_err().to_string().contains("there is no such pair"));
    }
}

#[test]
fn features() {
    let mut made = ntuple(vec![field(None, "a")], vec![]);
    made.features = vec![1, 0, 0];
    assert_eq!(again(&mut made).unwrap().features, [1, 0, 0]);
    made.features = vec![0, 4];
    assert!(again(&mut made).unwrap_err().to_string().contains("format feature 66,"));

    // A feature may be in the footer alone.
    made.features = vec![0];
    let header = write_header(&made).unwrap();
    made.header_checksum = envelope_checksum(&header);
    let footer = write_footer(&made).unwrap();
    for (flag, known) in [(1, true), (2, false)] {
        let mut payload = footer[8..footer.len() - 8].to_vec();
        payload[0] = flag;
        let footer = sealed(EnvelopeKind::Footer, &payload);
        match parse_ntuple(made.anchor, &header, &footer) {
            Ok(read) => assert!(known && read.features == [1]),
            Err(e) => assert!(!known && e.to_string().contains("format feature 1,"), "{e}"),
        }
    }
}

fn sealed(kind: EnvelopeKind, payload: &[u8]) -> Vec<u8> {
    seal_envelope(kind, |w| {
        w.bytes.extend_from_slice(payload);
        Ok(())
    })
    .unwrap()
}

fn group(first_entry: u64, entries: u64, clusters: u32) -> ClusterGroup {
    ClusterGroup { first_entry, entries, clusters, page_list: NOWHERE }
}

#[test]
fn cluster_groups_have_every_entry_once() {
    let read = |groups: Vec<ClusterGroup>| {
        let mut made = ntuple(vec![], vec![]);
        made.groups = groups;
        again(&mut made)
    };
    let groups = vec![group(0, 10, 2), group(10, 0, 0), group(10, 5, 1)];
    let sorted = read(groups.clone()).unwrap();
    assert_eq!((sorted.entries(), &sorted.groups), (15, &groups));
    let mut shuffled = groups.clone();
    shuffled.swap(0, 2);
    assert_eq!(read(shuffled).unwrap().groups, groups);
    for bad in [vec![group(1, 9, 1)], vec![group(0, 5, 1), group(6, 1, 1)], vec![group(0, 5, 1), group(4, 2, 1)]] {
        assert!(read(bad).unwrap_err().to_string().contains("is next"));
    }
    assert!(read(vec![group(0, u64::MAX, 1), group(u64::MAX, 1, 1)]).is_err());
}

fn page(elements: u32, has_checksum: bool, locator: Locator) -> Page {
    Page { elements, has_checksum, locator }
}

/// A column's range with no pages but those given by number.
fn range(first_element: u64, compression: Option<u32>, pages: std::ops::Range<usize>) -> ColumnRange {
    ColumnRange { first_element, compression, pages }
}

/// An RNTuple with one group of entries, and a page list as it is read back.
fn pages_again(made: &mut Ntuple, list: &PageList) -> Result<PageList> {
    let entries = list.clusters.iter().map(|cluster| cluster.entries).sum();
    made.groups = vec![group(0, entries, u32::try_from(list.clusters.len()).unwrap())];
    parse_page_list(&write_page_list(made.header_checksum, list).unwrap(), made, 0)
}

#[test]
fn pages_with_all_kinds_of_locators() {
    let mut made = ntuple(vec![field(None, "a")], vec![column(0, ColumnType::Real32, 0)]);
    let file = |offset, size| Locator::File { offset, size };
    let pages = vec![
        page(3, true, file(300, 12)),
        page(4, false, file(1 << 40, 1 << 33)),
        page(4, true, file(1 << 40, 1 << 33)),
        page(i32::MAX.cast_unsigned(), true, file(0, i32::MAX as u64)),
    ];
    let cluster = |first_entry, entries, pages| Cluster {
        first_entry,
        entries,
        columns: vec![range(first_entry, Some(505), pages)],
    };
    let list = PageList { clusters: vec![cluster(0, 7, 0..2), cluster(7, 4, 2..2), cluster(11, 9, 2..4)], pages };
    assert_eq!(pages_again(&mut made, &list).unwrap(), list);

    // An object store's locator: the page is listed, the others are not affected. A writer cannot copy it.
    let unknown = page(3, true, Locator::Unknown { kind: 2 });
    assert!(write_page_list(0, &PageList { pages: vec![unknown; 4], ..list.clone() }).is_err());
    let bytes = write_page_list(0, &list).unwrap();
    let (mut payload, _) = open_envelope(EnvelopeKind::PageList, &bytes).unwrap();
    let mut payload = payload.bytes(payload.remaining()).unwrap().to_vec();
    let large = (-(1i32 << 24 | 20)).to_le_bytes();
    let at = payload.windows(4).position(|window| window == large).unwrap();
    payload[at..at + 4].copy_from_slice(&(-(2i32 << 24 | 20)).to_le_bytes());
    let read = parse_page_list(&sealed(EnvelopeKind::PageList, &payload), &made, 0).unwrap();
    assert_eq!(read.pages[1], page(4, false, Locator::Unknown { kind: 2 }));
    assert_eq!((read.pages[0], read.pages[2], &read.clusters), (list.pages[0], list.pages[2], &list.clusters));
}

#[test]
fn clusters_have_every_entry_of_their_group() {
    let mut made = ntuple(vec![], vec![]);
    let cluster = |first_entry, entries| Cluster { first_entry, entries, columns: vec![] };
    let list = |clusters: &[(u64, u64)]| PageList {
        clusters: clusters.iter().map(|&(first, entries)| cluster(first, entries)).collect(),
        pages: vec![],
    };
    assert_eq!(pages_again(&mut made, &list(&[(5, 2), (0, 5)])).unwrap(), list(&[(0, 5), (5, 2)]));
    for bad in [&[(0, 5), (6, 2)][..], &[(0, 5), (4, 2)], &[(1, 5)], &[(0, 5), (5, 1 << 60)]] {
        assert!(pages_again(&mut made, &list(bad)).is_err(), "{bad:?}");
    }
    made.groups = vec![group(0, 7, 1)];
    let one = write_page_list(0, &list(&[(0, 5)])).unwrap();
    assert!(parse_page_list(&one, &made, 0).unwrap_err().to_string().contains("the clusters end at entry 5"));
    // The highest byte of the number of entries has flags: 1 is a sharded cluster, others do not matter.
    for (flags, sound) in [(1u64, false), (2, true), (0x83, false)] {
        let mut w = Writer::default();
        w.u64(0);
        let summary = |w: &mut Writer, _: &()| {
            w.record(|w| {
                w.u64(0);
                w.u64(7 | flags << 56);
                Ok(())
            })
        };
        w.list(&[()], summary).unwrap();
        w.list(&[()], |w, ()| w.list(&[], |_, (): &()| Ok(()))).unwrap();
        match parse_page_list(&sealed(EnvelopeKind::PageList, &w.bytes), &made, 0) {
            Ok(list) => assert!(sound && list.clusters[0].entries == 7),
            Err(e) => assert!(!sound && e.to_string().contains("sharded"), "{e}"),
        }
    }
}

#[test]
fn one_representation_of_a_field_has_the_data_of_a_cluster() {
    use ColumnType::{Char, Index32, Index64, Real32, SplitReal32};
    // A string in two representations of two columns, a float in two of one, and a float that was added later.
    let mut late = column(2, Real32, 0);
    late.in_extension = true;
    let columns = vec![
        column(0, Index32, 0),
        column(0, Char, 0),
        column(0, Index64, 1),
        column(0, Char, 1),
        column(1, Real32, 0),
        column(1, SplitReal32, 1),
        late,
    ];
    let mut last = field(None, "late");
    last.in_extension = true;
    let mut made = ntuple(vec![field(None, "s"), field(None, "x"), last], columns);
    let some = |first_element| range(first_element, Some(0), 0..0);
    let none = |first_element| range(first_element, None, 0..0);
    let list = |columns: Vec<ColumnRange>| PageList {
        clusters: vec![Cluster { first_entry: 0, entries: 1, columns }],
        pages: vec![],
    };
    // The suppressed ones get the index of the others.
    let sound = list(vec![none(40), none(90), some(40), some(90), some(7), none(7)]);
    assert_eq!(pages_again(&mut made, &sound).unwrap(), sound);
    let sound = list(vec![some(40), some(90), none(40), none(90), none(7), some(7), some(0)]);
    assert_eq!(pages_again(&mut made, &sound).unwrap(), sound);
    // Columns of the second representation that were added later are absent.
    assert!(pages_again(&mut made, &list(vec![some(0), some(0)])).is_ok());
    for columns in [
        vec![some(0), some(0), some(0), none(0), some(0), none(0)],
        vec![none(0), some(0), none(0), none(0), some(0), none(0)],
        vec![none(0), none(0)],
    ] {
        assert!(pages_again(&mut made, &list(columns)).unwrap_err().to_string().contains("not exactly one has data"));
    }
    let many = vec![some(0); 8];
    assert!(pages_again(&mut made, &list(many)).unwrap_err().to_string().contains("a cluster with 8 columns"));
}

/// Appends a member that this version does not know to every record frame and every list of records.
fn with_later_members(envelope: &[u8], kind: EnvelopeKind) -> Vec<u8> {
    let mut header = Writer::default();
    let (mut r, _) = open_envelope(kind, envelope).unwrap();
    header.u64(r.u64().unwrap());
    for _ in 0..3 {
        header.string(&r.string().unwrap()).unwrap();
    }
    for _ in 0..4 {
        let (n, mut items) = r.list(8).unwrap();
        let items: Vec<_> = (0..n).map(|_| items.record().unwrap()).collect();
        let later = |w: &mut Writer| {
            for item in &items {
                let mut item = item.clone();
                w.record(|w| {
                    w.bytes.extend_from_slice(item.bytes(item.remaining()).unwrap());
                    w.string("a later member")
                })?;
            }
            w.string("something behind the items")
        };
        header.list_with(n, later).unwrap();
    }
    header.string("a later part of the envelope").unwrap();
    sealed(kind, &header.bytes)
}

#[test]
fn members_of_later_formats_are_skipped() {
    let mut made = ntuple(vec![field(None, "a"), field(None, "b")], vec![column(0, ColumnType::Real32, 0)]);
    made.schema = with(&made.schema, vec![AliasColumn { column: 0, field: 1 }], vec![]);
    let header = with_later_members(&write_header(&made).unwrap(), EnvelopeKind::Header);
    made.header_checksum = envelope_checksum(&header);
    assert_eq!(parse_ntuple(made.anchor, &header, &write_footer(&made).unwrap()).unwrap(), made);
}

/// Ten thousand fields in a list each, ten thousand clusters: their index and their checks take no time that grows with the square.
#[test]
fn wide_and_long() {
    let fields: Vec<Field> = (0..20_000).map(|id| field((id % 2 == 1).then(|| id - 1), &format!("f{id}"))).collect();
    let columns = (0..20_000).map(|id| column(id, ColumnType::Real32, 0)).collect();
    let mut made = ntuple(fields, columns);
    let read = again(&mut made).unwrap();
    assert!((0..20_000).step_by(2).all(|id| read.schema.children(Some(id)) == [id + 1]));

    let mut narrow = ntuple(vec![field(None, "a")], vec![column(0, ColumnType::Real32, 0)]);
    let clusters = (0..20_000u64).map(|first_entry| Cluster {
        first_entry,
        entries: 1,
        columns: vec![range(first_entry, Some(0), usize::try_from(first_entry).unwrap()..first_entry as usize + 1)],
    });
    let pages = vec![page(1, true, Locator::File { offset: 100, size: 4 }); 20_000];
    let list = PageList { clusters: clusters.collect(), pages };
    assert_eq!(pages_again(&mut narrow, &list).unwrap(), list);
}

/// A file of envelopes alone: an RNTuple, its page list, and an attribute set with an anchor of its own.
#[test]
fn attribute_sets_and_blocks_in_a_file() {
    let mut bytes = vec![0; 100];
    let mut put = |block: &[u8]| {
        let offset = bytes.len() as u64;
        bytes.extend_from_slice(block);
        Link { len: block.len() as u64, locator: Locator::File { offset, size: block.len() as u64 } }
    };
    let mut inner = ntuple(vec![field(None, "_range")], vec![]);
    inner.name = "quality".to_owned();
    let header = write_header(&inner).unwrap();
    inner.header_checksum = envelope_checksum(&header);
    inner.anchor.header = put(&header);
    inner.anchor.footer = put(&write_footer(&inner).unwrap());
    let set = AttributeSet {
        name: "quality".to_owned(),
        schema_version: (1, 2),
        anchor: put(&write_anchor(&inner.anchor).unwrap()),
    };

    let mut outer = ntuple(vec![field(None, "a")], vec![column(0, ColumnType::Real32, 0)]);
    outer.attribute_sets = vec![set.clone()];
    outer.header_checksum = envelope_checksum(&write_header(&outer).unwrap());
    let cluster = Cluster { first_entry: 0, entries: 2, columns: vec![range(0, Some(0), 0..0)] };
    let list = PageList { clusters: vec![cluster], pages: vec![] };
    outer.groups = vec![ClusterGroup {
        page_list: put(&write_page_list(outer.header_checksum, &list).unwrap()),
        ..group(0, 2, 1)
    }];
    let read = again(&mut outer).unwrap();
    assert_eq!(read, outer);

    let file = MemoryFile(bytes);
    let source: &dyn Source = &file;
    assert_eq!(read_attribute_set(source, &read, &set).unwrap(), inner);
    assert_eq!(read_page_list(source, &read, 0).unwrap(), list);
    let error = read_page_list(source, &read, 1).unwrap_err();
    assert_eq!(error.to_string(), "(memory): Events: there is no cluster group 1");
    let cut = MemoryFile(file.0[..file.0.len() - 1].to_vec());
    let error = read_page_list(&cut, &read, 0).unwrap_err().to_string();
    assert!(error.contains("Events, page list: at byte"), "{error}");
    let mut lost = set;
    lost.anchor.len += 1;
    let error = read_attribute_set(source, &read, &lost).unwrap_err().to_string();
    assert!(error.contains("Events, attributes quality: at byte"), "{error}");

    // Formats before 1.0.1.0 end behind the cluster groups.
    outer.anchor.version.minor = 0;
    assert!(write_footer(&outer).is_err());
    outer.attribute_sets.clear();
    assert_eq!(again(&mut outer).unwrap(), outer);
}
