//! ROOT as a runner: a small C++ program does the same copies and readings. It is built where ROOT is installed; its source
//! is in `bench/`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use dataset::layout::TreeRules;
use flow::inputs::Input;
use flow::read::Dataset;
use rootfile::{Error, Result};

use super::input::SweepInput;
use super::plan::Kind;
use super::runner::{Measured, Runner, Task};
use crate::addresses::refuse_urls;
use crate::system::kernel::Pinned;
use crate::system::subprocess;
use crate::write_bench::compile;

const SOURCE: &str = include_str!("../../../../../bench/native/sweep.cxx");

/// ROOT.
#[derive(Debug)]
pub struct RootRunner {
    home: PathBuf,
    /// Where the program is.
    built: rootfile::ScratchFolder,
    /// The library with the classes of the input, if it has any.
    library: Option<PathBuf>,
    versions: BTreeMap<String, String>,
    task: PathBuf,
    /// Branches of the first level.
    branches: Vec<String>,
}

impl RootRunner {
    /// Builds the program with g++ and the ROOT that `home` has.
    ///
    /// # Errors
    ///
    /// There is no g++ or no ROOT in `home`, or compiling fails.
    pub fn build(home: &Path) -> Result<Self> {
        let built = rootfile::ScratchFolder::new()?;
        let source = built.path().join("sweep.cxx");
        std::fs::write(&source, SOURCE).map_err(|e| Error::from(e).file(&source))?;
        compile(home, built.path(), &["-o", "sweep", "sweep.cxx"])?;
        let versions = subprocess::measure(Command::new(built.path().join("sweep")).arg("--version"))?;
        let home = home.to_path_buf();
        Ok(Self { home, built, library: None, versions, task: PathBuf::new(), branches: Vec::new() })
    }

    fn program(&self) -> Command {
        Command::new(self.built.path().join("sweep"))
    }

    /// A library with the classes that the input describes, without which ROOT cannot write objects. `None` if there
    /// are no classes, or if ROOT cannot make it; a copy that needs it then fails with a message.
    fn library(&self, input: &Path) -> Result<Option<PathBuf>> {
        let folder = self.built.path();
        let mut path = self.home.join("bin").into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = self.program();
        command.arg("--project").arg(input).arg("classes").current_dir(folder).env("PATH", path);
        command.output().map_err(|e| Error::from(e).file(folder))?;
        let library = folder.join("classes/classes.so");
        Ok(library.exists().then_some(library))
    }
}

impl Runner for RootRunner {
    fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = self.versions.clone();
        versions.insert("program".to_owned(), super::runner::digest(SOURCE.as_bytes()));
        versions
    }

    fn prepare(&mut self, folder: &Path, subject: &SweepInput) -> Result<()> {
        refuse_urls(&subject.input, "ROOT")?;
        self.task = folder.join("task.txt");
        let input = Input { path: subject.input.clone(), tree: Some(subject.tree.clone()) };
        let dataset = Dataset::open(&[input])?;
        let nodes = dataset.schema().nodes();
        let names = dataset.schema().top().into_iter().filter_map(|top| nodes.get(top));
        self.branches = names.map(|node| node.name.clone()).collect();
        self.library = self.library(&subject.input)?;
        Ok(())
    }

    fn run(&mut self, task: &Task) -> Result<Measured> {
        let mut text = task_text(task, &self.branches);
        text.extend(self.library.iter().map(|library| format!("library\t{}\n", library.display())));
        std::fs::write(&self.task, text).map_err(|e| Error::from(e).file(&self.task))?;
        let pinned = task.pin.map(Pinned::to).transpose()?;
        let measured = subprocess::measure(self.program().arg(&self.task));
        drop(pinned);
        measured.map_err(|e| e.object(format!("{} of point {}", task.job.kind.name(), task.job.point)))
    }
}

/// The task as the program reads it: a key and its value, line by line.
fn task_text(task: &Task, branches: &[String]) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let mut line = |key: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(out, "{key}\t{value}");
    };
    line("kind", &task.job.kind.name());
    line("input", &task.input.display());
    line("tree", &task.tree);
    line("entries", &task.entries);
    line("threads", &task.threads);
    if let Some(index) = &task.index {
        line("index", &index.display());
    }
    task.outputs.iter().for_each(|output| line("output", &output.display()));
    task.columns.iter().for_each(|column| line("column", column));
    if task.job.kind != Kind::Copy {
        return out;
    }
    let rules = task.layout.rules(&task.tree);
    let of_tree = &rules.tree;
    if let Some(cluster) = of_tree.cluster {
        line("cluster", &cluster.to_auto_flush());
    }
    if let Some(memory) = of_tree.basket_memory {
        line("basket-memory", &memory.bytes());
    }
    if let Some(ratio) = of_tree.memory_ratio {
        line("memory-ratio", &ratio);
    }
    if let Some(streaming) = of_tree.streaming {
        line("streaming", &streaming);
    }
    if let Some(compression) = of_tree.compression {
        line("compression", &compression.to_root_setting());
    }
    if of_tree.one_basket_per_cluster == Some(true) {
        line("one-basket-per-cluster", &true);
    }
    branches.iter().for_each(|name| line("branch", &branch(&rules, name)));
    out
}

/// Basket size, compression and split level of a branch, -1 for unchanged, and its name.
fn branch(rules: &TreeRules<'_>, name: &str) -> String {
    let own = rules.column(&[name]);
    let basket = own.basket.map_or(-1, |size| i64::try_from(size.bytes()).unwrap_or(i64::MAX));
    let compression = own.compression.map_or(-1, |codec| codec.to_root_setting());
    let split = own.split_level.map_or(-1, i64::from);
    format!("{basket} {compression} {split} {name}")
}

#[cfg(test)]
mod tests {
    use super::super::plan::Job;
    use super::*;

    #[test]
    fn a_task_is_written_line_by_line() {
        let layout = "cluster = \"30MB\"\nbasket-memory = \"2MB\"\nsplit-level = 0\n[column.\"a b\"]\nbasket = \"2kB\"";
        let task = Task {
            job: Job { round: 0, point: 0, kind: Kind::Copy },
            input: "in.root".into(),
            tree: "Events".to_owned(),
            others: false,
            entries: 10,
            index: None,
            layout: layout.parse().unwrap(),
            outputs: vec!["a.root".into(), "b.root".into()],
            threads: 1,
            memory: 0,
            columns: Vec::new(),
            pin: None,
            values: BTreeMap::new(),
            jobs: Vec::new(),
            limit: None,
            logs: PathBuf::new(),
        };
        let expected = "kind\tcopy\ninput\tin.root\ntree\tEvents\nentries\t10\nthreads\t1\noutput\ta.root\n\
                        output\tb.root\ncluster\t-30000000\nbasket-memory\t2000000\nbranch\t-1 -1 0 x\n\
                        branch\t2000 -1 0 a b\n";
        assert_eq!(task_text(&task, &["x".to_owned(), "a b".to_owned()]), expected);
        let full = Task { job: Job { kind: Kind::Full, ..task.job }, outputs: Vec::new(), ..task };
        assert!(task_text(&full, &["x".to_owned()]).ends_with("threads\t1\n"));
    }
}
