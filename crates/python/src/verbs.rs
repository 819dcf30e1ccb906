//! The verbs, through the command's own argument parser, so that each option is defined once.

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::{PyResult, Python, pyfunction};

use crate::interrupt::{Told, telling};

/// Runs a verb with arguments, the verb first, and returns its report as JSON. `told` is told what the command's bar
/// counts.
#[pyfunction]
#[pyo3(signature = (arguments, told = None))]
pub fn report(py: Python<'_>, arguments: Vec<OsString>, told: Told) -> PyResult<String> {
    telling(py, &told, move |watch| basketry_cli::report(arguments, &|more| watch.tell(more)))
}

/// The options of a verb, without dashes.
#[pyfunction]
pub fn options(verb: &str) -> Vec<String> {
    basketry_cli::options(verb)
}

/// Removes unfinished outputs, at the end of the process. Nothing may be written afterwards.
#[pyfunction]
pub fn abandon(py: Python<'_>) -> usize {
    py.detach(rootfile::abandon_outputs)
}

/// Makes the exit code 1, at the end of the process: an output could not be completed when Python ended, which then has no say in it.
#[pyfunction]
pub fn fail_at_exit() {
    extern "C" fn fail() {
        #[expect(unsafe_code, reason = "the end of the process is the C library's")]
        // SAFETY: both may be called at any time; a null stream means all of them.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(1)
        }
    }
    #[expect(unsafe_code, reason = "the end of the process is the C library's")]
    // SAFETY: the function may be called at any time, and does not unwind. Without room for it the exit code stays.
    let _ = unsafe { libc::atexit(fail) };
}

/// Sets how the command is started again for subprocesses: program, leading arguments, the compiled code.
#[pyfunction]
pub fn starts_as(program: PathBuf, arguments: Vec<OsString>, code: PathBuf) {
    basketry_cli::starts_as(basketry_cli::SelfCommand { program, arguments, code });
}

/// Runs the command, name first, and returns its exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| basketry_cli::run(arguments))
}
