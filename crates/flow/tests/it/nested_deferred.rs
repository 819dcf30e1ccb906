//! RNTuples with a field that was added below a collection (format feature 0): the items of earlier clusters have no element of
//! it, and only the collection counts them. No writer makes such files yet, so one is made here of a plain file.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, LargeListArray, RecordBatch, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use dataset::ntuple::make::{FieldKind, NewField};
use dataset::ntuple::model::{Deferred, Link, Locator, Ntuple, Schema};
use dataset::ntuple::{
    envelope_checksum, read_ntuple, read_page_list, write_anchor, write_footer, write_header, write_page_list,
};
use flow::inputs::Input;
use flow::read::{Dataset, read};
use flow::write::{NtupleSpec, ParallelWriter, WriteOptions, WritePool};
use flow::{Budget, ContentOptions, EntryFilter, Join as Mode, Options, PlanOptions, rewrite, unwatched};
use rootfile::RootFile;

use crate::support;

/// The values of an entry: two numbers in each item.
type Values = Vec<Vec<(i32, i32)>>;

/// Three entries in each of two clusters.
const CLUSTER: usize = 3;

fn expected() -> Values {
    (0..2 * CLUSTER as i32).map(|i| (0..i % 4).map(|k| (10 * i + k, 100 * i + k)).collect()).collect()
}

/// The entries with zeroes where the second number is not stored.
fn with_zeros() -> Values {
    let mut values = expected();
    values.iter_mut().take(CLUSTER).flatten().for_each(|item| item.1 = 0);
    values
}

fn write_plain(path: &Path) {
    let layout = format!("cluster = {CLUSTER}\ncompression = \"none\"").parse().unwrap();
    let pool = WritePool::new(Budget::new(64 << 20, 1));
    let mut writer = ParallelWriter::create(path, &WriteOptions { layout, ..WriteOptions::default() }, &pool).unwrap();
    let kind = FieldKind::Type("std::vector<std::pair<std::int32_t,std::int32_t>>".to_owned());
    let fields = vec![NewField { name: "v".to_owned(), kind }];
    let id = writer.ntuple(&NtupleSpec { path: "t".to_owned(), fields, ..NtupleSpec::default() }).unwrap();
    let items: Vec<(i32, i32)> = expected().concat();
    let part = |name: &str, values: Vec<i32>| {
        let field = Arc::new(Field::new(name, DataType::Int32, false));
        (field, Arc::new(Int32Array::from(values)) as ArrayRef)
    };
    let first = part("first", items.iter().map(|item| item.0).collect());
    let second = part("second", items.iter().map(|item| item.1).collect());
    let records = StructArray::from(vec![first, second]);
    let item = Arc::new(Field::new("item", records.data_type().clone(), false));
    let offsets = OffsetBuffer::from_lengths(expected().iter().map(Vec::len));
    let lists = LargeListArray::new(item, offsets, Arc::new(records), None);
    let batch = RecordBatch::try_from_iter([("v", Arc::new(lists) as ArrayRef)]).unwrap();
    let mut context = writer.fill_context(id).unwrap();
    context.fill(&batch).unwrap();
    context.finish().unwrap();
    writer.finish().unwrap();
}

fn opened(path: &Path) -> (RootFile, Ntuple) {
    let file = RootFile::open(path).unwrap();
    let key = file.walk().directories[0].keys[0].clone();
    let ntuple = read_ntuple(&file, &key).unwrap();
    (file, ntuple)
}

/// Makes the second number a field that came with the second cluster: its elements before are in no page list.
fn write_deferred(plain: &Path, path: &Path) {
    let (file, mut ntuple) = opened(plain);
    let mut list = read_page_list(&**file.source(), &ntuple, 0).unwrap();
    assert_eq!(list.clusters.len(), 2);
    let Schema { mut fields, mut columns, .. } = Schema::clone(&ntuple.schema);
    let last = columns.last_mut().unwrap();
    let items = expected().iter().take(CLUSTER).map(Vec::len).sum::<usize>() as u64;
    last.first_element = Some(Deferred { first_element: items, suppressed: false });
    last.in_extension = true;
    fields[last.field].in_extension = true;
    ntuple.schema = Arc::new(Schema::new(fields, columns, Vec::new(), Vec::new()));
    ntuple.features = vec![1];
    list.clusters[0].columns.pop();

    let mut bytes = std::fs::read(plain).unwrap();
    let old = write_anchor(&ntuple.anchor).unwrap();
    let mut append = |block: &[u8]| {
        let locator = Locator::File { offset: bytes.len() as u64, size: block.len() as u64 };
        bytes.extend_from_slice(block);
        Link { len: block.len() as u64, locator }
    };
    let header = write_header(&ntuple).unwrap();
    ntuple.header_checksum = envelope_checksum(&header);
    ntuple.anchor.header = append(&header);
    ntuple.groups[0].page_list = append(&write_page_list(ntuple.header_checksum, &list).unwrap());
    ntuple.anchor.footer = append(&write_footer(&ntuple).unwrap());
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    bytes[at..at + old.len()].copy_from_slice(&write_anchor(&ntuple.anchor).unwrap());
    std::fs::write(path, bytes).unwrap();
}

fn values(path: &Path) -> Values {
    let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: None }]).unwrap();
    let batch = read(&dataset, &support::all(&dataset, 1 << 28)).unwrap().batch;
    let lists = batch.column_by_name("v").unwrap().as_list::<i64>().clone();
    let of = |list: ArrayRef| {
        let parts = list.as_struct();
        let part = |number: usize| parts.column(number).as_primitive::<Int32Type>().values().to_vec();
        part(0).into_iter().zip(part(1)).collect()
    };
    (0..lists.len()).map(|entry| of(lists.value(entry))).collect()
}

#[test]
fn they_are_merged_selected_and_kept() {
    let folder = support::Folder::new();
    let [plain, deferred, out] = ["plain.root", "deferred.root", "out.root"].map(|name| folder.path(name));
    write_plain(&plain);
    write_deferred(&plain, &deferred);
    assert_eq!((values(&plain), values(&deferred)), (expected(), with_zeros()));
    let options = Options { overwrite: true, ..Options::default() };
    for schema in [Mode::Strict, Mode::Common, Mode::Fill] {
        for (inputs, wanted) in [
            ([&deferred, &deferred], [with_zeros(), with_zeros()]),
            ([&plain, &deferred], [expected(), with_zeros()]),
            ([&deferred, &plain], [with_zeros(), expected()]),
        ] {
            let options = Options { plan: PlanOptions { schema, ..PlanOptions::default() }, ..options.clone() };
            let summary = rewrite(&inputs.map(Clone::clone), &out, &options, &unwatched).unwrap();
            assert!(summary.notes.iter().any(|note| note.contains("format feature 0")), "{:?}", summary.notes);
            assert_eq!(values(&out), wanted.concat());
            // Readers that do not know the feature read the output.
            assert_eq!(opened(&out).1.features, [0]);
        }
    }
    let mut entries = EntryFilter::default();
    entries.add("1:5").unwrap();
    let content = ContentOptions { entries, ..ContentOptions::default() };
    rewrite(std::slice::from_ref(&deferred), &out, &Options { content, ..options.clone() }, &unwatched).unwrap();
    assert_eq!(values(&out), with_zeros()[1..5]);
    rewrite(std::slice::from_ref(&deferred), &out, &options, &unwatched).unwrap();
    assert_eq!((values(&out), opened(&out).1.features), (with_zeros(), vec![1]));
}
