//! The integration tests of the rootfile crate, in one program, so that its libraries are linked once.

mod codec;
mod codec_corpus;
mod codec_root;
mod corpus;
mod corpus_objects;
mod describe_corpus;
