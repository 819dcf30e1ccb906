//! The work on trees: [`tasks`] deals out tasks in the order of the output, a [`worker`] copies, recompresses, regroups or recodes, and
//! [`run`] runs them within their share of the budget.

mod copy;
pub(crate) mod job;
pub(crate) mod recode;
pub(crate) mod recode_job;
mod regroup;
pub(crate) mod run;
mod scratch;
pub(super) mod tasks;
#[cfg(test)]
mod tests;
pub(crate) mod trial;
mod worker;
