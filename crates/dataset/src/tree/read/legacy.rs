//! Versions of tree classes that were written by hand-made streamers, before streamer infos described them.

use rootfile::Result;
use rootfile::object::tags::Frame;
use rootfile::object::{Content, CustomStreamer, ObjectReader};

/// The hand-made streamers.
pub struct OldStreamers;

impl CustomStreamer for OldStreamers {
    fn read(&self, _class: &str, _frame: Frame, _reader: &mut ObjectReader<'_>) -> Result<Option<Content>> {
        Ok(None)
    }
}
