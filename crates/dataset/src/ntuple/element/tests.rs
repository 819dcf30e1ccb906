//! Every type against bytes made by the words of the specification; round trips; and pages that do not fit.

use std::ops::Range;

use proptest::prelude::*;

use super::*;

/// Code, name, and the fewest and the most bits: the table of the specification.
const TABLE: [(u16, &str, u16, u16); 30] = [
    (0x00, "Bit", 1, 1),
    (0x01, "Byte", 8, 8),
    (0x02, "Char", 8, 8),
    (0x03, "Int8", 8, 8),
    (0x04, "UInt8", 8, 8),
    (0x05, "Int16", 16, 16),
    (0x06, "UInt16", 16, 16),
    (0x07, "Int32", 32, 32),
    (0x08, "UInt32", 32, 32),
    (0x09, "Int64", 64, 64),
    (0x0A, "UInt64", 64, 64),
    (0x0B, "Real16", 16, 16),
    (0x0C, "Real32", 32, 32),
    (0x0D, "Real64", 64, 64),
    (0x0E, "Index32", 32, 32),
    (0x0F, "Index64", 64, 64),
    (0x10, "Switch", 96, 96),
    (0x11, "SplitInt16", 16, 16),
    (0x12, "SplitUInt16", 16, 16),
    (0x13, "SplitInt32", 32, 32),
    (0x14, "SplitUInt32", 32, 32),
    (0x15, "SplitInt64", 64, 64),
    (0x16, "SplitUInt64", 64, 64),
    (0x17, "SplitReal16", 16, 16),
    (0x18, "SplitReal32", 32, 32),
    (0x19, "SplitReal64", 64, 64),
    (0x1A, "SplitIndex32", 32, 32),
    (0x1B, "SplitIndex64", 64, 64),
    (0x1C, "Real32Trunc", 10, 31),
    (0x1D, "Real32Quant", 1, 32),
];

#[test]
fn types_are_those_of_the_specification() {
    assert_eq!(ColumnType::all().len(), TABLE.len());
    for (code, name, least, most) in TABLE {
        let column_type = ColumnType::from_code(code);
        assert_eq!((column_type.to_string().as_str(), column_type.code()), (name, code));
        assert_eq!(column_type.valid_bits(), Some(least..=most), "{name}");
        assert_eq!(column_type.is_index(), name.contains("Index"), "{name}");
        assert_eq!(column_type.is_split(), name.starts_with("Split"), "{name}");
        assert_eq!(column_type.unsplit().to_string(), name.trim_start_matches("Split"));
        if let Some(split) = column_type.split() {
            assert_eq!(split.to_string(), format!("Split{}", column_type.unsplit()));
        }
    }
    let unknown = ColumnType::from_code(0x1E);
    assert_eq!((unknown, unknown.code()), (ColumnType::Unknown(0x1E), 0x1E));
    assert_eq!(unknown.to_string(), "unknown column type 0x1e");
}

fn encoding(column_type: ColumnType) -> Encoding {
    let bits = *column_type.valid_bits().unwrap().end();
    Encoding::new(column_type, bits, Some((-10.0, 10.0))).unwrap()
}

fn decoded(encoding: &Encoding, double: bool, page: &[u8], elements: usize) -> Elements {
    let mut out = Elements::new(encoding.kind(), double);
    out.decode(encoding, page, elements, 0..elements).unwrap();
    out
}

fn encoded(elements: &Elements, encoding: &Encoding) -> Vec<u8> {
    let mut page = Vec::new();
    elements.encode(encoding, 0..elements.len(), &mut page).unwrap();
    page
}

/// Elements as numbers: the bits of their values; ends as offsets.
fn numbers(elements: &Elements) -> Vec<u64> {
    match elements {
        Elements::Bool(bits) => (0..bits.len()).map(|i| bits.get_bit(i).into()).collect(),
        Elements::U8(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Elements::I8(v) => v.iter().map(|x| *x as u64).collect(),
        Elements::I16(v) => v.iter().map(|x| *x as u64).collect(),
        Elements::U16(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Elements::I32(v) => v.iter().map(|x| *x as u64).collect(),
        Elements::U32(v) => v.iter().map(|x| u64::from(*x)).collect(),
        Elements::I64(v) => v.iter().map(|x| *x as u64).collect(),
        Elements::U64(v) => v.clone(),
        Elements::F32(v) => v.iter().map(|x| x.to_bits().into()).collect(),
        Elements::F64(v) => v.iter().map(|x| x.to_bits()).collect(),
        Elements::Index(ends) => ends.offsets().iter().map(|x| *x as u64).collect(),
        Elements::Switch(v) => v.iter().flat_map(|(index, tag)| [*index, u64::from(*tag)]).collect(),
    }
}

/// The page has these elements, and these elements are encoded as this page.
#[track_caller]
fn is_page(encoding: &Encoding, double: bool, page: &[u8], elements: usize, expected: &Elements) {
    let found = decoded(encoding, double, page, elements);
    assert_eq!((found.kind(), numbers(&found)), (expected.kind(), numbers(expected)));
    assert_eq!(found.len(), elements);
    if encoding.column_type() == ColumnType::SplitReal16 {
        assert!(found.encode(encoding, 0..elements, &mut Vec::new()).is_err());
    } else {
        assert_eq!(encoded(&found, encoding), page);
    }
}

#[test]
fn plain_types() {
    use ColumnType::*;
    let check = |column_type, page: &[u8], elements, expected| {
        is_page(&encoding(column_type), false, page, elements, &expected);
    };
    check(Byte, &[0, 127, 255], 3, Elements::U8(vec![0, 127, 255]));
    check(Char, b"abc", 3, Elements::U8(b"abc".to_vec()));
    check(Int8, &[0, 127, 128, 255], 4, Elements::I8(vec![0, 127, -128, -1]));
    check(UInt8, &[0, 255], 2, Elements::U8(vec![0, 255]));
    check(Int16, &[1, 2, 0xfe, 0xff], 2, Elements::I16(vec![0x201, -2]));
    check(UInt16, &[1, 2, 0xfe, 0xff], 2, Elements::U16(vec![0x201, 0xfffe]));
    check(Int32, &[1, 2, 3, 4, 0xfe, 0xff, 0xff, 0xff], 2, Elements::I32(vec![0x0403_0201, -2]));
    check(UInt32, &[1, 2, 3, 4, 0xfe, 0xff, 0xff, 0xff], 2, Elements::U32(vec![0x0403_0201, 0xffff_fffe]));
    check(Int64, &[0xfe, 255, 255, 255, 255, 255, 255, 255], 1, Elements::I64(vec![-2]));
    check(UInt64, &[1, 2, 3, 4, 5, 6, 7, 8], 1, Elements::U64(vec![0x0807_0605_0403_0201]));
    let halves = [0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x01, 0x00, 0x00, 0x7c];
    let values = [1.0, -2.0, 65504.0, 2_f32.powi(-24), f32::INFINITY];
    check(Real16, &halves, 5, Elements::F32(values.to_vec()));
    let doubles = Elements::F64(values.iter().map(|v| f64::from(*v)).collect());
    is_page(&encoding(Real16), true, &halves, 5, &doubles);
    check(Real32, &[0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0], 2, Elements::F32(vec![1.0, -2.5]));
    is_page(&encoding(Real32), true, &[0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0], 2, &Elements::F64(vec![1.0, -2.5]));
    check(Real64, &[0, 0, 0, 0, 0, 0, 4, 0xc0], 1, Elements::F64(vec![-2.5]));
    check(Switch, &[5, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3], 1, Elements::Switch(vec![(5 | 1 << 56, 2 | 3 << 24)]));
}

#[test]
fn split_types() {
    use ColumnType::*;
    let check = |column_type, page: &[u8], elements, expected| {
        is_page(&encoding(column_type), false, page, elements, &expected);
    };
    // Zigzag: 2x of a positive number, -(2x + 1) of a negative one.
    check(SplitInt16, &[2, 3, 0xff, 0, 0, 0xff], 3, Elements::I16(vec![1, -2, i16::MIN]));
    check(SplitUInt16, &[1, 3, 2, 4], 2, Elements::U16(vec![0x201, 0x403]));
    check(SplitInt32, &[2, 0xff, 0, 0xff, 0, 0xff, 0, 0xff], 2, Elements::I32(vec![1, i32::MIN]));
    check(SplitUInt32, &[1, 5, 2, 6, 3, 7, 4, 8], 2, Elements::U32(vec![0x0403_0201, 0x0807_0605]));
    let split = [2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    check(SplitInt64, &split, 2, Elements::I64(vec![1, -2]));
    let split = [1, 9, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0];
    check(SplitUInt64, &split, 2, Elements::U64(vec![0x0807_0605_0403_0201, 9]));
    check(SplitReal16, &[0, 0, 0x3c, 0xc0], 2, Elements::F32(vec![1.0, -2.0]));
    is_page(&encoding(SplitReal16), true, &[0, 0, 0x3c, 0xc0], 2, &Elements::F64(vec![1.0, -2.0]));
    let split = [0, 0, 0, 0, 0x80, 0x20, 0x3f, 0xc0];
    check(SplitReal32, &split, 2, Elements::F32(vec![1.0, -2.5]));
    is_page(&encoding(SplitReal32), true, &split, 2, &Elements::F64(vec![1.0, -2.5]));
    let split = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 4, 0x3f, 0xc0];
    check(SplitReal64, &split, 2, Elements::F64(vec![1.0, -2.5]));
}

#[test]
fn bits_start_at_the_least_significant() {
    let encoding = encoding(ColumnType::Bit);
    let bits = decoded(&encoding, false, &[0b0000_0101, 1], 9);
    assert_eq!(numbers(&bits), [1, 0, 1, 0, 0, 0, 0, 0, 1]);
    assert_eq!(encoded(&bits, &encoding), [0b0000_0101, 1]);
    // Pages that do not end with a byte join.
    let mut bits = bits;
    bits.decode(&encoding, &[0b11], 3, 1..3).unwrap();
    assert_eq!(numbers(&bits), [1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0]);
    let mut page = Vec::new();
    bits.encode(&encoding, 2..11, &mut page).unwrap();
    assert_eq!(page, [0b1100_0001, 0]);
}

#[test]
fn truncated_floats_are_the_nearest_of_fewer_bits() {
    let encoding = Encoding::new(ColumnType::Real32Trunc, 10, None).unwrap();
    // 1 is 0x3f800000, and -2 is 0xc0000000: the leading 10 bits are 0x0fe and 0x300.
    is_page(&encoding, false, &[0xfe, 0x00, 0x0c], 2, &Elements::F32(vec![1.0, -2.0]));
    is_page(&encoding, true, &[0xfe, 0x00, 0x0c], 2, &Elements::F64(vec![1.0, -2.0]));
    let page = encoded(&Elements::F32(vec![1.9, -2.7]), &encoding);
    assert_eq!(numbers(&decoded(&encoding, false, &page, 2)), numbers(&Elements::F32(vec![2.0, -3.0])));
    // No number stays none, and the largest number finite.
    let page = encoded(&Elements::F32(vec![f32::from_bits(0x7f80_0001), f32::MAX]), &encoding);
    let Elements::F32(read) = decoded(&encoding, false, &page, 2) else { panic!("floats") };
    assert!(read[0].is_nan() && read[1].is_finite());
}

#[test]
fn quantised_reals_divide_their_range() {
    let encoding = Encoding::new(ColumnType::Real32Quant, 3, Some((0.0, 7.0))).unwrap();
    is_page(&encoding, false, &[0xb9, 0x0a], 4, &Elements::F32(vec![1.0, 7.0, 2.0, 5.0]));
    // The nearest integer.
    assert_eq!(encoded(&Elements::F64(vec![0.6, 6.9, 2.4, 4.5]), &encoding), [0xb9, 0x0a]);

    let encoding = Encoding::new(ColumnType::Real32Quant, 2, Some((-1.0, 1.0))).unwrap();
    is_page(&encoding, true, &[0b0011_0100], 3, &Elements::F64(vec![-1.0, 2.0 / 3.0 - 1.0, 1.0]));
    is_page(&encoding, false, &[0b0011_0100], 3, &Elements::F32(vec![-1.0, (2.0_f64 / 3.0 - 1.0) as f32, 1.0]));

    for outside in [1.1, -1.1, f64::NAN, f64::INFINITY] {
        let error = Elements::F64(vec![0.0, outside]).encode(&encoding, 0..2, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), format!("{outside} is not in the range of a quantised column, -1 to 1"));
    }

    // The largest integers of 32 bits, and a range of one value.
    let encoding = Encoding::new(ColumnType::Real32Quant, 32, Some((-1.0, 1.0))).unwrap();
    is_page(&encoding, true, &[255, 255, 255, 255], 1, &Elements::F64(vec![1.0]));
    let encoding = Encoding::new(ColumnType::Real32Quant, 8, Some((2.0, 2.0))).unwrap();
    is_page(&encoding, true, &[0], 1, &Elements::F64(vec![2.0]));
}

#[test]
fn an_encoding_is_checked() {
    let error = |column_type, bits, range| Encoding::new(column_type, bits, range).unwrap_err().to_string();
    assert_eq!(
        error(ColumnType::from_code(0x1e), 32, None),
        "unknown column type 0x1e: a later version of the format defines it"
    );
    assert_eq!(error(ColumnType::Bit, 2, None), "a column of type Bit has elements of 2 bits, not 1");
    assert_eq!(
        error(ColumnType::Real32Trunc, 32, None),
        "a column of type Real32Trunc has elements of 32 bits, not 10 to 31"
    );
    assert_eq!(error(ColumnType::Real32Quant, 8, None), "a quantised column has no range");
    assert_eq!(error(ColumnType::Real32Quant, 8, Some((2.0, 1.0))), "a quantised column has the range 2 to 1");
    assert!(Encoding::new(ColumnType::Real32Quant, 8, Some((f64::NAN, 1.0))).is_err());
    assert!(Encoding::new(ColumnType::Real32Quant, 8, Some((0.0, f64::INFINITY))).is_err());
}

#[test]
fn ends_count_from_the_start_of_their_cluster() {
    use ColumnType::*;
    let plain = [2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 0, 0];
    let split = [2, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for (column_type, page) in [(Index32, plain), (SplitIndex32, split)] {
        let encoding = encoding(column_type);
        let mut ends = decoded(&encoding, false, &page, 3);
        assert_eq!(numbers(&ends), [0, 2, 2, 259]);
        assert_eq!(encoded(&ends, &encoding), page);
        ends.start_cluster(0).unwrap();
        ends.decode(&encoding, &page, 3, 0..3).unwrap();
        assert_eq!(numbers(&ends), [0, 2, 2, 259, 261, 261, 518]);
        let mut again = Vec::new();
        ends.encode(&encoding, 3..6, &mut again).unwrap();
        assert_eq!(again, page);
        assert!(ends.encode(&encoding, 2..6, &mut again).is_err());
        // The last collections of a cluster, without the first two elements.
        ends.start_cluster(2).unwrap();
        ends.decode(&encoding, &page, 3, 1..3).unwrap();
        assert_eq!(numbers(&ends), [0, 2, 2, 259, 261, 261, 518, 518, 775]);
        let Elements::Index(ends) = ends else { panic!() };
        assert_eq!((ends.last(), ends.last_in_cluster()), (775, 259));
    }
    let page = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0];
    is_page(&encoding(Index64), false, &page, 2, &decoded(&encoding(Index64), false, &page, 2));
    assert_eq!(numbers(&decoded(&encoding(Index64), false, &page, 2)), [0, 256, 257]);
    let page = [0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(numbers(&decoded(&encoding(SplitIndex64), false, &page, 2)), [0, 256, 257]);
}

#[test]
fn ends_that_decrease_are_refused() {
    let error = |encoding: &Encoding, page: &[u8], skipped| {
        let mut ends = decoded(encoding, false, &page[..0], 0);
        ends.append_zeros(1).unwrap();
        ends.start_cluster(skipped).unwrap();
        let elements = page.len() * 8 / usize::from(encoding.bits());
        let error = ends.decode(encoding, page, elements, 0..elements).unwrap_err();
        assert_eq!(numbers(&ends), [0, 0]);
        error.to_string()
    };
    let (index32, index64) = (encoding(ColumnType::Index32), encoding(ColumnType::Index64));
    assert_eq!(error(&index32, &[2, 0, 0, 0, 1, 0, 0, 0], 0), "the ends of collections decrease");
    assert_eq!(error(&index32, &[2, 0, 0, 0], 3), "the ends of collections decrease");
    // A difference of -1.
    let split = [2, 255, 0, 255, 0, 255, 0, 255];
    assert_eq!(error(&encoding(ColumnType::SplitIndex32), &split, 0), "the ends of collections decrease");
    assert_eq!(error(&index64, &[255; 8], 0), "the ends of collections decrease");
    let huge = [0, 0, 0, 0, 0, 0, 0, 0x80];
    assert_eq!(error(&index64, &huge, 1), "a collection ends at element 9223372036854775808");
    let mut ends = Elements::new(Kind::Index, false);
    assert!(ends.start_cluster(1 << 63).is_err());

    // More than 32 bits.
    let mut page = Vec::new();
    ends.decode(&index64, &[0, 0, 0, 0, 1, 0, 0, 0], 1, 0..1).unwrap();
    let error = ends.encode(&index32, 0..1, &mut page).unwrap_err();
    assert_eq!(error.to_string(), "a collection ends at element 4294967296, which 32 bits do not hold");
    assert!(page.is_empty());
}

#[test]
fn zeroes_come_before_a_deferred_column() {
    for column_type in ColumnType::all() {
        let encoding = encoding(*column_type);
        let mut elements = Elements::new(encoding.kind(), false);
        assert!(elements.is_empty());
        elements.append_zeros(3).unwrap();
        assert_eq!((elements.len(), elements.kind()), (3, encoding.kind()));
        assert!(numbers(&elements).iter().all(|n| *n == 0));
        assert!(elements.append_zeros(usize::MAX / 2).is_err(), "{column_type}");
        assert!(elements.append_zeros(usize::MAX).is_err(), "{column_type}");
        assert_eq!(elements.len(), 3);
    }
}

#[test]
fn a_page_of_another_size_is_refused() {
    for column_type in ColumnType::all() {
        let encoding = encoding(*column_type);
        let len = encoding.page_len(3).unwrap();
        for wrong in (0..2 * len).filter(|wrong| *wrong != len) {
            let mut elements = Elements::new(encoding.kind(), false);
            let error = elements.decode(&encoding, &vec![0; wrong], 3, 0..3).unwrap_err();
            assert!(error.to_string().starts_with(&format!("a page of {wrong} bytes cannot hold")), "{error}");
            assert!(elements.is_empty());
        }
        let mut elements = Elements::new(encoding.kind(), false);
        let page = vec![0; len];
        for range in [0..4, 4..4, Range { start: 2, end: 1 }, usize::MAX - 1..usize::MAX] {
            assert!(elements.decode(&encoding, &page, 3, range.clone()).is_err());
            assert!(elements.encode(&encoding, range, &mut Vec::new()).is_err());
        }
        assert!(elements.decode(&encoding, &page, usize::MAX, 0..3).is_err());
    }
}

#[test]
fn elements_of_another_kind_are_refused() {
    let mut floats = Elements::new(Kind::F32, false);
    let error = floats.decode(&encoding(ColumnType::Real64), &[0; 8], 1, 0..1).unwrap_err();
    assert_eq!(error.to_string(), "a column of type Real64 is not decoded to F32");
    floats.append_zeros(1).unwrap();
    let error = floats.encode(&encoding(ColumnType::Int32), 0..1, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "F32 elements are not written as a column of type Int32");
}

/// A type, and a valid number of bits.
fn any_encoding() -> impl Strategy<Value = Encoding> {
    (prop::sample::select(ColumnType::all()), any::<prop::sample::Index>()).prop_map(|(column_type, index)| {
        let bits: Vec<u16> = column_type.valid_bits().unwrap().collect();
        Encoding::new(column_type, bits[index.index(bits.len())], Some((-3.5, 10.0))).unwrap()
    })
}

proptest! {
    /// Any bytes are elements, except for ends that decrease, and these elements are encoded as the same bytes. Parts of a page
    /// have the elements that the whole page has there.
    #[test]
    fn any_page_is_encoded_as_it_was(encoding in any_encoding(), bytes in prop::collection::vec(any::<u8>(), 0..4000),
                                     double: bool, cuts: [prop::sample::Index; 2]) {
        let elements = bytes.len() * 8 / usize::from(encoding.bits());
        let mut bytes = bytes;
        bytes.truncate(encoding.page_len(elements).unwrap());
        let mut whole = Elements::new(encoding.kind(), double);
        if let Err(error) = whole.decode(&encoding, &bytes, elements, 0..elements) {
            prop_assert!(encoding.column_type().is_index(), "{error}");
            return Ok(());
        }
        let mut page = Vec::new();
        match whole.encode(&encoding, 0..elements, &mut page) {
            Ok(()) => {
                let same = page == bytes;
                // The unused bits of the last byte; and a signalling NaN may become quiet when its width changes.
                let unused = elements * usize::from(encoding.bits()) % 8 != 0;
                let nan = double || encoding.bits() == 16;
                // A float has 24 significant bits.
                let rounded = !double && encoding.column_type() == ColumnType::Real32Quant && encoding.bits() > 20;
                prop_assert!(same || unused || rounded || nan && has_nan(&whole));
            }
            Err(error) => prop_assert!(encoding.column_type() == ColumnType::SplitReal16, "{error}"),
        }
        let mut cuts = cuts.map(|cut| cut.index(elements + 1));
        cuts.sort_unstable();
        let [first, second] = cuts;
        let mut parts = Elements::new(encoding.kind(), double);
        for range in [0..first, first..second, second..elements] {
            parts.decode(&encoding, &bytes, elements, range).unwrap();
        }
        prop_assert_eq!(numbers(&parts), numbers(&whole));
    }

    /// Ends of any collections, in pages of any size and over several clusters.
    #[test]
    fn ends_come_back(sizes in prop::collection::vec(0_u32..100_000, 1..600), page_size in 1_usize..200,
                      column_type in prop::sample::select([ColumnType::Index32, ColumnType::Index64,
                                                           ColumnType::SplitIndex32, ColumnType::SplitIndex64].as_slice()),
                      clusters in 1_usize..4) {
        let encoding = encoding(column_type);
        let (mut expected, mut found) = (vec![0], Elements::new(Kind::Index, false));
        for _ in 0..clusters {
            let mut cluster = Elements::new(Kind::Index, false);
            let Elements::Index(ends) = &mut cluster else { unreachable!() };
            let mut end = 0;
            for size in &sizes {
                end += u64::from(*size);
                ends.extend(std::iter::once(end));
                expected.push(expected.last().unwrap() + u64::from(*size));
            }
            found.start_cluster(0).unwrap();
            for start in (0..sizes.len()).step_by(page_size) {
                let range = start..sizes.len().min(start + page_size);
                let (mut page, elements) = (Vec::new(), range.len());
                cluster.encode(&encoding, range, &mut page).unwrap();
                found.decode(&encoding, &page, elements, 0..elements).unwrap();
            }
        }
        prop_assert_eq!(numbers(&found), expected);
    }

    /// Reals come back as near as their encoding allows.
    #[test]
    fn reals_come_back(values in prop::collection::vec(-3.5_f32..=10.0, 1..300), bits in 10_u16..=31, double: bool) {
        let doubles: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
        let elements = if double { Elements::F64(doubles.clone()) } else { Elements::F32(values) };
        let near = |column_type, bits, error: &dyn Fn(f64) -> f64| {
            let encoding = Encoding::new(column_type, bits, Some((-3.5, 10.0))).unwrap();
            let page = encoded(&elements, &encoding);
            let found = decoded(&encoding, double, &page, elements.len());
            let found = match found {
                Elements::F32(v) => v.into_iter().map(f64::from).collect(),
                Elements::F64(v) => v,
                _ => unreachable!(),
            };
            for (found, value) in found.into_iter().zip(&doubles) {
                assert!((found - value).abs() <= error(*value), "{column_type}: {found} for {value}");
            }
        };
        near(ColumnType::Real16, 16, &|v| (v.abs() / 2048.0).max(2_f64.powi(-25)));
        near(ColumnType::Real32, 32, &|_| 0.0);
        near(ColumnType::SplitReal32, 32, &|_| 0.0);
        // 1 sign, 8 exponent, the rest mantissa. Truncation is towards zero.
        near(ColumnType::Real32Trunc, bits, &|v| v.abs() * 2_f64.powi(9 - i32::from(bits)));
        let step = 13.5 / f64::from((1_u32 << bits) - 1);
        near(ColumnType::Real32Quant, bits, &|v| step * 0.5000001 + if double { 0.0 } else { v.abs() * 6e-8 });
    }
}

fn has_nan(elements: &Elements) -> bool {
    match elements {
        Elements::F32(v) => v.iter().any(|x| x.is_nan()),
        Elements::F64(v) => v.iter().any(|x| x.is_nan()),
        _ => false,
    }
}
