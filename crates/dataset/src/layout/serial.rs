//! [`Layout`] through serde: keys at the top level, rules in the tables `tree` and `column`, order kept.
//!
//! Not derived: values may be text or numbers, and the error for an unknown key has its position and the nearest known
//! key.

use std::fmt;
use std::marker::PhantomData;

use rootfile::Error;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

use super::keys::{Keys, Value, unknown_key};
use super::{ColumnLayout, Container, Layout, TreeLayout};
use crate::glob::{ColumnPattern, TreePattern};

const TREE: &str = "tree";
const COLUMN: &str = "column";

impl Serialize for Container {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => to.serialize_str(text),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Int(value) => to.serialize_u32(*value),
            Self::Float(value) => to.serialize_f64(*value),
        }
    }
}

struct Group<'a, K>(&'a K);

impl<K: Keys> Serialize for Group<'_, K> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.values())
    }
}

struct Rules<'a, P, K>(&'a [(P, K)], fn(&P) -> &str);

impl<P, K: Keys> Serialize for Rules<'_, P, K> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(pattern, keys)| ((self.1)(pattern), Group(keys))))
    }
}

impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (name, value) in self.common.values() {
            map.serialize_entry(name, &value)?;
        }
        if !self.trees().is_empty() {
            map.serialize_entry(TREE, &Rules(self.trees(), TreePattern::as_str))?;
        }
        if !self.columns().is_empty() {
            map.serialize_entry(COLUMN, &Rules(self.columns(), ColumnPattern::as_str))?;
        }
        map.end()
    }
}

/// A value of any type, as the text of a command line.
struct Plain;

impl Visitor<'_> for Plain {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, true or false")
    }

    fn visit_str<E>(self, v: &str) -> Result<String, E> {
        Ok(v.to_owned())
    }

    fn visit_bool<E>(self, v: bool) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_i64<E>(self, v: i64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_u64<E>(self, v: u64) -> Result<String, E> {
        Ok(v.to_string())
    }

    fn visit_f64<E>(self, v: f64) -> Result<String, E> {
        Ok(v.to_string())
    }
}

/// Reads the value of one key into its group. Errors have the position of the value.
struct Into<'a, K>(&'a mut K, &'a str);

impl<'de, K: Keys> DeserializeSeed<'de> for Into<'_, K> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        let text = from.deserialize_any(Plain)?;
        self.0.set_key(self.1, &text).map_err(de::Error::custom)
    }
}

/// Reads a group of keys.
struct GroupSeed<K>(PhantomData<K>);

impl<'de, K: Keys> DeserializeSeed<'de> for GroupSeed<K> {
    type Value = K;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<K, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, K: Keys> Visitor<'de> for GroupSeed<K> {
    type Value = K;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of layout keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<K, A::Error> {
        let mut keys = K::default();
        while let Some(key) = map.next_key_seed(KeySeed(K::NAMES))? {
            map.next_value_seed(Into(&mut keys, &key))?;
        }
        Ok(keys)
    }
}

/// Reads the name of a key. The error for an unknown name has its position.
struct KeySeed<'a>(&'a [&'a str]);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        let key = String::deserialize(from)?;
        match self.0.contains(&&*key) {
            true => Ok(key),
            false => Err(de::Error::custom(unknown_key(&key, self.0))),
        }
    }
}

/// Reads a table of rules: pattern to group of keys.
struct RulesSeed<P, K> {
    compile: fn(&str) -> Result<P, Error>,
    keys: PhantomData<K>,
}

impl<'de, P, K: Keys> DeserializeSeed<'de> for RulesSeed<P, K> {
    type Value = Vec<(P, K)>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, P, K: Keys> Visitor<'de> for RulesSeed<P, K> {
    type Value = Vec<(P, K)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of layout keys for each name pattern")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut rules = Vec::new();
        while let Some(text) = map.next_key::<String>()? {
            let pattern = (self.compile)(&text).map_err(de::Error::custom)?;
            rules.push((pattern, map.next_value_seed(GroupSeed(PhantomData))?));
        }
        Ok(rules)
    }
}

struct LayoutVisitor;

impl<'de> Visitor<'de> for LayoutVisitor {
    type Value = Layout;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a layout: a table of layout keys, tree and column")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Layout, A::Error> {
        let known: Vec<&str> = TreeLayout::NAMES.iter().copied().chain([TREE, COLUMN]).collect();
        let mut layout = Layout::default();
        while let Some(key) = map.next_key_seed(KeySeed(&known))? {
            match &*key {
                TREE => {
                    let seed = RulesSeed { compile: TreePattern::new, keys: PhantomData };
                    for (pattern, keys) in map.next_value_seed(seed)? {
                        layout.set_tree(pattern, &keys);
                    }
                }
                COLUMN => {
                    let seed = RulesSeed::<_, ColumnLayout> { compile: ColumnPattern::new, keys: PhantomData };
                    // The format itself refuses equal patterns in one table.
                    layout.extend_columns(map.next_value_seed(seed)?);
                }
                _ => map.next_value_seed(Into(&mut layout.common, &key))?,
            }
        }
        Ok(layout)
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(LayoutVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{ByteSize, ClusterSize, Container, Streaming};

    const FULL: &str = r#"container = "ttree"
cluster = "30MB"
basket = "32kB"
basket-memory = "30MB"
one-basket-per-cluster = false
memory-ratio = 1.1
split-level = 99
streaming = "member-wise"
compression = "zstd:5"

[tree."MetaData*"]
basket = "1kB"

[tree.Events]
cluster = "1000"

[column."Muon_*"]
compression = "lz4:4"

[column."*_pt"]
compression = "zlib:6"
basket = "64kB"

[column."Aux.fX[3]"]
split-level = 0
"#;

    #[test]
    fn reads_every_key() {
        let layout = Layout::from_toml(FULL).unwrap();
        assert_eq!(layout.common.container, Some(Container::Ttree));
        assert_eq!(layout.common.cluster, Some(ClusterSize::Bytes(30_000_000)));
        assert_eq!(layout.common.one_basket_per_cluster, Some(false));
        assert_eq!(layout.common.memory_ratio, Some(1.1));
        assert_eq!(layout.common.streaming, Some(Streaming::MemberWise));
        assert_eq!(layout.trees().len(), 2);
        assert_eq!(layout.columns().len(), 3);
    }

    #[test]
    fn values_may_be_numbers_or_text() {
        let layout = Layout::from_toml("cluster = 1000\nbasket = 32000\ncompression = 505\nmemory-ratio = 2").unwrap();
        assert_eq!(layout.common.cluster, Some(ClusterSize::Entries(1000)));
        assert_eq!(layout.common.basket, Some(ByteSize(32_000)));
        assert_eq!(layout.common.compression, Some("zstd:5".parse().unwrap()));
        assert_eq!(layout.common.memory_ratio, Some(2.0));
    }

    #[test]
    fn the_last_match_wins_key_by_key() {
        let layout = Layout::from_toml(FULL).unwrap();
        let pt = layout.rules("Events").column(&["Muon_pt"]);
        assert_eq!(pt.compression, Some("zlib:6".parse().unwrap()), "*_pt comes after Muon_*");
        assert_eq!(pt.basket, Some(ByteSize(64_000)));
        assert_eq!(pt.split_level, Some(99));
        assert_eq!(layout.rules("Events").column(&["Muon_eta"]).compression, Some("lz4:4".parse().unwrap()));
        assert_eq!(layout.rules("MetaData1").column(&["x"]).basket, Some(ByteSize(1000)));
        assert_eq!(layout.rules("MetaData1").column(&["Muon_pt"]).basket, Some(ByteSize(64_000)), "column before tree");
        assert_eq!(layout.resolve_tree("Events").cluster, Some(ClusterSize::Entries(1000)));
        assert_eq!(layout.resolve_tree("Runs").cluster, Some(ClusterSize::Bytes(30_000_000)));
        assert_eq!(layout.rules("T").column(&["Aux.fX[3]"]).split_level, Some(0));
        assert_eq!(layout.rules("Events").column(&["Muon_", "child"]).compression, Some("lz4:4".parse().unwrap()));
    }

    #[test]
    fn order_is_kept_through_toml_and_json() {
        let layout = Layout::from_toml(FULL).unwrap();
        assert_eq!(
            layout.to_toml().unwrap(),
            FULL.replace(
                "[column.\"*_pt\"]\ncompression = \"zlib:6\"\nbasket = \"64kB\"",
                "[column.\"*_pt\"]\nbasket = \"64kB\"\ncompression = \"zlib:6\""
            )
        );
        assert_eq!(Layout::from_toml(&layout.to_toml().unwrap()).unwrap(), layout);
        let json = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&json).unwrap(), layout);
        assert_eq!(Layout::default().to_toml().unwrap(), "");
    }

    #[test]
    fn errors_name_the_file_object_and_offset() {
        for (text, place, what) in [
            ("clutser = 1", "line 1, column 1", "did you mean \"cluster\"?"),
            ("basket = 1\n[columns.x]\n", "line 2, column 2", "did you mean \"column\"?"),
            ("[column.x]\ncluster = 1", "line 2, column 1", "known keys: basket, memory-ratio"),
            ("[tree.x]\nbasket = \"much\"", "line 2, column 10", "\"much\" is not a size"),
            ("[column.\"a[\"]\nbasket = 1", "line 1", "name pattern \"a[\""),
            ("basket = []", "line 1, column 10", "a text, a number"),
            ("basket = 1\nbasket = 2", "line 2", "duplicate key"),
            ("tree = 5", "line 1", "a table of layout keys for each name pattern"),
        ] {
            let message = Layout::from_toml(text).unwrap_err().to_string();
            assert!(message.contains(place) && message.contains(what), "{text:?} gives:\n{message}");
        }
    }

    #[test]
    fn a_pattern_set_again_moves_to_the_end() {
        let mut layout = Layout::from_toml("[column.a]\nbasket = 1\n[column.b]\nbasket = 2").unwrap();
        layout.overlay(&Layout::from_toml("cluster = 7\n[column.a]\nsplit-level = 3").unwrap());
        assert_eq!(
            layout.to_toml().unwrap(),
            "cluster = \"7\"\n\n[column.b]\nbasket = \"2B\"\n\n[column.a]\nbasket = \"1B\"\nsplit-level = 3\n"
        );
    }
}
