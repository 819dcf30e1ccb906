//! The words of an expression: numbers, texts, names and signs, each with its place.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};

/// The longest text. Lists of thousands of names have room.
pub(crate) const LONGEST: usize = 1 << 16;

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    Whole(u64),
    Number(f64),
    Text(String),
    /// A name, with dots or `::` in it if it has some.
    Name(String),
    /// A name in backquotes.
    Quoted(String),
    Sign(&'static str),
    End,
}

/// A word with the bytes of the text that it takes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub word: Word,
    pub place: Range<usize>,
}

/// Longer signs first.
const SIGNS: [&str; 34] = [
    "<=>", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->", "+", "-", "*", "/", "%", "<", ">", "=",
    "!", "&", "|", "^", "~", "?", ":", "(", ")", "[", "]", "{", "}", ",",
];

/// Splits a text into words, with an [`Word::End`] behind them.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>> {
    if text.len() > LONGEST {
        let message = format!("the expression has {} bytes, and {LONGEST} are allowed", text.len());
        return Err(Error::new(ErrorKind::TooLarge, message, 0..1));
    }
    let mut lexer = Lexer { text, at: 0 };
    let mut found = Vec::new();
    loop {
        lexer.skip(char::is_whitespace);
        let start = lexer.at;
        let word = lexer.word()?;
        let is_end = word == Word::End;
        found.push(Token { word, place: start..lexer.at });
        if is_end {
            return Ok(found);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, is_part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }

    fn word(&mut self) -> Result<Word> {
        let Some(first) = self.peek() else { return Ok(Word::End) };
        let second = self.rest().chars().nth(1);
        if first.is_ascii_digit() || (first == '.' && second.is_some_and(|c| c.is_ascii_digit())) {
            return self.number();
        }
        match first {
            '"' | '\'' => self.quoted(first).map(Word::Text),
            '`' => self.quoted(first).map(Word::Quoted),
            _ if is_name_start(first) => Ok(Word::Name(self.name())),
            _ => self.sign(first),
        }
    }

    fn sign(&mut self, first: char) -> Result<Word> {
        let sign = SIGNS.into_iter().find(|sign| self.rest().starts_with(sign));
        // A dot behind a bracket begins a member or a method.
        let sign = sign.or_else(|| self.rest().starts_with('.').then_some("."));
        let Some(sign) = sign else {
            let place = self.at..self.at + first.len_utf8();
            return Err(Error::syntax(format!("the character {first:?} is not part of any expression"), place));
        };
        self.at += sign.len();
        Ok(Word::Sign(sign))
    }

    /// A name: letters, digits and `_`, also behind dots and `::`; `Sum$` ends in a dollar.
    fn name(&mut self) -> String {
        let start = self.at;
        self.at += self.peek().map_or(0, char::len_utf8);
        loop {
            self.skip(|c| c.is_alphanumeric() || c == '_');
            if self.rest().starts_with('$') {
                self.at += 1;
                break;
            }
            let join = ["::", "."].into_iter().find(|join| self.rest().starts_with(join)).unwrap_or_default();
            let next = self.rest().get(join.len()..).and_then(|rest| rest.chars().next());
            if join.is_empty() || !next.is_some_and(is_name_start) {
                break;
            }
            self.at += join.len();
        }
        self.text.get(start..self.at).unwrap_or_default().to_owned()
    }

    fn quoted(&mut self, quote: char) -> Result<String> {
        let start = self.at;
        let mut found = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                _ if c == quote => {
                    self.at += at + 1;
                    return Ok(found);
                }
                '\\' if quote != '`' => found.push(match chars.next().map(|(_, c)| c) {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some(c) => c,
                    None => break,
                }),
                _ => found.push(c),
            }
        }
        Err(Error::syntax(format!("the closing {quote} is missing"), start..self.text.len()))
    }

    fn number(&mut self) -> Result<Word> {
        let start = self.at;
        let wrong = |end: usize| Error::syntax("not a number", start..end);
        let has_radix = |rest: &str, marks: [&str; 2]| marks.iter().any(|mark| rest.starts_with(mark));
        let radix = match self.rest() {
            rest if has_radix(rest, ["0x", "0X"]) => 16,
            rest if has_radix(rest, ["0b", "0B"]) => 2,
            rest if has_radix(rest, ["0o", "0O"]) => 8,
            _ => 10,
        };
        if radix != 10 {
            self.at += 2;
            let digits = self.skip(|c| c.is_digit(radix) || c == '_').replace('_', "");
            let whole = u64::from_str_radix(&digits, radix).map_err(|_| wrong(self.at))?;
            return self.without_suffix(Word::Whole(whole), start);
        }
        let is_digit = |c: char| c.is_ascii_digit() || c == '_';
        self.skip(is_digit);
        let mut is_whole = true;
        if self.rest().starts_with('.') {
            is_whole = false;
            self.at += 1;
            self.skip(is_digit);
        }
        if self.rest().starts_with(['e', 'E']) {
            let sign = self.rest().get(1..2).is_some_and(|sign| ["+", "-"].contains(&sign));
            let digits = self.rest().get(1 + usize::from(sign)..).unwrap_or_default();
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                is_whole = false;
                self.at += 1 + usize::from(sign);
                self.skip(is_digit);
            }
        }
        let digits = self.text.get(start..self.at).unwrap_or_default().replace('_', "");
        let word = match (is_whole, digits.parse::<u64>()) {
            (true, Ok(whole)) => Word::Whole(whole),
            (true, Err(_)) => return Err(Error::syntax("this whole number has more than 64 bits", start..self.at)),
            (false, _) => Word::Number(digits.parse().map_err(|_| wrong(self.at))?),
        };
        self.without_suffix(word, start)
    }

    /// Takes C's suffixes of numbers off: `1.0f`, `10L`, `3u`.
    fn without_suffix(&mut self, word: Word, start: usize) -> Result<Word> {
        let suffix = self.skip(|c| c.is_alphanumeric() || c == '_').to_lowercase();
        match (&word, suffix.as_str()) {
            (_, "")
            | (Word::Number(_), "f" | "l")
            | (Word::Whole(_), "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") => Ok(word),
            _ => {
                Err(Error::syntax("not a number; a name begins with a letter or stands in backquotes", start..self.at))
            }
        }
    }
}

fn is_name_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '@'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Word> {
        let mut words: Vec<_> = tokens(text).unwrap().into_iter().map(|token| token.word).collect();
        assert_eq!(words.pop(), Some(Word::End));
        words
    }

    #[test]
    fn numbers_are_those_of_python_and_c() {
        let whole = |n| vec![Word::Whole(n)];
        for (text, value) in [("0", 0), ("1_000", 1000), ("0x1F", 31), ("10L", 10), ("18446744073709551615", u64::MAX)]
        {
            assert_eq!(words(text), whole(value), "{text}");
        }
        for (text, value) in [(".5", 0.5), ("1.", 1.0), ("2e3", 2000.0), ("1.5f", 1.5), ("1e-2", 0.01)] {
            assert_eq!(words(text), vec![Word::Number(value)], "{text}");
        }
        for wrong in ["1a", "0x", "18446744073709551616", "1.5u", "2e"] {
            assert!(tokens(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_have_dots_and_ends() {
        let name = |text: &str| Word::Name(text.to_owned());
        assert_eq!(words("a.b TMath::Pi Sum$"), [name("a.b"), name("TMath::Pi"), name("Sum$")]);
        assert_eq!(words("x.5"), [name("x"), Word::Number(0.5)]);
        assert_eq!(words("`a b/c`"), [Word::Quoted("a b/c".to_owned())]);
        assert_eq!(words(r#"'it\'s' "b""#), [Word::Text("it's".to_owned()), Word::Text("b".to_owned())]);
        assert_eq!(words("a**b<=c")[1..2], [Word::Sign("**")]);
        assert!(tokens("'open").is_err() && tokens("a # b").is_err());
    }
}
