//! What measures, and leaves decisions to its user: any job over time ([`monitor`]; its [`record`]s afterwards), how fast a file is read ([`readspeed`]), a grid of
//! layouts ([`sweep`]), and pages of what was measured ([`report`]).

pub mod monitor;
pub mod readspeed;
pub mod record;
pub mod report;
pub mod sweep;
