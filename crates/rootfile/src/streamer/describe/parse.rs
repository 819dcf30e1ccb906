//! Parses class declarations: the part of C++ that declares bases and members.
//!
//! ```text
//! namespace ns { struct Hit { float fX[3]; }; }
//! class Event : public TObject {
//!    int fN;  // a comment is the member's, if it stands on the line of the semicolon
//!    std::vector<ns::Hit> fHits;
//!    version 2;  // or ClassDef(Event, 2)
//! };
//! ```
//!
//! Lines that begin with `#` are skipped, so that a header with only data members can be used unchanged. Functions and
//! everything else are errors with line and column.

use super::cpp_type::{Core, CppType};
use super::{ClassDescription, Member};
use crate::{Error, Result};

/// Deepest nesting of namespaces.
const MAX_DEPTH: usize = 32;

/// Reads class declarations. Types get ROOT's spelling; enums that the text declares become enum types.
///
/// # Errors
///
/// If the text is not a declaration that a file can hold, with the line.
pub fn parse(text: &str) -> Result<Vec<ClassDescription>> {
    let mut parser = Parser { text, at: 0, classes: Vec::new(), enums: Vec::new() };
    parser.items("", 0).map_err(|e| parser.placed(&e))?;
    Ok(parser.classes)
}

/// The message; the position is added at the end.
type Step<T> = std::result::Result<T, String>;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    classes: Vec<ClassDescription>,
    /// Enums by full name, with their underlying types.
    enums: Vec<(String, Core)>,
}

impl<'a> Parser<'a> {
    fn placed(&self, message: &str) -> Error {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count();
        Error::request(format!("line {line}, column {column}: {message}"))
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks, comments, and preprocessor lines.
    fn skip(&mut self) -> Step<()> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += 2 + rest.find("*/").ok_or("the comment does not end")?;
            } else {
                return Ok(());
            }
        }
    }

    fn eat(&mut self, sign: &str) -> Step<bool> {
        self.skip()?;
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        Ok(found)
    }

    fn expect(&mut self, sign: &str) -> Step<()> {
        if self.eat(sign)? { Ok(()) } else { Err(self.found(&format!("`{sign}`"))) }
    }

    fn found(&self, expected: &str) -> String {
        match self.rest().chars().next() {
            None => format!("expected {expected}, but the text ends"),
            Some(_) => {
                let word: String =
                    self.rest().chars().take_while(|c| c.is_alphanumeric() || *c == '_').take(40).collect();
                let found = if word.is_empty() { self.rest().chars().take(1).collect() } else { word };
                format!("expected {expected}, found `{found}`")
            }
        }
    }

    /// The next word, not consumed.
    fn peek(&mut self) -> Step<&'a str> {
        self.skip()?;
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        Ok(rest.get(..end).unwrap_or_default())
    }

    fn eat_word(&mut self, word: &str) -> Step<bool> {
        let found = self.peek()? == word;
        if found {
            self.at += word.len();
        }
        Ok(found)
    }

    fn name(&mut self) -> Step<&'a str> {
        let word = self.peek()?;
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.found("a name"));
        }
        self.at += word.len();
        Ok(word)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Step<T> {
        let word = self.peek()?;
        let number = word.parse().map_err(|_| self.found("a number that fits"))?;
        self.at += word.len();
        Ok(number)
    }

    /// The declarations in a file or namespace.
    fn items(&mut self, scope: &str, depth: usize) -> Step<()> {
        if depth > MAX_DEPTH {
            return Err("too many namespaces in one another".into());
        }
        loop {
            match self.peek()? {
                "" if self.rest().is_empty() && scope.is_empty() => return Ok(()),
                "" if self.rest().starts_with('}') && !scope.is_empty() => return Ok(()),
                "namespace" => {
                    self.name()?;
                    let inner = scoped(scope, self.name()?);
                    self.expect("{")?;
                    self.items(&inner, depth + 1)?;
                    self.expect("}")?;
                }
                "enum" => self.enumeration(scope)?,
                "class" | "struct" => self.class(scope)?,
                _ => return Err(self.found("a class, an enum or a namespace")),
            }
        }
    }

    fn enumeration(&mut self, scope: &str) -> Step<()> {
        self.name()?;
        if !self.eat_word("class")? {
            self.eat_word("struct")?;
        }
        let name = scoped(scope, self.name()?);
        let mut of = None;
        if self.eat(":")? {
            let start = self.at;
            let ty = self.ty()?;
            let Core::Basic(basic) = ty.core else {
                self.at = start;
                return Err(self.found("the type the enum is kept in"));
            };
            of = Some(basic);
        }
        if self.eat("{")? {
            self.at += self.rest().find('}').ok_or("the enum does not end")?;
            self.expect("}")?;
        }
        self.enums.push((name.clone(), Core::Enum(name, of)));
        self.expect(";")
    }

    /// Parses a type.
    fn ty(&mut self) -> Step<CppType> {
        self.skip()?;
        let (ty, bytes) = CppType::parse_head(self.rest()).map_err(|e| e.to_string())?;
        self.at += bytes;
        Ok(ty)
    }

    fn class(&mut self, scope: &str) -> Step<()> {
        self.name()?;
        let name = scoped(scope, &self.ty()?.name());
        let mut class = ClassDescription { name, ..ClassDescription::default() };
        if self.eat(";")? {
            return Ok(());
        }
        if self.eat(":")? {
            loop {
                while matches!(self.peek()?, "public" | "protected" | "private") {
                    self.name()?;
                }
                if self.peek()? == "virtual" {
                    return Err("ROOT does not write virtual bases".into());
                }
                let base = self.ty()?;
                class.bases.push(base.name());
                if !self.eat(",")? {
                    break;
                }
            }
        }
        self.expect("{")?;
        while !self.eat("}")? {
            self.member(&mut class)?;
        }
        self.expect(";")?;
        self.classes.push(class);
        Ok(())
    }

    fn member(&mut self, class: &mut ClassDescription) -> Step<()> {
        match self.peek()? {
            "public" | "protected" | "private" => {
                self.name()?;
                return self.expect(":");
            }
            "version" => {
                self.name()?;
                class.version = Some(self.number()?);
                self.expect(";")?;
                class.title = self.comment();
                return Ok(());
            }
            "ClassDef" | "ClassDefNV" | "ClassDefOverride" | "ClassDefInline" => {
                self.name()?;
                self.expect("(")?;
                self.ty()?;
                self.expect(",")?;
                class.version = Some(self.number()?);
                self.expect(")")?;
                class.title = self.comment();
                if self.eat(";")? && class.title.is_empty() {
                    class.title = self.comment();
                }
                return Ok(());
            }
            "enum" => {
                // A declaration, unless a member follows.
                let start = self.at;
                if self.enumeration(&class.name.clone()).is_ok() {
                    return Ok(());
                }
                self.at = start;
            }
            _ => {}
        }
        let is_static = self.eat_word("static")?;
        self.eat_word("mutable")?;
        self.declarators(class, is_static)
    }

    /// A type and the names that have it.
    fn declarators(&mut self, class: &mut ClassDescription, is_static: bool) -> Step<()> {
        self.skip()?;
        let start = self.at;
        let mut ty = self.ty()?;
        ty.resolve(&|name| find_enum(&self.enums, &class.name, name));
        let first = class.members.len();
        loop {
            while self.eat("*")? {
                ty.stars += 1;
            }
            if self.rest().starts_with('&') {
                return Err("a reference cannot be written".into());
            }
            let name = self.name()?.to_owned();
            if self.eat("(")? {
                self.at = start;
                return Err("functions are not allowed here".into());
            }
            ty.dimensions.clear();
            while self.eat("[")? {
                ty.dimensions.push(self.number()?);
                self.expect("]")?;
            }
            if self.eat("=")? || self.rest().starts_with('{') {
                self.initialiser()?;
            }
            if !is_static {
                class.members.push(Member { name, cpp_type: ty.source(), comment: String::new() });
            }
            if !self.eat(",")? {
                break;
            }
            // The stars belong to the name before.
            ty.stars = 0;
        }
        self.expect(";")?;
        let comment = self.comment();
        class.members.iter_mut().skip(first).for_each(|member| member.comment.clone_from(&comment));
        Ok(())
    }

    /// Skips a default value: files do not have it.
    fn initialiser(&mut self) -> Step<()> {
        let mut open = 0usize;
        for (i, c) in self.rest().char_indices() {
            match c {
                '(' | '{' => open += 1,
                ')' | '}' if open > 0 => open -= 1,
                ',' | ';' if open == 0 => {
                    self.at += i;
                    return Ok(());
                }
                _ => {}
            }
        }
        Err("the value does not end".into())
    }

    /// The comment on the rest of this line, as ROOT takes it for a title.
    fn comment(&mut self) -> String {
        let line = self.rest().split('\n').next().unwrap_or_default();
        let Some((_, comment)) = line.split_once("//").filter(|(before, _)| before.trim().is_empty()) else {
            return String::new();
        };
        self.at += line.len();
        // `///<` and `//!<` are for Doxygen.
        let comment = comment.strip_prefix("/<").or_else(|| comment.strip_prefix("!<")).unwrap_or(comment);
        comment.trim().to_owned()
    }
}

fn scoped(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}::{name}") }
}

/// The enum of a name inside a class.
fn find_enum(enums: &[(String, Core)], class: &str, name: &str) -> Option<Core> {
    let mut scope = class;
    loop {
        let full = scoped(scope, name);
        if let Some((_, core)) = enums.iter().find(|(known, _)| *known == full) {
            return Some(core.clone());
        }
        if scope.is_empty() {
            return None;
        }
        scope = scope.rsplit_once("::").map_or("", |(scope, _)| scope);
    }
}
