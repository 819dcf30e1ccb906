//! The columns and trees that the points of a sweep name, which must be in its input.

use dataset::layout::Layout;
use flow::survey::wanted::Wanted;
use lab::sweep::point::Point;
use rootfile::Result;

/// What the points and the chosen columns name. Rules of `base`, which they start from and which is in a file,
/// need not match.
pub(super) fn wanted(base: &Layout, columns: &[String], points: &[Point]) -> Result<Wanted> {
    let mut own = Layout::default();
    for layout in points.iter().map(|point| &point.layout) {
        let trees = layout.trees().iter().filter(|(p, _)| !base.trees().iter().any(|(known, _)| known == p));
        trees.for_each(|(pattern, keys)| own.set_tree(pattern.clone(), keys));
        let columns = layout.columns().iter().filter(|(p, _)| !base.columns().iter().any(|(known, _)| known == p));
        columns.for_each(|(pattern, keys)| own.set_column(pattern.clone(), keys));
    }
    Ok(Wanted::default().columns("columns", columns)?.layout_of("grid", &own))
}
