//! The context of a comparison of two trees: options, and facts about the two sides.

use rootfile::streamer::StreamerInfos;

use super::options::VerifyOptions;

/// What a comparison of two trees needs beside their plans.
pub(super) struct Context<'a> {
    pub path: &'a str,
    pub options: &'a VerifyOptions,
    /// Whether the first side is one whole tree, so that all of its metadata must be equal.
    pub whole: bool,
    /// Whether only some of its entries are compared.
    pub selected: bool,
    /// The streamer infos of each side.
    pub infos: &'a [StreamerInfos; 2],
}
