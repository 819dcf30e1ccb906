//! What a file is that is no ROOT file, by its first bytes, and the way out. Nothing of it is read beyond that.

/// Formats by how their files begin, and what to do with them.
const KINDS: [(&[u8], &str); 17] = [
    (
        b"PAR1",
        "it begins as a Parquet file does; ls, show, inspect, readspeed, verify, rewrite, merge and convert take such files, named .parquet",
    ),
    (b"\x1f\x8b", "it is compressed by gzip: `gunzip` makes the file that is in it"),
    (b"PK\x03\x04", "it is a zip archive: `unzip` takes out what is in it"),
    (b"\x28\xb5\x2f\xfd", "it is compressed by zstd: `unzstd` makes the file that is in it"),
    (b"\xfd7zXZ\0", "it is compressed by xz: `unxz` makes the file that is in it"),
    (b"BZh", "it is compressed by bzip2: `bunzip2` makes the file that is in it"),
    (b"\x89HDF\r\n\x1a\n", "it is an HDF5 file, which only other programs read, such as h5py"),
    (b"ARROW1", "it is an Arrow file (Feather); `pyarrow` makes a Parquet file of it"),
    (b"\x93NUMPY", "it is an array of NumPy; numpy.load reads it"),
    (b"CDF", "it is a NetCDF file, which only other programs read"),
    (b"SQLite format 3\0", "it is an SQLite database"),
    (b"ORC", "it is an ORC file, which only other programs read"),
    (b"version https://git-lfs", "it is a pointer of Git LFS in place of the file: `git lfs pull` fetches the file"),
    (b"<html", "it is a web page: the address is that of a page, or of a log-in"),
    (b"<!DOCTYPE", "it is a web page: the address is that of a page, or of a log-in"),
    (b"<!doctype", "it is a web page: the address is that of a page, or of a log-in"),
    (b"<?xml", "it is XML: the address may be that of a page or of an error"),
];

/// Where `ustar` stands in a tar archive.
const TAR: usize = 257;

/// What a file is that does not begin with `root`.
pub fn foreign(first: &[u8]) -> &'static str {
    if first.is_empty() {
        return "it is empty";
    }
    if let Some((_, what)) = KINDS.iter().find(|(begin, _)| first.starts_with(begin)) {
        return what;
    }
    if first.get(TAR..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return "it is a tar archive: `tar xf` takes out what is in it";
    }
    let is_text = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e | 0x80..);
    // The last character may be cut.
    let valid = std::str::from_utf8(first).map_or_else(|e| e.error_len().is_none(), |_| true);
    match valid && first.iter().all(is_text) {
        true => "it is a text file; a list of files is given as @FILE",
        false => "it does not begin with the letters 'root'",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_beginnings() {
        let mut tar = vec![0; 300];
        tar[TAR..TAR + 5].copy_from_slice(b"ustar");
        for (first, what) in [
            (&b""[..], "empty"),
            (b"PAR1\x15", "Parquet"),
            (b"\x1f\x8b\x08", "gzip"),
            (b"PK\x03\x04", "zip archive"),
            (b"\x89HDF\r\n\x1a\n\0", "HDF5"),
            (b"a,b\n1,2\n", "text file"),
            ("größe".as_bytes(), "text file"),
            (&"größe".as_bytes()[..3], "text file"),
            (b"\0\x01\x02", "does not begin"),
            (b"ro", "text file"),
            (&tar, "tar archive"),
        ] {
            assert!(foreign(first).contains(what), "{first:?}: {}", foreign(first));
        }
    }
}
