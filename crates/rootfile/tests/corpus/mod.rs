//! The files of the corpus of real ones, where they are: beside the checkout, or at `BASKETRY_CORPUS`.

use std::path::PathBuf;

/// Their paths, in order.
pub fn corpus() -> Option<Vec<PathBuf>> {
    let folder = std::env::var_os("BASKETRY_CORPUS")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder.join("files")).ok()?.filter_map(|f| Some(f.ok()?.path())).collect();
    files.sort();
    Some(files)
}
