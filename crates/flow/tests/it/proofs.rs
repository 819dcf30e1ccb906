//! What is proved of a cluster before its pages move is read once, also where many fields show the same columns.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;

use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, LargeListArray, RecordBatch};
use dataset::codecs::Codecs;
use dataset::ntuple::cluster_reader::ClusterSource;
use dataset::ntuple::decode::fields;
use dataset::ntuple::element::Kind;
use dataset::ntuple::soundness::Proofs;
use dataset::ntuple::{read_ntuple, read_page_list};
use dataset::tree::make::{NewColumn, NewKind, NewLeaf};
use flow::write::{ParallelWriter, TreeColumn, TreeSpec, WriteOptions, WritePool};
use rootfile::{RangeBuffer, RangeReader, RootFile};

/// Lists with one counter: members of one collection, each shown by a field of its name.
const LISTS: usize = 8;

#[test]
fn ends_that_many_fields_show_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let names: Vec<String> = (0..LISTS).map(|list| format!("y{list}")).collect();
    let counter = NewColumn::leaf("ny", 'I');
    let mut columns = vec![TreeColumn { name: counter.name, kind: counter.kind }];
    columns.extend(names.iter().map(|name| {
        let leaf = NewLeaf { name: name.clone(), letter: 'D', counter: Some("ny".to_owned()), ..NewLeaf::default() };
        TreeColumn { name: name.clone(), kind: NewKind::Leaves(vec![leaf]) }
    }));
    let layout = "container = \"rntuple\"\ncluster = 1000\nbasket = \"1kB\"".parse().unwrap();
    let options = WriteOptions { layout, ..WriteOptions::default() };
    let mut writer = ParallelWriter::create(&path, &options, &WritePool::default()).unwrap();
    let table = writer.tree(&TreeSpec { path: "t".to_owned(), columns, ..TreeSpec::default() }).unwrap();
    let mut context = writer.fill_context(table).unwrap();
    let lists = (0..2500).map(|entry| Some((0..entry % 4).map(|item| Some(f64::from(item)))));
    let array: ArrayRef = Arc::new(LargeListArray::from_iter_primitive::<Float64Type, _, _>(lists));
    context.fill(&RecordBatch::try_from_iter(names.iter().map(|name| (name, Arc::clone(&array)))).unwrap()).unwrap();
    context.finish().unwrap();
    writer.finish().unwrap();

    let file = RootFile::open(&path).unwrap();
    let ntuple = read_ntuple(&file, &file.walk().directories[0].keys[0].clone()).unwrap();
    let (schema, list) = (&*ntuple.schema, read_page_list(&**file.source(), &ntuple, 0).unwrap());
    let plans = fields(schema);
    assert!(plans.len() >= LISTS);
    let ends: Vec<usize> =
        (0..schema.columns.len()).filter(|id| schema.encoding(*id).unwrap().kind() == Kind::Index).collect();
    let (mut codecs, mut buffer) = (Codecs::new(), RangeBuffer::default());
    assert_eq!(list.clusters.len(), 3);
    for (number, cluster) in list.clusters.iter().enumerate() {
        let max_key_size = ntuple.anchor.max_key_size;
        let at = ClusterSource { file: 0, schema, max_key_size, list: &list, cluster, number };
        let mut proofs = Proofs::default();
        for plan in &plans {
            let mut bytes = RangeReader::of(&**file.source(), &mut buffer);
            proofs.prove(plan, at, (&mut bytes, &mut codecs)).unwrap();
        }
        let pages: usize = ends.iter().map(|id| cluster.pages(&list, *id).unwrap().len()).sum();
        assert_eq!(codecs.take_cost().blocks, pages as u64);
    }
}
