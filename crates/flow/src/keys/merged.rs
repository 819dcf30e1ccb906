//! Sorted runs as one: all rows in the order of keys, and those of a key in the order of places. The order does not depend on which rows
//! were in which run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rootfile::Result;

use super::row::Row;
use super::runs::RunReader;

/// Rows that are given out at once.
const BLOCK: usize = 1 << 16;

/// A sorted run.
#[derive(Debug)]
pub(super) enum Run {
    Memory(std::vec::IntoIter<Row>),
    Disk(RunReader),
}

impl Run {
    fn next(&mut self) -> Result<Option<Row>> {
        match self {
            Self::Memory(rows) => Ok(rows.next()),
            Self::Disk(reader) => reader.next(),
        }
    }
}

/// The rows of all runs in their order.
#[derive(Debug)]
pub(crate) struct Merged {
    runs: Vec<Run>,
    /// The next row of each run that has one.
    next: BinaryHeap<Reverse<(Row, usize)>>,
    block: Vec<Row>,
}

impl Merged {
    pub(super) fn new(mut runs: Vec<Run>) -> Result<Self> {
        let mut next = BinaryHeap::with_capacity(runs.len());
        for (number, run) in runs.iter_mut().enumerate() {
            next.extend(run.next()?.map(|row| Reverse((row, number))));
        }
        Ok(Self { runs, next, block: Vec::new() })
    }

    /// The next rows. There are no more if there is none.
    pub fn next_block(&mut self) -> Result<&[Row]> {
        self.block.clear();
        while self.block.len() < BLOCK {
            let Some(mut top) = self.next.peek_mut() else { break };
            let Reverse((row, number)) = *top;
            self.block.push(row);
            match self.runs.get_mut(number).map(Run::next).transpose()?.flatten() {
                Some(row) => *top = Reverse((row, number)),
                None => drop(PeekMut::pop(top)),
            }
        }
        Ok(&self.block)
    }

    /// Calls `take` with all rows.
    pub fn each_block(&mut self, mut take: impl FnMut(&[Row]) -> Result<()>) -> Result<()> {
        loop {
            match self.next_block()? {
                [] => return Ok(()),
                rows => take(rows)?,
            }
        }
    }
}
