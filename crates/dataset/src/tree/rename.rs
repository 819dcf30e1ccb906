//! Gives a branch of the first level another name, with all that is named after it: branches below it, its leaves, and titles that have
//! its name, also those of what its leaf counts. Baskets that are there keep the old name.

use rootfile::object::Named;

use super::model::Tree;

impl Tree {
    /// The names of the branches of the first level as columns have them: without the dot that some end with.
    pub fn column_names(&self) -> impl Iterator<Item = &str> {
        self.top.iter().filter_map(|top| Some(self.branches.get(*top)?.name().trim_end_matches('.')))
    }

    /// Renames the branches of the first level that a column of the old name has.
    pub fn rename_column(&mut self, old: &str, new: &str) {
        let is_old =
            |top: &&usize| self.branches.get(**top).is_some_and(|branch| branch.name().trim_end_matches('.') == old);
        let tops: Vec<usize> = self.top.iter().filter(is_old).copied().collect();
        let branches: Vec<usize> = tops.iter().flat_map(|top| self.below(*top)).collect();
        let own = branches.iter().filter_map(|branch| self.branches.get(*branch));
        let leaves: Vec<usize> = own.flat_map(|branch| branch.leaves.iter().copied()).collect();
        let ids: Vec<_> = leaves.iter().filter_map(|leaf| Some(self.leaves.get(*leaf)?.id)).collect();
        let rename = |named: &mut Named| {
            named.name = renamed(&named.name, old, new);
            named.title = renamed(&named.title, old, new);
        };
        branches
            .iter()
            .for_each(|at| self.branches.get_mut(*at).into_iter().for_each(|found| rename(&mut found.named)));
        leaves.iter().for_each(|at| self.leaves.get_mut(*at).into_iter().for_each(|found| rename(&mut found.named)));
        // Titles name the leaf that counts: `pt[n]/F`.
        let counted = self.leaves.iter_mut().filter(|leaf| leaf.leaf_count.is_some_and(|id| ids.contains(&id)));
        let dimension = |title: &str| {
            let title = title.replace(&format!("[{old}]"), &format!("[{new}]"));
            title.replace(&format!("[{old}_]"), &format!("[{new}_]"))
        };
        for leaf in counted {
            leaf.named.title = dimension(&leaf.named.title);
            if let Some(branch) = self.branches.get_mut(leaf.branch) {
                branch.named.title = dimension(&branch.named.title);
            }
        }
    }
}

/// A name or a title that begins with a name, with the new one in its place.
fn renamed(text: &str, old: &str, new: &str) -> String {
    match text.strip_prefix(old) {
        Some(rest) if ends_name(rest) => format!("{new}{rest}"),
        _ => text.to_owned(),
    }
}

/// Whether a name ends where this text begins. The leaf of a collection has a `_` behind its name.
fn ends_name(rest: &str) -> bool {
    let rest = rest.strip_prefix('_').unwrap_or(rest);
    rest.is_empty() || rest.starts_with(['.', '[', '/'])
}

#[cfg(test)]
mod tests {
    use rootfile::streamer::StreamerInfos;

    use super::*;
    use crate::tree::make::{NewColumn, NewKind, NewLeaf, make_tree};

    fn leaf(name: &str, letter: char, counter: Option<&str>) -> NewLeaf {
        let counter = counter.map(str::to_owned);
        NewLeaf { name: name.to_owned(), letter, dims: Vec::new(), counter, packing: String::new() }
    }

    #[test]
    fn a_counter_is_renamed_where_it_counts() {
        let columns = [
            NewColumn::new("n", NewKind::Leaves(vec![leaf("n", 'I', None)])),
            NewColumn::new("pt", NewKind::Leaves(vec![leaf("pt", 'F', Some("n"))])),
            NewColumn::new("n_other", NewKind::Leaves(vec![leaf("n_other", 'I', None)])),
        ];
        let mut tree = make_tree("t", "", &columns, &StreamerInfos::new()).unwrap();
        tree.rename_column("n", "n_b");
        assert_eq!(tree.column_names().collect::<Vec<_>>(), ["n_b", "pt", "n_other"]);
        let titles: Vec<&str> = tree.branches.iter().map(|branch| branch.named.title.as_str()).collect();
        assert_eq!(titles, ["n_b/I", "pt[n_b]/F", "n_other/I"]);
        let leaves: Vec<&str> = tree.leaves.iter().map(|leaf| leaf.named.name.as_str()).collect();
        assert_eq!(leaves, ["n_b", "pt", "n_other"]);
        tree.rename_column("pt", "pt_b");
        assert_eq!(tree.leaves[1].named.title, "pt_b[n_b]");
    }

    #[test]
    fn what_only_begins_alike_stays() {
        for (text, made) in [
            ("x", "y"),
            ("x.fX", "y.fX"),
            ("x_", "y_"),
            ("x_b", "x_b"),
            ("xx", "xx"),
            ("x[n]/F", "y[n]/F"),
            ("x.", "y."),
        ] {
            assert_eq!(renamed(text, "x", "y"), made);
        }
    }
}
