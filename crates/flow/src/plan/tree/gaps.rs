//! Completes the columns of a plan where an input's branch holds fewer or more entries than its tree: with defaults in the places
//! that no basket holds, and without the entries behind the tree's end where another input follows.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::DataType;
use dataset::decode::ColumnPlan;
use dataset::defaults::{self, DefaultItems};
use dataset::table::piece::Piece;
use dataset::tree::{Branch, Places};
use rootfile::{Error, Hint, Result, RootFile};

use super::builder::{PlanBuilder, holds_entries};
use super::unequal::{Gaps, Missing, push_defaults, refusal};
use crate::table::tree::column::{CountedDefaults, CountedOffsets, DefaultBytes};
use crate::table::tree::default_entry::{default_entry, item_width, leaf_width};

impl PlanBuilder<'_> {
    /// The entries of an input that get defaults, because its branch does not hold them. The column is prepared for them.
    pub fn gaps_of(
        &mut self,
        index: usize,
        branch: &Branch,
        (base, entries): (u64, u64),
        file: &RootFile,
    ) -> Result<Vec<Range<u64>>> {
        let Some(column) = self.columns.get(index) else { return Ok(Vec::new()) };
        let nothing_yet = column.source.pieces.is_empty();
        // A branch that no input has filled stays so.
        if entries == 0 || (nothing_yet && !branch.is_filled()) {
            return Ok(Vec::new());
        }
        if nothing_yet && base > 0 {
            let words = format!("0 of {base} entries");
            self.fill_in(index, 0, base, Missing::Entries(file, &words))?;
        }
        let mut gaps = branch.gaps(entries);
        if self.gaps == Gaps::Fill
            && self.request.is_one_whole()
            && gaps.pop_if(|last| last.end == entries && branch.end() <= last.start).is_some()
            && let Some(column) = self.columns.get_mut(index)
        {
            column.source.ends_early = true;
        }
        let (Some(first), Some(last)) = (gaps.first(), gaps.last()) else { return Ok(gaps) };
        let missing: u64 = gaps.iter().map(|gap| gap.end - gap.start).sum();
        let words = format!("{} of {entries} entries", entries - missing);
        let is_last = branch.is_filled() && first == last && last.end == entries && branch.end() <= last.start;
        Ok(if self.prepare_fill(index, Missing::Entries(file, &words), is_last)? { gaps } else { Vec::new() })
    }

    /// Finds the default entry of a column, if it has none yet. Whether there is one: without, gaps that nothing follows may stay.
    pub fn prepare_fill(&mut self, index: usize, why: Missing<'_>, is_last: bool) -> Result<bool> {
        if self.columns.get(index).is_some_and(|column| column.source.fill.is_some()) {
            return Ok(true);
        }
        let found = self.default_of(index);
        let (Some(column), Some(branch)) = (self.columns.get_mut(index), self.tree.branches.get(index)) else {
            return Ok(false);
        };
        match found {
            Ok(entry) => column.source.fill = Some(entry),
            Err(kind) => {
                let error = refusal(branch.name(), &kind, why);
                match (self.gaps, why, is_last) {
                    (Gaps::Compare | Gaps::Keep | Gaps::LeftOut, Missing::Entries(..), _) => {}
                    (Gaps::Fill, Missing::Entries(..), true) => {
                        column.source.ends_early = true;
                        self.unequal.leave_open(index, error);
                    }
                    _ => return Err(error),
                }
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The default entry of a column; or what has none.
    fn default_of(&self, index: usize) -> std::result::Result<Vec<u8>, String> {
        let branch = self.tree.branches.get(index).ok_or("no branch")?;
        let plain = default_entry(&self.tree, branch);
        if branch
            .element()
            .is_none_or(|element| element.element_id < 0 || matches!(element.element_type, 1..=4 | 31 | 41))
        {
            return plain;
        }
        let plan = ColumnPlan::new(&self.tree, index, &self.infos);
        // Texts and bitsets have streamer types of containers, but other empty values.
        let is_special = matches!(plan.field().data_type(), DataType::FixedSizeList(..) | DataType::LargeUtf8);
        match plain {
            Ok(entry) if !is_special => Ok(entry),
            plain => defaults::default_entry(&plan).or(plain),
        }
    }

    /// Finds the default entries of all columns with entries, for rows that are no entry. Where the table has none at all, these are the
    /// columns that could have some.
    pub fn prepare_missing_rows(&mut self) -> Result<()> {
        let is_empty = self.columns.iter().all(|column| column.source.pieces.is_empty());
        for index in 0..self.columns.len() {
            let could_have = is_empty && self.tree.branches.get(index).is_some_and(holds_entries);
            let has_entries = self.columns.get(index).is_some_and(|column| !column.source.pieces.is_empty());
            if (has_entries || could_have) && !self.left_out.contains(&index) {
                self.prepare_fill(index, Missing::Row, false)?;
            }
        }
        Ok(())
    }

    /// Adds default entries for a branch that an input lacks, if the branch has entries of its own.
    pub fn fill_in(&mut self, index: usize, base: u64, entries: u64, why: Missing<'_>) -> Result<()> {
        let (Some(column), Some(branch)) = (self.columns.get(index), self.tree.branches.get(index)) else {
            return Ok(());
        };
        if column.source.pieces.is_empty() && !holds_entries(branch) {
            return Ok(());
        }
        if self.prepare_fill(index, why, false)?
            && let Some(column) = self.columns.get_mut(index)
        {
            push_defaults(&mut column.source, base..base + entries)?;
        }
        Ok(())
    }

    /// Prepares for entries from `base` on: no column reaches further, and none has ended early without a default.
    pub fn end_inputs_at(&mut self, base: u64) -> Result<()> {
        if let Some(error) = self.unequal.take_open(|column| !self.left_out.contains(&column)) {
            return Err(error);
        }
        for column in &mut self.columns {
            column.source.cut(base);
        }
        Ok(())
    }

    /// Ends all columns with the tree, unless it is one whole tree, and takes over the notes.
    ///
    /// # Errors
    ///
    /// If entries are selected, and a column has no default for those that it does not hold.
    pub fn finish_gaps(&mut self, selects: bool) -> Result<()> {
        if selects {
            self.end_inputs_at(self.entries)?;
        }
        if self.gaps.fills() && !self.request.is_one_whole() {
            for column in &mut self.columns {
                column.source.cut(self.entries);
            }
        }
        let found = std::mem::take(&mut self.unequal);
        self.notes.extend(found.finish());
        Ok(())
    }

    /// Fills all columns with defaults if none has entries, but the tree has: its entries would be in no branch.
    pub fn fill_all(&mut self) -> Result<()> {
        let is_empty = self.columns.iter().all(|column| column.source.pieces.is_empty());
        if self.gaps == Gaps::Fill && is_empty && self.entries > 0 {
            for index in 0..self.columns.len() {
                if self.tree.branches.get(index).is_some_and(holds_entries)
                    && self.prepare_fill(index, Missing::All, false)?
                    && let Some(column) = self.columns.get_mut(index)
                {
                    push_defaults(&mut column.source, 0..self.entries)?;
                }
            }
        }
        Ok(())
    }

    /// Links columns with default entries to the branches that count the items of these.
    ///
    /// # Errors
    ///
    /// If default entries of a counter stand beside entries that it counts.
    pub fn link_filled(&mut self) -> Result<()> {
        let is_filled = |pieces: &[Piece]| pieces.iter().any(Piece::is_default);
        if !self.columns.iter().any(|column| is_filled(&column.source.pieces)) {
            return Ok(());
        }
        let places = self.tree.places();
        for i in 0..self.columns.len() {
            for counter in places.counters(&self.tree, i) {
                self.check_counter(i, counter)?;
            }
            if !self.columns.get(i).is_some_and(|column| is_filled(&column.source.pieces)) {
                continue;
            }
            let counted = self.defaults_by_leaf(i, &places).or_else(|| self.defaults_by_branch(i, &places));
            if let (Some(column), Some(counted)) = (self.columns.get_mut(i), counted) {
                column.form.filled = Some(counted);
            }
        }
        Ok(())
    }

    /// Checks that where a counter has defaults, what it counts has defaults, too: otherwise its items could not be found.
    fn check_counter(&self, counted: usize, counter: usize) -> Result<()> {
        let (Some(column), Some(counter)) = (self.columns.get(counted), self.columns.get(counter)) else {
            return Ok(());
        };
        for gap in counter.source.pieces.iter().filter(|piece| piece.is_default()) {
            let beside = column.source.overlapping(&(gap.first_entry..gap.end()));
            let beside = column.source.pieces.get(beside).unwrap_or_default();
            if let Some(piece) = beside.iter().find(|piece| !piece.is_default()) {
                let drop = Hint::named("drop").that("leaves the branches out");
                let message = format!(
                    "has no entries from {} on, but branch {}, whose items it counts, has; {}",
                    gap.first_entry.max(piece.first_entry),
                    column.name,
                    drop.clause()
                );
                let error = Error::request(message).hint(drop);
                return Err(error.object(format!("branch {}", counter.name)));
            }
        }
        Ok(())
    }

    /// The lengths of default entries of a branch with a leaf that another leaf counts.
    fn defaults_by_leaf(&self, i: usize, places: &Places) -> Option<CountedDefaults> {
        let branch = self.tree.branches.get(i)?;
        let (mut each, mut besides, mut counter) = (0u32, 0u32, None);
        for leaf in branch.leaves.iter().filter_map(|&l| self.tree.leaves.get(l)) {
            let len = u32::try_from(leaf_width(leaf)).unwrap_or(u32::MAX);
            match leaf.leaf_count.and_then(|id| self.tree.leaves.get(places.leaf(id)?)) {
                Some(found) => {
                    each = each.saturating_add(len);
                    counter = Some(found);
                }
                None => besides = besides.saturating_add(len),
            }
        }
        let counter = counter.filter(|c| (1..=8).contains(&c.len_type) && c.branch != i)?;
        let counting = self.tree.branches.get(counter.branch)?;
        let before = counting.leaves.iter().filter_map(|&l| self.tree.leaves.get(l));
        let at = before.take_while(|l| l.id != counter.id).map(leaf_width).sum();
        let width = counter.len_type.max(0).unsigned_abs() as usize;
        let counter = Arc::new(self.columns.get(counter.branch)?.only_source());
        let counts = CountedOffsets { counter, at, width, each, besides, number: each };
        Some(CountedDefaults { counts, items: DefaultBytes::Zeros })
    }

    /// The default entries of a member of a split collection.
    fn defaults_by_branch(&self, i: usize, places: &Places) -> Option<CountedDefaults> {
        let element = self.tree.branches.get(i)?.element().filter(|e| matches!(e.element_type, 31 | 41))?;
        let counter = places.branch(element.branch_count?).filter(|counter| *counter != i)?;
        let counter = Arc::new(self.columns.get(counter)?.only_source());
        let width = item_width(element.streamer_type).filter(|_| element.branch_count2.is_none());
        let items = match width {
            Some(_) => DefaultBytes::Zeros,
            None => DefaultItems::of(&ColumnPlan::new(&self.tree, i, &self.infos))
                .map_or(DefaultBytes::Unknown, DefaultBytes::Encoded),
        };
        let (besides, each) = match &items {
            DefaultBytes::Encoded(items) => items.sizes(),
            _ => (0, width.unwrap_or(0)),
        };
        let (besides, each) = (u32::try_from(besides).ok()?, u32::try_from(each).ok()?);
        let counts = CountedOffsets { counter, at: 0, width: 4, each, besides, number: each };
        Some(CountedDefaults { counts, items })
    }
}
