//! The verbs, through the command's own argument parser, so that each option is defined once.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use pyo3::{PyResult, Python, pyfunction};

use crate::interrupt::listening;

/// Runs a verb with arguments, the verb first, and returns its report as JSON.
#[pyfunction]
pub fn report(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<String> {
    listening(py, move |cancelled| {
        let progress = |_| match cancelled.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        basketry_cli::report(arguments, &progress)
    })
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
