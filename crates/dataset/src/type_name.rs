//! Parses C++ type names in files into template and arguments, and spells them as uproot does. Accepts any text: names
//! of types in declarations are parsed strictly by `rootfile::streamer::describe`.

use crate::decode::program::types::Number;

/// A parsed type name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypeName<'a> {
    /// The name without `const`, pointers and references.
    pub text: &'a str,
    /// The name before its template arguments, without `std::`.
    pub template: &'a str,
    /// Template arguments.
    pub args: Vec<&'a str>,
    /// Whether the type is a pointer.
    pub pointer: bool,
}

/// The standard containers, and ROOT's own vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerKind {
    /// A container of one kind of item.
    List,
    /// A container of keys and values.
    Map,
    /// A container of bits.
    Bitset,
}

impl<'a> TypeName<'a> {
    pub(crate) fn parse(text: &'a str) -> Self {
        let mut text = text.trim();
        let mut pointer = false;
        loop {
            let shorter = text.strip_prefix("const ").or_else(|| text.strip_suffix('&')).unwrap_or(text).trim();
            let shorter = match shorter.strip_suffix('*') {
                Some(pointed) => {
                    pointer = true;
                    pointed.trim()
                }
                None => shorter.strip_suffix(" const").unwrap_or(shorter).trim(),
            };
            if shorter == text {
                break;
            }
            text = shorter;
        }
        let text = text.strip_prefix("std::").unwrap_or(text);
        let (template, args) = match text.split_once('<') {
            Some((template, rest)) if text.ends_with('>') => {
                (template.trim(), arguments(rest.strip_suffix('>').unwrap_or(rest)))
            }
            _ => (text, Vec::new()),
        };
        Self { text, template, args, pointer }
    }

    /// The kind of container.
    pub(crate) fn container(&self) -> Option<ContainerKind> {
        let list = [
            "vector",
            "list",
            "deque",
            "set",
            "multiset",
            "unordered_set",
            "unordered_multiset",
            "forward_list",
            "ROOT::VecOps::RVec",
            "ROOT::RVec",
            "RVec",
        ];
        match self.template {
            "map" | "multimap" | "unordered_map" | "unordered_multimap" if self.args.len() >= 2 => {
                Some(ContainerKind::Map)
            }
            "bitset" if !self.args.is_empty() => Some(ContainerKind::Bitset),
            template if list.contains(&template) && !self.args.is_empty() => Some(ContainerKind::List),
            _ => None,
        }
    }

    /// The kind of number.
    pub(crate) fn number(&self) -> Option<Number> {
        if self.pointer {
            return None;
        }
        Some(match self.text {
            "bool" | "Bool_t" => Number::Bool,
            "char" | "signed char" | "Char_t" | "int8_t" | "std::int8_t" => Number::I8,
            "unsigned char" | "UChar_t" | "uint8_t" | "Byte_t" => Number::U8,
            "short" | "short int" | "Short_t" | "int16_t" | "Version_t" => Number::I16,
            "unsigned short" | "UShort_t" | "uint16_t" | "unsigned short int" => Number::U16,
            "int" | "Int_t" | "int32_t" | "signed int" => Number::I32,
            "unsigned int" | "unsigned" | "UInt_t" | "uint32_t" => Number::U32,
            "long" | "Long_t" | "long long" | "Long64_t" | "int64_t" | "long int" => Number::I64,
            "unsigned long" | "ULong_t" | "unsigned long long" | "ULong64_t" | "uint64_t" | "size_t" => Number::U64,
            "float" | "Float_t" => Number::F32,
            "double" | "Double_t" => Number::F64,
            _ => return None,
        })
    }

    /// The name as uproot spells it.
    pub(crate) fn spelled(&self) -> String {
        let name = match (self.number(), self.container()) {
            (Some(number), _) => number.cpp().to_owned(),
            (None, Some(kind)) => {
                let n = match kind {
                    ContainerKind::Map => 2,
                    ContainerKind::List | ContainerKind::Bitset => 1,
                };
                let args: Vec<String> = self.args.iter().take(n).map(|arg| TypeName::parse(arg).spelled()).collect();
                let standard = if self.template.contains("RVec") { "" } else { "std::" };
                let template = self.template.rsplit("::").next().unwrap_or(self.template);
                format!("{standard}{template}<{}>", args.join(", "))
            }
            (None, None) if self.text == "string" || self.text.starts_with("basic_string<") => "std::string".to_owned(),
            (None, None) => match Self::parse(self.text).number() {
                Some(number) => number.cpp().to_owned(),
                None => self.text.replace("> >", ">>").replace("> >", ">>"),
            },
        };
        if self.pointer { name + "*" } else { name }
    }
}

/// Template arguments, split at the commas of the outermost level.
pub(crate) fn arguments(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut parts = Vec::new();
    for (i, c) in text.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text.get(start..i).unwrap_or_default().trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default().trim());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed() {
        let name = TypeName::parse("const std::map<string,vector<pair<int,float> >,less<string> >&");
        assert_eq!(name.container(), Some(ContainerKind::Map));
        assert_eq!(name.args, ["string", "vector<pair<int,float> >", "less<string>"]);
        assert_eq!(name.spelled(), "std::map<std::string, std::vector<pair<int,float>>>");
        assert!(TypeName::parse("Track*").pointer);
        assert_eq!(TypeName::parse("vector<unsigned int>").spelled(), "std::vector<uint32_t>");
    }
}
