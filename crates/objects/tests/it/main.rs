//! The integration tests of the objects crate, in one program, so that its libraries are linked once.

mod plan_and_write;
