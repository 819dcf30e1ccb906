//! Computes the bytes that a rewrite would write besides baskets: the records are made as the rewrite makes them, and
//! discarded.

use std::path::Path;

use rootfile::{FileWriter, Result};

use super::begin::begin_output;
use super::options::Options;
use super::output_table::{BasketsOf, ExpectedBaskets};
use super::prepare::prepare;

/// Bytes that [`rewrite`](crate::rewrite()) would write besides baskets: records of trees and of objects, lists of keys,
/// streamer infos.
///
/// # Errors
///
/// As [`rewrite`](crate::rewrite()), but for what concerns baskets and the output's file.
pub fn metadata_size(input: &Path, output: &Path, options: &Options, baskets: &BasketsOf<'_>) -> Result<u64> {
    let prepared = prepare(&[input.to_path_buf()], output, options)?;
    let create = |setting, datime, title: &str| FileWriter::discarding(output, setting, datime, title);
    let mut begun = begin_output(&prepared, options, create)?;
    let mut expected = ExpectedBaskets { of: baskets, seek: begun.writer.position() };
    let mut known = 0;
    for (place, plan) in prepared.plans {
        let compression = begun.compression;
        let written = plan.table.write_metadata(&mut begun.at(&place), compression, &mut expected);
        known += written.map_err(|e| e.object(place.path))?;
    }
    Ok(begun.writer.finish()? + known)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use dataset::tree::BasketRef;
    use rootfile::RootFile;

    use super::*;
    use crate::execute::progress::unwatched;

    #[test]
    fn baskets_and_the_computed_bytes_make_up_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (input, output) = (folder.path().join("in.root"), folder.path().join("of.root"));
        crate::rewrite::sample::make(&input, 20_000, 7).unwrap();
        let layout = "basket = \"16kB\"\ncluster = 5000\n[column.\"*\"]\ncompression = \"zstd:1\"".parse().unwrap();
        let options = Options { layout, ..Options::default() };
        let summary = crate::rewrite(std::slice::from_ref(&input), &output, &options, &unwatched).unwrap();
        let file = RootFile::open(&output).unwrap();
        let walk = file.walk();
        let keys = || walk.directories.iter().flat_map(|directory| &directory.keys);
        let tree = keys().find_map(|key| dataset::tree::read_tree(&file, key).ok()).unwrap();
        let baskets_of = |branch: &dataset::tree::Branch| (branch.name().to_owned(), branch.baskets.clone());
        let known: HashMap<String, Vec<BasketRef>> = tree.branches.iter().map(baskets_of).collect();
        let baskets: u64 = known.values().flatten().map(|basket| u64::from(basket.nbytes)).sum();
        let given = |_: &str, lineage: &[&str], _: &[u64]| known[lineage[lineage.len() - 1]].clone();
        let besides = metadata_size(&input, &folder.path().join("no.root"), &options, &given).unwrap();
        assert!(!folder.path().join("no.root").exists());
        // The compressed size of a tree's record depends a little on the positions of baskets.
        let off = (besides + baskets).abs_diff(summary.bytes_written);
        assert!(off <= 60, "{besides} + {baskets}, not {}", summary.bytes_written);
        let none = metadata_size(&input, &output.with_extension("no"), &options, &|_, _, _| Vec::new()).unwrap();
        assert!(none < besides, "{none} {besides}");
    }
}
