"""Chunks of text from the packages of packages.toml, each with its kind; the same on every run."""

import hashlib
import html
import json
import re
import tarfile
import zipfile
from pathlib import Path

# Characters of the chunks of a text, in turn: what agents pass is short and long.
LENGTHS = (1500, 600, 3000, 1500, 350, 5000)


def members(path, is_wanted):
    """Names and bytes of the wanted files of an archive or a folder, sorted by name; a tarball's first folder is left out."""
    found = {}
    if path.is_dir():
        for file in path.rglob("*"):
            name = file.relative_to(path).as_posix()
            if is_wanted(name) and file.is_file():
                found[name] = file.read_bytes()
    elif path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            found = {name: archive.read(name) for name in archive.namelist() if is_wanted(name)}
    else:
        # In the order of the archive: to go back in a packed one costs seconds.
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.partition("/")[2]
                if member.isfile() and is_wanted(name):
                    found[name] = archive.extractfile(member).read()
    return sorted(found.items())


STRING = r'"(?:[^"\\\n]|\\.)*"'


def messages(text):
    """Translations of a gettext file: those that are there and are not fuzzy."""
    out = []
    for entry in re.split(r"\n\s*\n", text):
        if "#, fuzzy" in entry or 'msgid ""\nmsgstr' in entry:
            continue
        for found in re.finditer(rf"^msgstr(?:\[\d\])?((?:\s+{STRING})+)", entry, re.M):
            parts = re.findall(STRING, found[1])
            try:
                out.append("".join(json.loads(part) for part in parts))
            except ValueError:
                continue
    return "\n".join(it for it in out if it)


def leaves(value):
    """Strings of JSON, depth first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for it in value.values() if isinstance(value, dict) else value:
            yield from leaves(it)


def values(text):
    """Strings of JSON that hold a letter, one a line; what describes the file itself is left out."""
    tree = json.loads(text)
    return "\n".join(it for it in leaves(tree) if re.search(r"[^\W\d_]", it))


def literals(text):
    """Values of a JavaScript object that are strings, one a line; its keys are followed by a colon."""
    out = []
    for found in re.findall(rf"""[:\[,]\s*({STRING}|'(?:[^'\\\n]|\\.)*')(?!\s*:)""", text):
        body = found[1:-1].replace("\\'", "'")
        if found[0] == "'":
            body = re.sub(r'(?<!\\)"', r'\\"', body)
        try:
            out.append(json.loads(f'"{body}"'))
        except ValueError:
            continue
    return "\n".join(it for it in out if it.strip())


def annotations(text):
    """Emoji, each with its names: a line each."""
    lines = []
    for char, names in json.loads(text)["annotations"].get("annotations", {}).items():
        lines.append(f"{char} {', '.join(names.get('tts', []) + names.get('default', []))}")
    return "\n".join(lines)


def emoji(text):
    """Emoji alone, with now and then the name of one."""
    chars = list(json.loads(text)["annotations"].get("annotations", {}).items())
    return "".join(
        f"{char} {(names.get('tts') or [''])[0]}\n" if at % 7 == 0 else char + " " * (at % 3 == 0)
        for at, (char, names) in enumerate(chars)
        if ord(char[0]) > 0x2000
    )


def prose(text):
    """Text of a page."""
    body = re.sub(r"(?s)<(script|style|head)\b.*?</\1>", "", text)
    lines = (line.strip() for line in html.unescape(re.sub(r"<[^>]+>", "", body)).splitlines())
    return "\n".join(line for line in lines if line)


READERS = {
    "text": lambda text: text,
    "gettext": messages,
    "json values": values,
    "js values": literals,
    "annotations": annotations,
    "emoji": emoji,
    "html": prose,
}


def pieces(text, limit):
    """Chunks spread over a text, at most `limit` characters in all: each ends at a line's end, if one is near."""
    length = sum(LENGTHS) / len(LENGTHS)
    count = max(1, min(round(limit / length), round(len(text) / length)))
    apart = len(text) / count
    out = []
    for at in range(count):
        wanted = LENGTHS[at % len(LENGTHS)]
        start = int(at * apart)
        line = text.find("\n", start, start + 200)
        start = line + 1 if at and line >= 0 else start
        chunk = text[start : min(start + wanted, int((at + 1) * apart) + 1)]
        if len(chunk) >= 200:
            out.append(chunk)
    return out


def noise(count, seed):
    """Bytes of a hash chain."""
    out, block = b"", seed.encode()
    while len(out) < count:
        block = hashlib.sha256(block).digest()
        out += block
    return out[:count]


def chunks_of(package, path):
    """Chunks of one package: kind, language or none, text."""
    groups = {}
    takes = [(it, re.compile(it["files"])) for it in package["take"]]
    is_wanted = lambda name: any(pattern.fullmatch(name) for _, pattern in takes)
    for name, data in members(path, is_wanted):
        for at, (take, pattern) in enumerate(takes):
            found = pattern.fullmatch(name)
            if not found:
                continue
            language = found[1].lower().replace("_", "-") if pattern.groups else take.get("language", "")
            try:
                text = READERS[take.get("read", "text")](data.decode().replace("\r\n", "\n"))
            except (UnicodeDecodeError, ValueError, KeyError):
                continue
            if "\0" not in text and len(text) >= take.get("least", 60):
                groups.setdefault((at, language), []).append(text)
    for (at, language), texts in sorted(groups.items()):
        take = takes[at][0]
        limit = take.get("chars", 60_000)
        if take.get("join") or pattern_joins(take):
            parts = pieces("\n".join(texts), limit)
        else:
            texts = spread(texts, max(1, limit // 1500))
            each = max(1500, limit // len(texts))
            parts = [part for text in texts for part in pieces(text, each)]
        for part in parts:
            yield {"kind": take["kind"], "language": language, "package": package["name"], "text": part}


def pattern_joins(take):
    """Messages and labels are short: those of one language are one text."""
    return take.get("read", "text") != "text"


def spread(items, count):
    """At most `count` of the items, evenly."""
    if len(items) <= count:
        return items
    return [items[at * len(items) // count] for at in range(count)]


def made(seed):
    """Texts that are no one's: hashes, ids, runs. Train and test differ in their seed."""
    import base64

    out = []

    def add(kind, text):
        out.extend({"kind": kind, "language": "", "package": "made", "text": it} for it in pieces(text, 40_000))

    raw = noise(120_000, seed)
    add("base64", base64.b64encode(raw[:30_000]).decode())
    add("base64", base64.encodebytes(raw[30_000:50_000]).decode())
    add("hexadecimal", raw[:20_000].hex())
    add("hexadecimal", "\n".join(raw[at : at + 20].hex() for at in range(0, 12_000, 20)))
    digits = [raw[at : at + 16].hex() for at in range(0, 20_000, 16)]
    add("ids", "\n".join(f"{it[:8]}-{it[8:12]}-{it[12:16]}-{it[16:20]}-{it[20:]}" for it in digits))
    numbers = [int.from_bytes(raw[at : at + 4]) for at in range(0, 40_000, 4)]
    add("numbers", "\n".join(",".join(str(n % 10 ** (1 + n % 7)) for n in numbers[at : at + 8]) for at in range(0, 6000, 8)))
    add("numbers", " ".join(f"{n / 2**32:.{1 + n % 12}f}" for n in numbers[:3000]))
    return out


# Long runs: what tokenizers swallow whole. A weight of their own each.
def runs(seed):
    """Texts with long runs of one character among short lines."""
    out = []
    order = noise(4_000, seed)
    marks = [" "] * 6 + list("=-*#_.~+/") + ["─", "═", "━", "█", "░", "-", "=", "#"]
    for at in range(60):
        lines = []
        for n in range(12):
            byte = order[at * 12 + n]
            mark = marks[byte % len(marks)]
            count = (20, 30, 40, 60, 72, 80, 100, 120, 200, 400)[(byte // 7 + n) % 10]
            lines.append(mark * count + ("" if byte % 3 else f" step {n} of {byte}"))
        out.append({"kind": "runs", "language": "", "package": "made", "text": "\n".join(lines)})
    return out


def agent(source, seed):
    """Texts as agents pass them, made of other chunks: results as JSON, numbered files, matches of a search, changes, calls."""
    order = noise(len(source) * 2 + 64, seed)
    words = ("src", "lib", "core", "api", "tests", "utils", "server", "client", "docs", "config", "models", "views")
    out = []
    for at, one in enumerate(source):
        byte, next_byte = order[2 * at], order[2 * at + 1]
        lines = one["text"].splitlines()
        path = "/".join(words[(byte * (k + 3) + next_byte) % len(words)] for k in range(2 + byte % 3))
        path += f"/{words[next_byte % len(words)]}_{byte % 40}." + ("py", "ts", "rs", "go", "js", "md")[byte % 6]
        call = f"call_{noise(12, f'{seed}{at}').hex()}"
        first = 1 + byte * 7
        form = next_byte % 8
        if form == 0:
            text = json.dumps({"type": "tool_result", "tool_use_id": call, "content": one["text"]}, ensure_ascii=False, separators=(",", ":"))
        elif form == 1:
            text = "\n".join(f"{first + n:6d}\t{line}" for n, line in enumerate(lines))
        elif form == 2:
            text = "\n".join(f"{path}:{first + 3 * n}:{line}" for n, line in enumerate(lines) if line.strip())
        elif form == 3:
            body = [(" ", "-", "+", " ", " ", "+")[(n * 5 + byte) % 6] + line for n, line in enumerate(lines)]
            text = f"diff --git a/{path} b/{path}\nindex {call[5:12]}..{call[12:19]} 100644\n--- a/{path}\n+++ b/{path}\n@@ -{first},{len(lines)} +{first},{len(lines) + 2} @@\n" + "\n".join(body)
        elif form == 4:
            text = json.dumps([{"type": "text", "text": one["text"][:300]}, {"type": "toolCall", "id": call, "name": "edit", "arguments": {"path": path, "oldText": "\n".join(lines[:9]), "newText": "\n".join(lines[4:])}}], ensure_ascii=False, separators=(",", ":"))
        elif form == 5:
            text = json.dumps({"role": "tool", "tool_call_id": call, "content": json.dumps({"path": path, "lines": lines[:40], "total": len(lines), "truncated": byte % 2 == 0}, ensure_ascii=False)}, ensure_ascii=False)
        elif form == 6:
            files = [f"-rw-r--r-- 1 root root {order[(at + n) % len(order)] * 37:6d} Nov {1 + n % 28:2d} 1{n % 10}:{order[(at + 3 * n) % len(order)] % 60:02d} {words[(n + byte) % 12]}_{n}.py" for n in range(10)]
            text = f"$ ls -la {path}\ntotal {len(files)}\n" + "\n".join(files) + f"\n$ cat {path}\n" + one["text"]
        else:
            text = f"I read `{path}` first. It has {len(lines)} lines; the part that matters:\n\n```\n" + one["text"] + f"\n```\n\nNext I run the tests and look at `{words[byte % 12]}`."
        out.append({"kind": "agent", "language": "", "package": "made", "text": text[:6000]})
    return out


WORDS = """account active address agent amount api app attempt audit auth backend batch branch build cache cancelled card cart catalog check client
cluster code commit config connection container count created currency customer cursor data database deadline default delay delivery deploy detail
device disk email empty endpoint entry error event expired export failed fallback field file filter flag format gateway group handler hash header
health host id image import index input invalid invoice item job key label latency level limit line list load lock login memory message method metric
missing mode model module name network node note notify object offset open order owner page parse partial path payload payment pending policy pool
port price process product profile project provider query queue rate reason record refund region release reply report request reserved response result
retry role route rule runtime sample schema scope secret segment server service session shard shipped signal size source stage start state status step
stock storage stream summary support sync table tag task tenant test thread ticket timeout token total trace type unit update upload url usage user
value vendor version volume warehouse warning worker write zone""".split()


def written(seed):
    """Logs, records and tables, as programs write them and agents read them: for the fit alone."""
    out = []
    for at in range(240):
        numbers = iter(int.from_bytes(noise(8, f"{seed} {at} {n}")) for n in range(4_000))
        pick = lambda choices: choices[next(numbers) % len(choices)]
        word = lambda: pick(WORDS)
        date = lambda mark="T": f"20{next(numbers) % 8 + 19}-{next(numbers) % 12 + 1:02d}-{next(numbers) % 28 + 1:02d}{mark}{next(numbers) % 24:02d}:{next(numbers) % 60:02d}:{next(numbers) % 60:02d}"
        code = lambda: pick((f"{word()[:3].upper()}-{next(numbers) % 90000}", f"{word()}_{next(numbers) % 2**24:x}", f"{word()}-{next(numbers) % 40:02d}", f"{next(numbers) % 2**32:08x}"))
        value = lambda: pick((code, lambda: next(numbers) % 1000, lambda: next(numbers) % 100_000 / 100, date, word, lambda: f"{word()} {word()} {word()}", lambda: None, lambda: True))()
        kind = ("log", "records", "table")[at % 3]
        lines = []
        if kind == "log":
            form = at // 3 % 4
            for _ in range(24):
                level, what = pick(("INFO", "WARN", "ERROR", "DEBUG", "info")), f"{word()} {word()} {word()}"
                if form == 0:
                    lines.append(f"{date()}.{next(numbers) % 1000:03d}Z {level} [{word()}] {what} {word()}={code()} {word()}_ms={next(numbers) % 4000}")
                elif form == 1:
                    lines.append(f"[{date(' ')}] {level:5} {word()}.{word()}: {what} ({code()}), {next(numbers) % 900} {word()}s in {next(numbers) % 90}.{next(numbers) % 10}s")
                elif form == 2:
                    lines.append(f'10.{next(numbers) % 256}.{next(numbers) % 256}.{next(numbers) % 256} - - [{date()}] "{pick(("GET", "POST", "PUT"))} /{word()}/{word()}/{next(numbers) % 9999} HTTP/1.1" {pick((200, 201, 304, 404, 500))} {next(numbers) % 90000}')
                else:
                    lines.append(f"{word()}/{word()}_test.py::test_{word()}_{word()}_{word()} {pick(('PASSED', 'FAILED', 'SKIPPED'))} [{next(numbers) % 100:3d}%]")
            text = "\n".join(lines)
        elif kind == "records":
            names = [word() if next(numbers) % 2 else f"{word()}_{word()}" for _ in range(7)]
            rows = [{"id": code(), **{name: value() for name in names}} for _ in range(14)]
            text = json.dumps({f"{word()}s": rows, "total": next(numbers) % 5000}, indent=2 if at % 2 else None, separators=None if at % 4 else (",", ":"))
            text = json.dumps({"role": "tool", "content": text}) if at % 5 == 0 else text
        else:
            mark = pick((" | ", ",", "\t", "  "))
            edge = ("| ", " |") if mark == " | " else ("", "")
            rows = [[word() for _ in range(6)]] + [[str(value()) for _ in range(6)] for _ in range(22)]
            text = "\n".join(edge[0] + mark.join(f"{cell:12}" if mark == "  " else cell for cell in row) + edge[1] for row in rows)
        out.append({"kind": kind, "language": "", "package": "made", "text": text})
    return out
