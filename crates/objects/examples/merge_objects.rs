//! Merges all objects except trees: `merge_objects OUT IN...`. Differences from a merge by ROOT go to standard error.

use std::path::Path;

use objects::{ObjectCompression, plan_objects, process_ids};
use rootfile::{FileWriter, Result, RootFile};

fn main() -> std::process::ExitCode {
    let mut names = std::env::args_os().skip(1);
    let Some(out) = names.next() else {
        eprintln!("usage: merge_objects OUT IN...");
        return std::process::ExitCode::from(2);
    };
    let inputs: Vec<_> = names.collect();
    match merge(Path::new(&out), &inputs) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            std::process::ExitCode::from(2)
        }
    }
}

fn merge(out: &Path, inputs: &[std::ffi::OsString]) -> Result<()> {
    let files: Vec<RootFile> = inputs.iter().map(RootFile::open).collect::<Result<_>>()?;
    let plan = plan_objects(&files)?;
    let tables: Vec<_> = files.iter().map(process_ids::read).collect();
    let (table, offsets) = process_ids::join(&tables)?;
    let mut writer = FileWriter::create(out, true, 101, 0, "")?;
    let written = plan.write_objects(&mut writer, &files, ObjectCompression::Keep, &offsets)?;
    process_ids::write(&mut writer, &table)?;
    writer.finish()?;
    for problem in written.problems {
        eprintln!("{problem}");
    }
    Ok(())
}
