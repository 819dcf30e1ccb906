//! The engine: the jobs of trees and RNTuples, as [`work`](crate::execute::pipeline::Work) of a pipeline.
//!
//! [`tasks`] deals out tasks in the order of the output, a [`worker`] copies, recompresses, regroups or recodes, and [`run`] runs them
//! within their share of the budget.

mod copy;
pub(crate) mod job;
pub(crate) mod pages;
pub(crate) mod recode;
pub(crate) mod recode_job;
mod regroup;
pub(crate) mod run;
mod scratch;
mod tasks;
#[cfg(test)]
mod tests;
mod worker;
