//! Lists the trees of a ROOT file and their columns as Arrow types:
//! `cargo run -p basketry-dataset --example list_columns FILE`.

use std::error::Error;

use dataset::decode::columns;
use dataset::layout::Container;
use dataset::table::catalog::tables;
use dataset::tree::read_tree;
use rootfile::RootFile;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a ROOT file")?;
    let file = RootFile::open(path)?;
    for table in tables(&file).iter().filter(|table| table.container == Container::Ttree) {
        let tree = read_tree(&file, &table.key)?;
        println!("{};{}: {} entries", table.path, table.key.cycle, tree.entries);
        for plan in columns(&tree, file.infos()) {
            let note = plan.opaque().map_or(String::new(), |reason| format!(" ({reason})"));
            println!("  {}: {}{note}", plan.field().name(), plan.field().data_type());
        }
    }
    Ok(())
}
