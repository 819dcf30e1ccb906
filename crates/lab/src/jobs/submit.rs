//! Submit files of batch systems: one job of the system for each task.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

use crate::system::shell::{argument, pasted};

/// A batch system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// HTCondor.
    HtCondor,
    /// Slurm.
    Slurm,
}

/// Memory of a process beyond its budget: code, metadata of the system, and buffers of the allocator.
const BESIDE: u64 = 200_000_000;

/// The command that runs a task of a plan, without the number of the task, to be pasted.
pub fn run_command(jobs: &Path) -> String {
    format!("basketry run {}", pasted(&jobs.to_string_lossy()))
}

/// The name and the text of the submit file of a plan with this many tasks. `folder` is where all paths of the plan count from.
///
/// # Errors
///
/// A path has characters that the batch system has no way to write.
pub fn submit_file(
    batch: Batch,
    jobs: &Path,
    folder: &Path,
    tasks: usize,
    (threads, memory): (usize, u64),
) -> Result<(PathBuf, String)> {
    let megabytes = memory.saturating_add(memory / 4).saturating_add(BESIDE).div_ceil(1_000_000);
    let (plan, folder) = (plain(batch, jobs)?, plain(batch, folder)?);
    let plan: &str = &not_an_option(plan);
    let head = "# One job for each task of the plan: SUBMIT this file, where the files of the plan can be reached.";
    match batch {
        Batch::HtCondor => {
            let head = head.replace("SUBMIT", "condor_submit");
            let (words, plan) = (condor(&plan.replace('\'', "''").replace('"', "\"\"")), condor(plan));
            // Blanks at the end of a line are dropped, and a backslash there continues it.
            let folder = if folder.ends_with([' ', '\\']) { format!("{folder}/.") } else { folder.to_owned() };
            let text = format!(
                "{head}\n\
                 universe = vanilla\n\
                 executable = /usr/bin/env\n\
                 transfer_executable = false\n\
                 should_transfer_files = no\n\
                 getenv = true\n\
                 initialdir = {}\n\
                 arguments = \"basketry run '{words}' --task $(Process)\"\n\
                 output = {plan}.d/condor-$(Process).out\n\
                 error = {plan}.d/condor-$(Process).err\n\
                 log = {plan}.d/condor.log\n\
                 request_cpus = {threads}\n\
                 request_memory = {megabytes}MB\n\
                 queue {tasks}\n",
                condor(&folder)
            );
            Ok((jobs.with_extension("sub"), text))
        }
        Batch::Slurm => {
            let head = head.replace("SUBMIT", "sbatch");
            let last = tasks.saturating_sub(1);
            let command = argument(plan);
            // In the name of a file `%` begins a pattern.
            let (folder, log) = (sbatch(folder), sbatch(&format!("{}.d/slurm-", plan.replace('%', "%%"))));
            let text = format!(
                "#!/bin/sh\n\
                 {head}\n\
                 #SBATCH --array=0-{last}\n\
                 #SBATCH --cpus-per-task={threads}\n\
                 #SBATCH --mem={megabytes}M\n\
                 #SBATCH --chdir={folder}\n\
                 #SBATCH --output={log}%a.log\n\
                 exec basketry run {command} --task \"$SLURM_ARRAY_TASK_ID\"\n"
            );
            Ok((jobs.with_extension("sh"), text))
        }
    }
}

/// A path that can stand in a submit file.
fn plain(batch: Batch, path: &Path) -> Result<&str> {
    let refused = |what: &str| {
        let why = format!("has {what}, which a submit file cannot have; name the plan or its folder otherwise");
        Err(Error::request(why).file(path))
    };
    let Some(text) = path.to_str() else { return refused("bytes that are no text") };
    if text.chars().any(char::is_control) {
        return refused("a line break or another control character");
    }
    match batch {
        // Fact: `$$(...)` is replaced once more, when a job has its machine.
        Batch::HtCondor if text.contains("$$") => refused("two dollar signs in a row"),
        // Fact: a backslash in a name of an output says that no `%` in it is a pattern; sbatch cuts these words out of lines.
        Batch::Slurm if text.contains('\\') => refused("a backslash"),
        Batch::Slurm if ["packjob", "hetjob"].iter().any(|word| text.to_ascii_lowercase().contains(word)) => {
            refused("\"hetjob\" or \"packjob\", words of sbatch,")
        }
        _ => Ok(text),
    }
}

/// A path that no command takes for an option or a list, and whose blanks in front are not dropped.
fn not_an_option(path: &str) -> Cow<'_, str> {
    match path.starts_with(['-', '@', ' ']) {
        true => Cow::Owned(format!("./{path}")),
        false => Cow::Borrowed(path),
    }
}

/// A text in which HTCondor replaces nothing: `$(NAME)`, `$ENV(NAME)` and `$F(NAME)` stand for other texts.
fn condor(text: &str) -> String {
    text.replace('$', "$(DOLLAR)")
}

/// A word of a line of options for sbatch, which takes them apart as a shell does, but for `$`.
fn sbatch(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "%+,-./:=@_".contains(c);
    word.chars().flat_map(|c| (!is_plain(c)).then_some('\\').into_iter().chain([c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_a_job_with_the_resources_of_the_plan() {
        let of =
            |batch| submit_file(batch, Path::new("d/jobs.json"), Path::new("/work"), 12, (4, 1_000_000_000)).unwrap();
        let (path, text) = of(Batch::HtCondor);
        assert_eq!(path, Path::new("d/jobs.sub"));
        for line in [
            "arguments = \"basketry run 'd/jobs.json' --task $(Process)\"",
            "request_cpus = 4",
            "request_memory = 1450MB",
            "initialdir = /work",
            "queue 12",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        let (path, text) = of(Batch::Slurm);
        assert_eq!(path, Path::new("d/jobs.sh"));
        for line in [
            "#SBATCH --array=0-11",
            "#SBATCH --mem=1450M",
            "exec basketry run d/jobs.json --task \"$SLURM_ARRAY_TASK_ID\"",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        let (_, text) =
            submit_file(Batch::Slurm, Path::new("a b/jobs.json"), Path::new("/my work"), 1, (1, 0)).unwrap();
        for line in [
            r"#SBATCH --chdir=/my\ work",
            r"#SBATCH --output=a\ b/jobs.json.d/slurm-%a.log",
            "exec basketry run 'a b/jobs.json' --task \"$SLURM_ARRAY_TASK_ID\"",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }

    /// What HTCondor makes of a value: the only macros are those of this program.
    fn expanded(line: &str) -> String {
        let (dollar, process) = ("\u{1}", "\u{2}");
        let text = line.replace("$(DOLLAR)", dollar).replace("$(Process)", process);
        assert!(!text.contains('$'), "{line}");
        text.replace(dollar, "$").replace(process, "7")
    }

    #[test]
    fn values_are_the_paths_and_nothing_else() {
        let names = [
            "plain",
            "a b",
            "$(HOME)",
            "$ENV(HOME)",
            "$HOME",
            "`id`",
            "50%j",
            "%%",
            "it's",
            "a\"b",
            "#c",
            ";id",
            "é&|<>",
            "-x",
            "@l",
            "a=b,c",
            "$F(x)",
            "~",
            " x",
        ];
        for name in names {
            let (plan, folder) = (format!("{name}.json"), format!("/w/{name}"));
            let of = |batch| submit_file(batch, Path::new(&plan), Path::new(&folder), 3, (1, 0)).unwrap().1;
            let text = of(Batch::HtCondor);
            assert_eq!(text.lines().count(), 14, "{text}");
            let value = |key: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key} = "))).unwrap();
                expanded(line)
            };
            assert_eq!(value("initialdir"), folder);
            let shown = not_an_option(&plan);
            assert_eq!(value("output"), format!("{shown}.d/condor-7.out"));
            let words = value("arguments");
            let words = words.strip_prefix('"').unwrap().strip_suffix('"').unwrap().replace("\"\"", "\"");
            let word = words.strip_prefix("basketry run '").unwrap().strip_suffix("' --task 7").unwrap();
            assert_eq!(word.replace("''", "'"), *shown);

            let text = of(Batch::Slurm);
            assert_eq!(text.lines().count(), 8, "{text}");
            let option = |key: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(&format!("#SBATCH --{key}="))).unwrap();
                // As sbatch: a backslash takes the next character as it is, and nothing else is special here.
                let mut out = String::new();
                let mut chars = line.chars();
                while let Some(c) = chars.next() {
                    assert!(!"'\"# ".contains(c), "{line}");
                    out.extend(if c == '\\' { chars.next() } else { Some(c) });
                }
                out
            };
            assert_eq!(option("chdir"), folder);
            let log = option("output").replace("%%", "\u{1}").replace("%a", "7");
            assert_eq!(log.replace('\u{1}', "%"), format!("{shown}.d/slurm-7.log"));
            let command = text.lines().last().unwrap();
            let words = shlex::split(command).unwrap();
            assert_eq!(words[3], *shown, "{command}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        for batch in [Batch::HtCondor, Batch::Slurm] {
            for bad in ["a\nqueue 5", "a\r", "a\tb", "\u{1b}[2J", "a\0b", "\u{85}"] {
                let of = |plan: &str, folder: &str| submit_file(batch, Path::new(plan), Path::new(folder), 1, (1, 0));
                assert!(of(bad, "/w").unwrap_err().to_string().contains("control character"), "{bad:?}");
                assert!(of("p.json", bad).is_err(), "{bad:?}");
            }
        }
        assert!(submit_file(Batch::HtCondor, Path::new("$$(x)"), Path::new("/w"), 1, (1, 0)).is_err());
        assert!(submit_file(Batch::Slurm, Path::new("a\\b"), Path::new("/w"), 1, (1, 0)).is_err());
        let (_, text) = submit_file(Batch::HtCondor, Path::new("p"), Path::new("/w\\"), 1, (1, 0)).unwrap();
        assert!(text.contains("initialdir = /w\\/.\n"), "{text}");
    }
}
