//! The verbs of the command as functions: merge, rewrite, verify, inspect, tune, recover and the others, with the command's own reports.

use std::ffi::{OsString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::ptr::null_mut;
use std::sync::Mutex;

use basketry_cli::{Call, Value};
use rootfile::{Error as Failure, Result};
use serde_json::{Map, Value as Json};

use crate::answer::answer;
use crate::error::Error;
use crate::foreign::{Text, give, items};
use crate::lock::lock;
use crate::settings::pairs;

/// Verbs that start the command in processes of its own, or replace the process: a library has no command.
const PROCESSES: &[&str] = &["sweep", "write-bench", "run", "monitor", "readspeed", "hadd", "completions", "man"];

/// A caller's function for progress, and what it gets.
struct Progress {
    function: extern "C" fn(user: *mut c_void, more: u64) -> i32,
    user: *mut c_void,
}

// SAFETY: the interface says that any thread calls the function, one at a time; the pointer is only handed to it.
unsafe impl Send for Progress {}

fn value(json: &Json) -> Result<Option<Value>> {
    let text = |json: &Json| match json {
        Json::String(text) => Ok(OsString::from(text)),
        Json::Number(_) | Json::Bool(_) => Ok(OsString::from(json.to_string())),
        _ => Err(Failure::request(format!("{json} is neither a text nor a number"))),
    };
    Ok(Some(match json {
        Json::Null => return Ok(None),
        Json::Bool(switch) => Value::Switch(*switch),
        Json::Array(several) => Value::Several(several.iter().map(text).collect::<Result<_>>()?),
        Json::Object(rules) => {
            let rule = |(pattern, keys): (&String, &Json)| {
                let Json::Object(keys) = keys else { return Ok((OsString::from(pattern), text(keys)?)) };
                let setting = |(key, value): (&String, &Json)| {
                    let value = text(value)?.into_string().unwrap_or_default();
                    Ok(format!("{}={value}", key.replace('_', "-")))
                };
                let settings = keys.iter().map(setting).collect::<Result<Vec<_>>>()?;
                Ok((OsString::from(pattern), OsString::from(settings.join(","))))
            };
            Value::Rules(rules.iter().map(rule).collect::<Result<_>>()?)
        }
        one => Value::One(text(one)?),
    }))
}

/// The options of a call: JSON objects, and settings by name behind them.
fn options(text: &str) -> Result<Vec<(String, Value)>> {
    let (mut found, mut rest) = (Vec::new(), text.trim_start());
    while rest.starts_with('{') {
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Json>>();
        let object = objects.next().unwrap_or_else(|| Ok(Map::new()));
        let object = object.map_err(|e| Failure::request(format!("the options are no JSON: {e}")))?;
        for (key, json) in object {
            let value = value(&json).map_err(|e| e.object(format!("option {key}")))?;
            found.extend(value.map(|value| (key, value)));
        }
        rest = rest.get(objects.byte_offset()..).unwrap_or_default().trim_start();
    }
    let one = |(key, text): (&str, &str)| {
        let switch = text.parse().map(Value::Switch);
        (key.to_owned(), switch.unwrap_or_else(|_| Value::One(text.into())))
    };
    found.extend(pairs(rest)?.into_iter().map(one));
    Ok(found)
}

fn run(call: &Call, progress: Option<Progress>) -> Result<String> {
    let first = call.verb.split(' ').next().unwrap_or_default();
    if PROCESSES.contains(&first) && call.verb != "sweep report" {
        let message = format!("the verb {first} is the command's alone: run the command, basketry {first}");
        return Err(Failure::unsupported(message));
    }
    let told = progress.map(Mutex::new);
    basketry_cli::report(call, &|more| match &told {
        None => ControlFlow::Continue(()),
        Some(told) => {
            let told = lock(told);
            match (told.function)(told.user, more) {
                0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        }
    })
}

/// Runs a verb of the command, and returns its report as JSON: what `basketry VERB --json` prints (its form is on the pages docs/VERB-schema.md).
///
/// @param verb      `merge`, `rewrite`, `verify`, `inspect`, `tune`, `recover`, `convert`, `check`, `fileset`, `index`, `pick`, `sort`,
///                  `join`, `precision`, `plan`, `collect`.
/// @param options   The options of the verb by name, as settings (`output=all.root, compression=zstd:5, force=true`) or as a JSON object
///                  (`{"output": "all.root", "keep": ["Events"], "column-set": {"Muon_*": {"compression": "lz4:4"}}}`), behind which settings
///                  may follow. Settings have no commas in their values: an option with several is given again (`by=run, by=event`). The
///                  files of one `with` of `join` have line breaks between them. May be null.
/// @param inputs    The arguments of the verb: files, URLs, patterns.
/// @param count     Their number.
/// @param progress  Called with how much more is done, in units of the verb (mostly bytes), by whichever thread works, one at a time. A
///                  result that is not 0 ends the work, and the function fails with ::BASKETRY_ERROR_INTERRUPTED. May be null.
/// @param user      What `progress` gets first.
/// @return The report, or null after an error. The caller frees it by ::basketry_text_free. That files differ is no error of `verify`: its
///         report says so.
///
/// Any thread may call it, several at once. Takes the memory and threads of the options `memory` and `threads`. Nothing is printed, and
/// signals are left to the host.
#[unsafe(no_mangle)]
pub extern "C" fn basketry_verb(
    verb: Text,
    options: Text,
    inputs: *const Text,
    count: usize,
    progress: Option<extern "C" fn(user: *mut c_void, more: u64) -> i32>,
    user: *mut c_void,
    error: Option<&mut MaybeUninit<*mut Error>>,
) -> *mut c_char {
    let report = answer(error, || {
        // SAFETY: the interface asks for so many texts.
        let inputs = unsafe { items(inputs, count, "the inputs") }?;
        let argument =
            |input: &Text| input.path("an input").map(|path| OsString::from_vec(path.into_os_string().into_vec()));
        let call = Call {
            verb: verb.text("the verb")?.to_owned(),
            options: self::options(options.or_empty("the options")?)?,
            arguments: inputs.iter().map(argument).collect::<Result<_>>()?,
            planned: Vec::new(),
        };
        run(&call, progress.map(|function| Progress { function, user }))
    });
    report.map_or(null_mut(), |report| give(&report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_json_or_settings() {
        let text = |options: &str| format!("{:?}", options_of(options));
        assert_eq!(text("output=a.root, force=true"), r#"[("output", One("a.root")), ("force", Switch(true))]"#);
        let json = r#"{"keep": ["a", "b"], "threads": 2, "tree": null, "column": {"Mu*": {"compression": "lz4:4"}}}"#;
        let said = text(json);
        assert!(
            said.contains(r#"("keep", Several(["a", "b"]))"#) && said.contains(r#"("threads", One("2"))"#),
            "{said}"
        );
        assert!(said.contains(r#"Rules([("Mu*", "compression=lz4:4")])"#) && !said.contains("tree"), "{said}");
        let both = text(r#"{"output": "a,b.root"} {"on": {"run": "Run"}} how=inner, first=true"#);
        let settings = r#"("on", Rules([("run", "Run")])), ("how", One("inner")), ("first", Switch(true))]"#;
        assert_eq!(both, format!(r#"[("output", One("a,b.root")), {settings}"#));
        assert!(["{", "nothing", "{} nothing", "{} [1]", "{1}"].iter().all(|wrong| options(wrong).is_err()));
        let sweep = Call { verb: "sweep".to_owned(), ..Call::default() };
        assert!(run(&sweep, None).is_err());
    }

    fn options_of(text: &str) -> Vec<(String, Value)> {
        options(text).unwrap()
    }
}
