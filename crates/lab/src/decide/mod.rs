//! What decides: what a file holds and what is wrong with it ([`inspect`]), what columns cost ([`cost`]), and which layout is best
//! under limits ([`tune`]).

pub mod cost;
pub mod inspect;
pub mod tune;
