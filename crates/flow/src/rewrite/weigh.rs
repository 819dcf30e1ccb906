//! Computes the bytes that a rewrite would write besides baskets: the records are made as the rewrite makes them, and
//! discarded.

use std::path::Path;

use dataset::tree::BasketRef;
use rootfile::codec::Compression;
use rootfile::{Error, FileWriter, Result};

use super::finish_tree::finish_table;
use super::options::Options;
use super::prepare::prepare;
use super::prepared::{PlannedTable, default_setting};
use crate::commit::date::date;
use crate::commit::sink::WrittenColumn;
use crate::table::column::Column;
use objects::{ObjectCompression, process_ids};

/// The expected baskets of a column, given the path of the tree, the names of the branch's parents and its own, and the
/// bounds of clusters. Their positions are ignored.
pub type BasketsOf<'a> = dyn Fn(&str, &[&str], &[u64]) -> Vec<BasketRef> + 'a;

/// Bytes that [`rewrite`](crate::rewrite()) would write besides baskets: records of trees and of objects, lists of keys,
/// streamer infos.
pub fn weigh(input: &Path, output: &Path, options: &Options, baskets: &BasketsOf<'_>) -> Result<u64> {
    let prepared = prepare(&[input.to_path_buf()], output, options)?;
    let first = prepared.files.first().ok_or_else(|| Error::request("no input"))?;
    let requested = options.compression.metadata.or(prepared.layout.common.compression);
    let setting = requested.map_or_else(|| default_setting(first, &prepared.plans), Compression::to_root_setting);
    let datime = date(Some(prepared.objects.newest));
    let mut writer = FileWriter::discarding(output, setting, datime, &first.top().title)?;
    let object_compression = requested.map_or(ObjectCompression::Keep, ObjectCompression::As);
    let written =
        prepared.objects.write_objects(&mut writer, &prepared.files, object_compression, &prepared.pid_offsets)?;
    process_ids::write(&mut writer, &prepared.pids)?;
    let metadata = Compression::from_root_setting(setting).unwrap_or(Compression::NONE);
    let mut seek = writer.position();
    let mut ntuples = 0;
    for (place, plan) in prepared.plans {
        let plan = match plan {
            PlannedTable::Tree(plan) => *plan,
            // No layout changes it.
            PlannedTable::Converted(_) => {
                return Err(Error::unsupported("the size of a converted table is not known before").object(place.path));
            }
            PlannedTable::Ntuple(plan) => {
                ntuples += plan.totals.zip_bytes + plan.totals.lists;
                continue;
            }
        };
        let directory = written.directories.get(place.directory).copied().unwrap_or(writer.top());
        let written_column = |column: &Column| {
            let lineage: Vec<&str> = plan.tree.lineage(column.branch).into_iter().rev().collect();
            let baskets = baskets(&place.path, &lineage, &plan.clusters.bounds);
            let zip_bytes = baskets.iter().map(|basket| u64::from(basket.nbytes)).sum();
            WrittenColumn { baskets, zip_bytes, tot_bytes: column.source.tot_bytes, ..WrittenColumn::default() }
        };
        let mut written: Vec<WrittenColumn> = plan.columns.iter().map(written_column).collect();
        // Cluster by cluster, as they would be written.
        let mut all: Vec<&mut BasketRef> = written.iter_mut().flat_map(|column| &mut column.baskets).collect();
        all.sort_by_key(|basket| plan.clusters.bounds.partition_point(|&bound| bound <= basket.first_entry));
        for basket in all {
            basket.seek = seek;
            seek += u64::from(basket.nbytes);
        }
        finish_table(&mut writer, (&place, directory), plan, written, metadata)?;
    }
    Ok(writer.finish()? + ntuples)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

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
        let besides = weigh(&input, &folder.path().join("no.root"), &options, &given).unwrap();
        assert!(!folder.path().join("no.root").exists());
        // The compressed size of a tree's record depends a little on the positions of baskets.
        let off = (besides + baskets).abs_diff(summary.bytes_written);
        assert!(off <= 60, "{besides} + {baskets}, not {}", summary.bytes_written);
        let none = weigh(&input, &output.with_extension("no"), &options, &|_, _, _| Vec::new()).unwrap();
        assert!(none < besides, "{none} {besides}");
    }
}
