//! Numbers and names in the tables and findings of `inspect`.

use std::io::{Result, Write};

use dataset::layout::Compression;
use lab::inspect::report::{Memory, ReadTime, Spread};

use crate::output::bytes;

/// A time, in two digits or three.
pub fn seconds(s: f64) -> String {
    match s {
        _ if s < 0.0995 => format!("{:.0} ms", 1000.0 * s),
        _ if s < 9.95 => format!("{s:.1} s"),
        _ => format!("{s:.0} s"),
    }
}

/// A ROOT compression setting.
pub fn setting(setting: i32) -> String {
    Compression::from_root_setting(setting).map_or_else(|| "as the file".to_owned(), |c| c.to_string())
}

/// The least, the mean and the greatest of all sizes, of parts that have so many of them.
pub fn spread(parts: impl Iterator<Item = (Spread, u64)>) -> Option<Spread> {
    let (mut sum, mut number) = (0u128, 0u128);
    let all = parts.inspect(|(part, sizes)| {
        sum += u128::from(part.mean) * u128::from(*sizes);
        number += u128::from(*sizes);
    });
    let all = all.map(|(part, _)| part);
    let all = all.reduce(|a, b| Spread { min: a.min.min(b.min), max: a.max.max(b.max), ..a })?;
    let mean = u64::try_from(sum / number.max(1)).unwrap_or(u64::MAX);
    Some(Spread { mean: mean.clamp(all.min, all.max), ..all })
}

/// Bytes before compression over bytes on disk, as ROOT has it: both with keys.
#[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
pub fn ratio(tot: u64, zip: u64) -> String {
    if zip == 0 { String::new() } else { format!("{:.2}", tot as f64 / zip as f64) }
}

/// The memory of readers and writers, in one line.
pub fn memory_line(memory: &Memory, columns: &str, pieces: &str) -> String {
    format!(
        "memory: a reader of all {columns} {} ({pieces} {}, as on disk {}, cache {}); a writer {}",
        bytes(memory.read),
        bytes(memory.read_baskets),
        bytes(memory.read_compressed),
        bytes(memory.read_cache),
        bytes(memory.write)
    )
}

/// Prints the time to read all, if it is worth a line; `more` ends the line.
pub fn reading_line(out: &mut impl Write, time: ReadTime, more: &str) -> Result<()> {
    if time.sum() < 0.0005 {
        return Ok(());
    }
    writeln!(
        out,
        "reading all of it: about {} of one core ({} to open, {} to decompress, {} to decode){more}",
        seconds(time.sum()),
        seconds(time.open),
        seconds(time.decompress),
        seconds(time.decode)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_for_people() {
        assert_eq!([0.0123, 0.5, 99.0].map(seconds), ["12 ms", "0.5 s", "99 s"]);
    }
}
