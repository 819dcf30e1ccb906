//! Makes room for missing values among those that a file stores without gaps.

use arrow_buffer::BooleanBufferBuilder;

use super::column::Column;
use super::words::spread;

impl Column {
    /// The values from number `from` on are those where `valid` is true: puts defaults where it is false.
    pub(crate) fn spread(&mut self, from: usize, valid: &[bool]) {
        if valid.iter().all(|valid| *valid) {
            return;
        }
        match self {
            Self::Numbers(_, words) => words.spread(from, valid),
            Self::Bits(bits) => {
                let mut spread = BooleanBufferBuilder::new(from + valid.len());
                (0..from).for_each(|i| spread.append(bits.get_bit(i)));
                let mut next = from..bits.len();
                valid.iter().for_each(|&valid| {
                    let i = if valid { next.next() } else { None };
                    spread.append(i.is_some_and(|i| bits.get_bit(i)));
                });
                *bits = spread;
            }
            // Empty ones: the items stay where they are.
            Self::Text { offsets, .. } | Self::Bytes { offsets, .. } | Self::List { offsets, .. } => {
                offsets.spread(from, valid);
            }
            Self::Fixed { size, len, items, .. } => {
                *len = from + valid.len();
                let of_items: Vec<bool> = valid.iter().flat_map(|valid| std::iter::repeat_n(*valid, *size)).collect();
                items.spread(from * *size, &of_items);
            }
            Self::Record { len, parts, .. } => {
                *len = from + valid.len();
                parts.iter_mut().for_each(|part| part.spread(from, valid));
            }
            Self::Optional { valid: known, value } => {
                spread(known, from, valid);
                value.spread(from, valid);
            }
            Self::Variant { tags, offsets, .. } => {
                spread(tags, from, valid);
                spread(offsets, from, valid);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int16Type;

    use super::*;
    use crate::decode::program::types::{Number, Shape};
    use crate::decode::run::words::Words;

    fn push(column: &mut Column, values: &[u16]) {
        match column {
            Column::Numbers(_, Words::W2(v)) => v.extend_from_slice(values),
            Column::Fixed { size, len, items, .. } => {
                *len += values.len() / *size;
                push(items, values);
            }
            Column::List { offsets, items, .. } => {
                values.iter().for_each(|_| offsets.push(1));
                push(items, values);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_move_to_their_places() {
        let number = Shape::Number(Number::I16);
        let mut column = Column::new(&number, 0);
        push(&mut column, &[1, 2, 3]);
        column.spread(1, &[false, true, false, true, false]);
        assert_eq!(column.finish().unwrap().as_primitive::<Int16Type>().values(), &[1, 0, 2, 0, 3, 0]);

        let mut pairs = Column::new(&number.clone().fixed(&[2]), 0);
        push(&mut pairs, &[1, 2, 3, 4]);
        pairs.spread(1, &[false, true]);
        let array = pairs.finish().unwrap();
        assert_eq!(array.as_fixed_size_list().values().as_primitive::<Int16Type>().values(), &[1, 2, 0, 0, 3, 4]);

        let mut lists = Column::new(&number.list(), 0);
        push(&mut lists, &[1, 2, 3]);
        lists.spread(1, &[true, false, true]);
        assert_eq!(lists.finish().unwrap().as_list::<i64>().offsets().as_ref(), &[0, 1, 2, 2, 3]);
    }
}
