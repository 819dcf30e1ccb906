//! Lists the objects in a ROOT file: `cargo run -p basketry-rootfile --example list_keys FILE`.

use std::error::Error;

use rootfile::RootFile;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a ROOT file")?;
    let file = RootFile::open(path)?;
    let walk = file.walk();
    for directory in &walk.directories {
        for key in &directory.keys {
            let path = directory.path_of(&key.name);
            println!("{:16} {path};{} {} of {} bytes", key.class, key.cycle, key.nbytes, key.objlen);
        }
    }
    walk.problems.iter().for_each(|problem| eprintln!("{problem}"));
    Ok(())
}
