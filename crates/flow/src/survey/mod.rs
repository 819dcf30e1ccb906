//! Facts about many files, each opened once: whether they are whole ([`check`]), in which steps a job reads them
//! ([`fileset`]), by which sizes a plan divides them ([`sizes`]), whether they have what users name ([`wanted`], [`ahead`]), and which table
//! is meant ([`decided`]). A file that cannot be read is a result here, not an error. Nothing is decoded, and nothing is written.

pub mod ahead;
pub mod check;
pub mod decided;
pub mod fileset;
pub mod sizes;
pub mod tables;
pub mod wanted;
