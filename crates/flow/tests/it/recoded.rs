//! Files with columns of another split level or streaming: forecasts, basket sizes, and `verify`, which finds equal values
//! equal and names the first difference. Corpus files need the corpus beside the checkout (or at `BASKETRY_CORPUS`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss, reason = "a test")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Int32Array, LargeListArray, RecordBatch, StructArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::Field;
use dataset::glob::NameFilter;
use dataset::layout::{Layout, Streaming};
use dataset::tree::make::NewKind;
use dataset::tree::read_tree;
use flow::write::{ParallelWriter, TreeColumn, TreeSpec, WriteOptions, WritePool};
use flow::{Budget, EntryFilter, Form, Options, Verdict, VerifyOptions, forecast, rewrite, unwatched, verify};
use rootfile::RootFile;
use rootfile::streamer::{StreamerInfos, describe};

use crate::support;

const ENTRIES: usize = 3000;
const SPLIT: &str = "cluster = 700\nbasket = \"2kB\"\nsplit-level = 99";
const LAYOUTS: [&str; 4] = [
    "split-level = 0\nstreaming = \"member-wise\"",
    "split-level = 0\nstreaming = \"object-wise\"\ncluster = 500",
    "split-level = 0\nstreaming = \"object-wise\"\none-basket-per-cluster = true",
    "split-level = 99\ncluster = 300",
];

/// A column with as many tracks as the entry number modulo 7. The track with the number `changed`, counted over all entries,
/// has another fX.
fn tracks(changed: Option<usize>) -> RecordBatch {
    let lengths = (0..ENTRIES).map(|i| i % 7);
    let n: usize = lengths.clone().sum();
    let x = Float32Array::from_iter_values((0..n).map(|i| if changed == Some(i) { f32::NAN } else { i as f32 / 8.0 }));
    let charge = Int32Array::from_iter_values((0..n).map(|i| i32::try_from(i % 3).unwrap() - 1));
    let field = |name: &str, array: &ArrayRef| Arc::new(Field::new(name, array.data_type().clone(), false));
    let (x, charge): (ArrayRef, ArrayRef) = (Arc::new(x), Arc::new(charge));
    let items = StructArray::from(vec![(field("fX", &x), x), (field("fCharge", &charge), charge)]);
    let item = Arc::new(Field::new("item", arrow_array::Array::data_type(&items).clone(), false));
    let list = LargeListArray::new(item, OffsetBuffer::from_lengths(lengths), Arc::new(items), None);
    let number: ArrayRef = Arc::new(Int32Array::from_iter_values((0..ENTRIES).map(|i| i32::try_from(i).unwrap())));
    RecordBatch::try_from_iter([("number", number), ("tracks", Arc::new(list) as ArrayRef)]).unwrap()
}

fn make(path: &Path, layout: &str, changed: Option<usize>) {
    let source = "class Track { public: float fX; int fCharge; };";
    let described = describe::describe(&describe::parse(source).unwrap(), &StreamerInfos::new()).unwrap();
    let mut classes = StreamerInfos::new();
    described.into_iter().for_each(|info| classes.add(Arc::new(info)));
    let class = NewKind::Class { type_name: "vector<Track>".to_owned(), clones: None };
    let number = dataset::tree::make::NewColumn::leaf("number", 'I');
    let columns = vec![
        TreeColumn { name: number.name, kind: number.kind },
        TreeColumn { name: "tracks".to_owned(), kind: class },
    ];
    let spec = TreeSpec { path: "t".to_owned(), title: "tracks".to_owned(), columns, classes };
    let options = WriteOptions { layout: layout.parse().unwrap(), ..WriteOptions::default() };
    let mut writer = ParallelWriter::create(path, &options, &WritePool::new(Budget::new(64 << 20, 1))).unwrap();
    let tree = writer.tree(&spec).unwrap();
    let mut context = writer.fill_context(tree).unwrap();
    context.fill(&tracks(changed)).unwrap();
    context.finish().unwrap();
    writer.finish().unwrap();
}

fn rewritten(inputs: &[PathBuf], output: PathBuf, layout: &str, change: impl FnOnce(&mut Options)) -> PathBuf {
    let mut options = Options { layout: Layout::from_toml(layout).unwrap(), overwrite: true, ..Options::default() };
    change(&mut options);
    rewrite(inputs, &output, &options, &unwatched).unwrap();
    output
}

fn compare(a: &Path, b: &Path, options: &VerifyOptions) -> Verdict {
    verify(&[a.to_path_buf()], b, options, &unwatched).unwrap()
}

fn said(verdict: &Verdict) -> Vec<String> {
    verdict.differences.iter().map(ToString::to_string).collect()
}

#[test]
fn equal_at_any_split_level_and_streaming() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made.root");
    make(&made, SPLIT, None);
    let recoded =
        |i: usize| rewritten(std::slice::from_ref(&made), folder.path().join(format!("{i}.root")), LAYOUTS[i], |_| {});
    let mut files: Vec<PathBuf> = (0..LAYOUTS.len()).map(recoded).collect();
    files.push(made.clone());
    for (i, a) in files.iter().enumerate() {
        for (j, b) in files.iter().enumerate() {
            let budget = Budget::new(20_000_000, 1 + (i + j) % 3);
            let verdict = compare(a, b, &VerifyOptions { budget, ..VerifyOptions::default() });
            assert!(verdict.equal, "{i} and {j}: {:?}", said(&verdict));
            // Three layouts are unsplit, two of them object-wise. The others are split.
            let kind = |n: usize| [0, 1, 1, 2, 2][n];
            assert_eq!(verdict.trees[0].by_value, u64::from(kind(i) != kind(j)), "{i} and {j}");
        }
    }
    let small = VerifyOptions { budget: Budget::new(30_000, 1), ..VerifyOptions::default() };
    let refused = verify(&[files[0].clone()], &files[4], &small, &unwatched).unwrap_err().to_string();
    assert!(refused.contains("the smallest that would do is --memory"), "{refused}");
}

#[test]
fn the_first_member_that_differs_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (made, other) = (folder.path().join("made.root"), folder.path().join("other.root"));
    make(&made, SPLIT, None);
    // Seven entries have 21 tracks together, and those after six times seven 0, 1, 2, 3 and 4.
    make(&other, SPLIT, Some(6 * 21 + 10 + 2));
    for layout in &LAYOUTS[..3] {
        let output = rewritten(std::slice::from_ref(&other), folder.path().join("out.root"), layout, |_| {});
        let found = compare(&made, &output, &VerifyOptions::default());
        assert_eq!(said(&found), ["tree t, branch tracks, entry 47, member [2].fX: is 17.25 and NaN"], "{layout}");
    }
    // Another streaming, in one branch each.
    let wise = |layout: &str, from: &PathBuf, to: &str| {
        rewritten(std::slice::from_ref(from), folder.path().join(to), layout, |_| {})
    };
    let (a, b) = (wise(LAYOUTS[0], &made, "a.root"), wise(LAYOUTS[1], &other, "b.root"));
    let found = compare(&a, &b, &VerifyOptions::default());
    assert_eq!(said(&found), ["tree t, branch tracks, entry 47, member [2].fX: is 17.25 and NaN"]);
    // The same streaming: entries whose bytes differ are compared by value.
    let found = compare(&a, &wise(LAYOUTS[0], &other, "c.root"), &VerifyOptions::default());
    assert_eq!(said(&found), ["tree t, branch tracks, entry 47, member [2].fX: is 17.25 and NaN"]);
}

#[test]
fn forecasts_tell_recoded_columns() {
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made.root");
    make(&made, SPLIT, None);
    let output = folder.path().join("out.root");
    let options = |layout| Options { layout: Layout::from_toml(layout).unwrap(), ..Options::default() };
    let unsplit = options("split-level = 0\nstreaming = \"member-wise\"");
    let seen = forecast(std::slice::from_ref(&made), &output, &unsplit, true).unwrap();
    let [recode] = &seen.tables[0].recodes[..] else { panic!("{seen:?}") };
    let form = |split_level, streaming, branches| Form { split_level, streaming, branches };
    assert_eq!((recode.name.as_str(), recode.before), ("tracks", form(99, None, 3)));
    assert_eq!(recode.after, form(0, Some(Streaming::MemberWise), 1));
    assert_eq!(seen.tables[0].columns.len(), 1, "{seen:?}");
    let written = rewrite(std::slice::from_ref(&made), &output, &unsplit, &unwatched).unwrap();
    let off = seen.bytes_after as f64 / written.tables[0].zip_bytes as f64;
    assert!((0.9..1.1).contains(&off), "{seen:?}, {written:?}");
    assert_eq!(seen.bytes_before, seen.tables[0].columns[0].bytes_before + recode.bytes_before);
    // Streaming alone: the branch stays.
    let other = options("streaming = \"object-wise\"");
    let seen = forecast(std::slice::from_ref(&output), &made, &other, true).unwrap();
    let [recode] = &seen.tables[0].recodes[..] else { panic!("{seen:?}") };
    let streaming = [Streaming::MemberWise, Streaming::ObjectWise].map(|s| form(0, Some(s), 1));
    assert_eq!([recode.before, recode.after], streaming);
}

/// Sizes of the baskets of branches with entries.
fn basket_sizes(path: &Path) -> Vec<(String, u32)> {
    let file = RootFile::open(path).unwrap();
    let key = file.top().keys.iter().find(|key| key.name == "t").unwrap();
    let tree = read_tree(&file, key).unwrap();
    let filled = tree.branches.iter().filter(|branch| !branch.baskets.is_empty());
    filled.map(|branch| (branch.name().to_owned(), branch.basket_size)).collect()
}

#[test]
fn recoded_baskets_share_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("made.root"), SPLIT, None);
    for (recode, n) in [("split-level = 0", 2), ("split-level = 99\ncluster = 300", 4)] {
        // Recoded and optimised in one rewrite, and in two.
        let shared = format!("{recode}\nbasket-memory = \"20kB\"");
        let at_once = rewritten(&[path("made.root")], path("once.root"), &shared, |_| {});
        let recoded = rewritten(&[path("made.root")], path("recoded.root"), recode, |_| {});
        let after = rewritten(&[recoded], path("after.root"), "basket-memory = \"20kB\"", |_| {});
        let (at_once, after) = (basket_sizes(&at_once), basket_sizes(&after));
        assert_eq!(at_once.len(), n);
        for ((name, a), (other, b)) in at_once.iter().zip(&after) {
            let off = f64::from(*a) / f64::from(*b);
            assert!(name == other && (0.8..1.25).contains(&off), "{at_once:?}, {after:?}");
        }
    }
}

#[test]
fn members_have_baskets_of_their_own_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("made.root"), "split-level = 0\ncluster = 1000", None);
    let layout = "split-level = 99\nbasket = \"20kB\"\n[column.\"tracks.fX\"]\nbasket = \"2kB\"";
    let split = rewritten(&[path("made.root")], path("split.root"), layout, |_| {});
    let sizes = basket_sizes(&split);
    let of = |name: &str| sizes.iter().find(|(known, _)| known == name).unwrap().1;
    assert_eq!((of("tracks.fX"), of("tracks.fCharge")), (2000, 20_000));
    let file = RootFile::open(&split).unwrap();
    let tree = read_tree(&file, file.top().keys.iter().find(|key| key.name == "t").unwrap()).unwrap();
    let baskets = |name: &str| tree.branches.iter().find(|b| b.name() == name).unwrap().baskets.len();
    // 3000 entries with 3 numbers and an offset each, in three clusters.
    assert!(baskets("tracks.fX") >= 18 && baskets("tracks.fCharge") <= 6, "{}", baskets("tracks.fX"));
}

#[test]
fn ranges_several_inputs_and_dropped_branches() {
    let folder = tempfile::tempdir().unwrap();
    let (made, other) = (folder.path().join("made.root"), folder.path().join("other.root"));
    make(&made, SPLIT, None);
    make(&other, SPLIT, Some(100));
    let output = folder.path().join("out.root");
    let range = EntryFilter::from(1100..2500);
    let cut = rewritten(std::slice::from_ref(&made), output.clone(), LAYOUTS[0], |options| {
        options.content.entries = range.clone()
    });
    let verify_range = |entries| compare(&made, &cut, &VerifyOptions { entries, ..VerifyOptions::default() });
    assert!(verify_range(range).equal);
    let found = verify_range((1101..2501).into());
    let what = "tree t, branch tracks, entry 1101: has 2 items and 1 (entry 0 of the second side)";
    assert!(said(&found).iter().any(|text| text == what), "{:?}", said(&found));
    let both = [made.clone(), other];
    let merged = rewritten(&both, output.clone(), LAYOUTS[1], |_| {});
    assert!(verify(&both, &merged, &VerifyOptions::default(), &unwatched).unwrap().equal);
    let turned = verify(&[both[1].clone(), both[0].clone()], &merged, &VerifyOptions::default(), &unwatched).unwrap();
    assert_eq!(turned.differences.len(), 1, "{:?}", said(&turned));
    // Some members are left out: the values differ.
    let slim = rewritten(std::slice::from_ref(&made), output, "", |options| {
        options.content.filter = NameFilter::new(&[], &["tracks.fX".to_owned()]).unwrap();
    });
    let found = compare(&made, &slim, &VerifyOptions::default());
    assert_eq!(said(&found), ["tree t, branch tracks/tracks.fX: only the first side has this branch"]);
    assert!(compare(&made, &slim, &VerifyOptions { common: true, ..VerifyOptions::default() }).equal);
}

#[test]
fn recoded_corpus_files_are_equal() {
    let folder = support::corpus_folder();
    let output = tempfile::tempdir().unwrap();
    let mut counts = Vec::new();
    for (name, columns) in [
        ("aliroot--Hits", 1),
        ("aliroot--oldAliHLTReadoutListFormat", 1),
        ("gohep--std-containers-split00", 19),
        ("gohep--tbase", 2),
        ("oxyroot--stl_containers", 14),
    ] {
        let input = folder.join(format!("files/{name}.root"));
        if !input.exists() {
            eprintln!("no corpus: {name} not compared");
            continue;
        }
        let mut most = 0;
        for layout in
            ["split-level = 0\nstreaming = \"member-wise\"", "split-level = 99", "streaming = \"object-wise\""]
        {
            let output = rewritten(std::slice::from_ref(&input), output.path().join("out.root"), layout, |_| {});
            for (a, b) in [(&input, &output), (&output, &input)] {
                let verdict = compare(a, b, &VerifyOptions::default());
                assert!(verdict.equal, "{name}, {layout}: {:?}", said(&verdict));
                most = most.max(verdict.trees.iter().map(|tree| tree.by_value).sum());
            }
        }
        counts.push((name, most, columns));
    }
    assert!(counts.iter().all(|(_, found, expected)| found == expected), "{counts:?}");
}
