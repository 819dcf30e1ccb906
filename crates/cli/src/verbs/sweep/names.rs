//! The columns and trees that the points of a sweep name, which must be in its input.

use dataset::layout::Layout;
use flow::survey::ahead::Expressions;
use flow::survey::wanted::Wanted;
use lab::sweep::point::Point;
use rootfile::Result;

use super::Args;
use crate::layout_args::layout_of;
use crate::options::Asked;

/// What is named in the file that basketry's own jobs copy. A command of the user may read whatever it likes.
pub(super) fn asked(args: &Args) -> Result<Asked> {
    let Args { show, once, watched, command, .. } = args;
    let is_other = show.is_some() || once.is_some() || watched.is_some() || command.is_some();
    let Some(input) = args.input.as_deref().filter(|_| !is_other) else { return Ok(Asked::default()) };
    let base = args.layout.as_deref().map(layout_of).transpose()?.unwrap_or_default();
    let wanted = wanted(&base, &args.columns, &args.grid()?.points()?)?;
    let Ok(input) = input.parse();
    Ok(args.matching.asked(vec![input], wanted, Expressions::default()))
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
