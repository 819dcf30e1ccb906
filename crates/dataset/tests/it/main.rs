//! The integration tests of the dataset crate, in one program, so that its libraries are linked once. `ntuple_corrupt` is a program
//! of its own: its allocator limits the memory of the whole process.

mod corpus;
mod decode_arrays;
mod decode_corpus;
mod decode_corrupt;
mod decode_types;
mod encode_corpus;
mod layout_root;
mod logical_columns_corpus;
mod logical_columns_types;
mod make_corpus;
mod ntuple_envelopes;
mod ntuple_metadata;
mod ntuple_values;
mod old_trees;
mod oracle;
mod types;
