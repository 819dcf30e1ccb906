//! The tables of which entries are selected, before a rewrite is planned: how some of their columns are opened.

use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::table::Join;
use rootfile::{ErrorKind, Key, Result, RootFile};

use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::plan::options::PlanOptions;

/// A tree of which entries are selected.
pub(crate) struct SourceTree<'a> {
    /// Its key in each input that has it, with the index of the input.
    pub inputs: &'a [(usize, Arc<RootFile>, Key)],
    /// Its path.
    pub path: &'a str,
    /// What is done where the schemas of the inputs differ.
    pub joining: PlanOptions,
    /// Memory and threads for the read.
    pub budget: Budget,
}

impl SourceTree<'_> {
    /// Opens some of its columns, which all inputs must have, unless missing ones are filled in. All of them are those that can be named.
    pub fn open(&self, filter: &NameFilter) -> Result<Dataset> {
        let open = |schema: Join| {
            let joining = PlanOptions { schema, is_named: true, ..self.joining };
            Dataset::of_trees(self.inputs, self.path, filter, joining)
        };
        let opened = open(if self.joining.schema == Join::Common { Join::Strict } else { self.joining.schema });
        match opened {
            Err(e) if filter.keeps_all() && matches!(e.kind(), ErrorKind::Differs(_)) => open(Join::Common),
            opened => opened,
        }
    }
}

/// Opens some columns of a table.
pub(crate) type OpenColumns<'a> = &'a dyn Fn(&NameFilter) -> Result<Dataset>;
