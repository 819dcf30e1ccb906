//! Submit files of batch systems: one job of the system for each task.

use std::path::{Path, PathBuf};

use crate::system::shell::{argument, quoted};

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

/// The command that runs a task of a plan, without the number of the task.
pub fn run_command(jobs: &Path) -> String {
    format!("basketry run {}", argument(&jobs.to_string_lossy()))
}

/// The name and the text of the submit file of a plan with this many tasks. `folder` is where all paths of the plan count from.
pub fn submit_file(
    batch: Batch,
    jobs: &Path,
    folder: &Path,
    tasks: usize,
    (threads, memory): (usize, u64),
) -> (PathBuf, String) {
    let megabytes = memory.saturating_add(memory / 4).saturating_add(BESIDE).div_ceil(1_000_000);
    let (plan, folder) = (jobs.display(), folder.display());
    match batch {
        Batch::HtCondor => {
            let text = format!(
                "# One job for each task of {plan}: condor_submit this file, where the files of the plan can be reached.\n\
                 universe = vanilla\n\
                 executable = /usr/bin/env\n\
                 transfer_executable = false\n\
                 should_transfer_files = no\n\
                 getenv = true\n\
                 initialdir = {folder}\n\
                 arguments = \"basketry run '{}' --task $(Process)\"\n\
                 output = {plan}.d/condor-$(Process).out\n\
                 error = {plan}.d/condor-$(Process).err\n\
                 log = {plan}.d/condor.log\n\
                 request_cpus = {threads}\n\
                 request_memory = {megabytes}MB\n\
                 queue {tasks}\n",
                plan.to_string().replace('\'', "''").replace('"', "\"\"")
            );
            (jobs.with_extension("sub"), text)
        }
        Batch::Slurm => {
            let last = tasks.saturating_sub(1);
            let command = run_command(jobs);
            // sbatch takes these lines apart as a shell does.
            let (folder, log) = (folder.to_string(), format!("{plan}.d/slurm-%a.log"));
            let (folder, log) = (quoted(&folder), quoted(&log));
            let text = format!(
                "#!/bin/sh\n\
                 # One job for each task of {plan}: sbatch this file, where the files of the plan can be reached.\n\
                 #SBATCH --array=0-{last}\n\
                 #SBATCH --cpus-per-task={threads}\n\
                 #SBATCH --mem={megabytes}M\n\
                 #SBATCH --chdir={folder}\n\
                 #SBATCH --output={log}\n\
                 exec {command} --task \"$SLURM_ARRAY_TASK_ID\"\n"
            );
            (jobs.with_extension("sh"), text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_a_job_with_the_resources_of_the_plan() {
        let of = |batch| submit_file(batch, Path::new("d/jobs.json"), Path::new("/work"), 12, (4, 1_000_000_000));
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
        let (_, text) = submit_file(Batch::Slurm, Path::new("a b/jobs.json"), Path::new("/my work"), 1, (1, 0));
        for line in [
            "#SBATCH --chdir='/my work'",
            "#SBATCH --output='a b/jobs.json.d/slurm-%a.log'",
            "exec basketry run 'a b/jobs.json' --task \"$SLURM_ARRAY_TASK_ID\"",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
    }
}
