//! Arrays of numbers as arrays of wider numbers: those that hold every value of the narrower type without a loss. Which type
//! leaves of several types are joined in is for [`crate::tree::make::LeafNumber`] to say.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_schema::DataType;

/// Makes the table of all pairs of types; each conversion is the standard library's, which has only those without a loss.
macro_rules! pairs {
    ($($from:ident: $($to:ident)*;)*) => {
        /// Whether a type of numbers holds all values of another.
        pub(crate) fn is_wider(from: &DataType, to: &DataType) -> bool {
            match (from, to) {
                $($((&$from::DATA_TYPE, &$to::DATA_TYPE) => true,)*)*
                (DataType::Boolean, to) => to.is_integer() || matches!(to, DataType::Float32 | DataType::Float64),
                _ => false,
            }
        }

        /// An array with the same values in a wider type. `None` if the type is not wider.
        pub(crate) fn widened(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
            Some(match (array.data_type(), to) {
                $($((&$from::DATA_TYPE, &$to::DATA_TYPE) => numbers::<$from, $to>(array),)*)*
                (DataType::Boolean, to) => return flags(array, to),
                _ => return None,
            })
        }
    };
}

pairs! {
    Int8Type: Int16Type Int32Type Int64Type Float32Type Float64Type;
    UInt8Type: Int16Type UInt16Type Int32Type UInt32Type Int64Type UInt64Type Float32Type Float64Type;
    Int16Type: Int32Type Int64Type Float32Type Float64Type;
    UInt16Type: Int32Type UInt32Type Int64Type UInt64Type Float32Type Float64Type;
    Int32Type: Int64Type Float64Type;
    UInt32Type: Int64Type UInt64Type Float64Type;
    Float32Type: Float64Type;
}

/// Numbers, the smaller ones first, and integers before numbers of as many bytes that have fractions.
const NUMBERS: [DataType; 10] = [
    DataType::Int8,
    DataType::UInt8,
    DataType::Int16,
    DataType::UInt16,
    DataType::Int32,
    DataType::UInt32,
    DataType::Float32,
    DataType::Int64,
    DataType::UInt64,
    DataType::Float64,
];

/// The smallest type of numbers that holds all values of these types; none if there is none.
pub(crate) fn joined(types: &[&DataType]) -> Option<DataType> {
    let holds = |to: &&DataType| types.iter().all(|from| *from == *to || is_wider(from, to));
    NUMBERS.iter().find(holds).cloned()
}

fn numbers<F, T>(array: &ArrayRef) -> ArrayRef
where
    F: ArrowPrimitiveType,
    T: ArrowPrimitiveType,
    T::Native: From<F::Native>,
{
    Arc::new(array.as_primitive::<F>().unary::<_, T>(T::Native::from))
}

/// Flags as the numbers 0 and 1.
fn flags(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    fn of<T: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef
    where
        T::Native: From<bool>,
    {
        let flags = array.as_boolean();
        let made: PrimitiveArray<T> = flags.iter().map(|flag| flag.map(T::Native::from)).collect();
        Arc::new(made)
    }
    Some(match to {
        DataType::Int8 => of::<Int8Type>(array),
        DataType::UInt8 => of::<UInt8Type>(array),
        DataType::Int16 => of::<Int16Type>(array),
        DataType::UInt16 => of::<UInt16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::UInt32 => of::<UInt32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        DataType::UInt64 => of::<UInt64Type>(array),
        DataType::Float32 => of::<Float32Type>(array),
        DataType::Float64 => of::<Float64Type>(array),
        _ => return None,
    })
}
