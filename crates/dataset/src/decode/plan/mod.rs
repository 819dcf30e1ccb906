//! The planner: makes the decode program of a branch from the tree's metadata and the streamer infos. It reads no entries.

mod arrays;
pub(crate) mod branch;
mod class;
mod conversion;
pub(crate) mod leaves;
mod member;
pub(crate) mod parts;
#[cfg(test)]
mod tests;
