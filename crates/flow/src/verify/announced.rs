//! What the next tasks of a comparison will read of remote files, announced before they run.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use dataset::table::FileRange;
use dataset::table::piece::Piece;

use super::tasks::Task;
use crate::execute::budget::Share;
use crate::execute::fetch::read_ahead::{ReadAhead, place};
use crate::table::piece::Files;
use crate::table::tree::column::Column;

/// The files of both sides, of which the bytes of later tasks are asked for ahead.
pub(super) struct Announced {
    sides: [ReadAhead; 2],
    /// The first task that is not announced.
    next: Mutex<usize>,
}

impl Announced {
    /// Files of both sides. Reading ahead takes a part of the share's waiting memory.
    pub fn new(files: [&Files; 2], share: Share) -> Self {
        let side = |files: &Files| ReadAhead::over(files, ReadAhead::room(files, share.waiting / 2));
        Self { sides: files.map(side), next: Mutex::new(0) }
    }

    /// The files of both sides.
    pub fn files(&self) -> [&Files; 2] {
        self.sides.each_ref().map(ReadAhead::files)
    }

    /// Announces the tasks up to this one, and later ones while there is room for their bytes.
    pub fn begin(&self, number: usize, tasks: &[Task], places: &dyn Fn(&Task, usize) -> Vec<FileRange>) {
        if !self.sides.iter().any(ReadAhead::fetches) {
            return;
        }
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        while *next <= number || self.sides.iter().any(ReadAhead::wants_more) {
            let Some(task) = tasks.get(*next) else { return };
            for (number, side) in self.sides.iter().enumerate().filter(|(_, side)| side.fetches()) {
                side.announce(places(task, number));
            }
            *next += 1;
        }
    }
}

/// Where a column has some entries.
pub(super) fn places(column: &Column, entries: &Range<u64>) -> Vec<FileRange> {
    column.source.pieces_with(entries).iter().filter_map(Piece::record).map(|record| place(&record)).collect()
}
