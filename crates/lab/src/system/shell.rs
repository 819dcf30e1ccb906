//! Suggested commands: shell quoting, names of outputs after their inputs, and names as patterns. Files and names may have any
//! characters; a suggested command has none that a terminal does not show, and works when it is pasted.

use std::borrow::Cow;
use std::path::Path;

use dataset::glob::Pattern;
use rootfile::text::is_printable;

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

/// A path as an argument of a command that people paste.
pub(crate) fn pasted(path: &str) -> Cow<'_, str> {
    match path.starts_with(['-', '@']) {
        true => Cow::Owned(visible(&format!("./{path}")).into_owned()),
        false => visible(path),
    }
}

/// A tree of a file, `FILE:TREE`, as an argument of a command that people paste.
pub(crate) fn pasted_tree(file: &str, tree: &str) -> String {
    pasted(&format!("{file}:{}", pattern(tree))).into_owned()
}

/// The pattern that matches a name, and no other, as an argument of a command that people paste.
pub(crate) fn pasted_pattern(name: &str) -> String {
    visible(&pattern(name)).into_owned()
}

/// The pattern that matches a name, and no other: as options take it, which begin with a dash.
pub(crate) fn pattern(name: &str) -> Cow<'_, str> {
    // Fact: of a name with dimensions, `fX[3]`, the look-up takes the text itself.
    let (bare, dimensions) = name.split_at(name.find('[').filter(|_| name.ends_with(']')).unwrap_or(name.len()));
    let is_dimensions = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '[' || c == ']');
    if is_dimensions(dimensions) && !bare.contains(['*', '?', '[', '{', '\\']) && !bare.starts_with(['-', '/']) {
        return Cow::Borrowed(name);
    }
    let exact = Pattern::exact(name);
    Cow::Owned(exact.as_str().strip_prefix('-').map_or_else(|| exact.as_str().to_owned(), |rest| format!("[-]{rest}")))
}

/// A word as bash, zsh and ksh read it as one, without characters that a terminal does not show: those become codes.
fn visible(word: &str) -> Cow<'_, str> {
    if word.chars().all(is_printable) {
        return quoted(word);
    }
    let mut out = "$'".to_owned();
    for c in word.chars() {
        match c {
            '\\' | '\'' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if is_printable(c) => out.push(c),
            c => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}"))),
        }
    }
    out.push('\'');
    Cow::Owned(out)
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
    fn commands_show_all_their_characters() {
        assert_eq!(pasted("a b.root"), "'a b.root'");
        assert_eq!(pasted("-a\nb'c\\d\u{202e}e\u{1b}"), r"$'./-a\nb\'c\\d\xe2\x80\xaee\x1b'");
        assert_eq!(pasted_tree("f.root", "d/t x"), "'f.root:d/t x'");
    }

    #[test]
    fn patterns_match_one_name() {
        let names =
            ["plain", "fX[3]", "a*", "ab", "-dash", "--drop", "/re/", "q?", "{a,b}", "a\\b", "x[y]", "e[0][2]", "n\nl"];
        for name in names {
            let made = Pattern::new(&pattern(name)).unwrap();
            let matched: Vec<&str> = names.into_iter().filter(|other| made.matches(other)).collect();
            assert_eq!(matched, [name]);
            assert!(!pattern(name).starts_with('-'));
        }
        assert_eq!(pasted_pattern("fX[3]"), "'fX[3]'");
    }

    #[test]
    fn outputs_are_named_after_inputs_and_are_none() {
        assert_eq!(output("dir/my file.root", "baskets"), "my file.baskets.root");
        assert_eq!(output("f.baskets.root", "baskets"), "f.baskets.baskets.root");
        assert_eq!(argument("-x.root"), "./-x.root");
        assert_eq!(argument("@x y.root"), "'./@x y.root'");
    }
}
