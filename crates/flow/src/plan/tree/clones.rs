//! The classes in the `TClonesArray`s of entries, which no metadata name. A reader takes the items of all entries for objects of the
//! class that the first entry names, so inputs with other classes cannot be joined.

use std::sync::Arc;

use dataset::decode::ColumnPlan;
use dataset::table::piece::{Piece, Record, Stored};
use dataset::tree::{BasketRef, Branch, BranchKind, Tree};
use rootfile::RootFile;

use super::builder::{ClonesClasses, PlanBuilder};
use super::schema::{Comparison, Described};
use crate::execute::fetch::tree::learn::learn;
use crate::table::piece::Files;
use crate::table::tree::column::Column;

impl PlanBuilder<'_> {
    /// Adds the branches whose arrays hold another class in a further input to the differences.
    pub fn compare_clones(&mut self, tree: &Tree, found: &mut Comparison, file: &Arc<RootFile>) {
        let mut known = self.clones.take().unwrap_or_else(|| self.own_clones());
        for (&i, classes) in &mut known {
            let Some(theirs) = found.map.get(i).copied().flatten().filter(|_| !found.changed.contains(&i)) else {
                continue;
            };
            let other = Described { tree, infos: file.infos() };
            let Some(column) = self.column_of(i, (theirs, tree)) else { continue };
            for (member, class) in clones_of(other, theirs, (&[Arc::clone(file.source())], Some(&column))) {
                let own = classes.entry(member).or_insert_with(|| class.clone());
                if *own != class {
                    found.changed.push(i);
                    found.named.insert(i, format!("a TClonesArray of {class} instead of {own}"));
                    break;
                }
            }
        }
        self.clones = Some(known);
    }

    /// The classes in the first input.
    fn own_clones(&self) -> ClonesClasses {
        let of_class = |branch: &Branch| matches!(branch.kind, BranchKind::Element(_) | BranchKind::Object { .. });
        let branches = self.tree.branches.iter().enumerate().filter(|(_, branch)| of_class(branch));
        let holds_arrays = |i: &usize| {
            let plan = ColumnPlan::new(&self.tree, *i, &self.infos);
            plan.needs_learning() && !plan.clones_classes().is_empty()
        };
        let found = branches.map(|(i, _)| i).filter(holds_arrays);
        let classes = |i| clones_of(self.described(), i, (&self.files, self.columns.get(i))).into_iter().collect();
        found.map(|i| (i, classes(i))).collect()
    }

    /// The column of a branch of a further input, whose file has number 0; none if its baskets are in another file.
    pub fn column_of(&self, i: usize, (theirs, tree): (usize, &Tree)) -> Option<Column> {
        let own = self.columns.get(i)?;
        let branch = tree.branches.get(theirs).filter(|branch| branch.file_name.is_empty())?;
        let names = (branch.name().to_owned(), tree.name().to_owned());
        let mut column = Column::new(theirs, names, own.target.compression, own.target.shape);
        column.form = own.form.clone();
        let mut embedded = branch.embedded.iter().peekable();
        for (k, &BasketRef { first_entry, entries, seek: offset, nbytes: len }) in branch.baskets.iter().enumerate() {
            match embedded.next_if(|(at, _)| *at == k) {
                Some((_, basket)) => column.source.push_embedded((first_entry, entries), 0, basket.bytes.clone()),
                None => {
                    let stored = Stored::Record(Record { file: 0, offset, len });
                    column.source.pieces.push(Piece { first_entry, entries, stored });
                }
            }
        }
        Some(column)
    }
}

/// The item classes that the first baskets of a branch name.
fn clones_of(
    of: Described<'_>,
    branch: usize,
    (files, column): (&Files, Option<&Column>),
) -> Vec<((String, String), String)> {
    let plan = learn(ColumnPlan::new(of.tree, branch, of.infos), of.tree, of.infos, files, column);
    plan.clones_classes().into_iter().filter_map(|(member, class)| Some((member, class?))).collect()
}
