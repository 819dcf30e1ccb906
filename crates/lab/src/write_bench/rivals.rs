//! ROOT's own writers of the same data, built where ROOT is installed. Their sources are in `bench/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use dataset::layout::Container;
use rootfile::codec::Compression;
use rootfile::{Error, Result};
use serde::Deserialize;

use super::grid::{Point, Run, Writer};
use crate::system::subprocess::measure;

/// Each with the program that it is.
const WRITERS: [(Writer, &str); 4] = [
    (Writer { name: "TTree", containers: &[Container::Ttree] }, "write_tree"),
    (Writer { name: "TBufferMerger", containers: &[Container::Ttree] }, "write_merger"),
    (Writer { name: "RNTuple", containers: &[Container::Rntuple] }, "write_ntuple"),
    (Writer { name: "RNTupleParallelWriter", containers: &[Container::Rntuple] }, "write_ntuple_parallel"),
];

/// Their sources.
const SOURCES: [(&str, &str); 13] = [
    ("Event.h", include_str!("../../../../bench/native/Event.h")),
    ("LinkDef.h", include_str!("../../../../bench/native/LinkDef.h")),
    ("data.h", include_str!("../../../../bench/native/data.h")),
    ("draws.h", include_str!("../../../../bench/native/draws.h")),
    ("job.h", include_str!("../../../../bench/native/job.h")),
    ("merging.h", include_str!("../../../../bench/native/merging.h")),
    ("ntuple.h", include_str!("../../../../bench/native/ntuple.h")),
    ("process.h", include_str!("../../../../bench/native/process.h")),
    ("tree.h", include_str!("../../../../bench/native/tree.h")),
    ("write_tree.cxx", include_str!("../../../../bench/native/write_tree.cxx")),
    ("write_merger.cxx", include_str!("../../../../bench/native/write_merger.cxx")),
    ("write_ntuple.cxx", include_str!("../../../../bench/native/write_ntuple.cxx")),
    ("write_ntuple_parallel.cxx", include_str!("../../../../bench/native/write_ntuple_parallel.cxx")),
];

const LIBRARIES: &str = "Core Imt RIO Tree TreePlayer ROOTNTuple ROOTVecOps Hist MathCore Thread";

/// The rivals, built.
pub struct Rivals {
    folder: PathBuf,
}

impl Rivals {
    /// All of them.
    pub fn writers() -> impl Iterator<Item = Writer> {
        WRITERS.iter().map(|(writer, _)| *writer)
    }

    /// Builds them in a folder, with g++ and the ROOT that `home` has (`include`, `lib` and `bin` lie there).
    ///
    /// # Errors
    ///
    /// There is no g++ or no ROOT in `home`, or compiling fails.
    pub fn build(folder: &Path, home: &Path) -> Result<Self> {
        for (name, text) in SOURCES {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|e| Error::from(e).file(&path))?;
        }
        let library = folder.join("libEventDict.so");
        let rootcling = Command::new(home.join("bin/rootcling"))
            .args(["-f", "EventDict.cxx", "-s", "libEventDict.so", "Event.h", "LinkDef.h"])
            .current_dir(folder)
            .output();
        check("rootcling", rootcling)?;
        let output = library.to_string_lossy().into_owned();
        compile(home, folder, &["-fPIC", "-shared", "-o", &output, "EventDict.cxx"])?;
        let (search, path) = (format!("-L{}", folder.display()), format!("-Wl,-rpath,{}", folder.display()));
        for (_, program) in WRITERS {
            // The dictionary is used by no symbol, so the linker would leave it out.
            let source = format!("{program}.cxx");
            let linked = ["-Wl,--no-as-needed", "-lEventDict", "-Wl,--as-needed"];
            compile(home, folder, &[&["-o", program, &source, &search][..], &linked, &[path.as_str()]].concat())?;
        }
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// One run of one of them. `common` are the options that are the same for all.
    ///
    /// # Errors
    ///
    /// The program cannot be started, fails, or its last line is no result.
    pub fn run(&self, kind: &str, size: u64, point: &Point, common: &[String]) -> Result<Run> {
        let program = WRITERS.iter().find(|(writer, _)| writer.name == point.writer).map_or("", |(_, program)| program);
        let compression: Compression = point.compression.parse()?;
        let out = point.medium.join(format!("write-bench-{program}.root"));
        let mut command = Command::new(self.folder.join(program));
        command.arg(kind).arg(&out).args(["--size", &size.to_string(), "--threads", &point.threads.to_string()]);
        command.args(["--branches", &point.branches.to_string(), "--events", &point.events.to_string()]);
        command.args(["--compression", &compression.to_root_setting().to_string()]).args(common);
        let ran: Result<RivalRun> = measure(&mut command);
        let _ = std::fs::remove_file(&out);
        let RivalRun { run, flush, flushed_meanwhile } = ran?;
        // ROOT itself waits for the disk when it writes a tree's file, and not for an RNTuple.
        Ok(Run { wall: (run.wall - flushed_meanwhile).max(0.0), sync: flush + flushed_meanwhile, ..run })
    }
}

/// What a rival prints.
#[derive(Deserialize)]
struct RivalRun {
    #[serde(flatten)]
    run: Run,
    /// Seconds to flush what the system still held afterwards.
    flush: f64,
    /// Seconds of `wall` for which the writer itself waited for the disk.
    #[serde(default)]
    flushed_meanwhile: f64,
}

/// Runs g++ in a folder, with the ROOT that `home` has.
pub(crate) fn compile(home: &Path, folder: &Path, more: &[&str]) -> Result<()> {
    let lib = home.join("lib");
    let mut command = Command::new("g++");
    command.args(["-O2", "-std=c++17", "-pthread", "-isystem"]).arg(home.join("include")).args(more);
    command.arg("-L").arg(&lib).arg(format!("-Wl,-rpath,{}", lib.display()));
    // The wheel of ROOT has the libraries that it needs beside itself.
    let beside = home.with_file_name("root.libs");
    command.arg(format!("-Wl,-rpath-link,{}", beside.display()));
    command.args(LIBRARIES.split(' ').map(|name| format!("-l{name}"))).current_dir(folder);
    check("g++", command.output())
}

fn check(name: &str, done: std::io::Result<std::process::Output>) -> Result<()> {
    let done = done.map_err(|e| Error::request(format!("{name} cannot be run: {e}")))?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().find(|line| line.contains("rror")).unwrap_or_default().to_owned();
    Err(Error::request(format!("{name} failed: {first}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_of_all_programs_are_carried() {
        for (_, program) in WRITERS {
            assert!(SOURCES.iter().any(|(name, _)| *name == format!("{program}.cxx")), "{program}");
        }
        let included =
            SOURCES.iter().flat_map(|(_, text)| text.lines()).filter_map(|line| line.strip_prefix("#include \""));
        for header in included.map(|rest| rest.trim_end_matches('"')) {
            assert!(SOURCES.iter().any(|(name, _)| *name == header), "{header}");
        }
    }
}
