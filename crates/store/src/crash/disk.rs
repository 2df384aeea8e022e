//! The model itself: inodes with synced and pending bytes, names with pending changes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::FileLayer;

/// What a step did; reads are no steps, since a cut after one leaves what a cut before it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKind {
    /// A file was made.
    Create,
    /// Bytes were written.
    Write,
    /// A file's contents were synced.
    Fsync,
    /// A file was renamed.
    Rename,
    /// A folder's names were synced.
    FsyncDir,
    /// A name was removed.
    Remove,
}

/// One step that changed the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it did.
    pub kind: StepKind,
    /// The file or folder; of a rename the new name.
    pub path: PathBuf,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Inode {
    synced: Vec<u8>,
    pending: Vec<u8>,
}

impl Inode {
    fn all(&self) -> Vec<u8> {
        [self.synced.as_slice(), &self.pending].concat()
    }

    /// Every state in which a cut can leave the contents: lost, kept, torn, zero-filled.
    fn survivors(&self) -> Vec<Vec<u8>> {
        if self.pending.is_empty() {
            return vec![self.synced.clone()];
        }
        let zeros = [self.synced.as_slice(), &vec![0; self.pending.len()]].concat();
        let half = self.pending.get(..self.pending.len() / 2).unwrap_or_default();
        let torn = [self.synced.as_slice(), half].concat();
        vec![self.synced.clone(), self.all(), torn, zeros]
    }
}

/// A change of names that the folder's sync has not made durable yet. One is applied whole or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Naming {
    unlink: Option<PathBuf>,
    link: Option<(PathBuf, usize)>,
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        if let Some(name) = &self.unlink {
            names.remove(name);
        }
        if let Some((name, inode)) = &self.link {
            names.insert(name.clone(), *inode);
        }
    }

    fn is_in(&self, dir: &Path) -> bool {
        let name = self.unlink.as_ref().or(self.link.as_ref().map(|(name, _)| name));
        name.is_some_and(|name| name.parent().unwrap_or(Path::new("")) == dir)
    }
}

/// A disk in memory whose power can be cut between any two steps. See [the module](crate::crash) for what it assumes.
#[derive(Debug, Clone, Default)]
pub struct CrashDisk {
    inodes: Vec<Inode>,
    /// As a running program sees them.
    names: BTreeMap<PathBuf, usize>,
    /// As they stand on the platter.
    durable: BTreeMap<PathBuf, usize>,
    pending: Vec<Naming>,
    steps: Vec<Step>,
    cut_after: Option<usize>,
    cut: bool,
    capacity: Option<u64>,
}

/// Above this many pending name changes only prefixes and single losses are enumerated instead of every combination.
const ALL_COMBINATIONS_UP_TO: usize = 8;

impl CrashDisk {
    /// An empty disk that never loses power and never fills.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cuts the power after `steps` more steps: from then on every call fails.
    pub fn cut_after(&mut self, steps: usize) {
        self.steps.clear();
        self.cut_after = Some(steps);
        self.cut = false;
    }

    /// Whether the power went.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// How many bytes fit in all; a write beyond fails with what fits written.
    pub fn set_capacity(&mut self, bytes: Option<u64>) {
        self.capacity = bytes;
    }

    /// The steps done since the disk was made or [`CrashDisk::cut_after`] was called.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The files as a running program sees them.
    #[must_use]
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.names.iter().filter_map(|(name, i)| Some((name.clone(), self.inodes.get(*i)?.all()))).collect()
    }

    /// Every state in which a cut at this moment can leave the disk, without repeats, powered again.
    #[must_use]
    pub fn survivors(&self) -> Vec<Self> {
        let mut states = BTreeSet::new();
        for kept in self.kept_namings() {
            let mut names = self.durable.clone();
            for naming in kept {
                naming.apply(&mut names);
            }
            let mut partial: Vec<BTreeMap<PathBuf, Vec<u8>>> = vec![BTreeMap::new()];
            for (name, index) in &names {
                let contents = self.inodes.get(*index).map(Inode::survivors).unwrap_or_default();
                partial = partial
                    .into_iter()
                    .flat_map(|state| {
                        contents.iter().map(move |bytes| {
                            let mut state = state.clone();
                            state.insert(name.clone(), bytes.clone());
                            state
                        })
                    })
                    .collect();
            }
            states.extend(partial);
        }
        states.into_iter().map(|files| Self::with_files(files, self.capacity)).collect()
    }

    /// A disk that holds exactly these files, all durable.
    fn with_files(files: BTreeMap<PathBuf, Vec<u8>>, capacity: Option<u64>) -> Self {
        let mut disk = Self { capacity, ..Self::default() };
        for (name, bytes) in files {
            disk.names.insert(name.clone(), disk.inodes.len());
            disk.durable.insert(name, disk.inodes.len());
            disk.inodes.push(Inode { synced: bytes, pending: Vec::new() });
        }
        disk
    }

    fn kept_namings(&self) -> Vec<Vec<&Naming>> {
        let all: Vec<&Naming> = self.pending.iter().collect();
        if all.len() <= ALL_COMBINATIONS_UP_TO {
            return (0..1_usize << all.len())
                .map(|mask| {
                    all.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, n)| *n).collect()
                })
                .collect();
        }
        let prefixes = (0..=all.len()).map(|n| all.iter().take(n).copied().collect());
        let losses = (0..all.len())
            .map(|lost| all.iter().enumerate().filter(|(i, _)| *i != lost).map(|(_, n)| *n).collect());
        prefixes.chain(losses).collect()
    }

    /// Counts a step, or refuses it when the power is gone.
    fn begin(&mut self) -> io::Result<()> {
        if self.cut || self.cut_after == Some(self.steps.len()) {
            self.cut = true;
            return Err(io::Error::other("the power is cut"));
        }
        Ok(())
    }

    fn done(&mut self, kind: StepKind, path: &Path) {
        self.steps.push(Step { kind, path: path.to_owned() });
    }

    fn powered(&self) -> io::Result<()> {
        if self.cut { Err(io::Error::other("the power is cut")) } else { Ok(()) }
    }

    fn inode(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn used(&self) -> u64 {
        let held: BTreeSet<usize> = self.names.values().copied().collect();
        held.iter()
            .filter_map(|i| self.inodes.get(*i))
            .map(|i| (i.synced.len() + i.pending.len()) as u64)
            .sum()
    }

    fn rename_pending(&mut self, naming: Naming) {
        naming.apply(&mut self.names);
        self.pending.push(naming);
    }
}

impl FileLayer for CrashDisk {
    fn create_dir_all(&mut self, _: &Path) -> io::Result<()> {
        self.powered()
    }

    fn create_new(&mut self, path: &Path) -> io::Result<()> {
        self.powered()?;
        if self.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.begin()?;
        let inode = self.inodes.len();
        self.inodes.push(Inode::default());
        self.rename_pending(Naming { unlink: None, link: Some((path.to_owned(), inode)) });
        self.done(StepKind::Create, path);
        Ok(())
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.powered()?;
        let index = self.inode(path)?;
        self.begin()?;
        let room = self.capacity.map_or(u64::MAX, |c| c.saturating_sub(self.used()));
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        if let Some(inode) = self.inodes.get_mut(index) {
            inode.pending.extend(bytes.iter().take(fits));
        }
        self.done(StepKind::Write, path);
        if fits < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn fsync(&mut self, path: &Path) -> io::Result<()> {
        self.powered()?;
        let index = self.inode(path)?;
        self.begin()?;
        if let Some(inode) = self.inodes.get_mut(index) {
            let pending = std::mem::take(&mut inode.pending);
            inode.synced.extend(pending);
        }
        self.done(StepKind::Fsync, path);
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.powered()?;
        let inode = self.inode(from)?;
        self.begin()?;
        self.rename_pending(Naming { unlink: Some(from.to_owned()), link: Some((to.to_owned(), inode)) });
        self.done(StepKind::Rename, to);
        Ok(())
    }

    fn fsync_dir(&mut self, dir: &Path) -> io::Result<()> {
        self.begin()?;
        let (synced, kept) =
            std::mem::take(&mut self.pending).into_iter().partition::<Vec<_>, _>(|n| n.is_in(dir));
        for naming in synced {
            naming.apply(&mut self.durable);
        }
        self.pending = kept;
        self.done(StepKind::FsyncDir, dir);
        Ok(())
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.powered()?;
        self.inode(path)?;
        self.begin()?;
        self.rename_pending(Naming { unlink: Some(path.to_owned()), link: None });
        self.done(StepKind::Remove, path);
        Ok(())
    }

    fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        self.powered()?;
        let index = self.inode(path)?;
        self.inodes.get(index).map(Inode::all).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&mut self, dir: &Path) -> io::Result<Vec<OsString>> {
        self.powered()?;
        Ok(self
            .names
            .keys()
            .filter(|name| name.parent().unwrap_or(Path::new("")) == dir)
            .filter_map(|name| name.file_name().map(OsString::from))
            .collect())
    }

    fn free_space(&mut self, _: &Path) -> io::Result<u64> {
        self.powered()?;
        Ok(self.capacity.map_or(u64::MAX, |c| c.saturating_sub(self.used())))
    }
}
