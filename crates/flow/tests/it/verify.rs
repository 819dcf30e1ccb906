//! `verify`: equal in all layouts, and exact about the first difference of two files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::fs;
use std::path::{Path, PathBuf};

use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::tree::read_tree;
use flow::{Budget, Difference, EntryFilter, Options, Verdict, VerifyOptions, rewrite, unwatched, verify};
use rootfile::RootFile;

use crate::support::{Folder, sample};

const ENTRIES: u64 = 1000;
const LAYOUTS: [&str; 5] = [
    "compression = \"none\"",
    "compression = \"zstd:5\"",
    "cluster = \"100\"\nbasket = \"300B\"",
    "one-basket-per-cluster = true\ncompression = \"lz4:4\"",
    "basket = \"5kB\"\ncompression = \"zlib:1\"",
];

impl Folder {
    fn sample(&self, name: &str, seed: u32) -> PathBuf {
        let path = self.path(name);
        sample::make(&path, ENTRIES, seed).unwrap();
        path
    }

    fn rewritten(&self, name: &str, inputs: &[PathBuf], layout: &str, change: impl FnOnce(&mut Options)) -> PathBuf {
        let mut options = Options { layout: Layout::from_toml(layout).unwrap(), ..Options::default() };
        change(&mut options);
        let path = self.path(name);
        rewrite(inputs, &path, &options, &unwatched).unwrap();
        path
    }
}

fn compare(a: &Path, b: &Path, options: &VerifyOptions) -> Verdict {
    verify(&[a.to_path_buf()], b, options, &unwatched).unwrap()
}

/// The only difference.
fn only(verdict: Verdict) -> Difference {
    assert!(!verdict.equal);
    assert_eq!(verdict.differences.len(), 1, "{:?}", verdict.differences);
    verdict.differences.into_iter().next().unwrap()
}

/// Position of a byte of an entry of a branch, in a file without compression.
fn offset_of(path: &Path, branch: &str, entry: u64, byte: u64) -> u64 {
    let file = RootFile::open(path).unwrap();
    let key = file.top().keys.iter().find(|key| key.name == "t").unwrap();
    let tree = read_tree(&file, key).unwrap();
    let branch = tree.branches.iter().find(|b| b.name() == branch).unwrap();
    let basket = branch.baskets.iter().rfind(|b| b.first_entry <= entry).unwrap();
    // Before an entry of `v` lie the floats of all entries before it.
    let before: u64 = match branch.name() {
        "v" => (basket.first_entry..entry).map(|i| 4 * (i % 8)).sum(),
        "n" => 4 * (entry - basket.first_entry),
        _ => 8 * (entry - basket.first_entry),
    };
    basket.seek + u64::from(file.key_at(basket.seek).unwrap().keylen) + before + byte
}

#[test]
fn equal_whatever_the_layout() {
    let folder = Folder::new();
    let input = folder.sample("in.root", 5);
    let outputs: Vec<_> = (LAYOUTS.iter().enumerate())
        .map(|(i, layout)| folder.rewritten(&format!("{i}.root"), std::slice::from_ref(&input), layout, |_| {}))
        .collect();
    for (i, output) in outputs.iter().enumerate() {
        let other = &outputs[(i + 1) % outputs.len()];
        for (a, b) in [(&input, output), (output, &input), (output, other)] {
            for threads in [1, 3] {
                let budget = Budget::new(100_000_000, threads);
                let verdict = compare(a, b, &VerifyOptions { budget, ..VerifyOptions::default() });
                assert!(verdict.equal, "{}: {:?}", LAYOUTS[i], verdict.differences);
                let [tree] = &verdict.trees[..] else { panic!("one tree") };
                // 1000 counters and doubles, and the floats: 125 times 0 to 7.
                assert_eq!((tree.entries, tree.columns, tree.bytes), (ENTRIES, 3, 12_000 + 125 * 28 * 4));
                assert_eq!(verdict.objects, 1);
            }
        }
    }
}

#[test]
fn a_flipped_byte_is_named() {
    let folder = Folder::new();
    let input = folder.sample("in.root", 5);
    let flipped = [
        ("n", 0, 3, "tree t, branch n, entry 0: is 0 and 128"),
        ("v", 7, 27, "tree t, branch v, entry 7, member [6]: is 1.5e-44 and 1.95e-43"),
        ("v", 997, 0, "tree t, branch v, entry 997, member [0]: is 7e-45 and -7e-45"),
        ("x", 500, 1, "tree t, branch x, entry 500: is 505.0 and 129280.0"),
        ("x", 999, 7, "tree t, branch x, entry 999: is 1004.0 and 1004.0000000000146"),
    ];
    for (branch, entry, byte, text) in flipped {
        for layout in ["compression = \"none\"", "compression = \"none\"\ncluster = \"90\"\nbasket = \"300B\""] {
            let input = std::slice::from_ref(&input);
            let output = folder.rewritten("out.root", input, layout, |options| options.overwrite = true);
            let at = usize::try_from(offset_of(&output, branch, entry, byte)).unwrap();
            let mut bytes = fs::read(&output).unwrap();
            bytes[at] ^= 0x80;
            fs::write(&output, bytes).unwrap();
            let found = only(compare(&input[0], &output, &VerifyOptions::default()));
            let named = (found.tree.as_deref(), found.branch.as_deref(), found.entry);
            assert_eq!(named, (Some("t"), Some(branch), Some(entry)), "{found}");
            assert_eq!(found.to_string(), text);
        }
    }
}

#[test]
fn other_values_differ_at_the_first_entry_with_values() {
    let folder = Folder::new();
    let verdict = compare(&folder.sample("a.root", 5), &folder.sample("b.root", 6), &VerifyOptions::default());
    let found: Vec<String> = verdict.differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        ["tree t, branch x, entry 0: is 5.0 and 6.0", "tree t, branch v, entry 1, member [0]: is 7e-45 and 8e-45"]
    );
}

#[test]
fn a_range_of_entries_can_be_verified() {
    let folder = Folder::new();
    let input = folder.sample("in.root", 5);
    let layout = "cluster = \"100\"";
    let output = folder.rewritten("out.root", std::slice::from_ref(&input), layout, |options| {
        options.content.entries = (130..550).into()
    });
    let verify = |entries| compare(&input, &output, &VerifyOptions { entries, ..VerifyOptions::default() });
    assert!(verify(EntryFilter::from(130..550)).equal);
    assert!(!verify((131..551).into()).equal);
    let longer = verify((130..560).into());
    let found: Vec<String> = longer.differences.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["tree t: has 430 entries and 420"]);
    assert!(!verify(EntryFilter::default()).equal);
}

#[test]
fn missing_content_is_a_difference_unless_common() {
    let folder = Folder::new();
    let input = folder.sample("in.root", 5);
    let output = folder.rewritten("out.root", std::slice::from_ref(&input), "", |options| {
        options.content.filter = NameFilter::new(&[], &["x".to_owned()]).unwrap();
    });
    let found = only(compare(&input, &output, &VerifyOptions::default()));
    assert_eq!(found.to_string(), "tree t, branch x: only the first side has this branch");
    let found = only(compare(&output, &input, &VerifyOptions::default()));
    assert_eq!(found.to_string(), "tree t, branch x: only the second side has this branch");
    let common = VerifyOptions { common: true, ..VerifyOptions::default() };
    assert!(compare(&input, &output, &common).equal);
    let filter = NameFilter::new(&["v".to_owned()], &[]).unwrap();
    let verdict = compare(&input, &output, &VerifyOptions { filter, ..VerifyOptions::default() });
    assert!(verdict.equal);
    assert_eq!(verdict.trees[0].columns, 2, "v, and n which counts it");
}

#[test]
fn several_inputs_are_compared_as_one() {
    let folder = Folder::new();
    let inputs = [folder.sample("a.root", 5), folder.sample("b.root", 6)];
    let output = folder.rewritten("out.root", &inputs, "cluster = \"300\"", |_| {});
    let verdict = verify(&inputs, &output, &VerifyOptions::default(), &unwatched).unwrap();
    assert!(verdict.equal, "{:?}", verdict.differences);
    assert_eq!(verdict.trees[0].entries, 2 * ENTRIES);
    let [a, b] = inputs;
    let turned = verify(&[b, a], &output, &VerifyOptions::default(), &unwatched).unwrap();
    assert_eq!(turned.differences.len(), 2, "{:?}", turned.differences);
}

#[test]
fn too_small_a_budget_is_refused() {
    let folder = Folder::new();
    let input = folder.sample("in.root", 5);
    let options = VerifyOptions { budget: Budget::new(100_000, 1), ..VerifyOptions::default() };
    let refused = verify(std::slice::from_ref(&input), &input, &options, &unwatched).unwrap_err().to_string();
    assert!(refused.contains("the smallest that would do is --memory"), "{refused}");
}

#[test]
fn trees_of_different_names_can_be_compared() {
    let folder = Folder::new();
    let input = folder.sample("in.root", 5);
    let options = VerifyOptions { tree: Some("u".to_owned()), ..VerifyOptions::default() };
    let refused = verify(std::slice::from_ref(&input), &input, &options, &unwatched).unwrap_err().to_string();
    assert!(refused.contains("no tree or RNTuple u; there are: t"), "{refused}");
    let options = VerifyOptions { tree: Some("t".to_owned()), ..VerifyOptions::default() };
    let verdict = verify(std::slice::from_ref(&input), &input, &options, &unwatched).unwrap();
    assert!(verdict.equal && verdict.objects == 0);
}
