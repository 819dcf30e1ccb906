//! The layout that a file has, in the terms that `rewrite` takes.
//!
//! Settings that most of the data share are the general ones; trees and columns that differ get rules of their own.
//! Metadata tell the sizes of buffers, but not where baskets were cut, so the layout has the sizes of buffers.

use std::collections::HashSet;

use dataset::glob::{ColumnPattern, TreePattern};
use dataset::layout::defaults::ONLY_FLUSH_AT_CLUSTER;
use dataset::layout::{ByteSize, ClusterSize, ColumnLayout, Compression, Container, Layout, TreeLayout};
use dataset::tree::{Branch, Tree};
use rootfile::Result;

use super::ntuple::layout::NtupleLayout;
use super::ntuple::report::NtupleReport;
use crate::math::most;

/// Characters that mean something in a pattern.
const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// The layouts of trees and RNTuples, as they are found.
#[derive(Default)]
pub struct Recovered {
    trees: Vec<Found>,
}

struct Found {
    path: String,
    bytes: u64,
    layout: TreeLayout,
    columns: Vec<(String, ColumnLayout)>,
}

impl Recovered {
    /// Takes in one tree of a file whose fCompress is `file`.
    pub fn add(&mut self, path: &str, tree: &Tree, file: i32) {
        let holders = || tree.branches.iter().filter(|branch| !branch.baskets.is_empty());
        let common = TreeLayout {
            container: Some(Container::Ttree),
            cluster: cluster_size(tree),
            basket: most(holders().filter_map(basket).map(|size| (size.bytes(), 1))).map(ByteSize),
            one_basket_per_cluster: Some(tree.named.object.bits & ONLY_FLUSH_AT_CLUSTER != 0),
            compression: most(
                holders().map(|branch| (branch.compression(file).to_root_setting(), branch.zip_bytes.max(1))),
            )
            .and_then(Compression::from_root_setting),
            ..TreeLayout::default()
        };
        let columns = columns(tree, &common, file);
        self.trees.push(Found { path: path.to_owned(), bytes: tree.zip_bytes, layout: common, columns });
    }

    /// Takes in one RNTuple, and says what cannot be recovered.
    pub fn add_ntuple(&mut self, ntuple: &NtupleReport) -> Vec<String> {
        let NtupleLayout { layout, columns, unknown } = NtupleLayout::of(ntuple);
        self.trees.push(Found { path: ntuple.path.clone(), bytes: ntuple.zip_bytes, layout, columns });
        unknown
    }

    /// Whether there was neither a tree nor an RNTuple.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// All of them together.
    pub fn layout(mut self) -> Result<Layout> {
        let mut layout = Layout::default();
        // The largest tree speaks for all.
        self.trees.sort_by_key(|tree| std::cmp::Reverse(tree.bytes));
        let several = self.trees.len() > 1;
        for (i, tree) in self.trees.iter().enumerate() {
            if i == 0 {
                layout.common = tree.layout.clone();
                continue;
            }
            let own = without(&tree.layout, &layout.common);
            if !own.is_empty() {
                layout.set_tree(TreePattern::new(&escaped(&tree.path))?, &own);
            }
        }
        for tree in &self.trees {
            let mut known = HashSet::new();
            let mut rules = Vec::with_capacity(tree.columns.len());
            for (name, keys) in &tree.columns {
                // Names may stand twice, below different parents; a rule speaks of both.
                if known.insert(name) {
                    rules.push((column_pattern(several.then_some(&*tree.path), name)?, keys.clone()));
                }
            }
            layout.extend_columns(rules);
        }
        Ok(layout)
    }
}

/// A size in entries where the tree records one, else as fAutoFlush has it.
fn cluster_size(tree: &Tree) -> Option<ClusterSize> {
    // Most entries are in clusters of one size, if a size was set.
    let mut first = 0;
    let mut sizes = Vec::new();
    for &(last, size) in &tree.cluster_ranges {
        let behind = u64::try_from(last).unwrap_or(0).saturating_add(1);
        sizes.push((size, behind.saturating_sub(first)));
        first = behind;
    }
    if tree.auto_flush > 0 {
        sizes.push((tree.auto_flush, tree.entries.saturating_sub(first)));
    }
    match most(sizes.into_iter().filter(|(size, _)| *size > 0)) {
        Some(size) => ClusterSize::from_auto_flush(size),
        None => ClusterSize::from_auto_flush(tree.auto_flush),
    }
}

fn basket(branch: &Branch) -> Option<ByteSize> {
    (branch.basket_size > 0).then(|| ByteSize(u64::from(branch.basket_size)))
}

/// Rules for branches that differ from the general rule, or from that of the branch above.
fn columns(tree: &Tree, common: &TreeLayout, file: i32) -> Vec<(String, ColumnLayout)> {
    let mut said = vec![(common.basket, common.compression); tree.branches.len()];
    let mut rules = Vec::new();
    for (b, branch) in tree.branches.iter().enumerate() {
        let above = branch.parent.and_then(|p| said.get(p)).copied().unwrap_or((common.basket, common.compression));
        let own = match branch.baskets.is_empty() {
            true => above,
            false => (basket(branch).or(above.0), Some(branch.compression(file))),
        };
        if own != above {
            let keys = ColumnLayout {
                basket: own.0.filter(|_| own.0 != above.0),
                compression: own.1.filter(|_| own.1 != above.1),
                ..ColumnLayout::default()
            };
            rules.push((branch.name().to_owned(), keys));
        }
        if let Some(said) = said.get_mut(b) {
            *said = own;
        }
    }
    rules
}

/// The keys of `keys` that `base` does not say already.
fn without(keys: &TreeLayout, base: &TreeLayout) -> TreeLayout {
    TreeLayout {
        container: keys.container.filter(|_| keys.container != base.container),
        cluster: keys.cluster.filter(|_| keys.cluster != base.cluster),
        basket: keys.basket.filter(|_| keys.basket != base.basket),
        one_basket_per_cluster: keys
            .one_basket_per_cluster
            .filter(|_| keys.one_basket_per_cluster != base.one_basket_per_cluster),
        compression: keys.compression.filter(|_| keys.compression != base.compression),
        ..TreeLayout::default()
    }
}

/// A name as a pattern. Compiled globs cost a thousand times a comparison, so plain names stay plain.
fn column_pattern(tree: Option<&str>, name: &str) -> Result<ColumnPattern> {
    match tree {
        Some(tree) if name.contains('/') || name.contains(SPECIAL) || tree.contains(SPECIAL) => {
            Ok(ColumnPattern::exact(tree, name))
        }
        Some(tree) => ColumnPattern::new(&format!("{tree}/{name}")),
        // A literal name always matches itself.
        None => ColumnPattern::new(name),
    }
}

fn escaped(path: &str) -> String {
    if path.contains(SPECIAL) { dataset::glob::Pattern::exact(path).as_str().to_owned() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_that_deny_their_compression_have_that_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("denied.root");
        crate::synthetic::sample::make(&path, 100, 1).unwrap();
        let file = rootfile::RootFile::open(&path).unwrap();
        let key = file.top().keys.iter().find(|key| key.class == "TTree").unwrap().clone();
        let mut tree = dataset::tree::read_tree(&file, &key).unwrap();
        let layout = |tree: &Tree| {
            let mut recovered = Recovered::default();
            recovered.add("t", tree, 207);
            recovered.layout().unwrap()
        };
        assert_eq!(layout(&tree).common.compression, Some(Compression::NONE));
        // As uproot writes it: fCompress is 0, but the baskets are compressed to a half.
        for branch in &mut tree.branches {
            (branch.tot_bytes, branch.zip_bytes) = (2000, 1000);
        }
        assert_eq!(layout(&tree).common.compression, Compression::from_root_setting(207));
        assert!(layout(&tree).to_toml().unwrap().contains("lzma:7"), "{}", layout(&tree).to_toml().unwrap());
    }

    #[test]
    fn patterns_match_what_they_were_made_of() {
        for (tree, name) in [(Some("Events"), "Muon_pt"), (Some("d/T*"), "a.b[3]"), (None, "fX[3]"), (None, "x/y")] {
            let pattern = column_pattern(tree, name).unwrap();
            assert!(pattern.matches(tree.unwrap_or("T"), name), "{name}");
        }
    }
}
