//! Bytes of a log, record by record.

use fieldlab_base::Micros;
use fieldlab_values::{DataType, ValueRef};

use crate::record::{MAGIC, VERSION, put, put_head};

/// Appends a log's bytes to a buffer that the caller empties when it likes.
///
/// It owns no file and asks for no time, and it does not check that an id was started: that is
/// [`LogWriter`](crate::LogWriter)'s business. Texts and payloads beyond the format's 32-bit lengths are cut at the
/// limit.
///
/// ```
/// use fieldlab_base::Micros;
/// use fieldlab_values::{DataType, ValueRef};
/// use fieldlab_wpilog::{Encoder, Log};
///
/// let mut log = Encoder::new("");
/// log.start(Micros(0), 1, "Status/BatteryVolts", &DataType::Double, "");
/// log.value(Micros(20_000), 1, ValueRef::Double(12.5));
/// let log = Log::from_bytes(log.into_bytes(), "example")?;
/// let volts = log.numbers(&log.entries()[0])?;
/// assert_eq!((volts.times, volts.values), (vec![Micros(20_000)], vec![12.5]));
/// # Ok::<(), fieldlab_wpilog::LogError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Encoder {
    out: Vec<u8>,
}

impl Encoder {
    /// A buffer that begins with the file's header.
    #[must_use]
    pub fn new(extra_header: &str) -> Self {
        let mut encoder = Self::default();
        encoder.header(extra_header);
        encoder
    }

    /// A buffer for records only, to be appended to a file that has its header.
    #[must_use]
    pub fn records() -> Self {
        Self::default()
    }

    /// Room for `capacity` bytes of records.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { out: Vec::with_capacity(capacity) }
    }

    /// The file's header: magic, version 1.0, extra text.
    pub fn header(&mut self, extra: &str) {
        self.out.extend_from_slice(MAGIC);
        self.out.extend_from_slice(&VERSION.to_le_bytes());
        self.text(extra.as_bytes());
    }

    /// Start of entry `id`.
    pub fn start(&mut self, time: Micros, id: u32, name: &str, data_type: &DataType, metadata: &str) {
        let type_name = data_type.log_name();
        let size = 17 + name.len() + type_name.len() + metadata.len();
        put_head(&mut self.out, 0, clamp(size), time.0);
        self.out.push(0);
        self.out.extend_from_slice(&id.to_le_bytes());
        self.text(name.as_bytes());
        self.text(type_name.as_bytes());
        self.text(metadata.as_bytes());
    }

    /// End of entry `id`.
    pub fn finish(&mut self, time: Micros, id: u32) {
        put_head(&mut self.out, 0, 5, time.0);
        self.out.push(1);
        self.out.extend_from_slice(&id.to_le_bytes());
    }

    /// New metadata of entry `id`.
    pub fn set_metadata(&mut self, time: Micros, id: u32, metadata: &str) {
        put_head(&mut self.out, 0, clamp(9 + metadata.len()), time.0);
        self.out.push(2);
        self.out.extend_from_slice(&id.to_le_bytes());
        self.text(metadata.as_bytes());
    }

    /// One data record with its payload as it stands.
    pub fn data(&mut self, time: Micros, id: u32, payload: &[u8]) {
        let size = clamp(payload.len());
        put_head(&mut self.out, id, size, time.0);
        self.out.extend_from_slice(payload.get(..size as usize).unwrap_or(payload));
    }

    /// One data record.
    #[inline]
    pub fn value(&mut self, time: Micros, id: u32, value: ValueRef<'_>) {
        match value {
            ValueRef::Boolean(v) => put(&mut self.out, id, 1, time.0, [u8::from(v)]),
            ValueRef::Int(v) => put(&mut self.out, id, 8, time.0, v.to_le_bytes()),
            ValueRef::Float(v) => put(&mut self.out, id, 4, time.0, v.to_le_bytes()),
            ValueRef::Double(v) => put(&mut self.out, id, 8, time.0, v.to_le_bytes()),
            ValueRef::String(v) => self.data(time, id, v.as_bytes()),
            ValueRef::Raw(v) => self.data(time, id, v),
            ValueRef::BooleanArray(v) => self.array(time, id, v, |v| [u8::from(*v)]),
            ValueRef::IntArray(v) => self.array(time, id, v, |v| v.to_le_bytes()),
            ValueRef::FloatArray(v) => self.array(time, id, v, |v| v.to_le_bytes()),
            ValueRef::DoubleArray(v) => self.array(time, id, v, |v| v.to_le_bytes()),
            ValueRef::StringArray(v) => {
                put_head(&mut self.out, id, clamp(payload_len(value)), time.0);
                self.out.extend_from_slice(&clamp(v.len()).to_le_bytes());
                for text in v {
                    self.text(text.as_bytes());
                }
            }
        }
    }

    /// Records that another encoder made.
    pub(crate) fn append(&mut self, records: &[u8]) {
        self.out.extend_from_slice(records);
    }

    /// What is in the buffer.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.out
    }

    /// Bytes in the buffer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Whether the buffer is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Empties the buffer and keeps its room.
    pub fn clear(&mut self) {
        self.out.clear();
    }

    /// The buffer.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    fn text(&mut self, text: &[u8]) {
        let len = clamp(text.len());
        self.out.extend_from_slice(&len.to_le_bytes());
        self.out.extend_from_slice(text.get(..len as usize).unwrap_or(text));
    }

    fn array<T, const N: usize>(
        &mut self,
        time: Micros,
        id: u32,
        items: &[T],
        bytes: impl Fn(&T) -> [u8; N],
    ) {
        let items = items.get(..u32::MAX as usize / N).unwrap_or(items);
        put_head(&mut self.out, id, clamp(items.len() * N), time.0);
        for item in items {
            self.out.extend_from_slice(&bytes(item));
        }
    }
}

/// Bytes of the payload that holds `value`.
pub(crate) fn payload_len(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Boolean(_) => 1,
        ValueRef::Float(_) => 4,
        ValueRef::Int(_) | ValueRef::Double(_) => 8,
        ValueRef::String(v) => v.len(),
        ValueRef::Raw(v) => v.len(),
        ValueRef::BooleanArray(v) => v.len(),
        ValueRef::FloatArray(v) => 4 * v.len(),
        ValueRef::IntArray(v) => 8 * v.len(),
        ValueRef::DoubleArray(v) => 8 * v.len(),
        ValueRef::StringArray(v) => 4 + v.iter().map(|text| 4 + text.len()).sum::<usize>(),
    }
}

fn clamp(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
