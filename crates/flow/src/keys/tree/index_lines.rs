//! The lines of an index of one input, whose tree has none and those of other inputs have: they are made before a rewrite is planned.

use dataset::tree::IndexLine;
use rootfile::Result;

use super::index_values::{IndexValues, is_reason};
use crate::keys::columns::KeyReading;
use crate::select::SourceTree;

/// The lines of the index of a tree of one input, in the order of entries. The inner error says why there can be none.
pub(crate) fn index_lines(
    tree: &SourceTree<'_>,
    expressions: &[String; 2],
) -> Result<std::result::Result<Vec<IndexLine>, String>> {
    let values = match IndexValues::open(tree.path, &|filter| tree.open(filter), expressions, "")? {
        Ok(values) => values,
        Err(why) => return Ok(Err(in_a_line(&why))),
    };
    let (entries, budget) = (0..values.dataset().entries(), tree.budget);
    let how = KeyReading { entries, selection: None, budget, team: budget.helpers()?, before: 0 };
    let mut lines = Vec::new();
    let read = values.each_step(&how, &mut |[majors, minors], _| {
        let first = i64::try_from(lines.len()).unwrap_or(i64::MAX);
        let numbered = majors.iter().zip(minors).zip(first..);
        lines.extend(numbered.map(|((major, minor), entry)| IndexLine { major: *major, minor: *minor, entry }));
        Ok(())
    });
    match read {
        Err(why) if is_reason(&why) => Ok(Err(in_a_line(&why))),
        read => read.map(|()| Ok(lines)),
    }
}

/// The first line of a message: others show a place in an expression.
fn in_a_line(error: &rootfile::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
