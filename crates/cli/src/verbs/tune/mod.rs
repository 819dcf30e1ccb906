//! `basketry tune`: measures, decides and explains; with an output it also rewrites and proves.

mod amounts;
mod args;
mod calibrate;
mod offers;
mod print;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

use dataset::glob::NameFilter;
use flow::survey::ahead::Expressions;
use flow::survey::wanted::Wanted;
use flow::{Choice, Progress};
use lab::price::PriceBook;
use lab::report::page::html;
use lab::report::tuning::report as page;
use lab::tune::{Kept, Limit, MeasuredFile, Options, Reader, Tuned, check_suits, prove, tune, within_cut};
use rootfile::{Error, Hint, Result, check_output, is_same_place};

pub use args::Args;

use crate::options::Asked;
use crate::output::{self, Answer};
use crate::self_command::SelfCommand;
use crate::verb_command::{Commands, VerbCommand, Watch, ended, fields};
use flow::inputs::{inputs, lists, one_tree};

impl VerbCommand for Args {
    type Report = Tuned;
    const DONE: &'static str = "written";

    fields!(verbosity, resources);

    fn asked(&self) -> Result<Asked> {
        let wanted = Wanted::default().kept(&self.keep, &self.drop)?;
        // A choice of a saved report takes its file.
        let inputs = if self.inputs.is_empty() { Vec::new() } else { inputs(&self.inputs)? };
        let wanted = wanted.patterns("workload", self.workload.patterns());
        Ok(self.matching.asked(inputs, wanted, Expressions::default()))
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Tuned> {
        let Watch { progress, bar, .. } = *watch;
        let announce = |seconds: f64| {
            if let Some(bar) = bar.filter(|_| !self.verbosity.quiet) {
                bar.suspend(|| eprintln!("measuring takes up to about {seconds:.1} s of CPU time"));
            }
        };
        watch.will_read(&self.inputs);
        tuned(self, progress, &announce)
    }

    fn answer(tuned: &Tuned) -> Answer {
        if tuned.layout.is_some() && tuned.report.delivered.unwrap_or(true) { Answer::Yes } else { Answer::No }
    }

    fn print(&self, tuned: &Tuned, _: Instant) -> Result<()> {
        match !self.verbosity.quiet || tuned.layout.is_none() {
            true => print::report(&tuned.report, self.prices.is_given()),
            false if tuned.report.delivered == Some(false) => print::verdict(&tuned.report),
            false => Ok(()),
        }
    }

    fn exit_code(&self, commands: Commands) -> u8 {
        let calibrated = |name: &String| calibrate::run(self, name, &python()?);
        output::exit_code(ended::<Self>(self.calibrate.as_ref().map_or_else(|| self.run(commands), calibrated)))
    }
}

/// Measures and decides; with an output it rewrites and proves. Before it measures it calls `announce` with the
/// CPU seconds that this may take.
fn tuned(args: &Args, progress: Progress<'_>, announce: &dyn Fn(f64)) -> Result<Tuned> {
    let kept = args.again.as_deref().map(kept).transpose()?;
    let (paths, tree) = match &kept {
        Some(kept) if args.inputs.is_empty() => match args.output {
            Some(_) => {
                let (path, tree) = kept.input()?;
                (vec![path], tree)
            }
            None => (Vec::new(), None),
        },
        _ => {
            let inputs = inputs(&args.inputs)?;
            let tree = one_tree(&inputs)?;
            (inputs.into_iter().map(|input| input.path).collect::<Vec<PathBuf>>(), tree)
        }
    };
    let outputs = [("-o", &args.output), ("--layout-out", &args.layout_out), ("--page", &args.page)];
    let outputs: Vec<(&str, &PathBuf)> =
        outputs.into_iter().filter_map(|(option, path)| Some((option, path.as_ref()?))).collect();
    for (place, (option, path)) in outputs.iter().enumerate() {
        check_output(path, args.force, paths.iter().map(PathBuf::as_path).chain(lists(&args.inputs)))?;
        if let Some((other, _)) = outputs.iter().take(place).find(|(_, before)| is_same_place(before, path)) {
            let message = format!("{other} and {option} name the same file");
            let hints = ["layout-out", "page"].map(Hint::named);
            return Err(hints.into_iter().fold(Error::request(message), Error::hint).file(path));
        }
    }
    if args.output.is_some() && paths.len() > 1 {
        let instead = "write the layout with --layout-out and give it to `basketry merge --layout`";
        let message = format!("-o takes one input; for several, {instead}");
        return Err(Error::request(message).hint(Hint::named("layout-out")).hint(Hint::named("layout")));
    }
    if args.cut.is_empty() && !args.named.is_empty() {
        let (define, cut) = (Hint::named("define"), Hint::named("cut"));
        let message = format!("{define} gives names to values of {cut}, which is not given");
        return Err(Error::request(message).hint(define).hint(cut));
    }
    let filter = NameFilter::new(&args.keep, &args.drop)?;
    let options = Options {
        workload: kept.as_ref().map_or(&args.workload, Kept::workload).clone(),
        goal: args.goal,
        prices: prices(args, kept.as_ref())?,
        max_size: args.max_size,
        max_read_memory: args.max_read_memory,
        max_write_time: args.max_write_time,
        max_read_time: args.max_read_time,
        min_clusters: args.min_clusters,
        memory: args.resources.memory.bytes(),
        seed: kept.as_ref().map_or(args.seed, Kept::seed),
        tree,
        recode: args.recode,
        no_exact: !args.exact,
        reader: Reader::named(kept.as_ref().map_or(&args.reader, Kept::reader), python()?)?,
        containers: args.container.unwrap_or_default(),
        choose: args.choose,
    };
    if paths.len() > 1 && matches!(args.max_size, Some(Limit::Absolute(_))) {
        let instead = "use a multiple of today's size, such as 1.05x";
        let message = format!("--max-size in bytes needs one input; for several, {instead}");
        return Err(Error::request(message).hint(Hint::named("max-size")));
    }
    let folder = args.output.as_ref().and_then(|path| path.parent()).filter(|path| !path.as_os_str().is_empty());
    let folder = match &args.output {
        Some(_) => folder.unwrap_or(Path::new(".")).to_path_buf(),
        None => std::env::temp_dir(),
    };
    let budget = args.resources.budget();
    let subject = || MeasuredFile::new(&paths, options.tree.as_deref(), &filter, &folder, budget, progress);
    let tuned = match kept {
        Some(kept) => {
            let mut tuned = kept.choose(&options)?;
            if let (Some(out), Some(layout)) = (&args.output, &tuned.layout) {
                let subject = subject()?;
                let inside = subject.options(&options);
                check_suits(layout, subject.path(), &inside)?;
                subject.name().clone_into(&mut tuned.report.input);
                prove(&mut tuned, subject.path(), out, &inside, budget, args.force, progress)?;
            }
            tuned
        }
        None => {
            let subject = subject()?;
            let mut inside = subject.options(&options);
            if !args.cut.is_empty() {
                let choice = Choice { cuts: args.cut.clone(), defines: args.named.defines()?, ..Choice::default() };
                inside.workload = within_cut(subject.path(), &inside, &choice)?;
            }
            let mut tuned = tune(subject.path(), &inside, announce)?;
            subject.name().clone_into(&mut tuned.report.input);
            (tuned.report.files, tuned.report.measured_files) = subject.files();
            if let (Some(out), Some(_)) = (&args.output, &tuned.layout) {
                prove(&mut tuned, subject.path(), out, &inside, budget, args.force, progress)?;
            }
            tuned.report.tree.clone_from(&options.tree);
            tuned
        }
    };
    let delivered = tuned.report.delivered.unwrap_or(true);
    if let (Some(path), Some(layout), true) = (&args.layout_out, &tuned.report.layout, delivered) {
        output::text_file(path, layout, args.force)?;
    }
    if let Some(path) = &args.page {
        output::text_file(path, &html(&page(&tuned.report))?, args.force)?;
    }
    Ok(tuned)
}

/// The saved report in a file, or the one that a program gives as text.
fn kept(report: &Path) -> Result<Kept> {
    match report.to_str().filter(|text| text.trim_start().starts_with('{')) {
        Some(text) => Kept::parse(text),
        None => Kept::read(report),
    }
}

/// The prices that are asked for; otherwise those of the saved report, or the default ones.
fn prices(args: &Args, kept: Option<&Kept>) -> Result<PriceBook> {
    match (args.prices.book()?, kept) {
        (Some(book), _) => Ok(book),
        (None, Some(kept)) => kept.prices(),
        (None, None) => Ok(PriceBook::default()),
    }
}

/// The Python interpreter of other readers: the one that runs this process, or else the first on the path.
fn python() -> Result<OsString> {
    let SelfCommand { program, arguments, .. } = SelfCommand::get()?;
    Ok(if arguments.is_empty() { "python3".into() } else { program.into_os_string() })
}
