//! Decisions for RNTuples, and between containers: real codecs and clocks, on generated files.

use std::path::{Path, PathBuf};

use dataset::layout::{Container, Layout};
use flow::write::WriteOptions;
use flow::{Budget, unwatched};

use super::candidates::{ClusterOption, Pick};
use super::reader::proof::parts;
use super::*;
use crate::cost::Packing;
use crate::cost::column::Column;
use crate::cost::model::Clusters;
use crate::cost::page_counts::PageCounts;
use crate::synthetic::generate::{Job, generate};
use crate::synthetic::models::{Model, ModelOptions};

fn nano(folder: &Path, layout: &str) -> PathBuf {
    let model = Model::named("nano", &ModelOptions { size: 4_000_000, ..ModelOptions::default() }).unwrap();
    let path = folder.join(format!("nano-{}.root", layout.len()));
    let options = WriteOptions { layout: layout.parse().unwrap(), ..WriteOptions::default() };
    let budget = Budget::new(100_000_000, 1);
    generate(
        &Job { model: &model, outputs: vec![path.clone()], options, budget, fill: true, rate: None, timeline: false },
        &unwatched,
    )
    .unwrap();
    path
}

fn options(containers: Containers) -> Options {
    Options { memory: 100_000_000, containers, goal: Goal::Reading, ..Options::default() }
}

#[test]
fn pages_add_up_to_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path =
        nano(folder.path(), "container = \"rntuple\"\ncompression = \"zstd:1\"\ncluster = 300\nbasket = \"1kB\"");
    let stats = FileStats::read(&path, None, &Workload::default()).unwrap();
    let size = path.metadata().unwrap().len() as f64;
    let stored: f64 = stats.columns.iter().map(Column::on_disk).sum();
    assert!(stored < size && stored > 0.5 * size, "{stored} of {size}");
    // Metadata of as many pages are less than what is counted for them at most.
    assert!(stats.rest().abs() < 0.3 * size, "{}", stats.rest());
    assert!(stats.trees[0].clusters.len() > 2);
    let entries: f64 = stats.trees[0].clusters.iter().map(|cluster| cluster.0).sum();
    assert_eq!(entries, stats.trees[0].entries);
    assert!(stats.columns.iter().all(|column| column.takes(Packing::of_pages(&[column.compression], false)[0])));
}

#[test]
fn who_reads_items_reads_the_ends_of_their_collection() {
    let folder = tempfile::tempdir().unwrap();
    let tree = nano(folder.path(), "compression = \"zstd:1\"");
    let path = folder.path().join("converted.root");
    let layout: Layout = "container = \"rntuple\"".parse().unwrap();
    flow::rewrite(&[tree], &path, &flow::Options { layout, ..flow::Options::default() }, &unwatched).unwrap();
    let read = |workload: &str| -> Vec<String> {
        let stats = FileStats::read(&path, None, &workload.parse().unwrap()).unwrap();
        let wanted = |column: &&Column| column.demand.full > 0.0;
        stats.columns.iter().filter(wanted).map(|column| column.lineage.join(".")).collect()
    };
    let muons = read("columns:Muon_pt");
    assert_eq!(muons.len(), 2, "{muons:?}");
    assert!(muons.iter().any(|name| name.ends_with(".Muon_pt")), "{muons:?}");
    // A projected field has the ends as well.
    assert_eq!(read("columns:nMuon").len(), 1);
}

#[test]
fn other_programs_read_the_fields_that_show_values_entry_by_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = nano(folder.path(), "container = \"rntuple\"\ncompression = \"zstd:1\"");
    let of = |workload: &str| {
        let mut parts = parts([&path, &path], None, &workload.parse().unwrap(), 1).unwrap();
        let (_, tables) = parts.remove(0).remove(0);
        let mut fields = tables.into_iter().next().unwrap().fields.unwrap();
        fields.sort();
        fields
    };
    assert_eq!(of("columns:Muon_pt"), ["Muon_pt"]);
    assert_eq!(of("columns:nMuon"), ["nMuon"]);
    assert_eq!(of("columns:Muon_pt,run"), ["Muon_pt", "run"]);
    let all = of("full");
    assert!(all.iter().all(|name| !name.starts_with("_collection") && !name.starts_with("nMuon")), "{all:?}");
    assert_eq!(all.iter().filter(|name| *name == "Muon_pt").count(), 1);
}

/// Every clustering with pages of several sizes: pages are counted, so the rewrite makes exactly as many.
#[test]
fn expected_pages_are_written_pages() {
    let folder = tempfile::tempdir().unwrap();
    let layouts = [
        "container = \"rntuple\"\ncompression = \"zstd:1\"\ncluster = 100\nbasket = \"1kB\"",
        "container = \"rntuple\"\ncompression = \"none\"\ncluster = 70",
        "container = \"rntuple\"\ncompression = \"lz4:1\"\nbasket = \"3kB\"",
    ];
    for layout in layouts {
        let path = nano(folder.path(), layout);
        let stats = FileStats::read(&path, None, &Workload::default()).unwrap();
        let tree = &stats.trees[0];
        let whole = tree.clusters.iter().map(|cluster| cluster.1).sum::<f64>();
        let packings = Packing::of_pages(&["lz4:1".parse().unwrap()], false);
        let mut options = candidates::cluster_options(&stats, None);
        // Whole clusters that are joined, whatever the candidates are.
        for parts in [2.0, 5.0] {
            let clusters = candidates::even(tree, (whole / parts) as u64);
            options.push(ClusterOption { size: Some(1), trees: vec![clusters], are_enough: true });
        }
        let joins = |clusters: &Clusters| {
            clusters.each.is_none_or(|each| each % tree.clusters[0].0 == 0.0 || each >= tree.entries)
        };
        for option in options.iter().filter(|option| joins(&option.trees[0])) {
            for size in [None, Some(2_000), Some(64_000), Some(4_000_000)] {
                let pick = Pick { codec: Some(0), basket: size };
                let picks = vec![Some(pick); stats.units.len()];
                let text = super::layout::layout(&stats, &packings, option, &picks, &mut std::iter::empty()).unwrap();
                let output = folder.path().join("pages.root");
                let request = flow::Options { layout: text.clone(), overwrite: true, ..flow::Options::default() };
                flow::rewrite(std::slice::from_ref(&path), &output, &request, &unwatched).unwrap();
                let written = FileStats::read(&output, None, &Workload::default()).unwrap();
                let pages = |column: &Column| {
                    let counts = PageCounts::new(column, tree, &option.trees[0]).unwrap();
                    counts.pages(size.unwrap_or(column.basket_size))
                };
                for (column, made) in stats.columns.iter().zip(&written.columns) {
                    assert_eq!(column.lineage, made.lineage);
                    assert_eq!(pages(column), made.count(), "{} {option:?} {size:?}", column.name());
                }
                assert_eq!(written.trees[0].clusters.len() as f64, option.trees[0].count, "{option:?}");
            }
        }
    }
}

#[test]
fn an_rntuple_is_tuned_and_proven() {
    let folder = tempfile::tempdir().unwrap();
    let input = nano(folder.path(), "container = \"rntuple\"\ncompression = \"lzma:1\"\nbasket = \"500B\"");
    let output = folder.path().join("tuned.root");
    let options = Options { max_size: Some(Limit::Times(1.2)), ..options(Containers::Own) };
    let mut tuned = tune(&input, &options, &|_| ()).unwrap();
    let text = tuned.report.layout.clone().unwrap();
    assert!(text.contains("encoding"), "{text}");
    let (today, chosen) = (tuned.report.today.cost, tuned.report.chosen.unwrap().cost);
    assert!(chosen.read < 0.8 * today.read, "{chosen:?} {today:?}");
    prove(&mut tuned, &input, &output, &options, Budget::new(100_000_000, 1), false, &unwatched).unwrap();
    let proof = tuned.report.proof.as_ref().unwrap();
    assert!(proof.equal && proof.within_size, "{:?}", proof.differences);
    assert!(proof.size.error().abs() < 0.1, "{:?}", proof.size);
    let again = folder.path().join("again.root");
    let layout = Layout::from_toml(&text).unwrap();
    let request = flow::Options { layout, ..flow::Options::default() };
    flow::rewrite(std::slice::from_ref(&input), &again, &request, &unwatched).unwrap();
    assert_eq!(output.metadata().unwrap().len(), again.metadata().unwrap().len());
}

#[test]
fn containers_are_compared_and_the_other_one_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let input = nano(folder.path(), "compression = \"lzma:1\"");
    for (containers, container) in [
        (Containers::Any, None),
        (Containers::One(Container::Rntuple), Some("rntuple")),
        (Containers::One(Container::Ttree), None),
    ] {
        let output = folder.path().join(format!("{}.root", container.unwrap_or("own")));
        let options = Options { max_size: Some(Limit::Times(1.3)), ..options(containers) };
        let mut tuned = tune(&input, &options, &|_| ()).unwrap();
        let names: Vec<&str> = tuned.report.containers.iter().map(|one| one.container.as_str()).collect();
        let compared: &[&str] =
            if containers == Containers::One(Container::Ttree) { &[] } else { &["ttree", "rntuple"] };
        assert_eq!(names, compared);
        if let Some(container) = container {
            let text = tuned.report.layout.clone().unwrap();
            assert!(text.contains(&format!("container = \"{container}\"")), "{text}");
            assert!(tuned.report.why[0].starts_with("an RNTuple instead of a tree"), "{:?}", tuned.report.why);
            prove(&mut tuned, &input, &output, &options, Budget::new(100_000_000, 1), true, &unwatched).unwrap();
            let proof = tuned.report.proof.as_ref().unwrap();
            assert!(proof.equal, "{:?}", proof.differences);
            let stats = FileStats::read(&output, None, &Workload::default()).unwrap();
            assert!(stats.columns.iter().all(|column| column.pages.is_some()));
        }
    }
}

#[test]
fn a_container_whose_choice_reads_too_slow_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let input = nano(folder.path(), "compression = \"lzma:1\"");
    let options = options(Containers::Any);
    let bench = &mut Codecs::default();
    let mut own = tune_with(options.stats(&input).unwrap(), &options, None, &|_| (), bench).unwrap();
    let mut found = tune_converted(&own, &options, Container::Rntuple, bench).unwrap();
    // The other container's choice is better by half, whatever the clocks say.
    found.report.chosen = own.report.chosen;
    for cost in found.report.chosen.iter_mut().map(|figures| &mut figures.cost) {
        (cost.read, cost.size, cost.write) = (0.5 * cost.read, 0.5 * cost.size, 0.5 * cost.write);
    }
    // How many times its expected reading each may take, and whether the other one is taken.
    for (most, best) in [([2.0, 2.0], 1), ([2.0, 0.5], 0), ([0.5, 0.5], 1), ([0.5, 2.0], 1)] {
        for (tuned, most) in [&mut own, &mut found].into_iter().zip(most) {
            let search = &mut tuned.decider.as_mut().unwrap().search;
            search.limits.read = most * search.decision.as_ref().unwrap().total.read;
        }
        let compared = containers::compared(own, (Container::Rntuple, Ok(found)), Containers::Any).unwrap();
        assert_eq!(compared.1, best, "{most:?}");
        let mut both = compared.0.into_iter();
        (own, found) = (both.next().unwrap(), both.next().unwrap());
    }
}

#[test]
fn what_cannot_be_converted_stays() {
    let folder = tempfile::tempdir().unwrap();
    let input = nano(folder.path(), "compression = \"lzma:1\"");
    let own = tune(&input, &options(Containers::Own), &|_| ()).unwrap();
    let refused = || Err(Error::unsupported("no such type"));
    let (mut found, best) = containers::compared(own, (Container::Rntuple, refused()), Containers::Any).unwrap();
    assert_eq!((found.len(), best), (1, 0));
    let found = found.remove(0);
    assert_eq!(found.report.containers[1].refused.as_deref(), Some("no such type"));
    let wanted = Containers::One(Container::Rntuple);
    assert!(containers::compared(found, (Container::Rntuple, refused()), wanted).is_err());
}
