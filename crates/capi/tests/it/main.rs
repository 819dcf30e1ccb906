//! Tests of the interface from outside: its header is that of the source.

mod header;
