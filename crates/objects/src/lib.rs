//! Objects in ROOT files that are not trees: carried over from the inputs to an output, or merged as `hadd` merges
//! them (histograms, profiles, graphs, parameters, lists and more).
//!
//! [`plan_objects`] pairs the objects of the inputs by directory, name and class. It reads keys only. The plan's
//! [`write_objects`](ObjectPlan::write_objects) then makes directories and objects, and holds one merged object in memory at a time.
//! An object that ROOT would merge and this crate cannot is kept whole and reported. Trees and RNTuples are listed in
//! the plan; the caller writes them.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use objects::{ObjectCompression, plan_objects, process_ids};
//! use rootfile::{FileWriter, RootFile};
//!
//! let files = [RootFile::open("a.root")?, RootFile::open("b.root")?];
//! let plan = plan_objects(&files)?;
//! let tables: Vec<_> = files.iter().map(process_ids::read).collect();
//! let (table, offsets) = process_ids::join(&tables)?;
//! let mut output = FileWriter::create(Path::new("sum.root"), false, 0, 0, "")?;
//! process_ids::write(&mut output, &table)?;
//! let written = plan.write_objects(&mut output, &files, ObjectCompression::Keep, &offsets)?;
//! for problem in &written.problems {
//!     eprintln!("{problem}");
//! }
//! output.finish()?;
//! # Ok::<(), rootfile::Error>(())
//! ```

pub mod contents;
pub mod inner_trees;
mod labelled;
mod merge;
mod plan;
mod problem;
pub mod process_ids;
mod relocate;
mod write;

pub use labelled::{LabelledBin, LabelledHistogram};
pub use merge::{
    Histogram, HistogramAxis, Input, Merger, Note, SelectedEntries, is_entry_list, is_histogram, selected_entries,
};
pub use plan::{
    Action, NamedObject, ObjectLocation, ObjectPlan, OutputDirectory, plan_objects, plan_objects_with,
    plan_sound_objects, refuse_damage_in,
};
pub use problem::{Damaged, Problem};
pub use relocate::moved;
pub use write::running::{RunningObjects, RunningSum};
pub use write::{ObjectCompression, WrittenObjects};
