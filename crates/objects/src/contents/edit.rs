//! Changes to contents: folders are made, objects put and removed. Each change that would hide or lose an object is refused.

use rootfile::{Error, Hint, Result};

use super::{Contents, Found, FoundObjects, Item, StoredObject, What, kept_name};
use crate::plan::ObjectLocation;

/// What becomes of an object whose name another takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taken {
    /// The other is refused.
    #[default]
    Refuse,
    /// All its cycles go.
    Replace,
    /// It stays as an older cycle.
    Older,
}

/// A name in contents that something is put under.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The folder.
    pub folder: usize,
    /// The name.
    pub name: &'a str,
    /// What becomes of an object that has the name.
    pub taken: Taken,
}

/// A place, and what the source has there.
#[derive(Clone, Copy)]
struct Put<'a> {
    folder: usize,
    name: &'a str,
    taken: Taken,
    /// Whether a folder and an object share the name in the source. They may here as well.
    shares: bool,
}

impl<'a> Put<'a> {
    fn of(place: Place<'a>, shares: bool) -> Self {
        Self { folder: place.folder, name: place.name, taken: place.taken, shares }
    }
}

impl Contents {
    /// The folder of a name in a folder, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// An object has the name.
    pub fn make_folder(&mut self, parent: usize, name: &str, title: &str) -> Result<usize> {
        self.folder_of(&Put { folder: parent, name, taken: Taken::Refuse, shares: false }, title)
    }

    /// The folder of a place, which is made if it is not there.
    fn folder_of(&mut self, place: &Put<'_>, title: &str) -> Result<usize> {
        let Put { folder: parent, name, shares, .. } = *place;
        if let Some(there) = self.folder(parent, name) {
            return Ok(there);
        }
        match self.objects(parent, name).and_then(<[_]>::last).filter(|_| !shares) {
            Some(object) => Err(Error::request(format!("a {} has this name already", object.class)).object(name)),
            None => Ok(self.add_folder(parent, name, title)),
        }
    }

    /// Puts what was found in contents `source` under a name: an object, with the list beside it if it is an RNTuple, or a folder with
    /// the newest cycles of all below. Cycles keep their numbers where `moved` and the name is free.
    ///
    /// # Errors
    ///
    /// The name is taken, and [`Taken`] refuses that; or this run of changes has put something there.
    pub fn put(&mut self, source: &Self, found: &Found, place: Place<'_>, moved: bool) -> Result<()> {
        let place = Put::of(place, source.is_shared(found.parent, &found.name));
        match &found.what {
            FoundObjects::Objects(cycles) => {
                self.put_objects(cycles, place, moved)?;
                let Some(list) = source.kept_beside(found.parent, &found.name) else { return Ok(()) };
                let lists = source.objects(found.parent, &list).unwrap_or_default();
                let lists = if moved { lists } else { lists.last().map_or(&[][..], std::slice::from_ref) };
                self.put_objects(lists, Put { name: &kept_name(place.name), ..place }, moved)
            }
            FoundObjects::Folder(folder) => {
                let title = source.folders.get(*folder).map_or("", |folder| &folder.title);
                let into = self.folder_of(&place, title)?;
                self.put_all_of(source, *folder, Put { folder: into, ..place }, moved)
            }
        }
    }

    /// Puts all that is in a folder of contents `source` into the folder of a place.
    fn put_all_of(&mut self, source: &Self, from: usize, place: Put<'_>, moved: bool) -> Result<()> {
        let mut left = vec![(from, place.folder)];
        while let Some((from, into)) = left.pop() {
            for item in source.items(from) {
                let shares = source.is_shared(from, &item.name);
                let place = Put { folder: into, name: &item.name, taken: place.taken, shares };
                match &item.what {
                    What::Folder(below) => {
                        let title = source.folders.get(*below).map_or("", |folder| &folder.title);
                        left.push((*below, self.folder_of(&place, title)?));
                    }
                    What::Objects(cycles) => {
                        let newest = cycles.last().map_or(&[][..], std::slice::from_ref);
                        let cycles = if moved { cycles.as_slice() } else { newest };
                        self.put_objects(cycles, place, moved)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn put_objects(&mut self, cycles: &[StoredObject], place: Put<'_>, moved: bool) -> Result<()> {
        let Put { folder, name, taken, shares } = place;
        if !shares && self.folder(folder, name).is_some() {
            return Err(Error::request("a directory has this name, which an object cannot replace").object(name));
        }
        let is_second = !self.placed.insert((folder, name.to_owned()));
        let there = self.objects(folder, name).map(<[_]>::to_vec);
        if is_second && taken != Taken::Older && there.is_some() {
            let older = Hint::switch("add-cycle");
            let why = format!("two sources have this name, and one would hide the other; {older} keeps both as cycles");
            return Err(Error::request(why).object(name).hint(older));
        }
        let last = match (there.as_deref().and_then(<[_]>::last), taken) {
            (None, _) | (Some(_), Taken::Replace) => None,
            (Some(object), Taken::Refuse) => {
                let (replace, older) = (Hint::switch("replace"), Hint::switch("add-cycle"));
                let class = &object.class;
                let why =
                    format!("a {class} is there already; {replace} replaces it, {older} keeps it as an older cycle");
                return Err(Error::request(why).object(name).hint(replace).hint(older));
            }
            (Some(object), Taken::Older) => Some(object.location.cycle),
        };
        let mut numbered = if last.is_some() { there.unwrap_or_default() } else { Vec::new() };
        let mut next = last.unwrap_or(0);
        for object in cycles {
            let too_many = || Error::request("has as many cycles as a name can have").object(name);
            next = next.checked_add(1).ok_or_else(too_many)?;
            let cycle = if moved && last.is_none() { object.location.cycle } else { next };
            numbered.push(StoredObject { location: ObjectLocation { cycle, ..object.location }, ..object.clone() });
        }
        let Some(items) = self.folders.get_mut(folder).map(|folder| &mut folder.items) else { return Ok(()) };
        match items.iter_mut().find(|item| item.name == name && matches!(item.what, What::Objects(_))) {
            Some(item) => item.what = What::Objects(numbered),
            None => items.push(Item { name: name.to_owned(), what: What::Objects(numbered) }),
        }
        Ok(())
    }

    /// Removes what was found in these contents: a folder with all in it, or cycles of an object. The last cycle of an RNTuple takes the
    /// list beside it along.
    pub fn remove(&mut self, found: &Found) {
        let list = self.kept_beside(found.parent, &found.name);
        let Some(items) = self.folders.get_mut(found.parent).map(|folder| &mut folder.items) else { return };
        match &found.what {
            FoundObjects::Folder(folder) => {
                items.retain(|item| !matches!(item.what, What::Folder(own) if own == *folder))
            }
            FoundObjects::Objects(gone) => {
                for item in items.iter_mut().filter(|item| item.name == found.name) {
                    if let What::Objects(cycles) = &mut item.what {
                        cycles.retain(|object| gone.iter().all(|gone| gone.location != object.location));
                    }
                }
                items.retain(|item| !matches!(&item.what, What::Objects(cycles) if cycles.is_empty()));
                let is_last = !items.iter().any(|item| item.name == found.name);
                items.retain(|item| !is_last || Some(&item.name) != list.as_ref());
            }
        }
    }

    /// Whether a folder is another, or lies in it.
    pub fn is_within(&self, folder: usize, other: usize) -> bool {
        let mut left = vec![other];
        while let Some(next) = left.pop() {
            if next == folder {
                return true;
            }
            left.extend(self.items(next).iter().filter_map(|item| match item.what {
                What::Folder(below) => Some(below),
                What::Objects(_) => None,
            }));
        }
        false
    }

    /// Leaves only this.
    pub fn retain_only(&mut self, found: &Found) {
        let mut alone = Self { newest: self.newest, ..Self::default() };
        let source = std::mem::take(self);
        let mut folder = super::TOP;
        let above = found.path.strip_suffix(found.name.as_str()).unwrap_or_default();
        for name in above.split('/').filter(|name| !name.is_empty()) {
            folder = alone.add_folder(folder, name, "");
        }
        let place = Place { folder, name: &found.name, taken: Taken::Refuse };
        // Into empty contents everything can be put.
        let _ = alone.put(&source, found, place, true);
        *self = alone;
    }
}
