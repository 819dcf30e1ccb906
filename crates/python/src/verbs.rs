//! The verbs, called with values: the command knows what each option is, so that it is defined once.

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use basketry_cli::{Call, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::types::{PyAnyMethods, PyDict, PyDictMethods, PyIterator, PyString};
use pyo3::{Bound, PyAny, PyResult, Python, pyfunction};

use crate::interrupt::{Told, telling};

/// Runs a verb with options by name, and returns its report as JSON. `told` is told what the command's bar counts; `planned`
/// are options of the verb that is the first argument of `plan`.
#[pyfunction]
#[pyo3(signature = (verb, options, arguments, told = None, planned = None))]
pub fn report(
    py: Python<'_>,
    verb: String,
    options: &Bound<'_, PyDict>,
    arguments: Vec<OsString>,
    told: Told,
    planned: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let (options, planned) = (values(Some(options))?, values(planned)?);
    let call = Call { verb, options, arguments, planned };
    telling(py, &told, move |watch| basketry_cli::report(&call, &|more| watch.tell(more)))
}

/// The options that are given: None stands for one that is not.
fn values(options: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, Value)>> {
    let given = options.into_iter().flat_map(|options| options.iter()).filter(|(_, value)| !value.is_none());
    given.map(|(name, value)| Ok((name.extract()?, of_option(&value)?))).collect()
}

fn of_option(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(switch) = value.extract() {
        return Ok(Value::Switch(switch));
    }
    if value.hasattr("items")? {
        return rules(value).map(Value::Rules);
    }
    // A text, a path, and what is no list are one.
    match value.is_instance_of::<PyString>() || value.hasattr("__fspath__")? || !value.hasattr("__iter__")? {
        true => text(value).map(Value::One),
        false => value.try_iter()?.map(|one| text(&one?)).collect::<PyResult<_>>().map(Value::Several),
    }
}

/// Settings by pattern, each a mapping from keys; anything else is a `TypeError`.
fn rules(value: &Bound<'_, PyAny>) -> PyResult<Vec<(OsString, OsString)>> {
    items(value)?
        .map(|rule| {
            let (pattern, keys): (OsString, Bound<'_, PyAny>) = rule?.extract()?;
            if !keys.hasattr("items")? {
                let what = format!(
                    "settings are a mapping, such as {{\"Mu*\": {{\"compression\": \"lz4:4\"}}}}, and not {keys}"
                );
                return Err(PyTypeError::new_err(what));
            }
            let mut settings = OsString::new();
            for setting in items(&keys)? {
                let (key, value): (String, Bound<'_, PyAny>) = setting?.extract()?;
                settings.push(format!("{}{}=", if settings.is_empty() { "" } else { "," }, key.replace('_', "-")));
                settings.push(text(&value)?);
            }
            Ok((pattern, settings))
        })
        .collect()
}

fn items<'py>(mapping: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    mapping.call_method0("items")?.try_iter()
}

/// A value as the command takes it.
fn text(value: &Bound<'_, PyAny>) -> PyResult<OsString> {
    if let Ok(switch) = value.extract::<bool>() {
        return Ok(switch.to_string().into());
    }
    match value.hasattr("__fspath__")? {
        true => Ok(value.extract::<PathBuf>()?.into_os_string()),
        false => value.str()?.extract(),
    }
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

/// Runs the command for a program that has loaded this module, at `module`, and has no interpreter (`packaging/launcher`).
///
/// # Safety
///
/// `argv` has `argc` texts, and they and `module` end with a zero.
#[expect(unsafe_code, reason = "C's arguments")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn basketry_command(argc: c_int, argv: *const *const c_char, module: *const c_char) -> c_int {
    // SAFETY: so the caller says.
    let text = |text: *const c_char| OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes()).to_owned();
    // SAFETY: so the caller says.
    let arguments = (0..usize::try_from(argc).unwrap_or(0)).map(|place| text(unsafe { *argv.add(place) }));
    if let Ok(program) = std::env::current_exe() {
        starts_as(program, Vec::new(), text(module).into());
    }
    c_int::from(basketry_cli::run(arguments))
}

/// Runs the command, name first, and returns its exit code.
#[pyfunction]
pub fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| basketry_cli::run(arguments))
}
