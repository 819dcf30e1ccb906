//! What the bytes of a branch mean, as values that can be compared: its leaves with their ranges, dimensions and counters, or
//! its class and member, and the descriptions of all classes that its values use. Bytes of two branches may be taken for
//! each other only under equal meanings.
//!
//! | module | job |
//! |---|---|
//! | `branch` | a branch's own metadata: [`BranchMeaning`] |
//! | `element` | a member or base of a class, by what it says about bytes |
//! | `conflict` | classes that two sets of streamer infos describe differently under one version: [`ClassConflicts`] |
//! | `growth` | which of two descriptions of a class has all members of the other: [`Growth`]; classes with versions that lack some: [`OutgrownClass`] |
//! | `reach` | the classes that the values of a type use: [`Reach`] |
//!
//! Nothing is read here but metadata. Titles, comments and names of types count only where bytes depend on them. Other
//! versions of a class are no conflict: objects say which version they have.

mod branch;
mod conflict;
mod element;
mod growth;
mod reach;

pub use branch::{BranchMeaning, Meanings};
pub use conflict::{ClassConflict, ClassConflicts};
pub use growth::{Growth, OutgrownClass};
pub use reach::Reach;
