//! Memory for contexts that do not wait: they are refused, hand back to their callers, and are called again.

use rootfile::Result;

use super::commit_order::Ticket;
use super::committer::Committer;
use super::memory_limiter::AtStandstill;
use super::refusal::Refusal;

/// A cluster that is being filled goes on where so many bytes are free.
const STEP: u64 = 64 << 10;

/// What becomes of a cluster that is being filled by a context that does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoesOn {
    Yes,
    /// Its context hands back.
    NotNow,
    /// It ends here, where nobody releases memory: then it waits to be appended, and can be moved out of memory.
    Ends,
}

impl Committer {
    /// Reserves memory for a cluster of a task, but does not wait: None if there is none. Where nothing was released for a while since `refused`, nobody will: then
    /// clusters that wait to be appended make room, or the cluster begins with too little memory.
    pub fn reserve_at_once(&self, bytes: u64, ticket: &Ticket, refused: &mut Refusal) -> Result<Option<u64>> {
        let most = self.pool.memory_limiter.cluster_limit();
        if let Some(taken) = self.pool.memory_limiter.try_reserve(bytes, self.position(ticket, most))? {
            refused.end();
            return Ok(Some(taken));
        }
        if !refused.is_in_vain(self.pool.memory_limiter.releases()) {
            return Ok(None);
        }
        let taken = match self.make_room(bytes + most)? {
            AtStandstill::Report => self.pool.memory_limiter.try_reserve(bytes, self.position(ticket, most))?,
            AtStandstill::GoOn => self.pool.memory_limiter.reserve_anyway(bytes),
        };
        if taken.is_some() {
            refused.end();
        }
        Ok(taken)
    }

    /// Whether a cluster that is being filled may take more memory now, by a context that does not wait.
    pub fn may_go_on(&self, ticket: &Ticket, refused: &mut Refusal) -> Result<GoesOn> {
        let most = self.pool.memory_limiter.cluster_limit();
        let may = |committer: &Self| committer.pool.memory_limiter.may_grow(STEP, committer.position(ticket, most));
        if may(self)? {
            refused.end();
            return Ok(GoesOn::Yes);
        }
        if !refused.is_in_vain(self.pool.memory_limiter.releases()) {
            return Ok(GoesOn::NotNow);
        }
        if self.make_room(most)? == AtStandstill::GoOn {
            return Ok(GoesOn::Ends);
        }
        Ok(if may(self)? { GoesOn::Yes } else { GoesOn::NotNow })
    }

    /// Reserves more for a cluster that is being filled, whether or not it is free.
    pub fn grow_at_once(&self, held: u64, more: u64) {
        self.pool.memory_limiter.resize(held, held + more);
    }
}
