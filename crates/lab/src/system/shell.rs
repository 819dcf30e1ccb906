//! Suggested commands: shell quoting, and names of outputs after their inputs.

use std::borrow::Cow;
use std::path::Path;

/// The file that the command writes, in the folder where it runs: `f.root` becomes `f.baskets.root`.
pub(crate) fn output(input: &str, word: &str) -> String {
    let stem = Path::new(input).file_stem().map_or(Cow::Borrowed("out"), |stem| stem.to_string_lossy());
    format!("{stem}.{word}.root")
}

/// A path as an argument: no option, and no list of files.
pub(crate) fn argument(path: &str) -> Cow<'_, str> {
    match path.starts_with(['-', '@']) {
        true => Cow::Owned(quoted(&format!("./{path}")).into_owned()),
        false => quoted(path),
    }
}

/// A word as a shell reads it as one.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    // Only a NUL cannot be quoted, which no path has.
    shlex::Quoter::new().allow_nul(true).quote(word).unwrap_or(Cow::Borrowed(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_leave_words_alone() {
        assert_eq!(quoted("a/b-c.root"), "a/b-c.root");
        assert_eq!(quoted("fX[3]"), "'fX[3]'");
        assert_eq!(quoted("it's"), "\"it's\"");
    }

    #[test]
    fn outputs_are_named_after_inputs_and_are_none() {
        assert_eq!(output("dir/my file.root", "baskets"), "my file.baskets.root");
        assert_eq!(output("f.baskets.root", "baskets"), "f.baskets.baskets.root");
        assert_eq!(argument("-x.root"), "./-x.root");
        assert_eq!(argument("@x y.root"), "'./@x y.root'");
    }
}
