//! Options of `inspect`.

use dataset::glob::TreePattern;

/// Options of `inspect`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only trees that this pattern matches, by path.
    pub tree: Option<TreePattern>,
    /// Look at the header of every basket, however many there are.
    pub probe_all: bool,
    /// List every basket.
    pub list_baskets: bool,
    /// Try remedies and the other container on samples, of files on this machine. Without it commands and prices are estimates alone.
    pub trials: bool,
}
