//! The files of the corpus: beside the checkout, or at `BASKETRY_CORPUS`.

use std::path::PathBuf;

/// Their paths, in order. Says so if there is no corpus.
pub fn corpus() -> Option<Vec<PathBuf>> {
    let folder = std::env::var_os("BASKETRY_CORPUS")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"));
    let Ok(files) = std::fs::read_dir(folder.join("files")) else {
        eprintln!("skipped: no corpus beside the checkout, and BASKETRY_CORPUS is not set");
        return None;
    };
    let mut files: Vec<PathBuf> = files.filter_map(|f| Some(f.ok()?.path())).collect();
    files.sort();
    Some(files)
}
