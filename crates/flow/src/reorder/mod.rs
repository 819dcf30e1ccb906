//! Writes the rows of tables in another order. An [`Order`](crate::execute::order::Order) says which entry each row of the output is: of the
//! tables that are read, counted one behind the other, each any number of times; or of none, and then the row has the defaults of the
//! columns. The order itself is made by others, row by row, and takes 4 or 8 bytes for each row: in memory, or on disk beside the output.
//!
//! A plan of a table ([`TableRequest::order`](crate::plan::request::TableRequest)) keeps the order until it is written. Then its columns
//! are reordered one by one, on all threads: as many entries as there is memory for are read in the order of the inputs, and their
//! rows put into a scratch file in the order of the output; of a column that is larger than this the runs are merged. After that the plan
//! has pieces in the scratch file in place of those of the inputs, and is written as any other plan. So each input is read once, in its own
//! order, and what an output can have does not change. Clusters have the size that most entries of the planned ones have, which depends
//! neither on the memory nor on the threads.
//!
//! Where the inputs have their entries in the order of the output, as sorted files that are merged, there is no scratch file: some clusters, or
//! rows, of all columns are made at a time, of what is read of each input in its order.
//!
//! `tree` moves the bytes of entries of trees; `table` and `merge` move arrays, of tables that are converted or encoded anew.

mod array_column;
mod arrays;
pub(crate) mod merge;
pub(crate) mod table;
pub(crate) mod tree;
