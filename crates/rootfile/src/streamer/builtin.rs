//! Streamer infos of ROOT's own classes as ROOT 6 has them, for files that lack theirs and for the files
//! that basketry writes.

use std::sync::{Arc, OnceLock};

use super::StreamerInfo;

/// All built-in infos.
pub fn infos() -> &'static [Arc<StreamerInfo>] {
    static INFOS: OnceLock<Vec<Arc<StreamerInfo>>> = OnceLock::new();
    INFOS.get_or_init(Vec::new)
}
