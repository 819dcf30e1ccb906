//! The columns that expressions define on the first side: their values are computed once more, and compared with the columns of these names
//! on the second side, whatever the containers.

use std::ops::ControlFlow;

use arrow_array::ArrayRef;
use dataset::EntrySet;
use dataset::glob::{ColumnPattern, NameFilter};
use rootfile::{Error, Result};

use super::common_type::{common_type, converted};
use super::first_difference;
use super::options::VerifyOptions;
use super::tasks::{ColumnDifference, DifferenceKind};
use super::tolerance::{LargestError, Tolerance, Tolerances, settled};
use super::tree::trees::describe;
use super::verdict::{ColumnError, Difference, TableKind, Verdict};
use crate::arrow::read::{BatchSize, Batches, Dataset, Request, batches};
use crate::execute::budget::Budget;
use crate::execute::order::Order;
use crate::execute::progress::{Progress, unwatched};
use crate::reorder::table::{Reordered, reorder_needed};
use crate::select::{Defined, DefinedSteps, DefinesFound, OpenColumns};

/// What is defined in a table of the first side.
pub(super) struct DefinedSide {
    dataset: Dataset,
    defined: Defined,
}

/// A table of the second side, and how the entries of the first are chosen.
pub(super) struct OtherSide<'a> {
    pub dataset: &'a Dataset,
    pub kind: TableKind,
    /// The entries of the first side that are compared, if not all.
    pub selected: Option<&'a EntrySet>,
    /// By how much numbers may differ.
    pub tolerances: &'a Tolerances,
}

impl DefinedSide {
    /// What can be defined in a table with this path. None where nothing is asked for.
    pub fn open(
        path: &str,
        open: OpenColumns<'_>,
        found: &mut DefinesFound<'_>,
    ) -> Result<Option<(Self, Vec<String>)>> {
        if found.all().is_empty() {
            return Ok(None);
        }
        let (dataset, defined) = Defined::open(path, open, found.all())?;
        let names: Vec<String> = defined.names().map(str::to_owned).collect();
        let notes = found.tell(path, &names, defined.lacking.clone());
        Ok(Some((Self { dataset, defined }, notes)))
    }

    /// The same with the rows of an order. Returns the memory that these take as well.
    pub fn in_order(&self, order: &Order, budget: Budget, progress: Progress<'_>) -> Result<(Self, u64)> {
        let Reordered { dataset, held } = reorder_needed(&self.dataset, &self.defined, order, budget, progress)?;
        Ok((Self { dataset, defined: self.defined.clone() }, held))
    }

    /// The options for the second side: without the columns that are compared here.
    pub fn other_options(&self, path: &str, options: &VerifyOptions) -> VerifyOptions {
        let names = self.defined.names().map(|name| ColumnPattern::exact(path, name));
        VerifyOptions { filter: options.filter.clone().without(names), ..options.clone() }
    }

    /// The filter of the columns of the second side that are compared here.
    pub fn other_columns(&self, path: &str) -> NameFilter {
        NameFilter::only(self.defined.names().map(|name| ColumnPattern::exact(path, name)))
    }

    /// Compares the values of each column.
    pub fn compare(
        &self,
        path: &str,
        other: &OtherSide<'_>,
        budget: Budget,
        progress: Progress<'_>,
        verdict: &mut Verdict,
    ) -> Result<()> {
        let (fields, before) = (self.defined.fields(), verdict.differences.len());
        let mut columns = Vec::new();
        for (place, field) in fields.iter().enumerate() {
            let of_column = |what: String| Difference::of_column(path, other.kind, field.name(), what);
            let Some((number, theirs)) = column_of(other.dataset, field.name()) else {
                verdict.differences.push(of_column("only the first side has it".to_owned()));
                continue;
            };
            match common_type(field.data_type(), theirs) {
                Some(common) => columns.push((place, number, common)),
                None => {
                    verdict.differences.push(of_column(format!("is {} in Arrow, and {theirs}", field.data_type())));
                }
            }
        }
        let name_of = |place: usize| fields.get(place).map_or_else(String::new, |field| field.name().clone());
        let compared: Vec<String> = columns.iter().map(|(place, ..)| name_of(*place)).collect();
        let tolerance = |name: &String| (other.tolerances.of(path, name), LargestError::default());
        let tolerated: Vec<(Option<Tolerance>, LargestError)> = compared.iter().map(tolerance).collect();
        // Both sides are read at the same time.
        let half = Budget { memory: budget.memory / 2, ..budget };
        let request = Request {
            columns: columns.iter().map(|(_, number, _)| *number).collect(),
            entries: 0..other.dataset.entries(),
            selection: None,
            budget: half,
            progress: &unwatched,
        };
        let mut theirs = batches(other.dataset, request, BatchSize::Cluster);
        let steps = DefinedSteps {
            table: &self.dataset,
            defined: &self.defined,
            entries: 0..self.dataset.entries(),
            selection: other.selected,
            budget: half,
        };
        let mut at = 0;
        let done = steps.each(progress, &mut |values, rows| {
            let rows = rows.min(usize::try_from(other.dataset.entries() - at).unwrap_or(usize::MAX));
            if rows == 0 || columns.is_empty() {
                return Ok(ControlFlow::Break(()));
            }
            let read = next(&mut theirs, at + rows as u64)?;
            let mut differ = Vec::new();
            for (which, (place, _, common)) in columns.iter().enumerate() {
                let (Some(ours), Some(theirs)) = (values.get(*place), read.get(which)) else { continue };
                let ours = converted(ours.slice(0, rows), Some(common))?;
                let mut theirs = converted(ArrayRef::clone(theirs), Some(common))?;
                if let Some((Some(tolerance), largest)) = tolerated.get(which) {
                    theirs = settled(&ours, &theirs, *tolerance, largest);
                }
                let Some(row) = first_difference::first_row(&ours, &theirs) else { continue };
                let (member, what) = first_difference::describe(&ours, &theirs, row);
                let kind = DifferenceKind::Member(member, what);
                let found = ColumnDifference { entry: at + row as u64, kind };
                let name = fields.get(*place).map_or("", |field| field.name());
                let of_column = Difference::of_column(path, other.kind, name, "");
                verdict.differences.push(describe(found, other.selected, of_column));
                differ.push(*place);
            }
            at += rows as u64;
            // Of each column the first difference is told. What is read stays the same.
            columns.iter_mut().filter(|(place, ..)| differ.contains(place)).for_each(|(place, ..)| *place = usize::MAX);
            Ok(ControlFlow::Continue(()))
        });
        let errors = compared.into_iter().zip(&tolerated).filter(|(_, (_, largest))| largest.absolute() > 0.0);
        let errors = errors.map(|(column, (_, largest))| ColumnError {
            column,
            largest: largest.absolute(),
            relative: largest.relative(),
        });
        let (errors, is_equal): (Vec<ColumnError>, bool) = (errors.collect(), verdict.differences.len() == before);
        for table in verdict.trees.iter_mut().filter(|table| table.path == path) {
            table.errors.extend(errors.iter().cloned());
            table.equal &= is_equal;
        }
        done
    }
}

fn next(theirs: &mut Batches<'_>, to: u64) -> Result<Vec<ArrayRef>> {
    let read = theirs.next_until(to).ok_or_else(|| Error::corrupt("has fewer entries"))??;
    Ok(read.batch.columns().to_vec())
}

/// The number and the type of a column at the top.
fn column_of<'a>(dataset: &'a Dataset, name: &str) -> Option<(usize, &'a arrow_schema::DataType)> {
    let mut all = dataset.default_columns().into_iter();
    all.find_map(|number| {
        let field = dataset.column(number)?.field();
        (field.name() == name).then_some((number, field.data_type()))
    })
}
