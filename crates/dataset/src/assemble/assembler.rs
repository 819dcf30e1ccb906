//! Assembles the values of a logical column from its branches' arrays, and splits the values again. Knows Arrow, not trees.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt32Type};
use arrow_array::{Array, ArrayRef, Int32Array, LargeListArray, StructArray, UInt32Array};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use arrow_select::concat::concat;
use rootfile::{Error, Result};

use crate::decode::ColumnPlan;
use crate::default_array::unwritten;

/// A value, or a part of one. A slot is the number of a branch among those of the column.
#[derive(Clone, Debug)]
pub(super) enum Assembler {
    /// The values of a branch.
    Leaf { slot: usize, data_type: DataType, nullable: bool },
    /// Parts of an object.
    Record { fields: Fields, parts: Vec<Assembler>, extra: Vec<ExtraBranch>, nullable: bool },
    /// Items of a collection.
    List { item: FieldRef, assembler: Box<Assembler>, counter: usize, slots: Vec<(usize, FieldRef)>, nullable: bool },
}

/// A branch of an object that is not one part of its record.
#[derive(Clone, Debug)]
pub(super) enum ExtraBranch {
    /// A member of the `TObject` base.
    TObject { slot: usize, data_type: DataType },
    /// An unsplit base. `parts` are the numbers of its members among the parts of the derived class.
    Base { slot: usize, fields: Fields, parts: Vec<usize> },
}

fn mismatch(e: &ArrowError) -> Error {
    Error::corrupt(format!("branches that do not fit together: {e}"))
}

fn type_mismatch() -> Error {
    Error::unsupported("an array of another type than its column")
}

impl Assembler {
    /// A struct of the branches' columns, unchanged.
    pub(super) fn side_by_side(plans: &[&ColumnPlan]) -> Self {
        let field = |plan: &&ColumnPlan| {
            let field = plan.field();
            Field::new(field.name(), field.data_type().clone(), field.is_nullable())
        };
        let leaf = |(slot, plan): (usize, &&ColumnPlan)| {
            let field = plan.field();
            Self::Leaf { slot, data_type: field.data_type().clone(), nullable: field.is_nullable() }
        };
        let fields = plans.iter().map(field).collect();
        Self::Record { fields, parts: plans.iter().enumerate().map(leaf).collect(), extra: Vec::new(), nullable: false }
    }

    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Leaf { data_type, .. } => data_type.clone(),
            Self::Record { fields, .. } => DataType::Struct(fields.clone()),
            Self::List { item, .. } => DataType::LargeList(Arc::clone(item)),
        }
    }

    pub(super) fn nullable(&self) -> bool {
        match self {
            Self::Leaf { nullable, .. } | Self::Record { nullable, .. } | Self::List { nullable, .. } => *nullable,
        }
    }

    /// The target of a pointer. A branch's own type already has whether there may be nulls.
    pub(super) fn optional(mut self) -> Self {
        if let Self::Record { nullable, .. } | Self::List { nullable, .. } = &mut self {
            *nullable = true;
        }
        self
    }

    /// Assembles the value from the arrays of the column's branches. May replace arrays by their items.
    pub(super) fn assemble(&self, arrays: &mut [ArrayRef], len: usize) -> Result<ArrayRef> {
        match self {
            Self::Leaf { slot, data_type, .. } => taken(arrays, *slot, data_type, len),
            Self::Record { fields, parts, extra, .. } => {
                for extra in extra {
                    taken(arrays, extra.slot(), &extra.data_type(), len)?;
                }
                if fields.is_empty() {
                    return Ok(Arc::new(StructArray::new_empty_fields(len, None)));
                }
                let mut columns = vec![None; parts.len()];
                for extra in extra {
                    extra.fill_parts(arrays, &mut columns)?;
                }
                let columns = columns.into_iter().zip(parts).map(|(column, part)| match column {
                    Some(column) => Ok(column),
                    None => part.assemble(arrays, len),
                });
                let columns = columns.collect::<Result<Vec<_>>>()?;
                Ok(Arc::new(StructArray::try_new(fields.clone(), columns, None).map_err(|e| mismatch(&e))?))
            }
            Self::List { item, assembler, counter, slots, .. } => {
                let counted = OffsetBuffer::try_from_lengths(counts(arrays.get(*counter).ok_or_else(type_mismatch)?)?);
                let mut offsets = counted.map_err(|_| Error::corrupt("a collection of too many items"))?;
                if offsets.len() != len + 1 {
                    return Err(Error::corrupt(format!("{} counts of {len} collections", offsets.len() - 1)));
                }
                let n = usize::try_from(offsets.last()).map_err(|_| type_mismatch())?;
                for (slot, field) in slots {
                    let array = arrays.get_mut(*slot).ok_or_else(type_mismatch)?;
                    let (own, items) = items(array, len)?;
                    *array = if own == offsets {
                        // One buffer for all.
                        offsets = own;
                        items
                    } else {
                        completed((&own, &items), &offsets, field.data_type())?
                    };
                }
                let values = assembler.assemble(arrays, n)?;
                let list = LargeListArray::try_new(Arc::clone(item), offsets, values, None);
                Ok(Arc::new(list.map_err(|e| mismatch(&e))?))
            }
        }
    }

    /// Splits the value into the arrays of the branches.
    pub(super) fn project(&self, array: &ArrayRef, out: &mut [Option<ArrayRef>]) -> Result<()> {
        match self {
            Self::Leaf { slot, nullable, .. } => {
                if !nullable {
                    all_there(array)?;
                }
                put(out, *slot, Arc::clone(array))
            }
            Self::Record { parts, extra, .. } => {
                all_there(array)?;
                let record = array.as_struct_opt().ok_or_else(type_mismatch)?;
                let within = |i: usize| {
                    extra.iter().any(|extra| matches!(extra, ExtraBranch::Base { parts, .. } if parts.contains(&i)))
                };
                for (i, (part, column)) in parts.iter().zip(record.columns()).enumerate() {
                    if !within(i) {
                        part.project(column, out)?;
                    }
                }
                for extra in extra {
                    let made = extra.make(record)?;
                    put(out, extra.slot(), made)?;
                }
                Ok(())
            }
            Self::List { assembler, counter, slots, nullable, .. } => {
                if !nullable {
                    all_there(array)?;
                }
                // A null array has no items once it is split.
                let (offsets, items) = items(array, array.len())?;
                assembler.project(&items, out)?;
                for (slot, item) in slots {
                    let items = out.get_mut(*slot).and_then(Option::take).ok_or_else(type_mismatch)?;
                    let list = LargeListArray::try_new(Arc::clone(item), offsets.clone(), items, None);
                    put(out, *slot, Arc::new(list.map_err(|e| mismatch(&e))?))?;
                }
                let counts = offsets.lengths().map(i32::try_from).collect::<std::result::Result<Vec<_>, _>>();
                let counts = counts.map_err(|_| Error::request("a list of more items than ROOT can count"))?;
                put(out, *counter, Arc::new(Int32Array::from(counts)))
            }
        }
    }
}

impl ExtraBranch {
    fn slot(&self) -> usize {
        match self {
            Self::TObject { slot, .. } | Self::Base { slot, .. } => *slot,
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Self::TObject { data_type, .. } => data_type.clone(),
            Self::Base { fields, .. } => DataType::Struct(fields.clone()),
        }
    }

    /// Moves the members of a base to the parts of the derived class.
    fn fill_parts(&self, arrays: &[ArrayRef], columns: &mut [Option<ArrayRef>]) -> Result<()> {
        let Self::Base { slot, parts, .. } = self else { return Ok(()) };
        let base = arrays.get(*slot).and_then(|array| array.as_struct_opt()).ok_or_else(type_mismatch)?;
        for (&to, column) in parts.iter().zip(base.columns()) {
            *columns.get_mut(to).ok_or_else(type_mismatch)? = Some(Arc::clone(column));
        }
        Ok(())
    }

    /// The values of the branch.
    fn make(&self, record: &StructArray) -> Result<ArrayRef> {
        let len = record.len();
        match self {
            Self::TObject { data_type, .. } => fresh(data_type, len),
            Self::Base { fields, parts, .. } => {
                if fields.is_empty() {
                    return Ok(Arc::new(StructArray::new_empty_fields(len, None)));
                }
                let columns = parts.iter().map(|&i| record.columns().get(i).cloned().ok_or_else(type_mismatch));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                for (field, column) in fields.iter().zip(&columns) {
                    if !field.is_nullable() {
                        all_there(column)?;
                    }
                }
                Ok(Arc::new(StructArray::try_new(fields.clone(), columns, None).map_err(|e| mismatch(&e))?))
            }
        }
    }
}

/// One or both members of a new `TObject`, which are 0: ROOT 6 does not write `TObject::kIsOnHeap` and `kNotDeleted`.
fn fresh(data_type: &DataType, len: usize) -> Result<ArrayRef> {
    match data_type {
        DataType::UInt32 => Ok(Arc::new(UInt32Array::from_value(0, len))),
        DataType::Struct(fields) => {
            let columns = fields.iter().map(|field| fresh(field.data_type(), len)).collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(StructArray::try_new(fields.clone(), columns, None).map_err(|e| mismatch(&e))?))
        }
        other => Err(Error::unsupported(format!("a TObject of type {other}"))),
    }
}

/// The array of a branch, with as many values as there are objects.
fn taken(arrays: &[ArrayRef], slot: usize, data_type: &DataType, len: usize) -> Result<ArrayRef> {
    let array = arrays.get(slot).filter(|array| array.data_type() == data_type).ok_or_else(type_mismatch)?;
    if array.len() != len {
        return Err(Error::corrupt(format!("{} values of a member of {len} objects", array.len())));
    }
    Ok(Arc::clone(array))
}

fn put(out: &mut [Option<ArrayRef>], slot: usize, array: ArrayRef) -> Result<()> {
    *out.get_mut(slot).ok_or_else(type_mismatch)? = Some(array);
    Ok(())
}

fn all_there(array: &ArrayRef) -> Result<()> {
    if array.logical_null_count() > 0 {
        return Err(Error::request("nulls in a column that cannot have them; fill them first"));
    }
    Ok(())
}

/// The items of a member of collections, of which some have no bytes: defaults are in their place. ROOT does not write members of
/// containers without a dictionary (bitsets in a `TClonesArray`), and readers leave the defaults of these.
fn completed(
    (own, items): (&OffsetBuffer<i64>, &ArrayRef),
    wanted: &OffsetBuffer<i64>,
    data_type: &DataType,
) -> Result<ArrayRef> {
    let mut runs: Vec<(bool, usize)> = Vec::new();
    for (ours, all) in own.windows(2).zip(wanted.windows(2)) {
        let [ours, all] =
            [ours, all].map(|ends| ends.iter().rev().copied().reduce(|end, start| end - start).unwrap_or(0));
        if ours != all && ours != 0 {
            return Err(Error::corrupt("the items of a collection are not as many as its counter says"));
        }
        let (is_there, n) = (ours == all, usize::try_from(all).map_err(|_| type_mismatch())?);
        match runs.last_mut() {
            Some((last, sum)) if *last == is_there => *sum += n,
            _ => runs.push((is_there, n)),
        }
    }
    let (mut parts, mut at) = (Vec::with_capacity(runs.len()), 0);
    for (is_there, n) in runs {
        if is_there {
            parts.push(items.slice(at, n));
            at += n;
        } else {
            parts.push(unwritten(data_type, n)?);
        }
    }
    let parts: Vec<&dyn Array> = parts.iter().map(|part| &**part).collect();
    concat(&parts).map_err(|e| mismatch(&e))
}

/// The items of lists, and the offsets of the lists from 0 on.
fn items(array: &ArrayRef, len: usize) -> Result<(OffsetBuffer<i64>, ArrayRef)> {
    let list = array.as_list_opt::<i64>().ok_or_else(type_mismatch)?;
    if list.len() != len {
        return Err(Error::corrupt(format!("{} lists of a member of {len} objects", list.len())));
    }
    let (offsets, values) = (list.offsets(), list.values());
    if offsets.has_non_empty_nulls(list.nulls()) {
        return Err(Error::request("lists that are null and not empty"));
    }
    let whole = |n: i64| usize::try_from(n).map_err(|_| type_mismatch());
    let first = offsets.first();
    let (start, end) = (whole(first)?, whole(offsets.last())?);
    if end > values.len() || start > end {
        return Err(type_mismatch());
    }
    if start == 0 {
        let items = if end == values.len() { Arc::clone(values) } else { values.slice(0, end) };
        return Ok((offsets.clone(), items));
    }
    let moved: ScalarBuffer<i64> = offsets.iter().map(|offset| offset - first).collect();
    Ok((OffsetBuffer::new(moved), values.slice(start, end - start)))
}

/// The values of a counter.
fn counts(array: &ArrayRef) -> Result<Vec<usize>> {
    let below = || Error::corrupt("a negative collection size");
    if let Some(counts) = array.as_primitive_opt::<Int32Type>() {
        return counts.values().iter().map(|&n| usize::try_from(n).map_err(|_| below())).collect();
    }
    let counts = array.as_primitive_opt::<UInt32Type>().ok_or_else(type_mismatch)?;
    counts.values().iter().map(|&n| usize::try_from(n).map_err(|_| below())).collect()
}

#[cfg(test)]
mod tests {
    use arrow_array::LargeStringArray;

    use super::*;

    fn numbers(values: &[i32]) -> ArrayRef {
        Arc::new(Int32Array::from(values.to_vec()))
    }

    fn lists(lengths: &[usize], values: ArrayRef) -> ArrayRef {
        let item = Arc::new(Field::new("item", values.data_type().clone(), false));
        Arc::new(LargeListArray::new(item, OffsetBuffer::from_lengths(lengths.iter().copied()), values, None))
    }

    fn leaf(slot: usize, data_type: DataType) -> Assembler {
        Assembler::Leaf { slot, data_type, nullable: false }
    }

    fn record(parts: Vec<(&str, Assembler)>, extra: Vec<ExtraBranch>) -> Assembler {
        let fields = parts
            .iter()
            .map(|(name, assembler)| Field::new(*name, assembler.data_type(), assembler.nullable()))
            .collect();
        Assembler::Record {
            fields,
            parts: parts.into_iter().map(|(_, assembler)| assembler).collect(),
            extra,
            nullable: false,
        }
    }

    /// Objects with a number and a `TObject` base. Slots: counter, numbers, fBits.
    fn objects() -> Assembler {
        let extra = vec![ExtraBranch::TObject { slot: 2, data_type: DataType::UInt32 }];
        let assembler = record(vec![("x", leaf(1, DataType::Int32))], extra);
        let field = |data_type| Arc::new(Field::new("item", data_type, false));
        let slots = vec![(1, field(DataType::Int32)), (2, field(DataType::UInt32))];
        let item = field(assembler.data_type());
        Assembler::List { item, assembler: Box::new(assembler), counter: 0, slots, nullable: true }
    }

    fn branches() -> Vec<ArrayRef> {
        let bits: ArrayRef = Arc::new(UInt32Array::from(vec![0, 0, 0]));
        vec![numbers(&[2, 0, 1]), lists(&[2, 0, 1], numbers(&[7, 8, 9])), lists(&[2, 0, 1], bits)]
    }

    fn apart(assembler: &Assembler, array: &ArrayRef, n: usize) -> Result<Vec<ArrayRef>> {
        let mut out = vec![None; n];
        assembler.project(array, &mut out)?;
        Ok(out.into_iter().flatten().collect())
    }

    #[test]
    fn members_of_a_collection_share_their_buffers() {
        let (assembler, branches) = (objects(), branches());
        let array = assembler.assemble(&mut branches.clone(), 3).unwrap();
        let list = array.as_list::<i64>();
        assert!(list.offsets().ptr_eq(branches[2].as_list::<i64>().offsets()));
        let own = |array: &ArrayRef| array.as_primitive::<Int32Type>().values().as_ptr();
        assert_eq!(own(list.values().as_struct().column(0)), own(branches[1].as_list::<i64>().values()));
        assert_eq!(apart(&assembler, &array, 3).unwrap(), branches);
        // A part of the entries.
        let parts = apart(&assembler, &array.slice(1, 2), 3).unwrap();
        let sliced: Vec<ArrayRef> = branches.iter().map(|branch| branch.slice(1, 2)).collect();
        assert_eq!(parts, sliced);
        assert_eq!(&assembler.assemble(&mut sliced.clone(), 2).unwrap(), &array.slice(1, 2));
    }

    #[test]
    fn different_lengths_are_errors() {
        let fails = |slot: usize, array: ArrayRef, said: &str| {
            let mut branches = branches();
            branches[slot] = array;
            let error = objects().assemble(&mut branches, 3).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        };
        fails(0, numbers(&[2, 1, 0]), "not as many as its counter");
        fails(0, numbers(&[2, 0, 2]), "not as many as its counter");
        fails(0, numbers(&[2, 0, -1]), "negative collection size");
        fails(0, numbers(&[2, 0]), "2 counts of 3");
        fails(0, numbers(&[i32::MAX, i32::MAX, i32::MAX]), "not as many as its counter");
        fails(1, lists(&[2, 0, 2], numbers(&[1, 2, 3, 4])), "not as many as its counter");
        fails(1, lists(&[3], numbers(&[1, 2, 3])), "1 lists");
        fails(1, numbers(&[1, 2, 3]), "another type than its column");
        fails(2, lists(&[2, 0, 1], numbers(&[1, 2, 3])), "another type than its column");
    }

    #[test]
    fn unwritten_members_are_zeros() {
        let mut branches = branches();
        branches[1] = lists(&[0, 0, 0], numbers(&[]));
        let array = objects().assemble(&mut branches.clone(), 3).unwrap();
        let items = array.as_list::<i64>().value(0);
        assert_eq!(items.as_struct().column(0), &numbers(&[0, 0]));
        branches[0] = numbers(&[i32::MAX, 0, 0]);
        branches[2] = lists(&[0, 0, 0], Arc::new(UInt32Array::from(Vec::<u32>::new())));
        assert!(objects().assemble(&mut branches, 3).unwrap_err().to_string().contains("was not written"));
    }

    #[test]
    fn null_lists_are_empty_and_null_values_are_errors() {
        let assembler = objects();
        let array = assembler.assemble(&mut branches(), 3).unwrap();
        let (item, offsets, values, _) = array.as_list::<i64>().clone().into_parts();
        let list = |valid: Vec<bool>| -> ArrayRef {
            let nulls = Some(valid.into());
            Arc::new(LargeListArray::new(item.clone(), offsets.clone(), values.clone(), nulls))
        };
        assert_eq!(apart(&assembler, &list(vec![true, false, true]), 3).unwrap(), branches());
        assert!(apart(&assembler, &list(vec![false, true, true]), 3).is_err());
        let some: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
        assert!(leaf(0, DataType::Int32).project(&some, &mut [None]).is_err());
    }

    #[test]
    fn an_unsplit_base_fills_parts_of_the_derived_class() {
        let names: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "b"]));
        let fields: Fields = vec![Field::new("fName", DataType::LargeUtf8, false)].into();
        let base: ArrayRef = Arc::new(StructArray::new(fields.clone(), vec![Arc::clone(&names)], None));
        let parts = vec![("x", leaf(0, DataType::Int32)), ("Heir::fName", leaf(1, DataType::LargeUtf8))];
        let assembler = record(parts, vec![ExtraBranch::Base { slot: 1, fields, parts: vec![1] }]);
        let branches = vec![numbers(&[1, 2]), base];
        let array = assembler.assemble(&mut branches.clone(), 2).unwrap();
        assert_eq!(array.as_struct().columns(), [numbers(&[1, 2]), names]);
        assert_eq!(apart(&assembler, &array, 2).unwrap(), branches);
    }
}
