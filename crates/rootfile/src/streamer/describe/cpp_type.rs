//! Parses a C++ type in a declaration and gives ROOT's spelling. Invalid text is an error here; names in files are read
//! by the lenient parser of `basketry-dataset`.
//!
//! Facts (`TClassEdit::GetNormalizedName`): `std::` and the default arguments of standard containers are dropped,
//! typedefs resolved, arguments separated by a comma alone, and two closing brackets by a space.

use super::basic::{self, Basic};
use crate::{Error, Result};

/// Deepest nesting of template arguments.
const MAX_DEPTH: usize = 32;

/// Most dimensions of an array: `TStreamerElement::fMaxIndex` has room for five.
pub(super) const MAX_DIMENSIONS: usize = 5;

/// A type, such as `const Hit*[3]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CppType {
    /// `const` or `volatile`, which ROOT keeps in the type's name.
    pub qualifier: Option<&'static str>,
    pub core: Core,
    /// How many `*`.
    pub stars: usize,
    pub dimensions: Vec<i32>,
}

/// A type without qualifiers, pointers and dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Core {
    Basic(Basic),
    /// An enum, and its underlying type if declared.
    Enum(String, Option<Basic>),
    /// A class or a template with arguments.
    Named {
        name: String,
        arguments: Vec<Argument>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Type(CppType),
    Number(u32),
}

impl CppType {
    /// Parses a whole text.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader { rest: text.trim_start() };
        let ty = reader.ty(0)?;
        if reader.rest.is_empty() { Ok(ty) } else { Err(reader.unexpected()) }
    }

    /// Parses a type at the head of a text. Also returns its length in bytes.
    pub fn parse_head(text: &str) -> Result<(Self, usize)> {
        let mut reader = Reader { rest: text.trim_start() };
        let ty = reader.ty(0)?;
        Ok((ty, text.len() - reader.rest.len()))
    }

    /// ROOT's spelling without dimensions: fTypeName of an element.
    pub fn name(&self) -> String {
        self.spelled(false)
    }

    /// A spelling with `enum` and dimensions, which can be parsed again.
    pub fn source(&self) -> String {
        let mut text = self.spelled(true);
        self.dimensions.iter().for_each(|n| text.push_str(&format!("[{n}]")));
        text
    }

    fn spelled(&self, source: bool) -> String {
        let qualifier = self.qualifier.map_or(String::new(), |q| format!("{q} "));
        format!("{qualifier}{}{}", self.core.spelled(source), "*".repeat(self.stars))
    }

    /// Replaces names by what `find` returns for them, in template arguments too.
    pub fn resolve(&mut self, find: &dyn Fn(&str) -> Option<Core>) {
        let Core::Named { arguments, .. } = &mut self.core else { return };
        for argument in arguments {
            if let Argument::Type(ty) = argument {
                ty.resolve(find);
            }
        }
        if let Some(core) = find(&self.core.spelled(false)) {
            self.core = core;
        }
    }
}

impl Core {
    /// ROOT's spelling.
    pub fn name(&self) -> String {
        self.spelled(false)
    }

    fn spelled(&self, source: bool) -> String {
        match self {
            Self::Basic(basic) => basic.name.to_owned(),
            Self::Enum(name, of) if source => {
                format!("enum {name}{}", of.map_or(String::new(), |of| format!(" : {}", of.name)))
            }
            Self::Enum(name, _) => name.clone(),
            Self::Named { name, arguments } if arguments.is_empty() => name.clone(),
            Self::Named { name, arguments } => {
                let arguments: Vec<String> = arguments
                    .iter()
                    .map(|argument| match argument {
                        Argument::Type(ty) if source => ty.source(),
                        Argument::Type(ty) => ty.name(),
                        Argument::Number(n) => n.to_string(),
                    })
                    .collect();
                let arguments = arguments.join(",");
                let space = if arguments.ends_with('>') { " " } else { "" };
                format!("{name}<{arguments}{space}>")
            }
        }
    }
}

/// The tokens of a type.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn unexpected(&self) -> Error {
        match self.rest.chars().next() {
            None => Error::request("the type ends too early"),
            Some(_) => Error::request(format!("{:?} is not understood in a type", self.rest)),
        }
    }

    fn advance(&mut self, bytes: usize) -> &'a str {
        let (token, rest) = self.rest.split_at(bytes);
        self.rest = rest.trim_start();
        token
    }

    fn eat(&mut self, sign: char) -> bool {
        let found = self.rest.starts_with(sign);
        if found {
            self.advance(sign.len_utf8());
        }
        found
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Bytes of the next word, with its scopes.
    fn word_length(&self) -> usize {
        let bytes = self.rest.as_bytes();
        let mut length = 0;
        loop {
            match bytes.get(length..) {
                Some([b'_' | b'a'..=b'z' | b'A'..=b'Z', ..]) => length += 1,
                Some([b'0'..=b'9', ..]) if length > 0 => length += 1,
                Some([b':', b':', ..]) => length += 2,
                _ => return length,
            }
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let length = self.word_length();
        (length > 0).then(|| self.advance(length))
    }

    fn number(&mut self) -> Result<u32> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest.get(..length).and_then(|digits| digits.parse().ok()).ok_or_else(|| self.unexpected())?;
        self.advance(length);
        // A suffix: `bitset<16ul>`.
        while ['u', 'U', 'l', 'L'].into_iter().any(|suffix| self.eat(suffix)) {}
        Ok(number)
    }

    fn ty(&mut self, depth: usize) -> Result<CppType> {
        if depth > MAX_DEPTH {
            return Err(Error::request("too many templates in one another"));
        }
        let mut qualifier = None;
        let mut words = Vec::new();
        let mut core = None;
        loop {
            let before = self.rest;
            match self.word() {
                Some("const") => qualifier = Some("const"),
                Some("volatile") => qualifier = Some("volatile"),
                Some("class" | "struct" | "typename") if core.is_none() => {}
                Some("enum") if core.is_none() && words.is_empty() => core = Some(self.enumeration()?),
                Some(word) if basic::is_word(word) && core.is_none() => words.push(word),
                Some(word) if core.is_none() && words.is_empty() => core = Some(self.named(word, depth)?),
                Some(_) => {
                    self.rest = before;
                    break;
                }
                None => break,
            }
        }
        let core = match core {
            Some(core) => core,
            None if words.is_empty() => return Err(self.unexpected()),
            None => Core::Basic(
                basic::of_words(&words)
                    .ok_or_else(|| Error::unsupported(format!("ROOT does not write a {}", words.join(" "))))?,
            ),
        };
        let mut stars = 0;
        while self.eat('*') {
            stars += 1;
            // ROOT's spelling leaves out the pointer's own `const`.
            if self.rest.get(..self.word_length()) == Some("const") {
                self.word();
            }
        }
        let mut dimensions = Vec::new();
        while self.eat('[') {
            let n = self.number()?;
            dimensions.push(i32::try_from(n).map_err(|_| Error::request("the array is too long"))?);
            self.expect(']')?;
        }
        Ok(CppType { qualifier, core, stars, dimensions })
    }

    fn enumeration(&mut self) -> Result<Core> {
        let name = self.word().ok_or_else(|| self.unexpected())?;
        let mut of = None;
        if self.eat(':') {
            let CppType { core: Core::Basic(basic), .. } = self.ty(MAX_DEPTH)? else {
                return Err(Error::request(format!("the enum {name} is not kept in a number")));
            };
            of = Some(basic);
        }
        Ok(Core::Enum(name.trim_start_matches("::").to_owned(), of))
    }

    fn named(&mut self, word: &str, depth: usize) -> Result<Core> {
        let name = word.trim_start_matches("::");
        let name = name.strip_prefix("std::").unwrap_or(name);
        if let Some(basic) = basic::find(name) {
            return Ok(Core::Basic(basic));
        }
        let mut name = match name {
            "ROOT::RVec" => "ROOT::VecOps::RVec",
            name => name,
        }
        .to_owned();
        let mut arguments = Vec::new();
        if self.eat('<') {
            loop {
                arguments.push(self.argument(depth)?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect('>')?;
            // A class inside a template class.
            if self.rest.starts_with("::") {
                let inner = self.word().unwrap_or_default();
                name = format!("{}{inner}", Core::Named { name, arguments }.name());
                arguments = Vec::new();
            }
        }
        if name == "basic_string" {
            return Ok(Core::Named { name: "string".to_owned(), arguments: Vec::new() });
        }
        while arguments.len() > 1 && arguments.last().is_some_and(is_default) {
            arguments.pop();
        }
        Ok(Core::Named { name, arguments })
    }

    fn argument(&mut self, depth: usize) -> Result<Argument> {
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Argument::Number(self.number()?));
        }
        Ok(Argument::Type(self.ty(depth + 1)?))
    }
}

/// Whether an argument is a default of the standard containers.
fn is_default(argument: &Argument) -> bool {
    let Argument::Type(CppType { core: Core::Named { name, .. }, .. }) = argument else { return false };
    matches!(name.as_str(), "allocator" | "less" | "hash" | "equal_to" | "char_traits" | "default_delete")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> String {
        CppType::parse(text).unwrap().name()
    }

    #[test]
    fn types_are_spelled_as_root_spells_them() {
        for (text, spelled) in [
            ("Int_t", "int"),
            ("long unsigned int", "unsigned long"),
            ("std::vector<std::vector<long long>>", "vector<vector<Long64_t> >"),
            ("std::map< std::string , std::vector<Hit> >", "map<string,vector<Hit> >"),
            ("vector<float, std::allocator<float> >", "vector<float>"),
            ("std::map<int,float,std::less<int>,std::allocator<std::pair<const int,float> > >", "map<int,float>"),
            ("std::bitset<16ul>", "bitset<16>"),
            ("std::basic_string<char>", "string"),
            ("const Hit *", "const Hit*"),
            ("Hit const * const", "const Hit*"),
            ("std::vector<const Hit*>*", "vector<const Hit*>*"),
            ("::ns::Box<std::vector<std::uint8_t>>::Inner", "ns::Box<vector<unsigned char> >::Inner"),
            ("ROOT::RVec<float>", "ROOT::VecOps::RVec<float>"),
            ("enum EColor", "EColor"),
            ("vector<enum ns::E : unsigned char>", "vector<ns::E>"),
        ] {
            assert_eq!(name(text), spelled, "{text}");
        }
    }

    #[test]
    fn spelled_types_can_be_parsed_again() {
        for text in ["int[2][3]", "vector<enum E : short>", "const Hit*[4]", "map<string,vector<enum E> >*"] {
            let ty = CppType::parse(text).unwrap();
            assert_eq!(ty.source(), text);
        }
    }

    #[test]
    fn invalid_types_are_errors() {
        let deep = format!("{}int{}", "vector<".repeat(200), ">".repeat(200));
        for text in
            ["", "vector<", "vector<int", "int&", "int[", "int[x]", "int[99999999999]", "3", "void(*)(int)", &deep]
        {
            assert!(CppType::parse(text).is_err(), "{text}");
        }
        assert!(CppType::parse("long double").unwrap_err().to_string().contains("long double"));
    }
}
