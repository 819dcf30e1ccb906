//! The integration tests of the flow crate, in one program, so that its libraries are linked once. Programs of their own are
//! `corrupt` and `resealed`, whose allocators limit the memory of the whole process, and `write_model`, where the modules of the
//! writer are compiled once more, with the locks of loom.

mod any_layout;
mod convert;
mod convert_corpus;
mod corpus_rewrite;
mod damaged_keys;
mod ended;
mod gather;
mod late_columns;
mod memory_container;
mod nested_deferred;
mod pages_once;
mod proofs;
mod read;
mod read_ntuples;
mod recode;
mod recoded;
mod select;
mod skipped;
mod support;
mod table_conversions;
mod verify;
mod write;
