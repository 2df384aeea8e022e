//! A log that still grows, read as it grows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::LogError;
use crate::decoder::{Decoder, Event};
use crate::report::Salvage;

/// Bytes asked of the file at once.
const CHUNK: usize = 64 << 10;

/// Reads a growing log piece by piece with positioned reads; it never maps the file, so a file that is cut or a stick
/// that is pulled is an error and not the end of the process.
///
/// ```
/// use std::io::Write as _;
/// use fieldlab_base::Micros;
/// use fieldlab_values::ValueRef;
/// use fieldlab_wpilog::{Encoder, Event, Tail};
///
/// let mut file = tempfile::NamedTempFile::new()?;
/// let mut tail = Tail::open(file.path())?;
/// file.write_all(Encoder::new("").bytes())?;
/// let mut data = 0;
/// let mut count = |event: Event<'_>| data += usize::from(matches!(event, Event::Data { .. }));
/// tail.poll(&mut count)?;
/// let mut more = Encoder::records();
/// more.value(Micros(5), 1, ValueRef::Boolean(true));
/// file.write_all(more.bytes())?;
/// tail.poll(&mut count)?;
/// assert_eq!(data, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tail {
    file: File,
    path: PathBuf,
    decoder: Decoder,
    chunk: Vec<u8>,
}

impl Tail {
    /// Opens a file that may still be empty.
    ///
    /// # Errors
    /// [`LogError::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| LogError::io(path, "open", &error))?;
        let decoder = Decoder::new(path.display().to_string());
        Ok(Self { file, path: path.to_owned(), decoder, chunk: vec![0; CHUNK] })
    }

    /// Reads what was added since the last call and hands every complete record to `take`, in file order. Answers how
    /// many bytes were added.
    ///
    /// # Errors
    /// [`LogError::NotALog`] once, [`LogError::Io`], [`LogError::Shrunk`] when the file is shorter than what was read.
    pub fn poll(&mut self, take: &mut dyn FnMut(Event<'_>)) -> Result<u64, LogError> {
        let begun = self.decoder.pushed();
        let refuse = |error: &io::Error| LogError::io(&self.path, "read", error);
        let len = self.file.metadata().map_err(|error| refuse(&error))?.len();
        if len < begun {
            return Err(LogError::Shrunk { place: self.path.display().to_string(), read: begun, found: len });
        }
        loop {
            let read = match self.file.read_at(&mut self.chunk, self.decoder.pushed()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other.map_err(|error| refuse(&error))?,
            };
            self.decoder.push(self.chunk.get(..read).unwrap_or_default());
            while let Some(event) = self.decoder.next()? {
                take(event);
            }
            if read == 0 {
                return Ok(self.decoder.pushed() - begun);
            }
        }
    }

    /// What of the file so far could not be used yet: a record still being written, or damage.
    ///
    /// # Errors
    /// As [`Decoder::finish`].
    pub fn unfinished(&self) -> Result<Option<Salvage>, LogError> {
        self.decoder.finish()
    }
}
