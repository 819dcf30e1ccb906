//! Memory for contexts that do not wait: they are refused, hand back to their callers, and are called again.

use rootfile::Result;

use super::commit_order::Ticket;
use super::committer::Committer;
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
    /// Reserves memory for a cluster of a task, but does not wait: None if there is none. Where nothing was released for a while since `refused`,
    /// nobody will: then clusters that wait to be appended make room, or the cluster begins with what there is, up to a share.
    pub fn reserve_at_once(&self, bytes: u64, ticket: &Ticket, refused: &mut Refusal) -> Result<Option<u64>> {
        refused.begin();
        let (limiter, most) = (&self.pool.memory_limiter, self.pool.memory_limiter.cluster_limit());
        let mut taken = limiter.try_reserve(bytes, self.position(ticket, most), false)?;
        if taken.is_none() && (limiter.is_short() || refused.is_in_vain(limiter.releases())) {
            self.make_room(bytes + most)?;
            taken = limiter.try_reserve(bytes, self.position(ticket, most), false)?;
            if taken.is_none() {
                taken = limiter.reserve_anyway(bytes);
                refused.force();
            }
        }
        if taken.is_some() {
            refused.end();
        }
        Ok(taken)
    }

    /// Whether a cluster that is being filled and has `held` bytes may take more now, by a context that does not wait.
    pub fn may_go_on(&self, held: u64, ticket: &Ticket, refused: &mut Refusal) -> Result<GoesOn> {
        let (limiter, most) = (&self.pool.memory_limiter, self.pool.memory_limiter.cluster_limit());
        if limiter.may_grow(STEP, self.position(ticket, most))? {
            refused.end();
            return Ok(GoesOn::Yes);
        }
        if !refused.is_forced() {
            if !refused.is_in_vain(limiter.releases()) {
                return Ok(GoesOn::NotNow);
            }
            self.make_room(most)?;
            refused.force();
        }
        Ok(if held + STEP <= limiter.share() { GoesOn::Yes } else { GoesOn::Ends })
    }

    /// Reserves more for a cluster that is being filled, whether or not it is free.
    pub fn grow_at_once(&self, held: u64, more: u64) {
        self.pool.memory_limiter.resize(held, held + more);
    }
}
