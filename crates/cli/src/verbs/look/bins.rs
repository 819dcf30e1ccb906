//! The bins of a histogram as records for programs. The picture for people is elsewhere.

use lab::look::Histogram;
use lab::look::cell::Cell;
use rootfile::Result;

const AXES: [&str; 3] = ["x", "y", "z"];

/// The names of the members: the edges of each axis, its label if it has any, content, and error.
pub(super) fn names(histogram: &Histogram) -> Vec<String> {
    let alone = histogram.axes.len() == 1;
    let mut names = Vec::new();
    for (axis, name) in histogram.axes.iter().zip(AXES) {
        let own = |what: &str| if alone { what.to_owned() } else { format!("{name}_{what}") };
        names.extend([own("low"), own("high")]);
        names.extend((!axis.labels.is_empty()).then(|| own("label")));
    }
    names.extend([if histogram.profile { "mean" } else { "content" }.to_owned(), "error".to_owned()]);
    names
}

/// Tells the members of each bin in the order of ROOT's cells. The outermost bins reach to infinity.
///
/// # Errors
///
/// Those of `take`.
pub(super) fn each(histogram: &Histogram, take: &mut dyn FnMut(Vec<Cell>) -> Result<()>) -> Result<()> {
    let errors = histogram.errors.iter().copied().map(Cell::Double).chain(std::iter::repeat(Cell::Null));
    for (cell, (content, error)) in histogram.contents.iter().zip(errors).enumerate() {
        let mut members = Vec::new();
        let mut rest = cell;
        for axis in &histogram.axes {
            // The underflow comes before the first bin, the overflow behind the last.
            let cells = axis.edges.len() + 1;
            let bin = rest % cells;
            rest /= cells;
            let edge = |edge: usize| axis.edges.get(edge).copied();
            let low = bin.checked_sub(1).and_then(edge).unwrap_or(f64::NEG_INFINITY);
            members.extend([low, edge(bin).unwrap_or(f64::INFINITY)].map(Cell::Double));
            if !axis.labels.is_empty() {
                let label = bin.checked_sub(1).and_then(|bin| axis.labels.get(bin));
                members.push(label.map_or(Cell::Null, |label| Cell::Text(label.clone())));
            }
        }
        members.extend([Cell::Double(*content), error]);
        take(members)?;
    }
    Ok(())
}
