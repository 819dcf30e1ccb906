//! Every step, from values to the bytes that ROOT writes and back; what does not fit; and how fast it is.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int32Array, LargeListArray, LargeStringArray,
    ListArray, StringArray, StructArray, UInt32Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use proptest::prelude::*;
use rootfile::Result;
use rootfile::streamer::Packed;

use super::{ColumnEncoder, EncodedEntries};
use crate::decode::ColumnPlan;
use crate::decode::program::class_reader::{ClassReader, ClassVersion, Destination, MemberStep};
use crate::decode::program::model::{EntryLayout, Program};
use crate::decode::program::op::{Container, Holds, Members, Op};
use crate::decode::program::types::{Number, Shape};
use crate::layout::Streaming;
use crate::tree::basket::{BasketData, Entries};

const I32: Shape = Shape::Number(Number::I32);
const INT: Op = Op::Number(Number::I32);

fn plan(shape: Shape, op: Op) -> Program {
    Program::new((shape, op), "any".to_owned())
}

fn encode(plan: Program, streaming: Streaming, array: &dyn Array) -> Result<(ColumnEncoder, EncodedEntries)> {
    let mut encoder = ColumnPlan::of(plan).encoder(streaming)?;
    let mut out = EncodedEntries::default();
    encoder.append(array, 0..array.len(), &mut out)?;
    Ok((encoder, out))
}

fn basket(encoder: &ColumnEncoder, out: &EncodedEntries, n: usize) -> BasketData {
    let entries = match encoder.entry_size() {
        Some(size) => Entries::Fixed(u32::try_from(size).unwrap()),
        None => Entries::Offsets(std::iter::once(0).chain(out.ends.iter().copied()).collect()),
    };
    let (count, data) = (u32::try_from(n).unwrap(), out.bytes.clone().into());
    BasketData { count, keylen: 70, pid_offset: 0, data, entries, displacement: None }
}

/// Encodes and decodes; gives the bytes.
fn both_ways(plan: Program, streaming: Streaming, array: &ArrayRef) -> Vec<u8> {
    let (encoder, out) = encode(plan.clone(), streaming, array).unwrap();
    let mut builder = ColumnPlan::of(plan).start(0, 0);
    builder.append(&basket(&encoder, &out, array.len()), 0..array.len(), &[]).unwrap();
    assert_eq!(&builder.finish().unwrap(), array);
    out.bytes
}

fn ints(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

fn list(lengths: &[usize], items: ArrayRef, nullable: bool) -> ArrayRef {
    let field = Arc::new(Field::new("item", items.data_type().clone(), nullable));
    Arc::new(LargeListArray::new(field, OffsetBuffer::from_lengths(lengths.iter().copied()), items, None))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(LargeStringArray::from(values.to_vec()))
}

fn record(parts: Vec<(&str, ArrayRef)>) -> ArrayRef {
    let fields: Vec<Field> =
        parts.iter().map(|(name, part)| Field::new(*name, part.data_type().clone(), false)).collect();
    Arc::new(StructArray::new(fields.into(), parts.into_iter().map(|(_, part)| part).collect(), None))
}

fn shape(parts: &[(&str, Shape)]) -> Shape {
    Shape::Record(parts.iter().map(|(name, shape)| ((*name).to_owned(), shape.clone())).collect())
}

fn part(i: usize, op: Op) -> MemberStep {
    MemberStep { op, destination: Destination::Part(i), counts: None }
}

fn class(name: &str, version: i32, checksum: u32, steps: Vec<MemberStep>) -> ClassReader {
    let version = ClassVersion { version, checksum, steps: Ok(steps), missing: Vec::new() };
    ClassReader { class: name.to_owned(), versions: vec![version], any_version: false }
}

fn vector(item: Op, members: Option<Members>) -> Op {
    Op::Framed(Box::new(Op::Container(Box::new(Container { item, members, holds: Holds::Items }))))
}

const OBJECT_WISE: Streaming = Streaming::ObjectWise;

#[test]
fn numbers_and_texts() {
    let bytes = |shape, op, array| both_ways(plan(shape, op), OBJECT_WISE, &array);
    assert_eq!(bytes(I32, INT, ints(&[1, -2])), [0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE]);
    assert_eq!(bytes(I32, Op::Convert(Number::I16), ints(&[1, -2])), [0, 1, 0xFF, 0xFE]);
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![1.5]));
    let f64s = Shape::Number(Number::F64);
    assert_eq!(bytes(f64s, Op::Packed(Packed::Float), doubles), 1.5f32.to_be_bytes());
    let bits: ArrayRef = Arc::new(UInt32Array::from(vec![1 << 4, 0]));
    assert_eq!(bytes(Shape::Number(Number::U32), Op::TObjectBits, bits), [0, 0, 0, 16, 0, 0, 0, 0, 0, 0]);
    let bools: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
    assert_eq!(bytes(Shape::Number(Number::Bool), Op::Number(Number::Bool), bools), [1, 0, 1]);
    assert_eq!(bytes(Shape::Text, Op::TString, texts(&["ab", ""])), [2, b'a', b'b', 0]);
    assert_eq!(bytes(Shape::Text, Op::CString, texts(&["ab"])), [2, b'a', b'b']);
    assert_eq!(bytes(Shape::Text, Op::CharStar, texts(&["a"])), [0, 0, 0, 1, b'a']);
    let long = "x".repeat(300);
    assert_eq!(bytes(Shape::Text, Op::TString, texts(&[&long]))[..5], [255, 0, 0, 1, 44]);
    let named = Op::NamedObject { class: "A".to_owned(), object: Box::new(INT) };
    assert_eq!(bytes(I32, named, ints(&[1])), [1, b'A', 0, 0, 0, 0, 1]);
}

#[test]
fn arrays_and_containers() {
    let bytes = |shape, op, array| both_ways(plan(shape, op), OBJECT_WISE, &array);
    let three = || list(&[2, 0, 1], ints(&[1, 2, 3]), false);
    let item = Arc::new(Field::new("item", DataType::Int32, false));
    let fixed: ArrayRef = Arc::new(FixedSizeListArray::new(item, 2, ints(&[1, 2, 3, 4]), None));
    assert_eq!(bytes(I32.fixed(&[2]), INT.fixed(&[2]), fixed).len(), 16);
    assert_eq!(
        bytes(I32.list(), vector(INT, None), three())[..28],
        [0x40, 0, 0, 14, 0, 9, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0x40, 0, 0, 6, 0, 9, 0, 0, 0, 0]
    );
    let strings = list(&[1, 2], texts(&["a", "b", ""]), false);
    let op = vector(Op::TString, None);
    assert_eq!(bytes(Shape::Text.list(), op, strings)[..12], [0x40, 0, 0, 8, 0, 9, 0, 0, 0, 1, 1, b'a']);
    assert_eq!(bytes(I32.list(), Op::TArray(Number::I32), three())[..8], [0, 0, 0, 2, 0, 0, 0, 1]);
    let rest = Op::ToEnd { flag: true, item: Box::new(INT) };
    assert_eq!(bytes(I32.list(), rest, three())[..10], [1, 0, 0, 0, 1, 0, 0, 0, 2, 0]);
    let framed = || Op::ToEnd { flag: false, item: Box::new(vector(INT, None)) };
    let none = || list(&[0], three().slice(0, 0), false);
    assert_eq!(bytes(I32.list().list(), framed(), none()), [0x40, 0, 0, 2, 0, 9]);
    let nested = list(&[2, 1], three(), false);
    assert_eq!(bytes(I32.list().list(), framed(), nested)[..14], [0x40, 0, 0, 18, 0, 9, 0, 0, 0, 2, 0, 0, 0, 1]);
    let items = plan(I32, INT).items(false);
    assert_eq!(items.layout, EntryLayout::Items);
    let (encoder, out) = encode(items.clone(), OBJECT_WISE, &three()).unwrap();
    assert_eq!((encoder.entry_size(), out.ends.as_slice()), (None, &[8, 8, 12][..]));
    both_ways(items, OBJECT_WISE, &three());
    let item = Arc::new(Field::new("item", DataType::Boolean, false));
    let bits: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let bits: ArrayRef = Arc::new(FixedSizeListArray::new(item, 2, bits, None));
    let bitset = bytes(Shape::Number(Number::Bool).fixed(&[2]), Op::Framed(Box::new(Op::Bitset(2))), bits);
    assert_eq!(bitset, [0x40, 0, 0, 8, 0, 9, 0, 0, 0, 2, 1, 0]);
}

#[test]
fn counted_arrays_are_checked_against_their_counter() {
    let counted = |flag| Op::Counted { counter: 0, flag, item: Box::new(INT) };
    let parts = |flag| {
        let shape = shape(&[("n", I32), ("x", I32.list())]);
        let op = Op::Record(vec![Op::Counter(0, Number::I32), counted(flag)]);
        Program { slots: 1, ..plan(shape, op) }
    };
    let values = |n: &[i32]| record(vec![("n", ints(n)), ("x", list(&[1, 0], ints(&[7]), false))]);
    assert_eq!(both_ways(parts(false), OBJECT_WISE, &values(&[1, 0])), [0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0]);
    assert_eq!(both_ways(parts(true), OBJECT_WISE, &values(&[1, 3])).len(), 14, "what is not there is not counted");
    let error = encode(parts(false), OBJECT_WISE, &values(&[1, 3])).unwrap_err();
    assert!(error.to_string().contains("array of 0 items, whose counter says 3"), "{error}");
    // The counters of objects in split collections are branches of their own.
    let objects = Op::CountedPerObject { objects: 0, counter: 1, framed: false, item: Box::new(counted(true)) };
    let nested = list(&[2], list(&[1, 0], ints(&[7]), false), false);
    let (_, out) = encode(Program { slots: 2, ..plan(I32.list().list(), objects) }, OBJECT_WISE, &nested).unwrap();
    assert_eq!(out.bytes, [1, 0, 0, 0, 7, 0]);
    let tables = Op::Framed(Box::new(Op::CountedArrays { arrays: 2, counter: None, item: Box::new(INT) }));
    let item = Arc::new(Field::new("item", list(&[1], ints(&[1]), false).data_type().clone(), false));
    let pair = |lengths| -> ArrayRef {
        Arc::new(FixedSizeListArray::new(Arc::clone(&item), 2, list(lengths, ints(&[1, 2, 3]), false), None))
    };
    let tables = plan(I32.list().fixed(&[2]), tables);
    assert!(encode(tables.clone(), OBJECT_WISE, &pair(&[1, 2])).is_err());
    let two = pair(&[1, 1]);
    assert_eq!(encode(tables, OBJECT_WISE, &two).unwrap().1.bytes, [0x40, 0, 0, 10, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2]);
}

/// A class `B` of one number; `A` that derives from it, with another and a text if asked for.
fn derived(text: bool) -> (Shape, Vec<ClassReader>) {
    let base = Destination::Base { reader: 0, version: 1, checksum: 0xB, framed: false };
    let mut steps = vec![MemberStep { op: Op::Object(0), destination: base, counts: None }, part(1, INT)];
    let mut parts = vec![("b", I32), ("a", I32)];
    if text {
        steps.push(part(2, Op::TString));
        parts.push(("s", Shape::Text));
    }
    let b = class("B", 1, 0xB, vec![part(0, INT)]);
    (shape(&parts), vec![b, class("A", 3, 0xA, steps)])
}

fn objects(text: bool) -> ArrayRef {
    let mut parts = vec![("b", ints(&[1, 2])), ("a", ints(&[3, 4]))];
    if text {
        parts.push(("s", texts(&["x", ""])));
    }
    record(parts)
}

#[test]
fn objects_have_frames_and_versions() {
    // B has no ClassDef: version 0 and its checksum.
    let one = [0x40, 0, 0, 20, 0, 3, 0x40, 0, 0, 10, 0, 0, 0, 0, 0, 0xB, 0, 0, 0, 1, 0, 0, 0, 3];
    for text in [false, true] {
        let (shape, readers) = derived(text);
        let object = Program { readers: readers.clone(), ..plan(shape.clone(), Op::Object(1)) };
        let bytes = both_ways(object, OBJECT_WISE, &objects(text));
        let expected = if text { [&[0x40, 0, 0, 22][..], &one[4..], &[1, b'x']].concat() } else { one.to_vec() };
        assert_eq!(bytes[..expected.len()], expected, "{text}");
        let whole = |framed| Op::UnsplitObject { reader: 1, version: 3, checksum: 0, framed };
        let bare = Program { readers: readers.clone(), ..plan(shape.clone(), whole(false)) };
        assert_eq!(both_ways(bare, OBJECT_WISE, &objects(text))[..18], one[6..]);
        let framed = Program { readers, ..plan(shape, whole(true)) };
        assert_eq!(both_ways(framed, OBJECT_WISE, &objects(text))[4..24], one[4..]);
    }
}

#[test]
fn collections_of_objects_in_both_streamings() {
    for text in [false, true] {
        let (shape, readers) = derived(text);
        let op = vector(Op::Object(1), Some(Members::Class(1)));
        let plan = || Program { readers: readers.clone(), ..plan(shape.clone().list(), op.clone()) };
        let lists = list(&[0, 2], objects(text), false);
        let bytes = both_ways(plan(), Streaming::MemberWise, &lists);
        let tail = if text { &[1, b'x', 0][..] } else { &[] };
        let len = 24 + u8::try_from(tail.len()).unwrap();
        let first = [0x40, 0, 0, 8, 0x40, 9, 0, 3, 0, 0, 0, 0];
        let second = [0x40, 0, 0, len, 0x40, 9, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4];
        assert_eq!(bytes, [&first[..], &second, tail].concat());
        let bytes = both_ways(plan(), OBJECT_WISE, &lists);
        assert_eq!(bytes[..16], [0x40, 0, 0, 6, 0, 9, 0, 0, 0, 0, 0x40, 0, 0, if text { 57 } else { 54 }, 0, 9]);
    }
}

#[test]
fn maps_in_both_streamings() {
    let parts = [INT, Op::Framed(Box::new(Op::TString))];
    let op =
        |checksum| vector(Op::Record(vec![INT, Op::TString]), Some(Members::Pair { parts: parts.clone(), checksum }));
    let shape = shape(&[("key", I32), ("value", Shape::Text)]).list();
    let maps = list(&[1], record(vec![("key", ints(&[5])), ("value", texts(&["v"]))]), false);
    let bytes = |checksum, streaming| both_ways(plan(shape.clone(), op(checksum)), streaming, &maps);
    assert_eq!(bytes(7, OBJECT_WISE), [0x40, 0, 0, 12, 0, 9, 0, 0, 0, 1, 0, 0, 0, 5, 1, b'v']);
    let body = [0, 0, 0, 1, 0, 0, 0, 5, 0x40, 0, 0, 4, 0, 9, 1, b'v'];
    let named = [&[0x40, 0, 0, 24, 0x40, 9, 0, 0, 0, 0, 0, 7][..], &body].concat();
    assert_eq!(bytes(7, Streaming::MemberWise), named);
    assert_eq!(bytes(0, Streaming::MemberWise), [&[0x40, 0, 0, 20, 0x40, 9, 0, 1][..], &body].concat());
}

#[test]
fn references_and_pointers() {
    let bytes = |shape, op, array| both_ways(plan(shape, op), OBJECT_WISE, &array);
    let u32s = Shape::Number(Number::U32);
    let words = |values: &[u32]| -> ArrayRef { Arc::new(UInt32Array::from(values.to_vec())) };
    let object = record(vec![("fUniqueID", words(&[7, 8])), ("fBits", words(&[16, 0]))]);
    let both = shape(&[("fUniqueID", u32s.clone()), ("fBits", u32s.clone())]);
    assert_eq!(bytes(both, Op::TObject, object)[..12], [0, 1, 0, 0, 0, 7, 0, 0, 0, 16, 0, 0]);
    let reference = bytes(shape(&[("ref", u32s)]), Op::TRef, record(vec![("ref", words(&[7]))]));
    assert_eq!(reference, [0, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0]);
    let refs = shape(&[("fName", Shape::Text), ("fSize", I32), ("refs", I32.list())]);
    let array = record(vec![("fName", texts(&["n"])), ("fSize", ints(&[1])), ("refs", list(&[1], ints(&[9]), false))]);
    assert_eq!(bytes(refs, Op::TRefArray, array).len(), 6 + 10 + 2 + 4 + 6 + 4);
    let pointer = Op::Pointer { class: "A".to_owned(), target: Box::new(INT) };
    let optional: ArrayRef = Arc::new(Int32Array::new(vec![7, 0].into(), Some(NullBuffer::from(vec![true, false]))));
    let pointers = Program { pointers: true, ..plan(Shape::Optional(Box::new(I32)), pointer) };
    let pointed = [0x40, 0, 0, 10, 0xFF, 0xFF, 0xFF, 0xFF, b'A', 0, 0, 0, 0, 7, 0, 0, 0, 0];
    assert_eq!(both_ways(pointers, OBJECT_WISE, &optional), pointed);
}

#[test]
fn symmetric_matrices_have_as_many_elements_as_their_rows_ask_for() {
    let readers = vec![class("TMatrixTBase<double>", 5, 1, vec![part(0, INT)])];
    let parts = shape(&[("fNrows", I32), ("fElements", I32.list())]);
    let plan = Program { readers, ..plan(parts, Op::SymmetricMatrix { base: 0, rows: 0, number: Number::I32 }) };
    let matrix = |rows| record(vec![("fNrows", ints(&[rows])), ("fElements", list(&[3], ints(&[1, 2, 3]), false))]);
    assert_eq!(both_ways(plan.clone(), OBJECT_WISE, &matrix(2))[..6], [0x40, 0, 0, 6, 0, 5]);
    assert!(encode(plan, OBJECT_WISE, &matrix(3)).unwrap_err().to_string().contains("3 rows"));
}

#[test]
fn members_that_are_not_in_the_record_are_zero() {
    let nowhere = |shape, op, counts| MemberStep { op, destination: Destination::Discarded(shape), counts };
    let counted = Op::Counted { counter: 0, flag: true, item: Box::new(INT) };
    let steps = vec![
        MemberStep { op: Op::TObject, destination: Destination::TObject, counts: None },
        nowhere(I32, INT, Some((0, Number::I32))),
        nowhere(I32.list(), counted, None),
        nowhere(Shape::Text, Op::TString, None),
        part(0, INT),
    ];
    let readers = vec![class("A", 1, 5, steps)];
    let object = Program { readers, slots: 1, ..plan(shape(&[("a", I32)]), Op::Object(0)) };
    let bytes = both_ways(object, OBJECT_WISE, &record(vec![("a", ints(&[3]))]));
    let body = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3];
    // What derives from TObject has a ClassDef.
    assert_eq!(bytes, [&[0x40, 0, 0, 22, 0, 1][..], &body].concat());
}

#[test]
fn columns_that_cannot_be_written_give_the_reason() {
    let any = plan(Shape::Bytes.list(), vector(Op::OpaquePointer, None));
    let error = ColumnPlan::of(any).encoder(OBJECT_WISE).unwrap_err();
    assert!(error.to_string().contains("column: a pointer to objects of several"), "{error}");
    let readers = vec![class("A", 1, 5, vec![part(0, Op::Opaque)])];
    let inside = Program { readers, ..plan(shape(&[("x", Shape::Bytes)]), Op::Object(0)) };
    assert!(ColumnPlan::of(inside).encoder(OBJECT_WISE).is_err());
    let mut failed = class("A", 2, 5, Vec::new());
    failed.versions[0].steps = Err("it is odd".to_owned());
    let odd = Program { readers: vec![failed], ..plan(shape(&[]), Op::Object(0)) };
    assert!(ColumnPlan::of(odd).encoder(OBJECT_WISE).unwrap_err().to_string().contains("it is odd"));
    let opaque = ColumnPlan::of(plan(I32, INT)).opaque_because("of a reason");
    assert!(opaque.encoder(OBJECT_WISE).unwrap_err().to_string().contains("of a reason"));
}

#[test]
fn an_error_leaves_the_output_unchanged() {
    let mut encoder =
        ColumnPlan::of(plan(I32.list(), vector(Op::Convert(Number::I8), None))).encoder(OBJECT_WISE).unwrap();
    let mut out = EncodedEntries::default();
    encoder.append(&list(&[1], ints(&[1]), false), 0..1, &mut out).unwrap();
    let before = out.clone();
    let large = list(&[1, 1], ints(&[2, 1000]), false);
    let error = encoder.append(&large, 0..2, &mut out).unwrap_err();
    assert!(error.to_string().contains("1000 does not fit into int8_t"), "{error}");
    assert_eq!(out, before);
    assert!(encoder.append(&large, 1..3, &mut out).is_err());
    encoder.append(&large, 0..1, &mut out).unwrap();
    assert_eq!(out.ends, [11, 22]);
}

proptest! {
    #[test]
    fn lists_come_back(
        lists in prop::collection::vec(prop::collection::vec(any::<i32>(), 0..9), 0..20),
        cut in 0usize..20,
    ) {
        let small = ListArray::from_iter_primitive::<Int32Type, _, _>(
            lists.iter().map(|items| Some(items.iter().map(|item| Some(*item)))),
        );
        let cut = cut.min(small.len());
        let large = list(&lists.iter().map(Vec::len).collect::<Vec<_>>(), ints(&lists.concat()), false);
        for plan in [plan(I32.list(), vector(INT, None)), plan(I32, INT).items(false)] {
            let slice = large.slice(cut, large.len() - cut);
            let bytes = both_ways(plan.clone(), OBJECT_WISE, &slice);
            let (_, other) = encode(plan, OBJECT_WISE, &small.slice(cut, small.len() - cut)).unwrap();
            prop_assert_eq!(bytes, other.bytes);
        }
    }

    #[test]
    fn numbers_come_back(values in prop::collection::vec(any::<f64>(), 0..50), cut in 0usize..50) {
        let array: ArrayRef = Arc::new(Float64Array::from(values));
        let array = array.slice(cut.min(array.len()), array.len() - cut.min(array.len()));
        both_ways(plan(Shape::Number(Number::F64), Op::Number(Number::F64)), OBJECT_WISE, &array);
    }

    #[test]
    fn texts_come_back(values in prop::collection::vec(".{0,300}", 0..20)) {
        let large: ArrayRef = Arc::new(LargeStringArray::from(values.clone()));
        let bytes = both_ways(plan(Shape::Text, Op::TString), OBJECT_WISE, &large);
        let (_, out) = encode(plan(Shape::Text, Op::TString), OBJECT_WISE, &StringArray::from(values)).unwrap();
        prop_assert_eq!(bytes, out.bytes);
    }
}

/// The benchmark's event: three vectors, three doubles and three whole numbers.
fn events(n: usize) -> (Shape, Vec<ClassReader>, ArrayRef) {
    let double = Op::Number(Number::F64);
    let f64s = Shape::Number(Number::F64);
    let xyz = ["x", "y", "z"];
    let vector = class("Vector3D", 1, 0xC, (0..3).map(|i| part(i, double.clone())).collect());
    let steps = (0..9).map(|i| match i {
        0..3 => part(i, Op::Object(0)),
        3..6 => part(i, double.clone()),
        _ => part(i, INT),
    });
    let event = class("Event", 1, 0xE, steps.collect());
    let of = |step: f64| -> ArrayRef {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let values = (0..n).map(|i| i as f64 * step);
        Arc::new(Float64Array::from_iter_values(values))
    };
    let v3 = || record(xyz.map(|name| (name, of(0.5))).to_vec());
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let columns = names.iter().enumerate().map(|(i, name)| {
        let whole = || ints(&(0..i32::try_from(n).unwrap()).collect::<Vec<_>>());
        (
            *name,
            if i < 3 {
                v3()
            } else if i < 6 {
                of(0.25)
            } else {
                whole()
            },
        )
    });
    let v3_shape = || shape(&xyz.map(|name| (name, f64s.clone())));
    let shapes = names.iter().enumerate().map(|(i, name)| {
        (
            *name,
            if i < 3 {
                v3_shape()
            } else if i < 6 {
                f64s.clone()
            } else {
                I32
            },
        )
    });
    (shape(&shapes.collect::<Vec<_>>()), vec![vector, event], record(columns.collect()))
}

/// Prints how fast entries are encoded; to be run with optimisation.
#[test]
#[ignore = "measures"]
fn throughput() {
    let measure = |what: &str, plan: Program, streaming, array: &ArrayRef| {
        let mut encoder = ColumnPlan::of(plan).encoder(streaming).unwrap();
        let mut out = EncodedEntries::default();
        let mut best = f64::MAX;
        // As much as a basket holds.
        let step = (array.len() / 50).max(1);
        let mut bytes = 0;
        for _ in 0..7 {
            let start = Instant::now();
            bytes = 0;
            for first in (0..array.len()).step_by(step) {
                out.clear();
                encoder.append(array, first..(first + step).min(array.len()), &mut out).unwrap();
                bytes += out.bytes.len();
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let rate = bytes as f64 / best / 1e9;
        println!("{rate:7.2} GB/s  {what} ({bytes} bytes)");
    };
    let n = 1_000_000;
    let doubles: ArrayRef = Arc::new(Float64Array::from_iter_values((0..n).map(f64::from)));
    let f64s = || plan(Shape::Number(Number::F64), Op::Number(Number::F64));
    measure("doubles", f64s(), OBJECT_WISE, &doubles);
    let bools: ArrayRef = Arc::new(BooleanArray::from_iter((0..n).map(|i| Some(i % 3 == 0))));
    measure("bools", plan(Shape::Number(Number::Bool), Op::Number(Number::Bool)), OBJECT_WISE, &bools);
    for each in [1, 10, 100] {
        let lists = list(&vec![each; 1_000_000 / each], Arc::clone(&doubles), false);
        measure(&format!("leaf lists of {each}"), f64s().items(false), OBJECT_WISE, &lists);
        let vectors = plan(Shape::Number(Number::F64).list(), vector(Op::Number(Number::F64), None));
        measure(&format!("vectors of {each}"), vectors, OBJECT_WISE, &lists);
        let (shape, readers, items) = events(200_000);
        let lists = list(&vec![each; 200_000 / each], items, false);
        for streaming in [Streaming::MemberWise, OBJECT_WISE] {
            let op = vector(Op::Object(1), Some(Members::Class(1)));
            let plan = Program { readers: readers.clone(), ..plan(shape.clone().list(), op) };
            measure(&format!("{streaming} vectors of {each} events"), plan, streaming, &lists);
        }
    }
    let texts: ArrayRef = Arc::new(LargeStringArray::from_iter_values((0..n).map(|i| format!("a text {i}"))));
    measure("texts", plan(Shape::Text, Op::TString), OBJECT_WISE, &texts);
}
