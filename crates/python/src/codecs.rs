//! Codecs as the engine knows them: what is written, and which codec and level a setting means. Not compression itself.

use pyo3::prelude::*;
use rootfile::codec::{Algorithm, Compression};

use super::errors::exception;

/// The codecs that are written: name, ROOT's number, and highest level.
#[pyfunction]
pub fn codecs() -> Vec<(&'static str, i32, u8)> {
    let line = |algorithm: Algorithm| {
        let facts = algorithm.facts();
        (facts.name, facts.number, facts.max_level)
    };
    Algorithm::WRITTEN.into_iter().map(line).collect()
}

/// Name and level of the codec that ROOT's number means to a writer; none where nothing is compressed.
#[pyfunction]
pub fn codec_of_number(number: i32) -> Option<(&'static str, u8)> {
    Compression::from_root_setting(number).and_then(written)
}

/// Name and level of the codec that a layout's text means; none where nothing is compressed.
#[pyfunction]
pub fn codec_of_text(text: &str) -> PyResult<Option<(&'static str, u8)>> {
    text.parse().map(written).map_err(exception)
}

fn written(compression: Compression) -> Option<(&'static str, u8)> {
    let facts = compression.algorithm()?.facts().written_as.facts();
    Some((facts.name, compression.level().min(facts.max_level)))
}
