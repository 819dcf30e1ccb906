//! Names of outputs: a pattern with `{n}` for the number of the task and `{stem}` for the name of its first input.

use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

/// The name of a file or URL without folders, parameters and ending.
pub fn stem(input: &str) -> String {
    let path = input.split(['?', '#']).next().unwrap_or(input);
    // A local name may have these signs.
    let path = if rootfile::url(Path::new(input)).is_some() { path } else { input };
    Path::new(path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The output of task `n` whose first input is `input`.
///
/// # Errors
///
/// The pattern has another name in braces.
pub fn output_name(pattern: &str, n: usize, input: &str) -> Result<PathBuf> {
    let name = pattern.replace("{n}", &n.to_string()).replace("{stem}", &stem(input));
    if pattern.replace("{n}", "").replace("{stem}", "").contains(['{', '}']) {
        return Err(Error::request(format!("a name of outputs may have {{n}} and {{stem}}, not others: {pattern}")));
    }
    Ok(PathBuf::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let name = |pattern, input| output_name(pattern, 7, input).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(name("out/merged_{n}.root", "a.root").unwrap(), "out/merged_7.root");
        assert_eq!(name("{stem}_{n}.root", "d/a.b.root").unwrap(), "a.b_7.root");
        assert_eq!(name("{stem}.root", "https://h/x/a.root?authz=b/c").unwrap(), "a.root");
        assert_eq!(name("{stem}.root", "d/a?b.root").unwrap(), "a?b.root");
        assert!(name("{name}.root", "a.root").is_err());
    }
}
