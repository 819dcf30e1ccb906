//! The proof: the file is rewritten, read as the workload would, compared with its input, and all that is set
//! beside what was expected.

use std::path::Path;

use flow::{Budget, Progress, VerifyOptions};
use rootfile::Result;

use super::report::{Compared, Proof};
use super::{Options, Tuned};
use crate::cost::facts::as_f64;
use crate::cost::{process_seconds, replay};

/// Rewrites `input` into `output` with the layout that was chosen, and fills in the report's proof.
pub fn prove(
    tuned: &mut Tuned,
    (input, output): (&Path, &Path),
    options: &Options,
    (budget, overwrite): (Budget, bool),
    progress: Progress<'_>,
) -> Result<()> {
    let (Some(layout), Some(chosen)) = (&tuned.layout, &tuned.report.chosen) else { return Ok(()) };
    let inputs = [input.to_path_buf()];
    let request = flow::Options {
        layout: layout.clone(),
        tree: options.tree.clone(),
        budget,
        overwrite,
        ..flow::Options::default()
    };
    let start = process_seconds();
    let summary = flow::rewrite(&inputs, output, &request, progress)?;
    let rewrite = process_seconds() - start;
    let readings = replay(&[input, output], options.tree.as_deref(), &options.workload, (budget, options.seed))?;
    let verify = VerifyOptions { tree: options.tree.clone(), budget, ..VerifyOptions::default() };
    let verdict = flow::verify(&inputs, output, &verify, &|_| progress(0))?;
    let seconds = |i: usize| readings.get(i).map_or(0.0, |r| r.seconds);
    let today = &tuned.report.today.cost;
    let read_today = Compared { expected: today.read, measured: seconds(0) };
    let read_chosen = Compared { expected: chosen.cost.read, measured: seconds(1) };
    let speedup = |of: fn(&Compared) -> f64| of(&read_today) / of(&read_chosen).max(f64::MIN_POSITIVE);
    let size_limit = tuned.report.limits.iter().find(|l| l.name == "--max-size").map_or(f64::INFINITY, |l| l.value);
    let written = as_f64(summary.bytes_written);
    tuned.report.proof = Some(Proof {
        output: output.display().to_string(),
        size: Compared { expected: chosen.cost.size, measured: written },
        speedup: Compared { expected: speedup(|c| c.expected), measured: speedup(|c| c.measured) },
        read_today,
        read_chosen,
        baskets: Compared {
            expected: chosen.cost.baskets,
            measured: as_f64(summary.tables.iter().map(|t| t.baskets).sum()),
        },
        rewrite: Compared { expected: tuned.report.rewrite, measured: rewrite },
        measuring_share: tuned.report.measuring.cpu_seconds / rewrite.max(f64::MIN_POSITIVE),
        equal: verdict.equal,
        differences: verdict.differences.iter().map(ToString::to_string).collect(),
        within_size: written <= size_limit,
    });
    Ok(())
}
