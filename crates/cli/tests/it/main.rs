//! The integration tests of the cli crate, in one program, so that its libraries are linked once.

mod no_room;
