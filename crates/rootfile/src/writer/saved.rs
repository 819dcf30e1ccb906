//! The state that the last AutoSave wrote.

use super::gaps::{Gaps, Run};
use super::trailer::Trailer;

/// The records of the last AutoSave.
#[derive(Default)]
pub(super) struct Saved {
    /// Bytes that the saved state does not use.
    pub gaps: Gaps,
    pub trailer: Trailer,
    pub objects: Vec<Run>,
    pub lists: Vec<SavedList>,
    /// A hash of the streamer infos, to detect changes.
    pub infos: u64,
    /// Whether the file ends before the gaps at its end: nothing is appended to it any more.
    pub is_final: bool,
}

/// The content of a list of keys: the list is reused if its directory has not changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct SavedList {
    pub keys: usize,
    pub objects: usize,
}

impl Saved {
    /// The records that are unused once the next state is on disk. `kept` are the lists that the next state still uses.
    pub fn retired_but(&self, kept: &[bool], keep_infos: bool) -> Vec<Run> {
        let run = |&(first, len): &(u64, u32)| Run { first, len: u64::from(len) };
        let lists = self.trailer.lists.iter().enumerate();
        let lists = lists.filter(|(i, _)| !kept.get(*i).is_some_and(|kept| *kept)).map(|(_, list)| run(list));
        let infos = (!keep_infos).then(|| run(&self.trailer.infos));
        let free = run(&(self.trailer.free.0, self.trailer.free.1));
        let all = self.objects.iter().copied().chain(lists).chain(infos).chain([free]);
        all.filter(|run| run.len > 0).collect()
    }

    /// All records of the state.
    pub fn retired(&self) -> Vec<Run> {
        self.retired_but(&[], false)
    }

    /// The gaps once these records are unused; `None` means all records of the state.
    pub fn gaps_after(&self, retired: Option<&[Run]>) -> Gaps {
        let mut gaps = self.gaps.clone();
        match retired {
            Some(retired) => retired.iter().for_each(|&run| _ = gaps.add(run)),
            None => self.retired().into_iter().for_each(|run| _ = gaps.add(run)),
        }
        gaps
    }

    /// The gaps once these records are unused, and the end of the file, which is `position` or before it.
    pub fn left_by(&self, retired: &[Run], position: u64) -> (Gaps, u64) {
        let mut gaps = self.gaps_after(Some(retired));
        let end = if self.is_final { gaps.cut(position) } else { position };
        (gaps, end)
    }
}
