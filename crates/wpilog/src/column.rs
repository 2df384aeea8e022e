//! One entry's records, decoded: a column of times and a column of values.

use fieldlab_base::Micros;
use fieldlab_values::schema::Leaf;

/// Samples of one entry in the order of their times; samples of equal time stay in file order.
#[derive(Debug, Clone, PartialEq)]
pub struct Column<T> {
    /// When.
    pub times: Vec<Micros>,
    /// What, one for each time.
    pub values: Vec<T>,
    /// Records that were left out because their size does not fit the type.
    pub skipped: u64,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { times: Vec::new(), values: Vec::new(), skipped: 0 }
    }
}

/// Array samples of one entry, laid end to end: sample `i` is `items[ends[i - 1]..ends[i]]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ArrayColumn<T> {
    /// When.
    pub times: Vec<Micros>,
    /// All samples' items.
    pub items: Vec<T>,
    /// Where each sample ends in `items`.
    pub ends: Vec<usize>,
    /// Records that were left out because their size does not fit the type.
    pub skipped: u64,
}

impl<T> Default for ArrayColumn<T> {
    fn default() -> Self {
        Self { times: Vec::new(), items: Vec::new(), ends: Vec::new(), skipped: 0 }
    }
}

/// A struct entry's numbers, field by field.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StructColumns {
    /// Flat names of the numeric fields in schema order, levels joined by `/`: `translation/x`.
    pub names: Vec<String>,
    /// When.
    pub times: Vec<Micros>,
    /// For each name, one number a time.
    pub columns: Vec<Vec<f64>>,
    /// Records that were left out because they are shorter than the struct.
    pub skipped: u64,
}

impl StructColumns {
    /// The numbers of one field.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        let place = self.names.iter().position(|n| n == name)?;
        self.columns.get(place).map(Vec::as_slice)
    }
}

impl<T> Column<T> {
    /// Samples as pairs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Micros, &T)> {
        self.times.iter().copied().zip(&self.values)
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The sample that holds at `time`: the latest one not after it.
    #[must_use]
    pub fn at(&self, time: Micros) -> Option<&T> {
        let after = self.times.partition_point(|t| *t <= time);
        self.values.get(after.checked_sub(1)?)
    }

    pub(crate) fn with_room(room: usize) -> Self {
        Self { times: Vec::with_capacity(room), values: Vec::with_capacity(room), skipped: 0 }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, time: Micros, value: Option<T>) {
        match value {
            Some(value) => {
                self.times.push(time);
                self.values.push(value);
            }
            None => self.skipped += 1,
        }
    }

    pub(crate) fn sort(mut self) -> Self {
        if let Some(order) = order(&self.times) {
            self.times = gather(&self.times, &order);
            let mut values: Vec<Option<T>> = self.values.into_iter().map(Some).collect();
            self.values = order.iter().filter_map(|i| values.get_mut(*i)?.take()).collect();
        }
        self
    }
}

impl<T: Clone> ArrayColumn<T> {
    /// Samples as pairs.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Micros, &[T])> {
        (0..self.times.len()).map(|i| {
            let from = i.checked_sub(1).and_then(|i| self.ends.get(i)).copied().unwrap_or(0);
            let to = self.ends.get(i).copied().unwrap_or(from);
            (self.times.get(i).copied().unwrap_or_default(), self.items.get(from..to).unwrap_or_default())
        })
    }

    /// Number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    pub(crate) fn push(&mut self, time: Micros, items: Option<impl Iterator<Item = T>>) {
        match items {
            Some(items) => {
                self.times.push(time);
                self.items.extend(items);
                self.ends.push(self.items.len());
            }
            None => self.skipped += 1,
        }
    }

    pub(crate) fn sort(self) -> Self {
        let Some(order) = order(&self.times) else { return self };
        let samples: Vec<(Micros, &[T])> = self.iter().collect();
        let mut sorted = Self { skipped: self.skipped, ..Self::default() };
        for (time, items) in order.iter().filter_map(|i| samples.get(*i)) {
            sorted.times.push(*time);
            sorted.items.extend_from_slice(items);
            sorted.ends.push(sorted.items.len());
        }
        sorted
    }
}

impl StructColumns {
    /// Many numbers of a long entry grow as they come; the usual handful gets its room at once.
    pub(crate) fn with_room(leaves: &[Leaf], room: usize) -> Self {
        let each = if leaves.len() <= 64 { room } else { 0 };
        Self {
            names: leaves.iter().map(|leaf| leaf.path.clone()).collect(),
            times: Vec::with_capacity(room),
            columns: leaves.iter().map(|_| Vec::with_capacity(each)).collect(),
            skipped: 0,
        }
    }

    /// Adds a value, whose bytes are those of the whole struct.
    pub(crate) fn push(&mut self, time: Micros, value: Option<&[u8]>, leaves: &[Leaf]) {
        let Some(value) = value else {
            self.skipped += 1;
            return;
        };
        self.times.push(time);
        for (leaf, column) in leaves.iter().zip(&mut self.columns) {
            column.extend(leaf.read(value));
        }
    }

    pub(crate) fn sort(mut self) -> Self {
        if let Some(order) = order(&self.times) {
            self.times = gather(&self.times, &order);
            for column in &mut self.columns {
                *column = gather(column, &order);
            }
        }
        self
    }
}

/// The stable order of `times`; `None` when they stand in it already.
fn order(times: &[Micros]) -> Option<Vec<usize>> {
    if times.is_sorted() {
        return None;
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by_key(|i| times.get(*i).copied());
    Some(order)
}

fn gather<T: Copy>(from: &[T], order: &[usize]) -> Vec<T> {
    order.iter().filter_map(|i| from.get(*i).copied()).collect()
}
