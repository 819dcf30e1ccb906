//! Errors of the Parquet library as errors of this crate. What failed, and in which file, is added by callers.

use parquet::errors::ParquetError;
use rootfile::Error;

/// An error of the Parquet library as one of ours. An error of ours that passed through the library is unwrapped.
pub fn wrong(error: ParquetError) -> Error {
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
