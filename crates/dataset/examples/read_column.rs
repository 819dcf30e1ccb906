//! Prints the first ten entries of a column:
//! `cargo run -p basketry-dataset --example read_column FILE TREE COLUMN`.

use std::error::Error;

use dataset::decode::columns;
use dataset::read::read_column;
use dataset::tree::read_tree;
use rootfile::RootFile;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, tree, column] = arguments.as_slice() else { return Err("usage: read_column FILE TREE COLUMN".into()) };
    let file = RootFile::open(path)?;
    let key = file.top().keys.iter().find(|key| key.name == *tree).ok_or("there is no tree of this name")?;
    let tree = read_tree(&file, key)?;
    let plans = columns(&tree, file.infos());
    let plan = plans.iter().find(|plan| plan.field().name() == column).ok_or("there is no column of this name")?;
    println!("{:?}", read_column(&file, &tree, plan, 0..tree.entries.min(10))?);
    Ok(())
}
