//! The columns and trees that the points of a sweep name, which must be in its input.

use dataset::layout::Layout;
use flow::inputs::Input;
use flow::survey::wanted::Wanted;
use lab::sweep::point::Point;
use rootfile::Result;

use super::Args;
use crate::layout_args::layout_of;
use crate::options::Asked;

/// What the points and the chosen columns name. Rules of the layout that they start from, which is in a file, need not match.
pub(super) fn asked(args: &Args, input: &Input, points: &[Point]) -> Result<Asked> {
    let base = args.layout.as_deref().map(layout_of).transpose()?.unwrap_or_default();
    let mut own = Layout::default();
    for layout in points.iter().map(|point| &point.layout) {
        let trees = layout.trees().iter().filter(|(p, _)| !base.trees().iter().any(|(known, _)| known == p));
        trees.for_each(|(pattern, keys)| own.set_tree(pattern.clone(), keys));
        let columns = layout.columns().iter().filter(|(p, _)| !base.columns().iter().any(|(known, _)| known == p));
        columns.for_each(|(pattern, keys)| own.set_column(pattern.clone(), keys));
    }
    let wanted = Wanted::default().columns("columns", &args.columns)?.layout_of("grid", &own);
    Ok(args.matching.asked(vec![input.clone()], wanted))
}
