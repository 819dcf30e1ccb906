//! The cut flow of a table as histograms beside it: a bin for all entries, and one for each cut. Files that are merged add them up.

use objects::{LabelledBin, LabelledHistogram, OutputDirectory};
use rootfile::Result;
use rootfile::codec::Compression;

use super::output_table::TableOutput;
use crate::select::cut_flow::{CUT_FLOW, WEIGHTED_FLOW};
use crate::select::{CutFlow, CutStep};

/// The label of what is there before the first cut.
const ALL: &str = "all";
const TITLE: &str = "entries after each cut";
const WEIGHTED: &str = "sum of weights after each cut";

/// Writes the histograms of the cut flow of a table: of entries, and of weights if there are some.
pub(super) fn write_cut_flow(
    output: &mut TableOutput<'_>,
    flow: &CutFlow,
    directories: &[OutputDirectory],
    compression: Compression,
) -> Result<()> {
    #[expect(clippy::cast_precision_loss, reason = "the contents of a histogram are doubles")]
    let count = |count: u64| LabelledBin { content: count as f64, ..LabelledBin::default() };
    let entries = |step: &CutStep, before: bool| Some(count(if before { step.before } else { step.after }));
    write(output, &bins(flow, entries), [CUT_FLOW, TITLE], directories, compression)?;
    let weights = |step: &CutStep, before: bool| {
        let (content, squares) = if before { step.weights_before()? } else { step.weights_after()? };
        Some(LabelledBin { content, squares: Some(squares), ..LabelledBin::default() })
    };
    write(output, &bins(flow, weights), [WEIGHTED_FLOW, WEIGHTED], directories, compression)
}

/// A bin for what is there before the first cut, and one after each.
fn bins(flow: &CutFlow, of: impl Fn(&CutStep, bool) -> Option<LabelledBin>) -> Vec<LabelledBin> {
    let first = flow.cuts.first().and_then(|step| of(step, true));
    let first = first.map(|bin| LabelledBin { label: ALL.to_owned(), ..bin });
    let rest = flow.cuts.iter().filter_map(|step| Some(LabelledBin { label: step.cut.clone(), ..of(step, false)? }));
    first.into_iter().chain(rest).collect()
}

fn write(
    output: &mut TableOutput<'_>,
    bins: &[LabelledBin],
    [suffix, title]: [&str; 2],
    directories: &[OutputDirectory],
    compression: Compression,
) -> Result<()> {
    if bins.is_empty() {
        return Ok(());
    }
    let entries = directories.get(output.place.directory).map_or(&[][..], |own| own.entries.as_slice());
    let mut name = format!("{}{suffix}", output.place.name);
    // That of an earlier skim stays beside it.
    for number in 2.. {
        if !entries.iter().any(|entry| entry.name == name) {
            break;
        }
        name = format!("{}{suffix}{number}", output.place.name);
    }
    let histogram = LabelledHistogram { name: &name, title, bins: bins.to_vec() };
    LabelledHistogram::infos().for_each(|info| output.writer.infos_mut().add(info));
    let labels = (LabelledHistogram::CLASS, name.as_str(), title);
    output.writer.write_object(output.directory, labels, compression, |keylen| histogram.payload(keylen))?;
    Ok(())
}
