//! The compiled half of the Python package, as few plain functions and classes. The public half, with names, keyword arguments
//! and data classes, is Python: `python/basketry`.

mod batch;
mod buffer;
mod codecs;
mod columns;
mod errors;
mod expressions;
mod fill;
mod fsspec;
mod input_arrays;
mod interrupt;
mod keys;
mod lock;
mod monitor;
mod objects;
mod read_batch;
mod records;
mod request;
mod scratch;
mod steps;
mod stream;
mod table;
mod tables;
mod type_text;
mod verbs;
mod writer;

/// The module `basketry._core`.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::buffer::Buffer;
    #[pymodule_export]
    use super::codecs::{codec_of_number, codec_of_text, codecs};
    #[pymodule_export]
    use super::fill::Context;
    #[pymodule_export]
    use super::input_arrays::names_of_schema;
    #[pymodule_export]
    use super::keys::{
        bins, evenly_spaced, expand, header, keys, printable, public_path, public_text, shortened, size,
    };
    #[pymodule_export]
    use super::monitor::Monitor;
    #[pymodule_export]
    use super::objects::object;
    #[pymodule_export]
    use super::read_batch::ReadBatch;
    #[pymodule_export]
    use super::scratch::ScratchFolder;
    #[pymodule_export]
    use super::steps::Steps;
    #[pymodule_export]
    use super::stream::Stream;
    #[pymodule_export]
    use super::table::{Table, check_join, is_parquet, stored, stored_fields};
    #[pymodule_export]
    use super::tables::Tables;
    #[pymodule_export]
    use super::verbs::{abandon, command, fail_at_exit, report, starts_as};
    #[pymodule_export]
    use super::writer::Writer;

    /// Lets everything that takes a path take URLs.
    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        rootfile::register_urls(super::fsspec::open, super::fsspec::list);
        remote::say_waiting(basketry_cli::say_waiting);
        Ok(())
    }

    /// The version of the package, which is that of the crates.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Bytes that work may take if nothing is said.
    #[pymodule_export]
    const DEFAULT_MEMORY: u64 = flow::DEFAULT_MEMORY;
}
