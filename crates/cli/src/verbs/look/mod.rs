//! The verbs that show what is in files: `ls`, `show`, `count`, `schema`, `stats` and `draw`. `lab::look` finds it; here it is printed.

mod bins;
pub mod count;
pub mod draw;
pub mod ls;
mod picture;
pub mod schema;
pub mod show;
pub mod stats;
