//! The order of the entries of each table of a rewrite, where another is asked for than that of the inputs: by keys, in tables that have
//! the columns of the key, or a given one. Selections come first.

use std::sync::Arc;

use rootfile::{Error, Hint, Result};

use crate::execute::budget::Budget;
use crate::execute::order::Order;
use crate::keys::columns::KeyColumns;
use crate::keys::{SortJob, UnsortedInput, sorted_entries};
use crate::rewrite::options::{ContentOptions, EntryOrder, GivenOrder, SortBy};
use crate::select::{Define, OpenColumns, TreeSelection, refused};

/// The order of the tables of a rewrite.
pub(super) struct OrderedTables<'a> {
    asked: Option<&'a EntryOrder>,
    /// Columns that a key may name.
    defines: &'a [Define],
    budget: Budget,
    /// Whether a table has got its order.
    has_any: bool,
    /// Why a table does not have the columns.
    lacking: Option<Error>,
    facts: OrderFacts,
}

/// What is known of inputs whose entries are written by their keys.
#[derive(Default)]
pub(super) struct OrderFacts {
    /// The first entry of each table that is before an earlier one of its input.
    pub unsorted: Vec<UnsortedInput>,
    pub notes: Vec<String>,
}

impl<'a> OrderedTables<'a> {
    pub fn new(content: &'a ContentOptions, budget: Budget) -> Self {
        let (asked, defines) = (content.order.as_ref(), content.defines.as_slice());
        Self { asked, defines, budget, has_any: false, lacking: None, facts: OrderFacts::default() }
    }

    /// The rows of the output for a table, of the selected entries.
    pub fn for_table(
        &mut self,
        path: &str,
        open: OpenColumns<'_>,
        selected: &TreeSelection,
    ) -> Result<Option<Arc<Order>>> {
        let order = match self.asked {
            None => return Ok(None),
            Some(EntryOrder::Given(GivenOrder(order))) => Arc::clone(order),
            Some(EntryOrder::OfTable { path: own, order: GivenOrder(order) }) if own.is_empty() || own == path => {
                Arc::clone(order)
            }
            Some(EntryOrder::OfTable { .. }) => return Ok(None),
            Some(EntryOrder::By(by)) => match self.sorted(by, path, open, selected)? {
                Some(order) => Arc::new(order),
                None => return Ok(None),
            },
        };
        self.has_any = true;
        Ok(Some(order))
    }

    fn sorted(
        &mut self,
        by: &SortBy,
        path: &str,
        open: OpenColumns<'_>,
        selected: &TreeSelection,
    ) -> Result<Option<Order>> {
        let columns = match KeyColumns::open(path, open, by.key.names(), self.defines).map_err(|e| e.object(path))? {
            Ok(columns) => columns,
            Err(lacking) => {
                self.lacking.get_or_insert_with(|| refused(&lacking, by.key.names().option()).object(path));
                return Ok(None);
            }
        };
        let entries = selected.entries(columns.dataset().entries())?;
        let job = SortJob { key: &by.key, budget: self.budget, beside: by.beside.as_deref() };
        let sorted = sorted_entries(&columns, &entries, &job);
        let (order, unsorted) = sorted.map_err(|e| if e.path().is_some() { e } else { e.object(path) })?;
        if let Some(found) = unsorted {
            let told = by.is_sorted.then(|| format!("{path}: {found}; its entries go through a temporary file"));
            self.facts.notes.extend(told);
            self.facts.unsorted.push(found);
        }
        Ok(Some(order))
    }

    /// How many inputs out of order, and notes, it has.
    pub fn told(&self) -> [usize; 2] {
        [self.facts.unsorted.len(), self.facts.notes.len()]
    }

    /// Forgets all but so many: a table does not get to the output after all.
    pub fn leave_out(&mut self, [unsorted, notes]: [usize; 2]) {
        self.facts.unsorted.truncate(unsorted);
        self.facts.notes.truncate(notes);
        self.has_any = true;
    }

    /// What was found out. Fails if no table has the columns of the key.
    pub fn finish(self) -> Result<OrderFacts> {
        match (self.asked, self.lacking) {
            (Some(_), Some(lacking)) if !self.has_any => Err(lacking),
            (Some(EntryOrder::By(by)), None) if !self.has_any => {
                let (key, hint) = (by.key.names(), Hint::named(by.key.names().option()));
                Err(Error::request(format!("{hint} {key}: there is no tree")).hint(hint))
            }
            _ => Ok(self.facts),
        }
    }
}
