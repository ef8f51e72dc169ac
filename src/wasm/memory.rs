//! The input buffer: core memory that JavaScript writes UTF-8 into before it calls.
#![cfg_attr(
    not(all(feature = "candidates", feature = "prompt")),
    expect(dead_code, reason = "a Wasm of fewer features takes less of it")
)]

use std::arch::wasm32::memory_size;
use std::cell::{Cell, RefCell};
use std::hint::black_box;

use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::{Error, Result};

/// A buffer larger than this is given back after the call that used it.
const KEPT_BYTES: usize = 1 << 20;

const PAGE_BYTES: usize = 1 << 16;

/// 64 MiB.
const LARGE_PAGES: usize = 1 << 10;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    /// How large memory was when it last grew ahead.
    static PAGES: Cell<usize> = const { Cell::new(0) };
}

/// Makes room for `len` bytes and answers where. What was written before stays, at the new place.
#[wasm_bindgen]
pub fn input(len: usize) -> *const u8 {
    INPUT.with_borrow_mut(|input| {
        if input.len() < len {
            input.resize(len, 0);
        }
        input.as_ptr()
    })
}

/// Grows memory by this many bytes at once, as far as there is room. The allocator alone grows by 64 KiB at a time, and
/// beyond 64 MiB V8 collects the host's whole garbage at each growth: minutes for hundreds of thousands of messages.
#[inline(never)]
pub(super) fn grow_ahead(bytes: usize) {
    let mut room = Vec::<u8>::new();
    let _ = room.try_reserve_exact(bytes);
    // The compiler may otherwise leave out an allocation that nobody uses.
    black_box(&mut room);
}

/// Where memory is large and has grown since the last call, it grows by an eighth more.
fn keep_ahead() {
    let pages = memory_size::<0>();
    if pages > LARGE_PAGES && pages > PAGES.get() {
        grow_ahead(pages.saturating_mul(PAGE_BYTES / 8));
        PAGES.set(memory_size::<0>());
    }
}

/// Calls `read` with the first `len` bytes of the buffer as text.
pub(super) fn with_input<T>(len: usize, read: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    let input = take();
    let answer = text(&input, len).and_then(read);
    give_back(input);
    answer
}

/// Calls `read` with the texts that stand in the buffer one after the other, the first apart from the others.
pub(super) fn with_inputs<T>(
    lens: &[usize],
    read: impl FnOnce(&str, &[&str]) -> Result<T>,
) -> Result<T> {
    let mut all = 0usize;
    for len in lens {
        all = all.saturating_add(*len);
    }
    with_input(all, |mut rest| {
        let mut texts = Vec::with_capacity(lens.len());
        for len in lens {
            let (text, after) = rest.split_at_checked(*len).unwrap_or((rest, ""));
            texts.push(text);
            rest = after;
        }
        let (first, others) = texts.split_first().map_or(("", &[][..]), |(a, b)| (*a, b));
        read(first, others)
    })
}

/// Calls `read` with the first `len` bytes of the buffer.
pub(super) fn with_bytes<T>(len: usize, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let input = take();
    let answer = read(input.get(..len).unwrap_or(&input));
    give_back(input);
    answer
}

/// The same, and leaves nothing of the buffer.
pub(super) fn with_secret<T>(len: usize, read: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let mut input = take();
    let answer = read(input.get(..len).unwrap_or(&input));
    input.fill(0);
    INPUT.set(input);
    answer
}

#[inline(never)]
fn text(input: &[u8], len: usize) -> Result<&str> {
    let bytes = input.get(..len).unwrap_or(input);
    std::str::from_utf8(bytes).map_err(|error| Error::argument("input", "UTF-8", error))
}

#[inline(never)]
fn take() -> Vec<u8> {
    keep_ahead();
    INPUT.take()
}

#[inline(never)]
fn give_back(input: Vec<u8>) {
    if input.len() <= KEPT_BYTES {
        INPUT.set(input);
    }
}
