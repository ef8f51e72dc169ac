//! A list of texts, which is compressed to a third of its bytes by and by. Neighbours are compressed together, because they
//! repeat each other.

use std::cell::{Cell, RefCell};
use std::mem;
use std::ops::Deref;
use std::rc::Rc;

use lz4_flex::block::{compress_into, decompress, get_maximum_output_size};

/// Bytes of texts that are compressed together. A longer text is compressed alone.
const BLOCK_BYTES: usize = 32 << 10;

/// Texts in order. To read one its block is decompressed; the block that was read last is kept.
#[derive(Clone, Debug, Default)]
pub struct CompressedTexts {
    blocks: RefCell<Vec<Block>>,
    /// So many of them are compressed.
    compressed: Cell<usize>,
    /// The newest texts: too few for a block so far.
    open: String,
    /// Where each text ends in its block.
    ends: Vec<usize>,
    /// The compressed block that was read last, by its number.
    read: RefCell<Option<(usize, Rc<str>)>>,
}

#[derive(Clone, Debug)]
struct Block {
    /// The first text after it.
    end: usize,
    texts: Texts,
}

#[derive(Clone, Debug)]
enum Texts {
    Plain(Rc<str>),
    Compressed { bytes: usize, compressed: Box<[u8]> },
}

/// A text of the list.
#[derive(Clone, Debug, Default)]
pub struct Text {
    block: Rc<str>,
    from: usize,
    to: usize,
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.block.get(self.from..self.to).unwrap_or_default()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { block: text.into(), from: 0, to: text.len() }
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self
    }
}

impl CompressedTexts {
    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all texts as they are read.
    pub fn bytes(&self) -> usize {
        let bytes = |block: &Block| match &block.texts {
            Texts::Plain(texts) => texts.len(),
            Texts::Compressed { bytes, .. } => *bytes,
        };
        self.blocks.borrow().iter().map(bytes).fold(self.open.len(), usize::saturating_add)
    }

    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        if !self.open.is_empty() && self.open.len().saturating_add(text.len()) > BLOCK_BYTES {
            let texts = Texts::Plain(mem::take(&mut self.open).into());
            self.blocks.get_mut().push(Block { end: self.ends.len(), texts });
        }
        self.open.push_str(text);
        self.ends.push(self.open.len());
    }

    /// The text at a place.
    pub fn get(&self, at: usize) -> Option<Text> {
        let to = *self.ends.get(at)?;
        let blocks = self.blocks.borrow();
        let number = blocks.partition_point(|block| block.end <= at);
        let before = number.checked_sub(1).and_then(|before| blocks.get(before));
        let is_first = at == before.map_or(0, |block| block.end);
        let from = if is_first { 0 } else { *self.ends.get(at.checked_sub(1)?)? };
        let block = match blocks.get(number).map(|block| &block.texts) {
            // Texts that no block has yet are few: each is copied.
            None => return self.open.get(from..to).map(Text::from),
            Some(Texts::Plain(texts)) => Rc::clone(texts),
            Some(Texts::Compressed { bytes, compressed }) => self.read(number, *bytes, compressed),
        };
        Some(Text { block, from, to })
    }

    /// All texts, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Text> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Compresses blocks until so many of so many parts of the list are.
    pub fn compress(&self, parts: usize, all: usize) {
        let mut blocks = self.blocks.borrow_mut();
        let due = blocks.len().saturating_mul(parts).checked_div(all).unwrap_or(0);
        let known = self.compressed.replace(due.max(self.compressed.get()));
        for block in blocks.iter_mut().take(due).skip(known) {
            let Texts::Plain(texts) = &block.texts else { continue };
            let bytes = texts.len();
            let mut compressed = vec![0; get_maximum_output_size(bytes)];
            if let Ok(len) = compress_into(texts.as_bytes(), &mut compressed) {
                compressed.truncate(len);
                block.texts = Texts::Compressed { bytes, compressed: compressed.into() };
            }
        }
    }

    fn read(&self, number: usize, bytes: usize, compressed: &[u8]) -> Rc<str> {
        let mut read = self.read.borrow_mut();
        if let Some((_, texts)) = read.as_ref().filter(|(known, _)| *known == number) {
            return Rc::clone(texts);
        }
        // What was compressed is always read back.
        let texts = decompress(compressed, bytes).unwrap_or_default();
        let texts: Rc<str> = String::from_utf8(texts).unwrap_or_default().into();
        *read = Some((number, Rc::clone(&texts)));
        texts
    }
}

impl<T: AsRef<str>> Extend<T> for CompressedTexts {
    fn extend<I: IntoIterator<Item = T>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.push(text.as_ref()));
    }
}

impl<T: AsRef<str>> FromIterator<T> for CompressedTexts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        all.extend(texts);
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_that_repeat_each_other_take_a_fraction_once_they_are_compressed() {
        let text = |at| format!("the {at}th berth of the quay is free, and so is its neighbour");
        let all: CompressedTexts = (0..10_000).map(text).collect();
        let size = || {
            let blocks = all.blocks.borrow();
            let bytes = blocks.iter().map(|block| match &block.texts {
                Texts::Plain(texts) => texts.len(),
                Texts::Compressed { compressed, .. } => compressed.len(),
            });
            bytes.fold(all.open.len(), usize::saturating_add)
        };
        let plain = all.bytes();
        assert_eq!(size(), plain);
        all.compress(1, 2);
        assert!(size() > plain / 2 && size() < plain * 2 / 3, "{} of {plain}", size());
        all.compress(2, 2);
        assert!(size() < plain / 4, "{} of {plain}", size());
    }

    proptest! {
        /// Also where a text is longer than a block, or read between two others.
        #[test]
        fn each_text_is_read_as_it_was(
            lens in prop::collection::vec((0..5usize, 0..20_000usize), 0..40),
            order in prop::collection::vec((any::<prop::sample::Index>(), 0..30usize), 0..40),
        ) {
            let text = |&(kind, len): &(usize, usize)| match kind {
                0 => String::new(),
                1 => "ship ".repeat(len),
                2 => (0..len).map(|at| char::from_u32(u32::try_from(at).unwrap()).unwrap_or('船')).collect(),
                _ => format!("{{\"at\":{len}}}"),
            };
            let texts: Vec<String> = lens.iter().map(text).collect();
            let mut all = CompressedTexts::default();
            for (at, text) in texts.iter().enumerate() {
                all.push(text);
                prop_assert_eq!(&*all.get(at).unwrap(), &**text);
            }
            for (at, parts) in order.iter().filter(|_| !texts.is_empty()) {
                all.compress(*parts, 20);
                let at = at.index(texts.len());
                prop_assert_eq!(&*all.get(at).unwrap(), &*texts[at]);
            }
            prop_assert_eq!(all.len(), texts.len());
            prop_assert_eq!(all.bytes(), texts.iter().map(String::len).sum::<usize>());
            prop_assert!(all.iter().map(|it| it.to_string()).eq(texts.iter().cloned()));
            prop_assert!(all.get(texts.len()).is_none());
        }
    }
}
