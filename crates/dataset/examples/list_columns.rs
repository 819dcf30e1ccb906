//! Lists the trees of a ROOT file and their columns as Arrow types:
//! `cargo run -p basketry-dataset --example list_columns FILE`.

use std::error::Error;

use dataset::decode::columns;
use dataset::tree::{is_tree_class, read_tree};
use rootfile::RootFile;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a ROOT file")?;
    let file = RootFile::open(path)?;
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(&file, &key.class)) {
            let tree = read_tree(&file, key)?;
            println!("{};{}: {} entries", directory.path_of(&key.name), key.cycle, tree.entries);
            for plan in columns(&tree, file.infos()) {
                let note = plan.opaque().map_or(String::new(), |reason| format!(" ({reason})"));
                println!("  {}: {}{note}", plan.field().name(), plan.field().data_type());
            }
        }
    }
    Ok(())
}
