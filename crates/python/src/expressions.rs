//! Expressions in the command's language over a table: what a text means, the entries that pass one, and the values of several. They
//! take names that are defined, as `tree.aliases` and `aliases=` have them.

use std::sync::Arc;

use flow::read::JoinedTable;
use flow::{Choice, Define, Defined, DefinedSteps, Meaning};
use pyo3::{PyResult, Python};
use rootfile::ErrorKind;

use crate::buffer::Memory;
use crate::errors::keyword;
use crate::interrupt::{Watch, listening, telling};
use crate::read_batch::ReadBatch;
use crate::request::ReadRequest;

/// The columns of an expression; a name that is not known; what is wrong.
pub type Understood = (Vec<usize>, String, String);

/// What a text is as a condition on entries, or as values; none if it is no expression.
pub fn meaning(
    py: Python<'_>,
    table: Arc<JoinedTable>,
    text: String,
    defined: Vec<(String, String)>,
    is_condition: bool,
) -> PyResult<Option<Understood>> {
    let of = if is_condition { Meaning::of_condition } else { Meaning::of_values };
    listening(py, move |_: &Watch| {
        Ok(match of(&*table, &text, &defines(defined)) {
            Meaning::Fits(columns) => Some((columns, String::new(), String::new())),
            Meaning::NoExpression => None,
            Meaning::UnknownName(name, why) => Some((Vec::new(), name, why.text(keyword))),
            // It is the files that are wrong, in whichever language it is.
            Meaning::Wrong(why) if matches!(why.kind(), ErrorKind::Differs(_)) => return Err(why),
            Meaning::Wrong(why) => Some((Vec::new(), String::new(), why.text(keyword))),
        })
    })
}

/// The numbers of the entries of a request that pass a condition.
pub fn passing(
    py: Python<'_>,
    table: Arc<JoinedTable>,
    request: ReadRequest,
    text: String,
    defined: Vec<(String, String)>,
) -> PyResult<Memory> {
    let found = telling(py, &None, move |watch| {
        let choice = Choice { cuts: vec![text], defines: defines(defined), remembers: true, ..Choice::default() };
        let ReadRequest { entries, selection, budget, .. } = request;
        choice.of_selected(&*table, entries, selection.as_ref(), budget, &|_| watch.tell(0))
    })?;
    Ok(Memory(arrow_buffer::Buffer::from_vec(found.all_runs().flatten().collect::<Vec<u64>>())))
}

/// The values of expressions for the entries of a request, in their order.
pub fn values(
    py: Python<'_>,
    table: Arc<JoinedTable>,
    request: ReadRequest,
    texts: Vec<String>,
    defined: Vec<(String, String)>,
) -> PyResult<ReadBatch> {
    let found = telling(py, &None, move |watch| {
        let table = &*table;
        let defined = &Defined::of_texts(table, &texts, &defines(defined))?;
        let ReadRequest { entries, selection, budget, .. } = request;
        DefinedSteps { table, defined, entries, selection: selection.as_ref(), budget }.all(&|_| watch.tell(0))
    })?;
    Ok(ReadBatch::new(&found))
}

fn defines(named: Vec<(String, String)>) -> Vec<Define> {
    named.into_iter().map(|(name, text)| Define { name, text }).collect()
}
