//! Numbers in JSON that are not finite. JSON has no such numbers, and serde_json writes null, as if there were no value: here they are the
//! texts `NaN`, `Infinity` and `-Infinity`, which Python's `float` and others understand. All else passes as it is.

use std::fmt::Display;

use serde::ser::{self, Serialize, Serializer};

/// A value whose numbers are told even where they are not finite.
pub struct AllNumbers<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> Serialize for AllNumbers<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Telling(to))
    }
}

/// What a number is called that is not finite.
fn name(number: f64) -> Option<&'static str> {
    match number {
        v if v.is_finite() => None,
        v if v.is_nan() => Some("NaN"),
        v if v > 0.0 => Some("Infinity"),
        _ => Some("-Infinity"),
    }
}

/// A serializer, or a part of one, that tells numbers which are not finite.
struct Telling<S>(S);

macro_rules! passes {
    ($($method:ident($($name:ident: $kind:ty),*);)*) => {
        $(fn $method(self, $($name: $kind),*) -> Result<Self::Ok, Self::Error> {
            self.0.$method($($name),*)
        })*
    };
}

macro_rules! begins {
    ($($method:ident($($name:ident: $kind:ty),*) -> $part:ident;)*) => {
        $(fn $method(self, $($name: $kind),*) -> Result<Self::$part, Self::Error> {
            self.0.$method($($name),*).map(Telling)
        })*
    };
}

impl<S: Serializer> Serializer for Telling<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Telling<S::SerializeSeq>;
    type SerializeTuple = Telling<S::SerializeTuple>;
    type SerializeTupleStruct = Telling<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Telling<S::SerializeTupleVariant>;
    type SerializeMap = Telling<S::SerializeMap>;
    type SerializeStruct = Telling<S::SerializeStruct>;
    type SerializeStructVariant = Telling<S::SerializeStructVariant>;

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        match name(f64::from(value)) {
            Some(name) => self.0.serialize_str(name),
            None => self.0.serialize_f32(value),
        }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        match name(value) {
            Some(name) => self.0.serialize_str(name),
            None => self.0.serialize_f64(value),
        }
    }

    passes! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_i128(value: i128);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_u128(value: u128);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    begins! {
        serialize_seq(len: Option<usize>) -> SerializeSeq;
        serialize_tuple(len: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize) -> SerializeStructVariant;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&AllNumbers(value))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &AllNumbers(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &AllNumbers(value))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! items {
    ($($part:ident: $method:ident;)*) => {
        $(impl<S: ser::$part> ser::$part for Telling<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
                self.0.$method(&AllNumbers(value))
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })*
    };
}

items! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
}

macro_rules! members {
    ($($part:ident;)*) => {
        $(impl<S: ser::$part> ser::$part for Telling<S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), S::Error> {
                self.0.serialize_field(key, &AllNumbers(value))
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), S::Error> {
                self.0.skip_field(key)
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.0.end()
            }
        })*
    };
}

members! {
    SerializeStruct;
    SerializeStructVariant;
}

impl<S: ser::SerializeMap> ser::SerializeMap for Telling<S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.0.serialize_value(&AllNumbers(value))
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.0.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(serde::Serialize)]
    enum Kind {
        Pair(f64, f64),
        Record { number: f32 },
        One(f64),
        None,
    }

    #[derive(serde::Serialize)]
    struct Report {
        kinds: Vec<Kind>,
        optional: [Option<f64>; 2],
        named: BTreeMap<&'static str, f64>,
        text: &'static str,
    }

    #[test]
    fn all_numbers_are_told() {
        let (nan, infinite) = (f64::NAN, f64::INFINITY);
        let kinds =
            vec![Kind::Pair(1.5, -infinite), Kind::Record { number: f32::NAN }, Kind::One(infinite), Kind::None];
        let report =
            Report { kinds, optional: [None, Some(nan)], named: BTreeMap::from([("a", 0.1), ("b", nan)]), text: "x" };
        let kinds = r#"[{"Pair":[1.5,"-Infinity"]},{"Record":{"number":"NaN"}},{"One":"Infinity"},"None"]"#;
        let rest = r#""optional":[null,"NaN"],"named":{"a":0.1,"b":"NaN"},"text":"x""#;
        assert_eq!(serde_json::to_string(&AllNumbers(&report)).unwrap(), format!(r#"{{"kinds":{kinds},{rest}}}"#));
    }
}
