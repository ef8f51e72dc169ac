"""Weights from counted texts: rates of token beginnings, moved by damped least squares on the relative error of each text."""

import numpy as np
from pairs import CLASSES, SCALE, SPACE, WEIGHTS
from scipy.sparse import csr_matrix

LOWEST, HIGHEST = -127, 255
# Of a space, any other byte and a byte of a wide character in a long run. Most runs are of lines and rules, of which a token has 64 or
# more bytes; but one has 8 letters or 3 digits, and a long run of these must cost something, too.
LEAST_OF_RUNS = (0, 2, 2)
# A pair that was seen this often is half its own rate, half that of tables alike.
DOUBT = 30.0
# How strongly a weight is kept at its rate.
DAMPING = 1e-8
# An error below this counts as its square, above it as its size.
SMALL = 0.01
ROUNDS = 6
STEPS = 300


def features(pairs):
    """Of each text, by the pairs of its bytes, how often it has each."""
    places, sizes, starts = [], [], [0]
    for one in pairs:
        found, often = np.unique(one, return_counts=True)
        places.append(found)
        sizes.append(often)
        starts.append(starts[-1] + len(found))
    data = np.concatenate(sizes).astype(np.float64), np.concatenate(places), np.array(starts)
    return csr_matrix(data, shape=(len(pairs), WEIGHTS))


def rates(begins, seen, guess):
    """Weights from counts; what was seen rarely leans on the guess."""
    return (SCALE * begins + DOUBT * guess) / (seen + DOUBT)


def first_guess(begins, seen):
    """Rates of the second byte's class alone, for a table that has none beside it."""
    pairs = CLASSES * CLASSES
    column = begins[:pairs].reshape(CLASSES, CLASSES).sum(0) / np.maximum(1, seen[:pairs].reshape(CLASSES, CLASSES).sum(0))
    return SCALE * np.concatenate((np.tile(column, CLASSES), [0.05, 0.1, 0.1]))


def solve(matrix, tokens, shares, start, votes=None, damping=DAMPING):
    """Weights, at first `start`, by which `matrix` gives the tokens of each text: one column of `tokens` a tokenizer.

    `votes`: how much each tokenizer counts for each text; without them all count the same.
    """
    tokens = tokens.reshape(len(shares), -1)
    votes = np.ones(tokens.shape) if votes is None else votes
    votes = votes / votes.sum(1, keepdims=True)
    weights = start.copy()
    for _ in range(ROUNDS):
        found = matrix @ weights / SCALE
        error = np.abs(found[:, None] / tokens - 1)
        by_tokenizer = shares[:, None] * votes / np.maximum(error, SMALL) / tokens**2
        row = by_tokenizer.sum(1)
        wanted = (by_tokenizer * tokens).sum(1) / row
        weights = start + step(matrix, row, wanted - matrix @ start / SCALE, weights - start, damping)
    return weights


def step(matrix, row, wanted, moved, damping):
    """Moves that minimize the weighted squares and the damping: conjugate gradients, by the diagonal."""
    turned = matrix.T.tocsr()
    row = row / SCALE**2
    wanted = wanted * SCALE
    diagonal = matrix.multiply(matrix).T @ row + damping
    apply = lambda vector: turned @ (row * (matrix @ vector)) + damping * vector
    rest = turned @ (row * wanted) - apply(moved)
    goal = 1e-5 * np.linalg.norm(turned @ (row * wanted))
    scaled = rest / diagonal
    way, power = scaled.copy(), rest @ scaled
    for _ in range(STEPS):
        if np.linalg.norm(rest) <= goal:
            break
        image = apply(way)
        length = power / (way @ image)
        moved = moved + length * way
        rest = rest - length * image
        scaled = rest / diagonal
        before, power = power, rest @ scaled
        way = scaled + power / before * way
    return moved


def integers(weights):
    """Weights as tables hold them."""
    found = np.clip(np.rint(weights), LOWEST, HIGHEST).astype(np.int64)
    found[SPACE:] = np.maximum(found[SPACE:], LEAST_OF_RUNS)
    return found
