//! Errors of the Parquet library as errors of this crate.

use parquet::errors::ParquetError;
use rootfile::Error;

/// Turns an error of the Parquet library into one of ours. An error of ours that passed through the library is unwrapped.
pub(super) fn wrong(error: ParquetError) -> Error {
    match error {
        ParquetError::NYI(what) => Error::unsupported(what),
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => match io.downcast::<Error>() {
                Ok(ours) => ours,
                Err(io) => io.into(),
            },
            Err(other) => Error::corrupt(other.to_string()),
        },
        ParquetError::General(what) | ParquetError::EOF(what) | ParquetError::ArrowError(what) => Error::corrupt(what),
        other => Error::corrupt(other.to_string()),
    }
}
