//! The keys of a layout: names, values, and how their text is read and written.
//!
//! An absent key means the value of the input, or ROOT's default if there is no input. [`Layout`](super::Layout)
//! assigns groups of keys to trees and columns.

use std::fmt;
use std::str::FromStr;

use rootfile::codec::Compression;
use rootfile::{Error, Result};

use super::{ByteSize, ClusterSize, ColumnEncoding};
use crate::near::nearest;

/// The kind of table in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Container {
    /// A TTree: branches, baskets.
    #[default]
    Ttree,
    /// An RNTuple: fields, columns, pages.
    Rntuple,
}

impl Container {
    /// What a table of this kind is called in messages.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Ttree => "tree",
            Self::Rntuple => "RNTuple",
        }
    }
}

/// How an unsplit collection is streamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Streaming {
    /// All values of one member, then all of the next.
    MemberWise,
    /// All members of one object, then all of the next.
    ObjectWise,
}

/// The words of a closed set, for `FromStr` and `Display`.
macro_rules! words {
    ($type:ident, $what:literal, $($variant:ident = $word:literal),+) => {
        impl $type {
            /// Its words.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Error::request(format!("{text:?} is not a {}; write one of: {}", $what, Self::WORDS.join(", ")))),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Self::$variant => $word),+ })
            }
        }
    };
}

words!(Container, "container", Ttree = "ttree", Rntuple = "rntuple");
words!(Streaming, "streaming", MemberWise = "member-wise", ObjectWise = "object-wise");

/// A key as users write it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value is called; `None`: it is true or false.
    pub value: Option<&'static str>,
    /// What it does, in a sentence or more.
    pub help: &'static str,
}

/// The value of a key, to be written.
pub(super) enum Value {
    Text(String),
    Bool(bool),
    Int(u32),
    Float(f64),
}

/// A group of keys that can be set by name.
pub(super) trait Keys: Default {
    /// The names, in the order they are written.
    const NAMES: &'static [&'static str];

    /// Sets one by its text; the error does not name it. For an unknown name the error lists the known ones.
    fn read_key(&mut self, key: &str, text: &str) -> Result<()>;

    /// Sets one by its text.
    fn set_key(&mut self, key: &str, text: &str) -> Result<()> {
        let known = Self::NAMES.contains(&key);
        self.read_key(key, text).map_err(|e| if known { e.object(key) } else { e })
    }

    /// The value of a key, if set.
    fn get_key(&self, key: &str) -> Option<Value>;

    /// Copies all keys that are set in `other`.
    fn overlay_keys(&mut self, other: &Self);

    /// The keys that are set, in the order of [`Keys::NAMES`].
    fn values(&self) -> impl Iterator<Item = (&'static str, Value)> {
        Self::NAMES.iter().filter_map(|name| Some((*name, self.get_key(name)?)))
    }
}

/// Declares a group of keys; each line is `/// help`, `"name" field: type, "VALUE", read, write`, without a value for a switch.
macro_rules! keys {
    (@value) => { None };
    (@value $value:literal) => { Some($value) };
    ($(#[doc = $docs:literal])+ $type:ident:
     $($(#[doc = $help:literal])+ $name:literal $field:ident: $of:ty, $($value:literal,)? $read:ident, $write:expr;)+) => {
        $(#[doc = $docs])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $type {
            $($(#[doc = $help])+ pub $field: Option<$of>,)+
        }

        impl Keys for $type {
            const NAMES: &'static [&'static str] = &[$($name),+];

            fn read_key(&mut self, key: &str, text: &str) -> Result<()> {
                match key {
                    $($name => self.$field = Some($read(text)?),)+
                    _ => return Err(unknown_key(key, Self::NAMES)),
                }
                Ok(())
            }

            fn get_key(&self, key: &str) -> Option<Value> {
                match key {
                    $($name => self.$field.map($write),)+
                    _ => None,
                }
            }

            fn overlay_keys(&mut self, other: &Self) {
                $(self.$field = other.$field.or(self.$field);)+
            }
        }

        impl $type {
            /// The keys, in the order in which they are written.
            pub const KEYS: &'static [Key] =
                &[$(Key { name: $name, value: keys!(@value $($value)?), help: concat!($($help),+) }),+];

            /// The names of all keys, as users write them.
            pub const NAMES: &'static [&'static str] = <Self as Keys>::NAMES;

            /// Sets one key by name and text, as on a command line.
            ///
            /// # Errors
            ///
            /// If there is no such key, or if the text is not a value of it.
            pub fn set(&mut self, key: &str, text: &str) -> Result<()> {
                self.set_key(key, text)
            }

            /// This one key, set by its text.
            ///
            /// # Errors
            ///
            /// Those of `set`, which do not name the key.
            pub fn of(key: Key, text: &str) -> Result<Self> {
                let mut layout = Self::default();
                layout.read_key(key.name, text)?;
                Ok(layout)
            }

            /// Copies every key that is set in `other`.
            pub fn overlay(&mut self, other: &Self) {
                self.overlay_keys(other);
            }

            /// Whether no key is set.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }
        }
    };
}

keys! {
    /// The keys of a tree. An absent one means the value of the input, or ROOT's default if there is no input.
    TreeLayout:
    /// Write tables as ttree or rntuple, whatever they are in the input.
    "container" container: Container, "KIND", read, text;
    /// Size of a cluster: compressed bytes (30MB) or entries (1000).
    "cluster" cluster: ClusterSize, "SIZE", read, text;
    /// Most bytes of a cluster of an RNTuple before compression.
    "unzipped-cluster" unzipped_cluster: ByteSize, "SIZE", read, text;
    /// Buffer size at which a basket is closed, as in ROOT; in an RNTuple the largest size of a page.
    "basket" basket: ByteSize, "SIZE", read_basket, text;
    /// Memory that the baskets of all branches share (ROOT's OptimizeBaskets).
    "basket-memory" basket_memory: ByteSize, "SIZE", read, text;
    /// Write one basket for each branch in each cluster, of any size.
    "one-basket-per-cluster" one_basket_per_cluster: bool, read_bool, Value::Bool;
    /// Record buffer sizes as this multiple of the largest basket, such as 1.1.
    "memory-ratio" memory_ratio: f64, "RATIO", read_ratio, Value::Float;
    /// Split objects into branches: 0 not at all, 1 into their members, 99 as deeply as ROOT does.
    "split-level" split_level: u32, "LEVEL", read_level, Value::Int;
    /// Streaming of unsplit collections: member-wise or object-wise.
    "streaming" streaming: Streaming, "HOW", read, text;
    /// Codec and level: none, zlib:1, lz4:4, zstd:5, lzma:7, or ROOT's own code (505).
    "compression" compression: Compression, "CODEC", read, text;
    /// Encoding of the columns of RNTuples: plain, split, and for floats half (16 bits), single (32), double (64, where the
    /// field is one), mantissa:BITS (rounded where they are), truncated:BITS or quantized:BITS:LEAST:MOST. In trees mantissa and truncated
    /// round numbers where they are; half, single and quantized make Float16_t and Double32_t of branches of one leaf. `verify --tolerance`
    /// proves the error. With exact a rewrite of an RNTuple takes the fewest bits that keep every value, at least BITS with exact:BITS.
    "encoding" encoding: ColumnEncoding, "HOW", read, text;
    /// Write a checksum behind each page of an RNTuple.
    "page-checksums" page_checksums: bool, read_bool, Value::Bool;
    /// Store pages of a cluster of an RNTuple that have the same bytes once.
    "share-pages" share_pages: bool, read_bool, Value::Bool;
    /// Clusters of an RNTuple in a cluster group, which has one page list. Default: as many as a list of 8 MiB describes.
    "cluster-group" cluster_group: u32, "N", read_count, Value::Int;
}

keys! {
    /// The keys of columns, with the meaning of [`TreeLayout`].
    ColumnLayout:
    /// Initial buffer of the branch in bytes; page size of an RNTuple.
    "basket" basket: ByteSize, "SIZE", read_basket, text;
    /// Shrink the basket buffer to this ratio times its used size, at each flush.
    "memory-ratio" memory_ratio: f64, "RATIO", read_ratio, Value::Float;
    /// Split level of the object.
    "split-level" split_level: u32, "LEVEL", read_level, Value::Int;
    /// Streaming of an unsplit collection.
    "streaming" streaming: Streaming, "HOW", read, text;
    /// Codec and level.
    "compression" compression: Compression, "CODEC", read, text;
    /// Encoding of the columns of the field in an RNTuple, or of the numbers of the branch.
    "encoding" encoding: ColumnEncoding, "HOW", read, text;
}

impl TreeLayout {
    /// The keys that apply to columns.
    pub fn columns(&self) -> ColumnLayout {
        ColumnLayout {
            basket: self.basket,
            memory_ratio: self.memory_ratio,
            split_level: self.split_level,
            streaming: self.streaming,
            compression: self.compression,
            encoding: self.encoding,
        }
    }
}

fn text(value: impl fmt::Display) -> Value {
    Value::Text(value.to_string())
}

fn read<T: FromStr<Err = Error>>(text: &str) -> Result<T> {
    text.parse()
}

/// `fBasketSize` is a signed 32-bit number, and a buffer is doubled when it is full.
fn read_basket(text: &str) -> Result<ByteSize> {
    let size: ByteSize = text.parse()?;
    match size.bytes() {
        1..=0x3fff_ffff => Ok(size),
        _ => Err(Error::request(format!("a basket of {text:?} cannot be; it is from 1B to less than 1GiB"))),
    }
}

fn read_bool(text: &str) -> Result<bool> {
    text.parse().map_err(|_| Error::request(format!("{text:?} is neither true nor false")))
}

fn read_ratio(text: &str) -> Result<f64> {
    let ratio = text.parse().ok().filter(|r: &f64| r.is_finite() && *r >= 1.0);
    ratio.ok_or_else(|| Error::request(format!("{text:?} is not a memory ratio; write a number from 1.0, like 1.1")))
}

fn read_level(text: &str) -> Result<u32> {
    // ROOT adds 100 to the level (TTree::kSplitCollectionOfPointers) to split collections of pointers too.
    let level = text.parse().ok().filter(|level| *level <= 199);
    level.ok_or_else(|| Error::request(format!("{text:?} is not a split level; write 0 to 99")))
}

fn read_count(text: &str) -> Result<u32> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| Error::request(format!("{text:?} is not a number of clusters; write 1 or more")))
}

/// The error for an unknown key: names the nearest key and lists all.
pub(super) fn unknown_key(key: &str, known: &[&str]) -> Error {
    let nearest = nearest(&key.replace('_', "-"), known.iter().copied());
    let hint = nearest.first().map(|name| format!(" (did you mean {name:?}?)")).unwrap_or_default();
    Error::request(format!("unknown key {key:?}{hint}; known keys: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_set_by_text() {
        let mut layout = TreeLayout::default();
        for (key, text) in [
            ("container", "ttree"),
            ("cluster", "1000"),
            ("unzipped-cluster", "1GB"),
            ("basket", "64k"),
            ("basket-memory", "30MB"),
            ("one-basket-per-cluster", "true"),
            ("memory-ratio", "1.25"),
            ("split-level", "0"),
            ("streaming", "object-wise"),
            ("compression", "505"),
            ("encoding", "truncated:16"),
            ("page-checksums", "false"),
            ("cluster-group", "16"),
            ("share-pages", "true"),
        ] {
            layout.set(key, text).unwrap();
        }
        assert_eq!(layout.basket, Some(ByteSize(64_000)));
        assert_eq!(layout.columns().streaming, Some(Streaming::ObjectWise));
        assert_eq!(layout.values().count(), TreeLayout::NAMES.len());
    }

    #[test]
    fn an_unknown_key_is_answered_with_the_nearest() {
        for (key, nearest) in [("baskets", "basket"), ("Split_Level", "split-level"), ("compresion", "compression")] {
            let message = ColumnLayout::default().set(key, "1").unwrap_err().to_string();
            assert!(message.contains(&format!("did you mean {nearest:?}?")), "{message}");
            assert!(message.contains("known keys: basket, memory-ratio"), "{message}");
        }
        let message = ColumnLayout::default().set("cluster", "1").unwrap_err().to_string();
        assert!(message.contains("unknown key \"cluster\""), "{message}");
        assert!(!unknown_key("xyzzy", TreeLayout::NAMES).to_string().contains("did you mean"));
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_key() {
        for (key, text) in [
            ("basket", "0"),
            ("basket", "1GiB"),
            ("memory-ratio", "0.5"),
            ("memory-ratio", "NaN"),
            ("split-level", "-1"),
            ("split-level", "1000"),
            ("streaming", "columnar"),
            ("compression", "zip"),
        ] {
            let message = ColumnLayout::default().set(key, text).unwrap_err().to_string();
            assert!(message.starts_with(key) && message.contains(text), "{message}");
        }
    }

    #[test]
    fn overlay_takes_only_what_is_set() {
        let mut below = ColumnLayout { basket: Some(ByteSize(1)), split_level: Some(1), ..Default::default() };
        below.overlay(&ColumnLayout { split_level: Some(99), ..Default::default() });
        assert_eq!(below, ColumnLayout { basket: Some(ByteSize(1)), split_level: Some(99), ..Default::default() });
    }
}
