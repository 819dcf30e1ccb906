//! The values of RNTuples: all files of ROOT's validation suite against the values that ROOT prints, and all RNTuples of the
//! corpus against the digests of its oracle.
//!
//! Needs the corpus beside the checkout (or at `BASKETRY_CORPUS`); says so and passes without it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;
use dataset::ntuple::decode::{FieldPlan, fields};
use dataset::ntuple::model::{Ntuple, Schema};
use dataset::ntuple::read::read_field;
use dataset::ntuple::{is_ntuple, read_attribute_set, read_ntuple};
use rootfile::{Result, RootFile};
use serde_json::{Map, Value, json};

use crate::corpus::digest::{FORMS, Flat, brief, flatten, theirs};
use crate::corpus::{self, text};

/// A float as `printf("%a")` has it.
fn hex(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string().to_lowercase();
    }
    let bits = value.to_bits();
    let sign = if bits >> 63 == 1 { "-" } else { "" };
    let (exponent, mantissa) = ((bits >> 52 & 0x7FF) as i64, bits & ((1 << 52) - 1));
    let digits = format!("{mantissa:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    let (lead, exponent) = match (exponent, mantissa) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        _ => (1, exponent - 1023),
    };
    format!("{sign}0x{lead}{point}{digits}p{exponent:+}")
}

/// A value as the suite prints it, by the types of the fields.
fn printed(schema: &Schema, id: usize, array: &dyn Array, row: usize) -> Value {
    let field = &schema.fields[id];
    let children = schema.children(Some(id));
    let template = field.type_name.split('<').next().unwrap_or_default();
    if array.is_null(row) {
        return Value::Null;
    }
    macro_rules! number {
        ($type:ty) => {
            json!(array.as_primitive::<$type>().value(row))
        };
    }
    match array.data_type() {
        DataType::FixedSizeList(..) if field.array_size.is_some() => {
            let items = array.as_fixed_size_list().value(row);
            if children.is_empty() {
                // A bitset, as C++ prints it.
                let bits = items.as_boolean();
                return (0..bits.len()).rev().map(|i| if bits.value(i) { '1' } else { '0' }).collect::<String>().into();
            }
            (0..items.len()).map(|i| printed(schema, children[0], &items, i)).collect()
        }
        _ if template == "std::optional" || template == "std::unique_ptr" => {
            let wrapped = array.as_struct_opt().filter(|record| record.column_names() == ["_0"]);
            match wrapped {
                Some(record) => printed(schema, children[0], record.column(0), row),
                None => printed(schema, children[0], array, row),
            }
        }
        DataType::LargeList(_) => {
            let items = array.as_list::<i64>().value(row);
            let values = (0..items.len()).map(|i| printed(schema, children[0], &items, i));
            if !template.ends_with("map") {
                return values.collect();
            }
            let pair = |pair: Value| (pair[0].as_str().unwrap().to_owned(), pair[1].clone());
            Value::Object(values.map(pair).collect::<Map<_, _>>())
        }
        DataType::Struct(_) => {
            let record = array.as_struct();
            if template == "std::pair" || template == "std::tuple" {
                let parts = children.iter().zip(record.columns());
                return parts.map(|(child, column)| printed(schema, *child, column, row)).collect();
            }
            let mut members = Map::new();
            for child in children {
                let name = &schema.fields[child].name;
                // Members of bases are members.
                if name.starts_with(":_") {
                    let Value::Object(base) = printed(schema, child, array, row) else { panic!("a base is a record") };
                    members.extend(base);
                } else {
                    let column = record.column_by_name(name).unwrap();
                    members.insert(name.clone(), printed(schema, child, column, row));
                }
            }
            Value::Object(members)
        }
        DataType::Union(..) => {
            let union = array.as_union();
            match usize::try_from(union.type_id(row)).unwrap() {
                0 => Value::Null,
                tag => printed(schema, children[tag - 1], &union.value(row), 0),
            }
        }
        // Enumerations and atomics.
        _ if children.len() == 1 => printed(schema, children[0], array, row),
        DataType::Boolean => json!(u8::from(array.as_boolean().value(row))),
        DataType::LargeUtf8 => json!(array.as_string::<i64>().value(row)),
        DataType::Float32 => json!(hex(array.as_primitive::<Float32Type>().value(row).into())),
        DataType::Float64 => json!(hex(array.as_primitive::<Float64Type>().value(row))),
        DataType::Int8 => number!(Int8Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt64 => number!(UInt64Type),
        other => panic!("a value of type {other}"),
    }
}

/// The suite's values in the form of [`printed`].
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => {
            let mut out = Map::new();
            for (name, value) in members {
                match plain(value) {
                    Value::Object(base) if name.starts_with(":_") => out.extend(base),
                    value => {
                        out.insert(name.clone(), value);
                    }
                }
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}

/// Sorts lists: those of unordered containers, which the suite prints sorted.
fn sorted(value: &mut Value) {
    match value {
        Value::Array(items) => {
            items.iter_mut().for_each(sorted);
            items.sort_by_key(ToString::to_string);
        }
        Value::Object(members) => members.values_mut().for_each(sorted),
        _ => {}
    }
}

/// All entries.
fn entries(file: &RootFile, ntuple: &Ntuple) -> Vec<Value> {
    let all = 0..ntuple.entries();
    let read = |plan: FieldPlan| {
        assert_eq!(plan.opaque(), None, "{}", plan.field());
        (plan.id(), read_field(file.source().as_ref(), ntuple, &plan, all.clone()).unwrap())
    };
    let columns: Vec<(usize, ArrayRef)> = fields(&ntuple.schema).into_iter().map(read).collect();
    let entry = |row: usize| {
        let values = columns
            .iter()
            .map(|(id, array)| (ntuple.schema.fields[*id].name.clone(), printed(&ntuple.schema, *id, array, row)));
        Value::Object(values.collect())
    };
    (0..usize::try_from(all.end).unwrap()).map(entry).collect()
}

/// The RNTuples of a file.
fn ntuples(file: &RootFile) -> Vec<(String, Result<Ntuple>)> {
    let walk = file.walk();
    let keys = walk.directories.iter().flat_map(|d| d.keys.iter().map(move |key| (d.path_of(&key.name), key)));
    let ours = keys.filter(|(_, key)| is_ntuple(&key.class));
    ours.map(|(path, key)| (format!("{path};{}", key.cycle), read_ntuple(file, key))).collect()
}

/// What the suite's program prints for a file.
fn print_file(name: &str, path: &Path) -> Value {
    let file = RootFile::open(path).unwrap();
    let mut found = ntuples(&file);
    assert_eq!(found.len(), 1, "{name}");
    let ntuple = match found.remove(0).1 {
        Ok(ntuple) => ntuple,
        Err(e) => return json!({"error": e.to_string()}),
    };
    if name == "structure__attributes" {
        let set = read_attribute_set(file.source().as_ref(), &ntuple, &ntuple.attribute_sets[0]).unwrap();
        let rows = entries(&file, &set);
        return rows.iter().map(attribute).collect();
    }
    let rows = entries(&file, &ntuple);
    if name.starts_with("compression__") {
        let sums = |field: &str| rows.iter().map(|row| row[field].as_i64().unwrap()).sum::<i64>();
        let fields = ntuple.schema.children(None);
        let sums =
            fields.iter().map(|id| &ntuple.schema.fields[*id].name).map(|name| (name.clone(), json!(sums(name))));
        return Value::Object(sums.collect());
    }
    rows.into()
}

/// An entry of an attribute set, whose only attribute the suite prints as `Value`, with the entries that have it.
fn attribute(row: &Value) -> Value {
    let number = |name: &str| row[name].as_u64().unwrap();
    let (start, len) = (number("_rangeStart"), number("_rangeLen"));
    json!({"Value": row["_userData"]["attr"], "Range": [start, start + len - 1]})
}

#[test]
fn values_are_those_that_root_prints() {
    let Some(folder) =
        corpus::corpus().map(|corpus| corpus.join("rntuple-validation")).filter(|folder| folder.is_dir())
    else {
        eprintln!("skipped: no corpus beside the checkout, and BASKETRY_CORPUS is not set");
        return;
    };
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut different = Vec::new();
    for path in &paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut roots = plain(&serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap());
        let mut ours = print_file(&name, &path.with_extension("root"));
        if name.contains("unordered") {
            sorted(&mut roots);
            sorted(&mut ours);
        }
        let same = match (text(&roots, "error"), text(&ours, "error")) {
            ("", "") => roots == ours,
            // In other words: the number of the feature.
            (roots, ours) => roots.rsplit(' ').next().is_some_and(|feature| ours.contains(feature)),
        };
        if !same {
            different.push(format!("{name}:\n  ours  {ours}\n  ROOT's {roots}"));
        }
    }
    println!("{} files, {} different", paths.len(), different.len());
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(paths.len() >= 51, "{} files: the suite has 51", paths.len());
}

#[test]
fn values_have_the_oracles_digests() {
    let Some(files) = corpus::files() else { return };
    let (mut equal, mut opaque, mut different) = (0, Vec::new(), Vec::new());
    for (path, name) in files {
        let Ok(file) = RootFile::open(&path) else { continue };
        for (at, ntuple) in ntuples(&file) {
            let oracle = corpus::oracle(&name);
            let lines = oracle.iter().filter(|line| text(line, "kind") == "field" && text(line, "ntuple") == at);
            let ntuple = match ntuple {
                Ok(ntuple) => ntuple,
                Err(e) => {
                    // Those that ROOT reads either have an oracle.
                    if lines.count() > 0 {
                        different.push(e.to_string());
                    }
                    continue;
                }
            };
            let plans = fields(&ntuple.schema);
            for line in lines.filter(|line| line["uproot_read"]["digest"].is_array()) {
                let field = text(line, "field");
                let at = format!("{name} {at} {field}");
                let Some(plan) = plans.iter().find(|plan| plan.field().name() == field) else {
                    different.push(format!("{at}: no such field"));
                    continue;
                };
                if let Some(why) = plan.opaque() {
                    opaque.push(format!("{at}: {why}"));
                    continue;
                }
                let entries = line["uproot_read"]["digest_entries"].as_u64().unwrap();
                let array = match read_field(file.source().as_ref(), &ntuple, plan, 0..entries) {
                    Ok(array) => array,
                    Err(e) => {
                        different.push(format!("{at}: {e}"));
                        continue;
                    }
                };
                // A part of the entries, from the pages that have them.
                let part = entries / 3..entries - entries / 4;
                let slice = array.slice(part.start as usize, (part.end - part.start) as usize);
                match read_field(file.source().as_ref(), &ntuple, plan, part) {
                    Ok(part) if part == slice => {}
                    Ok(_) => different.push(format!("{at}: a part has other values")),
                    Err(e) => different.push(format!("{at}: a part: {e}")),
                }
                let flat = |form| {
                    let mut ours: Vec<Flat> = Vec::new();
                    flatten(
                        &as_uproot(plan, &array, &line["uproot_read"]),
                        plan.field().is_nullable(),
                        form,
                        &mut ours,
                    );
                    ours
                };
                let theirs = theirs(&line["uproot_read"]["digest"]);
                if FORMS.into_iter().any(|form| flat(form) == theirs) {
                    equal += 1;
                } else {
                    different.push(format!("{at}: ours {} theirs {}", brief(&flat(FORMS[0])), brief(&theirs)));
                }
            }
        }
    }
    println!("{equal} fields equal, {} different, {} opaque", different.len(), opaque.len());
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(opaque.is_empty(), "{}", opaque.join("\n"));
    assert!(equal > 6000, "{equal} fields: the corpus has more");
}

/// The array with the numbers of the type that uproot gives them.
fn as_uproot(plan: &FieldPlan, array: &ArrayRef, read: &Value) -> ArrayRef {
    let is_cardinality = plan.field().metadata()["typename"].starts_with("ROOT::RNTupleCardinality");
    match (array.data_type(), text(&read["digest"][0], "dtype")) {
        // Lengths are the difference of offsets there.
        (DataType::UInt32, "int64") if is_cardinality => {
            Arc::new(array.as_primitive::<UInt32Type>().unary::<_, Int64Type>(i64::from))
        }
        (DataType::UInt64, "int64") if is_cardinality => {
            Arc::new(array.as_primitive::<UInt64Type>().unary::<_, Int64Type>(u64::cast_signed))
        }
        // The column's type counts there, not the field's.
        (DataType::Float64, "float32") => {
            Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float32Type>(|value| value as f32))
        }
        (DataType::Float32, "float16") => {
            type Half = <Float16Type as ArrowPrimitiveType>::Native;
            Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float16Type>(Half::from_f32))
        }
        _ => array.clone(),
    }
}
