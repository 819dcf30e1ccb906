//! Bad inputs: which are left out, in which order, and how much work they cost.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use dataset::tree::read_tree;
use rootfile::{ErrorKind, FilePool, Result, RootFile};
use tempfile::TempDir;

use super::{open, plan_without_bad, prepare};
use crate::plan::skipped::Skipped;
use crate::rewrite::execute::rewrite;
use crate::rewrite::options::{InputOptions, Options};
use crate::rewrite::prepared::Prepared;
use crate::rewrite::sample;
use crate::{Budget, unwatched};

const NO_ROOT_FILE: [u8; 40] = [7; 40];

/// Files with one tree, some of which are damaged.
struct Inputs {
    folder: TempDir,
    paths: Vec<PathBuf>,
    sound: Vec<u8>,
    /// A file whose tree has a record that cannot be decompressed.
    damaged: Vec<u8>,
}

impl Inputs {
    fn new(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.root");
        sample::make(&model, 10, 1).unwrap();
        let sound = std::fs::read(&model).unwrap();
        let file = RootFile::open(&model).unwrap();
        let key = file.top().keys.iter().find(|key| key.class == "TTree").unwrap();
        let mut damaged = sound.clone();
        let start = usize::try_from(key.seek_key).unwrap() + usize::from(key.keylen);
        damaged[start..start + 30].fill(0xff);
        let paths: Vec<_> = (0..count).map(|i| folder.path().join(format!("{i:04}.root"))).collect();
        paths.iter().for_each(|path| std::fs::write(path, &sound).unwrap());
        Self { folder, paths, sound, damaged }
    }

    fn replace(&self, number: usize, bytes: &[u8]) {
        std::fs::write(&self.paths[number], bytes).unwrap();
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("output.root")
    }

    fn prepare(&self, options: &Options) -> Result<Prepared> {
        prepare(&self.paths, &self.output(), options)
    }

    fn numbers(&self, skipped: &[Skipped]) -> Vec<usize> {
        skipped.iter().map(|skipped| self.paths.iter().position(|path| *path == skipped.path).unwrap()).collect()
    }
}

fn options(skip_bad: bool, threads: usize) -> Options {
    let inputs = InputOptions { skip_bad, ..InputOptions::default() };
    Options { inputs, budget: Budget::new(1 << 30, threads), overwrite: true, ..Options::default() }
}

fn message(error: Result<Prepared>) -> String {
    error.err().unwrap().to_string()
}

#[test]
fn bad_inputs_are_skipped_in_order() {
    let inputs = Inputs::new(9);
    inputs.replace(6, &NO_ROOT_FILE);
    inputs.replace(3, &inputs.damaged);
    inputs.replace(8, &inputs.damaged);
    let prepared = inputs.prepare(&options(true, 4)).unwrap();
    assert_eq!(inputs.numbers(&prepared.skipped), [6, 3, 8], "those that cannot be opened come first");
    assert!(prepared.skipped.iter().all(|skipped| skipped.reason.contains(&skipped.path.display().to_string())));
    assert_eq!(prepared.files.len(), 6);
    assert_eq!(prepared.plans[0].1.table.tree().unwrap().tree.entries, 10);
    assert_eq!(prepared.plans[0].1.table.tree().unwrap().input_entries, [10; 6]);
}

#[test]
fn the_output_is_that_of_the_sound_inputs() {
    let inputs = Inputs::new(5);
    let written = |paths: &[PathBuf]| {
        rewrite(paths, &inputs.output(), &options(true, 3), &unwatched).unwrap();
        std::fs::read(inputs.output()).unwrap()
    };
    let expected = written(&[2, 3, 4].map(|i| inputs.paths[i].clone()));
    inputs.replace(0, &inputs.damaged);
    inputs.replace(1, &NO_ROOT_FILE);
    assert!(written(&inputs.paths) == expected);
}

#[test]
fn the_first_bad_input_is_reported_whatever_the_threads() {
    let inputs = Inputs::new(40);
    for number in [11, 12, 30] {
        inputs.replace(number, &NO_ROOT_FILE);
    }
    inputs.replace(2, &inputs.damaged);
    for threads in [1, 2, 8] {
        let message = message(inputs.prepare(&options(false, threads)));
        assert!(message.contains("0011.root"), "{threads} threads: {message}");
    }
    for number in [11, 12, 30] {
        inputs.replace(number, &inputs.sound);
    }
    let message = message(inputs.prepare(&options(false, 8)));
    assert!(message.contains("0002.root"), "{message}");
}

#[test]
fn one_input_always_remains() {
    let inputs = Inputs::new(3);
    (0..3).for_each(|number| inputs.replace(number, &NO_ROOT_FILE));
    let refused = message(inputs.prepare(&options(true, 2)));
    assert!(refused.contains("0002.root"), "{refused}");
    // The same where the inputs can be opened and their trees cannot be read.
    (0..3).for_each(|number| inputs.replace(number, &inputs.damaged));
    let refused = message(inputs.prepare(&options(true, 2)));
    assert!(refused.contains("0002.root"), "{refused}");
}

#[test]
fn a_damaged_tree_is_left_out_in_either_container() {
    let inputs = Inputs::new(1);
    let file = RootFile::open(&inputs.paths[0]).unwrap();
    let key = file.top().keys.iter().find(|key| key.class == "TTree").unwrap();
    let end = usize::try_from(key.seek_key).unwrap() + usize::try_from(key.nbytes).unwrap();
    // Damage that can be told from what is not supported.
    let is_corrupt = (end - 2000..end).step_by(20).any(|start| {
        let mut damaged = inputs.sound.clone();
        damaged[start..start + 20].fill(0xff);
        inputs.replace(0, &damaged);
        let file = RootFile::open(&inputs.paths[0]).unwrap();
        read_tree(&file, key).is_err_and(|e| matches!(e.kind(), ErrorKind::Corrupt(_)))
    });
    assert!(is_corrupt);
    for layout in ["", "container = \"rntuple\""] {
        let prepared = inputs.prepare(&Options { layout: layout.parse().unwrap(), ..options(true, 1) }).unwrap();
        assert_eq!((prepared.plans.len(), prepared.objects.damaged.len()), (0, 1), "{layout}");
    }
}

#[test]
fn many_bad_inputs_do_not_multiply_the_work() {
    let inputs = Inputs::new(1000);
    let mut expected: Vec<usize> = (3..1000).step_by(10).collect();
    expected.iter().for_each(|number| inputs.replace(*number, &NO_ROOT_FILE));
    let damaged: Vec<usize> = (5..1000).step_by(10).collect();
    damaged.iter().for_each(|number| inputs.replace(*number, &inputs.damaged));
    expected.extend(&damaged);
    let (opened, read) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |counter: &AtomicUsize| counter.fetch_add(1, Ordering::Relaxed);
    let pool = FilePool::new(100);
    let mut skipped = Vec::new();
    let open = |path: &Path| {
        count(&opened);
        pool.open(path)
    };
    let files = open::open_with(&inputs.paths, 4, true, &mut skipped, open).unwrap();
    let prepared = plan_without_bad(files, &options(true, 4), skipped, &|file, key| {
        count(&read);
        read_tree(file, key)
    })
    .unwrap();
    assert_eq!(inputs.numbers(&prepared.skipped), expected);
    assert_eq!(prepared.files.len(), 800);
    // All inputs are opened once. The trees are read to find the bad inputs, and again without them.
    assert_eq!((opened.into_inner(), read.into_inner()), (1000, 900 + 800));
}
