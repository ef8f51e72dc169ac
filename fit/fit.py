"""Token tables, fitted to texts of pinned packages and measured on others: `cargo xtask fit`.

Reads build/fit/present.json (the byte classes and tables of the core), writes build/fit/model.json and report.json.
"""

import json
import time

import numpy as np
import report
from corpus import corpus, shares, votes
from counts import FILES, count
from fetch import BUILD
from pairs import indices
from solve import features, first_guess, integers, rates, solve

BEGUN = time.monotonic()


def say(text):
    print(f"{time.monotonic() - BEGUN:6.0f} s  {text}", flush=True)


def main():
    present = json.loads((BUILD / "present.json").read_text())
    byte_class = np.array(present["byte_class"], np.uint8)
    train, test = corpus()
    for name, chunks in (("train", train), ("test", test)):
        packages = len({it["package"] for it in chunks})
        say(f"{name}: {len(chunks)} texts of {packages} packages, {sum(len(it['text']) for it in chunks)} characters")
    pairs_of = lambda chunks: [indices(it["text"].encode(), byte_class) for it in chunks]
    train_pairs, test_pairs = pairs_of(train), pairs_of(test)
    matrix = features(train_pairs)
    share = shares(train)
    weight = share * len(train)
    tokens, truth, begins, seen = {}, {}, {}, {}
    for profile in FILES:
        tokens[profile], begins[profile], seen[profile] = count(profile, train, train_pairs, weight)
        truth[profile] = count(profile, test, test_pairs, np.zeros(len(test)))[0]
        say(f"{profile} counted")

    all_begins, all_seen = (sum(it.values()) / len(FILES) for it in (begins, seen))
    start = rates(all_begins, all_seen, first_guess(all_begins, all_seen))
    every = np.stack([tokens[profile] for profile in FILES], 1)
    generic = solve(matrix, every, share, start, votes(train, FILES))
    tables = {"generic": integers(generic)}
    say("generic fitted")
    for profile in FILES:
        start = rates(begins[profile], seen[profile], generic)
        tables[profile] = integers(solve(matrix, tokens[profile], share, start))
        say(f"{profile} fitted")

    weights = {name: table.tolist() for name, table in tables.items()}
    (BUILD / "model.json").write_text(json.dumps({"byte_class": present["byte_class"], "weights": weights}))
    matrix = features(test_pairs)
    old = {name: np.array(table) for name, table in present["weights"].items()}
    report.publish(test, matrix, truth, old, tables)
    say("done: build/fit/model.json, build/fit/report.json")


main()
