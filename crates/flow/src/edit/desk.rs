//! The files of an edit: each opened once, with its contents as they were and as they are to be; and how an edited file is written and
//! takes the place of the old one.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use objects::contents::Contents;
use objects::refuse_damage_in;
use rootfile::codec::Compression;
use rootfile::{EditLock, Error, ErrorKind, FilePool, Follow, Result, RootFile, check_output, shrink};

use super::place::is_same;
use super::report::{Edited, EditedFile};
use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::execute::replaced::SeenFile;
use crate::rewrite::execute::write;
use crate::rewrite::options::Options;
use crate::rewrite::prepare::prepare_objects;

/// What a user does whose edit was refused since the file is another one by now.
const AGAIN: &str = "edit it again";

/// How edited files are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Writing {
    pub budget: Budget,
    /// The compression of a new file; else that of each record stays.
    pub compression: Option<Compression>,
    /// Whether files are written anew, without gaps, and not changed in place.
    pub compact: bool,
}

/// A file of an edit.
pub(super) struct OpenFile {
    pub path: PathBuf,
    /// None if it is not there yet, or if what it has is not to stay.
    file: Option<Arc<RootFile>>,
    /// The file as it was when it was opened.
    before: SeenFile,
    /// Held until the edit is done, if the file was there and is edited.
    _lock: Option<EditLock>,
    pub original: Contents,
    pub contents: Contents,
    pub is_edited: bool,
}

/// The files of an edit, by their numbers.
pub(super) struct Desk {
    pub files: Vec<OpenFile>,
    /// Has few of them open at a time.
    pool: Arc<FilePool>,
}

impl Desk {
    /// A desk without files.
    pub fn new() -> Self {
        Self { files: Vec::new(), pool: FilePool::following(rootfile::OPEN_FILES, Follow::default()) }
    }

    /// The number of a file that is read.
    pub fn open(&mut self, path: &Path) -> Result<usize> {
        match self.known(path) {
            Some(known) => Ok(known),
            None => self.open_locked(path, None),
        }
    }

    /// The number of a file that was not open, with its lock if it has one.
    fn open_locked(&mut self, path: &Path, _lock: Option<EditLock>) -> Result<usize> {
        let before = SeenFile::of(path);
        let file = self.pool.open(path)?;
        file.check_length()?;
        let mut walk = file.walk();
        refuse_damage_in(&file, &mut walk, &mut Vec::new(), |_| true)?;
        let original = Contents::of(self.next(), &file, &walk);
        let (file, contents) = (Some(Arc::new(file)), original.clone());
        self.add(OpenFile { path: path.to_owned(), file, before, _lock, original, contents, is_edited: false })
    }

    /// The number of a file that is edited.
    pub fn open_to_edit(&mut self, path: &Path) -> Result<usize> {
        let number = match self.known(path) {
            Some(known) => known,
            None => {
                let lock = EditLock::take(path)?;
                self.open_locked(path, lock)?
            }
        };
        let Some(file) = self.files.get(number) else { return Ok(number) };
        check_output::<&Path>(path, true, [])?;
        if file.file.as_ref().is_some_and(|file| file.recovered()) {
            let why = "the file was not closed, and an edit would lose what its lists of keys lack; `basketry recover` makes a \
                       whole file of it first";
            return Err(Error::request(why).file(path));
        }
        Ok(number)
    }

    /// The number of a file that is made. One that is there goes if it is made `anew`, and is else left to whoever made it meanwhile.
    pub fn create(&mut self, path: &Path, anew: bool) -> Result<usize> {
        if self.known(path).is_some() {
            return Err(Error::request("is a source as well, and cannot be made anew").file(path));
        }
        check_output::<&Path>(path, anew, [])?;
        let (original, contents) = (Contents::default(), Contents::default());
        let _lock = if anew { EditLock::take(path)? } else { None };
        let before = if anew { SeenFile::of(path) } else { SeenFile::absent(path) };
        self.add(OpenFile { path: path.to_owned(), file: None, before, _lock, original, contents, is_edited: true })
    }

    /// The number of a file that is open.
    pub fn known(&self, path: &Path) -> Option<usize> {
        self.files.iter().position(|file| is_same(&file.path, path))
    }

    fn next(&self) -> u32 {
        u32::try_from(self.files.len()).unwrap_or(u32::MAX)
    }

    fn add(&mut self, file: OpenFile) -> Result<usize> {
        self.files.push(file);
        Ok(self.files.len() - 1)
    }

    /// A file by its number.
    pub fn file(&self, number: usize) -> Result<&OpenFile> {
        self.files.get(number).ok_or_else(|| Error::request("an edit of other files"))
    }

    /// A file by its number, to edit it.
    pub fn edit(&mut self, number: usize) -> Result<&mut OpenFile> {
        let file = self.files.get_mut(number).ok_or_else(|| Error::request("an edit of other files"))?;
        file.is_edited = true;
        Ok(file)
    }

    /// Writes a file as it is to be, if it is edited, and lets it take the place of the old one.
    pub fn write(&self, number: usize, how: Writing, progress: Progress<'_>, report: &mut Edited) -> Result<()> {
        let edited = self.file(number)?;
        if !edited.is_edited {
            return Ok(());
        }
        let own = u32::try_from(number).unwrap_or(u32::MAX);
        // The first file gives the title and the compression of the header.
        let others = edited.contents.files().into_iter().filter(|file| *file != own);
        let numbers: Vec<u32> = edited.file.iter().map(|_| own).chain(others).collect();
        let open = |number: &u32| self.files.get(usize::try_from(*number).ok()?)?.file.clone();
        let files: Vec<Arc<RootFile>> = numbers.iter().filter_map(open).collect();
        // A file that is there by now is another's.
        let overwrite = edited.before.metadata().is_some();
        let mut options = Options { budget: how.budget, overwrite, ..Options::default() };
        options.inputs.append = edited.file.is_some() && !how.compact;
        options.layout.common.compression = how.compression;
        let prepared = prepare_objects(&files, edited.contents.plan(&numbers), &options, None)?;
        let in_place = prepared.committed.is_some();
        if in_place {
            edited.check_unchanged()?;
        }
        let (summary, staged) = write(prepared, &edited.path, &options, progress).map_err(|e| edited.if_taken(e))?;
        if !summary.unmerged.is_empty() || !summary.damaged.is_empty() {
            let damaged = summary.damaged.iter().map(ToString::to_string);
            let lost: Vec<String> = summary.unmerged.iter().cloned().chain(damaged).collect();
            let what = format!("an edit would lose something, and nothing is changed: {}", lost.join("; "));
            return Err(Error::unsupported(what).file(&edited.path));
        }
        if !in_place {
            if let Some(before) = edited.before.metadata() {
                std::fs::set_permissions(staged.path(), before.permissions())?;
            }
            edited.check_unchanged()?;
        }
        let bytes_written = Some(staged.written());
        let mut bytes_after = Some(staged.deliver().map_err(|e| edited.if_taken(e))?);
        if in_place {
            bytes_after = shrink(&edited.path).or(bytes_after);
        }
        let bytes_before = edited.before.metadata().map(Metadata::len);
        report.files.push(EditedFile { path: edited.path.clone(), bytes_before, bytes_after, bytes_written });
        report.notes.extend(summary.notes);
        Ok(())
    }
}

impl OpenFile {
    /// Refuses to replace a file that another process has changed meanwhile.
    pub fn check_unchanged(&self) -> Result<()> {
        self.before.check_unchanged(AGAIN)
    }

    /// The error of a new file, if another has its name by now.
    fn if_taken(&self, error: Error) -> Error {
        let is_taken = matches!(error.kind(), ErrorKind::Io(e) if e.kind() == std::io::ErrorKind::AlreadyExists);
        if is_taken && self.before.metadata().is_none() { self.before.changed(AGAIN) } else { error }
    }

    /// Removes the file.
    pub fn unlink(&self) -> Result<EditedFile> {
        self.check_unchanged()?;
        std::fs::remove_file(&self.path).map_err(|e| Error::from(e).file(&self.path))?;
        let bytes_before = self.before.metadata().map(Metadata::len);
        Ok(EditedFile { path: self.path.clone(), bytes_before, bytes_after: None, bytes_written: None })
    }
}
