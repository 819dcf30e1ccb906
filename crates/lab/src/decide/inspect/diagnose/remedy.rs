//! What mends a fault: `basketry rewrite` with settings, or `basketry tune`.

use dataset::glob::Pattern;
use dataset::layout::{ByteSize, Layout};
use rootfile::Result;

use super::baskets::good_cluster;
use super::sums::sizes;
use crate::inspect::contents::TreeReport;
use crate::system::shell::{pasted_pattern, pattern};

/// A text as a basic string of TOML, which the strings of JSON are.
pub(in crate::decide::inspect) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The remedy of a fault.
#[derive(Clone)]
pub(in crate::decide::inspect) struct Remedy {
    /// A word for it in the output's name.
    pub word: &'static str,
    way: Way,
}

#[derive(Clone)]
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

    /// The layout of the rewrite; for some tables of several by their paths.
    ///
    /// # Errors
    ///
    /// A name cannot be said in a layout.
    pub fn layout(&self, paths: &[String]) -> Result<Layout> {
        let value = |text: &str| match text.parse::<f64>().is_ok() || text == "true" {
            true => text.to_owned(),
            false => quoted(text),
        };
        match &self.way {
            Way::Tune => Ok(Layout::default()),
            Way::Tree(settings) => {
                let keys: String = settings.iter().map(|(key, text)| format!("{key} = {}\n", value(text))).collect();
                let table = |path: &String| format!("[tree.{}]\n{keys}", quoted(Pattern::exact(path).as_str()));
                match paths {
                    [] => keys.parse(),
                    _ => paths.iter().map(table).collect::<String>().parse(),
                }
            }
            Way::Columns(branches, key, text) => {
                let rule = |branch: &String| {
                    format!("[column.{}]\n{key} = {}\n", quoted(pattern(branch).as_ref()), value(text))
                };
                branches.iter().map(rule).collect::<String>().parse()
            }
        }
    }

    /// The value of a setting, if it has it.
    pub fn setting(&self, key: &str) -> Option<&str> {
        let Way::Tree(settings) = &self.way else { return None };
        settings.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }

    /// The verb and its settings; for some tables of several by their paths.
    pub fn options(&self, paths: &[String]) -> (&'static str, String) {
        let options = match (&self.way, paths) {
            (Way::Tune, _) => return ("tune", String::new()),
            (Way::Tree(settings), [_, ..]) => {
                let set = |path: &String| {
                    let path = pasted_pattern(path);
                    settings.iter().map(move |(key, value)| format!(" --tree-set {path} {key}={value}"))
                };
                paths.iter().flat_map(set).collect()
            }
            (Way::Tree(settings), []) => {
                let option = |(key, value): &(_, String)| match value.as_str() {
                    "true" => format!(" --{key}"),
                    value => format!(" --{key} {value}"),
                };
                settings.iter().map(option).collect()
            }
            (Way::Columns(branches, key, value), _) => branches
                .iter()
                .map(|branch| format!(" --column-set {} {key}={value}", pasted_pattern(branch)))
                .collect(),
        };
        ("rewrite", options)
    }
}
