"""The texts to fit to and to test with, and how much each of the former counts."""

import json
import re
import subprocess
from collections import Counter

import numpy as np
import texts
from fetch import HERE, fetch, packages
from sessions import sessions

# Shares of the families of kinds. Within one a kind counts by the root of its texts, and so does a language in a kind.
FAMILIES = (
    (0.18, ("messages",)),
    (0.10, ("labels",)),
    (0.04, ("declaration",)),
    (0.02, ("emoji",)),
    (0.20, ("code", "declarations", "SCSS", "build files")),
    (0.12, ("English",)),
    (0.10, ("JSON", "CSV", "YAML", "XML", "HTML", "SVG", "GeoJSON", "lock file", "source map")),
    (0.11, ("minified", "CSS")),
    (0.10, ("agent",)),
    (0.13, ("session",)),
    (0.03, ("log", "records", "table")),
    (0.03, ("base64", "hexadecimal", "ids", "numbers", "runs")),
)
# Languages that most users write in: each counts as so many others.
COMMON = 6
COMMON_LANGUAGES = re.compile(r"(?:ar|cs|de|en|es|fr|hi|id|it|ja|ko|nl|pl|pt|ru|tr|uk|vi|zh)(?:-.*)?")
# Older tokenizers have far more tokens in most scripts. They are few, and without more votes the others' numbers would be taken
# there: an estimate that is too low costs a host a refused request, one that is too high only some room.
LANGUAGES = ("messages", "labels", "declaration")
OLDER = ("cl100k", "claude")
OLDER_COUNTS = 3.0
# What agents read most.
SOURCES = ("code", "English", "YAML", "JSON", "CSS", "build files", "declarations")


def corpus():
    """Train and test."""
    found = {"train": [], "test": []}
    for package in packages():
        if package["take"]:
            print(f"  reading {package['name']}", flush=True)
            found[package["use"]].extend(texts.chunks_of(package, fetch(package)))
    train, test = found["train"], found["test"]
    sources = [it for it in train if family(it["kind"]) and it["kind"].partition(",")[0] in SOURCES]
    train += texts.agent(texts.spread(sources, 2400), "train") + texts.made("train") + texts.written("train") + texts.runs("train") + sessions(sources)
    test += benchmark() + texts.made("test") + texts.runs("test")
    return train, test


def benchmark():
    """The published benchmark's texts, and recorded sessions where they are."""
    done = subprocess.run(["node", str(HERE / "bench-texts.mjs")], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def family(kind):
    return next(share for share, kinds in FAMILIES if kind.partition(",")[0] in kinds)


def shares(chunks):
    """How much each text counts; all of them 1."""
    kinds = Counter(it["kind"] for it in chunks)
    groups = Counter((it["kind"], it["language"]) for it in chunks)
    in_family, in_kind = Counter(), Counter()
    for kind, count in kinds.items():
        in_family[family(kind)] += count**0.5
    for (kind, language), count in groups.items():
        in_kind[kind] += weight(language, count)
    of = {
        (kind, language): family(kind) * kinds[kind] ** 0.5 / in_family[family(kind)] * weight(language, count) / count / in_kind[kind]
        for (kind, language), count in groups.items()
    }
    found = np.array([of[it["kind"], it["language"]] for it in chunks])
    return found / found.sum()


def votes(chunks, profiles):
    """How much each tokenizer counts for each text where one table is to serve all."""
    is_language = np.array([it["kind"] in LANGUAGES for it in chunks])
    is_older = np.array([it in OLDER for it in profiles])
    return np.where(is_language[:, None] & is_older, OLDER_COUNTS, 1.0)


def weight(language, count):
    return count**0.5 * (COMMON if COMMON_LANGUAGES.fullmatch(language) else 1)
