//! The columns and trees that the points of a sweep name, which must be in its input.

use std::path::Path;

use dataset::layout::Layout;
use flow::survey::ahead::Expressions;
use flow::survey::wanted::Wanted;
use lab::sweep::point::Point;
use rootfile::Result;

use crate::layout_args::layout_of;
use crate::options::{Asked, Matching};

/// What is named in the file that basketry's own jobs copy, if it is one. A command of the user may read whatever it likes.
pub(super) fn asked(
    input: Option<&str>,
    matching: Matching,
    layout: Option<&Path>,
    columns: &[String],
    points: &dyn Fn() -> Result<Vec<Point>>,
) -> Result<Asked> {
    let Some(input) = input else { return Ok(Asked::default()) };
    let base = layout.map(layout_of).transpose()?.unwrap_or_default();
    let wanted = wanted(&base, columns, &points()?)?;
    let Ok(input) = input.parse();
    Ok(matching.asked(vec![input], wanted, Expressions::default()))
}

/// What the points and the chosen columns name. Rules of `base`, which they start from and which is in a file,
/// need not match.
fn wanted(base: &Layout, columns: &[String], points: &[Point]) -> Result<Wanted> {
    let mut own = Layout::default();
    for layout in points.iter().map(|point| &point.layout) {
        let trees = layout.trees().iter().filter(|(p, _)| !base.trees().iter().any(|(known, _)| known == p));
        trees.for_each(|(pattern, keys)| own.set_tree(pattern.clone(), keys));
        let columns = layout.columns().iter().filter(|(p, _)| !base.columns().iter().any(|(known, _)| known == p));
        columns.for_each(|(pattern, keys)| own.set_column(pattern.clone(), keys));
    }
    Ok(Wanted::default().columns("columns", columns)?.layout_of("grid", &own))
}
