//! Decisions for RNTuples, and between containers: real codecs and clocks, on generated files.

use std::path::{Path, PathBuf};

use dataset::layout::{Container, Layout};
use flow::write::WriteOptions;
use flow::{Budget, unwatched};

use super::*;
use crate::cost::Packing;
use crate::cost::column::Column;
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
