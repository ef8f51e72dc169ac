"""Byte pairs of a text, as `src/text/pairs.rs` counts them, in numpy: for each byte the index of its weight."""

import numpy as np

CLASSES = 96
SPACE, SAME, WIDE = CLASSES * CLASSES, CLASSES * CLASSES + 1, CLASSES * CLASSES + 2
WEIGHTS = CLASSES * CLASSES + 3
# Class of what a text starts after: a line's end.
START = 33
SCALE = 64


def run_lengths(same):
    """Of each place how many places up to it are true without a gap."""
    counted = np.cumsum(same)
    return counted - np.maximum.accumulate(np.where(same, 0, counted))


def indices(data, byte_class):
    """The index of each byte's weight; `data` is UTF-8."""
    data = np.frombuffer(data, np.uint8)
    classes = byte_class[data].astype(np.int64)
    found = np.concatenate(([START], classes))[:-1] * CLASSES + classes
    if len(data) > 16:
        same = np.concatenate(([False], data[1:] == data[:-1]))
        run = run_lengths(same) >= 16
        found[run] = np.where(data[run] == 32, SPACE, SAME)
        again = np.concatenate(([False] * 3, (data[3:] == data[:-3]) & (data[3:] >= 0x80)))
        found[run_lengths(again) >= 24] = WIDE
    return found


def estimate(text, weights, byte_class):
    """Tokens of a text, as `estimateTokens` has them."""
    data = text.encode()
    if not data:
        return 0
    total = int(np.asarray(weights)[indices(data, byte_class)].sum())
    return max(1, -(-total // SCALE))
