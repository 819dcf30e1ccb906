//! Memory for contexts that do not wait: they are refused, hand back to their callers, and are called again.

use rootfile::Result;

use super::commit_order::Ticket;
use super::committer::Committer;
use super::memory_limiter::AtStandstill;
use super::refusal::Refusal;

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
    pub fn may_go_on(&self, ticket: &Ticket, refused: &mut Refusal) -> Result<bool> {
        let most = self.pool.memory_limiter.cluster_limit();
        let may = |committer: &Self| committer.pool.memory_limiter.may_grow(committer.position(ticket, most));
        if may(self)? {
            refused.end();
            return Ok(true);
        }
        if !refused.is_in_vain(self.pool.memory_limiter.releases()) {
            return Ok(false);
        }
        Ok(self.make_room(most)? == AtStandstill::GoOn || may(self)?)
    }

    /// Reserves more for a cluster that is being filled, whether or not it is free.
    pub fn grow_at_once(&self, held: u64, more: u64) {
        self.pool.memory_limiter.resize(held, held + more);
    }
}
