//! Evaluates cuts over the entries of a table. Only their columns are read, step by step, and a step is tested on all threads, in parts that
//! do not depend on their number. Counts and sums of weights are added up in the order of entries.

use std::ops::{ControlFlow, Range};

use arrow_array::ArrayRef;
use arrow_buffer::BooleanBuffer;
use dataset::{EntrySet, EntrySetBuilder};
use expr::{Entries, Program};
use rayon::ThreadPool;
use rootfile::Result;

use super::cut_flow::{Counts, CutStep};
use super::cuts::{CUT, Cut, TableCuts, WEIGHT, refused};
use super::decided::Decided;
use super::parts::{EvaluatedRows, columns_of, in_parts, refuse_incomplete};
use super::seen::Seen;
use super::steps::{MADE, STEP, Steps};
use crate::arrow::read::{NamedTable, ReadCost};
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};

/// Bytes of columns that are read at a time where a few entries are enough.
const SMALL_STEP: u64 = 1 << 20;

/// How entries are tested.
#[derive(Clone, Copy)]
pub(super) struct Testing<'a> {
    pub budget: Budget,
    /// Entries of the tables before this one, where several are one after the other.
    pub before: u64,
    /// Ends when so many have passed.
    pub most: Option<u64>,
    /// Whether the table stays open for further cuts.
    pub remembers: bool,
    /// Can end the work. It gets the bytes that are read.
    pub progress: Progress<'a>,
}

/// What the cuts select of a table.
pub(super) struct Selected {
    pub entries: EntrySet,
    pub cuts: Vec<CutStep>,
    /// The columns that were read, and what that cost.
    pub read: Vec<(usize, ReadCost)>,
}

impl TableCuts {
    /// The entries of a table, among `named`, that pass.
    pub fn select(
        &self,
        table: &dyn NamedTable,
        named: Option<&EntrySet>,
        cuts: &[Cut],
        how: &Testing<'_>,
    ) -> Result<Selected> {
        let columns = self.columns();
        refuse_incomplete(table, &columns, CUT, table.path())?;
        let (all, budget) = (table.entries(), how.budget.for_bytes(table.bytes_of(&columns)));
        let team = budget.helpers()?;
        table.forget_changed(how.budget.memory);
        // The weights of all entries are added up.
        let decided = match self.weight {
            Some(_) => Decided::default(),
            None => Decided::of(table, &self.conditions, named, how.before),
        };
        let open = decided.open(named, all);
        let mut pass = Pass {
            cuts: self,
            columns: &columns,
            team: team.as_deref(),
            passed: EntrySetBuilder::new(all),
            number: 0,
            counts: Counts::new(self.conditions.len(), self.weight.is_some()),
        };
        let mut spent = vec![ReadCost::default(); columns.len()];
        let is_enough = |pass: &Pass<'_>| how.most.is_some_and(|most| pass.number >= most);
        let bytes = if how.most.is_some() { SMALL_STEP } else { STEP };
        let mut stop = match how.most {
            Some(0) => 0,
            most => most.and_then(|most| decided.enough(most)).unwrap_or(all),
        };
        let entries = open.as_ref().map_or(0..stop, |open| open.span(0..stop));
        let (selection, team) = (open.as_ref(), team.clone());
        let mut seen = how.remembers.then(|| Seen::new(table, &columns, selection, budget));
        let steps =
            Steps { table, columns: &columns, entries, selection, budget, bytes, made: MADE, team, before: how.before };
        steps.each(|step| {
            pass.take(&step.arrays, &step.rows())?;
            seen.iter_mut().for_each(|seen| seen.take(&step.arrays, &step.rows(), pass.team));
            spent.iter_mut().zip(&step.spent).for_each(|(sum, one)| *sum += *one);
            tell(how.progress, step.spent.iter().map(|spent| spent.compressed).sum())?;
            if !is_enough(&pass) {
                return Ok(ControlFlow::Continue(()));
            }
            stop = step.rows().end();
            Ok(ControlFlow::Break(()))
        })?;
        let known = decided.take(named, stop, &mut pass.counts);
        let names: Vec<String> = self.places().filter_map(|place| Some(cuts.get(place)?.text.clone())).collect();
        let read = columns.iter().copied().zip(spent).collect();
        Ok(Selected { cuts: pass.counts.finish(&names), entries: pass.passed.finish().union(&known), read })
    }

    /// The columns of all cuts and of the weight, each once.
    fn columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = Vec::new();
        let needed = self.conditions.iter().flat_map(|(_, condition)| condition.columns());
        for column in needed.chain(self.weight.iter().flat_map(Program::columns)) {
            if !columns.contains(column) {
                columns.push(*column);
            }
        }
        columns
    }
}

/// One pass over the entries of a table.
struct Pass<'a> {
    cuts: &'a TableCuts,
    /// The columns that are read.
    columns: &'a [usize],
    team: Option<&'a ThreadPool>,
    passed: EntrySetBuilder,
    /// How many have passed.
    number: u64,
    counts: Counts,
}

/// Entries that were tested together.
struct Tested {
    /// The weight of each, if there is one.
    weights: Vec<f64>,
    /// Those that passed each cut and all before it.
    passed: Vec<BooleanBuffer>,
}

impl Pass<'_> {
    /// Tests the next entries.
    fn take(&mut self, arrays: &[ArrayRef], rows: &EvaluatedRows<'_>) -> Result<()> {
        let test = |part: &Range<usize>| self.test(&rows.arrays(arrays, part), part.len(), rows.entries(part));
        for (part, tested) in in_parts(self.team, rows.count, test)? {
            let numbers = rows.numbers.map(|numbers| numbers.get(part.clone()).unwrap_or_default());
            self.count(&tested, part.len(), rows.first + part.start as u64, numbers);
        }
        Ok(())
    }

    /// Tests some entries.
    fn test(&self, arrays: &[ArrayRef], rows: usize, entries: Entries<'_>) -> Result<Tested> {
        let of = |columns: &[usize]| columns_of(self.columns, arrays, columns);
        let weights = match &self.cuts.weight {
            Some(weight) => weight.numbers(&of(weight.columns()), rows, entries).map_err(|e| refused(&e, WEIGHT))?,
            None => Vec::new(),
        };
        let mut passed = Vec::with_capacity(self.cuts.conditions.len());
        let mut left = BooleanBuffer::new_set(rows);
        for (_, condition) in &self.cuts.conditions {
            if left.count_set_bits() > 0 {
                let own = condition.passed_of(&of(condition.columns()), rows, entries);
                left = &left & &own.map_err(|e| refused(&e, CUT))?;
            }
            passed.push(left.clone());
        }
        Ok(Tested { weights, passed })
    }

    /// Adds entries that were tested, from this one on, or with these numbers.
    fn count(&mut self, tested: &Tested, rows: usize, first: u64, numbers: Option<&[u64]>) {
        let Tested { weights, passed } = tested;
        self.counts.add(0, rows, weights.iter().copied());
        for (number, passed) in passed.iter().enumerate() {
            let weights = passed.set_indices().filter_map(|row| weights.get(row).copied());
            self.counts.add(number + 1, passed.count_set_bits(), weights);
        }
        let Some(passed) = passed.last() else { return };
        self.number += passed.count_set_bits() as u64;
        match numbers {
            Some(numbers) => {
                let picked = passed.set_indices().filter_map(|row| numbers.get(row).copied());
                picked.for_each(|entry| self.passed.push(entry..entry + 1));
            }
            None => {
                for (start, end) in passed.set_slices() {
                    self.passed.push(first + start as u64..first + end as u64);
                }
            }
        }
    }
}
