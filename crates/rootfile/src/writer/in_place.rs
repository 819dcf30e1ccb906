//! A file that is updated where it lies: what was written is behind its old end or in its gaps until the first bytes of the file are
//! written anew, which is one write.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::syncs::timed;
use crate::descriptors::Updating;
use crate::{Error, Result};

/// An open file that is updated.
pub(super) struct InPlace {
    pub file: File,
    /// Its first bytes and its size before, to which it returns if it is not switched.
    before: (Vec<u8>, u64),
    /// What makes the new state that of the file.
    switch: Option<Switch>,
    is_switched: bool,
    _updating: Updating,
}

/// The writes that are left once all new records are on disk.
pub(super) struct Switch {
    /// The first bytes of the file.
    pub head: Vec<u8>,
    /// Marks of gaps, with their positions.
    pub marks: Vec<(u64, [u8; 4])>,
    /// The end of the new state.
    pub end: u64,
}

impl InPlace {
    /// A file with these first bytes and this size.
    pub fn new(file: File, head: Vec<u8>, size: u64) -> std::io::Result<Self> {
        let updating = Updating::of(&file)?;
        Ok(Self { file, before: (head, size), switch: None, is_switched: false, _updating: updating })
    }

    /// Takes note of what is left to do.
    pub fn prepare(&mut self, switch: Switch) {
        self.switch = Some(switch);
    }

    /// What is left to do.
    #[cfg(test)]
    pub fn left(&self) -> Option<&Switch> {
        self.switch.as_ref()
    }

    /// Whether the file is still the one that was read.
    fn is_same(&self) -> bool {
        let mut head = vec![0; self.before.0.len()];
        self.file.read_exact_at(&mut head, 0).is_ok() && head == self.before.0
    }

    /// Switches readers to the new state. Returns when that is on disk.
    pub fn switch(mut self) -> Result<()> {
        let Some(switch) = self.switch.take() else { return Err(Error::request("the update has not ended")) };
        if !self.is_same() {
            return Err(Error::request("another program has changed the file meanwhile"));
        }
        self.is_switched = true;
        self.file.write_all_at(&switch.head, 0)?;
        timed(|| self.file.sync_data())?;
        // Readers do not need the marks: a scan of the records does, and the next update.
        for (at, mark) in &switch.marks {
            self.file.write_all_at(mark, *at)?;
        }
        if self.before.1 > switch.end {
            self.file.set_len(switch.end)?;
        }
        timed(|| self.file.sync_all())?;
        Ok(())
    }
}

impl Drop for InPlace {
    /// What was written behind the end of a file that stays as it was goes.
    fn drop(&mut self) {
        if !self.is_switched && self.is_same() {
            let _ = self.file.set_len(self.before.1);
        }
    }
}
