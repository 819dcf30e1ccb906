//! What decides: what a file holds and what is wrong with it ([`inspect`]), what columns cost ([`cost`]), which layout is best
//! under limits ([`tune`]), and what fewer bits for numbers would save ([`precision`]).

pub mod cost;
pub mod inspect;
pub mod precision;
pub mod tune;
