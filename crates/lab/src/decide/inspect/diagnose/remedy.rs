//! What mends a fault: `basketry rewrite` with settings, or `basketry tune`.

use dataset::layout::ByteSize;

use super::baskets::good_cluster;
use super::sums::sizes;
use crate::inspect::contents::TreeReport;
use crate::system::shell::pasted_pattern;

/// The remedy of a fault.
pub(super) struct Remedy {
    /// A word for it in the output's name.
    pub word: &'static str,
    way: Way,
}

enum Way {
    /// The layout that `tune` chooses.
    Tune,
    /// A rewrite with these settings for the tree; without settings, of the file as it is.
    Tree(Vec<(&'static str, String)>),
    /// A rewrite with a setting for some branches.
    Columns(Vec<String>, &'static str, &'static str),
}

impl Remedy {
    pub fn tune() -> Self {
        Self { word: "tuned", way: Way::Tune }
    }

    /// A rewrite without settings.
    pub fn rewrite(word: &'static str) -> Self {
        Self { word, way: Way::Tree(Vec::new()) }
    }

    /// A rewrite with a setting for the tree.
    pub fn tree(word: &'static str, key: &'static str, value: impl ToString) -> Self {
        Self::rewrite(word).and(key, value)
    }

    /// A rewrite with a setting for some branches.
    pub fn columns(word: &'static str, branches: Vec<String>, key: &'static str, value: &'static str) -> Self {
        Self { word, way: Way::Columns(branches, key, value) }
    }

    /// Baskets of this size.
    pub fn baskets(bytes: u64) -> Self {
        Self::tree("baskets", "basket", ByteSize(bytes))
    }

    /// Clusters of a good size for a tree.
    pub fn clusters(tree: Option<&TreeReport>) -> Self {
        Self::tree("clusters", "cluster", ByteSize(good_cluster(tree.map_or((0, 0), sizes))))
    }

    /// The same with a setting more.
    pub fn and(mut self, key: &'static str, value: impl ToString) -> Self {
        if let Way::Tree(settings) = &mut self.way {
            settings.push((key, value.to_string()));
        }
        self
    }

    /// Whether `tune` does it, which writes nothing that is larger than today.
    pub fn is_tune(&self) -> bool {
        matches!(self.way, Way::Tune)
    }

    /// Whether the command is also given for an RNTuple. So far this is so for its codec alone.
    pub fn fits_ntuples(&self) -> bool {
        matches!(&self.way, Way::Tree(settings) if matches!(settings[..], [("compression", _)]))
    }

    /// The verb and its settings; for one tree of several by its path.
    pub fn options(&self, path: Option<&str>) -> (&'static str, String) {
        let options = match (&self.way, path) {
            (Way::Tune, _) => return ("tune", String::new()),
            (Way::Tree(settings), Some(path)) => {
                let set = |(key, value): &(_, String)| format!(" --tree-set {} {key}={value}", pasted_pattern(path));
                settings.iter().map(set).collect()
            }
            (Way::Tree(settings), None) => settings.iter().map(|(key, value)| format!(" --{key} {value}")).collect(),
            (Way::Columns(branches, key, value), _) => branches
                .iter()
                .map(|branch| format!(" --column-set {} {key}={value}", pasted_pattern(branch)))
                .collect(),
        };
        ("rewrite", options)
    }
}
