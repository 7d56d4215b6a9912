//! A file under a temporary name beside its target.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::OutputError;

/// A file that becomes its target only when committed; dropped before, it leaves nothing behind.
///
/// It lies in the target's folder because a rename is atomic only within one file system. Its name does not
/// contain the target's, which may already have the greatest length the system allows.
pub(crate) struct Draft {
    /// `None` once closed for the rename.
    file: Option<BufWriter<File>>,
    temporary: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// Starts a draft of `target`.
    pub fn create(target: &Path) -> Result<Draft, OutputError> {
        let (file, temporary) = create_beside(target)
            .map_err(|source| OutputError::Write { path: target.to_path_buf(), source })?;
        Ok(Draft { file: Some(BufWriter::new(file)), temporary, target: target.to_path_buf() })
    }

    /// The name the file will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Runs `write` on the file; a failure is reported under the target's name.
    pub fn with<T>(
        &mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<T, OutputError> {
        let result = match &mut self.file {
            Some(file) => write(file),
            None => Err(io::Error::other("the file is already closed")),
        };
        result.map_err(|source| OutputError::Write { path: self.target.clone(), source })
    }

    /// Opens what was written so far for reading.
    pub fn read_back(&mut self) -> Result<File, OutputError> {
        let temporary = self.temporary.clone();
        self.with(|file| {
            file.flush()?;
            File::open(temporary)
        })
    }

    /// Gives the file its real name, replacing what was there, and returns that name.
    pub fn commit(mut self) -> Result<PathBuf, OutputError> {
        self.with(|file| file.flush())?;
        // Closed first: some systems do not rename an open file.
        self.file = None;
        match fs::rename(&self.temporary, &self.target) {
            Ok(()) => {
                self.temporary.clear();
                Ok(std::mem::take(&mut self.target))
            }
            Err(source) => Err(OutputError::Write { path: self.target.clone(), source }),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            self.file = None;
            // Nothing better can be done about a failure here than to leave the file.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// The folder `path` lies in; the current one for a bare name.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a new, empty file of an unused name in the folder of `target`.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".taffeta-{}-{number}.tmp", std::process::id());
        let path = folder(target).join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            // Left by an earlier process of the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
    }
}

/// Finds out whether files can be created beside `target`, by creating one and removing it.
pub(crate) fn probe(target: &Path) -> io::Result<()> {
    let (file, path) = create_beside(target)?;
    drop(file);
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_draft_leaves_the_target_and_the_folder_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.txt");
        fs::write(&target, "old").unwrap();
        let mut draft = Draft::create(&target).unwrap();
        draft.with(|file| file.write_all(b"new")).unwrap();
        drop(draft);
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_committed_draft_replaces_the_target() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.txt");
        fs::write(&target, "old").unwrap();
        let mut draft = Draft::create(&target).unwrap();
        draft.with(|file| file.write_all(b"new")).unwrap();
        assert_eq!(draft.commit().unwrap(), target);
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_commit_removes_the_draft() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.txt");
        // A folder with something in it cannot be replaced by a file.
        fs::create_dir(&target).unwrap();
        fs::write(target.join("inside"), "").unwrap();
        let error = Draft::create(&target).unwrap().commit().unwrap_err();
        assert!(error.to_string().contains("a.txt"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
