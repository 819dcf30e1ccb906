//! Small RNTuples of many shapes, which are damaged: lists, variants, optional values, fixed-size arrays, text, late fields,
//! projections, attribute sets, fields in several representations, several cluster groups.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, PrimitiveBuilder};
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use dataset::ntuple::make::{Counted, FieldEncoding, FieldKind, NewField, make_schema};
use dataset::ntuple::model::{AttributeSet, Link, Locator};
use dataset::ntuple::{is_ntuple, read_ntuple, write_anchor, write_footer};
use flow::write::{NtupleSpec, ParallelWriter, WriteOptions, WritePool};
use flow::{Budget, Options, PlanOptions, rewrite, unwatched};
use rootfile::RootFile;
use rootfile::streamer::StreamerInfos;

use super::chance::Chance;
use super::mutate::Seed;

/// The number of items of a list.
fn length(entry: usize) -> usize {
    entry * entry % 5 % 4
}

/// Any values of a type: small numbers, short texts and lists.
fn array(data_type: &DataType, len: usize, chance: &mut Chance) -> ArrayRef {
    fn numbers<T: ArrowPrimitiveType>(len: usize, chance: &mut Chance) -> ArrayRef
    where
        T::Native: TryFrom<u8>,
    {
        let mut values = PrimitiveBuilder::<T>::new();
        (0..len).for_each(|_| values.append_value(T::Native::try_from(chance.below(100) as u8).ok().unwrap()));
        Arc::new(values.finish())
    }
    match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from_iter((0..len).map(|_| Some(chance.below(2) == 1)))),
        DataType::Int8 => Arc::new(Int8Array::from_iter_values((0..len).map(|_| chance.below(200) as u8 as i8))),
        DataType::UInt8 => numbers::<UInt8Type>(len, chance),
        DataType::Int16 => numbers::<Int16Type>(len, chance),
        DataType::UInt16 => numbers::<UInt16Type>(len, chance),
        DataType::Int32 => numbers::<Int32Type>(len, chance),
        DataType::UInt32 => numbers::<UInt32Type>(len, chance),
        DataType::Int64 => numbers::<Int64Type>(len, chance),
        DataType::UInt64 => numbers::<UInt64Type>(len, chance),
        DataType::Float32 => numbers::<Float32Type>(len, chance),
        DataType::Float64 => numbers::<Float64Type>(len, chance),
        DataType::LargeUtf8 => {
            let mut texts = LargeStringBuilder::new();
            (0..len).for_each(|_| texts.append_value("some text".get(..chance.below(7)).unwrap()));
            Arc::new(texts.finish())
        }
        DataType::LargeList(item) => {
            // The same in all columns: some are counted together.
            let lengths: Vec<usize> = (0..len).map(length).collect();
            let items = array(item.data_type(), lengths.iter().sum(), chance);
            Arc::new(LargeListArray::new(Arc::clone(item), OffsetBuffer::from_lengths(lengths), items, None))
        }
        DataType::FixedSizeList(item, size) => {
            let items = array(item.data_type(), len * usize::try_from(*size).unwrap(), chance);
            Arc::new(FixedSizeListArray::new(Arc::clone(item), *size, items, None))
        }
        DataType::Struct(fields) => {
            let columns = fields.iter().map(|field| nullable(field, len, chance)).collect();
            Arc::new(StructArray::new(fields.clone(), columns, None))
        }
        DataType::Union(fields, _) => {
            let tags: Vec<i8> = (0..len).map(|_| chance.below(fields.len()) as i8).collect();
            let mut counts = vec![0; fields.len()];
            let offsets = tags.iter().map(|tag| {
                counts[*tag as usize] += 1;
                counts[*tag as usize] - 1
            });
            let offsets: ScalarBuffer<i32> = offsets.collect();
            let parts =
                fields.iter().zip(&counts).map(|((_, field), count)| array(field.data_type(), *count as usize, chance));
            let parts = parts.collect();
            Arc::new(UnionArray::try_new(fields.clone(), tags.into(), Some(offsets), parts).unwrap())
        }
        _ => new_null_array(data_type, len),
    }
}

/// The same, with gaps where the field may have some.
fn nullable(field: &Field, len: usize, chance: &mut Chance) -> ArrayRef {
    let values = array(field.data_type(), len, chance);
    if !field.is_nullable() || matches!(field.data_type(), DataType::Union(..) | DataType::Null) {
        return values;
    }
    let valid = NullBuffer::from_iter((0..len).map(|_| chance.below(3) > 0));
    make_array(values.to_data().into_builder().nulls(Some(valid.into_inner().into())).build().unwrap())
}

fn batch(fields: &[NewField], len: usize, chance: &mut Chance) -> RecordBatch {
    let made = make_schema(fields, &StreamerInfos::new(), &|_| FieldEncoding::default()).unwrap();
    let columns = made.inputs.iter().map(|input| {
        let field = input.field();
        let values = match (field.name() == "n", field.data_type()) {
            (true, DataType::Int32) => Arc::new(Int32Array::from_iter_values((0..len).map(|i| length(i) as i32))) as _,
            (true, DataType::UInt32) => {
                Arc::new(UInt32Array::from_iter_values((0..len).map(|i| length(i) as u32))) as _
            }
            _ => nullable(field, len, chance),
        };
        (field.name().clone(), values, field.is_nullable())
    });
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// An RNTuple of some shape.
struct Shape<'a> {
    fields: Vec<NewField>,
    late: Vec<NewField>,
    layout: &'a str,
}

/// Entries of a batch.
const BATCH: usize = 5;

fn write(path: &Path, shapes: &[(&str, &Shape<'_>)], chance: &mut Chance) {
    let pool = WritePool::new(Budget::new(64 << 20, 1));
    let layout = shapes[0].1.layout.parse().unwrap();
    let options = WriteOptions { layout, overwrite: true, ..WriteOptions::default() };
    let mut writer = ParallelWriter::create(path, &options, &pool).unwrap();
    for (name, shape) in shapes {
        let spec = NtupleSpec { path: (*name).to_owned(), fields: shape.fields.clone(), ..NtupleSpec::default() };
        let id = writer.ntuple(&spec).unwrap();
        let mut context = writer.fill_context(id).unwrap();
        (0..2).for_each(|_| context.fill(&batch(&shape.fields, BATCH, chance)).unwrap());
        if !shape.late.is_empty() {
            writer.add_fields(id, &shape.late, &StreamerInfos::new()).unwrap();
            let all = [&shape.fields[..], &shape.late].concat();
            (0..2).for_each(|_| context.fill(&batch(&all, BATCH, chance)).unwrap());
        }
        context.finish().unwrap();
    }
    writer.finish().unwrap();
}

fn typed(types: &[&str]) -> Vec<NewField> {
    types.iter().enumerate().map(|(i, name)| NewField::typed(&format!("f{i}"), name)).collect()
}

/// Makes an attribute set of the second RNTuple of a file, which stays beside the first one as well.
fn attach(path: &Path) -> Vec<u8> {
    let file = RootFile::open(path).unwrap();
    let walk = file.walk();
    let keys: Vec<_> = walk.directories[0].keys.iter().filter(|key| is_ntuple(&key.class)).collect();
    let at = |name: &str| read_ntuple(&file, keys.iter().find(|key| key.name == name).unwrap()).unwrap();
    let (mut main, set) = (at("t"), at("set"));
    let mut bytes = std::fs::read(path).unwrap();
    let old = write_anchor(&main.anchor).unwrap();
    let mut append = |block: &[u8]| {
        let locator = Locator::File { offset: bytes.len() as u64, size: block.len() as u64 };
        bytes.extend_from_slice(block);
        Link { len: block.len() as u64, locator }
    };
    let anchor = append(&write_anchor(&set.anchor).unwrap());
    main.attribute_sets.push(AttributeSet { name: "set".to_owned(), schema_version: (1, 0), anchor });
    main.anchor.footer = append(&write_footer(&main).unwrap());
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    bytes[at..at + old.len()].copy_from_slice(&write_anchor(&main.anchor).unwrap());
    let end = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    bytes[12..16].copy_from_slice(&end);
    bytes
}

/// All seeds, made in a folder.
pub fn seeds(folder: &Path) -> Vec<Seed> {
    let chance = &mut Chance::new("seeds");
    let path = folder.join("seed.root");
    let plain = "cluster = 5\ncompression = \"none\"\nencoding = \"plain\"\ncluster-group = 1";
    let split = "cluster = 10\ncompression = \"zlib:1\"\nencoding = \"split\"";
    let paged = "cluster = 10\nbasket = \"32B\"\ncompression = \"none\"";
    let numbers = typed(&["std::int32_t", "bool", "char", "double", "std::uint8_t", "std::array<std::int16_t,3>"]);
    let lists = typed(&[
        "std::vector<std::int32_t>",
        "std::string",
        "std::vector<std::vector<float>>",
        "std::vector<std::pair<std::int32_t,std::string>>",
        "std::array<std::vector<std::int16_t>,2>",
    ]);
    let choices = typed(&[
        "std::variant<std::int32_t,std::string,std::vector<float>>",
        "std::optional<std::int64_t>",
        "std::vector<std::variant<bool,double>>",
        "std::optional<std::vector<std::string>>",
    ]);
    let late = vec![
        NewField::typed("late", "std::int32_t"),
        NewField::typed("late_text", "std::string"),
        NewField::typed("late_list", "std::vector<std::array<float,2>>"),
        NewField::typed("late_array", "std::array<double,3>"),
    ];
    let members = vec![("pt".to_owned(), "float".to_owned()), ("charge".to_owned(), "std::int32_t".to_owned())];
    let counted = FieldKind::Counted(Counted { counter: Some("n".to_owned()), members });
    let projected = vec![NewField { name: "jets".to_owned(), kind: counted }, NewField::typed("x", "float")];
    let mut seeds = Vec::new();
    let mut add = |name: &str, fields: &[NewField], late: &[NewField], layout: &str, chance: &mut Chance| {
        let shape = Shape { fields: fields.to_vec(), late: late.to_vec(), layout };
        write(&path, &[("t", &shape)], chance);
        seeds.push(Seed::new(name, std::fs::read(&path).unwrap()));
    };
    for (form, layout) in [("plain", plain), ("split", split), ("paged", paged)] {
        add(&format!("numbers, {form}"), &numbers, &[], layout, chance);
        add(&format!("lists, {form}"), &lists, &[], layout, chance);
        add(&format!("choices, {form}"), &choices, &[], layout, chance);
        add(&format!("late, {form}"), &lists[..2], &late, layout, chance);
        add(&format!("projections, {form}"), &projected, &[], layout, chance);
    }
    for layout in [plain, split] {
        let meta = [("_rangeStart", "std::uint64_t"), ("_rangeLen", "std::uint64_t"), ("tag", "std::string")];
        let fields = meta.iter().map(|(name, type_name)| NewField::typed(name, type_name)).collect();
        let (main, set) = (
            Shape { fields: lists[..2].to_vec(), late: Vec::new(), layout },
            Shape { fields, late: Vec::new(), layout },
        );
        write(&path, &[("t", &main), ("set", &set)], chance);
        seeds.push(Seed::new("attributes", attach(&path)));
    }
    // Both have their own encodings, which the output has as representations.
    let (first, second, out) = (folder.join("first.root"), folder.join("second.root"), folder.join("both.root"));
    for (path, layout) in [(&first, plain), (&second, split)] {
        write(path, &[("t", &Shape { fields: lists.clone(), late: Vec::new(), layout })], chance);
    }
    let options = Options { plan: PlanOptions::default(), overwrite: true, ..Options::default() };
    rewrite(&[first, second], &out, &options, &unwatched).unwrap();
    seeds.push(Seed::new("representations", std::fs::read(&out).unwrap()));
    seeds
}
