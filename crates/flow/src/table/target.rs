//! The target of a column: how its entries are cut into baskets and compressed in the output.

use rootfile::codec::Compression;

/// How the entries of a column are cut into baskets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// As in the input where clusters allow it; other baskets are cut at this size.
    Keep(u32),
    /// Where ROOT's writer would close a basket of this size.
    Size(u32),
    /// One basket per cluster.
    PerCluster,
}

/// The requested layout of a column.
#[derive(Clone, Debug)]
pub struct ColumnTarget {
    /// How baskets are cut.
    pub shape: Shape,
    /// Size of baskets in packed clusters, if the shape keeps the input's baskets.
    pub packed_size: Option<u32>,
    /// How baskets are compressed.
    pub compression: Compression,
    /// Whether no compression was requested, so that the input's compression may stay.
    pub keeps_compression: bool,
    /// For each file, whether its baskets already have this compression and form.
    pub met_by_file: Vec<bool>,
    /// Recorded buffer sizes are this times the largest basket, if requested.
    pub memory_ratio: Option<f64>,
}

impl ColumnTarget {
    /// A target with this compression and shape, that no file meets yet.
    pub fn new(compression: Compression, shape: Shape) -> Self {
        Self {
            shape,
            packed_size: None,
            compression,
            keeps_compression: false,
            met_by_file: Vec::new(),
            memory_ratio: None,
        }
    }
}
