//! The state that the last AutoSave wrote.

use super::gaps::{Gaps, Run};
use super::trailer::Trailer;

/// What the last AutoSave wrote, and where it lies.
#[derive(Default)]
pub(super) struct Saved {
    /// Bytes that the state on disk does not use.
    pub gaps: Gaps,
    pub trailer: Trailer,
    pub objects: Vec<Run>,
    pub lists: Vec<SavedList>,
    /// Tells whether the streamer infos are still those.
    pub infos: u64,
}

/// A list of keys, as long as it tells all that is in its directory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SavedList {
    pub keys: usize,
    pub objects: usize,
}

impl Saved {
    /// The records that nobody needs when the next state, with these lists and infos of this one still in use, holds.
    pub fn retired_but(&self, kept: &[bool], keep_infos: bool) -> Vec<Run> {
        let run = |&(first, len): &(u64, u32)| Run { first, len: u64::from(len) };
        let lists = self.trailer.lists.iter().enumerate();
        let lists = lists.filter(|(i, _)| !kept.get(*i).is_some_and(|kept| *kept)).map(|(_, list)| run(list));
        let infos = (!keep_infos).then(|| run(&self.trailer.infos));
        let free = run(&(self.trailer.free.0, self.trailer.free.1));
        let all = self.objects.iter().copied().chain(lists).chain(infos).chain([free]);
        all.filter(|run| run.len > 0).collect()
    }

    /// All that the state wrote.
    pub fn retired(&self) -> Vec<Run> {
        self.retired_but(&[], false)
    }

    /// The gaps when these records are none any more, or all of the state's.
    pub fn gaps_after(&self, retired: Option<&[Run]>) -> Gaps {
        let mut gaps = self.gaps.clone();
        match retired {
            Some(retired) => retired.iter().for_each(|&run| _ = gaps.add(run)),
            None => self.retired().into_iter().for_each(|run| _ = gaps.add(run)),
        }
        gaps
    }
}
