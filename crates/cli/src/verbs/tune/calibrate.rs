//! `basketry tune --calibrate`: measures what reading costs another program, keeps the profile and prints it.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

use lab::tune::reader::calibrate::{Calibration, calibrate, files};
use lab::tune::reader::profile::{PerValue, Profile, Read, Speed};
use lab::tune::reader::{NtupleCosts, NtupleRead, kept};
use rootfile::codec::Algorithm;
use rootfile::{Error, Result, check_output};
use serde::Serialize;

use super::args::Args;
use crate::output::{self, Answer};

/// Version of the JSON form. It grows when a field goes or changes its meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    /// Where the profile was written.
    output: String,
    #[serde(flatten)]
    calibration: &'a Calibration,
}

/// Runs the verb.
pub fn run(args: &Args, name: &str, python: &OsString) -> Result<Answer> {
    let path = place(args, name)?;
    check_output(&path, args.force, std::iter::empty::<PathBuf>())?;
    if !args.verbosity.quiet && !args.verbosity.json {
        // A calibration takes minutes, so it is announced. Writing to standard error may fail without harm.
        let _ =
            writeln!(std::io::stderr(), "generating {} files and reading them with {name} takes some minutes", files());
    }
    let going = |_| std::ops::ControlFlow::Continue(());
    let calibration = calibrate(name, python, args.resources.budget(), args.quick_calibration, &going)?;
    output::text_file(&path, &calibration.profile.to_toml()?, args.force)?;
    if args.verbosity.json {
        let output = path.display().to_string();
        output::json(&Report { schema: SCHEMA, output, calibration: &calibration })?;
    } else if !args.verbosity.quiet {
        print(&calibration, &path.display().to_string())?;
    }
    Ok(Answer::Yes)
}

/// The file of the profile: the output if one is given, or else the file that `--reader` looks for.
fn place(args: &Args, name: &str) -> Result<PathBuf> {
    if let Some(path) = &args.output {
        return Ok(path.clone());
    }
    let why = "profiles need XDG_CONFIG_HOME or HOME; give a file with -o";
    let path = kept(name).ok_or_else(|| Error::request(why))?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| Error::from(e).file(folder))?;
    }
    Ok(path)
}

fn print(calibration: &Calibration, path: &str) -> Result<()> {
    let mut out = output::stdout();
    let Profile { reader, version, processor, fit, .. } = &calibration.profile;
    writeln!(out, "{reader} {version} on {processor}")?;
    writeln!(out)?;
    let mut table = output::table(&["file", ">branches", ">baskets", ">measured", ">by the profile", ">error"]);
    for row in &calibration.rows {
        table.add_row([
            row.file.clone(),
            format!("{:.0}", row.branches),
            format!("{:.0}", row.baskets),
            format!("{:.2} ms", 1e3 * row.measured),
            format!("{:.2} ms", 1e3 * row.expected),
            format!("{:+.1} %", 100.0 * row.error()),
        ]);
    }
    writeln!(out, "{table}")?;
    writeln!(out)?;
    numbers(&mut out, &calibration.profile)?;
    writeln!(out)?;
    writeln!(
        out,
        "errors of the profile: {:.1} % in the median of {} files, {:.1} % at most",
        100.0 * fit.median_error,
        fit.files,
        100.0 * fit.worst_error
    )?;
    if let Some(NtupleCosts { fit, .. }) = &calibration.profile.ntuple {
        writeln!(
            out,
            "for RNTuples: {:.1} % in the median of {} files, {:.1} % at most",
            100.0 * fit.median_error,
            fit.files,
            100.0 * fit.worst_error
        )?;
    }
    writeln!(out, "kept as {path}")?;
    Ok(out.flush()?)
}

fn numbers(out: &mut impl Write, profile: &Profile) -> Result<()> {
    let mut table = output::table(&["seconds", ">", ">times basketry's"]);
    let mut row = |name: &str, seconds: f64, times: Option<f64>| {
        let times = times.map_or_else(String::new, |times| format!("{times:.2}"));
        table.add_row([name.to_owned(), format!("{seconds:.3e}"), times]);
    };
    row("a byte without compression", profile.decompress.none.seconds_per_byte, None);
    for name in Algorithm::WRITTEN {
        let Speed { seconds_per_byte, seconds_per_basket, basketry } = profile.speed(name);
        row(&format!("a byte from {name}"), seconds_per_byte, Some(seconds_per_byte / basketry));
        row(&format!("a basket from {name}"), seconds_per_basket, None);
    }
    let Read { tree, branch, basket, stored_byte, item, wide_entry } = profile.read;
    row("a tree", tree, None);
    row("a branch", branch, None);
    row("a basket", basket, None);
    row("a byte on disk", stored_byte, None);
    row("an object of a split collection", item, None);
    row("an entry of a branch of a wide tree, besides", wide_entry, None);
    for (kind, PerValue { entry, value }) in &profile.values {
        row(&format!("an entry of a branch, {}", kind.name()), *entry, None);
        row(&format!("a number in one, {}", kind.name()), *value, None);
    }
    if let Some(NtupleCosts { decompress, read, values, .. }) = &profile.ntuple {
        row("RNTuples: a byte without compression", decompress.none.seconds_per_byte, None);
        for name in Algorithm::WRITTEN {
            let Speed { seconds_per_byte, seconds_per_basket, basketry } = decompress.speed(name);
            row(&format!("a byte of pages from {name}"), seconds_per_byte, Some(seconds_per_byte / basketry));
            row(&format!("a page from {name}"), seconds_per_basket, None);
        }
        let NtupleRead { table, column, page, stored_byte, split_byte, plain_byte } = *read;
        row("an RNTuple", table, None);
        row("a column", column, None);
        row("a page", page, None);
        row("a byte of pages on disk", stored_byte, None);
        row("a byte of elements, split", split_byte, None);
        row("a byte of other elements", plain_byte, None);
        for (kind, PerValue { entry, value }) in values {
            row(&format!("an entry of a column, {}", kind.name()), *entry, None);
            row(&format!("a number in one, {}", kind.name()), *value, None);
        }
    }
    Ok(writeln!(out, "{table}")?)
}
