//! The engine: runs the tasks of a job on threads and appends the records they make in order.
//!
//! [`run`] starts workers, [`tasks`] deals out tasks in the order of the output, a [`worker`] copies, recompresses,
//! regroups or recodes, and the [`queue`] appends in order, within its share of the budget.

mod copy;
pub(crate) mod job;
pub(crate) mod pages;
mod queue;
pub(crate) mod recode;
pub(crate) mod recode_job;
mod regroup;
pub(crate) mod run;
mod scratch;
mod task_error;
mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod work;
mod worker;
